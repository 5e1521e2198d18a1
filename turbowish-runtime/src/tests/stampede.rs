//! What each task says of its resources when more tasks use one of them than its own lists show.

use std::future::pending;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Waker};
use std::time::Duration;

use turbowish_model::account::resource::{Role, SHOWN};
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{ResourceRow, Snapshot, TaskRow, TaskState};

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::intent::{NoIntents, PROVEN, WILL, declare, verb};
use crate::monitor::Monitor;
use crate::sync::{Mutex, Semaphore, mpsc, named};

/// More than a resource lists, and more than are copied under its lock at once.
const CROWD: usize = 5 * SHOWN;

static IN_CROWD: Proc = Proc::new::<Armed>("::in_crowd", "1 stampede.rs");

struct Armed {
    monitor: Monitor,
    _alone: MutexGuard<'static, ()>,
}

impl Armed {
    fn new() -> Self {
        let alone = alone();
        advance(1);
        let monitor = Monitor::new("test".into());
        monitor.arm();
        Self {
            monitor,
            _alone: alone,
        }
    }

    fn snapshot(&self, filter: &str) -> Snapshot {
        let query = Query {
            tasks: Some(Rows {
                filter: filter.to_owned(),
                ..Rows::default()
            }),
            resources: Some(Rows::default()),
            ..Query::default()
        };
        self.monitor.snapshot(&query).expect("a good query")
    }

    /// Tasks of this test of which each one fulfils `says`, as many as a crowd.
    #[track_caller]
    fn all(&self, filter: &str, says: impl Fn(&TaskRow) -> bool) {
        let rows = self.snapshot(filter).tasks.rows;
        let ours = rows.iter().filter(|row| row.root.ends_with("in_crowd"));
        assert_eq!(ours.clone().count(), CROWD, "rows for {filter:?}");
        let silent: Vec<&str> = ours
            .filter(|row| !says(row))
            .map(|row| row.name.as_str())
            .collect();
        assert_eq!(silent, [""; 0], "say something else");
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.monitor.disarm();
    }
}

fn resource(snapshot: &Snapshot, name: &str) -> ResourceRow {
    let mut rows = snapshot.resources.rows.iter();
    rows.find(|row| row.name == name)
        .cloned()
        .expect("a resource")
}

/// Tasks that do the same, each polled once.
fn crowd<'a, F: Future + 'a>(each: impl Fn() -> F) -> Vec<Pin<Box<dyn Future<Output = ()> + 'a>>> {
    let task = |_| {
        let future = each();
        let mut task: Pin<Box<dyn Future<Output = ()> + 'a>> =
            Box::pin(call(IN_CROWD.as_static(), Other, async {
                drop(future.await)
            }));
        let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        task
    };
    (0..CROWD).map(task).collect()
}

#[test]
fn each_of_a_crowd_says_what_it_waits_for() {
    let armed = Armed::new();
    let mutex = named("stampede", Mutex::new(0));
    let _held = mutex.try_lock();
    let tasks = crowd(|| mutex.lock());
    for filter in ["", "on:stampede"] {
        armed.all(filter, |row| {
            let claims: Vec<&str> = row.waits_on.iter().map(|one| &*one.resource).collect();
            row.state == TaskState::Waiting && claims == ["mutex stampede"]
        });
    }
    let row = resource(&armed.snapshot(""), "mutex stampede");
    assert_eq!(row.waiters.len(), SHOWN);
    assert_eq!(row.waiter_count, CROWD as u64);
    drop(tasks);
}

#[test]
fn each_of_a_crowd_says_what_it_holds() {
    let armed = Armed::new();
    let permits = Arc::new(named("many", Semaphore::new(CROWD)));
    let tasks = crowd(|| async {
        let _permit = permits.acquire().await;
        pending::<()>().await;
    });
    armed.all("holds:many", |row| {
        let held = row.holds.first().map(|one| (&*one.resource, one.role));
        held == Some(("semaphore many", Role::Acquire)) && row.holds.len() == 1
    });
    drop(tasks);
}

