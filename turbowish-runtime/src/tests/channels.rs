//! What channels tell of themselves: what is inside, who waits for what and in which order, who has
//! which end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::MutexGuard;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::FutureExt;
use turbowish_model::account::histogram::bucket_of;
use turbowish_model::account::resource::{Reading, Role, SHOWN, Times};

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::current::current_call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::switch;
use crate::sync::{broadcast, mpsc, named, oneshot, watch};
use crate::{resource, time};

#[path = "intents.rs"]
mod intents;
#[path = "locks.rs"]
mod locks;
#[path = "longest_use.rs"]
mod longest_use;

static TASK: Proc = Proc::new::<Scene>("::task", "1 channels.rs");
static BELOW: Proc = Proc::new::<u8>("::below", "2 channels.rs");

/// Accounting is on, and tasks are known by letters.
struct Scene {
    letters: RefCell<BTreeMap<u64, char>>,
    _alone: MutexGuard<'static, ()>,
}

impl Scene {
    fn new() -> Self {
        let alone = alone();
        // Time zero stands for no time.
        advance(1);
        switch::arm().expect("accounting was off");
        Self {
            letters: RefCell::default(),
            _alone: alone,
        }
    }

    /// A task, polled once.
    fn task<'a>(&'a self, letter: char, future: impl Future + 'a) -> Task<'a> {
        let future = self.call(letter, async { drop(future.await) });
        let mut task = Task(Box::pin(future));
        assert!(task.poll().is_pending(), "{letter} does not wait");
        task
    }

    /// A task that is over after one poll. Returns what came out.
    fn over<T>(&self, letter: char, future: impl Future<Output = T>) -> T {
        self.call(letter, future).now()
    }

    /// What happens while accounting is off; no other test's accounting is on meanwhile.
    fn unaccounted(&self, happens: impl FnOnce()) {
        switch::disarm();
        happens();
        switch::arm().expect("accounting was off");
    }

    fn call<F: Future>(&self, letter: char, future: F) -> impl Future<Output = F::Output> {
        call(TASK.as_static(), Other, async move {
            self.letters
                .borrow_mut()
                .insert(current_call().task, letter);
            future.await
        })
    }

    /// What the monitor would see of a channel.
    fn reading(name: &str) -> Option<Reading> {
        let all = resource::all();
        let mut readings = all.iter().map(|record| record.read());
        readings.find(|reading| reading.name.as_deref() == Some(name))
    }

    /// The same in a line.
    fn shown(&self, name: &str) -> String {
        let Some(reading) = Self::reading(name) else {
            return "no record".to_owned();
        };
        let letters = self.letters.borrow();
        let letter = |task: u64| letters.get(&task).copied().unwrap_or('?');
        let mut shown = format!("{}-{}", reading.flow.put, reading.flow.took);
        if let Some(capacity) = reading.capacity {
            shown += &format!("/{capacity}");
        }
        if reading.closed {
            shown += " closed";
        }
        for holder in &reading.holders {
            shown += &format!("; {} has {}", letter(holder.who.task), holder.amount);
        }
        for waiter in &reading.waiters {
            let woken = if waiter.woken.is_some() { " woken" } else { "" };
            let (who, role) = (letter(waiter.who.task), waiter.role.word());
            shown += &format!("; {who} waits to {role} {}{woken}", waiter.amount);
        }
        for (role, word) in [(Role::Send, "; from"), (Role::Receive, "; to")] {
            let ends = reading.ends.iter().filter(|end| end.role == role);
            let users: String = ends.map(|end| end.user.map_or('?', letter)).collect();
            if !users.is_empty() {
                shown += &format!("{word} {users}");
            }
        }
        shown
    }

    #[track_caller]
    fn check(&self, name: &str, expected: &str) {
        assert_eq!(self.shown(name), expected);
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        switch::disarm();
    }
}

