//! What the history of a task or a resource has, in which time.

use std::io::Cursor;

use turbowish_recording::Reader;

use super::{SUBJECT_LINES, SubjectHistory};
use crate::export::ExportRange;
use crate::export::tests::{AT, CONN};
use crate::history::tests::{POOL, recording};
use crate::history::{HistoryLine, HistorySubject};

const TASK: HistorySubject = HistorySubject::Task(CONN);
const RESOURCE: HistorySubject = HistorySubject::Resource(POOL);

fn read(subject: HistorySubject, from: u64, to: u64) -> SubjectHistory {
    let reader = Reader::open(Cursor::new(recording())).expect("a recording");
    let (from, to) = (AT + from, AT + to);
    SubjectHistory::read(reader, "x.tw", subject, ExportRange { from, to }).expect("it is whole")
}

/// Kind and beginning of each line.
fn lines(history: &SubjectHistory) -> Vec<(&'static str, u64)> {
    let lines = history.lines.iter();
    lines.map(|line| (line.what, line.at - AT)).collect()
}

#[test]
fn what_is_of_others_is_left_out_and_losses_are_not() {
    let expected = [
        ("poll", 1_000),
        ("event", 2_000),
        ("wait", 2_000),
        ("poll", 9_000),
        ("hold", 9_000),
        ("lost", 10_500),
        ("poll", 40_000),
    ];
    assert_eq!(lines(&read(TASK, 0, 60_000)), expected);
    let expected = [("wait", 2_000), ("wait", 9_000), ("hold", 9_000)];
    assert_eq!(lines(&read(RESOURCE, 0, 60_000)), expected);
    assert!(lines(&read(HistorySubject::Resource(4), 0, 60_000)).is_empty());
}

/// What had not ended at the instant was not known then. Losses may have been before it.
#[test]
fn it_ends_at_its_instant() {
    let expected = [("poll", 1_000), ("event", 2_000), ("wait", 2_000)];
    let mut told = lines(&read(TASK, 0, 9_000));
    told.sort_unstable_by_key(|(what, at)| (*at, *what));
    assert_eq!(told, expected);
    let of = |from, to| lines(&read(TASK, from, to));
    assert_eq!(of(20_000, 49_999), [("hold", 9_000), ("lost", 20_000)]);
    assert_eq!(of(50_000, 60_000).last(), Some(&("poll", 40_000)));
}

fn history(from: u64, to: u64, ends: impl Iterator<Item = u64>) -> SubjectHistory {
    let mut history = read(HistorySubject::Resource(4), from, to);
    let line = |end| HistoryLine {
        at: AT + end - 1,
        took_ns: Some(1),
        ..HistoryLine::empty("poll")
    };
    history.lines = ends.map(line).collect();
    history
}

/// A poll that was in both is there once; one that was copied late is not missing.
#[test]
fn what_was_read_before_goes_on() {
    let earlier = history(0, 20, [1, 9, 10, 14].into_iter());
    let later = history(10, 30, [10, 12, 14, 29].into_iter());
    let both = later.after(&earlier);
    let ends: Vec<u64> = both.lines.iter().map(|line| line.end() - AT).collect();
    assert_eq!(ends, [1, 9, 10, 12, 14, 29]);
    assert_eq!((both.range.from, both.range.to), (AT, AT + 30));
    let most = SUBJECT_LINES as u64;
    let later = history(30, 30 + most, 30..30 + most);
    let all = later.after(&both);
    assert_eq!(all.lines.len(), SUBJECT_LINES);
    assert_eq!(all.left_out, Some(6));
    assert_eq!(all.lines[0].end(), AT + 30);
}

/// A line that was left out may have been read again: then the sum is unknown, and so it stays.
#[test]
fn what_may_be_counted_twice_is_no_number() {
    let most = SUBJECT_LINES as u64;
    let read_at = |from, count| {
        let mut history = history(from, from + count, from..from + count);
        let more = history.lines.len().saturating_sub(SUBJECT_LINES);
        history.lines.drain(..more);
        history.left_out = Some(more);
        history
    };
    let left_out = |begin, earlier: &SubjectHistory| read_at(begin, 10).after(earlier).left_out;
    let earlier = read_at(0, most + 8);
    // The first line that is kept ended at 8: none of those left out was read again.
    assert_eq!(left_out(9, &earlier), Some(8));
    assert_eq!(left_out(most + 8, &earlier), Some(8 + 10));
    assert_eq!(left_out(8, &earlier), None);
    let unknown = read_at(8, 10).after(&earlier);
    assert_eq!(left_out(100, &unknown), None);
    // Nothing is left out twice where nothing is left out.
    assert_eq!(left_out(8, &read_at(0, 20)), Some(0));
}
