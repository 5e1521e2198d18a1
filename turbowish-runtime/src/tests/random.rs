//! Any interleaving leaves the numbers exact and the stacks right: programs are data, real threads
//! play them in turns.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::RngSeed;

use super::oracle::{End, Oracle, Sums, between, check_slow, follow_from, read, same};
use super::stage::{EarlyBirths, advance, alone, ours};
use crate::hot::call::{Call, at, call, enter};
use crate::hot::probe::Fallible;
use crate::hot::proc::{Proc, StaticProc};
use crate::hot::{switch, task, thread};
use crate::lock::lock;
use crate::monitor::Monitor;
use crate::monitor::collector::ThreadNow;

/// What a thread does next, at its bottom or in the innermost body that it polls.
#[derive(Clone, Debug)]
enum Op {
    Advance(u16),
    Create(usize),
    /// By hand, in the middle of whatever is there; a panic is caught or goes on.
    Poll {
        nth: usize,
        catch: bool,
    },
    Drop(usize),
    /// `mem::forget`.
    Forget(usize),
    /// Left to the thread, which drops it when it ends.
    Keep(usize),
    /// A nested executor.
    BlockOn(usize),
    /// A plain function that takes some time.
    Plain(usize, u16),
    /// Pause, or resume.
    Switch,
    /// All numbers are compared.
    Look,
    /// So many ticks of the monitor, with time between them.
    Ticks(u8),
    /// The program counts and sets whatever it likes: it moves no time.
    Say(u8, i64),
    /// The thread ends, if it polls nothing; another one takes its place.
    Leave,
    Await(usize, How),
    Yield {
        marked: bool,
    },
    /// Pending so many times, at one await point.
    Stay(u8),
    Finish(End),
}

#[derive(Clone, Debug)]
enum How {
    Straight,
    Boxed,
    /// In a newtype that takes time before and after.
    Spun(u16, u16),
    Both(usize),
    /// The first to end; the other one is dropped.
    First(usize),
    /// Dropped after so many polls.
    Limited(u8),
    /// In a future that drops it slowly.
    SlowlyDropped(u16),
}

const PROCS: usize = 4;