#[test]
fn each_of_a_crowd_says_what_it_means_to_do() {
    let armed = Armed::new();
    let (tx, _rx) = named("jobs", mpsc::channel::<u8>(1));
    let tasks = crowd(|| async {
        let _intents = declare(verb::Send, &tx, WILL | PROVEN, NoIntents);
        pending::<()>().await;
    });
    armed.all("", |row| {
        let will: Vec<&str> = row.will.iter().map(|one| &*one.resource).collect();
        will == ["mpsc jobs"]
    });
    drop(tasks);
}

/// A task that has very many waits at one resource names it, and lists no more of them than the
/// resource does.
#[test]
fn one_task_lists_no_more_than_the_resource() {
    let armed = Armed::new();
    let first = named("first", Mutex::new(0));
    let second = named("second", Mutex::new(0));
    let _held = (first.try_lock(), second.try_lock());
    let mut task = Box::pin(call(IN_CROWD.as_static(), Other, async {
        let all = (0..CROWD).map(|_| first.lock());
        let all = futures::future::join_all(all);
        drop(futures::future::join(all, second.lock()).await);
    }));
    let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    let rows = armed.snapshot("").tasks.rows;
    let row = rows.iter().find(|row| row.root.ends_with("in_crowd"));
    let waits = &row.expect("a task").waits_on;
    let at = |name: &str| waits.iter().filter(|one| one.resource == name).count();
    assert_eq!((at("mutex first"), at("mutex second")), (SHOWN, 1));
}

/// More timers than are kept: a task that waits for one of those does not say that it waits for
/// something else.
#[test]
fn beyond_the_limit_a_wait_is_not_known() {
    const MORE_THAN_KEPT: usize = 100_010;
    let armed = Armed::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let _inside = runtime.enter();
    let mut tasks = Vec::new();
    let mut begin = |future: Pin<Box<dyn Future<Output = ()>>>| {
        let mut task = Box::pin(call(IN_CROWD.as_static(), Other, future));
        let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        tasks.push(task);
        let rows = armed.snapshot("on:external").tasks.rows;
        let ours = rows.iter().filter(|row| row.root.ends_with("in_crowd"));
        let unknown = armed.snapshot("").tasks.rows;
        let unknown = unknown
            .iter()
            .filter(|row| row.waits_unknown && row.root.ends_with("in_crowd"));
        (ours.count(), unknown.count())
    };
    assert_eq!(begin(Box::pin(pending())), (1, 0));
    let hour = || crate::time::sleep(Duration::from_secs(3600));
    let sleeps = (0..MORE_THAN_KEPT).map(|_| hour());
    let sleeps = futures::future::join_all(sleeps.collect::<Vec<_>>());
    assert_eq!(begin(Box::pin(async { drop(sleeps.await) })), (0, 1));
    assert_eq!(begin(Box::pin(async move { hour().await })), (0, 2));
    drop(tasks);
    assert!(!crate::resource::hides_waits());
}

/// What became of a task while accounting was off is not known.
#[test]
fn who_was_not_polled_since_arming_waits_for_what_is_not_known() {
    let armed = Armed::new();
    let mut task = Box::pin(call(IN_CROWD.as_static(), Other, pending::<()>()));
    let mut poll = || {
        let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        let rows = armed.snapshot("").tasks.rows;
        let row = rows.iter().find(|row| row.root.ends_with("in_crowd"));
        row.expect("a task").waits_unknown
    };
    assert!(!poll());
    armed.monitor.disarm();
    armed.monitor.arm();
    let rows = armed.snapshot("").tasks.rows;
    let row = rows.iter().find(|row| row.root.ends_with("in_crowd"));
    assert!(row.expect("a task").waits_unknown);
    assert!(!poll());
}

/// However many senders were used before it.
#[test]
fn the_receiver_is_found_behind_very_many_senders() {
    let armed = Armed::new();
    let (tx, mut rx) = named("wide", mpsc::channel::<u8>(1));
    let senders: Vec<mpsc::Sender<u8>> = (0..20 * SHOWN).map(|_| tx.clone()).collect();
    for tx in &senders {
        let _full = tx.try_send(1);
    }
    let mut task = Box::pin(call(IN_CROWD.as_static(), Other, async {
        while rx.recv().await.is_some() {}
    }));
    let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    let receivers = resource(&armed.snapshot(""), "mpsc wide").receivers;
    assert!(matches!(&*receivers, [Some(_)]), "{receivers:?}");
}
