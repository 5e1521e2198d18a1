//! What is known of a task's waker, and that its executor cannot tell ours from its own.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{ProcRow, TaskRow, TaskState};

use turbowish_unsafe::waker::{BorrowedWaker, WakeTarget};

use super::stage::{advance, alone};
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::lock::lock;
use crate::monitor::Monitor;

static WAITS: Proc = Proc::new::<Seen>("::waits_for_wakers", "1 wakers.rs");
static WAKES: Proc = Proc::new::<Woken>("::wakes_others", "2 wakers.rs");

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A monitor that is switched off when this is dropped.
pub(super) struct Armed(Monitor);

pub(super) fn armed() -> Armed {
    let monitor = Monitor::new("test".into());
    monitor.arm();
    Armed(monitor)
}

impl std::ops::Deref for Armed {
    type Target = Monitor;
    fn deref(&self) -> &Monitor {
        &self.0
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.0.disarm();
    }
}

/// Wakers that a leaf has kept.
type Kept = Mutex<Vec<Waker>>;

struct Seen {
    task: Option<TaskRow>,
    proc: ProcRow,
}

fn look(monitor: &Monitor) -> Seen {
    let query = Query {
        tasks: Some(Rows::default()),
        procs: Some(Rows::default()),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let is_ours = |path: &str| path.ends_with("waits_for_wakers");
    let task = snapshot
        .tasks
        .rows
        .into_iter()
        .find(|row| is_ours(&row.root));
    let proc = snapshot
        .procs
        .rows
        .into_iter()
        .find(|row| is_ours(&row.proc));
    Seen {
        task,
        proc: proc.unwrap_or_default(),
    }
}

/// State, time in it, and the waker's counts: wakes, own ones, clones, live.
fn state(monitor: &Monitor) -> (TaskState, u64, [u64; 4]) {
    let task = look(monitor).task.expect("a task");
    let waker = task.waker.unwrap_or_default();
    let counts = [waker.wakes, waker.own_wakes, waker.clones, waker.live];
    (task.state, task.since_ns, counts)
}

#[test]
fn wakes_clones_and_drops_are_told() {
    let _alone = alone();
    let monitor = armed();
    let own = Arc::new(Woken::default());
    let executor = Waker::from(own.clone());
    let mut context = Context::from_waker(&executor);
    let wakers = Kept::default();
    let keeps = std::future::poll_fn(|cx| {
        lock(&wakers).push(cx.waker().clone());
        Poll::<()>::Pending
    });
    let mut waits = pin!(call(WAITS.as_static(), Other, keeps));
    assert!(waits.as_mut().poll(&mut context).is_pending());
    advance(10);
    assert_eq!(state(&monitor), (TaskState::Waiting, 10, [0, 0, 1, 1]));

    lock(&wakers)[0].wake_by_ref();
    advance(7);
    lock(&wakers)[0].wake_by_ref();
    assert_eq!(state(&monitor), (TaskState::Ready, 7, [2, 0, 1, 1]));
    assert_eq!(own.0.load(SeqCst), 2, "wakes are passed on");

    assert!(waits.as_mut().poll(&mut context).is_pending());
    advance(3);
    assert_eq!(state(&monitor), (TaskState::Waiting, 3, [2, 0, 2, 2]));
    let latency = look(&monitor).proc.ready_latency;
    assert_eq!((latency.n, latency.sum_ns, latency.max_ns), (1, 7, 7));
    let pair = lock(&wakers).clone();
    assert!(pair[0].will_wake(&pair[1]), "one waker, poll for poll");
    drop(pair);

    let first = lock(&wakers).remove(0);
    first.wake();
    assert_eq!(state(&monitor).2, [3, 0, 4, 1]);
    // The last that could wake it is gone, and with it what we had of the executor's.
    let references = Arc::strong_count(&own);
    lock(&wakers).clear();
    assert_eq!(Arc::strong_count(&own), references - 1);
    assert_eq!(state(&monitor).2, [3, 0, 4, 0]);
    assert_eq!(
        references, 3,
        "ours, the executor's, and one for all clones"
    );
}

#[test]
fn a_task_that_wakes_itself_is_ready_when_its_poll_ends() {
    let _alone = alone();
    let monitor = armed();
    let own = Arc::new(Woken::default());
    let executor = Waker::from(own.clone());
    let mut context = Context::from_waker(&executor);
    let spins = std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        advance(5);
        Poll::<()>::Pending
    });
    let mut waits = pin!(call(WAITS.as_static(), Other, spins));
    for polls in 1..4 {
        assert!(waits.as_mut().poll(&mut context).is_pending());
        advance(2);
        assert_eq!(state(&monitor), (TaskState::Ready, 2, [polls, polls, 0, 0]));
    }
    assert_eq!(own.0.load(SeqCst), 3);
    assert_eq!(Arc::strong_count(&own), 2);
    let latency = look(&monitor).proc.ready_latency;
    assert_eq!((latency.n, latency.sum_ns), (2, 4));
}

