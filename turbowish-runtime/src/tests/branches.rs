//! A call that polls several gives each a waker of its own: what is known by it, and that nobody
//! else can tell.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use futures::StreamExt;
use futures::future::{Either, join, select};
use futures::stream::FuturesUnordered;
use turbowish_model::account::task::TaskMeta;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::StackRow;

use super::stage::{advance, alone};
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{dropped, switch, task};
use crate::lock::lock;
use crate::monitor::Monitor;

static RUN: Proc = Proc::new::<Gate>(
    "::run",
    "1 branches.rs\n2 1 2 9 select! {..}\n3 1 3 9 adds.next()\n4 1 4 9 other\n5 1 5 9 tokio::join!(..)\n6 1 6 9 join(a, b)\n7 1 7 9 leaf(gate)",
);
static LEAK: Proc = Proc::new::<Gate>(
    "::leak",
    "21 branches.rs\n22 1 22 9 select! {..}\n23 1 23 9 other",
);
static HAND: Proc = Proc::new::<Gate>(
    "::hand",
    "31 branches.rs\n32 1 32 9 both(a, b)\n33 1 33 9 some(a, b)",
);
static LEAF: Proc = Proc::new::<Gate>("::leaf", "11 branches.rs\n12 1 12 9 gate");
/// Created right before its first poll.
static TWIG: Proc = Proc::new::<Gate>("::twig", "41 branches.rs\n42 1 42 9 gate");

const SELECT: u32 = 0;
const NEXT: u32 = 1;
const OTHER: u32 = 2;
const JOIN: u32 = 3;
const FUNCTION: u32 = 4;
const CALL: u32 = 5;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[derive(Default)]
struct Inside {
    open: bool,
    wakers: Vec<Waker>,
    polls: usize,
}

/// Pending until it is opened; keeps the waker of each poll.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<Inside>>);

impl Gate {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        lock(&self.0)
    }

    /// Wakes by what its last poll was given.
    fn wake(&self) {
        let waker = self.inside().wakers.last().cloned();
        waker.expect("it was polled").wake();
    }

    fn open(&self) {
        self.inside().open = true;
        self.wake();
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut inside = self.inside();
        inside.polls += 1;
        if inside.open {
            return Poll::Ready(());
        }
        inside.wakers.push(cx.waker().clone());
        Poll::Pending
    }
}

fn leaf(gate: &Gate) -> impl Future<Output = ()> + use<> {
    leaf_of(&LEAF, gate)
}

fn leaf_of(proc: &'static Proc, gate: &Gate) -> impl Future<Output = ()> + use<> {
    let gate = gate.clone();
    call(
        proc.as_static(),
        Other,
        async move { at(proc, 0, gate).await },
    )
}

/// A task, polled by hand.
struct Task<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
    waker: Waker,
}

impl<F: Future> Task<F> {
    fn new(body: F) -> Task<impl Future<Output = F::Output>> {
        Self::of(&RUN, body)
    }

    fn of(proc: &'static Proc, body: F) -> Task<impl Future<Output = F::Output> + use<F>> {
        let woken = Arc::new(Woken::default());
        Task {
            future: Box::pin(call(proc.as_static(), Other, body)),
            waker: woken.clone().into(),
            woken,
        }
    }

    fn poll(&mut self) -> Poll<F::Output> {
        advance(5);
        let polled = self
            .future
            .as_mut()
            .poll(&mut Context::from_waker(&self.waker));
        advance(5);
        polled
    }

    fn wakes(&self) -> usize {
        self.woken.0.load(SeqCst)
    }
}

struct Armed(Monitor);

fn armed() -> Armed {
    let monitor = Monitor::new("test".into());
    monitor.arm();
    Armed(monitor)
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.0.disarm();
    }
}

impl Armed {
    /// `0 run select! | 1 leaf woken 5 | 0 leaf aside`
    fn tree(&self) -> String {
        self.tree_of("::run")
    }

    fn tree_of(&self, root: &str) -> String {
        let query = Query {
            tasks: Some(Rows::default()),
            ..Query::default()
        };
        let snapshot = self.0.snapshot(&query).expect("a good query");
        let mut rows = snapshot.tasks.rows.iter();
        let row = rows.find(|row| row.root.ends_with(root));
        let stack = row.map_or(&[][..], |row| &row.stack);
        let lines: Vec<String> = stack.iter().map(line).collect();
        lines.join(" | ")
    }
}

