//! Random programs of annotated functions: what each does is drawn from its own dice, and what
//! becomes of each call is counted.

use std::cell::RefCell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use futures::future::FutureExt as _;
use turbowish_macros::instrument;
use turbowish_model::account::counters::Sum;

use super::block_on;

/// By number, as [`Made::new`] has it.
pub(super) const NAMES: [&str; 4] = ["branch", "leaf", "panics", "plain"];

/// What is counted of the calls of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    Calls,
    Polls,
    Ready,
    Err,
    Cancelled,
    Panicked,
    NeverPolled,
}

impl Count {
    pub(super) const ALL: [Self; 7] = [
        Self::Calls,
        Self::Polls,
        Self::Ready,
        Self::Err,
        Self::Cancelled,
        Self::Panicked,
        Self::NeverPolled,
    ];

    pub(super) const fn sum(self) -> Sum {
        match self {
            Self::Calls => Sum::Calls,
            Self::Polls => Sum::Polls,
            Self::Ready => Sum::Ready,
            Self::Err => Sum::Err,
            Self::Cancelled => Sum::Cancelled,
            Self::Panicked => Sum::Panicked,
            Self::NeverPolled => Sum::NeverPolled,
        }
    }
}

pub(super) static COUNTS: [[AtomicU64; Count::ALL.len()]; NAMES.len()] =
    [const { [const { AtomicU64::new(0) }; Count::ALL.len()] }; NAMES.len()];

fn count(of: usize, what: Count) {
    COUNTS[of][what as usize].fetch_add(1, Relaxed);
}

/// Numbers that follow from a seed.
#[derive(Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64, nth: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ nth.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27) % limit
    }

    fn other(&mut self) -> Self {
        Self::new(self.below(u64::MAX), 0)
    }
}

/// A call there is; nobody has polled it yet.
pub(super) struct Made(Option<usize>);

impl Made {
    pub(super) fn new(of: usize) -> Self {
        count(of, Count::Calls);
        Self(Some(of))
    }

    /// The body's first and only act.
    async fn watch(mut self, body: impl Future<Output = Result<(), ()>> + Send) -> Result<(), ()> {
        let of = self.0.take().unwrap_or_default();
        Watch {
            of,
            over: false,
            body: Box::pin(body),
        }
        .await
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(of) = self.0 {
            count(of, Count::Cancelled);
            count(of, Count::NeverPolled);
        }
    }
}

struct Watch<'a> {
    of: usize,
    over: bool,
    body: Pin<Box<dyn Future<Output = Result<(), ()>> + Send + 'a>>,
}

impl Future for Watch<'_> {
    type Output = Result<(), ()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        count(self.of, Count::Polls);
        let polled = catch_unwind(AssertUnwindSafe(|| self.body.as_mut().poll(cx)));
        self.over = !matches!(polled, Ok(Poll::Pending));
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(result)) => {
                count(self.of, Count::Ready);
                result.unwrap_or_else(|()| count(self.of, Count::Err));
            }
            Err(_) => count(self.of, Count::Panicked),
        }
        polled.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.over {
            count(self.of, Count::Cancelled);
        }
    }
}

pub(super) type Boxed = Pin<Box<dyn Future<Output = Result<(), ()>> + Send>>;

thread_local! {
    /// Dropped when the thread ends.
    static KEPT: RefCell<Vec<Boxed>> = const { RefCell::new(Vec::new()) };
}

fn work(dice: &mut Dice) {
    for turn in 0..dice.below(40) {
        black_box(turn);
    }
}

#[instrument]
async fn leaf(made: Made, mut dice: Dice) -> Result<(), ()> {
    let body = async move {
        for _ in 0..dice.below(3) {
            work(&mut dice);
            tokio::task::yield_now().await;
        }
        if dice.below(4) == 0 { Err(()) } else { Ok(()) }
    };
    made.watch(body).await
}

#[instrument]
async fn panics(made: Made, mut dice: Dice) -> Result<(), ()> {
    let body = async move {
        let _ = leaf(Made::new(1), dice.other()).await;
        let _held = half(&mut dice);
        resume_unwind(Box::new(()))
    };
    made.watch(body).await
}

#[instrument]
pub(super) fn plain(dice: &mut Dice) {
    count(3, Count::Calls);
    count(3, Count::Polls);
    work(dice);
    count(3, Count::Ready);
}

/// A call that was polled once, unless it is over.
fn half(dice: &mut Dice) -> Boxed {
    let mut made: Boxed = Box::pin(leaf(Made::new(1), dice.other()));
    let polled = made.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    match polled {
        Poll::Pending => made,
        Poll::Ready(_) => Box::pin(leaf(Made::new(1), dice.other())),
    }
}

/// Gives a call to a thread that ends it, drops it, or ends with it.
fn give_away(dice: &mut Dice) {
    let call = half(dice);
    let how = dice.below(3);
    let other = std::thread::spawn(move || match how {
        0 => drop(block_on(call)),
        1 => drop(call),
        _ => KEPT.with_borrow_mut(|kept| kept.push(call)),
    });
    other.join().expect("the other thread");
}

#[instrument]
pub(super) async fn branch(made: Made, mut dice: Dice, depth: u32) -> Result<(), ()> {
    let body = async move {
        for _ in 0..1 + dice.below(6) {
            act(&mut dice, depth).await;
        }
        if dice.below(8) == 0 { Err(()) } else { Ok(()) }
    };
    made.watch(body).await
}

fn deeper(dice: &mut Dice, depth: u32) -> Boxed {
    Box::pin(branch(Made::new(0), dice.other(), depth))
}

/// Not annotated: what it awaits is inside of a future that nobody knows.
async fn act(dice: &mut Dice, depth: u32) {
    let child = |dice: &mut Dice| leaf(Made::new(1), dice.other());
    match dice.below(14) {
        0 => work(dice),
        1 => tokio::task::yield_now().await,
        2 => plain(dice),
        3 => drop(child(dice).await),
        4 => drop(futures::join!(child(dice), child(dice))),
        5 => {
            let (one, other) = (Box::pin(child(dice)), Box::pin(child(dice)));
            drop(futures::future::select(one, other).await);
        }
        6 => drop(child(dice)),
        7 => drop(half(dice)),
        8 => {
            let caught = AssertUnwindSafe(panics(Made::new(2), dice.other())).catch_unwind();
            assert!(caught.await.is_err());
        }
        9 => drop(block_on(Box::pin(child(dice)))),
        10 => give_away(dice),
        11 if tokio::runtime::Handle::try_current().is_ok() => {
            let task = tokio::spawn(child(dice));
            if dice.below(2) == 0 {
                task.abort();
            }
            drop(task.await);
        }
        _ if depth > 0 => {
            let _ = deeper(dice, depth - 1).await;
        }
        _ => drop(child(dice).await),
    }
}
