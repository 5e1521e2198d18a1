//! What a history has of a small recording, and what its filters keep.

use std::io::Cursor;

use turbowish_model::account::resource::Role;
use turbowish_model::snapshot::{Page, ResourceRow, Snapshot};
use turbowish_recording::{
    ChunkKind, Compression, EventEncoder, NameEncoder, Reader, ResourceSpan, ThreadEvent,
    ThreadEventKind, Writer,
};

use super::{HistoryFilter, HistoryLines, Line, document, sheet, table};
use crate::export::tests::{AT, CONN, bytes};
use crate::export::{ExportRange, Survey, chrome};

/// The recording of the exports, and events of its second thread.
fn recording() -> Vec<u8> {
    let mut writer = Writer::begin(bytes(), Compression::Deflate).expect("room");
    let mut names = NameEncoder::default();
    names.event(7, ("cache.miss", "src/cache.rs", 9), &["key", "bytes"]);
    writer
        .body(ChunkKind::Names, AT, &names.end())
        .expect("room");
    let mut events = EventEncoder::begin(AT, 1, 0);
    let span = |duration_ns, role, amount| ResourceSpan {
        resource: 3,
        duration_ns,
        role,
        amount,
    };
    let mut push = |after: u64, task, kind| {
        events.push(&ThreadEvent {
            at_unix_ns: AT + after,
            task,
            kind,
        });
    };
    let values = [5, -60, 0, 0];
    push(2_000, CONN, ThreadEventKind::User { site: 7, values });
    let waited = ThreadEventKind::Waited(span(7_000, Role::Acquire, 2));
    push(9_000, CONN, waited);
    push(
        9_500,
        0,
        ThreadEventKind::GaveUp(span(500, Role::Acquire, 1)),
    );
    push(
        49_000,
        CONN,
        ThreadEventKind::Held(span(40_000, Role::Acquire, 2)),
    );
    writer
        .body(ChunkKind::Events, AT, &events.end())
        .expect("room");
    let row = ResourceRow {
        id: 3,
        name: "semaphore pool".to_owned(),
        ..ResourceRow::default()
    };
    let state = Snapshot {
        at_unix_ns: AT + 40_000,
        resources: Page {
            rows: vec![row],
            total: 1,
            matched: 1,
        },
        ..Snapshot::default()
    };
    writer.state(&state, 0).expect("room");
    writer.end().expect("room")
}

fn lines(filter: HistoryFilter, limit: usize) -> (Vec<Line>, usize) {
    let reader = Reader::open(Cursor::new(recording())).expect("a recording");
    let survey = Survey::of(reader).expect("it can be read");
    let range = survey.span().expect("it is not empty");
    let (mut timeline, labels) = survey.timeline(range).expect("it can be read");
    let mut history = HistoryLines {
        filter,
        limit,
        labels,
        lines: Vec::new(),
        dropped: 0,
    };
    let read = timeline.each(|step| {
        history.add(&step);
        Ok(())
    });
    read.expect("it can be read");
    let found = history.end();
    (found.lines, found.dropped)
}