#[test]
fn who_woke_is_named() {
    let _alone = alone();
    let monitor = armed();
    let mut context = Context::from_waker(Waker::noop());
    let wakers = Kept::default();
    let keeps = std::future::poll_fn(|cx| {
        lock(&wakers).push(cx.waker().clone());
        Poll::<()>::Pending
    });
    let mut waits = pin!(call(WAITS.as_static(), Other, keeps));
    assert!(waits.as_mut().poll(&mut context).is_pending());
    let wakes = std::future::poll_fn(|_| {
        lock(&wakers).iter().for_each(Waker::wake_by_ref);
        Poll::<()>::Pending
    });
    let mut other = pin!(call(WAKES.as_static(), Other, wakes));
    assert!(other.as_mut().poll(&mut context).is_pending());
    let by = |seen: Seen| seen.task.and_then(|task| task.waker?.woken_by);
    let named = by(look(&monitor)).expect("a task of ours");
    assert!(named.starts_with("wakes_others-"), "{named}");
    let no_task = || {
        std::thread::scope(|scope| {
            scope.spawn(|| lock(&wakers).iter().for_each(Waker::wake_by_ref));
        });
    };
    no_task();
    assert_eq!(by(look(&monitor)), Some(named), "it was ready already");
    assert!(waits.as_mut().poll(&mut context).is_pending());
    no_task();
    assert_eq!(by(look(&monitor)), None);
}

/// The calls that ran in the task that woke or spawned another one are known, and the await points
/// at which they polled each other.
#[test]
fn the_calls_that_wake_and_spawn_are_named() {
    static HANDS_ON: Proc = Proc::new::<Woken>("::hands_on", "3 wakers.rs\n30 5 30 12 inner()");
    let _alone = alone();
    let monitor = armed();
    let mut context = Context::from_waker(Waker::noop());
    let (wakers, spawned) = (Kept::default(), Mutex::new(None));
    let act = std::future::poll_fn(|_| {
        lock(&wakers).iter().for_each(Waker::wake_by_ref);
        let keeps = std::future::poll_fn(|cx| {
            lock(&wakers).push(cx.waker().clone());
            Poll::<()>::Pending
        });
        let begin = || Box::pin(crate::task(call(WAITS.as_static(), Other, keeps)));
        lock(&spawned).get_or_insert_with(begin);
        Poll::<()>::Pending
    });
    let inner = call(WAKES.as_static(), Other, act);
    let mut outer = pin!(call(HANDS_ON.as_static(), Other, async {
        at(&HANDS_ON, 0, inner).await;
    }));
    assert!(outer.as_mut().poll(&mut context).is_pending());
    let poll = || {
        let mut spawned = lock(&spawned);
        let task = spawned.as_mut().expect("a task");
        let mut context = Context::from_waker(Waker::noop());
        assert!(task.as_mut().poll(&mut context).is_pending());
    };
    poll();
    let ran = Some("hands_on wakers.rs:30 > wakes_others".to_owned());
    let seen = look(&monitor).task.expect("the task");
    assert_eq!(seen.spawned_in, ran);
    assert_eq!(seen.last_poll.expect("a poll").ready_in, ran);
    assert!(outer.as_mut().poll(&mut context).is_pending());
    let seen = look(&monitor).task.expect("the task");
    assert_eq!(seen.waker.expect("a waker").woken_in, ran);
    poll();
    let seen = look(&monitor).task.expect("the task");
    assert_eq!(seen.last_poll.expect("a poll").ready_in, ran);
}

