//! Files of states: written and read back, damaged in every way, and from elsewhere.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::io::{self, Cursor, Write};
use std::ops::Range;

use proptest::prelude::*;
use turbowish_model::snapshot::{Page, ProcRow, Snapshot};
use turbowish_recording::{
    BodyFault, ChunkHeader, ChunkKind, Compression, Damage, FILE_HEADER, HEADER_BYTES,
    LARGEST_BODY, LONGEST_MARK, Reader, RecordingError, Writer, encode,
};

const SECOND: u64 = 1_000_000_000;

/// The state of that second.
fn state(second: u64) -> Snapshot {
    let row = ProcRow {
        proc: format!("kv::proc::{second}"),
        polls: 1_000 + second,
        ..ProcRow::default()
    };
    Snapshot {
        at_unix_ns: second * SECOND,
        window_ns: 10 * SECOND,
        procs: Page {
            rows: vec![row; usize::try_from(second % 3).unwrap() + 1],
            total: 3,
            matched: 3,
        },
        ..Snapshot::default()
    }
}

/// A file with a state of each second, and a mark in the middle.
fn file(seconds: u64, compression: Compression) -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), compression).unwrap();
    for second in 0..seconds {
        writer.state(&state(second), 0).unwrap();
        if second == seconds / 2 {
            writer.mark(second * SECOND, "alert: deadlock").unwrap();
        }
    }
    let written = writer.written();
    let bytes = writer.end().unwrap();
    assert_eq!(bytes.len() as u64, written);
    bytes
}

/// Where each chunk begins, and where the file ends.
fn bounds(file: &[u8]) -> Vec<usize> {
    let mut at = FILE_HEADER.len();
    let mut bounds = vec![at];
    while at < file.len() {
        let head = file[at..at + HEADER_BYTES].try_into().unwrap();
        at += HEADER_BYTES + ChunkHeader::read(&head).unwrap().len as usize;
        bounds.push(at);
    }
    bounds
}

fn open(bytes: Vec<u8>) -> Reader<Cursor<Vec<u8>>> {
    Reader::open(Cursor::new(bytes)).unwrap()
}

/// The seconds of all states, each of which is as it was written.
fn seconds(reader: &mut Reader<Cursor<Vec<u8>>>) -> Vec<u64> {
    let times: Vec<u64> = reader.states().iter().map(|one| one.at_unix_ns).collect();
    for (nth, at) in times.iter().enumerate() {
        assert_eq!(reader.snapshot(nth).unwrap(), state(at / SECOND));
    }
    times.iter().map(|at| at / SECOND).collect()
}

#[test]
fn what_was_written_is_read_back() {
    for compression in [Compression::None, Compression::Deflate] {
        for count in [0, 1, 2, 5, 60] {
            let mut reader = open(file(count, compression));
            let expected: Vec<u64> = (0..count).collect();
            assert_eq!(seconds(&mut reader), expected, "{compression:?}");
            assert_eq!(reader.marks().len(), usize::from(count > 0));
            assert!(reader.damage().is_none());
            if count > 0 {
                assert_eq!(reader.mark(0).unwrap(), "alert: deadlock");
            }
            let missing = reader.snapshot(expected.len());
            assert!(matches!(missing, Err(RecordingError::NoChunk { .. })));
        }
    }
}

/// A borrowed reader reads the same, and the first one goes on behind it.
#[test]
fn a_reader_is_borrowed() {
    let mut reader = open(file(3, Compression::Deflate));
    assert_eq!(reader.snapshot(2).unwrap(), state(2));
    let mut borrowed = reader.by_ref();
    assert_eq!(borrowed.states().len(), 3);
    assert_eq!(borrowed.snapshot(0).unwrap(), state(0));
    assert_eq!(reader.snapshot(1).unwrap(), state(1));
}

#[test]
fn an_instant_is_shown_by_the_last_state_before_it() {
    let reader = open(file(5, Compression::Deflate));
    for (at, expected) in [
        (0, Some(0)),
        (SECOND - 1, Some(0)),
        (SECOND, Some(1)),
        (7 * SECOND, Some(4)),
        (u64::MAX, Some(4)),
    ] {
        assert_eq!(reader.at(at), expected, "{at}");
    }
    assert_eq!(open(FILE_HEADER.to_vec()).at(SECOND), None);
}

