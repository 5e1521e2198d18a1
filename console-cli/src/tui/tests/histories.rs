//! Histories in the records of tasks and resources: what is asked for, and what is shown.

use std::io::Cursor;
use std::time::Duration;

use tokio::sync::mpsc::channel;
use turbowish_model::query::{Query, RECORDED_WINDOW_NS};
use turbowish_model::snapshot::Snapshot;
use turbowish_recording::{Compression, Reader, Writer};

use super::fixture::{AT, SECOND, alarmed, arrives, kv, looking, peer, press, screen, tell, until};
use super::screens::{LARGE, SMALL, check};
use crate::export::ExportRange;
use crate::export::tests::CONN;
use crate::history::tests::{POOL, recording};
use crate::history::{HistorySubject, SubjectHistory};
use crate::recording::Recording;
use crate::tui::message::Message;
use crate::tui::record::HistoryQuery;
use crate::tui::source::Source;
use crate::tui::state::{Past, State, Wanted};

/// The server a second after the recording; the task and the semaphore of the recording are in it.
fn server(last_poll_ago_ns: u64) -> Snapshot {
    let mut state = kv();
    state.at_unix_ns = AT + SECOND;
    let task = state.tasks.rows.iter_mut().find(|row| row.name == "repl-1");
    let task = task.expect("the task");
    (task.id, task.name) = (CONN, "conn:1".to_owned());
    let poll = task.last_poll.as_mut().expect("a poll");
    (poll.ago_ns, poll.took_ns) = (last_poll_ago_ns, Some(0));
    let pool = &mut state.resources.rows;
    let pool = pool.iter_mut().find(|row| row.name == "semaphore conns");
    let pool = pool.expect("the semaphore");
    (pool.id, pool.name) = (POOL, "semaphore pool".to_owned());
    state
}

const TASK: &str = ": t a s k Space c o n n : 1 Enter";
const RESOURCE: &str = ": r e s o u r c e Space p o o l Enter";

/// A console with an open record.
fn opened(size: (u16, u16), keys: &str, last_poll_ago_ns: u64) -> State {
    let mut state = alarmed(size, Vec::new());
    arrives(&mut state, server(last_poll_ago_ns));
    press(&mut state, keys);
    arrives(&mut state, server(last_poll_ago_ns));
    until(&mut state, 1);
    state
}

fn asked(state: &State) -> HistoryQuery {
    state.wanted().history.expect("it asks")
}

/// The history that is asked for arrives; in it what ended in these nanoseconds behind [`AT`].
fn answer(state: &mut State, from: u64, to: u64) {
    let query = asked(state);
    let reader = Reader::open(Cursor::new(recording())).expect("a recording");
    let (from, to) = (AT + from, AT + to);
    let range = ExportRange { from, to };
    let history = SubjectHistory::read(reader, "kv 4242", query.subject, range);
    let history = Box::new(history.expect("it is whole"));
    tell(state, Message::History(Box::new(query), Ok(history)));
}

#[test]
fn screens() {
    for size in [SMALL, LARGE] {
        for (name, keys) in [("history_task", TASK), ("history_resource", RESOURCE)] {
            let mut state = opened(size, keys, 3 * SECOND);
            answer(&mut state, 0, SECOND);
            press(&mut state, "End");
            check(name, &state);
        }
    }
}

/// The end of a record stays in sight as its history grows; a line further up stays where it is.
#[test]
fn the_end_is_followed() {
    let shows_newest = |state: &State| screen(state).contains(" poll  10.0us");
    let first_line = |state: &State| screen(state).lines().nth(3).map(str::to_owned);
    let mut state = opened(SMALL, TASK, 3 * SECOND);
    press(&mut state, "End");
    answer(&mut state, 0, 5_000);
    assert!(!shows_newest(&state), "{}", screen(&state));
    let before = first_line(&state);
    answer(&mut state, 0, SECOND);
    assert!(shows_newest(&state), "{}", screen(&state));
    assert_ne!(first_line(&state), before);
    press(&mut state, "PgUp");
    let above = first_line(&state);
    answer(&mut state, 0, 5_000);
    answer(&mut state, 0, SECOND);
    assert_eq!(first_line(&state), above);
}

/// A task of which nothing can have happened since its last poll is looked for before that, once.
#[test]
fn what_is_asked_for_is_what_can_be_there() {
    let state = opened(SMALL, TASK, 3 * SECOND);
    let recent = HistoryQuery {
        subject: HistorySubject::Task(CONN),
        peer: Some(peer(4242)),
        range: None,
    };
    assert_eq!(asked(&state), recent);
    // Ages vary from one snapshot to the next; what is asked for does not.
    let mut state = opened(SMALL, TASK, 41 * SECOND + 300);
    let old = asked(&state);
    let second = AT - 41 * SECOND;
    let range = ExportRange {
        from: second - 10 * SECOND,
        to: second + 2 * SECOND,
    };
    assert_eq!(old.range, Some(range));
    arrives(&mut state, server(41 * SECOND + 900));
    assert_eq!(asked(&state), old);
    let state = opened(SMALL, RESOURCE, 0);
    let resource = HistorySubject::Resource(POOL);
    assert_eq!(
        (asked(&state).subject, asked(&state).range),
        (resource, None)
    );
    // Neither a table nor a frozen screen asks, nor the record of a function.
    for keys in ["2", "Space", "1 Enter"] {
        let mut state = opened(SMALL, TASK, 0);
        press(&mut state, keys);
        assert_eq!(state.wanted().history, None, "{keys}");
    }
}

