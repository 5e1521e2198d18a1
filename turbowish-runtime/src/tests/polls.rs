//! What is kept of single polls.

use std::sync::Arc;

use turbowish_model::account::poll_ring::{PollOutcome, PollRecord, PollRing};
use turbowish_model::account::task::TaskMeta;

use super::delays::Turns;
use super::stage::{advance, alone};
use super::wakers::armed;
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{switch, task, thread};

static PRODUCE: Proc = Proc::new::<Turns>("::produces", "1 polls.rs");
static CONSUME: Proc = Proc::new::<Turns>("::consumes", "2 polls.rs");
static RECEIVE: Proc = Proc::new::<Turns>("::receives", "3 polls.rs");

const MS: u64 = 1_000_000;

/// The polls of this thread.
fn own() -> Arc<PollRing> {
    let epoch = switch::epoch().expect("accounting is armed");
    let own = thread::with(epoch, |thread| thread.ledger.last_polls().clone());
    own.expect("a ledger")
}

fn since(ring: &PollRing, from: u64) -> Vec<PollRecord> {
    let mut polls = Vec::new();
    let read = ring.read(from, true, |_, poll| polls.push(poll));
    assert_eq!(read.lost, 0);
    polls
}

#[test]
fn each_poll_says_whose_it_was_how_long_it_took_and_who_had_woken_the_task() {
    let _alone = alone();
    let _monitor = armed();
    let ring = own();
    let from = ring.written();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let receive = async move {
            let receive = call(RECEIVE.as_static(), Other, async move {
                advance(MS);
                let received = at(&RECEIVE, 2, receiver).await;
                advance(3 * MS);
                received
            });
            at(&CONSUME, 1, receive).await
        };
        let consume = tokio::spawn(call(CONSUME.as_static(), Other, receive));
        let produce = call(PRODUCE.as_static(), Other, async move {
            advance(5 * MS);
            sender.send(7).expect("the receiver is there");
            advance(2 * MS);
        });
        tokio::spawn(produce).await.expect("no panic");
        assert_eq!(consume.await.expect("no panic"), Ok(7));
    });
    let polls = since(&ring, from);
    let holds: Vec<u64> = polls.iter().map(|poll| poll.hold).collect();
    assert_eq!(holds, [MS, 7 * MS, 3 * MS]);
    let ends: Vec<u64> = polls.iter().map(|poll| poll.end - polls[0].end).collect();
    assert_eq!(ends, [0, 7 * MS, 10 * MS]);
    let outcomes: Vec<_> = polls.iter().map(|poll| poll.outcome).collect();
    let (pending, ready) = (PollOutcome::Pending, PollOutcome::Ready);
    assert_eq!(outcomes, [pending, ready, ready]);

    let [consumer, producer, again] = [0, 1, 2].map(|nth: usize| polls[nth].task);
    assert_eq!(again, consumer);
    let root = |id| Some(TaskMeta::of(id).root());
    assert_eq!([consumer, producer].map(root), [CONSUME.id(), PRODUCE.id()]);

    let wakeup: Vec<_> = polls.iter().map(|poll| poll.wakeup).collect();
    assert_eq!(wakeup[..2], [None, None]);
    let wakeup = wakeup[2].expect("it was woken");
    assert_eq!((wakeup.latency, wakeup.by.task()), (2 * MS, producer));
    let (ran, has_root) = thread::paths().calls(wakeup.by.path(), 8);
    assert_eq!(ran, [(PRODUCE.id().expect("an ID"), 0)]);
    assert!(has_root);

    // It waits at `receives`, which its root awaits.
    let chain = |id| {
        let inner = task::chains().key(id);
        let outer = task::chains().key(inner.parent());
        [outer, inner].map(|call| (Some(call.proc()), call.site()))
    };
    let (consume, receive) = ((CONSUME.id(), 2), (RECEIVE.id(), 3));
    assert_eq!(chain(polls[0].chain), [consume, receive]);
    assert_eq!((polls[1].chain, polls[2].chain), (0, 0));
    let paths = thread::paths();
    let ended = paths.key(polls[2].path);
    assert_eq!(Some(ended.proc()), CONSUME.id());
}

#[test]
fn a_poll_that_moves_nothing_says_where_its_task_waits_and_whose_code_ran() {
    let _alone = alone();
    let _monitor = armed();
    let ring = own();
    let from = ring.written();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let receive = call(RECEIVE.as_static(), Other, async {
        at(&RECEIVE, 2, Turns(MS).of(4)).await;
    });
    let consume = call(CONSUME.as_static(), Other, async move {
        at(&CONSUME, 1, receive).await;
    });
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async { tokio::spawn(consume).await.expect("no panic") });
    let polls = since(&ring, from);
    assert_eq!(polls.len(), 4);
    let (first, again) = (polls[0], polls[1]);
    assert_eq!([again.chain, polls[2].chain], [first.chain; 2]);
    let ran = thread::paths().key(again.path);
    assert_eq!(Some(ran.proc()), RECEIVE.id());
    for poll in &polls[1..] {
        let wakeup = poll.wakeup.expect("it wakes itself");
        assert_eq!((wakeup.latency, wakeup.by.task()), (0, first.task));
    }
}
