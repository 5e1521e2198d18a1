//! What the looks see of finished polls, and what the alerts tell with them.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use turbowish_model::account::aggregate::LongestPoll;
use turbowish_model::collect::read::LongPollReading;
use turbowish_model::snapshot::alert::{Alert, PartyKind};
use turbowish_model::snapshot::pitfall::Pitfall;

use super::ended;
use crate::hot::clock;
use crate::monitor::Monitor;
use crate::tests::stage::{advance, alone};

/// A poll of a path that ends in this proc.
fn long(since: u64, end: u64, task: u64, stack: &[u32]) -> LongPollReading {
    LongPollReading {
        poll: LongestPoll {
            hold: end - since,
            end,
            task,
            ..LongestPoll::default()
        },
        stack: stack.to_vec(),
    }
}

/// Start, end, task and innermost stack of a root poll.
type Told<'a> = (u64, u64, u64, &'a [u32]);

/// The root polls that have ended, and the number of polls that wait for the end of theirs.
fn check(mut polls: Vec<LongPollReading>, open: &[(u64, u64)], expected: &[Told<'_>], left: usize) {
    let ended = ended(&mut polls, open);
    let told = ended.iter().map(|root| {
        let stack = &root.innermost.stack[..];
        (root.since, root.until, root.task, stack)
    });
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert_eq!(polls.len(), left);
}

#[test]
fn polls_of_one_root_are_one() {
    let nested = || {
        vec![
            long(12, 28, 7, &[1, 2, 3]),
            long(10, 30, 7, &[1]),
            long(11, 29, 7, &[1, 2]),
        ]
    };
    check(nested(), &[], &[(10, 30, 7, &[1, 2, 3])], 0);
    // A span is one poll of all of its levels.
    let span = vec![long(10, 30, 7, &[1, 2]), long(10, 30, 7, &[1])];
    check(span, &[], &[(10, 30, 7, &[1, 2])], 0);
    // Another one of the same thread, and a task in the poll of another one.
    let mut two = nested();
    two.push(long(30, 45, 9, &[5]));
    two.push(long(31, 44, 8, &[6]));
    let second: Told<'_> = (30, 45, 9, &[6]);
    check(two, &[(9, 46)], &[(10, 30, 7, &[1, 2, 3]), second], 0);
}

#[test]
fn what_is_within_an_open_poll_waits_for_its_end() {
    let polls = vec![long(5, 9, 7, &[1]), long(12, 28, 8, &[1, 2])];
    check(polls, &[(8, 11)], &[(5, 9, 7, &[1])], 1);
    // Another task's poll does not wait for it, nor for that of a function outside of tasks. A call
    // of the outer task still does if an inner poll has begun since.
    let polls = || vec![long(12, 28, 8, &[1]), long(13, 20, 7, &[2])];
    check(polls(), &[(7, 11)], &[(12, 28, 8, &[1])], 1);
    check(polls(), &[(7, 11), (9, 30)], &[(12, 28, 8, &[1])], 1);
    let all: [Told<'_>; 1] = [(12, 28, 8, &[2])];
    check(polls(), &[(0, 11)], &all, 0);
    // The poll that ended began before: the open one is the next.
    let polls = vec![long(12, 28, 8, &[1])];
    check(polls, &[(8, 28)], &[(12, 28, 8, &[1])], 0);
}

const MS: u64 = 1_000_000;

thread_local! {
    /// What the next poll of `stalls` does.
    static WORK: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

#[turbowish::instrument]
async fn parked() {
    std::future::pending::<()>().await;
}

/// Polls once: pending, with some work in it.
#[turbowish::instrument]
async fn works() {
    loop {
        pause().await;
        if let Some(work) = WORK.take() {
            work();
        }
    }
}

/// Pending, then ready, by turns.
async fn pause() {
    let mut is_first = true;
    poll_fn(|_| match std::mem::take(&mut is_first) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
}

/// A program with very many tasks, whose scans are far apart.
struct Crowded {
    monitor: &'static Monitor,
    worker: Pin<Box<dyn Future<Output = ()>>>,
    _parked: Vec<Pin<Box<dyn Future<Output = ()>>>>,
}

impl Crowded {
    fn new() -> Self {
        const TASKS: usize = 6_000;
        let monitor: &'static Monitor = Box::leak(Box::new(Monitor::new("test".into())));
        monitor.arm();
        let mut context = Context::from_waker(Waker::noop());
        let mut tasks: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
        for _ in 0..TASKS {
            let mut task = Box::pin(parked());
            assert!(task.as_mut().poll(&mut context).is_pending());
            tasks.push(task);
        }
        let mut crowded = Self {
            monitor,
            worker: Box::pin(works()),
            _parked: tasks,
        };
        crowded.works(|| ());
        crowded.tick();
        crowded.works(|| ());
        crowded
    }

    /// A poll of the worker's task, with this work in it.
    fn works(&mut self, work: impl FnOnce() + 'static) {
        WORK.set(Some(Box::new(work)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(self.worker.as_mut().poll(&mut context).is_pending());
        advance(MS);
    }

    /// A tick 250 ms later. No scan is due, however long this test takes.
    fn tick(&self) {
        advance(250 * MS);
        self.look();
    }

    fn look(&self) {
        self.monitor.tick();
        put_off(self.monitor);
    }

    /// Alerts about polls.
    fn alerts(&self) -> Vec<Alert> {
        let (mut alerts, _) = self.monitor.alerts();
        alerts.retain(Alert::is_in_poll);
        alerts
    }

    fn held_ms(&self) -> Vec<u64> {
        let alerts = self.alerts();
        let times = alerts.iter().flat_map(|alert| &alert.recent);
        times.map(|time| time.held_ns / MS).collect()
    }
}

/// No scan is due for an hour, but for an urgent one.
fn put_off(monitor: &Monitor) {
    let pace = &mut monitor.watch().pace;
    pace.due = Some(Instant::now() + Duration::from_secs(3_600));
    pace.urgent = None;
}

/// The stall is over at the next look. A scan that is not due for an hour is made at once.
#[test]
fn a_stall_between_two_looks_is_an_alert() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    crowded.works(|| advance(1_500 * MS));
    crowded.tick();
    let alerts = crowded.alerts();
    let [alert] = &alerts[..] else {
        panic!("{alerts:#?}");
    };
    assert_eq!(alert.pitfall, Pitfall::BlockedWorker);
    assert_eq!((alert.held_ns / MS, alert.is_over()), (1_500, true));
    assert!(alert.title.contains(" 1.50 s: "), "{}", alert.title);
    let at = alert.at.as_ref().expect("where it was");
    assert!(at.proc.ends_with("::works"), "{}", at.proc);
    assert_eq!(at.place.as_ref().expect("an await point").expr, "pause()");
    assert_eq!(alert.named(PartyKind::Worker).len(), 1);
    let task = alert.named(PartyKind::Task);
    assert!(task[0].starts_with("works-"), "{task:?}");
    // Short ones are none, and every further one is told.
    for stall in [900, 1_200, 300, 2_000, 960] {
        crowded.works(move || advance(stall * MS));
        crowded.tick();
    }
    assert_eq!(crowded.held_ms(), [1_500, 1_200, 2_000]);
    crowded.monitor.disarm();
}

/// A look sees the poll when it is over the limit: a scan is made while it lasts, and another one
/// when it has ended.
#[test]
fn a_stall_that_a_look_sees_is_an_alert_while_it_lasts() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    let monitor = crowded.monitor;
    let titles = || -> Vec<String> {
        let (alerts, _) = monitor.alerts();
        let polls = alerts.into_iter().filter(Alert::is_in_poll);
        polls.map(|alert| alert.title).collect()
    };
    let crowded_look = move || {
        monitor.tick();
        put_off(monitor);
    };
    crowded.works(move || {
        for _ in 0..3 {
            advance(250 * MS);
            crowded_look();
            assert_eq!(titles(), [""; 0]);
        }
        advance(260 * MS);
        crowded_look();
        let [title] = &titles()[..] else {
            panic!("{:?}", titles());
        };
        assert!(title.starts_with("blocked worker "), "{title}");
        assert!(title.contains(" 1.01 s+: "), "{title}");
        advance(490 * MS);
    });
    crowded.tick();
    // It is cleared a second after it was seen last.
    advance(1_000 * MS);
    crowded.monitor.watch().pace.due = None;
    crowded.look();
    assert_eq!(crowded.held_ms(), [1_500]);
    let [title] = &crowded.alerts()[..] else {
        panic!("{:#?}", crowded.alerts());
    };
    assert!(title.title.contains(" 1.50 s: "), "{}", title.title);
    crowded.monitor.disarm();
}

/// A stall that is just over the limit may lie between two ticks. A look is due when it reaches the
/// limit.
#[test]
fn a_look_is_due_when_an_open_poll_reaches_the_limit() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    let monitor = crowded.monitor;
    let due_ms = move || {
        let next = monitor.next_look();
        next.map(|next| next.as_millis())
    };
    crowded.works(move || {
        for left in [750, 500, 250] {
            advance(250 * MS);
            monitor.tick();
            put_off(monitor);
            assert_eq!(due_ms(), Some(left));
        }
        advance(249 * MS);
        assert_eq!(due_ms(), Some(1));
        advance(2 * MS);
        assert_eq!(due_ms(), Some(0));
        monitor.look();
        put_off(monitor);
        let (alerts, _) = monitor.alerts();
        let held = alerts.iter().filter(|alert| alert.is_in_poll());
        assert_eq!(
            held.map(|alert| alert.held_ns / MS).collect::<Vec<_>>(),
            [1_001]
        );
        assert_eq!(due_ms(), None, "it was told");
    });
    crowded.tick();
    assert_eq!(due_ms(), None);
    crowded.monitor.disarm();
}

/// A rule wants to see such a poll in two scans, and ticks may be a second apart.
#[test]
fn a_poll_that_is_open_for_long_is_scanned_for_at_each_look() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    let monitor = crowded.monitor;
    crowded.works(move || {
        let scans = || {
            monitor.watch().pace.due = None;
            monitor.look();
            monitor.watch().pace.due.is_some()
        };
        advance(99 * MS);
        assert!(!scans());
        for _ in 0..3 {
            advance(MS);
            assert!(scans());
        }
        advance(746 * MS);
        assert!(scans());
        // The ticks are enough for what lasts longer.
        advance(2 * MS);
        assert!(!scans());
    });
    monitor.disarm();
}

/// Ticks may be a second apart, and what a rule wants to see twice may be over at the next one.
#[test]
fn what_is_new_is_scanned_for_at_the_next_look() {
    let _alone = alone();
    let crowded = Crowded::new();
    let monitor = crowded.monitor;
    let lost_wakers = || {
        let (alerts, _) = monitor.alerts();
        alerts
            .iter()
            .any(|alert| alert.pitfall == Pitfall::LostWaker)
    };
    let scans = || {
        monitor.watch().pace.due = None;
        monitor.look();
        monitor.watch().pace.due.is_some()
    };
    // It is seen, but a waker must be lost for longer.
    assert!(!scans());
    monitor.begin_alerts_anew();
    advance(10_000 * MS);
    crowded.tick();
    assert!(!lost_wakers());
    assert!(scans() && lost_wakers());
    assert!(!scans());
    monitor.disarm();
}

/// What is known for alerts was forgotten, and stays so.
#[test]
fn a_look_of_an_epoch_that_is_over_sees_nothing() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    let monitor = crowded.monitor;
    crowded.works(move || {
        let (_, threads) = monitor.totals();
        let epoch = monitor.state().switched.epoch;
        let look = || {
            let now = clock::ticks();
            monitor.watch().look_in(monitor, &threads, now, epoch);
            monitor.watch().long_at.is_some()
        };
        assert!(look());
        monitor.disarm();
        assert!(!look());
        monitor.arm();
        assert!(!look());
    });
    monitor.disarm();
}

/// No look comes sooner than an urgent scan may be made.
#[test]
fn a_look_waits_for_the_urgent_scan() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    let monitor = crowded.monitor;
    crowded.works(move || {
        advance(990 * MS);
        monitor.tick();
        monitor.watch().pace.urgent = Some(Instant::now() + Duration::from_secs(60));
        let next = monitor.next_look().expect("a poll is open");
        assert!(next > Duration::from_secs(50), "{next:?}");
        put_off(monitor);
    });
    crowded.monitor.disarm();
    assert_eq!(monitor.next_look(), None);
}