#[test]
fn what_there_is_not_is_told() {
    let shows = |state: &mut State, text: &str| {
        press(state, "End");
        let screen = screen(state);
        let words: Vec<&str> = screen.split_whitespace().collect();
        assert!(words.join(" ").contains(text), "{screen}");
    };
    let mut state = opened(SMALL, TASK, 0);
    shows(&mut state, "history reading what is kept of it ...");
    let query = Box::new(asked(&state));
    let reason = "kv 4242 keeps no states: it has just started, accounting is off, or it runs with TURBOWISH_RECORD=off";
    tell(&mut state, Message::History(query, Err(reason.to_owned())));
    shows(&mut state, reason);
    answer(&mut state, 100_000, SECOND);
    shows(
        &mut state,
        "none of its polls, waits, holds and events of that time is kept",
    );
    let mut state = opened(SMALL, RESOURCE, 0);
    answer(&mut state, 100_000, SECOND);
    shows(
        &mut state,
        "no wait for it and no hold of 100us or more ended in that time",
    );
    let mut state = opened(SMALL, TASK, 41 * SECOND);
    answer(&mut state, 100_000, SECOND);
    shows(
        &mut state,
        "its last poll ended at 17:03:51, and is not kept any more:",
    );
}

/// An answer to another question is not shown.
#[test]
fn an_answer_belongs_to_its_question() {
    let mut state = opened(SMALL, TASK, 0);
    let query = asked(&state);
    press(&mut state, RESOURCE);
    arrives(&mut state, server(0));
    let reason = Err("late".to_owned());
    tell(&mut state, Message::History(Box::new(query), reason));
    let open = state.record.as_ref().expect("a record");
    assert_eq!(open.history, None);
    // What was read before is there again on the way back, until it is read anew.
    answer(&mut state, 0, SECOND);
    press(&mut state, "H L");
    let open = state.record.as_ref().expect("a record");
    assert!(matches!(&open.history, Some(Ok(_))));
}

/// A recording is read up to the instant that is shown.
#[test]
fn a_recording_is_asked_for_its_instant() {
    let mut state = looking(SMALL);
    state.link.past = Some(Past::new("x.tw", vec![AT, AT + SECOND], Vec::new(), 1));
    arrives(&mut state, server(0));
    press(&mut state, RESOURCE);
    arrives(&mut state, server(0));
    let range = |to| ExportRange {
        from: to - 10 * SECOND,
        to,
    };
    let query = HistoryQuery {
        subject: HistorySubject::Resource(POOL),
        peer: None,
        range: Some(range(AT + SECOND)),
    };
    assert_eq!(asked(&state), query);
    press(&mut state, "[");
    let mut before = server(0);
    before.at_unix_ns = AT;
    arrives(&mut state, before);
    assert_eq!(asked(&state).range, Some(range(AT)));
}

fn opened_recording(bytes: Vec<u8>) -> Recording {
    let reader = Reader::open(Box::new(Cursor::new(bytes)) as _).expect("a recording");
    Recording::of("x.tw".to_owned(), reader)
}

/// The source reads it from the recording that is shown; one without polls says so.
#[tokio::test]
async fn the_source_reads_a_recording() {
    let read = async |bytes, range| {
        let (sender, mut inbox) = channel(64);
        let recorded = Some(opened_recording(bytes));
        let mut source = Source::new(sender, Duration::from_secs(1), recorded);
        let query = HistoryQuery {
            subject: HistorySubject::Task(CONN),
            peer: None,
            range: Some(range),
        };
        let window_ns = Some(RECORDED_WINDOW_NS);
        source.follow(Wanted {
            past: Some((
                0,
                Query {
                    window_ns,
                    ..Query::default()
                },
            )),
            history: Some(query.clone()),
            ..Wanted::default()
        });
        loop {
            if let Message::History(of, found) = inbox.recv().await.expect("it answers").message {
                assert_eq!(*of, query);
                return found;
            }
        }
    };
    let range = ExportRange {
        from: AT - 10 * SECOND,
        to: AT + SECOND,
    };
    let found = read(recording(), range).await.expect("a history");
    assert_eq!(found.lines.len(), 7);
    // Nothing is known of the time before the first chunk.
    assert_eq!(found.range.from, AT);
    let mut writer = Writer::begin(Vec::new(), Compression::Deflate).expect("room");
    writer.state(&server(0), 0).expect("room");
    let none = read(writer.end().expect("room"), range).await;
    let told = none.expect_err("it has no polls");
    assert!(told.starts_with("x.tw has no polls: "), "{told}");
}
