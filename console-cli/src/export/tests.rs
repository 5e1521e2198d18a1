//! What each format makes of a small recording: two threads, three tasks, a loss and a mark.

use std::io::Cursor;

use turbowish_model::account::paths::{PathKey, PathKind, Paths};
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::account::resource::Role;
use turbowish_model::account::task::TaskMeta;
use turbowish_model::snapshot::units::SECOND;
use turbowish_model::snapshot::{Page, Snapshot, TaskRow};
use turbowish_recording::{
    ChunkKind, Compression, EventEncoder, MARKER, NameEncoder, PollEncoder, PollEvent, Reader,
    ResourceSpan, ThreadEvent, ThreadEventKind, WakeupEvent, WokenBy, Writer,
};

use super::ctf::folder::TraceFolder;
use super::folded::{self, FoldedTime};
use super::timeline::{Step, Totals};
use super::{ExportError, ExportRange, Labels, Survey, Timeline, chrome, ctf, perfetto, pprof};

pub(super) type Bytes = Cursor<Vec<u8>>;

/// 2026-11-20 17:04:31 UTC.
pub(crate) const AT: u64 = 1_795_194_271 * SECOND;

const SERVE: u32 = 1;
const HANDLE: u32 = 2;
const TICK: u32 = 3;
/// A place of an event of the program's own.
const MISS: u32 = 6;

/// A connection's task, which a state names; another one, and a task that wakes both.
pub(crate) const CONN: u64 = TaskMeta::new(SERVE, 1, 0, 0).id;
const SECOND_CONN: u64 = TaskMeta::new(SERVE, 2, 0, 0).id;
const TICKER: u64 = TaskMeta::new(TICK, 1, 0, 0).id;

/// A poll that begins so many nanoseconds after [`AT`].
fn poll(start: u64, hold_ns: u64, task: u64, outcome: PollOutcome) -> PollEvent {
    PollEvent {
        start_unix_ns: AT + start,
        hold_ns,
        task,
        outcome,
        ..PollEvent::default()
    }
}

const fn woken(latency_ns: u64, by: WokenBy) -> Option<WakeupEvent> {
    Some(WakeupEvent { latency_ns, by })
}

/// The names, and the numbers of the path of `serve`, of `handle` below it, and of the chain in
/// which both wait.
fn names() -> (Vec<u8>, [u32; 2], u32) {
    let (table, chains) = (Paths::default(), Paths::default());
    let serve = Paths::root(SERVE);
    let handle = PathKey::new(serve, HANDLE, 1, PathKind::Direct);
    let handle = table.intern(handle).unwrap();
    let link = |parent, proc, site| {
        let key = PathKey::new(parent, proc, site, PathKind::Frame);
        chains.intern(key).unwrap()
    };
    let chain = link(link(0, SERVE, 1), HANDLE, 1);
    let mut names = NameEncoder::default();
    let mut proc = |number, name, file, line, awaits: [(u32, u32, &str); 1]| {
        names.proc(number, (name, file, line), awaits.map(Some).into_iter());
    };
    proc(
        SERVE,
        "app::serve",
        "src/main.rs",
        10,
        [(12, 5, "handle(\"a;b\")")],
    );
    proc(
        HANDLE,
        "app::handle",
        "src/handle.rs",
        3,
        [(7, 9, "users.lock()")],
    );
    proc(TICK, "app::tick", "src/tick.rs", 1, [(2, 5, "sleep(MS)")]);
    names.thread(0, "main");
    names.thread(1, "worker");
    let place = ("cache \"miss\" \\ µ", "src/handle.rs", 9);
    names.event(MISS, place, &["key", "int", "key"]);
    names.paths(&table, table.added(0));
    names.chains(&chains, chains.added(0));
    (names.end(), [serve, handle], chain)
}

/// The chunks of polls: thread, lost before, polls.
fn batches() -> Vec<(u32, u64, Vec<PollEvent>)> {
    let (_, [serve, handle], chain) = names();
    let (pending, ready) = (PollOutcome::Pending, PollOutcome::Ready);
    let first = PollEvent {
        path: serve,
        chain,
        wakeup: woken(500, WokenBy::Thread(0)),
        ..poll(1_000, 2_000, CONN, pending)
    };
    let tick = |start| PollEvent {
        path: Paths::root(TICK),
        ..poll(start, 4_000, TICKER, pending)
    };
    let second = PollEvent {
        path: handle,
        chain,
        // By the ticker, in the middle of its poll.
        wakeup: woken(
            3_000,
            WokenBy::Task {
                id: TICKER,
                path: Paths::root(TICK),
            },
        ),
        ..poll(9_000, 1_500, CONN, pending)
    };
    let last = PollEvent {
        path: handle,
        wakeup: woken(250, WokenBy::Unknown),
        ..poll(40_000, 10_000, CONN, ready)
    };
    let other = PollEvent {
        path: serve,
        ..poll(20_000, 999, SECOND_CONN, PollOutcome::Err)
    };
    vec![
        (0, 0, vec![first, second]),
        (1, 0, vec![tick(4_000), other]),
        (0, 3, vec![last]),
        (1, 0, vec![tick(45_000)]),
    ]
}