fn line(row: &StackRow) -> String {
    let proc = row.proc.rsplit("::").next().unwrap_or_default();
    let mut words = vec![row.depth.to_string(), proc.to_owned()];
    words.extend(row.fork.map(|fork| fork.word().to_owned()));
    words.extend(row.woken_ns.map(|ago| format!("woken {ago}")));
    words.extend(row.aside.then(|| "aside".to_owned()));
    words.join(" ")
}

/// Of tasks whose root is [`RUN`].
fn branches() -> usize {
    branches_of(&RUN)
}

fn branches_of(root: &'static Proc) -> usize {
    let of_root = |id: u64| Some(TaskMeta::of(id).root()) == root.id();
    let all = task::branches(|_| true).into_iter();
    all.filter(|(task, _)| of_root(*task))
        .map(|(_, branches)| branches.len())
        .sum()
}

#[test]
fn a_future_that_select_left_aside_is_known_and_when_it_was_woken() {
    let _alone = alone();
    let monitor = armed();
    let [first, second, third] = [(); 3].map(|()| Gate::default());
    let mut task = Task::new({
        let [first, second, third] = [&first, &second, &third].map(Gate::clone);
        async move {
            let mut first = pin!(leaf(&first));
            at(&RUN, SELECT, ());
            let either = select(first.as_mut(), second).await;
            assert!(matches!(either, Either::Right(_)));
            at(&RUN, OTHER, third).await;
        }
    });
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run select! | 1 leaf");
    first.wake();
    advance(3);
    assert_eq!(monitor.tree(), "0 run select! | 1 leaf woken 3");
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run select! | 1 leaf");

    second.open();
    // It is polled before, and pends.
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run | 0 leaf aside");
    first.wake();
    advance(2);
    third.wake();
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run | 0 leaf woken 12 aside");
    assert_eq!((task.wakes(), first.inside().polls), (4, 3));
    third.open();
    assert!(task.poll().is_ready());
    assert_eq!((monitor.tree(), branches()), (String::new(), 0));
}

#[test]
fn futures_of_a_stream_are_shown_that_the_last_poll_has_not_come_to() {
    let _alone = alone();
    let monitor = armed();
    let gates = [(); 3].map(|()| Gate::default());
    let other = Gate::default();
    let mut task = Task::new({
        let (gates, other) = (gates.clone(), other.clone());
        async move {
            let mut adds: FuturesUnordered<_> = gates.iter().map(leaf).collect();
            at(&RUN, NEXT, adds.next()).await;
            at(&RUN, OTHER, other).await;
            while at(&RUN, NEXT, adds.next()).await.is_some() {}
        }
    });
    assert!(task.poll().is_pending());
    // What was polled alone at first becomes a branch with its next poll.
    gates.iter().for_each(Gate::wake);
    assert!(task.poll().is_pending());
    assert_eq!(branches(), 3);
    gates[1].wake();
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run stream | 1 leaf | 1 leaf | 1 leaf");

    gates[1].open();
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run | 0 leaf aside | 0 leaf aside");
    gates[2].wake();
    other.wake();
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree().matches("woken").count(), 1);
    other.open();
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run stream | 1 leaf | 1 leaf");
    drop(task);
    assert_eq!(branches(), 0);
}

#[test]
fn each_branch_keeps_its_waker_from_poll_to_poll() {
    let _alone = alone();
    let monitor = armed();
    for site in [JOIN, FUNCTION] {
        let gates = [(); 2].map(|()| Gate::default());
        let mut task = Task::new({
            let [a, b] = gates.clone();
            async move {
                let (a, b) = (leaf(&a), leaf(&b));
                at(&RUN, site, join(a, b)).await;
            }
        });
        for _ in 0..4 {
            assert!(task.poll().is_pending());
        }
        let [a, b] = gates.clone().map(|gate| gate.inside().wakers[1..].to_vec());
        assert!(a.iter().all(|waker| waker.will_wake(&a[0])));
        assert!(b.iter().all(|waker| waker.will_wake(&b[0])));
        assert!(!a[0].will_wake(&b[0]));
        let before = task.wakes();
        a[0].wake_by_ref();
        assert_eq!(task.wakes(), before + 1, "at once, and once");
        drop((a, b));
        // The executor's waker goes when the last of theirs goes.
        gates.iter().for_each(|gate| gate.inside().wakers.clear());
        assert_eq!(Arc::strong_count(&task.woken), 2);
        assert_eq!(monitor.tree().matches("leaf").count(), 2);
    }
}