/// Counts that come out wrong are what false warnings rest on (console 308): used up, dropped,
/// moved to another thread, woken in the poll of another task or of its own, and by a thread of no
/// task in the middle of its own poll.
#[test]
fn counts_are_right_however_a_waker_is_used() {
    let _alone = alone();
    let monitor = armed();
    // Clones of `Waker::noop()` may not look like it.
    let executor = Waker::from(Arc::new(Woken::default()));
    let mut context = Context::from_waker(&executor);
    let wakers = Kept::default();
    let act: Mutex<fn(&Kept, &Waker)> = Mutex::new(|_, _| ());
    let acts = std::future::poll_fn(|cx| {
        let act = *lock(&act);
        act(&wakers, cx.waker());
        Poll::<()>::Pending
    });
    let mut task = pin!(call(WAITS.as_static(), Other, acts));
    // Wakes, own ones, clones, live.
    let mut poll = |next: fn(&Kept, &Waker), expected: [u64; 4]| {
        *lock(&act) = next;
        assert!(task.as_mut().poll(&mut context).is_pending());
        assert_eq!(state(&monitor).2, expected);
    };
    poll(|_, waker| drop(waker.clone()), [0, 0, 1, 0]);
    poll(
        |_, waker| {
            let clone = waker.clone();
            clone.wake();
        },
        [1, 1, 2, 0],
    );
    poll(
        |wakers, waker| lock(wakers).push(waker.clone()),
        [1, 1, 3, 1],
    );
    poll(|wakers, _| lock(wakers).remove(0).wake(), [2, 2, 3, 0]);
    poll(
        |wakers, waker| {
            lock(wakers).push(waker.clone());
            // Not by itself, though it is polled meanwhile.
            std::thread::scope(|scope| {
                scope.spawn(|| lock(wakers).remove(0).wake());
            });
        },
        [3, 2, 4, 0],
    );
    poll(
        |wakers, waker| lock(wakers).extend([waker.clone(), waker.clone()]),
        [3, 2, 6, 2],
    );
    let other = std::future::poll_fn(|_| {
        lock(&wakers).remove(0).wake();
        Poll::<()>::Pending
    });
    let mut other = pin!(call(WAKES.as_static(), Other, other));
    let mut noop = Context::from_waker(Waker::noop());
    assert!(other.as_mut().poll(&mut noop).is_pending());
    assert_eq!(state(&monitor).2, [4, 2, 6, 1]);
    // It is kept as it is where it would wake the same task.
    poll(
        |wakers, waker| lock(wakers)[0].clone_from(waker),
        [4, 2, 6, 1],
    );
    let last = lock(&wakers).remove(0);
    std::thread::scope(|scope| {
        scope.spawn(|| drop(last));
    });
    poll(|_, _| (), [4, 2, 6, 0]);
}

type Queue = Arc<Mutex<VecDeque<Arc<Job>>>>;

/// A task of the executor that many write by hand: its wakers own it.
struct Job {
    future: Mutex<Pin<Box<dyn Future<Output = ()> + Send>>>,
    queue: Queue,
}

impl Wake for Job {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        queue.lock().expect("no panic").push_back(self);
    }
}