/// A plain function that polls tasks, as one that calls `block_on`.
#[turbowish::instrument]
fn serves(work: &mut dyn FnMut()) {
    work();
}

/// What ends within it does not wait for its end.
#[test]
fn a_stall_in_an_executor_that_a_plain_function_runs_is_an_alert() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    crowded.worker = Box::pin(crate::task(works()));
    serves(&mut || {
        crowded.works(|| ());
        advance(5_000 * MS);
        crowded.tick();
        assert_eq!(crowded.held_ms(), [0; 0]);
        crowded.works(|| advance(1_500 * MS));
        crowded.tick();
        assert_eq!(crowded.held_ms(), [1_500]);
    });
    crowded.monitor.disarm();
}

/// A scan is made when the inner poll is over the limit, whenever the function began.
#[test]
fn a_stall_in_an_executor_that_a_plain_function_runs_is_urgent() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    crowded.worker = Box::pin(crate::task(works()));
    let monitor = crowded.monitor;
    let scanned = move || {
        put_off(monitor);
        monitor.tick();
        monitor.watch().pace.urgent.is_some()
    };
    serves(&mut || {
        crowded.works(|| ());
        advance(5_000 * MS);
        crowded.tick();
        crowded.works(move || {
            for (after, expected) in [(750, false), (260, true), (250, false)] {
                advance(after * MS);
                assert_eq!(scanned(), expected, "{after}");
            }
        });
    });
    crowded.monitor.disarm();
}

/// A poll of no known task is no alert of its own, so *long poll* counts it.
#[test]
fn what_no_look_tells_is_a_long_poll() {
    let _alone = alone();
    let mut crowded = Crowded::new();
    crowded.worker = Box::pin(works());
    let scan = |crowded: &Crowded| {
        crowded.monitor.watch().pace.due = None;
        crowded.tick();
    };
    serves(&mut || {
        crowded.works(|| ());
        for _ in 0..2 {
            for _ in 0..5 {
                crowded.works(|| advance(1_500 * MS));
            }
            scan(&crowded);
        }
    });
    let mut alerts = crowded.alerts();
    alerts.retain(|alert| alert.pitfall == Pitfall::LongPoll);
    let [alert] = &alerts[..] else {
        panic!("{alerts:#?}");
    };
    assert!(
        alert.title.ends_with("::works, 10 polls > 10ms"),
        "{}",
        alert.title
    );
    crowded.monitor.disarm();
}