fn how() -> impl Strategy<Value = How> {
    let nth = 0..8usize;
    prop_oneof![
        6 => Just(How::Straight),
        1 => Just(How::Boxed),
        2 => (0..9u16, 0..9u16).prop_map(|(before, after)| How::Spun(before, after)),
        1 => nth.clone().prop_map(How::Both),
        1 => nth.prop_map(How::First),
        1 => (1..3u8).prop_map(How::Limited),
        1 => (1..9u16).prop_map(How::SlowlyDropped),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let nth = 0..8usize;
    let end = prop_oneof![
        4 => Just(End::Ready),
        1 => Just(End::Err),
        1 => Just(End::Panicked),
    ];
    prop_oneof![
        10 => (1..100u16).prop_map(Op::Advance),
        8 => (0..PROCS).prop_map(Op::Create),
        8 => (nth.clone(), any::<bool>()).prop_map(|(nth, catch)| Op::Poll { nth, catch }),
        1 => nth.clone().prop_map(Op::Drop),
        1 => nth.clone().prop_map(Op::Forget),
        1 => nth.clone().prop_map(Op::Keep),
        1 => (0..PROCS).prop_map(Op::BlockOn),
        1 => (0..PROCS, 0..20u16).prop_map(|(proc, by)| Op::Plain(proc, by)),
        1 => Just(Op::Switch),
        2 => Just(Op::Look),
        1 => (1..60u8).prop_map(Op::Ticks),
        4 => (any::<u8>(), any::<i64>()).prop_map(|(what, value)| Op::Say(what, value)),
        1 => Just(Op::Leave),
        8 => (nth, how()).prop_map(|(nth, how)| Op::Await(nth, how)),
        4 => any::<bool>().prop_map(|marked| Op::Yield { marked }),
        3 => end.prop_map(Op::Finish),
    ]
}

/// What a body does that is run again and again.
#[derive(Clone, Debug)]
enum Part {
    Advance(u16),
    Stay(u8),
    Await(How, Usual),
}

/// A call that is made again and again: its proc and its body.
#[derive(Clone, Debug)]
struct Usual(usize, Vec<Part>);

/// The only call that is there is polled.
const FIRST: Op = Op::Poll {
    nth: 0,
    catch: true,
};

impl Usual {
    /// The ops of one call.
    fn ops(&self, into: &mut Vec<Op>) {
        for part in &self.1 {
            match part {
                Part::Advance(by) => into.push(Op::Advance(*by)),
                Part::Stay(times) => {
                    into.push(Op::Stay(*times));
                    for _ in 0..*times {
                        into.extend([Op::Advance(1), FIRST]);
                    }
                }
                Part::Await(how, called) => {
                    into.extend([Op::Create(called.0), Op::Await(0, how.clone())]);
                    called.ops(into);
                }
            }
        }
        into.push(Op::Finish(End::Ready));
    }

    /// The ops of a root.
    fn root(&self) -> Vec<Op> {
        let mut ops = vec![Op::Create(self.0), FIRST];
        self.ops(&mut ops);
        ops
    }
}

/// Times are short, so that polls are like the ones before them.
fn usual() -> impl Strategy<Value = Usual> {
    let part = || {
        prop_oneof![
            2 => (0..3u16).prop_map(Part::Advance),
            2 => (1..4u8).prop_map(Part::Stay),
        ]
    };
    let leaf = (0..PROCS, vec(part(), 0..4)).prop_map(|(proc, parts)| Usual(proc, parts));
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let how = prop_oneof![
            6 => Just(How::Straight),
            1 => Just(How::Boxed),
            1 => (0..2u16, 0..2u16).prop_map(|(before, after)| How::Spun(before, after)),
            1 => Just(How::Both(0)),
        ];
        let awaits = (how, inner).prop_map(|(how, called)| Part::Await(how, called));
        let parts = vec(prop_oneof![1 => part(), 1 => awaits], 1..4);
        (0..PROCS, parts).prop_map(|(proc, parts)| Usual(proc, parts))
    })
}

type Body = Pin<Box<dyn Future<Output = Result<(), ()>> + Send>>;
type Scripted = Call<Shadowed, Fallible, StaticProc>;

/// A panic that the script asks for.
struct Scheduled;

