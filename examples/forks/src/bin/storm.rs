//! Repeated forks while two threads poll, spawn, wake and lock: `storm FORKS SECONDS`.
//!
//! Every child uses inherited objects and creates new tasks. A child that has not ended after
//! SECONDS seconds hangs.

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as Plain, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use turbowish::sync::{Mutex, Notify, OwnedMutexGuard, mpsc};
use turbowish_forks::{fork, wait};

static OVER: AtomicBool = AtomicBool::new(false);

#[turbowish::instrument]
async fn locks(mutex: Arc<Mutex<u64>>) {
    let mut count = mutex.lock().await;
    *count += 1;
    tokio::task::yield_now().await;
}

#[turbowish::instrument]
async fn sends(sender: mpsc::Sender<u64>) {
    for item in 0..4 {
        let _ = sender.send(item).await;
    }
}

/// Everything that an application does with tasks, for a moment.
#[turbowish::instrument]
async fn round() -> u64 {
    let mutex = Arc::new(Mutex::new(0));
    let (sender, mut receiver) = mpsc::channel(1);
    let bell = Arc::new(Notify::new());
    let ring = bell.clone();
    let lock = [
        turbowish::spawn(locks(mutex.clone())),
        turbowish::spawn(locks(mutex.clone())),
    ];
    let send = turbowish::spawn(sends(sender));
    let heard = turbowish::spawn(async move { bell.notified().await });
    let mut sum = 0;
    while let Some(item) = receiver.recv().await {
        sum += item;
    }
    ring.notify_one();
    let _ = heard.await;
    let _ = send.await;
    for lock in lock {
        let _ = lock.await;
    }
    turbowish::time::sleep(Duration::ZERO).await;
    sum + *mutex.lock().await
}

/// What [`round`] returns.
const SUM: u64 = 8;

/// A runtime that waits for its sockets. One without any waits in `parking_lot`, if another package
/// of the workspace has tokio use that; and the table of `parking_lot` may be locked forever in a
/// child of `fork`.
fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
}

/// A runtime of one thread, used until `OVER`.
fn busy() {
    let runtime = runtime();
    while !OVER.load(Ordering::Relaxed) {
        assert_eq!(runtime.block_on(round()), SUM);
    }
}

#[derive(Default)]
struct Counted(AtomicUsize);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// A task that waits, and wakers of it.
#[turbowish::instrument]
async fn waits(kept: Arc<Plain<Vec<Waker>>>) {
    std::future::poll_fn(|cx| {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(cx.waker().clone());
        Poll::<()>::Pending
    })
    .await;
}

/// What the parent has when it forks, and the child uses.
struct Inherited {
    guard: OwnedMutexGuard<u64>,
    second: Task,
    woken: Arc<Counted>,
    pending: Task,
    wakers: Arc<Plain<Vec<Waker>>>,
    sender: mpsc::Sender<u64>,
    receiver: mpsc::Receiver<u64>,
}

impl Inherited {
    fn new() -> Self {
        let woken = Arc::<Counted>::default();
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.clone().try_lock_owned().expect("nobody has it");
        let mut second: Task = Box::pin(locks(mutex));
        assert!(second.as_mut().poll(&mut cx).is_pending());
        let wakers = Arc::<Plain<Vec<Waker>>>::default();
        let mut pending: Task = Box::pin(waits(wakers.clone()));
        assert!(pending.as_mut().poll(&mut cx).is_pending());
        let (sender, receiver) = mpsc::channel(4);
        sender.try_send(1).expect("there is room");
        Self {
            guard,
            second,
            woken,
            pending,
            wakers,
            sender,
            receiver,
        }
    }

    /// Everything goes on as it would with tokio's own types.
    fn go_on(self) {
        let Self {
            guard,
            mut second,
            woken,
            pending,
            wakers,
            sender,
            mut receiver,
        } = self;
        drop(guard);
        assert_eq!(
            woken.0.load(Ordering::SeqCst),
            1,
            "the lock's next owner is woken"
        );
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        let _ = second.as_mut().poll(&mut cx);
        assert!(second.as_mut().poll(&mut cx).is_ready(), "it has the lock");
        let kept = std::mem::take(&mut *wakers.lock().unwrap_or_else(PoisonError::into_inner));
        let before = woken.0.load(Ordering::SeqCst);
        kept.iter().for_each(Waker::wake_by_ref);
        let after = woken.0.load(Ordering::SeqCst);
        assert_eq!(after, before + kept.len(), "wakes are passed on");
        drop(kept);
        drop(pending);
        sender.try_send(2).expect("there is room");
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Ok(2)));
    }
}

fn child(inherited: Inherited) -> ! {
    inherited.go_on();
    let runtime = runtime();
    assert_eq!(runtime.block_on(round()), SUM);
    turbowish::arm();
    assert_eq!(runtime.block_on(round()), SUM);
    turbowish::disarm();
    turbowish::arm();
    assert_eq!(runtime.block_on(round()), SUM);
    let again = turbowish::init();
    assert_eq!(runtime.block_on(round()), SUM);
    drop(again);
    drop(runtime);
    std::process::exit(0);
}

/// Forks in the middle of a poll.
#[turbowish::instrument]
async fn forks(inherited: Option<Inherited>) -> (Option<rustix::process::Pid>, Option<Inherited>) {
    (fork(), inherited)
}

/// Returns whether the child was over in time.
fn trial(in_poll: bool, patience: Duration) -> bool {
    let inherited = Inherited::new();
    let (pid, inherited) = match in_poll {
        false => (fork(), Some(inherited)),
        true => {
            let mut cx = Context::from_waker(Waker::noop());
            let mut forks = Box::pin(forks(Some(inherited)));
            match forks.as_mut().poll(&mut cx) {
                Poll::Ready(forked) => forked,
                Poll::Pending => unreachable!("it awaits nothing"),
            }
        }
    };
    match (pid, inherited) {
        (Some(pid), _) => wait(pid, patience) == Some(0),
        (None, Some(inherited)) => child(inherited),
        (None, None) => std::process::exit(2),
    }
}

fn main() -> ExitCode {
    let _turbowish = turbowish::init();
    let mut arguments = std::env::args().skip(1).map(|number| number.parse());
    let (Some(Ok(all)), Some(Ok(seconds))) = (arguments.next(), arguments.next()) else {
        eprintln!("two numbers are missing; see the head of this file");
        return ExitCode::from(2);
    };
    let patience = Duration::from_secs(seconds);
    let threads = [(); 2].map(|()| std::thread::spawn(busy));
    let failed = (0..all).filter(|number: &u64| !trial(number % 2 == 1, patience));
    let failed = failed.count();
    OVER.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("it does not panic");
    }
    println!("{failed} of {all} children failed");
    ExitCode::from(u8::from(failed > 0))
}