/// A task that can be polled, and dropped.
struct Task<'a>(Pin<Box<dyn Future<Output = ()> + 'a>>);

impl Task<'_> {
    fn poll(&mut self) -> Poll<()> {
        self.0
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    }

    #[track_caller]
    fn ends(mut self) {
        assert!(self.poll().is_ready());
    }
}

#[test]
fn senders_wait_in_order_when_it_is_full() {
    let scene = Scene::new();
    let (tx, mut rx) = named("full", mpsc::channel::<u8>(1));
    scene.check("full", "no record");
    scene.over('a', tx.send(1)).expect("room");
    scene.check("full", "1-0/1; from a; to ?");
    let (b, c) = (tx.clone(), tx.clone());
    let d = tx.clone();
    let second = scene.task('b', b.send(2));
    let third = scene.task('c', c.send(3));
    let fourth = scene.task('d', async {
        d.reserve_owned().await.expect("open").send(4);
    });
    scene.check(
        "full",
        "1-0/1; b waits to send 1; c waits to send 1; d waits to send 1; from abcd; to ?",
    );
    drop(second);
    assert_eq!(scene.over('r', rx.recv()), Some(1));
    scene.check(
        "full",
        "1-1/1; c waits to send 1 woken; d waits to send 1; from abcd; to r",
    );
    third.ends();
    scene.check("full", "2-1/1; d waits to send 1; from abcd; to r");
    assert_eq!(scene.over('r', rx.recv()), Some(3));
    fourth.ends();
    scene.check("full", "3-2/1; from abc; to r");
}

#[test]
fn the_receiver_waits_when_it_is_empty() {
    let scene = Scene::new();
    let (tx, mut rx) = named("empty", mpsc::unbounded_channel::<u8>());
    let given_up = scene.task('r', rx.recv());
    scene.check("empty", "0-0; r waits to recv 1; from ?; to r");
    drop(given_up);
    scene.check("empty", "0-0; from ?; to r");
    let mut buffer = Vec::new();
    let received = scene.task('q', rx.recv_many(&mut buffer, 8));
    scene.check("empty", "0-0; q waits to recv 1; from ?; to q");
    tx.send(1).expect("open");
    tx.send(2).expect("open");
    scene.check("empty", "2-0; q waits to recv 1 woken; from ?; to q");
    received.ends();
    assert_eq!(buffer, [1, 2]);
    scene.check("empty", "2-2; from ?; to q");
}

#[test]
fn a_poll_that_is_pending_waits_until_the_next() {
    let scene = Scene::new();
    let (tx, mut rx) = named("polled", mpsc::channel::<u8>(2));
    let once = |rx: &mut mpsc::Receiver<u8>| {
        let polled = scene.over('r', poll_fn(|cx| Poll::Ready(rx.poll_recv(cx))));
        assert_eq!(polled, Poll::Pending);
    };
    once(&mut rx);
    once(&mut rx);
    scene.check("polled", "0-0/2; r waits to recv 1; from ?; to r");
    // Who asks with a future waits with that, and no longer with the poll.
    drop(scene.task('q', rx.recv()));
    scene.check("polled", "0-0/2; from ?; to q");
    once(&mut rx);
    tx.try_send(1).expect("room");
    let mut buffer = Vec::new();
    let received = poll_fn(|cx| rx.poll_recv_many(cx, &mut buffer, 8));
    assert_eq!(scene.over('q', received), 1);
    scene.check("polled", "1-1/2; from ?; to q");
    once(&mut rx);
    drop(rx);
    scene.check("polled", "1-1/2 closed; from ?");
}