thread_local! {
    static THREAD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    static KEPT: std::cell::RefCell<Vec<Scripted>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Tells the oracle what becomes of a call; goes straight to the body.
struct Shadowed {
    play: Arc<Play>,
    id: usize,
    body: Body,
}

impl Future for Shadowed {
    type Output = Result<(), ()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let thread = THREAD.get();
        let token = self.play.oracle().start(thread, self.id);
        let polled = catch_unwind(AssertUnwindSafe(|| self.body.as_mut().poll(cx)));
        let end = match &polled {
            Ok(Poll::Pending) => End::Pending,
            Ok(Poll::Ready(Ok(()))) => End::Ready,
            Ok(Poll::Ready(Err(()))) => End::Err,
            Err(_) => End::Panicked,
        };
        self.play.oracle().end(thread, self.id, &token, end);
        polled.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Shadowed {
    fn drop(&mut self) {
        self.play.oracle().dropped(THREAD.get(), self.id);
    }
}

/// A program on its way.
struct Play {
    script: Vec<(usize, Op)>,
    at: Mutex<usize>,
    /// By thread: it may be its turn.
    moved: Vec<Condvar>,
    /// By thread: it is at the present op.
    at_it: Vec<AtomicBool>,
    calls: Mutex<Vec<Scripted>>,
    /// Calls that are over and not dropped yet.
    over: Mutex<Vec<Scripted>>,
    oracle: Mutex<Oracle>,
    monitor: Monitor,
    /// What the numbers were at the ends of ticks, by time.
    past: Mutex<BTreeMap<u64, Sums>>,
    procs: Vec<&'static Proc>,
    ids: Vec<u32>,
    /// What the program has said of itself while that was taken.
    said: AtomicU64,
    manner: Manner,
}

/// How a program is accounted.
#[derive(Clone, Copy, Debug, Default)]
struct Manner {
    /// Creations of calls are recorded at once.
    is_early: bool,
    /// All calls are followed as slow ones.
    follows: bool,
    /// Events of calls are recorded. Each op has a time of its own.
    records: bool,
}

impl Play {
    fn oracle(&self) -> MutexGuard<'_, Oracle> {
        lock(&self.oracle)
    }

    /// The thread's next op, when it is its turn; `None` at the end.
    fn next(&self, thread: usize) -> Option<Op> {
        let op = self.turn(thread)?;
        if self.manner.records {
            self.advance(1);
        }
        Some(op)
    }

    fn turn(&self, thread: usize) -> Option<Op> {
        self.done(thread);
        let mut at = self.at.lock().expect("at");
        while let Some((turn, op)) = self.script.get(*at) {
            if *turn == thread {
                self.at_it[thread].store(true, Ordering::Relaxed);
                return Some(op.clone());
            }
            at = self.moved[thread].wait(at).expect("at");
        }
        None
    }

    fn done(&self, thread: usize) {
        if self.at_it[thread].swap(false, Ordering::Relaxed) {
            let mut at = self.at.lock().expect("at");
            *at += 1;
            match self.script.get(*at) {
                Some((next, _)) if *next == thread => {}
                Some((next, _)) => self.moved[*next].notify_one(),
                None => self.moved.iter().for_each(Condvar::notify_one),
            }
        }
    }

    /// Time stands still after the script: threads do not take turns any more.
    fn advance(&self, by: u16) {
        if *self.at.lock().expect("at") >= self.script.len() {
            return;
        }
        self.oracle().advance(u64::from(by));
        advance(u64::from(by));
    }

    fn create(self: &Arc<Self>, proc: usize) -> Scripted {
        let id = self.oracle().create(THREAD.get(), proc);
        let body = Box::pin(body(self.clone(), self.procs[proc]));
        let play = self.clone();
        call(
            self.procs[proc].as_static(),
            Fallible,
            Shadowed { play, id, body },
        )
    }

    fn take(&self, nth: usize) -> Option<Scripted> {
        let mut calls = self.calls.lock().expect("calls");
        let len = calls.len();
        (len > 0).then(|| calls.remove(nth % len))
    }

    fn put(&self, call: Scripted) {
        self.calls.lock().expect("calls").push(call);
    }

    /// Polls a call by hand; `false` if it is over.
    fn poll(&self, mut call: Scripted, catch: bool) -> Option<Scripted> {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            Pin::new(&mut call).poll(&mut Context::from_waker(Waker::noop()))
        }));
        match polled {
            Ok(Poll::Pending) => return Some(call),
            Ok(Poll::Ready(_)) => {}
            Err(panic) if catch => assert!(panic.is::<Scheduled>(), "only panics of the script"),
            Err(panic) => {
                self.over.lock().expect("over").push(call);
                resume_unwind(panic);
            }
        }
        self.over.lock().expect("over").push(call);
        None
    }

    /// Whatever can be done at the bottom of a thread as well as in a body.
    fn act(self: &Arc<Self>, op: Op) {
        match op {
            Op::Advance(by) => self.advance(by),
            Op::Create(proc) => {
                let call = self.create(proc);
                self.put(call);
            }
            Op::Poll { nth, catch } => {
                let polled = self.take(nth).and_then(|call| self.poll(call, catch));
                polled.into_iter().for_each(|call| self.put(call));
            }
            Op::Drop(nth) => drop(self.take(nth)),
            Op::Forget(nth) => std::mem::forget(self.take(nth)),
            Op::Keep(nth) => KEPT.with_borrow_mut(|kept| kept.extend(self.take(nth))),
            Op::BlockOn(proc) => {
                let mut call = Some(self.create(proc));
                while let Some(polled) = call.take() {
                    call = self.poll(polled, true);
                }
            }
            Op::Plain(proc, by) => self.plain(proc, by),
            // Two moments at one time could not be told apart.
            Op::Switch => {
                self.advance(1);
                self.switch();
                self.advance(1);
            }
            Op::Look => self.look(),
            Op::Ticks(ticks) => {
                for _ in 0..ticks {
                    self.advance(25);
                    self.monitor.tick();
                    self.follow();
                    self.note();
                }
            }
            Op::Say(what, value) => self.say(what, value),
            Op::Leave | Op::Await(..) | Op::Yield { .. } | Op::Stay(_) | Op::Finish(_) => {}
        }
        let thread = THREAD.get();
        let depth = switch::epoch()
            .and_then(|epoch| thread::with(epoch, |thread| thread.ledger.open_polls().len()))
            .unwrap_or(0);
        assert_eq!(depth, self.oracle().depth(thread), "open polls");
    }

    fn follow(&self) {
        let age = if self.manner.follows { 0 } else { u64::MAX };
        follow_from(age, &self.ids);
    }

    fn say(&self, what: u8, value: i64) {
        match what % 5 {
            0 => crate::counter!("random", value),
            1 => crate::gauge!("random", value),
            2 => crate::counter!("\u{1b}[2J\n", u64::MAX),
            3 => crate::gauge!("", u128::MAX),
            _ => crate::counter!("random"),
        }
        let is_number = match what % 5 {
            0 => value >= 0,
            3 => false,
            _ => true,
        };
        let taken = self.oracle().is_armed() && is_number;
        self.said.fetch_add(u64::from(taken), Ordering::Relaxed);
    }

    fn plain(&self, proc: usize, by: u16) {
        let thread = THREAD.get();
        let id = self.oracle().create(thread, proc);
        let token = self.oracle().start(thread, id);
        let entered = enter(self.procs[proc]);
        self.advance(by);
        drop(entered);
        self.oracle().end(thread, id, &token, End::Ready);
        self.oracle().dropped(thread, id);
    }

    fn switch(&self) {
        let mut oracle = self.oracle();
        oracle.switch();
        match oracle.is_armed() {
            true => {
                self.monitor.arm();
                // Windows do not reach behind a pause.
                self.past.lock().expect("past").clear();
            }
            false => self.monitor.disarm(),
        }
        drop(oracle);
        self.note();
    }

    fn note(&self) {
        let at = crate::hot::clock::ticks();
        let sums = self.oracle().sums();
        self.past.lock().expect("past").insert(at, sums);
    }

    fn look(&self) {
        let oracle = self.oracle();
        let expected = oracle.sums();
        let (totals, threads) = self.monitor.totals();
        same(
            "since the start",
            &read(&totals.aggregate, &self.ids, false),
            &expected,
        );
        if self.manner.follows {
            check_slow(&totals.aggregate, &self.ids);
        }
        let said = totals
            .aggregate
            .metrics
            .values()
            .map(|metric| metric.updates);
        assert_eq!(said.sum::<u64>(), self.said.load(Ordering::Relaxed), "said");
        let busy: u64 = totals.busy.values().sum();
        assert_eq!(busy, oracle.busy(), "busy");
        let running = expected
            .iter()
            .filter(|((_, word, _), _)| *word == "running");
        assert_eq!(running.map(|(_, sum)| sum).sum::<u64>(), busy);
        let state = |thread: &ThreadNow| {
            let open = thread.open.clone();
            (thread.index, thread.epoch, thread.latest, open)
        };
        let glanced: Vec<_> = self.monitor.threads().iter().map(state).collect();
        assert_eq!(glanced, threads.iter().map(state).collect::<Vec<_>>());
        // Polls of an epoch that is over are open as long as their threads have not come by.
        let present = threads
            .iter()
            .filter(|now| switch::epoch() == Some(now.epoch));
        let open: usize = present.map(|thread| thread.open.len()).sum();
        if oracle.is_armed() {
            let depths = 0..self.at_it.len();
            assert_eq!(open, depths.map(|each| oracle.depth(each)).sum::<usize>());
        }
        for length in [100, 1000, 6000, 100_000] {
            let window = self.monitor.window(&totals, Some(length));
            let sums = read(&window.aggregate, &self.ids, true);
            let before = match window.since_start {
                true => Sums::new(),
                false => self.past.lock().expect("past")[&(totals.at - window.length)].clone(),
            };
            same(
                &format!("window of {length}"),
                &sums,
                &between(&before, &expected),
            );
        }
    }

    /// One thread's life: until it leaves (`true`) or the script ends.
    fn live(self: &Arc<Self>, thread: usize) -> bool {
        THREAD.set(thread);
        while let Some(op) = self.next(thread) {
            if matches!(op, Op::Leave) {
                return true;
            }
            let catching = catch_unwind(AssertUnwindSafe(|| self.act(op)));
            if let Err(panic) = catching
                && !panic.is::<Scheduled>()
            {
                resume_unwind(panic);
            }
        }
        false
    }
}