#[test]
fn an_executor_may_free_what_nobody_can_wake() {
    let _alone = alone();
    let monitor = armed();
    let wakers = Arc::new(Kept::default());
    let (alive, keeps) = (Arc::new(()), wakers.clone());
    let guard = alive.clone();
    let future = call(WAITS.as_static(), Other, async move {
        let _guard = guard;
        std::future::poll_fn(|cx| {
            lock(&keeps).push(cx.waker().clone());
            Poll::<()>::Pending
        })
        .await;
    });
    let queue = Queue::default();
    let job = Arc::new(Job {
        future: Mutex::new(Box::pin(future)),
        queue: queue.clone(),
    });
    job.wake();
    let run = || {
        while let Some(job) = { queue.lock().expect("no panic").pop_front() } {
            let waker = Waker::from(job.clone());
            let mut future = job.future.lock().expect("no panic");
            let _ = future.as_mut().poll(&mut Context::from_waker(&waker));
        }
    };
    run();
    for _ in 0..3 {
        lock(&wakers).drain(..).for_each(Waker::wake);
        run();
        assert_eq!(Arc::strong_count(&alive), 2, "it can be woken");
    }
    let last: Vec<Waker> = lock(&wakers).drain(..).collect();
    drop(last);
    assert_eq!(Arc::strong_count(&alive), 1, "and is freed when it cannot");
    assert!(look(&monitor).task.is_none());
}

#[test]
fn a_poll_that_panics_lets_go_of_the_waker() {
    let _alone = alone();
    let monitor = armed();
    let own = Arc::new(Woken::default());
    let executor = Waker::from(own.clone());
    let mut context = Context::from_waker(&executor);
    for polls in [1, 3] {
        let mut left = polls;
        let panics = std::future::poll_fn(|_| {
            left -= 1;
            assert!(left > 0, "the test's own panic");
            Poll::<()>::Pending
        });
        let mut waits = Box::pin(call(WAITS.as_static(), Other, panics));
        for _ in 1..polls {
            assert!(waits.as_mut().poll(&mut context).is_pending());
        }
        let polled = std::panic::AssertUnwindSafe(|| waits.as_mut().poll(&mut context));
        assert!(std::panic::catch_unwind(polled).is_err());
        assert_eq!(Arc::strong_count(&own), 2);
        assert!(look(&monitor).task.is_none());
    }
}

#[cfg(feature = "tokio")]
#[test]
fn a_wake_that_comes_through_a_wait_is_no_clone_of_the_programs() {
    let _alone = alone();
    let monitor = armed();
    let own = Arc::new(Woken::default());
    let executor = Waker::from(own.clone());
    let mut context = Context::from_waker(&executor);
    let signal = crate::sync::Notify::new();
    let mut waits = pin!(call(WAITS.as_static(), Other, signal.notified()));
    assert!(waits.as_mut().poll(&mut context).is_pending());
    let [_, _, clones, _] = state(&monitor).2;
    signal.notify_waiters();
    let [wakes, _, clones_then, _] = state(&monitor).2;
    assert_eq!((own.0.load(SeqCst), wakes, clones_then), (1, 1, clones));
}

#[test]
fn what_happened_to_a_waker_during_a_pause_is_not_known() {
    let _alone = alone();
    let monitor = armed();
    let executor = Waker::from(Arc::new(Woken::default()));
    let mut context = Context::from_waker(&executor);
    let wakers = Kept::default();
    let keeps = std::future::poll_fn(|cx| {
        *lock(&wakers) = vec![cx.waker().clone()];
        Poll::<()>::Pending
    });
    let mut waits = pin!(call(WAITS.as_static(), Other, keeps));
    assert!(waits.as_mut().poll(&mut context).is_pending());
    lock(&wakers)[0].wake_by_ref();
    assert_eq!(state(&monitor).0, TaskState::Ready);

    monitor.disarm();
    assert!(waits.as_mut().poll(&mut context).is_pending());
    monitor.arm();
    // Woken before the pause, and polled in it.
    assert_eq!(state(&monitor).0, TaskState::Waiting);
    assert!(waits.as_mut().poll(&mut context).is_pending());
    lock(&wakers)[0].wake_by_ref();
    assert_eq!(state(&monitor).0, TaskState::Ready);
}

/// Panics when the last of its wakers is dropped.
struct Brittle;

