//! A paused task is not polled, whoever wakes it, and is polled once when it goes on, if it was
//! woken.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use turbowish_model::event::{EventClass, EventClasses};
use turbowish_model::query::{Budget, Query, QueryError, Rows};
use turbowish_model::snapshot::{Accounting, PauseRow, Process, Snapshot, TaskRow, TaskState};
use turbowish_unsafe::waker::{BorrowedWaker, WakeTarget as Waked};
use turbowish_wire::client::{Connection, Target};
use turbowish_wire::{Action, PauseTask, discovery};

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::pause::{self, PauseFlag};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{switch, task, thread};
use crate::monitor::{self, Monitor};
use crate::server::{Config, NewPolls, News, Refused, Source};

static HELD: Proc = Proc::new::<Polls>("::held_back", "1 pauses.rs");
static OTHER: Proc = Proc::new::<Woken>("::goes_on", "2 pauses.rs");

const SECOND: u64 = 1_000_000_000;

/// A monitor that is switched off when this is dropped.
struct Armed(Monitor);

impl Armed {
    fn new() -> Self {
        let monitor = Monitor::new("test".into());
        monitor.arm();
        Self(monitor)
    }

    fn snapshot(&self) -> Snapshot {
        let query = Query {
            tasks: Some(Rows::default()),
            procs: Some(Rows::default()),
            ..Query::default()
        };
        self.0.snapshot(&query).expect("a good query")
    }

    fn row(&self) -> TaskRow {
        let rows = self.snapshot().tasks.rows.into_iter();
        let mut ours = rows.filter(|row| row.root.ends_with("held_back"));
        ours.next().expect("a task")
    }

    fn pause(&self, lease_ns: Option<u64>) -> u64 {
        let task = self.row().id;
        self.0.pause_task(&order(task, lease_ns)).expect("a task");
        task
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.0.disarm();
    }
}

fn order(task: u64, lease_ns: Option<u64>) -> PauseTask {
    PauseTask {
        task,
        by: "test".to_owned(),
        lease_ns,
        renew: false,
    }
}