async fn body(play: Arc<Play>, proc: &'static Proc) -> Result<(), ()> {
    while let Some(op) = play.next(THREAD.get()) {
        match op {
            Op::Await(nth, how) => {
                if let Some(child) = play.take(nth) {
                    await_as(&play, proc, child, how).await;
                }
            }
            Op::Yield { marked: true } => at(proc, 1, Yield(1)).await,
            Op::Yield { marked: false } => Yield(1).await,
            Op::Stay(times) => at(proc, 2, Yield(times)).await,
            Op::Finish(End::Panicked) => resume_unwind(Box::new(Scheduled)),
            Op::Finish(end) => return if end == End::Err { Err(()) } else { Ok(()) },
            op => play.act(op),
        }
    }
    Ok(())
}

async fn await_as(play: &Arc<Play>, proc: &'static Proc, child: Scripted, how: How) {
    let other = match how {
        How::Both(nth) | How::First(nth) => play.take(nth),
        _ => None,
    };
    match (how, other) {
        (How::Straight, _) => {
            let _ = at(proc, 2, child).await;
        }
        (How::Boxed, _) => {
            let _ = at(proc, 3, Box::pin(child) as Body).await;
        }
        (How::Spun(before, after), _) => {
            let play = play.clone();
            let spun = Spun {
                play,
                child,
                before,
                after,
            };
            at(proc, 4, spun).await;
        }
        (How::Both(_), Some(other)) => {
            let _ = at(proc, 5, futures::future::join(child, other)).await;
        }
        (How::First(_), Some(other)) => {
            drop(at(proc, 6, futures::future::select(child, other)).await);
        }
        (How::Both(_) | How::First(_), None) => {
            let _ = child.await;
        }
        (How::Limited(polls), _) => at(proc, 7, Limited { child, polls }).await,
        (How::SlowlyDropped(by), _) => {
            let play = play.clone();
            at(proc, 8, SlowlyDropped { play, child, by }).await;
        }
    }
}

