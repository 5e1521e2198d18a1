//! The recorded events of calls of whole programs, ill ones and a server under load, are replayed to
//! what the process itself says of its functions and await points.

mod program;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::{Duration, Instant};

use turbowish_model::account::aggregate::Aggregate;
use turbowish_model::account::counters::Sum;
use turbowish_model::collect::call_events::{AsyncStacks, CallItem, LiveCall};
use turbowish_model::event::CallEvent;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{Accounting, Snapshot};
use turbowish_recording::{Names, Reader};
use turbowish_testing::replay::{Outcome, Replay};
use turbowish_wire::Action;

use self::program::Program;

/// Longer than it takes on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// Polls after which a program is looked at; or after this time, if it has fewer.
const POLLS: u64 = 2_000;
const LOOKED_AFTER: Duration = Duration::from_secs(3);

/// Of a function: calls, polls, returned, errors, cancelled, panicked, never polled. Of an await
/// point: waits and cancelled.
type Counts = BTreeMap<String, Vec<u64>>;

/// Time in polls of each function, in nanoseconds.
type Running = BTreeMap<String, u64>;

/// A program whose events of calls are recorded.
struct Recorded(Program);

impl Recorded {
    async fn start(path: &str) -> Self {
        Self(Program::start(path, ("TURBOWISH_RECORD", "calls")).await)
    }

    async fn snapshot(&self) -> Snapshot {
        let query = Query {
            procs: Some(Rows::default()),
            awaits: Some(Rows::default()),
            ..Query::default()
        };
        self.0
            .connection
            .snapshot(&query)
            .await
            .expect("a snapshot")
    }

