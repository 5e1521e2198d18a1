//! Where the time of the slowest calls went.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::SlowestRow;
use turbowish_model::snapshot::slowest::{AWAIT, CALLED, NOT_RECORDED, READY, RUNNING};

use super::stage::{advance, alone};
use super::wakers::armed;
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::monitor::Monitor;

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// Is ready in its third poll; runs for so long in each.
struct Wait(u64, u8);

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        advance(self.0);
        self.1 += 1;
        match self.1 {
            3 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

static HANDLE: Proc = Proc::new::<Wait>(
    "::handle",
    "1 slow.rs\n10 1 10 20 query()\n11 1 11 20 answer()",
);
static QUERY: Proc = Proc::new::<Wait>("::query", "20 slow.rs\n21 1 21 20 db.lock()");
static READS: Proc = Proc::new::<Wait>("::reads", "30 slow.rs\n31 1 31 20 read()");

async fn query() {
    at(&QUERY, 0, Wait(MS, 0)).await;
}

async fn handle() {
    advance(3 * MS);
    at(&HANDLE, 0, call(QUERY.as_static(), Other, query())).await;
    advance(MS);
    at(&HANDLE, 1, Wait(0, 0)).await;
    advance(MS);
}

/// Polls a task until its end, with a pause between its polls.
fn finish(task: impl Future, pause: u64) {
    let mut context = Context::from_waker(Waker::noop());
    let mut task = pin!(task);
    while task.as_mut().poll(&mut context).is_pending() {
        advance(pause);
    }
}

fn rows(monitor: &Monitor, window_ns: Option<u64>, filter: &str) -> Vec<SlowestRow> {
    let query = Query {
        window_ns,
        slowest: Some(Rows {
            filter: filter.into(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    monitor.snapshot(&query).expect("a good query").slowest.rows
}

/// Part, line and milliseconds of each row.
fn parts(rows: &[SlowestRow]) -> Vec<(&str, u32, u64)> {
    let parts = rows
        .iter()
        .map(|row| (row.part.as_str(), row.place.line, row.time_ns / MS));
    parts.filter(|(.., ms)| *ms > 0).collect()
}

#[test]
fn a_call_and_the_call_that_it_awaits_know_where_they_stood() {
    let _alone = alone();
    let monitor = armed();
    finish(call(HANDLE.as_static(), Other, handle()), 100 * MS);
    let seen = rows(&monitor, None, "proc:handle");
    // Two pauses at each await point; the third poll at each is one in which it moves on.
    let expected = [
        (AWAIT, 10, 200),
        (AWAIT, 11, 200),
        (RUNNING, 0, 5),
        (CALLED, 0, 3),
    ];
    assert_eq!(parts(&seen), expected);
    let first = &seen[0];
    assert_eq!((first.calls, first.recorded, first.ended), (1, 1, 1));
    assert_eq!(
        (first.wall_ns, first.place.expr.as_str()),
        (408 * MS, "query()")
    );
    assert!(
        first.from_ns <= 408 * MS && first.from_ns >= 320 * MS,
        "{first:?}"
    );
    assert_eq!(first.share_ppm, 490_196);
    let seen = rows(&monitor, None, "proc:query");
    assert_eq!(parts(&seen), [(AWAIT, 21, 200), (RUNNING, 0, 3)]);
}

async fn reads() {
    at(&READS, 0, Wait(US, 0)).await;
}

fn read(pause: u64) {
    finish(call(READS.as_static(), Other, reads()), pause);
}

#[test]
fn the_slowest_of_a_window_are_told_from_the_others() {
    let _alone = alone();
    let monitor = armed();
    for tick in 0..40 {
        for nth in 0..100 {
            let is_slow = tick >= 20 && nth % 50 == 49;
            read(if is_slow { 20 * MS } else { 5 * US });
        }
        monitor.tick();
    }
    let seen = rows(&monitor, None, "proc:reads");
    let most = &seen[0];
    assert_eq!((most.part.as_str(), most.place.line), (AWAIT, 31));
    assert_eq!((most.calls, most.recorded, most.ended), (40, 40, 4_000));
    assert_eq!(most.time_ns, 40 * 40 * MS);
    assert!(most.share_ppm > 999_000, "{most:?}");
    assert!(seen.iter().all(|row| row.part != NOT_RECORDED), "{seen:?}");
}

#[test]
fn ready_time_is_no_part_of_an_await() {
    static WOKEN: Proc = Proc::new::<Wait>("::woken", "40 slow.rs\n41 1 41 20 woken()");
    let _alone = alone();
    let monitor = armed();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        let notify = std::sync::Arc::new(tokio::sync::Notify::new());
        let woken = notify.clone();
        let task = tokio::spawn(call(WOKEN.as_static(), Other, async move {
            at(&WOKEN, 0, woken.notified()).await;
        }));
        tokio::task::yield_now().await;
        advance(30 * MS);
        notify.notify_one();
        advance(70 * MS);
        task.await.expect("no panic");
    });
    let seen = rows(&monitor, None, "proc:woken");
    assert_eq!(parts(&seen), [(READY, 0, 70), (AWAIT, 41, 30)]);
}