impl Wake for Brittle {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Brittle {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

/// Panics when its waker is cloned.
#[derive(Default)]
struct Fragile(AtomicUsize);

impl WakeTarget for Fragile {
    fn cloned(&self) {
        assert_eq!(self.0.fetch_add(1, SeqCst), 0, "on purpose");
    }
    fn dropped(&self) {}
    fn wake(&self) {}
}

impl Fragile {
    fn waker() -> Waker {
        BorrowedWaker::new(&Arc::<Self>::default()).waker().clone()
    }
}

/// Panics when it is woken.
struct Touchy;

impl Wake for Touchy {
    fn wake(self: Arc<Self>) {
        panic!("on purpose");
    }
}

fn unwinds<R>(act: impl FnOnce() -> R) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).is_err()
}

fn take(wakers: &Kept) -> Option<Waker> {
    lock(wakers).pop()
}

/// Polls a future a few times with one executor's waker, and then with another one. Returns what
/// unwound: each poll, each drop of an executor's waker, and of the wakers that the leaf has kept.
fn played(
    annotated: bool,
    executors: [(fn() -> Waker, usize); 2],
    leaf: fn(&Kept, &Waker),
) -> Vec<bool> {
    let wakers = Kept::default();
    let acts = std::future::poll_fn(|cx| {
        leaf(&wakers, cx.waker());
        Poll::<()>::Pending
    });
    let mut task: Pin<Box<dyn Future<Output = ()> + '_>> = match annotated {
        true => Box::pin(call(WAITS.as_static(), Other, acts)),
        false => Box::pin(acts),
    };
    let mut unwound = Vec::new();
    for (executor, polls) in executors {
        let waker = executor();
        let mut context = Context::from_waker(&waker);
        unwound.extend((0..polls).map(|_| unwinds(|| task.as_mut().poll(&mut context))));
        unwound.push(unwinds(|| drop(waker)));
    }
    drop(task);
    let left = std::mem::take(&mut *lock(&wakers));
    unwound.extend(left.into_iter().map(|waker| unwinds(|| drop(waker))));
    unwound
}

/// Whoever would see an executor's waker panic sees it, and nobody else: not a future that leaves
/// its waker alone.
#[test]
fn a_waker_that_panics_does_so_where_it_would_without_us() {
    let _alone = alone();
    let _monitor = armed();
    let clones: fn() -> Waker = Fragile::waker;
    let wakes: fn() -> Waker = || Arc::new(Touchy).into();
    let drops: fn() -> Waker = || Arc::new(Brittle).into();
    let sound: fn() -> Waker = || Waker::noop().clone();
    let leaves: [fn(&Kept, &Waker); 6] = [
        |_, _| (),
        |wakers, waker| *lock(wakers) = vec![waker.clone()],
        |_, waker| waker.wake_by_ref(),
        |_, waker| {
            let clone = waker.clone();
            clone.wake();
        },
        |wakers, waker| match take(wakers) {
            Some(before) => before.wake(),
            None => lock(wakers).push(waker.clone()),
        },
        |wakers, waker| match take(wakers) {
            Some(before) => drop(before),
            None => lock(wakers).push(waker.clone()),
        },
    ];
    for first in [clones, wakes, drops, sound] {
        for second in [clones, wakes, drops, sound] {
            for (number, leaf) in leaves.into_iter().enumerate() {
                for polls in [[1, 1], [2, 1], [1, 2]] {
                    let executors = [(first, polls[0]), (second, polls[1])];
                    let [plain, ours] = [false, true].map(|ours| played(ours, executors, leaf));
                    assert_eq!(plain, ours, "leaf {number}, {polls:?}");
                }
            }
        }
    }
}