#[test]
fn lost_states_are_counted() {
    let mut writer = Writer::begin(Vec::new(), Compression::None).unwrap();
    for (second, lost) in [(0, 0), (3, 2), (4, 0), (9, 4)] {
        writer.state(&state(second), lost).unwrap();
    }
    let reader = open(writer.end().unwrap());
    assert_eq!(reader.lost(), 6);
    assert_eq!(reader.states()[1].lost, 2);
}

/// Compressed and not, each chunk is cut before every byte: the others are whole.
#[test]
fn a_chunk_that_is_cut_loses_itself_only() {
    for compression in [Compression::None, Compression::Deflate] {
        let whole = file(6, compression);
        let bounds = bounds(&whole);
        for (nth, ends) in bounds.windows(2).enumerate() {
            let [begin, end] = ends else { unreachable!() };
            for cut in *begin..*end {
                let damaged = [&whole[..cut], &whole[*end..]].concat();
                let mut reader = open(damaged);
                check_loss(&mut reader, nth, 6);
                let Damage { chunks, bytes, .. } = reader.damage();
                let left = (cut - begin) as u64;
                assert_eq!((chunks, bytes), (u64::from(left > 0), left), "{nth} {cut}");
            }
        }
    }
}

/// Only the chunk of that number is missing; the mark follows the state in the middle.
fn check_loss(reader: &mut Reader<Cursor<Vec<u8>>>, nth: usize, count: u64) {
    let mark = usize::try_from(count / 2 + 1).unwrap();
    let chunks = (0..=usize::try_from(count).unwrap()).filter(|chunk| *chunk != nth);
    let states = chunks.clone().filter(|chunk| *chunk != mark);
    let expected = states.map(|chunk| (chunk - usize::from(chunk > mark)) as u64);
    assert_eq!(seconds(reader), expected.collect::<Vec<_>>(), "chunk {nth}");
    assert_eq!(reader.marks().len(), usize::from(nth != mark));
}

#[test]
fn a_flipped_bit_loses_its_chunk_only() {
    let whole = file(4, Compression::None);
    let bounds = bounds(&whole);
    for (nth, ends) in bounds.windows(2).enumerate() {
        let [begin, end] = ends else { unreachable!() };
        for bit in begin * 8..end * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut reader = open(damaged);
            check_loss(&mut reader, nth, 4);
            let damage = reader.damage();
            assert_eq!(damage.chunks, 1, "bit {bit}");
            assert_eq!(damage.bytes, (end - begin) as u64, "bit {bit}");
            let is_state = nth != 3 && bit / 8 >= begin + HEADER_BYTES;
            assert_eq!(damage.states, u64::from(is_state), "bit {bit}");
        }
    }
}

/// What is missing of a chunk may be as long as the next chunk: the place where it should end is
/// then the beginning of another one.
#[test]
fn a_cut_of_the_length_of_the_next_chunk_does_not_hide_it() {
    let short = encode(ChunkKind::Mark, 1, 0, b"short").unwrap();
    let long = encode(ChunkKind::Mark, 1, 0, &[b'x'; HEADER_BYTES + 5]).unwrap();
    let cut = &long[..HEADER_BYTES];
    let bytes = [&FILE_HEADER[..], cut, &short, &short].concat();
    let mut reader = open(bytes);
    assert_eq!(reader.marks().len(), 2);
    assert_eq!(reader.mark(0).unwrap(), "short");
    assert_eq!(reader.damage().bytes, HEADER_BYTES as u64);
}

#[test]
fn files_that_were_joined_are_one() {
    let one = file(3, Compression::Deflate);
    let torn = &one[..one.len() - 1];
    let mut reader = open([torn, &one].concat());
    assert_eq!(seconds(&mut reader), [0, 1, 0, 1, 2]);
    assert_eq!(reader.damage().chunks, 1);
    // Chunks without a file header, as a process sends them.
    let chunks = one[FILE_HEADER.len()..].to_vec();
    let mut reader = Reader::of_chunks(Cursor::new(chunks)).unwrap();
    assert_eq!(seconds(&mut reader), [0, 1, 2]);
}

#[test]
fn unknown_kinds_are_skipped_and_are_no_damage() {
    let later = encode(ChunkKind::Other(77), 1, 0, b"of a later version").unwrap();
    let whole = file(2, Compression::None);
    let bounds = bounds(&whole);
    let bytes = [&whole[..bounds[1]], &later, &whole[bounds[1]..]].concat();
    let mut reader = open(bytes);
    assert_eq!(seconds(&mut reader), [0, 1]);
    assert!(reader.damage().is_none());
}