    /// Waits until so many polls more were counted.
    async fn works(&self) {
        let begun = Instant::now();
        let polls =
            |snapshot: &Snapshot| -> u64 { snapshot.procs.rows.iter().map(|row| row.polls).sum() };
        let before = polls(&self.snapshot().await);
        while polls(&self.snapshot().await) < before + POLLS && begun.elapsed() < LOOKED_AFTER {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn switch(&self, to: Accounting) {
        let action = Action::SetAccounting(to);
        self.0
            .connection
            .control(action)
            .await
            .expect("it is allowed");
    }

    /// What the process says when accounting has been switched off: nothing changes from then on.
    /// It was on for so many epochs.
    async fn last(&self, epochs: usize) -> Snapshot {
        for epoch in 0..epochs {
            if epoch > 0 {
                self.switch(Accounting::Armed).await;
            }
            self.works().await;
            self.switch(Accounting::Disarmed).await;
        }
        self.snapshot().await
    }

    /// What it has recorded by now, and the names.
    async fn recorded(&self) -> (Vec<CallItem>, Names) {
        let chunks = self.0.chunks().await;
        let mut reader = Reader::of_chunks(Cursor::new(chunks)).expect("a recording");
        let (names, faults) = reader.names().expect("names");
        assert!(reader.damage().is_none() && faults == 0);
        assert!(reader.polls().is_empty() && reader.states().is_empty());
        let (calls, faults) = reader.recorded_calls().expect("calls");
        assert_eq!(faults, 0);
        (calls.into_iter().collect(), names)
    }
}

/// What a snapshot since the start says.
fn said(snapshot: &Snapshot) -> (Counts, Running) {
    assert!(snapshot.since_start);
    let (mut counts, mut running) = (Counts::new(), Running::new());
    for row in &snapshot.procs.rows {
        let (returned, errors) = (row.ready, row.err);
        let ends = [
            returned,
            errors,
            row.cancelled,
            row.panicked,
            row.never_polled,
        ];
        let words = [&[row.calls, row.polls], &ends[..]].concat();
        counts.insert(row.proc.clone(), words);
        running.insert(row.proc.clone(), row.running_ns);
    }
    for row in &snapshot.awaits.rows {
        let name = format!("{} {}:{}", row.proc, row.place.line, row.place.column);
        counts.insert(name, vec![row.waits, row.cancelled]);
    }
    counts.retain(|_, words| words.iter().any(|word| *word > 0));
    (counts, running)
}

/// The same of a replay.
fn replayed(outcome: &Outcome, names: &Names) -> (Counts, Running) {
    let aggregate: &Aggregate = &outcome.aggregate;
    let (mut counts, mut running) = (Counts::new(), Running::new());
    for (stats, id) in aggregate.procs.iter().zip(&outcome.procs) {
        let proc = names.proc(id.expect("each event names its function"));
        let proc = proc.expect("each function has a name");
        let sum = |which| stats.sum(which);
        let words = [Sum::Err, Sum::Cancelled, Sum::Panicked, Sum::NeverPolled].map(sum);
        let begin = [Sum::Calls, Sum::Polls, Sum::Ready].map(sum);
        counts.insert(proc.path.clone(), [&begin, &words[..]].concat());
        running.insert(proc.path.clone(), sum(Sum::Running));
        for (site, waits) in stats.sites.iter().enumerate() {
            let known = site.checked_sub(1).and_then(|at| proc.awaits.get(at));
            // A wait at no known place has the place of the function.
            let (line, column) = match known {
                Some(Some(place)) => (place.line, place.column),
                _ => (proc.line, 0),
            };
            let name = format!("{} {line}:{column}", proc.path);
            counts.insert(name, vec![waits.waits, waits.cancelled]);
        }
    }
    counts.retain(|_, words| words.iter().any(|word| *word > 0));
    (counts, running)
}

/// Whether nothing is missing, and each epoch has its end.
fn is_whole(items: &[CallItem], epochs: usize) -> bool {
    let cuts = items.iter().filter(|item| item.cut().is_some());
    let mut ends = 0;
    for cut in cuts {
        assert!(matches!(cut, CallItem::EpochEnd { .. }), "{cut:?}");
        ends += 1;
    }
    ends == epochs && items.last().is_some_and(|last| last.cut().is_some())
}

async fn check(path: &str, epochs: usize) {
    let program = Recorded::start(path).await;
    let mut last = program.last(epochs).await;
    let begun = Instant::now();
    // The recorder copies what is new within a quarter of a second.
    let (outcome, names, open, running) = loop {
        let (items, names) = program.recorded().await;
        let (expected, running) = said(&last);
        assert!(!expected.is_empty(), "it calls something");
        let (mut replay, mut stacks) = (Replay::default(), AsyncStacks::default());
        // Functions whose polls were open at the end of an epoch.
        let mut open = Vec::new();
        for item in &items {
            if matches!(item, CallItem::EpochEnd { .. }) {
                open.extend(stacks.all_polled().filter_map(|call| call.proc));
            }
            stacks.item(item);
            replay.item(item);
        }
        let outcome = replay.finish(None);
        let (counts, _) = replayed(&outcome, &names);
        if is_whole(&items, epochs) && counts == expected {
            break (outcome, names, open, running);
        }
        assert!(begun.elapsed() < PATIENCE, "{counts:#?}\n{expected:#?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        // A poll that was open when accounting was switched off may have ended since.
        last = program.snapshot().await;
    };
    // Calls in flight when accounting was switched on again are seen late.
    let anomalies: u64 = outcome.aggregate.anomalies.iter().sum();
    assert_eq!(anomalies, last.lost.total());
    assert!(epochs > 1 || anomalies == 0, "{:?}", last.lost);
    let (_, again) = replayed(&outcome, &names);
    let polls: u64 = last.procs.rows.iter().map(|row| row.polls).sum();
    // Those of polls that were open at the end depend on when exactly that was.
    let is_open = |proc: &String| {
        let mut open = open.iter().filter_map(|id| names.proc(*id));
        open.any(|known| known.path == *proc)
    };
    for (proc, time) in running.into_iter().filter(|(proc, _)| !is_open(proc)) {
        let replayed = again.get(&proc).copied().unwrap_or(0);
        // Each time of an event is cut to a nanosecond.
        let is_same = replayed.abs_diff(time) <= 2 * polls;
        assert!(
            is_same,
            "{proc} was running for {time}, replayed {replayed}"
        );
    }
}

macro_rules! are_replayed {
    ($($name:ident: $program:literal, $epochs:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            check(env!(concat!("CARGO_BIN_EXE_", $program)), $epochs).await;
        }
    )*};
}

are_replayed! {
    a_server_under_load: "busy-server", 1;
    a_server_that_is_switched_off_and_on: "busy-server", 3;
    loops_over_select: "busy-selects", 1;
    selects_that_are_switched_off_and_on: "busy-selects", 2;
    a_deadlock: "deadlock", 1;
    a_futurelock: "futurelock", 1;
    a_cancelled_select: "cancel-unsafe-select", 1;
    calls_that_are_never_polled: "never-polled", 1;
    a_task_leak: "task-leak", 1;
    a_spin: "self-wake-spin", 1;
    a_snoozed_future: "snoozed-future", 1;
}

/// A function, and the await point at which its call stands.
fn standing(names: &Names, call: LiveCall) -> String {
    let proc = call.proc.and_then(|proc| names.proc(proc));
    let proc = proc.expect("each function has a name");
    let site = call.site.checked_sub(1);
    let place = site.and_then(|site| proc.await_point(site));
    let expression = place.map_or("", |place| &place.expression);
    format!("{} {expression}", proc.path)
}

/// Each drop of a call lies in the polls of the calls that drop it: its async stack.
#[tokio::test]
async fn who_drops_a_call_is_recorded() {
    const WORK: &str =
        "timeout_half_done::work timeout(Duration::from_millis(10), push(&mut jobs))";
    const PUSH: &str = "timeout_half_done::push store(job)";
    let program = Recorded::start(env!("CARGO_BIN_EXE_timeout-half-done")).await;
    let begun = Instant::now();
    loop {
        let (items, names) = program.recorded().await;
        let (mut stacks, mut drops) = (AsyncStacks::default(), Vec::new());
        for item in &items {
            if let CallItem::Event { event, .. } = item
                && let Some((id, CallEvent::Drop)) = event.call()
            {
                let dropped = stacks.call(id).expect("it has begun");
                let by = stacks.polled(event.thread);
                let by: Vec<String> = by.map(|call| standing(&names, call)).collect();
                drops.push((standing(&names, dropped), by));
            }
            stacks.item(item);
        }
        let dropped = |name: &str| drops.iter().filter(|(call, _)| call == name).count();
        if dropped(PUSH) > 3 {
            for (call, by) in drops {
                assert_eq!(by, [WORK], "{call}");
            }
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{drops:#?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