#[test]
fn reserved_room_is_held() {
    let scene = Scene::new();
    let (tx, mut rx) = named("room", mpsc::channel::<u8>(4));
    let permit = scene.over('a', tx.reserve()).expect("room");
    let mut permits = scene.over('b', tx.reserve_many(2)).expect("room");
    scene.check("room", "0-0/4; a has 1; b has 2; from b; to ?");
    let first = permits.next().expect("a permit");
    scene.check("room", "0-0/4; a has 1; b has 1; b has 1; from b; to ?");
    let second = permits.next().expect("a permit");
    assert!(permits.next().is_none());
    scene.check("room", "0-0/4; a has 1; b has 1; b has 1; from b; to ?");
    let waiting = scene.task('c', tx.reserve_many(2));
    scene.check(
        "room",
        "0-0/4; a has 1; b has 1; b has 1; c waits to send 2; from c; to ?",
    );
    drop(waiting);
    first.send(1);
    drop((permit, second, permits));
    scene.check("room", "1-0/4; from ?; to ?");
    assert_eq!(rx.capacity(), 3);

    let other = tx.clone();
    let owned = scene.over('a', other.reserve_owned()).expect("room");
    scene.check("room", "1-0/4; a has 1; from a?; to ?");
    let other = owned.release();
    scene.check("room", "1-0/4; from a?; to ?");
    let owned = other.try_reserve_owned().expect("room");
    drop(owned.send(2));
    scene.check("room", "2-0/4; from ?; to ?");
    assert!(tx.reserve_many(0).now().is_ok());
    assert_eq!(rx.try_recv(), Ok(1));
    scene.check("room", "2-1/4; from ?; to ?");
}

/// For futures that do not wait.
trait Now: Future + Sized {
    fn now(self) -> Self::Output {
        let polled = pin!(self).poll(&mut Context::from_waker(Waker::noop()));
        match polled {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("it waits"),
        }
    }
}

impl<F: Future> Now for F {}

#[test]
fn items_know_how_long_they_were_inside() {
    let _scene = Scene::new();
    let (tx, mut rx) = named("inside", mpsc::channel::<u8>(4));
    let put = |ticks: u64| {
        tx.try_send(0).expect("room");
        advance(ticks);
    };
    put(1000);
    put(50);
    rx.try_recv().expect("an item");
    rx.recv().now().expect("an item");
    put(7);
    let mut buffer = Vec::new();
    assert_eq!(rx.recv_many(&mut buffer, 8).now(), 1);
    let kept = Scene::reading("inside").expect("a record").times.kept;
    let expected = [7, 50, 1050].map(|ticks| (bucket_of(ticks) as u16, 1));
    assert!(kept.iter().eq(expected), "{kept:?}");
}

/// The alert rules read all but the times that they do not judge.
#[test]
fn rules_read_how_long_items_were_inside_and_no_other_times() {
    let scene = Scene::new();
    let (tx, mut rx) = named("judged channel", mpsc::channel::<u8>(1));
    let lock = named("judged lock", crate::sync::Mutex::new(0));
    let held = scene.over('a', lock.lock());
    scene.over('a', tx.send(1)).unwrap();
    let mut waits = scene.task('b', tx.send(2));
    let mut locks = scene.task('c', lock.lock());
    advance(5);
    assert_eq!(scene.over('d', rx.recv()), Some(1));
    drop(held);
    assert!(waits.poll().is_ready() && locks.poll().is_ready());
    for (name, kept, judges) in [("judged channel", 1, 1), ("judged lock", 2, 0)] {
        let all = resource::all();
        let named = all
            .iter()
            .find(|record| record.read().name.as_deref() == Some(name));
        let (whole, mut judged) = named
            .map(|record| (record.read(), record.judged()))
            .unwrap();
        let totals = |times: &Times| [times.waited.total(), times.kept.total()];
        assert_eq!(totals(&whole.times), [1, kept], "{name}");
        assert_eq!(totals(&judged.times), [0, judges], "{name}");
        (judged.times.waited, judged.times.kept) =
            (whole.times.waited.clone(), whole.times.kept.clone());
        assert_eq!(judged, whole, "{name}");
    }
}

