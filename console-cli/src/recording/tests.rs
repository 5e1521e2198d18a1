//! Instants as they are typed, and what a recording answers.

use std::io::Cursor;

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::units::SECOND;
use turbowish_model::snapshot::{Page, ProcRow, Snapshot, TaskGroup, TaskRow};
use turbowish_recording::{Compression, Reader, Writer};

use super::{Moment, RaisedMark, Recording, raised};
use crate::failure::Failure;

/// 2026-11-20 17:04:31 UTC.
const AT: u64 = 1_795_194_271 * SECOND;

fn state(second: u64) -> Snapshot {
    let row = |nth: u64| ProcRow {
        proc: format!("kv::p{nth}"),
        running_ns: nth * 1_000 + second,
        ..ProcRow::default()
    };
    let task = |id| TaskRow {
        id,
        name: format!("task-{id}"),
        root: "kv::p1".to_owned(),
        ..TaskRow::default()
    };
    let page = |held, total| Page {
        rows: held,
        total,
        matched: total,
    };
    Snapshot {
        at_unix_ns: AT + second * SECOND,
        window_ns: 10 * SECOND,
        procs: page((1..=3).map(row).collect(), 3),
        tasks: Page {
            rows: (1..=2).map(task).collect(),
            total: 9,
            matched: 9,
        },
        task_groups: vec![TaskGroup {
            key: "kv::p1".to_owned(),
            tasks: 9,
            row: task(1),
        }],
        ..Snapshot::default()
    }
}

/// Ten states, one a second; at second 4 an alert begins, and one between 7 and 8. The mark of the
/// first one comes after its state.
fn recording() -> Recording {
    let mut writer = Writer::begin(Vec::new(), Compression::Deflate).unwrap();
    for second in 0..10 {
        if second == 6 {
            writer.mark(AT + 6 * SECOND, "asked for by 17").unwrap();
        }
        writer.state(&state(second), 0).unwrap();
        if second == 4 {
            writer.mark(AT + 4 * SECOND, "alert: deadlock").unwrap();
        }
        if second == 7 {
            let at = AT + 7 * SECOND + SECOND / 2;
            writer.mark(at, "alert: task leak").unwrap();
        }
    }
    let bytes = Cursor::new(writer.end().unwrap());
    Recording::of(
        "x.tw".to_owned(),
        Reader::open(Box::new(bytes) as _).unwrap(),
    )
}

fn asks_for(window_ns: Option<u64>, procs: Option<Rows>, tasks: Option<Rows>) -> Query {
    Query {
        window_ns,
        procs,
        tasks,
        ..Query::default()
    }
}

const TEN: Option<u64> = Some(10 * SECOND);