/// Pending once.
struct Yield(u8);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(left) = self.0.checked_sub(1) else {
            return Poll::Ready(());
        };
        self.0 = left;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

struct Spun {
    play: Arc<Play>,
    child: Scripted,
    before: u16,
    after: u16,
}

impl Future for Spun {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.play.advance(self.before);
        let polled = Pin::new(&mut self.child).poll(cx);
        self.play.advance(self.after);
        polled.map(|_| ())
    }
}

struct Limited {
    child: Scripted,
    polls: u8,
}

impl Future for Limited {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = Pin::new(&mut self.child).poll(cx);
        self.polls -= 1;
        match self.polls {
            0 => Poll::Ready(()),
            _ => polled.map(|_| ()),
        }
    }
}

struct SlowlyDropped {
    play: Arc<Play>,
    child: Scripted,
    by: u16,
}

impl Future for SlowlyDropped {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.child).poll(cx).map(|_| ())
    }
}

impl Drop for SlowlyDropped {
    fn drop(&mut self) {
        self.play.advance(self.by);
    }
}

/// The procs of all programs.
static ALL: [Proc; PROCS] = [
    Proc::new::<Scheduled>("::a", "1 random.rs"),
    Proc::new::<Scheduled>("::b", "2 random.rs"),
    Proc::new::<Scheduled>("::c", "3 random.rs"),
    Proc::new::<Scheduled>("::d", "4 random.rs"),
];

fn check(threads: usize, script: Vec<(usize, Op)>, is_early: bool) {
    let manner = Manner {
        is_early,
        follows: true,
        records: false,
    };
    check_with(threads, script, manner);
}