#[test]
fn what_came_in_uncounted_goes_out_uncounted() {
    let scene = Scene::new();
    let (tx, mut rx) = named("paused", mpsc::unbounded_channel::<u8>());
    for item in 0..4 {
        tx.send(item).expect("open");
    }
    rx.try_recv().expect("an item");
    scene.check("paused", "4-1; from ?; to ?");
    scene.unaccounted(|| {
        tx.send(4).expect("open");
        rx.try_recv().expect("an item");
    });
    scene.check("paused", "4-2; from ?; to ?");
    let mut buffer = Vec::new();
    assert_eq!(rx.recv_many(&mut buffer, 8).now(), 3);
    scene.check("paused", "4-4; from ?; to ?");
    let kept = Scene::reading("paused").expect("a record").times.kept;
    assert_eq!(
        kept.total(),
        3,
        "one was taken while nobody looked at the clock"
    );
    tx.send(5).expect("open");
    scene.check("paused", "5-4; from ?; to ?");
}

#[test]
fn what_is_closed_is_shown_as_closed() {
    let scene = Scene::new();
    let (tx, rx) = named("senders", mpsc::channel::<u8>(4));
    scene.over('a', tx.send(1)).expect("room");
    let weak = tx.downgrade();
    let other = weak.upgrade().expect("a sender");
    drop(tx);
    scene.check("senders", "1-0/4; from ?; to ?");
    drop(other);
    scene.check("senders", "1-0/4 closed; to ?");
    assert!(weak.upgrade().is_none());
    scene.check("senders", "1-0/4 closed; to ?");
    drop(rx);
    scene.check("senders", "1-1/4 closed");

    let (tx, mut rx) = named("receiver", mpsc::unbounded_channel::<u8>());
    tx.send(1).expect("open");
    let leaving = scene.task('a', tx.closed());
    scene.check("receiver", "1-0; a waits to wait 1; from ?; to ?");
    rx.close();
    scene.check(
        "receiver",
        "1-0 closed; a waits to wait 1 woken; from ?; to ?",
    );
    leaving.ends();
    drop(rx);
    scene.check("receiver", "1-1 closed; from ?");
    drop(tx);
    scene.check("receiver", "no record");
}

#[test]
fn a_send_that_runs_out_of_time_waits_no_longer() {
    let scene = Scene::new();
    let (tx, mut rx) = named("late", mpsc::channel::<u8>(1));
    tx.try_send(1).expect("room");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let sent = runtime.block_on(async {
        let mut sending = pin!(tx.send_timeout(2, Duration::from_secs(1)));
        let polled = poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx))).await;
        assert!(polled.is_pending());
        scene.check("late", "1-0/1; ? waits to send 1; from ?; to ?");
        sending.await
    });
    let late = mpsc::error::SendTimeoutError::Timeout(2);
    assert_eq!(sent, Err(late));
    scene.check("late", "1-0/1; from ?; to ?");
    rx.try_recv().expect("an item");
    let sent = runtime.block_on(tx.send_timeout(2, Duration::from_secs(1)));
    assert_eq!(sent, Ok(()));
    scene.check("late", "2-1/1; from ?; to ?");
}

#[test]
fn threads_wait_too() {
    let scene = Scene::new();
    let (tx, mut rx) = named("thread", mpsc::channel::<u8>(1));
    let until = |shown: &str| {
        while scene.shown("thread") != shown {
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        let received = scope.spawn(|| rx.blocking_recv());
        until("0-0/1; ? waits to recv 1; from ?; to ?");
        tx.try_send(1).expect("room");
        assert_eq!(received.join().expect("no panic"), Some(1));
    });
    tx.blocking_send(2).expect("room");
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| tx.blocking_send(3));
        until("2-1/1; ? waits to send 1; from ?; to ?");
        assert_eq!(rx.try_recv(), Ok(2));
        assert!(sent.join().expect("no panic").is_ok());
    });
    let mut buffer = Vec::new();
    assert_eq!(rx.blocking_recv_many(&mut buffer, 8), 1);
    scene.check("thread", "3-3/1; from ?; to ?");
}

