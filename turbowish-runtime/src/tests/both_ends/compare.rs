//! What the process shows, and what the model makes of the stream of events.

use turbowish_model::account::aggregate::Anomaly;
use turbowish_model::event::{ConsoleEvent, Event, EventKind, UserEvent};
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{CounterRow, TaskRow, TaskState};
use turbowish_testing::mock::{LOCKS, PROCS};
use turbowish_testing::replay::{Outcome, Replay};
use turbowish_testing::validate::Validator;

use super::super::oracle::{Sums, read, same};
use super::world::World;
use crate::hot::proc;

/// A proc that is not there.
const ABSENT: u32 = u32::MAX;

/// What the model makes of it: numbers by proc, and calls that came late.
fn modelled(events: &[Event], armed: bool, now: u64) -> (Sums, u64) {
    let (mut sums, mut late) = (Sums::new(), 0);
    let mut replay = armed.then(Replay::default);
    let mut add = |outcome: &Outcome| {
        late += outcome.aggregate.anomalies[Anomaly::LateAttach as usize];
        for (key, value) in numbers(outcome) {
            *sums.entry(key).or_default() += value;
        }
    };
    for event in events {
        match event.kind {
            EventKind::Console {
                kind: ConsoleEvent::Arm,
                ..
            } => replay = Some(Replay::default()),
            EventKind::Console {
                kind: ConsoleEvent::Disarm,
                ..
            } => {
                // What is open and live is let go of.
                if let Some(replay) = replay.take() {
                    let mut outcome = replay.finish(Some(event.t));
                    outcome.aggregate.abandon();
                    add(&outcome);
                }
            }
            _ => {
                if let Some(replay) = &mut replay {
                    replay.event(event);
                }
            }
        }
    }
    if let Some(replay) = replay {
        add(&replay.finish(Some(now)));
    }
    (sums, late)
}

fn numbers(outcome: &Outcome) -> Sums {
    let ids = [0, 1, 2, 3].map(|id| {
        let at = outcome.procs.iter().position(|proc| *proc == Some(id));
        at.map_or(ABSENT, |at| at as u32)
    });
    read(&outcome.aggregate, &ids, true)
}

/// Whether a path is that of a function here, or of one of them.
fn is_ours(path: &str) -> bool {
    PROCS.iter().any(|name| is_named(path, name))
}

fn is_named(path: &str, name: &str) -> bool {
    path.strip_suffix(name)
        .is_some_and(|module| module.ends_with("::both_ends::world::"))
}

impl World {
    /// Totals are what the stream comes to, and the stream is coherent.
    pub(super) fn compare(&self) {
        let (events, now) = (self.told(), self.mock().now());
        let mut validator = Validator::default();
        for event in &events {
            let seed = self.seed;
            validator.event(event, &mut |report| panic!("seed {seed}: {report}"));
        }
        let (expected, late) = modelled(&events, self.began_armed, now);
        let known = proc::all();
        let ids = PROCS.map(|name| {
            let at = known.iter().position(|proc| is_named(&proc.path, name));
            at.map_or(ABSENT, |at| at as u32)
        });
        let (totals, _) = self.monitor.totals();
        same(
            &format!("seed {}", self.seed),
            &read(&totals.aggregate, &ids, true),
            &expected,
        );
        assert_eq!(
            totals.aggregate.anomalies[Anomaly::LateAttach as usize],
            late,
            "seed {}",
            self.seed
        );
    }

    /// What a console is shown: locks, tasks and counters are as the mock has them. Returns how
    /// many calls live.
    pub(super) fn snapshot(&self) -> u64 {
        let query = Query {
            procs: Some(Rows::default()),
            tasks: Some(Rows::default()),
            resources: Some(Rows::default()),
            counters: Some(Rows::default()),
            ..Query::default()
        };
        let snapshot = self.monitor.snapshot(&query).expect("a good query");
        let mock = self.mock();
        for lock in 0..LOCKS {
            let name = format!("mutex both-ends-{lock}");
            let row = snapshot.resources.rows.iter().find(|row| row.name == name);
            let shown = row.map_or((0, 0), |row| (row.holder_count, row.waiter_count));
            assert_eq!(shown, mock.shown(lock), "seed {}, {name}", self.seed);
        }
        if let Some(expected) = mock.tasks() {
            let tasks = &snapshot.tasks.rows;
            let ours = tasks.iter().filter(|row| is_ours(&row.root));
            assert_eq!(states(ours), expected, "seed {}", self.seed);
        }
        let of_name = |row: &&CounterRow| row.name == "both-ends-requests";
        let counted = snapshot.counters.rows.iter().filter(of_name);
        let counted: u64 = counted.filter_map(|row| row.total).sum();
        let told = mock.events().iter().filter(|event| is_count(event));
        assert_eq!(counted, told.count() as u64, "seed {}", self.seed);
        let ours = snapshot.procs.rows.iter().filter(|row| is_ours(&row.proc));
        ours.map(|row| row.live).sum()
    }
}

fn is_count(event: &Event) -> bool {
    let EventKind::User { kind, .. } = event.kind else {
        return false;
    };
    matches!(kind, UserEvent::Count { .. })
}

/// How many are polled, ready, and waiting.
fn states<'a>(rows: impl Iterator<Item = &'a TaskRow>) -> [usize; 3] {
    let mut states = [0; 3];
    for row in rows {
        let at = match row.state {
            TaskState::Polling => 0,
            TaskState::Ready => 1,
            _ => 2,
        };
        states[at] += 1;
    }
    states
}