/// Ops of a program of [`Usual`] calls whose events a thread can keep: 32,768, and the programs
/// that have most have 16 an op.
const RECORDED_OPS: usize = 1_500;

/// The same while events of calls are recorded. If accounting is never switched off, ledgers that
/// are driven with these come to the same sums.
fn check_recorded(threads: usize, script: Vec<(usize, Op)>) {
    let manner = Manner {
        is_early: true,
        follows: false,
        records: true,
    };
    check_with(threads, script, manner);
}

/// Says how to run the programs again in which one fails first. Those after it, which are made
/// smaller, are not the ones that the seed gives.
struct FirstFailure;

static HAS_FAILED: AtomicBool = AtomicBool::new(false);

impl Drop for FirstFailure {
    fn drop(&mut self) {
        if std::thread::panicking() && !HAS_FAILED.swap(true, Ordering::Relaxed) {
            eprintln!("to run this again: PROPTEST_RNG_SEED={}", *SEED);
        }
    }
}

/// Entries of the table of paths that a program may need, and many more.
const ROOM: u32 = 2_000;

fn check_with(threads: usize, script: Vec<(usize, Op)>, manner: Manner) {
    let alone = alone();
    let _failure = FirstFailure;
    if thread::paths().room() < ROOM {
        // What is made smaller would fail for want of paths.
        let has_failed = HAS_FAILED.load(Ordering::Relaxed);
        assert!(has_failed, "the table of paths is full: fewer programs");
        return;
    }
    let is_early = manner.is_early;
    let _early = is_early.then(|| EarlyBirths::of(&alone));
    ALL.iter().for_each(Proc::forget_early);
    // What tests before this one left, if they failed.
    switch::disarm();
    thread::take_enrolled();
    advance(1);
    let tasks = task::all().len();
    let play = Arc::new(Play {
        script,
        at: Mutex::new(0),
        moved: (0..threads).map(|_| Condvar::new()).collect(),
        at_it: (0..=threads).map(|_| AtomicBool::new(false)).collect(),
        calls: Mutex::default(),
        over: Mutex::default(),
        oracle: Mutex::new(Oracle::new(threads + 1, is_early)),
        monitor: Monitor::new("random".to_owned()),
        past: Mutex::default(),
        procs: ALL.iter().collect(),
        ids: ALL.iter().filter_map(|proc| proc.id()).collect(),
        said: AtomicU64::new(0),
        manner,
    });
    play.monitor.record_calls(manner.records);
    drop((thread::take_call_ends(), thread::take_call_logs()));
    play.follow();
    play.switch();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let play = play.clone();
            let lives = move || play.lives(thread);
            ours().spawn_scoped(scope, lives).expect("a thread");
        }
    });
    assert_eq!(
        *play.at.lock().expect("at"),
        play.script.len(),
        "a thread failed"
    );
    THREAD.set(threads);
    play.look();
    drop(std::mem::take(&mut *play.calls.lock().expect("calls")));
    drop(std::mem::take(&mut *play.over.lock().expect("over")));
    play.look();
    if manner.records {
        super::replayed::compare(&play.monitor);
    }
    if play.oracle().is_armed() {
        // Two ends of ticks at one time could not be told apart.
        play.oracle().advance(1);
        advance(1);
        play.switch();
    }
    play.look();
    let leaked = play.oracle().leaked();
    assert!(
        task::all().len() <= tasks + leaked,
        "rows of tasks that are gone"
    );
    // This thread's and the one that stands in for ended threads: each keeps those of its epoch
    // that had open polls.
    let left = play.script.iter().filter(|(_, op)| matches!(op, Op::Leave));
    let lives = threads + left.count();
    assert!(
        play.monitor.kept()[0] <= 2 * (1 + lives),
        "ledgers of threads that are gone"
    );
}

