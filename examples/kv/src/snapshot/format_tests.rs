//! Snapshots as bytes: round trip, and rejection of invalid input.

use super::{Broken, Decoder, Encoder, MAGIC};
use crate::db::{Blob, Entry, Value};

type Entries = Vec<(Blob, Entry)>;

fn blob(text: &str) -> Blob {
    Blob::from(text.as_bytes())
}

fn entries() -> Entries {
    let text = |text| Value::Text(blob(text));
    let list = |words: &[&str]| Value::List(words.iter().map(|word| blob(word)).collect());
    let entry = |key, value, deadline| (blob(key), Entry { value, deadline });
    vec![
        entry("colour", text("blue"), None),
        entry("", text(""), Some(1)),
        entry("line\r\nend", text("\0\u{ff}"), Some(u64::MAX)),
        entry("list", list(&["a", "", "b\n"]), Some(1_800_000_000_000)),
        entry("empty list", list(&[]), None),
    ]
}

fn encode(entries: &Entries) -> Vec<u8> {
    let mut encoder = Encoder::new();
    let mut out = Vec::new();
    for (key, entry) in entries {
        encoder.entry(key, entry);
        // A page per entry: where pages end does not show in the bytes.
        out.append(encoder.page());
    }
    out.append(&mut encoder.finish());
    out
}

fn decode(bytes: &[u8]) -> Result<Entries, Broken> {
    Decoder::new(bytes)?.collect()
}

#[test]
fn there_and_back() {
    for count in 0..=entries().len() {
        let some: Entries = entries().into_iter().take(count).collect();
        assert_eq!(decode(&encode(&some)), Ok(some));
    }
}

#[test]
fn a_part_of_a_snapshot_is_none() {
    let bytes = encode(&entries());
    for length in 0..bytes.len() {
        let error = decode(&bytes[..length]).expect_err("a part");
        let expected = match length {
            0..16 => Broken::Truncated,
            _ => Broken::Checksum,
        };
        assert_eq!(error, expected, "{length} bytes");
    }
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let bytes = encode(&entries());
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let expected = match at {
            0..7 => Broken::Magic,
            7 => Broken::Version(1 ^ 0x10),
            _ => Broken::Checksum,
        };
        assert_eq!(decode(&damaged), Err(expected), "byte {at}");
    }
}

/// A file with a right checksum that was written by something else.
#[test]
fn contents_that_make_no_sense() {
    let check = |contents: &[u8], expected| {
        let mut encoder = Encoder::new();
        encoder.raw(contents);
        let mut bytes = encoder.page().clone();
        bytes.extend_from_slice(&encoder.sum.0.to_le_bytes());
        assert_eq!(decode(&bytes), Err(expected), "{contents:?}");
    };
    check(&[], Broken::Truncated);
    check(&[0, 0], Broken::Type(0));
    check(&[1], Broken::Truncated);
    check(&[[9].as_slice(), &[0; 16]].concat(), Broken::Type(9));
    check(
        &[[1].as_slice(), &[0; 8], &[0xff; 8]].concat(),
        Broken::Truncated,
    );
    check(
        &[[2].as_slice(), &[0; 16], &[0xff; 8]].concat(),
        Broken::Truncated,
    );
}

#[test]
fn another_file_is_not_mistaken_for_a_snapshot() {
    assert_eq!(decode(b"REDIS0011"), Err(Broken::Magic));
    assert_eq!(decode(&[0; 100]), Err(Broken::Magic));
    assert_eq!(decode(MAGIC), Err(Broken::Truncated));
}
