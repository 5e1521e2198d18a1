//! The life of an intent: a may becomes a will or nothing, a will is done once, and none outlives
//! its call.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt;
use turbowish_model::account::resource::Intent;

use super::Scene;
use crate::hot::switch;
use crate::intent::{
    AGAIN, Fields, IntentSpec, Intents, MaybeResource, NoIntents, NotResource as _, OwnFields as _,
    PROVEN, SAID, WILL, declare, intent, verb,
};
use crate::resource;
use crate::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, named, oneshot, watch,
};

impl Scene {
    /// Who means to do what with it, in a line: `a will lock, b may lock`.
    fn resource_ref(&self, name: &str) -> String {
        let Some(reading) = Self::reading(name) else {
            return "no record".to_owned();
        };
        let counted = reading.intent_counts.0 + reading.intent_counts.1;
        assert_eq!(counted, reading.intents.len() as u64);
        let letters = self.letters.borrow();
        let word = |intent: &Intent| {
            let letter = letters.get(&intent.who.task).copied().unwrap_or('?');
            let (strength, role) = (intent.strength.word(), intent.role.word());
            let proven = if intent.proven { " surely" } else { "" };
            format!("{letter} {strength} {role}{proven}")
        };
        let all: Vec<String> = reading.intents.iter().map(word).collect();
        all.join(", ")
    }

    #[track_caller]
    fn means(&self, name: &str, expected: &str) {
        assert_eq!(self.resource_ref(name), expected);
    }
}

/// Operations that wait for nothing.
#[test]
fn a_may_becomes_a_will_and_is_done() {
    let scene = Scene::new();
    let db = named("db", Arc::new(Mutex::new(0)));
    let said = || IntentSpec::new(verb::Lock, &db, SAID);
    scene.over('a', async {
        let guard = intent(said());
        scene.means("db", "a may lock");
        guard.will();
        scene.means("db", "a will lock");
        guard.will();
        scene.means("db", "a will lock");
        let held = db.lock().await;
        // Done: the guard has nothing more to say.
        scene.means("db", "");
        guard.will();
        scene.means("db", "");
        drop(held);
        drop(db.lock().await);
        guard.done();
        scene.means("db", "");
    });
    scene.over('b', async {
        let guard = intent(said());
        scene.means("db", "b may lock");
        guard.done();
        scene.means("db", "");
    });
}

#[test]
fn a_waiter_still_means_to_until_it_has_it() {
    let scene = Scene::new();
    let db = named("held", Mutex::new(0));
    let holder = scene.task('a', async {
        let _held = db.lock().await;
        pending::<()>().await;
    });
    let mut waiter = scene.task('b', async {
        let _intents = declare(verb::Lock, &db, WILL | PROVEN, NoIntents);
        let _held = db.lock().await;
        pending::<()>().await;
    });
    scene.means("held", "b will lock surely");
    drop(holder);
    assert!(waiter.poll().is_pending());
    scene.means("held", "");
    drop(waiter);
    // Given up while it waits.
    let holder = scene.task('c', async {
        let _held = db.lock().await;
        pending::<()>().await;
    });
    let waiter = scene.task('d', async {
        let _intents = declare(verb::Lock, &db, WILL, NoIntents);
        let _held = db.lock().await;
    });
    scene.means("held", "d will lock");
    drop(waiter);
    scene.means("held", "");
    drop(holder);
}

#[test]
fn one_guard_of_a_call_keeps_all_of_them_and_cancelling_ends_them() {
    let scene = Scene::new();
    let (tx, rx) = named("channel", mpsc::channel::<u8>(4));
    let db = named("lock", Mutex::new(0));
    // The macro prints it like this.
    let aims = || {
        let receives = declare(verb::Recv, &rx, AGAIN, NoIntents);
        let nothing = MaybeResource(verb::Lock, &7_u8).__turbowish_mean(WILL, receives);
        let nothing =
            MaybeResource(verb::Send, None::<&mpsc::Sender<u8>>).__turbowish_mean(WILL, nothing);
        let nothing = MaybeResource(verb::Lock, Some(&7_u8)).__turbowish_mean(WILL, nothing);
        let locks = MaybeResource(verb::Lock, Some(&db)).__turbowish_mean(0, nothing);
        declare(verb::Send, &tx, WILL | PROVEN, locks)
    };
    assert_eq!(size_of::<Intents>(), 16);
    let nothing = MaybeResource(verb::Lock, &7_u8).__turbowish_mean(WILL, NoIntents);
    assert_eq!(size_of_val(&nothing), 0);
    assert!(Fields::<Mutex<u8>>::new().__turbowish_are_own());
    assert!(!Fields::<Arc<Mutex<u8>>>::new().__turbowish_are_own());
    let task = scene.task('a', async {
        let _intents = aims();
        pending::<()>().await;
    });
    scene.means("channel", "a will send surely, a may recv");
    scene.means("lock", "a may lock");
    let other = scene.task('b', async {
        let _intents = aims();
        tx.send(1).await.expect("room");
        pending::<()>().await;
    });
    // Each its own: that b has sent does nothing to a.
    scene.means("channel", "a will send surely, a may recv, b may recv");
    drop(task);
    scene.means("channel", "b may recv");
    scene.means("lock", "b may lock");
    drop(other);
    scene.means("channel", "");
    scene.means("lock", "");
}

