//! Random joins, selects and streams go on as they do without us: the same polls in the same order,
//! the same wake-ups, the same results.
//!
//! A program is a tree of combinators over leaves that are opened by hand. It is played three
//! times: plain, with every future a call, and with accounting switched off and on in between.
//! Whatever a future or its executor can see is written down.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use futures::StreamExt;
use futures::future::{Either, join_all, select, select_all};
use futures::stream::{self, FuturesUnordered};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use super::stage::{advance, alone};
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{switch, task};
use crate::lock::lock;
use crate::monitor::Monitor;

static NODES: Proc = Proc::new::<Op>(
    "::nodes",
    "1 combinators.rs\n1 1 1 9 join!(..)\n1 1 1 9 select! {..}\n1 1 1 9 adds.next()\n1 1 1 9 adds.collect()\n1 1 1 9 lent\n1 1 1 9 self.step()",
);

/// What is awaited.
#[derive(Clone, Debug)]
enum Tree {
    Leaf,
    /// It awaits itself: an executor polls it again at once.
    Yield,
    Join(Vec<Tree>),
    Select(Vec<Tree>),
    Unordered(Vec<Tree>),
    /// Taken one by one, with another future awaited between two of them.
    Stalled(Vec<Tree>, Box<Tree>),
    Buffered(usize, Vec<Tree>),
    /// A select polls the first by reference beside the second; if the second is ready before, the
    /// third is awaited, and then the first.
    BorrowedWaker(Box<[Tree; 3]>),
    /// One after the other.
    SeqLock(Vec<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![5 => Just(Tree::Leaf), 1 => Just(Tree::Yield)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = vec(inner.clone(), 1..4);
        prop_oneof![
            2 => several.clone().prop_map(Tree::Join),
            2 => several.clone().prop_map(Tree::Select),
            2 => several.clone().prop_map(Tree::Unordered),
            1 => (several.clone(), inner.clone())
                .prop_map(|(several, one)| Tree::Stalled(several, Box::new(one))),
            1 => (1..4usize, several.clone()).prop_map(|(n, several)| Tree::Buffered(n, several)),
            1 => [inner.clone(), inner.clone(), inner.clone()]
                .prop_map(|three| Tree::BorrowedWaker(Box::new(three))),
            1 => several.prop_map(Tree::SeqLock),
        ]
    })
}

/// What happens from outside.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// A leaf's last waker is woken, by reference or by value, and the leaf opened before, or not.
    Wake(usize, bool, bool),
    /// All leaves at once.
    WakeAll,
    /// The executor polls what was woken, so often at most.
    Run(usize),
    /// It polls although nothing was woken.
    Poll,
    /// Accounting is switched off or on, where it can be.
    Switch,
}

fn op() -> impl Strategy<Value = Op> {
    let coin = || proptest::bool::ANY;
    prop_oneof![
        6 => (0..16usize, coin(), coin()).prop_map(|(nth, opened, owned)| Op::Wake(nth, opened, owned)),
        1 => Just(Op::WakeAll),
        6 => (1..4usize).prop_map(Op::Run),
        1 => Just(Op::Poll),
        1 => Just(Op::Switch),
    ]
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Polled(usize, bool),
    Dropped(usize),
    /// The executor was woken so often by then.
    Wakes(usize),
    Ended(u64),
}

#[derive(Default)]
struct World {
    events: Vec<Event>,
    leaves: Vec<Gate>,
}

#[derive(Clone, Default)]
struct Gate {
    open: bool,
    waker: Option<Waker>,
}

/// What is written down, and where every future has its number from: in the order in which they are
/// made.
#[derive(Clone, Default)]
struct Play {
    world: Arc<Mutex<World>>,
    wrapped: bool,
}

impl Play {
    fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.world)
    }

    fn say(&self, event: Event) {
        self.world().events.push(event);
    }
}

/// Pending until it is opened, or once.
struct Leaf {
    play: Play,
    id: usize,
    yields: bool,
}