pub(crate) fn bytes() -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), Compression::Deflate).unwrap();
    writer.body(ChunkKind::Names, AT, &names().0).unwrap();
    let row = TaskRow {
        id: CONN,
        name: "conn:1".to_owned(),
        ..TaskRow::default()
    };
    let mut state = Snapshot {
        at_unix_ns: AT + 30_000,
        tasks: Page {
            rows: vec![row],
            total: 3,
            matched: 3,
        },
        ..Snapshot::default()
    };
    state.process.name = "app".to_owned();
    state.process.pid = 4242;
    writer.state(&state, 0).unwrap();
    for (thread, lost, polls) in batches() {
        let begin = polls[0].start_unix_ns;
        let mut encoder = PollEncoder::begin(begin, thread, 0, lost);
        polls.iter().for_each(|poll| encoder.push(poll));
        writer
            .body(ChunkKind::Polls, begin, &encoder.end())
            .unwrap();
    }
    writer.mark(AT + 35_000, "alert: \"deadlock\"").unwrap();
    writer.end().unwrap()
}

/// An event so many nanoseconds after [`AT`].
const fn event(at: u64, task: u64, kind: ThreadEventKind) -> ThreadEvent {
    ThreadEvent {
        at_unix_ns: AT + at,
        task,
        kind,
    }
}

/// A wait or a hold of a lock.
const fn lock(duration_ns: u64) -> ResourceSpan {
    ResourceSpan {
        resource: 17,
        duration_ns,
        role: Role::Lock,
        amount: 1,
    }
}

/// Events: thread, lost before, events. Waits and holds overlap, and so do the losses.
fn events() -> Vec<(u32, u64, Vec<ThreadEvent>)> {
    let miss = |values| ThreadEventKind::User { site: MISS, values };
    vec![
        (
            0,
            0,
            vec![
                event(9_500, CONN, ThreadEventKind::Waited(lock(6_500))),
                event(12_000, CONN, miss([7, -1, 3, 0])),
            ],
        ),
        (
            1,
            0,
            vec![
                event(20_500, SECOND_CONN, ThreadEventKind::GaveUp(lock(15_000))),
                event(46_000, TICKER, ThreadEventKind::Held(lock(41_000))),
            ],
        ),
        (0, 2, vec![event(45_000, CONN, miss([8, 0, 0, 0]))]),
        // A long time after the one before.
        (1, 0, vec![event(400_000_000, 0, miss([0; 4]))]),
    ]
}

/// The same with events.
pub(super) fn bytes_with_events() -> Vec<u8> {
    let mut writer = Writer::begin(bytes(), Compression::Deflate).unwrap();
    for (thread, lost, events) in events() {
        let begin = events[0].at_unix_ns;
        let mut encoder = EventEncoder::begin(begin, thread, lost);
        events.iter().for_each(|event| encoder.push(event));
        writer
            .body(ChunkKind::Events, begin, &encoder.end())
            .unwrap();
    }
    writer.end().unwrap()
}

fn survey() -> Survey<Bytes> {
    Survey::of(Reader::open(Cursor::new(bytes())).unwrap()).unwrap()
}

/// The whole recording.
fn timeline() -> (Timeline<Bytes>, Labels) {
    timeline_of(bytes())
}

pub(super) fn timeline_of(bytes: Vec<u8>) -> (Timeline<Bytes>, Labels) {
    let survey = Survey::of(Reader::open(Cursor::new(bytes)).unwrap()).unwrap();
    let span = survey.span().unwrap();
    survey.timeline(span).unwrap()
}

/// What a format makes of it.
pub(super) fn exported<T>(
    write: impl FnOnce(&mut Timeline<Bytes>, &Labels, &mut Vec<u8>) -> Result<T, ExportError>,
) -> Vec<u8> {
    let (mut timeline, labels) = timeline();
    let mut out = Vec::new();
    write(&mut timeline, &labels, &mut out).unwrap();
    out
}

