//! What is told of calls: cases as text, an event or an edge a line.

use std::collections::BTreeMap;
use std::io::Cursor;

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::CallEvent;
use turbowish_model::event::call_ring::CallRecord;
use turbowish_recording::{CallEncoder, CallPlace, ChunkKind, Compression, Reader, Writer};

use super::super::tests::{AT, bytes};
use super::super::{ExportRange, chrome, perfetto};
use super::open::DEEPEST;
use super::{CallEdge, CallEdgeKind, CallTotals, each_edge};

/// `5 poll 7 of 2`, `6 await 2 at 1`, `7 pending 7`, `8 drop 7`, `4 create 7 of 2`: an event so
/// many nanoseconds after [`AT`].
fn event(line: &str) -> CallRecord {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |nth: usize| words[nth].parse::<u32>().unwrap();
    let end = |end| (number(2), CallEvent::PollEnd(end));
    let (call, event) = match words[1] {
        "create" => (number(2), CallEvent::Create { proc: number(4) }),
        "poll" => {
            let (proc, root) = (Some(number(4)), false);
            (number(2), CallEvent::PollStart { proc, root })
        }
        "await" => {
            let (proc, site, direct) = (number(2), number(4), false);
            (0, CallEvent::Await { proc, site, direct })
        }
        "drop" => (number(2), CallEvent::Drop),
        "pending" => end(PollEnd::Pending),
        "ready" => end(PollEnd::Ready),
        "torn" => end(PollEnd::Torn),
        other => panic!("no event: {other}"),
    };
    CallRecord {
        at: AT + u64::from(number(0)),
        number: call,
        event,
    }
}

/// Chunks: `thread 1 lost 0`, or `thread 1 lost 0 epoch 2`, and events below.
fn recorded(chunks: &str) -> Vec<u8> {
    let mut writer = Writer::begin(bytes(), Compression::Deflate).unwrap();
    let mut next = BTreeMap::new();
    for chunk in chunks.trim().split("thread ").skip(1) {
        let mut lines = chunk.trim().lines();
        let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        let number = |nth: usize| head.get(nth).map_or(1, |word| word.parse().unwrap());
        let (thread, lost, epoch) = (number(0), number(2), number(4));
        let events: Vec<CallRecord> = lines.map(event).collect();
        let begin = events[0].at;
        let next: &mut u64 = next.entry((epoch, thread)).or_default();
        let place = CallPlace {
            epoch,
            first: *next + u64::from(lost),
            ..CallPlace::default()
        };
        *next = place.first + events.len() as u64;
        let mut encoder = CallEncoder::begin(begin, thread, lost.into(), &place);
        events.iter().for_each(|event| encoder.push(event));
        writer
            .body(ChunkKind::Calls, begin, &encoder.end())
            .unwrap();
    }
    writer.end().unwrap()
}

/// `1 5 begin 2`, `1 9 pending at 2:0`, `1 9 lost 3 until 20`.
fn told(edge: CallEdge) -> String {
    let what = match edge.kind {
        CallEdgeKind::Begin { proc } => format!("begin {proc}"),
        CallEdgeKind::Lost { events, to } => format!("lost {events} until {}", to - AT),
        CallEdgeKind::End(end) => {
            let mut told = end.word().to_owned();
            if let Some(stands) = end.stands {
                let site = stands.site.map_or("?".to_owned(), |site| site.to_string());
                told += &format!(" at {}:{site}", stands.proc);
            }
            if end.deeper > 0 {
                told += &format!(", {} deeper", end.deeper);
            }
            told
        }
    };
    format!("{} {} {what}", edge.thread, edge.at - AT)
}

fn edges(bytes: Vec<u8>, range: ExportRange) -> (Vec<String>, CallTotals) {
    let mut reader = Reader::open(Cursor::new(bytes)).unwrap();
    let mut lines = Vec::new();
    let totals = each_edge(&mut reader, range, |edge| {
        lines.push(told(edge));
        Ok(())
    });
    (lines, totals.unwrap())
}