impl Play {
    /// A thread, and those that take its place.
    fn lives(self: &Arc<Self>, thread: usize) {
        let mut goes_on = true;
        while goes_on {
            let life = || {
                std::thread::scope(|scope| {
                    let lives = ours().spawn_scoped(scope, || self.live(thread));
                    lives.expect("a thread").join()
                })
            };
            match life() {
                Ok(left) => {
                    goes_on = left;
                    self.oracle().left(thread);
                }
                Err(panic) => {
                    // Nobody waits for a turn that does not come.
                    *self.at.lock().expect("at") = usize::MAX;
                    self.moved.iter().for_each(Condvar::notify_one);
                    resume_unwind(panic);
                }
            }
            self.done(thread);
        }
    }
}

#[test]
fn a_program_may_end_with_a_tick() {
    let ops = [
        Op::Switch,
        Op::Switch,
        Op::Advance(175),
        Op::Ticks(1),
        Op::Create(0),
    ];
    check(1, ops.map(|op| (0, op)).to_vec(), true);
}

/// A call that was a branch is awaited, in another epoch of the same task: it has a slot no more,
/// and so a poll of its caller that has nothing to do is not its own.
#[test]
fn a_branch_of_an_earlier_epoch_may_be_awaited() {
    let poll = || Op::Poll {
        nth: 0,
        catch: true,
    };
    let wait = || Op::Yield { marked: false };
    let ops = [
        Op::Create(0),
        Op::Create(1),
        Op::BlockOn(2),
        // One after the other, until the first one is a branch.
        poll(),
        wait(),
        poll(),
        wait(),
        poll(),
        wait(),
        wait(),
        Op::Switch,
        Op::Switch,
        wait(),
        Op::Await(1, How::Straight),
        wait(),
        Op::Advance(5),
        Op::Look,
        wait(),
        Op::Finish(End::Ready),
        Op::Finish(End::Ready),
    ];
    for is_early in [true, false] {
        check(1, ops.clone().map(|op| (0, op)).to_vec(), is_early);
    }
}

/// Number of random programs: 48, or as many as `PROPTEST_CASES` asks for.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(48)
}

/// Another one in each process, unless it is asked for.
static SEED: LazyLock<u64> = LazyLock::new(|| match ProptestConfig::default().rng_seed {
    RngSeed::Fixed(seed) => seed,
    RngSeed::Random => SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::from(since.subsec_nanos())),
});

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        max_shrink_iters: 2000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(*SEED),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(cases()))]

    #[test]
    fn any_program_is_accounted_to_the_tick(
        (threads, script) in (1..4usize)
            .prop_flat_map(|threads| (Just(threads), vec((0..threads, op()), 1..300)))
    ) {
        check(threads, script, true);
    }

    #[test]
    fn it_is_so_if_births_are_known_by_events_alone(
        (threads, script) in (1..4usize)
            .prop_flat_map(|threads| (Just(threads), vec((0..threads, op()), 1..300)))
    ) {
        check(threads, script, false);
    }

    #[test]
    fn it_is_so_while_events_of_calls_are_recorded(
        (threads, script) in (1..4usize)
            .prop_flat_map(|threads| (Just(threads), vec((0..threads, op()), 1..300)))
    ) {
        check_recorded(threads, script);
    }

    #[test]
    fn what_was_recorded_is_replayed_to_the_same_sums(
        (threads, script) in (1..4usize)
            .prop_flat_map(|threads| (Just(threads), vec((0..threads, op()), 1..300)))
    ) {
        check_recorded(threads, script);
    }
}

proptest! {
    // Each has paths of its own, and after thousands of programs there are no more.
    #![proptest_config(config(cases().min(1000)))]

    /// Most of its polls are like many before them: nearly all code of a poll is for these.
    #[test]
    fn a_program_that_repeats_itself_is_accounted_to_the_tick(
        usual in usual(),
        times in 30..60usize,
        others in vec((any::<usize>(), op()), 0..4),
        is_early in any::<bool>(),
    ) {
        let ops = std::iter::repeat_n(usual.root(), times).flatten();
        let mut script: Vec<_> = ops.map(|op| (0, op)).collect();
        for (at, op) in others {
            script.insert(at % script.len(), (0, op));
        }
        let manner = Manner { is_early, ..Manner::default() };
        check_with(1, script.clone(), manner);
        script.retain(|(_, op)| !matches!(op, Op::Switch));
        script.truncate(RECORDED_OPS);
        check_recorded(1, script);
    }
}