/// `0 1000 2000`: thread, beginning and length of polls; `0 lost 3` of losses.
fn steps(timeline: &mut Timeline<Bytes>) -> (Vec<String>, Totals) {
    let mut told = Vec::new();
    let totals = timeline.each(|step| {
        told.push(match step {
            Step::Poll { thread, poll } => {
                format!("{thread} {} {}", poll.start_unix_ns - AT, poll.hold_ns)
            }
            Step::Lost {
                thread,
                polls,
                from,
                to,
            } => format!("{thread} lost {polls} {} {}", from - AT, to - AT),
            Step::Event { thread, event } => format!("{thread} {:?}", event.kind),
            Step::LostEvents { thread, events, .. } => format!("{thread} lost {events} events"),
            Step::Mark { at, text } => format!("{} {text}", at - AT),
        });
        Ok(())
    });
    (told, totals.unwrap())
}

#[test]
fn a_timeline_is_in_the_order_of_beginnings_and_has_its_losses() {
    let (mut timeline, _) = timeline();
    assert_eq!(timeline.begin(), AT + 1_000);
    assert_eq!(timeline.threads().collect::<Vec<_>>(), [0, 1]);
    let expected = [
        "0 1000 2000",
        "1 4000 4000",
        "0 9000 1500",
        "0 lost 3 10500 40000",
        "1 20000 999",
        "35000 alert: \"deadlock\"",
        "0 40000 10000",
        "1 45000 4000",
    ];
    let (told, totals) = steps(&mut timeline);
    assert_eq!(told, expected);
    let (polls, lost, overlaps) = (6, 3, 0);
    let all = Totals {
        polls,
        lost,
        overlaps,
        ..Totals::default()
    };
    assert_eq!(totals, all);
    // It can be read again.
    assert_eq!(steps(&mut timeline), (told, totals));
}

#[test]
fn a_range_has_the_polls_that_reach_into_it() {
    let check = |from: u64, to: u64, expected: &[&str]| {
        let range = ExportRange {
            from: AT + from,
            to: AT + to,
        };
        let (mut timeline, _) = survey().timeline(range).unwrap();
        assert_eq!(steps(&mut timeline).0, expected, "{from}..={to}");
    };
    check(
        3_000,
        20_500,
        &["0 1000 2000", "1 4000 4000", "0 9000 1500", "1 20000 999"],
    );
    check(10_501, 19_999, &[]);
    check(
        36_000,
        46_000,
        &["0 lost 3 36000 40000", "0 40000 10000", "1 45000 4000"],
    );
}

/// What was joined has no order: no slice may begin inside of another one of its thread.
#[test]
fn polls_that_overlap_are_left_out_and_counted() {
    let twice = [bytes(), bytes()].concat();
    let survey = Survey::of(Reader::open(Cursor::new(twice)).unwrap()).unwrap();
    let span = survey.span().unwrap();
    let (mut timeline, _) = survey.timeline(span).unwrap();
    let (_, totals) = steps(&mut timeline);
    assert_eq!((totals.polls, totals.overlaps), (6, 6));
}

#[test]
fn a_chunk_that_is_damaged_is_counted() {
    let mut writer = Writer::begin(bytes(), Compression::None).unwrap();
    writer.body(ChunkKind::Polls, AT, &[0]).unwrap();
    let all = Cursor::new(writer.end().unwrap());
    let survey = Survey::of(Reader::open(all).unwrap()).unwrap();
    assert_eq!((survey.faults(), survey.has_steps()), (1, true));
}

#[test]
fn names_are_those_of_the_console() {
    let (_, labels) = timeline();
    let tasks = [CONN, SECOND_CONN, TICKER, 0].map(|task| labels.task(task));
    assert_eq!(tasks, ["conn:1", "serve-2", "tick-1", "[unknown]"]);
    assert_eq!(labels.root(TICKER), "app::tick");
    let polls = batches();
    let names: Vec<_> = polls[0].2.iter().map(|poll| labels.poll(poll)).collect();
    assert_eq!(names, ["app::serve", "app::serve > app::handle"]);
    let wait = labels.wait(polls[0].2[0].chain);
    assert_eq!(wait, "app::handle at src/handle.rs:7 users.lock()");
    assert_eq!(labels.wait(0), "[several awaits]");
}