#[test]
fn a_panic_ends_them() {
    let scene = Scene::new();
    let db = named("panics", Mutex::new(0));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        scene.over('a', async {
            let _intents = declare(verb::Lock, &db, WILL, NoIntents);
            let _said = intent(IntentSpec::new(verb::Lock, &db, SAID));
            scene.means("panics", "a will lock, a may lock");
            panic!("as planned");
        });
    }));
    assert!(outcome.is_err());
    scene.means("panics", "");
}

#[test]
fn what_is_done_again_and_again_stays() {
    let scene = Scene::new();
    let (tx, mut rx) = named("again", mpsc::channel::<u8>(4));
    scene.over('a', async {
        let _intents = declare(verb::Recv, &rx, AGAIN, NoIntents);
        let _sends = declare(verb::Send, &tx, WILL, NoIntents);
        scene.means("again", "a will send, a may recv");
        tx.send(1).await.expect("room");
        scene.means("again", "a may recv");
        assert_eq!(rx.recv().await, Some(1));
        scene.means("again", "a may recv");
    });
    scene.means("again", "");
}

/// What a call below does is what was meant only if the author says so.
#[test]
fn calls_below_do_what_was_said() {
    let scene = Scene::new();
    let db = named("below", Mutex::new(0));
    scene.over('a', async {
        let _read = declare(verb::Lock, &db, WILL | PROVEN, NoIntents);
        let _said = declare(verb::Lock, &db, WILL | SAID, NoIntents);
        scene.means("below", "a will lock surely, a will lock");
        crate::hot::call::call(super::BELOW.as_static(), crate::hot::probe::Other, async {
            drop(db.lock().await);
        })
        .await;
        scene.means("below", "a will lock surely");
        drop(db.lock().await);
        scene.means("below", "");
    });
}

/// Each verb, on each thing that has it: done when the operation is.
#[test]
fn every_verb_is_done() {
    let scene = Scene::new();
    let (rwlock, permits) = (named("rw", RwLock::new(0)), named("s", Semaphore::new(2)));
    let (signal, cell) = (named("n", Notify::new()), named("c", OnceCell::new()));
    let barrier = named("b", Barrier::new(1));
    let (tx, mut rx) = named("q", mpsc::unbounded_channel::<u8>());
    let (all, mut each) = named("all", broadcast::channel::<u8>(4));
    let (last, mut seen) = named("last", watch::channel(0));
    macro_rules! done {
        ($name:literal, $Verb:ident $operand:expr, $operation:expr) => {{
            let _will = declare(verb::$Verb, &$operand, WILL | SAID, NoIntents);
            let role = <verb::$Verb as verb::Verb>::ROLE.word();
            scene.means($name, &format!("a will {role}"));
            let _done = $operation;
            scene.means($name, "");
        }};
    }
    scene.over('a', async {
        done!("rw", Read rwlock, rwlock.read().await);
        done!("rw", Write rwlock, rwlock.write().await);
        done!("s", Acquire permits, permits.acquire().await);
        signal.notify_one();
        done!("n", Wait signal, signal.notified().await);
        done!("b", Wait barrier, barrier.wait().await);
        done!("c", Wait cell, cell.get_or_init(|| async { 1 }).await);
        done!("q", Send tx, tx.send(1));
        done!("q", Recv rx, rx.recv().await);
        done!("all", Send all, all.send(1));
        done!("all", Recv each, each.recv().await);
        done!("last", Send last, last.send(1));
        done!("last", Recv seen, seen.changed().await);
        let (tx, rx) = named("one", oneshot::channel::<u8>());
        done!("one", Send tx, tx.send(1));
        drop(rx);
    });
    let (tx, rx) = named("answer", oneshot::channel::<u8>());
    let before = resource::all().len();
    scene.over('b', async {
        // Not worth a record, unless somebody waits there already.
        let _intents = declare(verb::Send, &tx, WILL, NoIntents);
        scene.means("answer", "no record");
    });
    assert_eq!(resource::all().len(), before);
    let waiting = scene.task('c', rx);
    scene.over('d', async {
        let _intents = declare(verb::Send, &tx, WILL, NoIntents);
        scene.means("answer", "d will send");
    });
    drop(waiting);
}

