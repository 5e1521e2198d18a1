//! The tasks and the holders of each recorded state of whole programs are those that the recorded
//! polls and holds tell: each task with its number of polls, its state since the same instant, and
//! the await points at which it waits.

mod program;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::{Duration, Instant};

use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::snapshot::{Snapshot, TaskRow, TaskState};
use turbowish_recording::{Names, PollEvent, Reader, ResourceSpan, ThreadEventKind};

use self::program::Program;

/// Longer than it takes on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// Number of states of a recording.
const STATES: usize = 4;

/// Whether two instants are the same one, of a state and of an event that was so long before it.
/// They come of two readings of the clocks, and the length of a tick is known to a thousandth.
fn is_same(one: u64, other: u64, ago_ns: u64) -> bool {
    one.abs_diff(other) <= 1_000_000 + ago_ns / 1_000
}

/// Holds that are shorter may have no event.
const LONG_NS: u64 = 1_000_000;

/// A state is read within this time.
const READ_NS: u64 = 100_000_000;

/// A recording in memory.
struct Past {
    states: Vec<Snapshot>,
    names: Names,
    /// The polls of each task, in their order.
    polls: BTreeMap<u64, Vec<PollEvent>>,
    /// Holds, with the time of their end.
    holds: Vec<(u64, ResourceSpan)>,
}

impl Past {
    /// `None` if there are too few states with polls after them.
    fn read(chunks: Vec<u8>) -> Option<Self> {
        let mut reader = Reader::of_chunks(Cursor::new(chunks)).expect("a recording");
        assert!(reader.damage().is_none());
        let (names, faults) = reader.names().expect("names");
        assert_eq!(faults, 0);
        let mut past = Self {
            states: Vec::new(),
            names,
            polls: BTreeMap::new(),
            holds: Vec::new(),
        };
        for nth in 0..reader.polls().len() {
            let batch = reader.batch(nth).expect("polls");
            assert_eq!(batch.lost, 0, "the recorder has kept up");
            for poll in batch.polls {
                past.polls.entry(poll.task).or_default().push(poll);
            }
        }
        for polls in past.polls.values_mut() {
            polls.sort_by_key(|poll| poll.start_unix_ns);
        }
        for nth in 0..reader.events().len() {
            let batch = reader.event_batch(nth).expect("events");
            assert_eq!(batch.lost, 0, "the recorder has kept up");
            for event in batch.events {
                if let ThreadEventKind::Held(span) = event.kind {
                    past.holds.push((event.at_unix_ns, span));
                }
            }
        }
        for nth in 0..reader.states().len() {
            let state = reader.snapshot(nth).expect("a state");
            past.states.push(state);
        }
        (past.states.len() >= STATES).then_some(past)
    }

    /// Checks a task of a state. Returns whether its polls say anything of it.
    fn task(&self, at: u64, row: &TaskRow) -> bool {
        let none = Vec::new();
        let polls = self.polls.get(&row.id).unwrap_or(&none);
        let begun = row.polls as usize;
        let since = at.saturating_sub(row.since_ns);
        // The last poll that the state knows, if it has ended since, and the one after it.
        let (Some(last), next) = (
            begun.checked_sub(1).and_then(|nth| polls.get(nth)),
            polls.get(begun),
        ) else {
            let is_open = row.state == TaskState::Polling && polls.len() + 1 == begun;
            assert!(begun == 0 || is_open, "{} polls: {row:#?}", polls.len());
            return false;
        };
        // A row that is newer than the state is of the time when it was read.
        let expect = |what: &str, then: u64| {
            assert!(
                is_same(then, since, row.since_ns) || then >= at,
                "{what} {then}, since {since}: {row:#?}\n{polls:#?}"
            );
        };
        match row.state {
            TaskState::Polling => expect("polled", last.start_unix_ns),
            TaskState::Waiting => {
                expect("pending", last.end_unix_ns());
                assert_eq!(last.outcome, PollOutcome::Pending, "{row:#?}");
                self.stands(last, row);
            }
            TaskState::Ready => {
                let woken = next.and_then(|next| {
                    let latency = next.wakeup?.latency_ns;
                    Some(next.start_unix_ns.saturating_sub(latency))
                });
                woken.into_iter().for_each(|woken| expect("woken", woken));
            }
            TaskState::Paused => panic!("nobody paused it"),
        }
        if row.state != TaskState::Polling {
            let longest = polls[..begun].iter().map(|poll| poll.hold_ns).max();
            let longest = longest.unwrap_or(0);
            assert!(
                is_same(longest, row.max_poll_ns, longest),
                "{longest}: {row:#?}"
            );
        }
        true
    }

