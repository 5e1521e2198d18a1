//! What is lost with a call that is dropped half-way, and which locks are taken under others: small
//! programs, and what is reported of each.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::MutexGuard;
use std::task::{Context, Poll, Waker};

use turbowish_model::account::resource::Role;

use super::stage::{advance, alone};
use crate::hot::{never_polled, proc, switch};
use crate::resource;
use crate::resource::cancel_safety;
use crate::sync::mpsc::{self, Receiver, Sender};
use crate::sync::{Mutex, MutexGuard as Guard, RwLock, Semaphore, named, oneshot};

/// Accounting is on, until this is dropped; nothing is reported that was counted before.
struct Scene {
    cuts: Vec<(cancel_safety::Cut, u64, u64)>,
    races: Vec<(never_polled::NeverPolled, u64)>,
    _alone: MutexGuard<'static, ()>,
}

impl Scene {
    fn new() -> Self {
        let alone = alone();
        advance(1);
        switch::arm().expect("accounting was off");
        resource::orders();
        Self {
            cuts: cuts(),
            races: never_polled::all(),
            _alone: alone,
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        switch::disarm();
        cancel_safety::clear();
    }
}

fn cuts() -> Vec<(cancel_safety::Cut, u64, u64)> {
    let cuts = cancel_safety::cuts().into_iter();
    cuts.map(|(cut, count)| (cut, count.times, count.repeated))
        .collect()
}

fn name(proc: u32) -> String {
    let path = proc::all()[proc as usize].path.to_string();
    path.rsplit("::").next().unwrap_or_default().to_owned()
}

/// Polls a future so many times at most, once in each of its own polls, and is over then.
struct Within<F>(u32, F);

impl<F: Future + Unpin> Future for Within<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0 -= 1;
        match Pin::new(&mut self.1).poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if self.0 == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// It owns what it polls, as a `select!` or a timeout does.
async fn within<F: Future>(polls: u32, future: F) -> Option<F::Output> {
    Within(polls, Box::pin(future)).await
}

/// Both, in turns.
async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (false, false);
    poll_fn(|cx| {
        first = first || one.as_mut().poll(cx).is_ready();
        advance(1);
        second = second || other.as_mut().poll(cx).is_ready();
        match first && second {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await
}

async fn pause() {
    let mut paused = false;
    poll_fn(|_| match std::mem::replace(&mut paused, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await
}

/// Polls a task, so many times at most; drops it.
fn drive(polls: u32, future: impl Future) {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        advance(10);
        if future.as_mut().poll(&mut cx).is_ready() {
            return;
        }
    }
}

type Items = (Sender<u8>, Receiver<u8>);

/// What comes in while accounting is off is not counted when it goes out.
fn items() -> Items {
    let _scene = Scene::new();
    let (tx, rx) = mpsc::channel(16);
    for item in 0..8 {
        tx.try_send(item).expect("there is room");
    }
    (tx, rx)
}

#[turbowish::instrument]
async fn take(rx: &mut Receiver<u8>) {
    rx.recv().await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn take_late(rx: &mut Receiver<u8>) {
    rx.recv().await;
    pause().await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn take_all(rx: &mut Receiver<u8>) {
    loop {
        rx.recv().await;
    }
}

#[turbowish::instrument]
async fn one(rx: &mut Receiver<u8>) -> Option<u8> {
    rx.recv().await
}

#[turbowish::instrument]
async fn fail(rx: &mut Receiver<u8>) -> Result<(), u8> {
    rx.recv().await;
    Err(1)
}

#[turbowish::instrument]
async fn through_another(rx: &mut Receiver<u8>) {
    one(rx).await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn after_failure(rx: &mut Receiver<u8>) {
    let _ = fail(rx).await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn outer(rx: &mut Receiver<u8>) {
    take(rx).await;
}

#[turbowish::instrument]
async fn send(tx: &Sender<u8>) {
    let _ = tx.send(1).await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn answered() {
    let (tx, rx) = oneshot::channel();
    let _ = tx.send(1);
    let _ = rx.await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn locked(lock: &Mutex<u8>) {
    let _guard = lock.lock().await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn written(lock: &RwLock<u8>) {
    let _guard = lock.write().await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn read(lock: &RwLock<u8>) {
    let _guard = lock.read().await;
    pending::<()>().await;
}

#[turbowish::instrument]
async fn done_writing(lock: &RwLock<u8>) {
    let _guard = lock.write().await.downgrade();
    pending::<()>().await;
}

#[turbowish::instrument]
async fn given_back(lock: &Mutex<u8>) {
    drop(lock.lock().await);
    pending::<()>().await;
}

#[turbowish::instrument]
async fn drops<F: Future>(polls: u32, future: F) -> Option<F::Output> {
    within(polls, future).await
}

#[turbowish::instrument]
async fn awaits<F: Future>(future: F) -> F::Output {
    future.await
}

/// What is reported of a task that is polled so many times: where, what, whether it was in hand,
/// how often, and how often again.
#[track_caller]
fn check(polls: u32, task: impl Future, expected: &[(&str, &str, bool, u64, u64)]) {
    let scene = Scene::new();
    drive(polls, task);
    let before = |cut: &cancel_safety::Cut| {
        let known = scene.cuts.iter().find(|(known, ..)| known == cut);
        known.map_or((0, 0), |known| (known.1, known.2))
    };
    let told = cuts().into_iter().filter_map(|(cut, times, repeated)| {
        let (times_before, repeated_before) = before(&cut);
        let (times, repeated) = (times - times_before, repeated - repeated_before);
        let at = name(cut.at.0);
        (times > 0).then(|| (at, cut.role.word(), cut.in_hand, times, repeated))
    });
    let told: Vec<_> = told.collect();
    let told: Vec<_> = told
        .iter()
        .map(|(at, role, in_hand, times, again)| (at.as_str(), *role, *in_hand, *times, *again))
        .collect();
    assert_eq!(told, expected);
    assert_eq!(cancel_safety::kept(), 0, "all calls are gone");
}

#[test]
fn an_item_in_hand_is_lost() {
    let (_tx, mut rx) = items();
    let once = [("take", "recv", true, 1, 0)];
    check(1, drops(1, take(&mut rx)), &once);
    check(3, drops(2, take(&mut rx)), &once);
    check(
        3,
        drops(2, take_late(&mut rx)),
        &[("take_late", "recv", true, 1, 0)],
    );
    check(1, drops(1, outer(&mut rx)), &once);
    let through = [("through_another", "recv", true, 1, 0)];
    check(1, drops(1, through_another(&mut rx)), &through);
    check(
        1,
        drops(1, Box::pin(awaits(Box::pin(take(&mut rx))))),
        &once,
    );
}

#[test]
fn what_was_done_may_be_lost() {
    let (tx, mut rx) = items();
    let all = [("take_all", "recv", false, 1, 0)];
    check(1, drops(1, take_all(&mut rx)), &all);
    check(1, drops(1, send(&tx)), &[("send", "send", false, 1, 0)]);
    let lock = Mutex::new(0);
    let held = [("locked", "lock", false, 1, 0)];
    check(1, drops(1, locked(&lock)), &held);
    let table = RwLock::new(0);
    let held = [("written", "write", false, 1, 0)];
    check(1, drops(1, written(&table)), &held);
    let three_times = async {
        for _ in 0..3 {
            drops(1, send(&tx)).await;
        }
    };
    check(1, awaits(three_times), &[("send", "send", false, 3, 2)]);
}

#[test]
fn what_is_whole_is_not_lost() {
    let (_tx, mut rx) = items();
    check(1, drops(1, one(&mut rx)), &[]);
    check(1, drops(1, async { pending::<()>().await }), &[]);
    check(1, drops(1, after_failure(&mut rx)), &[]);
    check(1, drops(1, answered()), &[]);
    let (lock, table) = (Mutex::new(0), RwLock::new(0));
    check(1, drops(1, given_back(&lock)), &[]);
    check(1, drops(1, read(&table)), &[]);
    check(1, drops(1, done_writing(&table)), &[]);
    // Its task is dropped, by nobody that waits for it.
    check(1, awaits(take(&mut rx)), &[]);
    check(1, drops(2, take(&mut rx)), &[]);
    check(1, take(&mut rx), &[]);
}

#[test]
fn what_is_kept_is_not_lost() {
    let (_tx, mut rx) = items();
    let kept = async {
        let mut late = Box::pin(async {
            one(&mut rx).await;
            pause().await;
            one(&mut rx).await;
        });
        drops(1, &mut late).await;
        late.await;
    };
    check(3, awaits(kept), &[]);
}

#[turbowish::instrument]
async fn take_and_end(rx: &mut Receiver<u8>) {
    rx.recv().await;
    pause().await;
}

#[test]
fn what_becomes_a_task_of_its_own_is_kept_no_longer_than_that() {
    let (_tx, mut rx) = items();
    let _scene = Scene::new();
    let mut late = Box::pin(take_and_end(&mut rx));
    drive(1, drops(1, late.as_mut()));
    assert_eq!(cancel_safety::kept(), 1);
    drive(2, late.as_mut());
    assert_eq!(cancel_safety::kept(), 0);
}

#[turbowish::instrument]
async fn downgraded(first: &RwLock<u8>, second: &Mutex<u8>) {
    let writes = first.write().await;
    pause().await;
    let _reads = writes.downgrade();
    let _second = second.lock().await;
}

#[test]
fn who_reads_now_what_it_wrote_in_an_earlier_poll_is_a_reader() {
    let (first, second) = (RwLock::new(0), Mutex::new(0));
    let _scene = Scene::new();
    drive(2, downgraded(&first, &second));
    let roles: Vec<Role> = resource::orders()
        .iter()
        .map(|order| order.first.role)
        .collect();
    assert_eq!(roles, [Role::Read]);
}

/// Polls a task to its end, each time on a thread of its own.
fn drive_on_threads(task: impl Future + Send) {
    let mut task = pin!(task);
    let mut poll = || {
        advance(10);
        let mut cx = Context::from_waker(Waker::noop());
        task.as_mut().poll(&mut cx).is_ready()
    };
    while !std::thread::scope(|scope| scope.spawn(&mut poll).join().expect("it does not panic")) {}
}

/// The pairs of locks that a task takes one under the other, as they are reported.
#[track_caller]
fn orders(polls: u32, task: impl Future, expected: &[(&str, &str, &[&str])]) {
    orders_of(|| drive(polls, task), expected);
}

#[track_caller]
fn orders_of(run: impl FnOnce(), expected: &[(&str, &str, &[&str])]) {
    let _scene = Scene::new();
    run();
    let label = |id: u64| {
        let source = resource::source(id).expect("it is there");
        source.name.expect("it has one").to_string()
    };
    let told = resource::orders().into_iter().map(|order| {
        let gates: Vec<String> = order.gates.iter().map(|&gate| label(gate)).collect();
        let pair = (label(order.first.resource), label(order.second.resource));
        (pair.0, pair.1, gates)
    });
    // In the order of the records, which intents may have made before any lock was taken.
    let mut told: Vec<_> = told.collect();
    told.sort();
    let expected = expected.iter().map(|(first, second, gates)| {
        let gates = gates.iter().map(|gate| (*gate).to_owned()).collect();
        ((*first).to_owned(), (*second).to_owned(), gates)
    });
    let mut expected: Vec<(String, String, Vec<String>)> = expected.collect();
    expected.sort();
    assert_eq!(told, expected);
}

#[turbowish::instrument]
async fn under(first: &Mutex<u8>, second: &Mutex<u8>) {
    let _first = first.lock().await;
    pause().await;
    let _second = second.lock().await;
}

#[turbowish::instrument]
async fn one_by_one(first: &Mutex<u8>, second: &Mutex<u8>) {
    drop(first.lock().await);
    drop(second.lock().await);
}

#[turbowish::instrument]
async fn returned(lock: &Mutex<u8>) -> Guard<'_, u8> {
    lock.lock().await
}

#[turbowish::instrument]
async fn through_calls(first: &Mutex<u8>, second: &Mutex<u8>) {
    let _first = returned(first).await;
    let _second = returned(second).await;
}

#[turbowish::instrument]
async fn waits(first: &Mutex<u8>, second: &Mutex<u8>) {
    let _first = first.lock().await;
    let _second = second.lock().await;
    unreachable!("somebody else has it");
}

#[turbowish::instrument]
async fn keeps(lock: &Mutex<u8>) {
    let _guard = lock.lock().await;
    pause().await;
}

#[turbowish::instrument]
async fn three(first: &Mutex<u8>, second: &RwLock<u8>, third: &Semaphore) {
    let _first = first.lock().await;
    let _second = second.read().await;
    let _third = third.acquire().await;
}

#[turbowish::instrument]
async fn owned(first: &Arc<Mutex<u8>>, second: &Mutex<u8>, hand_over: bool) {
    let guard = first.clone().lock_owned().await;
    drop(second.lock().await);
    if hand_over {
        let elsewhere = std::thread::spawn(move || drop(guard));
        elsewhere.join().expect("it does not panic");
    }
}

#[turbowish::instrument]
async fn gated(gate: &Mutex<u8>, first: &Mutex<u8>, second: &Mutex<u8>) {
    let _gate = gate.lock().await;
    pause().await;
    drop(first.lock().await);
    under(first, second).await;
}

/// Its calls are branches.
#[turbowish::instrument]
async fn branches<F: Future<Output = ()>>(one: F, other: F) {
    both(one, other).await;
}

#[test]
fn a_task_takes_what_it_holds_to_other_threads() {
    let (gate, a) = (named("gate", Mutex::new(0)), named("a", Mutex::new(0)));
    let (b, c) = (named("b", Mutex::new(0)), named("c", Mutex::new(0)));
    let ab: (&str, &str, &[&str]) = ("a", "b", &[]);
    orders_of(|| drive_on_threads(under(&a, &b)), &[ab]);
    let (gate_a, gate_b) = (("gate", "a", &[][..]), ("gate", "b", &[][..]));
    // At two places.
    let expected = [("a", "b", &["gate"][..]), gate_a, gate_a, gate_b];
    orders_of(|| drive_on_threads(gated(&gate, &a, &b)), &expected);
    // A branch may have gone on: what it held in an earlier poll guards, and is not reported.
    let in_branches = branches(under(&a, &b), under(&gate, &c));
    orders_of(|| drive_on_threads(in_branches), &[]);
}

#[test]
fn a_lock_that_is_taken_under_another_is_told() {
    let a = named("a", Arc::new(Mutex::new(0)));
    let b = named("b", Mutex::new(0));
    let (c, d) = (named("c", RwLock::new(0)), named("d", Semaphore::new(1)));
    let many = named("many", Semaphore::new(2));
    let ab: (&str, &str, &[&str]) = ("a", "b", &[]);
    orders(2, under(&a, &b), &[ab]);
    orders(1, through_calls(&a, &b), &[ab]);
    orders(1, owned(&a, &b, false), &[ab]);
    orders(
        1,
        three(&a, &c, &d),
        &[("a", "c", &[]), ("a", "d", &[]), ("c", "d", &["a"])],
    );
    orders(1, three(&a, &c, &many), &[("a", "c", &[])]);
    let held = b.try_lock().expect("it is free");
    orders(2, waits(&a, &b), &[ab]);
    drop(held);
}

#[test]
fn locks_that_are_not_held_together_are_not_told() {
    let a = named("a", Arc::new(Mutex::new(0)));
    let b = named("b", Mutex::new(0));
    orders(1, one_by_one(&a, &b), &[]);
    orders(1, owned(&a, &b, true), &[]);
    let beside = async { both(keeps(&a), keeps(&b)).await };
    orders(2, awaits(beside), &[]);
    // One task has one, another the other.
    let _scene = Scene::new();
    let mut cx = Context::from_waker(Waker::noop());
    let (mut one, mut other) = (pin!(keeps(&a)), pin!(keeps(&b)));
    assert!(one.as_mut().poll(&mut cx).is_pending());
    assert!(other.as_mut().poll(&mut cx).is_pending());
    assert_eq!(resource::orders(), []);
}

#[turbowish::instrument]
async fn forgets() {
    drop(idle());
    pause().await;
}

#[turbowish::instrument]
async fn idle() {
    pause().await;
}

#[turbowish::instrument]
async fn drops_unpolled<F>(future: F) {
    pause().await;
    drop(future);
}

#[test]
fn who_drops_what_was_not_polled_is_told() {
    let scene = Scene::new();
    drive(2, forgets());
    drive(2, drops_unpolled(idle()));
    let told = never_polled::all().into_iter().filter_map(|(drop, times)| {
        let before = scene.races.iter().find(|(known, _)| *known == drop);
        let grown = times - before.map_or(0, |known| known.1);
        (grown > 0).then(|| (name(drop.proc), name(drop.by.0), drop.by_maker, grown))
    });
    let mut told: Vec<(String, String, bool, u64)> = told.collect();
    told.sort();
    let of = |by: &str, by_maker| ("idle".to_owned(), by.to_owned(), by_maker, 1);
    assert_eq!(told, [of("drops_unpolled", false), of("forgets", true)]);
}