#[test]
fn a_history_has_polls_waits_holds_events_marks_and_losses_in_their_order() {
    let (lines, dropped) = lines(HistoryFilter::default(), usize::MAX);
    assert_eq!(dropped, 0);
    let told: Vec<String> = table(&lines)
        .iter()
        // The time of the day depends on the machine.
        .map(|line| {
            line.split_once(' ')
                .map_or(line.clone(), |(_, rest)| rest.to_owned())
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    let instants: Vec<u64> = lines.iter().map(|line| line.at).collect();
    assert!(instants.is_sorted());
}

#[test]
fn filters_keep_what_fits_and_the_limit_the_last_lines() {
    let count = |filter| lines(filter, usize::MAX).0.len();
    let of = |text: &str| Some(text.to_owned());
    let all = count(HistoryFilter::default());
    let resource = |name| HistoryFilter {
        resource: of(name),
        ..HistoryFilter::default()
    };
    // The loss is in all of them: what was lost may be of that kind.
    assert_eq!(count(resource("pool")), 3 + 1);
    assert_eq!(count(resource("semaphore pool")), 3 + 1);
    assert_eq!(count(resource("ool")), 1);
    let task = |name| HistoryFilter {
        task: of(name),
        ..HistoryFilter::default()
    };
    assert_eq!(count(task("conn:1")), 6 + 1);
    let thread = |name| HistoryFilter {
        thread: of(name),
        ..HistoryFilter::default()
    };
    let first = count(thread("main"));
    assert_eq!(
        (count(thread("0")), count(thread("0 main"))),
        (first, first)
    );
    // A mark belongs to no thread.
    assert_eq!(first + count(thread("worker")) + 1, all);
    let longer = HistoryFilter {
        longer: Some(std::time::Duration::from_micros(7)),
        ..HistoryFilter::default()
    };
    let (long, _) = lines(longer, usize::MAX);
    assert!(long.iter().all(|line| line.took_ns >= Some(7_000)) && !long.is_empty());
    let (last, dropped) = lines(HistoryFilter::default(), 2);
    assert_eq!((last.len(), dropped), (2, all - 2));
    assert_eq!(
        last,
        lines(HistoryFilter::default(), usize::MAX).0[all - 2..]
    );
}

#[test]
fn json_and_csv_have_whole_numbers() {
    let (lines, dropped) = lines(
        HistoryFilter {
            resource: Some("pool".to_owned()),
            ..HistoryFilter::default()
        },
        2,
    );
    let found = super::FoundLines { lines, dropped };
    let read: serde_json::Value =
        serde_json::from_str(&document("app 7", &found)).expect("a document");
    assert_eq!((&read["schema"], &read["left_out"]), (&1.into(), &2.into()));
    // It ended last, and began first.
    let row = &read["history"][0];
    assert_eq!(row["what"], "hold");
    assert_eq!(row["took_ns"], 40_000);
    assert_eq!(row["at_unix_ns"], AT + 9_000);
    assert_eq!(row["facts"]["amount"], 2);
    let sheet = sheet(&found.lines).expect("rows");
    assert_eq!(sheet.lines().count(), 3);
    let held = format!(
        "{},1 worker,conn:1,hold,40000,semaphore pool,acquire 2",
        AT + 9_000
    );
    assert!(sheet.contains(&held), "{sheet}");
}

#[test]
fn chrome_shows_waits_and_holds_as_spans_and_events_as_instants() {
    let reader = Reader::open(Cursor::new(recording())).expect("a recording");
    let survey = Survey::of(reader).expect("it can be read");
    let range = ExportRange {
        from: AT,
        to: AT + 60_000,
    };
    let (mut timeline, labels) = survey.timeline(range).expect("it can be read");
    let mut out = Vec::new();
    chrome::write(&mut timeline, &labels, &mut out).expect("room");
    let read: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let events = read["traceEvents"].as_array().expect("events");
    let of = |category: &str, phase: &str| {
        let found = events
            .iter()
            .find(|event| event["cat"] == category && event["ph"] == phase);
        found.unwrap_or_else(|| panic!("no {category} {phase}"))
    };
    let (begin, end) = (of("hold", "b"), of("hold", "e"));
    assert_eq!((&begin["ts"], &end["ts"]), (&9.0.into(), &49.0.into()));
    assert_eq!(begin["id"], end["id"]);
    assert_eq!(begin["name"], "hold semaphore pool");
    assert_eq!(begin["args"]["task"], "conn:1");
    assert_eq!(of("gave up", "e")["ts"], 9.5);
    let event = of("event", "i");
    assert_eq!(
        (&event["name"], &event["tid"]),
        (&"cache.miss".into(), &2.into())
    );
    assert_eq!(event["args"]["numbers"]["bytes"], -60);
}