/// After a panic of the executor's waker everything is as if that had not been asked.
#[test]
fn a_waker_that_panics_leaves_nothing_behind() {
    let _alone = alone();
    let monitor = armed();
    let wakers = Kept::default();
    let keeps = std::future::poll_fn(|cx| {
        let clone = std::panic::AssertUnwindSafe(|| cx.waker().clone());
        lock(&wakers).extend(std::panic::catch_unwind(clone));
        Poll::<()>::Pending
    });
    let mut waits = pin!(call(WAITS.as_static(), Other, keeps));
    let fragile = Fragile::waker();
    // Wakes, own ones, clones, live: clones that came to nothing are counted, but live no more.
    for clones in 1..3 {
        assert!(
            waits
                .as_mut()
                .poll(&mut Context::from_waker(&fragile))
                .is_pending()
        );
        assert_eq!(state(&monitor).2, [0, 0, clones, 0]);
    }
    let touchy = Arc::new(Touchy);
    let waker = Waker::from(touchy.clone());
    assert!(
        waits
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert!(unwinds(|| lock(&wakers)[0].wake_by_ref()));
    assert_eq!(state(&monitor).0, TaskState::Ready);
    assert_eq!(state(&monitor).2, [1, 0, 3, 1]);
    let last = lock(&wakers).remove(0);
    assert!(unwinds(|| last.wake()));
    assert_eq!(state(&monitor).2, [2, 0, 3, 0]);
    assert_eq!(Arc::strong_count(&touchy), 2, "ours and the executor's");
}

/// An executor that polls its tasks where they are woken.
struct Inline(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let taken = lock(&self.0).take();
        // Another waker each time.
        let waker = Waker::from(Arc::new(Inline(Mutex::new(None))));
        if let Some(mut future) = taken {
            assert!(
                future
                    .as_mut()
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            );
            *lock(&self.0) = Some(future);
        }
    }
}

#[test]
fn a_task_may_be_polled_while_it_is_woken() {
    let _alone = alone();
    let monitor = armed();
    let wakers = Arc::new(Kept::default());
    let keeps = wakers.clone();
    let future = call(WAITS.as_static(), Other, async move {
        std::future::poll_fn(|cx| {
            *lock(&keeps) = vec![cx.waker().clone()];
            Poll::<()>::Pending
        })
        .await;
    });
    let inline = Arc::new(Inline(Mutex::new(None)));
    let waker = Waker::from(inline.clone());
    let mut future: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(future);
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    *inline.0.lock().expect("no panic") = Some(future);
    let last = lock(&wakers)[0].clone();
    last.wake();
    // The leaf has a waker of the executor that polled it last, which is known to be there.
    let (state, _, [.., live]) = state(&monitor);
    assert_eq!((state, live), (TaskState::Waiting, 1));
}

#[test]
fn a_story_is_told_of_nobody_else_when_a_poll_unwinds() {
    let _alone = alone();
    let monitor = armed();
    let panics = std::future::poll_fn(|_| -> Poll<()> { panic!("on purpose") });
    let named = crate::TaskBuilder::new().name("named").task(panics);
    // No root: another call polls it.
    let mut outer = Box::pin(call(WAKES.as_static(), Other, named));
    let mut context = Context::from_waker(Waker::noop());
    let poll = std::panic::AssertUnwindSafe(|| outer.as_mut().poll(&mut context).is_ready());
    assert!(std::panic::catch_unwind(poll).is_err());

    let mut next = pin!(call(WAITS.as_static(), Other, std::future::pending::<()>()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(next.as_mut().poll(&mut context).is_pending());
    let task = look(&monitor).task.expect("a task");
    assert!(task.spawned_at.is_none() && task.name != "named");
}

/// Places on one line are told apart by their columns.
#[test]
fn two_spawns_on_one_line_have_names_of_their_own() {
    let _alone = alone();
    let _monitor = armed();
    let mut context = Context::from_waker(Waker::noop());
    #[rustfmt::skip]
    let (one, two) = (crate::task(async {}), crate::task(async { std::future::pending::<()>().await }));
    let line = line!() - 1;
    assert!(pin!(one).poll(&mut context).is_ready());
    assert!(pin!(two).poll(&mut context).is_pending());
    let known = crate::hot::proc::all();
    let names = known
        .iter()
        .filter(|known| known.file.ends_with("wakers.rs"));
    let names = names.filter_map(|known| known.path.rsplit("::").next());
    let spawned: Vec<&str> = names
        .filter(|name| name.starts_with(&format!("spawn@{line}")))
        .collect();
    assert_eq!(
        spawned,
        [format!("spawn@{line}"), format!("spawn@{line}:46")]
    );
}