impl Leaf {
    fn new(play: &Play, yields: bool) -> Self {
        let mut world = play.world();
        world.leaves.push(Gate::default());
        Self {
            play: play.clone(),
            id: world.leaves.len() - 1,
            yields,
        }
    }
}

impl Future for Leaf {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        advance(1);
        let yields = std::mem::take(&mut self.yields);
        let mut world = self.play.world();
        let gate = &mut world.leaves[self.id];
        gate.open |= yields;
        let ready = gate.open && !yields;
        // As leaves do: whoever polls with the same waker again wakes it by the one that is there.
        if !gate
            .waker
            .as_ref()
            .is_some_and(|known| known.will_wake(cx.waker()))
        {
            gate.waker = Some(cx.waker().clone());
        }
        world.events.push(Event::Polled(self.id, ready));
        drop(world);
        if yields {
            cx.waker().wake_by_ref();
        }
        match ready {
            true => Poll::Ready(self.id as u64),
            false => Poll::Pending,
        }
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        let mut world = self.play.world();
        let waker = world.leaves[self.id].waker.take();
        world.events.push(Event::Dropped(self.id));
        drop(world);
        drop(waker);
    }
}

type Made = Pin<Box<dyn Future<Output = u64> + Send>>;

fn make(play: &Play, tree: &Tree) -> Made {
    let body = awaited(play.clone(), tree.clone());
    if play.wrapped {
        Box::pin(call(NODES.as_static(), Other, body))
    } else {
        Box::pin(body)
    }
}

fn made(play: &Play, trees: &[Tree]) -> Vec<Made> {
    trees.iter().map(|tree| make(play, tree)).collect()
}

/// Stands at that await point, if it is a call.
fn stand(play: &Play, site: u32) {
    if play.wrapped {
        at(&NODES, site, ());
    }
}

async fn awaited(play: Play, tree: Tree) -> u64 {
    match tree {
        Tree::Leaf => Leaf::new(&play, false).await,
        Tree::Yield => Leaf::new(&play, true).await,
        Tree::Join(trees) => {
            let all = join_all(made(&play, &trees));
            stand(&play, 0);
            all.await.iter().sum()
        }
        Tree::Select(trees) => {
            let all = select_all(made(&play, &trees));
            stand(&play, 1);
            let (value, nth, rest) = all.await;
            drop(rest);
            value + 100 * nth as u64
        }
        Tree::Unordered(trees) => {
            let all: FuturesUnordered<_> = made(&play, &trees).into_iter().collect();
            stand(&play, 3);
            all.fold(1, async |sum, value| (sum * 3 + value) % 1_000_003)
                .await
        }
        Tree::Stalled(trees, between) => {
            let mut all: FuturesUnordered<_> = made(&play, &trees).into_iter().collect();
            let mut sum = 7;
            loop {
                stand(&play, 2);
                let Some(value) = all.next().await else {
                    return sum;
                };
                sum = (sum * 3 + value) % 1_000_003;
                stand(&play, 5);
                sum += make(&play, &between).await;
            }
        }
        Tree::Buffered(n, trees) => {
            let all = made(&play, &trees);
            stand(&play, 3);
            let values: Vec<u64> = stream::iter(all).buffered(n).collect().await;
            values.iter().sum()
        }
        Tree::BorrowedWaker(three) => lent(&play, &three).await,
        Tree::SeqLock(trees) => {
            let mut sum = 0;
            for tree in &trees {
                let step = make(&play, tree);
                stand(&play, 5);
                sum += step.await;
            }
            sum
        }
    }
}

async fn lent(play: &Play, [first, second, third]: &[Tree; 3]) -> u64 {
    let mut first = make(play, first);
    let second = make(play, second);
    stand(play, 4);
    let early = match select(&mut first, second).await {
        Either::Left((value, _)) => return value,
        Either::Right((value, _)) => value,
    };
    stand(play, 5);
    let between = make(play, third).await;
    early + between + first.await
}