    /// The await points at which the task waits after the poll, where it waits at one only.
    fn stands(&self, poll: &PollEvent, row: &TaskRow) {
        let chain = self.names.chain(poll.chain);
        // Of a task that was not polled since accounting was switched on, the place is unknown.
        if chain.is_empty() || row.stack_truncated || row.waits_unknown {
            return;
        }
        let told: Vec<_> = chain
            .iter()
            .map(|call| {
                let proc = self.names.proc(call.proc).expect("a function");
                let site = call.site.and_then(|site| proc.await_point(site));
                (proc.path.clone(), site.map(|site| (site.line, site.column)))
            })
            .collect();
        let shown: Vec<_> = row
            .stack
            .iter()
            .filter(|call| !call.aside)
            .map(|call| {
                let place = call.place.as_ref();
                (
                    call.proc.clone(),
                    place.map(|place| (place.line, place.column)),
                )
            })
            .collect();
        assert_eq!(told, shown, "{}", row.name);
    }

    /// Checks the holders of a state. Returns how many of them have an event. As of tasks, a hold
    /// that is newer than the state is of the time when it was read.
    fn holders(&self, state: &Snapshot, later: &Snapshot) -> usize {
        let mut found = 0;
        for row in &state.resources.rows {
            let next = later.resources.rows.iter().find(|next| next.id == row.id);
            for holder in &row.holders {
                let begun = state.at_unix_ns.saturating_sub(holder.since_ns);
                let goes_on = next.is_none_or(|next| {
                    let mut holders = next.holders.iter();
                    holders.any(|other| {
                        let other = later.at_unix_ns.saturating_sub(other.since_ns);
                        is_same(other, begun, holder.since_ns)
                    })
                });
                if goes_on || holder.since_ns < LONG_NS {
                    continue;
                }
                let is_newer = |start| {
                    holder.since_ns < READ_NS
                        && (state.at_unix_ns..later.at_unix_ns).contains(&start)
                };
                let is_it = |(end, span): &&(u64, ResourceSpan)| {
                    let start = end.saturating_sub(span.duration_ns);
                    (span.resource, span.role) == (row.id, holder.role)
                        && (is_same(start, begun, holder.since_ns) || is_newer(start))
                };
                assert!(self.holds.iter().any(|hold| is_it(&hold)), "{row:#?}");
                found += 1;
            }
        }
        found
    }
}

async fn check(path: &str, least: [usize; 2]) {
    let program = Program::start(path, ("TURBOWISH_RECORD", "on")).await;
    let begun = Instant::now();
    let past = loop {
        if let Some(past) = Past::read(program.chunks().await) {
            break past;
        }
        assert!(begun.elapsed() < PATIENCE, "it has recorded too few states");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let (mut tasks, mut holders) = (0, 0);
    for (state, later) in past.states.iter().zip(&past.states[1..]) {
        let rows = &state.tasks.rows;
        // The polls before it are all copied by the time of the next one.
        for row in rows {
            tasks += usize::from(past.task(state.at_unix_ns, row));
        }
        holders += past.holders(state, later);
    }
    assert!(
        tasks >= least[0] && holders >= least[1],
        "{tasks} tasks and {holders} holders: {least:?}"
    );
}

macro_rules! are_replayed {
    ($($name:ident: $program:literal, $least:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            check(env!(concat!("CARGO_BIN_EXE_", $program)), $least).await;
        }
    )*};
}

// At least so many tasks and holders of three states are told by polls and holds.
are_replayed! {
    a_server_under_load: "busy-server", [10, 0];
    late_timers: "late-timers", [3, 0];
    a_stream_that_stalls: "stream-stall", [1, 0];
    a_deadlock: "deadlock", [4, 0];
    a_guard_across_an_await: "guard-across-await", [3, 0];
    a_lock_convoy: "lock-convoy", [30, 1];
    a_task_leak: "task-leak", [30, 0];
    a_starvation: "starvation", [1, 0];
}
