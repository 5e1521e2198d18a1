//! What is really there: futures of annotated functions, locks, queues, wakers, and the monitor.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use turbowish_macros::instrument;
use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{ConsoleEvent, Event};
use turbowish_testing::mock::{Mock, QUEUES, ROOM, Step};

use super::super::stage::set_time;
use crate::lock::lock;
use crate::monitor::Monitor;
use crate::sync::mpsc::{Receiver, Sender, channel};
use crate::sync::{self, Named as _};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Guard = Box<dyn Send>;

/// Free at the beginning and at the end of each stream: one whose guards borrow, one whose guards
/// own.
static BORROWED: sync::Mutex<()> = sync::Mutex::const_new(());
static OWNED: LazyLock<Arc<sync::Mutex<()>>> = LazyLock::new(Arc::default);

fn ask(lock: usize) -> Boxed<Guard> {
    match lock {
        0 => Box::pin(async { Box::new(BORROWED.lock().await) as Guard }),
        _ => Box::pin(async { Box::new(OWNED.clone().lock_owned().await) as Guard }),
    }
}

/// A map that tests on several threads take from in turns.
type Shared<V> = Mutex<BTreeMap<u64, V>>;

pub(super) struct World {
    mock: Mutex<Mock>,
    pub(super) monitor: Monitor,
    pub(super) seed: u64,
    /// Whether accounting was on at the beginning.
    pub(super) began_armed: bool,
    calls: Shared<Boxed<()>>,
    waits: Shared<Boxed<Guard>>,
    guards: Shared<Guard>,
    kept: Shared<Vec<Waker>>,
    woken: Shared<Arc<Flag>>,
    queues: Mutex<Vec<(Sender<()>, Receiver<()>)>>,
    /// Live calls that the last query counted.
    counted: Mutex<u64>,
}

/// What a task's waker does.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// The body of a call: it does what the mock decides.
struct Body {
    world: Arc<World>,
    call: u64,
}

/// A panic that was decided.
struct Decided;

impl Future for Body {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let world = &self.world;
        world.mock().enter(self.call);
        loop {
            match world.next() {
                Step::End { call, end } => {
                    assert_eq!(call, self.call);
                    return match end {
                        PollEnd::Pending => Poll::Pending,
                        PollEnd::Panic => resume_unwind(Box::new(Decided)),
                        _ => Poll::Ready(()),
                    };
                }
                Step::Poll { call } => world.poll(call, cx),
                step => world.perform(step, Some(cx)),
            }
        }
    }
}

#[instrument]
async fn accept(body: Body) {
    body.await;
}

#[instrument]
async fn serve(body: Body) {
    body.await;
}

#[instrument]
async fn read(body: Body) {
    body.await;
}

#[instrument]
async fn write(body: Body) {
    body.await;
}

impl World {
    pub(super) fn new(mock: Mock, monitor: Monitor, seed: u64) -> Self {
        BORROWED.name("both-ends-0");
        OWNED.name("both-ends-1");
        Self {
            began_armed: mock.is_armed(),
            mock: Mutex::new(mock),
            monitor,
            seed,
            calls: Shared::default(),
            waits: Shared::default(),
            guards: Shared::default(),
            kept: Shared::default(),
            woken: Shared::default(),
            queues: Mutex::new((0..QUEUES).map(|_| channel(ROOM as usize)).collect()),
            counted: Mutex::default(),
        }
    }

