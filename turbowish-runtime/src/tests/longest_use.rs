//! When, where and by which call a resource was held the longest, and waited for the longest.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use turbowish_model::account::resource::Role;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{LongestRow, ResourceRow};

use super::Now;
use crate::hot::current;
use crate::monitor::Monitor;
use crate::sync::{Mutex, RwLock, Semaphore, mpsc, named};
use crate::tests::stage::{advance, alone};
use crate::tests::wakers::armed;

const MS: u64 = 1_000_000;

/// Pending once.
async fn once() {
    let mut polled = false;
    let next = poll_fn(|_| match std::mem::replace(&mut polled, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    next.await;
}

#[turbowish::instrument]
async fn rebuild(lock: &Mutex<u8>) {
    let _held = lock.lock().await;
    once().await;
}

/// Makes its thread a worker: one that has polled for some time.
#[turbowish::instrument]
async fn works() {
    advance(MS);
}

#[turbowish::instrument]
async fn lookup(lock: &Mutex<u8>) {
    let _held = lock.lock().await;
}

#[turbowish::instrument]
async fn reads(lock: &RwLock<u8>) {
    let _held = lock.read().await;
    once().await;
}

#[turbowish::instrument]
async fn permits(pool: &Semaphore) {
    let _held = pool.acquire_many(2).await;
    once().await;
}

#[turbowish::instrument]
async fn drains(items: &mut mpsc::Receiver<u8>) {
    let _item = items.recv().await;
}

fn poll(of: Pin<&mut impl Future<Output = ()>>) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    of.poll(&mut context).is_ready()
}

fn row(monitor: &Monitor, name: &str) -> ResourceRow {
    let query = Query {
        resources: Some(Rows {
            filter: format!("resource:{name}"),
            ..Rows::default()
        }),
        ..Query::default()
    };
    let mut rows = monitor.snapshot(&query).expect("a good query").resources;
    rows.rows.pop().expect("the resource")
}

/// Length and age in milliseconds, role, proc, and task without its number; on this thread.
fn told(row: Option<&LongestRow>) -> Option<(u64, u64, Role, &str, &str)> {
    let row = row?;
    let on = row.on.as_deref().expect("the thread is there");
    assert!(on.starts_with('w'), "{on}");
    let task = row.task.as_deref().unwrap_or("?");
    let word = task.split_once('-').map_or(task, |(word, _)| word);
    let proc = row.proc.rsplit("::").next().expect("a name");
    Some((row.took_ns / MS, row.ago_ns / MS, row.role, proc, word))
}

#[test]
fn the_longest_hold_and_wait_of_a_lock_are_remembered() {
    let _alone = alone();
    let monitor = armed();
    advance(1);
    assert!(poll(pin!(works())));
    let lock = named("most-held", Mutex::new(0));
    {
        let mut first = pin!(rebuild(&lock));
        assert!(!poll(first.as_mut()));
        let seen = row(&monitor, "most-held");
        assert_eq!((seen.longest_hold, seen.longest_wait), (None, None));
        assert_eq!((seen.longest_queue, seen.longest_queue_ago_ns), (0, 0));
        advance(400 * MS);
        let mut second = pin!(lookup(&lock));
        let mut third = Box::pin(lookup(&lock));
        assert!(!poll(second.as_mut()) && !poll(third.as_mut()));
        advance(1_100 * MS);
        assert!(poll(first.as_mut()));
        advance(100 * MS);
        assert!(poll(second.as_mut()));
        advance(900 * MS);
        // Given up: no wait that was served.
        drop(third);
    }
    let seen = row(&monitor, "most-held");
    let most = (seen.longest_queue, seen.longest_queue_ago_ns / MS);
    assert_eq!(most, (2, 2_100), "they began to wait 400 ms after the hold");
    let hold = seen.longest_hold.as_ref();
    let held = (1_500, 1_000, Role::Lock, "rebuild", "rebuild");
    assert_eq!(told(hold), Some(held), "the task is over");
    let at = hold.and_then(|hold| hold.at.as_ref()).expect("a place");
    assert!(at.file.ends_with("longest_use.rs"), "{at:?}");
    assert_eq!(hold.and_then(|hold| hold.behind.clone()), None);
    assert_eq!(seen.kept.max_ns, 1_500 * MS, "exact");
    assert_eq!(seen.waited.max_ns, 1_200 * MS);
    let wait = seen.longest_wait.as_ref();
    let waited = (1_200, 900, Role::Lock, "lookup", "lookup");
    assert_eq!(told(wait), Some(waited));
    assert_eq!(
        wait.and_then(|wait| wait.behind.clone()),
        hold.and_then(|hold| hold.task.clone()),
        "it says who held it meanwhile"
    );

    let mut shorter = pin!(rebuild(&lock));
    assert!(!poll(shorter.as_mut()));
    advance(1_500 * MS);
    assert!(poll(shorter.as_mut()));
    let seen = row(&monitor, "most-held");
    let held = (1_500, 2_500, Role::Lock, "rebuild", "rebuild");
    assert_eq!(told(seen.longest_hold.as_ref()), Some(held), "not beaten");
    assert_eq!(
        (seen.longest_queue, seen.longest_queue_ago_ns / MS),
        (2, 3_600)
    );
    let guard = lock.try_lock().expect("free");
    advance(1_501 * MS);
    drop(guard);
    let seen = row(&monitor, "most-held");
    let held = (1_501, 0, Role::Lock, "", "?");
    assert_eq!(told(seen.longest_hold.as_ref()), Some(held), "no task");
    assert_eq!(current::current_call().task, 0);
}

#[test]
fn parts_and_items_are_remembered_as_well() {
    let _alone = alone();
    let monitor = armed();
    advance(1);
    assert!(poll(pin!(works())));
    let lock = named("most-read", RwLock::new(0));
    {
        let mut of = pin!(reads(&lock));
        assert!(!poll(of.as_mut()));
        advance(30 * MS);
        assert!(poll(of.as_mut()));
    }
    drop(lock.try_write().expect("free"));
    let seen = row(&monitor, "most-read").longest_hold;
    let held = (30, 0, Role::Read, "reads", "reads");
    assert_eq!(told(seen.as_ref()), Some(held));

    let pool = named("most-taken", Semaphore::new(3));
    {
        let (mut first, mut second) = (pin!(permits(&pool)), pin!(permits(&pool)));
        assert!(!poll(first.as_mut()) && !poll(second.as_mut()));
        advance(70 * MS);
        assert!(poll(first.as_mut()) && !poll(second.as_mut()));
        advance(10 * MS);
        assert!(poll(second.as_mut()));
    }
    let seen = row(&monitor, "most-taken");
    let held = (70, 10, Role::Acquire, "permits", "permits");
    assert_eq!(told(seen.longest_hold.as_ref()), Some(held));
    let wait = seen.longest_wait.as_ref();
    assert_eq!(told(wait), Some(held), "it waited as long");
    assert_eq!(wait.and_then(|wait| wait.behind.clone()), None);

    let (tx, mut rx) = named("longest-inside", mpsc::channel::<u8>(4));
    tx.send(1).now().expect("open");
    advance(50 * MS);
    let mut of = Box::pin(drains(&mut rx));
    assert!(poll(of.as_mut()));
    drop(of);
    tx.send(2).now().expect("open");
    advance(20 * MS);
    let mut of = Box::pin(drains(&mut rx));
    assert!(poll(of.as_mut()));
    let seen = row(&monitor, "longest-inside").longest_hold;
    let inside = (50, 20, Role::Receive, "drains", "drains");
    assert_eq!(told(seen.as_ref()), Some(inside));
    assert_eq!(seen.and_then(|seen| seen.at), None);
}