#[test]
fn instants_are_read_and_found() {
    let recording = recording();
    for (text, expected) in [
        ("-0s", Ok(9)),
        ("-0", Ok(9)),
        ("-2s", Ok(7)),
        ("-2500ms", Ok(6)),
        ("-9s", Ok(0)),
        ("-10s", Err("x.tw has no state so early")),
        ("-1000000h", Err("x.tw has no state so early")),
        ("+0s", Ok(0)),
        ("+3s", Ok(3)),
        ("+3900ms", Ok(3)),
        ("+1h", Ok(9)),
        ("2026-11-20T17:04:35Z", Ok(4)),
        ("2026-11-20T18:04:35+01:00", Ok(4)),
        ("2026-11-20T17:04:35.9Z", Ok(4)),
        ("2026-11-20T17:04:30Z", Err("x.tw has no state so early")),
    ] {
        let found = recording.nth(Moment::parse(text).unwrap());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(Failure::Usage(told)), Err(expected)) => {
                assert!(told.starts_with(expected), "{text}: {told}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }
    for text in ["", "-", "10s", "-10", "yesterday", "25:00:00", "1"] {
        assert!(Moment::parse(text).is_err(), "{text}");
    }
}

/// A time of day is local, and the last one before the end.
#[test]
fn a_time_of_day_is_the_last_one_before_the_end() {
    let zone = jiff::tz::TimeZone::system();
    let local = |second: u64| {
        let ns = (AT + second * SECOND).into();
        let at = jiff::Timestamp::from_nanosecond(ns).unwrap();
        at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
    };
    let recording = recording();
    for second in [0, 3, 9] {
        let moment = Moment::parse(&local(second)).unwrap();
        assert_eq!(
            recording.nth(moment).unwrap(),
            usize::try_from(second).unwrap()
        );
    }
    // That was yesterday, before the beginning.
    let later = Moment::parse(&local(12)).unwrap();
    assert!(recording.nth(later).is_err());
}

#[test]
fn alerts_begin_at_the_states_of_their_marks() {
    let marks = recording().raised();
    let told = |mark: &RaisedMark| (mark.nth, mark.severity, mark.pitfall);
    assert_eq!(
        marks.iter().map(told).collect::<Vec<_>>(),
        [
            (4, Severity::Alert, Some(Pitfall::Deadlock)),
            (8, Severity::Alert, Some(Pitfall::TaskLeak)),
        ]
    );
    assert_eq!(marks[0].at_unix_ns, AT + 4 * SECOND);
}

#[test]
fn marks_tell_the_kind_of_an_alert() {
    for (mark, expected) in [
        (
            "alert: deadlock",
            Some((Severity::Alert, Some(Pitfall::Deadlock))),
        ),
        (
            "alert: self deadlock: repl-1",
            Some((Severity::Alert, Some(Pitfall::SelfDeadlock))),
        ),
        (
            "warning: long poll 38.4ms: kv::run",
            Some((Severity::Warning, Some(Pitfall::LongPoll))),
        ),
        ("note: of a later version", Some((Severity::Note, None))),
        ("over: deadlock", None),
        ("asked for by 17", None),
    ] {
        assert_eq!(raised(mark), expected, "{mark}");
    }
    // No title begins with another one: the first that fits is the only one.
    for one in Pitfall::ALL {
        let begins = |other: &&Pitfall| one.title().starts_with(other.title());
        assert_eq!(Pitfall::ALL.iter().filter(begins).count(), 1, "{one:?}");
    }
}

#[test]
fn a_query_is_answered_as_the_process_would() {
    let rows = |filter: &str, limit| {
        Some(Rows {
            filter: filter.to_owned(),
            limit,
            ..Rows::default()
        })
    };
    let mut recording = recording();
    let mut names = |nth, procs| {
        let answer = recording.answer(nth, &asks_for(TEN, procs, None)).unwrap();
        assert!(answer.remarks.is_empty() && answer.snapshot.tasks.rows.is_empty());
        assert_eq!(answer.snapshot.at_unix_ns, AT + nth as u64 * SECOND);
        let rows = answer.snapshot.procs.rows.into_iter();
        rows.map(|row| row.proc).collect::<Vec<_>>()
    };
    assert_eq!(names(0, rows("", 0)), ["kv::p3", "kv::p2", "kv::p1"]);
    assert_eq!(names(5, rows("p2", 0)), ["kv::p2"]);
    assert_eq!(names(5, rows("", 1)), ["kv::p3"]);
    let bad = recording.answer(0, &asks_for(TEN, rows("nothing>5", 0), None));
    assert!(matches!(bad, Err(Failure::Usage(_))));
}

/// Another window is an error only where a table has sums of it.
#[test]
fn another_window_is_refused() {
    let mut recording = recording();
    for window in [Some(SECOND), Some(60 * SECOND), None] {
        let procs = recording.answer(0, &asks_for(window, Some(Rows::default()), None));
        let Err(Failure::Usage(told)) = procs else {
            panic!("{procs:?}");
        };
        assert!(
            told.contains("sums of 10 s") && told.contains("--window"),
            "{told}"
        );
        let tasks = asks_for(window, None, Some(Rows::default()));
        assert_eq!(
            recording
                .answer(0, &tasks)
                .unwrap()
                .snapshot
                .tasks
                .rows
                .len(),
            2
        );
    }
}

#[test]
fn rows_that_were_not_recorded_are_said() {
    let mut recording = recording();
    let told = "x.tw has the worst 2 of 9 tasks at that instant: filter and order apply to these";
    for (rows, expected) in [
        (Rows::default(), Some(told)),
        (
            Rows {
                filter: "task-1".to_owned(),
                limit: 1,
                ..Rows::default()
            },
            Some(told),
        ),
        (
            Rows {
                sort: "task".to_owned(),
                limit: 2,
                ..Rows::default()
            },
            Some(told),
        ),
        (
            Rows {
                limit: 3,
                ..Rows::default()
            },
            Some(told),
        ),
        (
            Rows {
                limit: 2,
                ..Rows::default()
            },
            None,
        ),
    ] {
        let answer = recording
            .answer(0, &asks_for(None, None, Some(rows)))
            .unwrap();
        assert_eq!(answer.remarks.first().map(|told| &**told), expected);
        assert_eq!(answer.snapshot.tasks.total, 9);
    }
}

/// The groups of all tasks were recorded by their root, and of these only the recorded rows are
/// known.
#[test]
fn groups_are_those_of_all_tasks() {
    let mut recording = recording();
    let rows = |group: &str| Rows {
        group: group.to_owned(),
        limit: 1,
        ..Rows::default()
    };
    let mut groups = |group| {
        let answer = recording.answer(0, &asks_for(None, None, Some(rows(group))));
        answer.unwrap().snapshot.task_groups
    };
    assert_eq!(groups("root")[0].tasks, 9);
    assert_eq!(groups("spawn site")[0].tasks, 2);
    assert!(groups("").is_empty());
}
