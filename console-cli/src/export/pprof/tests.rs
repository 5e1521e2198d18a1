//! What a reader of profiles finds in one.

use miniz_oxide::inflate::decompress_to_vec;

use super::super::folded::{self, FoldedTime};
use super::super::tests::exported;
use super::{Message, ProfileMessage, write};

/// The profile of the small recording.
fn profile() -> ProfileMessage {
    let bytes = exported(|timeline, labels, out| write(timeline, labels, out));
    let (deflated, end) = bytes[10..].split_at(bytes.len() - 18);
    let raw = decompress_to_vec(deflated).unwrap();
    let (crc, length) = end.split_at(4);
    assert_eq!(crc, crc32fast::hash(&raw).to_le_bytes());
    assert_eq!(length, u32::try_from(raw.len()).unwrap().to_le_bytes());
    ProfileMessage::decode(&raw[..]).unwrap()
}

/// `polls running ready waiting  innermost at file:line < .. < root` of each sample, and what is
/// said beside.
fn told(profile: &ProfileMessage) -> String {
    let text = |number: i64| &*profile.string_table[usize::try_from(number).unwrap()];
    let frame = |id: &u64| {
        let location = profile.location.iter().find(|known| known.id == *id);
        let line = &location.unwrap().line[0];
        let mut functions = profile.function.iter();
        let function = functions.find(|known| known.id == line.function_id);
        let function = function.unwrap();
        let (file, begin) = (text(function.filename), function.start_line);
        format!("{} ({file}:{begin}) at {}", text(function.name), line.line)
    };
    let mut lines = Vec::new();
    for sample in &profile.sample {
        let frames: Vec<_> = sample.location_id.iter().map(frame).collect();
        lines.push(format!("{:?} {}", sample.value, frames.join(" < ")));
    }
    let types = profile.sample_type.iter();
    lines.push(
        types
            .map(|kind| format!("{}/{}", text(kind.r#type), text(kind.unit)))
            .collect::<Vec<_>>()
            .join(" "),
    );
    lines.push(format!(
        "default {}, of {}, from {} for {} ns",
        text(profile.default_sample_type),
        text(profile.mapping[0].filename),
        profile.time_nanos,
        profile.duration_nanos
    ));
    lines.extend(
        profile
            .comment
            .iter()
            .map(|comment| text(*comment).to_owned()),
    );
    lines.join("\n")
}

#[test]
fn a_profile_has_each_stack_with_its_times_and_says_what_is_lost() {
    insta::assert_snapshot!("pprof", told(&profile()));
}

#[test]
fn the_sums_of_a_profile_are_those_of_folded_stacks() {
    let folded = |time| {
        let out = exported(|timeline, labels, out| folded::write(timeline, labels, time, out));
        let out = String::from_utf8(out).unwrap();
        let ns = out.lines().map(|line| line.rsplit_once(' ').unwrap().1);
        ns.map(|ns| ns.parse::<i64>().unwrap()).sum::<i64>()
    };
    let profile = profile();
    let sum = |nth: usize| {
        profile
            .sample
            .iter()
            .map(|sample| sample.value[nth])
            .sum::<i64>()
    };
    assert_eq!(sum(0), 6);
    assert_eq!(sum(1), folded(FoldedTime::Polls));
    assert_eq!(sum(3), folded(FoldedTime::Waiting));
}

#[test]
fn a_recording_always_makes_the_same_bytes() {
    let bytes = || exported(|timeline, labels, out| write(timeline, labels, out));
    assert_eq!(bytes(), bytes());
}