/// Since when nobody means to receive any more, if somebody did.
#[test]
fn a_channel_is_deserted() {
    let scene = Scene::new();
    let (tx, mut rx) = named("left", mpsc::channel::<u8>(4));
    let deserted = || Scene::reading("left").expect("a record").deserted.is_some();
    let means = |rx: &mpsc::Receiver<u8>, how| declare(verb::Recv, rx, how, NoIntents);
    scene.over('a', async {
        tx.send(1).await.expect("room");
        tx.send(1).await.expect("room");
        tx.send(1).await.expect("room");
    });
    assert!(!deserted());
    let first = scene.task('b', async {
        let _receives = means(&rx, AGAIN);
        pending::<()>().await;
    });
    let second = scene.task('c', async {
        let _receives = means(&rx, WILL);
        pending::<()>().await;
    });
    drop(first);
    assert!(!deserted());
    drop(second);
    assert!(deserted());
    // Somebody means to again, and gives up; somebody receives without a word.
    let third = scene.task('d', async {
        let _receives = means(&rx, 0);
        pending::<()>().await;
    });
    assert!(!deserted());
    drop(third);
    assert!(deserted());
    scene.over('e', async { rx.recv().await });
    assert!(!deserted());
    // Done as meant: nobody has left.
    scene.over('f', async {
        let _receives = means(&rx, WILL);
        rx.recv().await
    });
    assert!(!deserted());
}

#[test]
fn nothing_is_meant_outside_of_tasks_or_while_accounting_is_off() {
    let scene = Scene::new();
    let db = named("off", Mutex::new(0));
    scene.over('a', async { drop(db.lock().await) });
    let outside = declare(verb::Lock, &db, WILL, NoIntents);
    scene.means("off", "");
    drop(outside);
    scene.over('b', async {
        let on = declare(verb::Lock, &db, WILL, NoIntents);
        switch::disarm();
        let off = declare(verb::Lock, &db, WILL, NoIntents);
        scene.means("off", "b will lock");
        drop((on, off));
        scene.means("off", "");
    });
}

/// An end that nobody has used has a number once somebody means to use it, and still no user.
#[test]
fn ends_are_told_apart() {
    let scene = Scene::new();
    let (tx, _rx) = named("ends", mpsc::channel::<u8>(4));
    let other = tx.clone();
    let numbers = || {
        let reading = Scene::reading("ends").expect("a record");
        let ends = reading
            .ends
            .iter()
            .map(|end| (end.user.is_some(), end.number));
        let intents = reading.intents.iter().map(|intent| intent.end);
        (ends.collect::<Vec<_>>(), intents.collect::<Vec<_>>())
    };
    let task = scene.task('a', async {
        let _intents = declare(verb::Send, &other, WILL, NoIntents);
        pending::<()>().await;
    });
    let (unused, untold) = ((false, Some(0)), (false, None));
    assert_eq!(numbers(), (vec![unused, untold, untold], vec![Some(0)]));
    scene.over('b', async { tx.send(1).await.expect("room") });
    assert_eq!(
        numbers(),
        (vec![(true, Some(1)), unused, untold], vec![Some(0)])
    );
    drop(task);
    // It is gone with its end, however long somebody still speaks of it.
    let task = scene.task('c', async {
        let _intents = declare(verb::Send, &other, WILL, NoIntents);
        pending::<()>().await;
    });
    drop(other.clone());
    assert_eq!(numbers().1, [Some(0)]);
    drop(task);
    drop(other);
    assert_eq!(numbers(), (vec![(true, Some(1)), untold], vec![]));
}

/// More than are shown, in any order of leaving: no one is lost or left.
#[test]
fn many_come_and_go() {
    let scene = Scene::new();
    let db = named("many", Mutex::new(0));
    let counts = || Scene::reading("many").expect("a record").intent_counts;
    scene.over('a', async {
        let how = |n: usize| if n.is_multiple_of(3) { WILL } else { AGAIN };
        let mut kept: Vec<_> = (0..900)
            .map(|n| declare(verb::Lock, &db, how(n), NoIntents))
            .collect();
        assert_eq!(counts(), (300, 600));
        let reading = Scene::reading("many").expect("a record");
        assert_eq!(
            reading.intents.len(),
            turbowish_model::account::resource::SHOWN
        );
        // Every seventh, then the newest ones first.
        let mut at = 0;
        kept.retain(|_| {
            at += 1;
            at % 7 != 0
        });
        while kept.pop().is_some() {}
        assert_eq!(counts(), (0, 0));
        let again = declare(verb::Lock, &db, WILL, NoIntents);
        scene.means("many", "a will lock");
        drop(db.lock().await);
        scene.means("many", "");
        drop(again);
    });
}

/// A guard may go to another task, and be dropped there, and the resource before it.
#[test]
fn a_guard_outlives_what_it_is_of() {
    let scene = Scene::new();
    let db = named("gone", Mutex::new(0));
    let kept = scene
        .call('a', async {
            intent(IntentSpec::new(verb::Lock, &db, SAID))
        })
        .now_or_never()
        .expect("ready");
    scene.means("gone", "a may lock");
    drop(db);
    scene.means("gone", "no record");
    kept.will();
    drop(kept);
}