/// An executor's waker that counts.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// How often a future was polled, and the waker that it was given last.
#[derive(Default)]
struct Polls {
    count: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Polls {
    /// Never ends.
    fn future(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let own = self.clone();
        let leaf = poll_fn(move |cx| {
            own.count.fetch_add(1, SeqCst);
            *own.waker.lock().expect("no panic") = Some(cx.waker().clone());
            Poll::Pending
        });
        call(HELD.as_static(), Other, leaf)
    }

    fn count(&self) -> usize {
        self.count.load(SeqCst)
    }

    fn wake(&self) {
        let waker = self.waker.lock().expect("no panic").clone();
        waker.expect("it was polled").wake();
    }
}

/// A task that is polled by hand, and has waited once.
struct Stage {
    polls: Arc<Polls>,
    executor: Arc<Woken>,
    task: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Stage {
    fn new() -> Self {
        let polls = Arc::new(Polls::default());
        let mut stage = Self {
            task: Box::pin(polls.future()),
            executor: Arc::new(Woken::default()),
            polls,
        };
        stage.poll();
        assert_eq!(stage.polls.count(), 1);
        stage
    }

    fn poll(&mut self) {
        let waker = Waker::from(self.executor.clone());
        let mut context = Context::from_waker(&waker);
        assert!(self.task.as_mut().poll(&mut context).is_pending());
    }

    fn woken(&self) -> usize {
        self.executor.0.load(SeqCst)
    }
}

/// What is shown does not say where the future lies.
fn shown(row: &TaskRow) -> (TaskState, u64, Option<PauseRow>) {
    let pause = row.pause.clone().map(|pause| PauseRow {
        address: 0,
        ..pause
    });
    (row.state, row.since_ns, pause)
}

fn held_back(left_ns: Option<u64>, woken: bool) -> Option<PauseRow> {
    Some(PauseRow {
        by: "test".to_owned(),
        left_ns,
        woken,
        address: 0,
    })
}

fn a_pause_holds_back_what_was_woken() {
    let monitor = Armed::new();
    let mut stage = Stage::new();
    advance(5);
    let id = monitor.pause(None);
    advance(7);
    let expected = (TaskState::Paused, 7, held_back(None, false));
    assert_eq!(shown(&monitor.row()), expected);
    assert_eq!(monitor.snapshot().tasks_by_state.paused, 1);

    stage.polls.wake();
    advance(2 * SECOND);
    for _ in 0..3 {
        stage.poll();
    }
    assert_eq!(stage.polls.count(), 1, "the future is not polled");
    let row = monitor.row();
    assert_eq!(row.polls, 1, "nor is a poll counted");
    assert_eq!(shown(&row).2, held_back(None, true));
    let before = stage.woken();
    assert_eq!(monitor.0.resume_task(id), Ok(()));
    assert_eq!(stage.woken(), before + 1, "woken once, for all three");
    stage.poll();
    assert_eq!(stage.polls.count(), 2);
    let row = monitor.row();
    assert_eq!(shown(&row), (TaskState::Waiting, 0, None));
    let procs = monitor.snapshot().procs.rows;
    let proc = procs.iter().find(|row| row.proc.ends_with("held_back"));
    let proc = proc.expect("it was called");
    // Where wakers are seen, the task was ready from its pause's end on.
    assert!(proc.ready_latency.max_ns < SECOND);
    assert_eq!(monitor.0.resume_task(id), Err(Refused::NotPaused));
}

#[test]
fn a_paused_task_is_polled_once_when_it_goes_on() {
    let _alone = alone();
    a_pause_holds_back_what_was_woken();
}

#[test]
fn without_wakers_of_ours_it_is_the_same() {
    let _alone = alone();
    struct Wrapped;
    impl Drop for Wrapped {
        fn drop(&mut self) {
            task::wrap(true);
        }
    }
    let _wrapped = Wrapped;
    task::wrap(false);
    a_pause_holds_back_what_was_woken();
}

/// The classes of events change in one step: accounting is never off, so a pause goes on.
#[test]
fn a_task_stays_paused_while_what_is_recorded_changes() {
    let _alone = alone();
    let monitor = Armed::new();
    let mut stage = Stage::new();
    let id = monitor.pause(None);
    let process = monitor.snapshot().process;
    let calls = EventClasses::DEFAULT.with(EventClass::Calls);
    for classes in [calls, EventClasses::DEFAULT] {
        let before = switch::epoch();
        monitor.0.record_events(classes);
        assert!(switch::epoch().is_some() && switch::epoch() != before);
        stage.poll();
        assert_eq!(stage.polls.count(), 1, "the future is not polled");
        assert_eq!(shown(&monitor.row()).2, held_back(None, true));
        let now = monitor.snapshot().process;
        let since = |process: &Process| (process.accounting, process.accounting_since_unix_ns);
        assert_eq!(since(&now), since(&process));
        // The same classes once more change nothing.
        let epoch = switch::epoch();
        monitor.0.record_events(classes);
        assert_eq!(switch::epoch(), epoch);
    }
    assert_eq!(monitor.0.resume_task(id), Ok(()));
    stage.poll();
    assert_eq!(stage.polls.count(), 2);
    assert_eq!(monitor.row().polls, 2);
}

#[test]
fn what_was_not_woken_is_not_polled_at_the_end() {
    let _alone = alone();
    let monitor = Armed::new();
    let mut stage = Stage::new();
    let id = monitor.pause(None);
    assert_eq!(monitor.0.resume_task(id), Ok(()));
    assert_eq!(stage.woken(), 0);
    // Its own wakers do.
    stage.polls.wake();
    assert_eq!(stage.woken(), 1);
    stage.poll();
    assert_eq!(stage.polls.count(), 2);
}

#[test]
fn a_lease_ends_the_pause() {
    let _alone = alone();
    let monitor = Armed::new();
    let mut stage = Stage::new();
    let id = monitor.pause(Some(3 * SECOND));
    stage.poll();
    let left = || monitor.row().pause.expect("paused").left_ns;
    assert_eq!(left(), Some(3 * SECOND));
    advance(SECOND);
    monitor.0.beat();
    assert_eq!(left(), Some(2 * SECOND));
    // So long nobody looked: the process was stopped.
    advance(100 * SECOND);
    assert_eq!(left(), Some(SECOND));
    monitor.0.beat();
    assert_eq!(left(), Some(SECOND));
    let renewed = PauseTask {
        renew: true,
        ..order(id, Some(2 * SECOND))
    };
    assert_eq!(monitor.0.pause_task(&renewed), Ok(()));
    advance(SECOND);
    monitor.0.beat();
    assert_eq!((left(), stage.woken()), (Some(SECOND), 0));
    advance(SECOND);
    monitor.0.beat();
    assert_eq!(monitor.row().pause, None);
    assert_eq!(stage.woken(), 1);
    stage.poll();
    assert_eq!(stage.polls.count(), 2);
    let fault = monitor.0.pause_task(&renewed);
    assert_eq!(fault, Err(Refused::NotPaused), "what is over stays over");
}

#[test]
fn who_pauses_last_has_it() {
    let _alone = alone();
    let monitor = Armed::new();
    let stage = Stage::new();
    let id = monitor.pause(Some(SECOND));
    let other = PauseTask {
        by: "other".to_owned(),
        ..order(id, None)
    };
    assert_eq!(monitor.0.pause_task(&other), Ok(()));
    let pause = monitor.row().pause.expect("paused");
    assert_eq!((&*pause.by, pause.left_ns), ("other", None));
    let renewed = PauseTask {
        renew: true,
        ..order(id, Some(SECOND))
    };
    let fault = monitor.0.pause_task(&renewed);
    assert_eq!(fault, Err(Refused::PausedBy("other".to_owned())));
    assert_eq!(monitor.0.resume_task(id), Ok(()), "anybody may");
    drop(stage);
}

#[test]
fn a_task_that_ends_takes_its_pause_with_it() {
    let _alone = alone();
    let monitor = Armed::new();
    let mut stage = Stage::new();
    let id = monitor.pause(None);
    stage.poll();
    let executor = stage.executor.clone();
    drop(stage);
    assert_eq!(Arc::strong_count(&executor), 1, "no waker is kept");
    assert_eq!(executor.0.load(SeqCst), 0);
    assert_eq!(monitor.0.resume_task(id), Err(Refused::NoTask));
    assert_eq!(monitor.snapshot().tasks_by_state.paused, 0);
}

#[test]
fn switching_off_lets_all_go_on() {
    let _alone = alone();
    let monitor = Armed::new();
    let mut stages = [Stage::new(), Stage::new()];
    for row in monitor.snapshot().tasks.rows {
        assert_eq!(monitor.0.pause_task(&order(row.id, None)), Ok(()));
    }
    stages[1].poll();
    monitor.0.disarm();
    assert_eq!(stages.each_ref().map(Stage::woken), [0, 1]);
    stages[1].poll();
    assert_eq!(stages[1].polls.count(), 2);
    monitor.0.arm();
    stages[0].poll();
    assert_eq!(stages[0].polls.count(), 2);
    assert_eq!(monitor.row().pause, None);
}

#[test]
fn what_cannot_be_paused_says_why() {
    let _alone = alone();
    let monitor = Armed::new();
    let pause = |task| monitor.0.pause_task(&order(task, None));
    assert_eq!(pause(u64::MAX), Err(Refused::NoTask));
    let first = call(
        HELD.as_static(),
        Other,
        poll_fn(|_| {
            let first_poll = monitor.row();
            assert_eq!(first_poll.state, TaskState::Polling);
            assert_eq!(pause(first_poll.id), Err(Refused::FirstPoll));
            Poll::Ready(())
        }),
    );
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(first).poll(&mut context).is_ready());
    let stage = Stage::new();
    let id = monitor.row().id;
    assert_eq!(monitor.0.resume_task(id), Err(Refused::NotPaused));
    monitor.0.disarm();
    assert_eq!(pause(id), Err(Refused::Off));
    assert_eq!(monitor.0.resume_task(id), Err(Refused::NotPaused));
    drop(stage);
}

/// A poll under way goes on to its end, and is shown.
#[test]
fn a_task_that_is_polled_stops_when_the_poll_is_over() {
    let _alone = alone();
    let monitor = Armed::new();
    let polls = AtomicUsize::new(0);
    let pauses = poll_fn(|_| {
        if polls.fetch_add(1, SeqCst) == 1 {
            monitor.pause(None);
            let row = monitor.row();
            assert_eq!((row.state, row.pause.is_some()), (TaskState::Polling, true));
            let counts = monitor.snapshot().tasks_by_state;
            assert_eq!((counts.polling, counts.paused), (1, 0));
        }
        Poll::<()>::Pending
    });
    let mut task = pin!(call(HELD.as_static(), Other, pauses));
    let mut context = Context::from_waker(Waker::noop());
    for expected in [1, 2, 2, 2] {
        assert!(task.as_mut().poll(&mut context).is_pending());
        assert_eq!(polls.load(SeqCst), expected);
    }
    assert_eq!(monitor.row().state, TaskState::Paused);
}

#[test]
fn an_executor_that_panics_when_it_is_woken_stops_nobody() {
    struct Bad;
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("an executor's own affair"));
        }
    }
    let _alone = alone();
    let monitor = Armed::new();
    let polls = Arc::new(Polls::default());
    let mut task = pin!(polls.future());
    let waker = Waker::from(Arc::new(Bad));
    let mut context = Context::from_waker(&waker);
    assert!(task.as_mut().poll(&mut context).is_pending());
    let id = monitor.pause(None);
    assert!(task.as_mut().poll(&mut context).is_pending());
    assert_eq!(monitor.0.resume_task(id), Ok(()));
    assert!(task.as_mut().poll(&mut context).is_pending());
    assert_eq!(polls.count(), 2);
}