/// A header, with a right checksum, of a body of that length.
fn header(len: u32, deflated: bool, body: &[u8]) -> Vec<u8> {
    let header = ChunkHeader {
        kind: ChunkKind::State,
        deflated,
        len,
        lost: 0,
        at_unix_ns: 5 * SECOND,
        crc: crc32(body),
    };
    [&header.bytes()[..], body].concat()
}

/// The checksum of a body, as a chunk of ours has it.
fn crc32(body: &[u8]) -> u32 {
    let chunk = encode(ChunkKind::Mark, 0, 0, body).unwrap();
    let head = chunk[..HEADER_BYTES].try_into().unwrap();
    ChunkHeader::read(&head).unwrap().crc
}

#[test]
fn lengths_that_cannot_be_are_damage_and_take_no_memory() {
    for len in [u32::MAX, LARGEST_BODY as u32 + 1, LARGEST_BODY as u32, 6] {
        let huge = header(len, false, b"short");
        let bytes = [&FILE_HEADER[..], &huge, &file(1, Compression::None)[8..]].concat();
        let mut reader = open(bytes);
        assert_eq!(seconds(&mut reader), [0], "{len}");
        let damage = reader.damage();
        assert_eq!((damage.chunks, damage.states), (1, 1));
    }
}

/// Chunks in chunks in chunks, each with a right header: reading takes time in proportion to the
/// length.
#[test]
fn headers_that_promise_more_headers_are_given_up() {
    let count: u32 = 20_000;
    let mut bytes = FILE_HEADER.to_vec();
    for nth in 0..count {
        bytes.extend(header((count - nth - 1) * 32, false, b""));
    }
    let reader = open(bytes);
    // The last one has the empty body that its checksum is of.
    assert!(reader.states().len() <= 1);
    assert!(reader.damage().chunks > 0);
}

#[test]
fn bodies_that_are_no_states_are_errors() {
    // Half a megabyte of it is more than the largest body.
    let bomb = deflated(LARGEST_BODY + 1);
    let rows = {
        // So many empty tasks, each of two bytes, as a message.
        let page = [0x0a, 0].repeat(4 << 20);
        let mut message = vec![0x4a, 0x80, 0x80, 0x80, 0x04];
        message.extend(page);
        message
    };
    for (body, deflated) in [
        (&b"no message"[..], false),
        (b"no deflate", true),
        (&bomb, true),
        (&rows, false),
    ] {
        let chunk = header(u32::try_from(body.len()).unwrap(), deflated, body);
        let bytes = [&FILE_HEADER[..], &chunk, &file(1, Compression::None)[8..]].concat();
        let mut reader = open(bytes);
        assert_eq!(reader.states().len(), 2);
        let told = reader.snapshot(0);
        assert!(matches!(told, Err(RecordingError::Body { .. })), "{told:?}");
        assert_eq!(reader.snapshot(1).unwrap(), state(0));
    }
}

#[test]
fn what_is_no_recording_says_what_to_do() {
    let newer = [b"TWREC\0".as_slice(), &[2, 0]].concat();
    for (bytes, expected) in [
        (&b""[..], "it is not a recording; turbowish record"),
        (b"TWREC\0", "it is not a recording"),
        (b"{\"schema\": 1}", "it is not a recording"),
        (b"TWREC\0\0\0", "it is not a recording"),
        (&newer, "in format 2; this one reads up to 1: update it"),
    ] {
        let told = Reader::open(Cursor::new(bytes)).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    }
}

/// So many zeros, compressed.
fn deflated(zeros: usize) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec(&vec![0; zeros], 1)
}

#[test]
fn marks_are_short() {
    let mut writer = Writer::begin(Vec::new(), Compression::None).unwrap();
    let longest = "x".repeat(LONGEST_MARK);
    writer.mark(0, &longest).unwrap();
    let told = writer.mark(0, &"x".repeat(LONGEST_MARK + 1));
    assert!(matches!(told, Err(RecordingError::TooLarge)));
    // It was refused, not broken.
    writer.mark(1, "short").unwrap();
    let long = encode(ChunkKind::Mark, 2, 0, &[b'x'; LONGEST_MARK + 1]).unwrap();
    let mut reader = open([writer.end().unwrap(), long].concat());
    assert_eq!(reader.mark(0).unwrap(), longest);
    assert_eq!(reader.mark(1).unwrap(), "short");
    let limit = LONGEST_MARK;
    let told = reader.mark(2);
    let expected = BodyFault::TooLong { limit };
    assert!(
        matches!(&told, Err(RecordingError::Body { fault, .. }) if *fault == expected),
        "{told:?}"
    );
}

