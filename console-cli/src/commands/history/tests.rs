//! What a history has of a small recording, and what its filters keep.

use std::io::Cursor;

use turbowish_recording::Reader;

use super::{FoundLines, HistoryLine, HistoryLines, HistoryScope, document, sheet, table};
use crate::args::HistoryFilter;
use crate::export::tests::AT;

use crate::export::{ExportRange, Survey, chrome};
use crate::history::tests::recording;

fn lines(filter: HistoryFilter, limit: usize) -> (Vec<HistoryLine>, usize) {
    let reader = Reader::open(Cursor::new(recording())).expect("a recording");
    let survey = Survey::of(reader).expect("it can be read");
    let range = survey.span().expect("it is not empty");
    let (mut timeline, labels) = survey.timeline(range).expect("it can be read");
    let mut history = HistoryLines::new(HistoryScope::Kept(filter), limit, labels);
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
    let found = FoundLines { lines, dropped };
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
