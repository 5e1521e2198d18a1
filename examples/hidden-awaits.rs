//! Awaits that an attribute cannot see, because a macro hides them: `hidden-awaits` leaves one task stuck in each kind.
//!
//! `TURBOWISH_REPORT=report.json cargo run --example hidden-awaits` says where they stand.

use std::future::poll_fn;
use std::task::Poll;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

macro_rules! twice {
    ($future:expr) => {
        $future.await || $future.await
    };
}

/// An await point that is passed, and one that is not.
#[turbowish::instrument]
mod stuck {
    use super::{Arrivals, hang};

    async fn earlier() {
        tokio::task::yield_now().await;
    }

    pub(super) async fn in_select(arrivals: Arrivals) {
        tokio::task::yield_now().await;
        tokio::select! {
            _ = hang(&arrivals) => {}
            _ = std::future::pending::<()>() => {}
        }
    }

    pub(super) async fn in_join(arrivals: Arrivals) -> bool {
        earlier().await;
        let (hung, ()) = tokio::join!(hang(&arrivals), earlier());
        hung
    }

    pub(super) async fn in_own(arrivals: Arrivals) -> bool {
        tokio::task::yield_now().await;
        match arrivals.is_closed() {
            false => twice!(hang(&arrivals)),
            true => false,
        }
    }

    pub(super) async fn in_assert(arrivals: Arrivals) {
        earlier().await;
        assert!(hang(&arrivals).await, "it never comes back");
    }

    pub(super) async fn in_condition(arrivals: Arrivals) {
        let mut times = 0;
        while matches!(second(&mut times, &arrivals).await, 1) {
            tokio::task::yield_now().await;
        }
    }

    #[turbowish::instrument(skip)]
    async fn second(times: &mut u32, arrivals: &Arrivals) -> u32 {
        *times += 1;
        if *times == 2 {
            hang(arrivals).await;
        }
        *times
    }
}

type Arrivals = UnboundedSender<()>;

/// Tells that it was polled, and never ends.
async fn hang(arrivals: &Arrivals) -> bool {
    poll_fn(|_| {
        let _ = arrivals.send(());
        Poll::Pending
    })
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish::init();
    let (arrivals, mut arrived) = unbounded_channel();
    tokio::spawn(stuck::in_select(arrivals.clone()));
    tokio::spawn(stuck::in_join(arrivals.clone()));
    tokio::spawn(stuck::in_own(arrivals.clone()));
    tokio::spawn(stuck::in_assert(arrivals.clone()));
    tokio::spawn(stuck::in_condition(arrivals));
    // One thread: once this goes on, the poll that told of itself has ended.
    for _ in 0..5 {
        arrived.recv().await;
    }
}
