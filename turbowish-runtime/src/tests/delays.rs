//! What ran on the worker between a wake and the poll that followed it.

use std::future::poll_fn;
use std::task::Poll;

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::DelayRow;
use turbowish_model::snapshot::delays::IDLE;

use super::stage::{advance, alone};
use super::wakers::armed;
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::monitor::Monitor;

static HANDLE: Proc = Proc::new::<Turns>("::handles_a_request", "1 delays.rs");
static COMPACT: Proc = Proc::new::<Turns>("::compacts", "2 delays.rs");

const MS: u64 = 1_000_000;

/// Polls that take so long, each woken in the one before.
pub(super) struct Turns(pub(super) u64);

impl Turns {
    pub(super) async fn of(self, polls: u32) {
        let mut left = polls;
        poll_fn(move |cx| {
            advance(self.0);
            left -= 1;
            if left == 0 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

fn rows(monitor: &Monitor) -> Vec<DelayRow> {
    let query = Query {
        delays: Some(Rows {
            filter: "victim:handles_a_request".into(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    monitor.snapshot(&query).expect("a good query").delays.rows
}

#[test]
fn who_keeps_the_worker_is_told_with_the_time() {
    let _alone = alone();
    let monitor = armed();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        let handle = tokio::spawn(call(HANDLE.as_static(), Other, Turns(MS).of(4)));
        let compact = tokio::spawn(call(COMPACT.as_static(), Other, Turns(5 * MS).of(3)));
        handle.await.expect("no panic");
        compact.await.expect("no panic");
    });
    let seen = rows(&monitor);
    let [behind] = &seen[..] else {
        panic!("{seen:?}");
    };
    assert!(behind.behind.ends_with("::compacts"), "{behind:?}");
    assert_eq!((behind.time_ns, behind.polls), (15 * MS, 3));
    assert_eq!((behind.ready_ns, behind.share_ppm), (15 * MS, 1_000_000));
}

#[test]
fn a_worker_that_polls_nothing_is_idle_and_what_is_short_is_not_looked_at() {
    let _alone = alone();
    let monitor = armed();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut handle = std::pin::pin!(call(HANDLE.as_static(), Other, Turns(0).of(9)));
    for gap in [99_999, 100_000, 3 * MS] {
        assert!(handle.as_mut().poll(&mut context).is_pending());
        advance(gap);
    }
    assert!(handle.as_mut().poll(&mut context).is_pending());
    let seen = rows(&monitor);
    let [idle] = &seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!((idle.behind.as_str(), idle.polls), (IDLE, 2));
    assert_eq!(idle.time_ns, 3 * MS + 100_000);
    assert!(idle.ready_ns.abs_diff(3 * MS + 199_999) <= 1, "{idle:?}");
}