#[test]
fn debuggers_find_the_future() {
    let _alone = alone();
    let monitor = Armed::new();
    let leaf = poll_fn(|_| Poll::<()>::Pending);
    let mut task = pin!(call(HELD.as_static(), Other, leaf));
    let mut context = Context::from_waker(Waker::noop());
    assert!(task.as_mut().poll(&mut context).is_pending());
    monitor.pause(None);
    let address = monitor.row().pause.expect("paused").address;
    let future = std::ptr::from_ref(task.as_mut().future().as_ref().get_ref()).addr();
    assert_eq!(address, future as u64);
}

/// Another task counts while the one is paused, wherever both are run; `turn` lets everything run
/// that can.
fn check_on(polls: &Arc<Polls>, others: &AtomicUsize, mut turn: impl FnMut()) {
    let monitor = Armed::new();
    turn();
    assert_eq!(polls.count(), 1);
    let id = monitor.pause(None);
    for passed in 1..=20 {
        polls.wake();
        let before = others.load(SeqCst);
        turn();
        advance(SECOND / 10);
        assert_eq!(polls.count(), 1, "after {passed} tenths of a second");
        assert!(others.load(SeqCst) > before, "who is not paused goes on");
    }
    let row = monitor.row();
    assert_eq!((row.state, row.polls), (TaskState::Paused, 1));
    assert_eq!(monitor.0.resume_task(id), Ok(()));
    turn();
    turn();
    assert_eq!(polls.count(), 2, "once more, and no more");
}