#[test]
fn one_shot_makes_a_record_only_if_somebody_waits() {
    let scene = Scene::new();
    let (tx, rx) = named("quick", oneshot::channel::<u8>());
    tx.send(1).expect("open");
    assert_eq!(scene.over('r', rx), Ok(1));
    scene.check("quick", "no record");

    let (tx, mut rx) = named("slow", oneshot::channel::<u8>());
    {
        let mut waiting = scene.task('r', &mut rx);
        scene.check("slow", "0-0/1; r waits to recv 1; from ?; to r");
        tx.send(1).expect("open");
        scene.check(
            "slow",
            "1-0/1 closed; r waits to recv 1 woken; from ?; to r",
        );
        assert!(waiting.poll().is_ready());
    }
    scene.check("slow", "1-1/1 closed; from ?; to r");
    drop(rx);
    scene.check("slow", "no record");

    let (mut tx, mut rx) = named("unwanted", oneshot::channel::<u8>());
    let given_up = scene.task('a', tx.closed());
    scene.check("unwanted", "0-0/1; a waits to wait 1; from a; to ?");
    drop(given_up);
    scene.check("unwanted", "0-0/1; from a; to ?");
    let asked = poll_fn(|cx| Poll::Ready(tx.poll_closed(cx)));
    assert!(scene.over('b', asked).is_pending());
    scene.check("unwanted", "0-0/1; b waits to wait 1; from b; to ?");
    rx.close();
    scene.check(
        "unwanted",
        "0-0/1 closed; b waits to wait 1 woken; from b; to ?",
    );
    poll_fn(|cx| tx.poll_closed(cx)).now();
    scene.check("unwanted", "0-0/1 closed; from b; to ?");
    assert_eq!(tx.send(1), Err(1));
    scene.check("unwanted", "0-0/1 closed; from b; to ?");

    // What is taken out by hand is counted, too.
    let (tx, mut rx) = named("by hand", oneshot::channel::<u8>());
    drop(scene.task('r', &mut rx));
    tx.send(1).expect("open");
    scene.check(
        "by hand",
        "1-0/1 closed; r waits to recv 1 woken; from ?; to r",
    );
    assert_eq!(scene.over('r', async { rx.try_recv() }), Ok(1));
    scene.check("by hand", "1-1/1 closed; from ?; to r");
}

#[test]
fn broadcast_counts_what_comes_in() {
    let scene = Scene::new();
    let (tx, mut rx) = named("news", broadcast::channel::<u8>(3));
    let mut late = rx.resubscribe();
    let first = scene.task('r', rx.recv());
    let second = scene.task('s', late.recv());
    scene.check(
        "news",
        "0-0/4; r waits to recv 1; s waits to recv 1; from ?; to rs",
    );
    let sent = scene.over('a', async { tx.send(1) });
    assert_eq!(sent.expect("receivers"), 2);
    scene.check(
        "news",
        "1-0/4; r waits to recv 1 woken; s waits to recv 1 woken; from a; to rs",
    );
    first.ends();
    second.ends();
    drop(late);
    scene.check("news", "1-2/4; from a; to r");
    let leaving = scene.task('b', tx.closed());
    drop(rx);
    scene.check("news", "1-2/4; b waits to wait 1 woken; from a");
    leaving.ends();
    // A receiver may come again.
    let mut rx = tx.subscribe();
    let weak = tx.downgrade();
    drop(tx);
    scene.check("news", "1-2/4 closed; to ?");
    assert!(weak.upgrade().is_none());
    assert!(scene.over('r', rx.recv()).is_err());
    scene.check("news", "1-2/4 closed; to r");
}