#[test]
fn a_chain_has_no_branches() {
    let _alone = alone();
    let _monitor = armed();
    let gate = Gate::default();
    let mut task = Task::new({
        let gate = gate.clone();
        async move {
            for round in 0.. {
                at(&RUN, CALL, leaf(&gate)).await;
                // In a future of somebody else, and by hand, but one at a time.
                let boxed: Pin<Box<dyn Future<Output = ()>>> = Box::pin(leaf(&gate));
                at(&RUN, OTHER, boxed).await;
                let mut own = pin!(leaf(&gate));
                std::future::poll_fn(|cx| own.as_mut().poll(cx)).await;
                gate.inside().open = round % 2 == 0;
            }
        }
    });
    for _ in 0..9 {
        assert!(task.poll().is_pending());
        assert_eq!(branches(), 0);
        gate.open();
    }
}

/// A task that awaits `first` among two, for as long as it is there.
fn lends(first: Pin<Box<impl Future<Output = ()>>>) -> Task<impl Future> {
    Task::new(async move {
        at(&RUN, SELECT, ());
        select(first, std::future::pending::<()>()).await;
    })
}

#[test]
fn a_branch_that_goes_leaves_nothing() {
    let _alone = alone();
    let monitor = armed();
    let gate = Gate::default();
    // Dropped while it is woken; its waker still wakes whom it woke before.
    let mut task = lends(Box::pin(leaf(&gate)));
    assert!(task.poll().is_pending());
    gate.wake();
    assert_eq!(branches(), 1);
    let woken = task.woken.clone();
    drop(task);
    assert_eq!(branches(), 0);
    gate.wake();
    assert_eq!(woken.0.load(SeqCst), 2);

    // In a poll that panics.
    let mut task = lends(Box::pin(call(LEAF.as_static(), Other, async {
        leaf(&gate).await;
        panic!("the test's own");
    })));
    assert!(task.poll().is_pending());
    assert_eq!(branches(), 1);
    gate.inside().open = true;
    let poll = std::panic::AssertUnwindSafe(|| task.poll().is_ready());
    assert!(std::panic::catch_unwind(poll).is_err());
    assert_eq!(branches(), 0);
    drop(task);

    // Leaked: it is left aside for ever, and in no tree when its task is over.
    let gate = Gate::default();
    let mut task = Task::of(&LEAK, {
        let gate = gate.clone();
        async move {
            let leaked = Box::pin(leaf(&gate));
            at(&LEAK, SELECT, ());
            let polled = select(leaked, std::future::ready(())).await;
            if let Either::Right((_, leaked)) = polled {
                std::mem::forget(leaked);
            }
            at(&LEAK, NEXT, std::future::pending::<()>()).await;
        }
    });
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree_of("::leak"), "0 leak | 0 leaf aside");
    drop(task);
    assert_eq!(monitor.tree_of("::leak"), "");
}

#[test]
fn a_branch_goes_to_another_task_and_becomes_one_itself() {
    let _alone = alone();
    let _monitor = armed();
    let gate = Gate::default();
    let before = branches();
    let mut moved = Box::pin(leaf(&gate));
    let owners = || {
        let mut owners: Vec<u64> = task::branches(|_| true).into_keys().collect();
        owners.sort_unstable();
        owners
    };
    let mut poll_in_task = || {
        let mut task = Task::new(std::future::poll_fn(|cx| {
            at(&RUN, SELECT, ());
            moved.as_mut().poll(cx)
        }));
        assert!(task.poll().is_pending());
        let seen = owners();
        gate.wake();
        assert_eq!(task.wakes(), 1, "who polled it last is woken");
        seen
    };
    assert_ne!(poll_in_task(), poll_in_task());
    assert_eq!(branches(), before + 1);
    let mut context = Context::from_waker(Waker::noop());
    assert!(moved.as_mut().poll(&mut context).is_pending());
    assert_eq!(branches(), before);
}