#[test]
fn chrome_has_a_slice_for_each_poll_and_an_arrow_for_each_wake() {
    let json = exported(|timeline, labels, out| chrome::write(timeline, labels, out));
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(value["otherData"]["time 0"], "2026-11-20T17:04:31.000001Z");
    insta::assert_snapshot!("chrome", String::from_utf8(json).unwrap());
}

#[test]
fn folded_stacks_have_the_time_of_polls_by_path_and_that_of_waits_by_await_point() {
    let folded = |time| {
        let out = exported(|timeline, labels, out| folded::write(timeline, labels, time, out));
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        folded(FoldedTime::Polls),
        "app::serve 2999\napp::serve;app::handle 11500\napp::tick 8000\n"
    );
    // During all other waits, polls were lost: the task may have been polled.
    assert_eq!(
        folded(FoldedTime::Waiting),
        "app::serve;app::handle;src/handle.rs:7 users.lock() 3000\n"
    );
}

/// The CRC of a chunk says nothing about the one who wrote it.
#[test]
fn any_numbers_are_exported() {
    const MOST: u64 = u64::MAX;
    let any = PollEvent {
        start_unix_ns: MOST - 9,
        hold_ns: 5,
        task: MOST,
        path: u32::MAX,
        chain: u32::MAX,
        outcome: PollOutcome::Pending,
        wakeup: woken(MOST, WokenBy::Thread(u32::MAX)),
    };
    let last = PollEvent {
        start_unix_ns: MOST - 2,
        hold_ns: MOST,
        wakeup: woken(MOST, WokenBy::Task { id: MOST, path: 0 }),
        ..any
    };
    let span = ResourceSpan {
        resource: MOST,
        duration_ns: MOST,
        role: Role::Send,
        amount: u32::MAX,
    };
    let ends = [
        ThreadEventKind::Held(span),
        ThreadEventKind::User {
            site: u32::MAX,
            values: [i64::MIN; 4],
        },
    ];
    let mut writer = Writer::begin(Vec::new(), Compression::None).unwrap();
    for thread in [0, u32::MAX] {
        let mut polls = PollEncoder::begin(0, thread, 0, MOST);
        [any, any, last].iter().for_each(|poll| polls.push(poll));
        writer.body(ChunkKind::Polls, 0, &polls.end()).unwrap();
        let mut events = EventEncoder::begin(MOST, thread, MOST);
        ends.iter()
            .for_each(|kind| events.push(&event(7, MOST, *kind)));
        writer.body(ChunkKind::Events, MOST, &events.end()).unwrap();
    }
    let (mut timeline, labels) = timeline_of(writer.end().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let trace = TraceFolder::create(&folder.path().join("x"), false).unwrap();
    let mut out = Vec::new();
    chrome::write(&mut timeline, &labels, &mut out).unwrap();
    folded::write(&mut timeline, &labels, FoldedTime::Polls, &mut out).unwrap();
    folded::write(&mut timeline, &labels, FoldedTime::Waiting, &mut out).unwrap();
    pprof::write(&mut timeline, &labels, &mut out).unwrap();
    perfetto::write(&mut timeline, &labels, &mut out).unwrap();
    let (totals, _) = ctf::write(&mut timeline, &labels, &trace).unwrap();
    let lost = (totals.lost, totals.lost_events);
    assert_eq!((totals.polls, lost), (6, (MOST, MOST)));
}

/// Other programs read what is made of this file: see `.ci/exports`.
#[test]
fn the_small_recording_with_events_is_in_a_file() {
    insta::assert_binary_snapshot!("small.tw", bytes_with_events());
}

/// The same recording as it was written until 2026-11-29, with polls in chunks of these kinds.
const OLDER: [(u8, &[u8]); 2] = [
    (4, include_bytes!("older_4.tw")),
    (7, include_bytes!("older_7.tw")),
];

#[test]
fn older_recordings_say_the_same() {
    let export = |bytes: Vec<u8>| {
        let (mut timeline, labels) = timeline_of(bytes);
        let mut out = Vec::new();
        chrome::write(&mut timeline, &labels, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let new = export(bytes_with_events());
    for (kind, older) in OLDER {
        assert!(kinds_of(older).contains(&kind), "chunks of kind {kind}");
        assert_eq!(export(older.to_vec()), new, "chunks of kind {kind}");
    }
}

/// The kinds of its chunks.
fn kinds_of(recording: &[u8]) -> Vec<u8> {
    let chunks = recording.windows(MARKER.len() + 1);
    let kinds = chunks.filter_map(|bytes| bytes.strip_prefix(&MARKER));
    kinds.map(|kind| kind[0]).collect()
}