/// Yields for ever.
fn busy(turns: &Arc<AtomicUsize>) -> impl Future<Output = ()> + Send + use<> {
    let turns = turns.clone();
    let yields = poll_fn(move |cx| {
        turns.fetch_add(1, SeqCst);
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    call(OTHER.as_static(), Other, yields)
}

#[test]
fn on_smol() {
    let _alone = alone();
    let executor = async_executor::LocalExecutor::new();
    let (polls, turns) = (Arc::new(Polls::default()), Arc::default());
    let held = executor.spawn(polls.future());
    let other = executor.spawn(busy(&turns));
    check_on(&polls, &turns, || {
        for _ in 0..16 {
            executor.try_tick();
        }
    });
    drop((held, other));
}

#[test]
fn on_tokio() {
    let _alone = alone();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().expect("a runtime");
    let (polls, turns) = (Arc::new(Polls::default()), Arc::default());
    let held = runtime.spawn(polls.future());
    let other = runtime.spawn(busy(&turns));
    let turn = || {
        runtime.block_on(async {
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
        });
    };
    check_on(&polls, &turns, turn);

    // A paused task is aborted like any other.
    let monitor = Armed::new();
    turn();
    polls.wake();
    turn();
    let id = monitor.pause(None);
    polls.wake();
    turn();
    held.abort();
    turn();
    assert!(held.is_finished());
    assert_eq!(monitor.0.resume_task(id), Err(Refused::NoTask));
    other.abort();
    turn();
}

/// An executor's waker in whose clone, and in whose last drop, consoles do something.
struct Busy(fn(u64), u64);

impl Waked for Busy {
    fn cloned(&self) {
        self.0(self.1);
    }
    fn dropped(&self) {
        self.0(self.1);
    }
    fn wake(&self) {
        self.0(self.1);
    }
}

/// What a console does while a poll is being withheld counts, and no lock is held that it would
/// need.
#[test]
fn a_poll_is_withheld_or_not_whatever_happens_meanwhile() {
    let _alone = alone();
    let monitor = Armed::new();
    for (acts, polled) in [
        // Nobody would wake it any more.
        ((|id| _ = pause::resume(id)) as fn(u64), true),
        (|_| pause::resume_all(), true),
        (|id| drop(pause::renew(id, "test", None)), false),
        (|_| pause::count(SECOND), false),
        (|_| drop(pause::readings(SECOND)), false),
    ] {
        let mut stage = Stage::new();
        let id = monitor.pause(Some(60 * SECOND));
        let busy = Arc::new(Busy(acts, id));
        let lent = BorrowedWaker::new(&busy);
        let mut context = Context::from_waker(lent.waker());
        assert!(stage.task.as_mut().poll(&mut context).is_pending());
        assert_eq!(stage.polls.count(), 1 + usize::from(polled));
        assert_eq!(pause::resume(id), !polled);
    }
}

/// The flag and the address of the future share a word.
#[test]
fn a_task_that_is_paused_keeps_its_address() {
    let mark = PauseFlag::default();
    mark.lies_at(64);
    assert!(!mark.is_set());
    mark.set();
    assert!(mark.is_set());
    assert_eq!(mark.address(), 64);
}

/// A monitor of which some queries take until no task is paused any more.
struct Slow(Arc<Monitor>);

/// Long enough for a loaded machine; no test waits for its end.
const PATIENCE: Duration = Duration::from_secs(20);

impl Source for Slow {
    fn snapshot(&self, query: &Query, budget: &Budget<'_>) -> Result<Snapshot, QueryError> {
        let begun = Instant::now();
        while query.procs.is_some() && !pause::readings(SECOND).is_empty() {
            assert!(
                begun.elapsed() < PATIENCE,
                "the lease is not counted meanwhile"
            );
            advance(SECOND);
            std::thread::sleep(Duration::from_millis(1));
        }
        Source::snapshot(&*self.0, query, budget)
    }

    fn process(&self) -> Process {
        self.0.process()
    }

    fn used(&self) -> Duration {
        self.0.used()
    }

    fn answered(&self, took: Duration) {
        self.0.answered(took);
    }

    fn news(&self) -> Option<Vec<News>> {
        self.0.news()
    }

    fn names(&self) -> Vec<u8> {
        Vec::new()
    }

    fn polls(&self) -> NewPolls {
        NewPolls::default()
    }

    fn set_accounting(&self, accounting: Accounting) {
        self.0.set_accounting(accounting);
    }

    fn pause_task(&self, order: &PauseTask) -> Result<(), Refused> {
        self.0.pause_task(order)
    }

    fn resume_task(&self, task: u64) -> Result<(), Refused> {
        self.0.resume_task(task)
    }
}

/// However long a query takes, the monitor counts leases: this one ends only when the lease has.
#[test]
fn a_lease_ends_while_a_query_is_answered() {
    let _alone = alone();
    let monitor = Arc::new(Monitor::new("test".into()));
    monitor.arm();
    let mut stage = Stage::new();
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("turbowish");
    let target = Target::Socket(discovery::socket(&folder, std::process::id()));
    let config = Config {
        folder,
        ..Config::default()
    };
    let (stop, stopped) = oneshot::channel();
    let runtime = || {
        Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    };
    let served = monitor.clone();
    let server = std::thread::spawn(move || {
        thread::disown();
        let source = Arc::new(Slow(served.clone()));
        runtime().block_on(monitor::thread::live(served, source, config, stopped));
    });
    runtime().block_on(async {
        let begun = Instant::now();
        let console = loop {
            match Connection::connect_within(&target, PATIENCE).await {
                Ok(console) => break console,
                Err(fault) => assert!(begun.elapsed() < PATIENCE, "{fault}"),
            }
        };
        let tasks = Query {
            tasks: Some(Rows::default()),
            ..Query::default()
        };
        let rows = console.snapshot(&tasks).await.expect("rows").tasks.rows;
        let row = rows.iter().find(|row| row.root.ends_with("held_back"));
        let pause = order(row.expect("a task").id, Some(2 * SECOND));
        console
            .control(Action::PauseTask(pause))
            .await
            .expect("a task");
        stage.poll();
        assert_eq!(stage.polls.count(), 1, "it is withheld");
        let slow = Query {
            procs: Some(Rows::default()),
            ..tasks
        };
        console.snapshot(&slow).await.expect("the lease has ended");
        assert_eq!(stage.woken(), 1);
    });
    drop(stop);
    server.join().expect("it does not panic");
    monitor.disarm();
}
