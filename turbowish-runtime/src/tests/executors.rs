//! The same is seen of tasks on every executor: two of tokio, one of smol, two of futures, and one
//! written by hand.

use std::future::poll_fn;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{TaskRow, TaskState};

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::monitor::Monitor;

static SLEEPER: Proc = Proc::new::<Stage>("::sleeps_anywhere", "1 executors.rs");
static WAKER: Proc = Proc::new::<Stage>("::wakes_anywhere", "2 executors.rs");

/// What the tasks tell the test, and what it lets them do.
struct Stage {
    /// The sleeper's waker, once it waits.
    waits: Sender<Waker>,
    /// Ends the sleeper.
    woken: Mutex<bool>,
}

/// Waits until it is woken.
async fn sleep(stage: Arc<Stage>) {
    let told = stage.clone();
    let waits = poll_fn(move |cx| {
        if *told.woken.lock().expect("no panic") {
            return Poll::Ready(());
        }
        let _ = told.waits.send(cx.waker().clone());
        Poll::Pending
    });
    call(SLEEPER.as_static(), Other, waits).await;
}

/// Wakes the sleeper in its poll, after what `before` does.
async fn wake(stage: Arc<Stage>, waker: Waker) {
    let wakes = poll_fn(move |_| {
        advance(3);
        *stage.woken.lock().expect("no panic") = true;
        waker.wake_by_ref();
        Poll::Ready(())
    });
    call(WAKER.as_static(), Other, wakes).await;
}

fn sleepers(monitor: &Monitor) -> Vec<TaskRow> {
    let query = Query {
        tasks: Some(Rows::default()),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let rows = snapshot.tasks.rows.into_iter();
    rows.filter(|row| row.root.ends_with("sleeps_anywhere"))
        .collect()
}

/// One executor: starts the sleeper, and once it waits, what wakes it; returns when both are over.
type Executor = fn(Arc<Stage>, Receiver<Waker>, &dyn Fn());

fn check(executor: Executor) {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    let (waits, waiting) = channel();
    let stage = Arc::new(Stage {
        waits,
        woken: Mutex::new(false),
    });
    let seen = Mutex::new(None);
    executor(stage, waiting, &|| {
        // The poll in which the waker was kept may not be over on its thread.
        while sleepers(&monitor)
            .iter()
            .all(|row| row.state != TaskState::Waiting)
        {
            std::thread::yield_now();
        }
        advance(10);
        *seen.lock().expect("no panic") = sleepers(&monitor).pop();
    });
    let row = seen
        .into_inner()
        .expect("no panic")
        .expect("a task that waits");
    let waker = row.waker.expect("its waker is seen");
    assert_eq!((row.state, row.since_ns), (TaskState::Waiting, 10));
    assert_eq!((waker.wakes, waker.clones, waker.live), (0, 1, 1));
    assert_eq!(sleepers(&monitor), [], "it has ended");
    let query = Query {
        procs: Some(Rows::default()),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let mut procs = snapshot.procs.rows.iter();
    let sleeper = procs.find(|row| row.proc.ends_with("sleeps_anywhere"));
    let sleeper = sleeper.expect("it was called");
    assert_eq!((sleeper.polls, sleeper.ready, sleeper.live), (2, 1, 0));
    assert_eq!(
        sleeper.ready_latency.n, 1,
        "woken once, and polled after it"
    );
    monitor.disarm();
}

#[test]
fn tokio_on_one_thread() {
    check(|stage, waiting, look| {
        let runtime = tokio::runtime::Builder::new_current_thread();
        on_tokio(runtime, stage, waiting, look);
    });
}

#[test]
fn tokio_on_many_threads() {
    check(|stage, waiting, look| {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(2);
        on_tokio(runtime, stage, waiting, look);
    });
}

fn on_tokio(
    mut runtime: tokio::runtime::Builder,
    stage: Arc<Stage>,
    waiting: Receiver<Waker>,
    look: &dyn Fn(),
) {
    let runtime = runtime.build().expect("a runtime");
    runtime.block_on(async {
        let sleeper = tokio::spawn(sleep(stage.clone()));
        let waker = loop {
            match waiting.try_recv() {
                Ok(waker) => break waker,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        look();
        tokio::spawn(wake(stage, waker)).await.expect("no panic");
        sleeper.await.expect("no panic");
    });
}

#[test]
fn smol() {
    check(|stage, waiting, look| {
        let executor = async_executor::LocalExecutor::new();
        let sleeper = executor.spawn(sleep(stage.clone()));
        while executor.try_tick() {}
        let waker = waiting.try_recv().expect("it waits");
        look();
        let woken = executor.spawn(wake(stage, waker));
        while executor.try_tick() {}
        assert!(sleeper.is_finished() && woken.is_finished());
    });
}

#[test]
fn futures_pool() {
    check(|stage, waiting, look| {
        let mut pool = LocalPool::new();
        let spawner = pool.spawner();
        spawner.spawn_local(sleep(stage.clone())).expect("room");
        pool.run_until_stalled();
        let waker = waiting.try_recv().expect("it waits");
        look();
        spawner.spawn_local(wake(stage, waker)).expect("room");
        pool.run();
    });
}

#[test]
fn futures_block_on() {
    check(|stage, waiting, look| {
        blocking(stage, waiting, look, |future| {
            futures::executor::block_on(future)
        });
    });
}

#[test]
fn block_on_by_hand() {
    check(|stage, waiting, look| blocking(stage, waiting, look, by_hand));
}

/// A thread that waits for the sleeper, and another one that looks and wakes.
fn blocking(
    stage: Arc<Stage>,
    waiting: Receiver<Waker>,
    look: &dyn Fn(),
    block_on: fn(std::pin::Pin<Box<dyn Future<Output = ()> + Send>>),
) {
    std::thread::scope(|scope| {
        let sleeper = stage.clone();
        scope.spawn(move || block_on(Box::pin(sleep(sleeper))));
        let waker = waiting.recv().expect("it waits");
        look();
        block_on(Box::pin(wake(stage, waker)));
    });
}

/// The executor of a page of a book: a flag, and a thread that sleeps on it.
fn by_hand(mut future: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>) {
    #[derive(Default)]
    struct Signal {
        woken: Mutex<bool>,
        changed: Condvar,
    }
    impl Wake for Signal {
        fn wake(self: Arc<Self>) {
            *self.woken.lock().expect("no panic") = true;
            self.changed.notify_one();
        }
    }
    let signal = Arc::new(Signal::default());
    let waker = Waker::from(signal.clone());
    let mut context = Context::from_waker(&waker);
    while future.as_mut().poll(&mut context).is_pending() {
        let mut woken = signal.woken.lock().expect("no panic");
        while !std::mem::take(&mut *woken) {
            woken = signal.changed.wait(woken).expect("no panic");
        }
    }
}