    pub(super) fn mock(&self) -> MutexGuard<'_, Mock> {
        lock(&self.mock)
    }

    pub(super) fn told(&self) -> Vec<Event> {
        self.mock().events().to_vec()
    }

    /// What happens next, and it is that time.
    pub(super) fn next(&self) -> Step {
        let mut mock = self.mock();
        let step = mock.next_step();
        set_time(mock.now());
        step
    }

    /// A task is about to be polled.
    pub(super) fn begin(&self, task: u64) {
        self.flag(task).0.store(false, SeqCst);
    }

    /// One that the executor has spawned is to be polled.
    fn flag(&self, task: u64) -> Arc<Flag> {
        let spawned = || Arc::new(Flag(AtomicBool::new(true)));
        lock(&self.woken)
            .entry(task)
            .or_insert_with(spawned)
            .clone()
    }

    /// Polls the root of a task, on a worker.
    pub(super) fn run(&self, task: u64, call: u64) {
        let waker = Waker::from(self.flag(task));
        self.poll(call, &mut Context::from_waker(&waker));
    }

    /// Polls a call, and drops it if that was its last poll.
    fn poll(&self, call: u64, cx: &mut Context<'_>) {
        let future = lock(&self.calls).remove(&call);
        let mut future = future.expect("a call that is live and not polled");
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        match polled {
            Ok(Poll::Pending) => {
                lock(&self.calls).insert(call, future);
            }
            Ok(Poll::Ready(())) => {}
            Err(panic) if panic.is::<Decided>() => {}
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Everything but polls; inside a body, with its context.
    pub(super) fn perform(self: &Arc<Self>, step: Step, cx: Option<&mut Context<'_>>) {
        match step {
            Step::Create { call, proc } => self.create(call, proc),
            Step::Drop { call } => {
                let dropped = lock(&self.calls).remove(&call);
                drop(dropped.expect("a live call"));
            }
            Step::Lock {
                lock,
                ticket,
                ready,
            } => self.lock(lock, ticket, ready, cx.expect("in a body")),
            Step::Leave { ticket, .. } => {
                let left = lock(&self.waits).remove(&ticket);
                drop(left.expect("a wait"));
            }
            Step::Unlock { ticket, .. } => {
                let unlocked = lock(&self.guards).remove(&ticket);
                drop(unlocked.expect("a guard"));
            }
            Step::Put { queue } => {
                let sent = lock(&self.queues)[queue].0.try_send(());
                sent.expect("there is room");
            }
            Step::Take { queue } => {
                let received = lock(&self.queues)[queue].1.try_recv();
                received.expect("there is an item");
            }
            Step::WakeSelf { .. } => cx.expect("in a body").waker().wake_by_ref(),
            Step::Keep { task } => {
                let waker = cx.expect("in a body").waker().clone();
                lock(&self.kept).entry(task).or_default().push(waker);
            }
            Step::Wake { task } => {
                let waker = lock(&self.kept)[&task][0].clone();
                waker.wake();
            }
            Step::Forget { task } => {
                let waker = lock(&self.kept).get_mut(&task).and_then(Vec::pop);
                drop(waker.expect("a waker"));
            }
            Step::Console { kind, .. } => self.console(kind),
            Step::Say { name: 0 } => crate::counter!("both-ends-requests"),
            Step::Say { name: 1 } => crate::gauge!("both-ends-depth", -3),
            Step::Finish { .. } | Step::Intend { .. } | Step::Say { .. } => {}
            Step::Run { .. } | Step::Poll { .. } | Step::End { .. } | Step::Over => {
                unreachable!("whoever polls sees to it: {step:?}");
            }
        }
    }

    fn create(self: &Arc<Self>, call: u64, proc: usize) {
        let world = self.clone();
        let body = Body { world, call };
        let future: Boxed<()> = match proc {
            0 => Box::pin(accept(body)),
            1 => Box::pin(serve(body)),
            2 => Box::pin(read(body)),
            _ => Box::pin(write(body)),
        };
        lock(&self.calls).insert(call, future);
    }

    fn lock(&self, which: usize, ticket: u64, ready: bool, cx: &mut Context<'_>) {
        let waits = lock(&self.waits).remove(&ticket);
        let mut waits = waits.unwrap_or_else(|| ask(which));
        let polled = waits.as_mut().poll(cx);
        assert_eq!(polled.is_ready(), ready, "seed {}", self.seed);
        match polled {
            Poll::Ready(guard) => {
                lock(&self.guards).insert(ticket, guard);
            }
            Poll::Pending => {
                lock(&self.waits).insert(ticket, waits);
            }
        }
    }

    fn console(&self, kind: ConsoleEvent) {
        match kind {
            ConsoleEvent::Arm => self.monitor.arm(),
            ConsoleEvent::Disarm => self.disarm(),
            ConsoleEvent::Query => {
                *lock(&self.counted) = self.snapshot();
                self.compare();
            }
            ConsoleEvent::Reply { calls } => {
                assert_eq!(*lock(&self.counted), calls, "seed {}", self.seed);
            }
            ConsoleEvent::Connect
            | ConsoleEvent::Disconnect
            | ConsoleEvent::Pause { .. }
            | ConsoleEvent::Resume { .. } => {}
        }
    }

    pub(super) fn disarm(&self) {
        self.monitor.disarm();
    }

    /// Every task was woken or not, as the mock has it.
    pub(super) fn compare_wakes(&self) {
        let mock = self.mock();
        for (&task, flag) in &*lock(&self.woken) {
            let woken = flag.0.load(SeqCst);
            let (seed, told) = (self.seed, mock.is_woken(task));
            assert_eq!(woken, told, "seed {seed}, task {task}");
        }
    }

    /// Calls, waits, guards and wakers that are still there.
    pub(super) fn leftovers(&self) -> [usize; 4] {
        let kept = lock(&self.kept);
        [
            lock(&self.calls).len(),
            lock(&self.waits).len(),
            lock(&self.guards).len(),
            kept.values().map(Vec::len).sum(),
        ]
    }
}