#[test]
fn watch_counts_changes() {
    let scene = Scene::new();
    let (tx, mut rx) = named("latest", watch::channel(0_u8));
    let mut other = rx.clone();
    let first = scene.task('r', rx.changed());
    let second = scene.task('s', other.wait_for(|value| *value == 2));
    scene.check(
        "latest",
        "0-0; r waits to recv 1; s waits to recv 1; from ?; to rs",
    );
    assert!(!tx.send_if_modified(|_| false));
    tx.send(1).expect("a receiver");
    first.ends();
    scene.check("latest", "1-0; s waits to recv 1 woken; from ?; to rs");
    tx.send_modify(|value| *value = 2);
    second.ends();
    assert_eq!(tx.send_replace(3), 2);
    scene.check("latest", "3-0; from ?; to rs");
    let twin = tx.clone();
    drop(tx);
    scene.check("latest", "3-0; from ?; to rs");
    let leaving = scene.task('a', twin.closed());
    drop((rx, other));
    scene.check("latest", "3-0; a waits to wait 1 woken; from ?");
    leaving.ends();
    let rx = twin.subscribe();
    drop(twin);
    scene.check("latest", "3-0 closed; to ?");
    drop(rx);
    scene.check("latest", "no record");
}

#[test]
fn a_crowd_leaves_nothing_behind() {
    const SENDERS: u64 = 3;
    const ITEMS: u64 = 2000;
    let scene = Scene::new();
    let (tx, mut rx) = named("busy", mpsc::channel::<u64>(2));
    let send = |tx: mpsc::Sender<u64>| {
        futures::executor::block_on(async move {
            for item in 0..ITEMS {
                // Gives up once in a while, in the line or with room that was reserved.
                drop((item % 3 == 0).then(|| tx.reserve().now_or_never()));
                match item % 2 {
                    0 => tx.send(item).await.expect("open"),
                    _ => tx.reserve().await.expect("open").send(item),
                }
            }
        });
    };
    let total = std::thread::scope(|scope| {
        for _ in 0..SENDERS {
            let tx = tx.clone();
            scope.spawn(|| send(tx));
        }
        drop(tx);
        let received = scope.spawn(move || {
            futures::executor::block_on(async {
                let mut total = 0;
                while rx.recv().await.is_some() {
                    total += 1;
                }
                (total, rx)
            })
        });
        while !received.is_finished() {
            let Some(reading) = Scene::reading("busy") else {
                continue;
            };
            assert!(reading.flow.took <= reading.flow.put);
            assert!(reading.waiter_count <= SENDERS + 1, "{reading:?}");
            assert!(reading.held <= 2, "{reading:?}");
        }
        received.join().expect("no panic")
    });
    let (total, _rx) = total;
    assert_eq!(total, SENDERS * ITEMS);
    let reading = Scene::reading("busy").expect("a record");
    assert_eq!((reading.flow.put, reading.flow.took), (total, total));
    assert_eq!((reading.held, reading.waiter_count), (0, 0));
    assert_eq!(reading.times.kept.total(), total);
    scene.check("busy", &format!("{total}-{total}/2 closed; to ?"));
}

#[test]
fn of_many_ends_one_stands_for_the_rest() {
    let scene = Scene::new();
    let (tx, _rx) = named("crowd", mpsc::channel::<usize>(1000));
    let senders = [(); 300].map(|()| tx.clone());
    let users = || {
        let ends = Scene::reading("crowd").expect("a record").ends;
        let senders = ends.iter().filter(|end| end.role == Role::Send);
        let known = senders.clone().filter(|end| end.user.is_some());
        (known.count(), senders.count())
    };
    for (sent, sender) in senders.iter().enumerate() {
        scene.over('a', sender.send(sent)).expect("room");
        let known = (sent + 1).min(SHOWN);
        assert_eq!(users(), (known, SHOWN + 1));
    }
    // One was never used, and the rest is known.
    let mut senders = Vec::from(senders);
    senders.truncate(100);
    assert_eq!(users(), (100, 101));
}