#[derive(Default)]
struct Executor {
    wakes: AtomicUsize,
    woken: AtomicBool,
}

impl Wake for Executor {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, SeqCst);
        self.woken.store(true, SeqCst);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Called,
    Switched,
}

/// Branches that are alive, of all tasks.
fn branches() -> usize {
    task::branches(|_| true).values().map(Vec::len).sum()
}

/// What happened, and how many branches were alive at most.
fn play(tree: &Tree, ops: &[Op], way: Way, monitor: &Monitor) -> (Vec<Event>, usize) {
    let play = Play {
        wrapped: way != Way::Plain,
        ..Play::default()
    };
    let executor = Arc::new(Executor::default());
    let waker = Waker::from(executor.clone());
    let mut future = Some(make(&play, tree));
    let poll = |future: &mut Option<Made>| {
        advance(1);
        executor.woken.store(false, SeqCst);
        let Some(live) = future else { return };
        if let Poll::Ready(value) = live.as_mut().poll(&mut Context::from_waker(&waker)) {
            play.say(Event::Ended(value));
            *future = None;
        }
    };
    poll(&mut future);
    let mut most = 0;
    for op in ops {
        most = most.max(branches());
        match *op {
            Op::Wake(nth, opens, owned) => wake(&play, nth, opens, owned),
            Op::WakeAll => {
                let all = play.world().leaves.len();
                (0..all).for_each(|nth| wake(&play, nth, false, false));
            }
            Op::Run(most) => {
                for _ in 0..most {
                    if executor.woken.load(SeqCst) {
                        poll(&mut future);
                    }
                }
            }
            Op::Poll => poll(&mut future),
            Op::Switch if way == Way::Switched && switch::is_armed() => monitor.disarm(),
            Op::Switch if way == Way::Switched => monitor.arm(),
            Op::Switch => {}
        }
        play.say(Event::Wakes(executor.wakes.load(SeqCst)));
    }
    drop(future);
    if !switch::is_armed() {
        monitor.arm();
    }
    assert_eq!(Arc::strong_count(&executor), 2, "wakers are let go of");
    let events = std::mem::take(&mut play.world().events);
    (events, most)
}

fn wake(play: &Play, nth: usize, opens: bool, owned: bool) {
    let mut world = play.world();
    let count = world.leaves.len();
    if count == 0 {
        return;
    }
    let gate = &mut world.leaves[nth % count];
    gate.open |= opens;
    let waker = gate.waker.clone();
    drop(world);
    match waker {
        Some(waker) if owned => waker.wake(),
        Some(waker) => waker.wake_by_ref(),
        None => {}
    }
}

/// Returns how many branches were alive at most.
fn check(tree: &Tree, ops: &[Op]) -> usize {
    let _alone = alone();
    let monitor = Monitor::new("combinators".to_owned());
    monitor.arm();
    let before = branches();
    let (plain, none) = play(tree, ops, Way::Plain, &monitor);
    let most = [Way::Called, Way::Switched].map(|way| {
        let (events, most) = play(tree, ops, way, &monitor);
        assert_eq!(events, plain);
        assert_eq!(branches(), before, "all are gone");
        most - none
    });
    monitor.disarm();
    most[0]
}

#[test]
fn a_stalled_stream_of_joins() {
    let pair = || Tree::Join(vec![Tree::Leaf, Tree::Leaf]);
    let tree = Tree::Stalled(vec![pair(), pair()], Box::new(Tree::Leaf));
    let ops: Vec<Op> = (0..12)
        .flat_map(|nth| [Op::Wake(nth, true, nth % 2 == 0), Op::Run(2), Op::Switch])
        .collect();
    // Two joins of two leaves each; the first join was polled alone before the second came, unless
    // another test has shown that there are two.
    assert!(check(&tree, &ops) >= 5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_polled_woken_or_dropped_in_another_order(tree in tree(), ops in vec(op(), 0..60)) {
        check(&tree, &ops);
    }
}