#[test]
fn what_became_of_a_branch_during_a_pause_is_not_known() {
    let _alone = alone();
    let monitor = armed();
    let gate = Gate::default();
    let mut task = lends(Box::pin(leaf(&gate)));
    assert!(task.poll().is_pending());
    assert_eq!(monitor.tree(), "0 run select! | 1 leaf");
    monitor.0.disarm();
    assert!(task.poll().is_pending());
    gate.wake();
    monitor.0.arm();
    assert_eq!(monitor.tree(), "0 run");
    assert!(switch::is_armed() && task.poll().is_pending());
    gate.wake();
    advance(1);
    // Where it stands is known when it has come there.
    assert_eq!(task.wakes(), 2);
    drop(task);
}

/// They are polled all the same.
#[test]
fn branches_without_room_are_counted() {
    let _alone = alone();
    let _monitor = armed();
    let gates: [Gate; 3] = Default::default();
    let mut task = Task::new({
        let [first, a, b] = gates.clone().map(|gate| leaf(&gate));
        async move {
            first.await;
            at(&RUN, JOIN, join(a, b)).await;
        }
    });
    assert!(task.poll().is_pending());
    let before = dropped::details();
    task::limit(0);
    gates[0].open();
    assert!(task.poll().is_pending());
    task::limit(task::DEFAULT_LIMIT);
    assert_eq!((dropped::details() - before, branches()), (2, 0));
    gates[1].open();
    gates[2].open();
    assert_eq!(task.wakes(), 3);
    assert!(task.poll().is_ready());
}

/// Polls those of its leaves that the bits say, at the await point `site`: no macro's, and no known
/// function's.
fn by_hand(
    site: u32,
    gates: &[Gate],
    bits: &Arc<AtomicUsize>,
) -> Task<impl Future<Output = ()> + use<>> {
    let (gates, bits) = (gates.to_vec(), bits.clone());
    Task::of(&HAND, async move {
        let mut leaves: Vec<_> = gates.iter().map(|_| None).collect();
        let polls = poll_fn(move |cx| {
            let bits = bits.load(SeqCst);
            let chosen = gates.iter().zip(&mut leaves).enumerate();
            for (_, (gate, made)) in chosen.filter(|(at, _)| bits >> at & 1 != 0) {
                let leaf = made.get_or_insert_with(|| Box::pin(leaf_of(&TWIG, gate)));
                assert!(leaf.as_mut().poll(cx).is_pending());
            }
            Poll::Pending
        });
        at(&HAND, site, polls).await
    })
}

/// Enough polls of tasks with one leaf that no later one is the first of its kind.
fn warm(site: u32) {
    let (gates, bits) = ([Gate::default()], Arc::new(AtomicUsize::new(1)));
    for _ in 0..40 {
        let mut task = by_hand(site, &gates, &bits);
        for _ in 0..3 {
            assert!(task.poll().is_pending());
        }
    }
}

#[test]
fn branches_are_found_at_once_also_where_one_call_was_polled_often() {
    let _alone = alone();
    let _monitor = armed();
    warm(0);
    let (gates, bits) = ([(); 2].map(|()| Gate::default()), Arc::new(3.into()));
    let mut task = by_hand(0, &gates, &bits);
    assert!(task.poll().is_pending());
    assert_eq!(branches_of(&HAND), 1);
    assert!(task.poll().is_pending());
    assert_eq!(branches_of(&HAND), 2);
}

#[test]
fn calls_that_were_polled_one_by_one_are_branches_once_they_are_polled_together() {
    let _alone = alone();
    let _monitor = armed();
    warm(1);
    let gates: [Gate; 2] = Default::default();
    let bits = Arc::new(AtomicUsize::new(0));
    let mut task = by_hand(1, &gates, &bits);
    for (chosen, known) in [(0b01, 0), (0b10, 0), (0b11, 1), (0b11, 2), (0b11, 2)] {
        bits.store(chosen, SeqCst);
        assert!(task.poll().is_pending());
        assert_eq!(branches_of(&HAND), known, "{chosen:b}");
    }
}