#[test]
fn waits_and_holds_say_where() {
    let scene = Scene::new();
    let made = Location::caller();
    let (tx, mut rx) = named("where", mpsc::channel::<u8>(1));
    let (mut once, reply) = named("reply", oneshot::channel::<u8>());
    let _permit = tx.try_reserve().expect("room");
    let _waiting = [
        scene.task('r', rx.recv()),
        scene.task('q', async { drop(reply.await) }),
        scene.task('a', once.closed()),
    ];
    let (places, reply) = (Scene::reading("where"), Scene::reading("reply"));
    let (places, reply) = (places.expect("a record"), reply.expect("a record"));
    let lines = [
        places.place,
        reply.place,
        places.holders[0].at,
        places.waiters[0].at,
        reply.waiters[0].at,
        reply.waiters[1].at,
    ];
    assert!(lines.iter().all(|at| at.file() == made.file()), "{lines:?}");
    let lines = lines.map(|at| at.line() - made.line());
    assert_eq!(lines, [1, 2, 3, 5, 6, 7]);
}

#[test]
fn timers_tell_who_waits_for_them() {
    let scene = Scene::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let _inside = runtime.enter();
    let waits = || {
        let letters = scene.letters.borrow();
        let timers = resource::timers().into_iter();
        let waits = timers.map(|timer| (letters[&timer.who.task], timer.at.line()));
        waits.collect::<Vec<_>>()
    };
    let hour = Duration::from_secs(3600);
    let mut ticks = time::interval(hour);
    let mut polled = time::interval_at(tokio::time::Instant::now() + hour, hour);
    let made = Location::caller().line();
    let tasks = [
        scene.task('a', time::sleep(hour)),
        scene.task('b', time::timeout(hour, pending::<()>())),
        scene.task('c', ticks.tick()),
    ];
    let all = [('a', made + 2), ('b', made + 3), ('c', made + 4)];
    let mut shown = waits();
    shown.sort_unstable();
    assert_eq!(shown, all);
    drop(tasks);
    assert_eq!(waits(), []);

    let once = |polled: &mut time::Interval| {
        let polled = scene.over('d', poll_fn(|cx| Poll::Ready(polled.poll_tick(cx))));
        assert!(polled.is_pending());
    };
    once(&mut polled);
    once(&mut polled);
    assert_eq!(waits().len(), 1);
    // Whoever asks with a future waits with that.
    drop(scene.task('e', polled.tick()));
    assert_eq!(waits(), []);

    // A timeout that is not needed is none to wait for.
    let (tx, rx) = oneshot::channel();
    let limited = scene.task('f', time::timeout(hour, rx));
    assert_eq!(waits().len(), 1);
    tx.send(1).expect("open");
    limited.ends();
    assert_eq!(waits(), []);

    let mut sleep = Box::pin(time::sleep(hour));
    drop(scene.task('g', sleep.as_mut()));
    assert_eq!(waits().len(), 1);
    sleep.as_mut().reset(tokio::time::Instant::now());
    assert_eq!(waits(), []);
    // Nobody of ours waits.
    sleep.as_mut().reset(tokio::time::Instant::now() + hour);
    assert!(
        poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx)))
            .now()
            .is_pending()
    );
    assert_eq!(waits(), []);
}

#[test]
fn without_accounting_nothing_is_recorded() {
    let stage = alone();
    let (tx, mut rx) = named("off", mpsc::channel::<u8>(1));
    tx.try_send(1).expect("room");
    let mut sending = pin!(tx.send(2));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(sending.as_mut().poll(cx).is_pending());
    assert_eq!(rx.try_recv(), Ok(1));
    assert!(sending.as_mut().poll(cx).is_ready());
    assert!(Scene::reading("off").is_none());
    drop(stage);
}