/// An output that takes so many bytes.
struct Full(Vec<u8>, usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = bytes.len().min(self.1 - self.0.len());
        self.0.extend_from_slice(&bytes[..room]);
        match room {
            0 if !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
            room => Ok(room),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_said_once_and_what_was_written_can_be_read() {
    let whole = file(5, Compression::None);
    for room in FILE_HEADER.len()..whole.len() {
        let mut writer = Writer::begin(Full(Vec::new(), room), Compression::None).unwrap();
        let mut told = Vec::new();
        for second in 0..9 {
            if let Err(error) = writer.state(&state(second), 0) {
                told.push(error);
            }
        }
        assert!(matches!(told[0], RecordingError::Io(_)));
        let rest = &told[1..];
        assert!(rest.iter().all(|one| matches!(one, RecordingError::Ended)));
        let mut reader = open(writer.end().unwrap().0);
        let read = seconds(&mut reader);
        assert_eq!(read, (0..read.len() as u64).collect::<Vec<_>>());
        assert_eq!(read.len(), 9 - told.len());
    }
}

#[test]
fn a_file_that_changes_is_noticed() {
    let whole = file(2, Compression::None);
    let bounds = bounds(&whole);
    let path = std::env::temp_dir().join(format!("turbowish-{}.tw", std::process::id()));
    std::fs::write(&path, &whole).unwrap();
    let mut reader = Reader::open(std::fs::File::open(&path).unwrap()).unwrap();
    let mut changed = whole.clone();
    changed[bounds[2] - 1] ^= 1;
    std::fs::write(&path, &changed).unwrap();
    let told = reader.snapshot(1);
    std::fs::remove_file(&path).unwrap();
    assert!(
        matches!(
            told,
            Err(RecordingError::Body {
                fault: BodyFault::Changed,
                ..
            })
        ),
        "{told:?}"
    );
}

/// Puts bytes in place of those of a range. Every state whose chunk is there all the same is read,
/// in order. The bytes of a chunk may be there again by chance.
fn check_damage(count: u64, damage: impl FnOnce(&[u8]) -> (Range<usize>, Vec<u8>)) {
    let whole = file(count, Compression::Deflate);
    let (range, put) = damage(&whole);
    let damaged = [&whole[..range.start], &put, &whole[range.end..]].concat();
    let from_end = |at: usize| damaged.len().checked_sub(whole.len() - at);
    let is_there = |&(_, ends): &(usize, &[usize])| {
        let chunk = &whole[ends[0]..ends[1]];
        let at_end = from_end(ends[0]).zip(from_end(ends[1]));
        damaged.get(ends[0]..ends[1]) == Some(chunk)
            || at_end.is_some_and(|(begin, end)| damaged[begin..end] == *chunk)
    };
    let mark = usize::try_from(count / 2 + 1).unwrap();
    let bounds = bounds(&whole);
    let kept = bounds.windows(2).enumerate().filter(is_there);
    let states = kept.filter(|(nth, _)| *nth != mark);
    let states = states.map(|(nth, _)| (nth - usize::from(nth > mark)) as u64);
    let states: Vec<u64> = states.collect();
    assert_eq!(seconds(&mut open(damaged)), states);
}

#[test]
fn a_chunk_that_is_damaged_and_made_whole_again_is_read() {
    // Its first byte, which is that of the marker.
    let third = |whole: &[u8]| bounds(whole)[2];
    check_damage(5, |whole| (third(whole) - 9..third(whole) + 1, vec![0xf5]));
    check_damage(5, |whole| {
        (third(whole) + 1..third(whole) + 1, vec![0, 0xf5])
    });
}

proptest! {
    /// Any bytes are overwritten, taken out or put in.
    #[test]
    fn what_is_untouched_is_read(
        at in 0.0..1.0f64,
        taken in 0..300usize,
        put in proptest::collection::vec(any::<u8>(), 0..300),
        count in 1..20u64,
    ) {
        check_damage(count, |whole| {
            let body = whole.len() - FILE_HEADER.len();
            let from = FILE_HEADER.len() + (at * body as f64) as usize;
            (from..(from + taken).min(whole.len()), put)
        });
    }
}