fn check(chunks: &str, expected: &str) {
    let (lines, _) = edges(recorded(chunks), ExportRange::ALL);
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_poll_is_inside_of_its_callers() {
    check(
        "thread 1 lost 0
         4 create 7 of 1
         5 poll 7 of 1
         6 await 1 at 1
         6 poll 8 of 2
         7 await 2 at 1
         8 pending 8
         8 pending 7",
        "1 5 begin 1
         1 6 begin 2
         1 8 pending at 2:0
         1 8 pending at 1:0",
    );
}

#[test]
fn children_of_one_poll_follow_one_another() {
    // As those of a FuturesUnordered or a join.
    check(
        "thread 1 lost 0
         5 poll 7 of 1
         5 await 1 at 1
         6 poll 8 of 2
         7 pending 8
         7 poll 9 of 2
         9 ready 9
         9 pending 7",
        "1 5 begin 1
         1 6 begin 2
         1 7 pending
         1 7 begin 2
         1 9 ready
         1 9 pending at 1:0",
    );
}

#[test]
fn a_call_stands_where_it_arrived_in_an_earlier_poll_on_another_thread() {
    check(
        "thread 1 lost 0
         5 poll 7 of 1
         6 await 1 at 2
         7 pending 7
         thread 2 lost 0
         8 poll 7 of 1
         9 pending 7
         10 create 7 of 1
         11 poll 7 of 1
         12 pending 7",
        "1 5 begin 1
         1 7 pending at 1:1
         2 8 begin 1
         2 9 pending at 1:1
         2 11 begin 1
         2 12 pending",
    );
}

#[test]
fn nothing_crosses_a_loss_and_places_before_it_are_forgotten() {
    check(
        "thread 1 lost 0
         5 poll 7 of 1
         5 await 1 at 1
         6 pending 7
         7 poll 8 of 2
         8 poll 7 of 1
         thread 1 lost 3
         20 pending 8
         21 poll 7 of 1
         22 pending 7",
        "1 5 begin 1
         1 6 pending at 1:0
         1 7 begin 2
         1 8 begin 1
         1 8 not recorded
         1 8 not recorded
         1 8 lost 3 until 20
         1 21 begin 1
         1 22 pending",
    );
}

#[test]
fn nothing_crosses_the_end_of_an_epoch() {
    check(
        "thread 1 lost 0
         5 poll 7 of 1
         5 await 1 at 1
         6 pending 7
         7 poll 8 of 2
         thread 1 lost 0 epoch 2
         20 poll 7 of 1
         21 pending 7",
        "1 5 begin 1
         1 6 pending at 1:0
         1 7 begin 2
         1 7 not recorded
         1 20 begin 1
         1 21 pending",
    );
}

#[test]
fn an_end_of_an_unknown_poll_breaks_off_what_is_open() {
    check(
        "thread 1 lost 0
         4 ready 3
         5 poll 7 of 1
         6 poll 8 of 2
         9 pending 6
         10 poll 9 of 2",
        "1 5 begin 1
         1 6 begin 2
         1 9 not recorded
         1 9 not recorded
         1 10 begin 2
         1 10 not recorded",
    );
}

#[test]
fn a_drop_tears_its_own_poll_down_with_those_inside() {
    check(
        "thread 1 lost 0
         5 poll 7 of 1
         6 poll 8 of 2
         7 poll 9 of 3
         8 drop 8
         9 ready 7",
        "1 5 begin 1
         1 6 begin 2
         1 7 begin 3
         1 8 not recorded
         1 8 torn down
         1 9 ready",
    );
}

#[test]
fn too_deep_polls_are_counted() {
    let deep = 300;
    let mut chunk = "thread 1 lost 0\n".to_owned();
    for call in 1..=deep {
        chunk += &format!("{call} poll {call} of 2\n");
    }
    for call in (1..=deep).rev() {
        chunk += &format!("{} ready {call}\n", 2 * deep - call);
    }
    let (lines, totals) = edges(recorded(&chunk), ExportRange::ALL);
    assert_eq!(totals.polls, DEEPEST as u64);
    assert_eq!(lines.len(), 2 * DEEPEST);
    assert_eq!(lines[DEEPEST], "1 345 ready, 45 deeper");
    assert_eq!(lines[2 * DEEPEST - 1], "1 599 ready");
}

#[test]
fn polls_that_reach_into_a_range_are_whole() {
    let chunks = recorded(
        "thread 1 lost 0
         1 poll 3 of 3
         2 ready 3
         5 poll 7 of 1
         6 poll 8 of 2
         7 ready 8
         8 poll 9 of 2
         12 ready 9
         30 ready 7
         31 poll 3 of 3
         32 ready 3",
    );
    let range = ExportRange {
        from: AT + 10,
        to: AT + 20,
    };
    let (lines, _) = edges(chunks, range);
    let expected = ["1 5 begin 1", "1 8 begin 2", "1 12 ready", "1 30 ready"];
    assert_eq!(lines, expected);
}

#[test]
fn events_of_an_earlier_time_are_left_out_and_counted() {
    let chunks = recorded(
        "thread 1 lost 0
         50000000 poll 7 of 1
         thread 1 lost 0
         5 poll 8 of 1
         6 ready 8",
    );
    let (lines, totals) = edges(chunks, ExportRange::ALL);
    assert_eq!(lines, ["1 50000000 begin 1", "1 50000000 not recorded"]);
    assert_eq!((totals.overlaps, totals.lost), (2, 0));
}

const SMALL: &str = "thread 1 lost 0
    4000 poll 7 of 1
    4500 await 1 at 1
    5000 poll 8 of 2
    5500 await 2 at 1
    6000 pending 8
    6000 pending 7
    thread 1 lost 9
    20000 poll 8 of 2
    20999 ready 8";

#[test]
fn chrome_has_them_after_all_else() {
    let without =
        super::super::tests::exported(|timeline, labels, out| chrome::write(timeline, labels, out));
    let (mut timeline, labels) = super::super::tests::timeline_of(recorded(SMALL));
    let mut with = Vec::new();
    let totals = chrome::write(&mut timeline, &labels, &mut with).unwrap();
    assert_eq!((totals.calls.polls, totals.calls.lost), (3, 9));
    let (without, with) = (
        String::from_utf8(without).unwrap(),
        String::from_utf8(with).unwrap(),
    );
    let begin = without.strip_suffix("\n]}\n").unwrap();
    insta::assert_snapshot!(with.strip_prefix(begin).unwrap().trim_start_matches(",\n"));
}

#[test]
fn perfetto_has_them_below_their_threads() {
    let (mut timeline, labels) = super::super::tests::timeline_of(recorded(SMALL));
    let mut trace = Vec::new();
    perfetto::write(&mut timeline, &labels, &mut trace).unwrap();
    let lines = perfetto::tests::lines(&trace);
    let of_calls = lines.lines().filter(|line| line.starts_with("0x40000000"));
    let tracks = lines.lines().filter(|line| line.ends_with(": calls\""));
    let shown: Vec<&str> = tracks.chain(of_calls).collect();
    insta::assert_snapshot!(shown.join("\n"));
}
