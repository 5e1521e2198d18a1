//! Awaits in the arguments of macros: `hidden-awaits` leaves one task stuck in each kind of macro.
//!
//! `TURBOWISH_REPORT=report.json cargo run --example hidden-awaits` shows where the tasks are.

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

    async fn number() -> u32 {
        earlier().await;
        1
    }

    pub(super) async fn in_select(arrivals: Arrivals) {
        tokio::task::yield_now().await;
        tokio::select! {
            _ = hang(&arrivals) => {}
            _ = std::future::pending::<()>() => {}
        }
    }

    pub(super) async fn in_branch(arrivals: Arrivals) {
        tokio::select! {
            never = std::future::pending::<bool>(), if hang(&arrivals).await => assert!(never),
            else => {}
        }
    }

    pub(super) async fn behind_branch(arrivals: Arrivals) {
        tokio::select! {
            _ = stands(&arrivals, number().await) => {}
        }
    }

    #[turbowish::instrument(skip)]
    async fn stands(arrivals: &Arrivals, number: u32) -> bool {
        number == 1 && hang(arrivals).await
    }

    pub(super) async fn in_arm(arrivals: Arrivals) {
        tokio::select! {
            () = earlier() => {
                earlier().await;
                hang(&arrivals).await;
            }
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
        assert!(!hang(&arrivals).await);
    }

    pub(super) async fn in_message(arrivals: Arrivals) {
        earlier().await;
        assert!(arrivals.is_closed(), "{}", hang(&arrivals).await);
    }

    pub(super) async fn in_format(arrivals: Arrivals) -> String {
        format!("{:?} {}", earlier().await, hang(&arrivals).await)
    }

    pub(super) async fn in_condition(arrivals: Arrivals) {
        let mut times = 0;
        while matches!(second(&mut times, &arrivals).await, 1) {
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn in_closure(arrivals: Arrivals) -> bool {
        let ask = async |first: bool| first || hang(&arrivals).await;
        ask(true).await && ask(false).await
    }

    #[tracing::instrument(skip_all)]
    pub(super) async fn above_tracing(arrivals: Arrivals) {
        tokio::task::yield_now().await;
        hang(&arrivals).await;
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

/// Functions that tracing puts into blocks of its own: they are still one proc each.
mod traced {
    use super::{Arrivals, hang};

    #[turbowish::instrument]
    #[tracing::instrument(skip_all, err)]
    pub(super) async fn above_tracing_too(arrivals: Arrivals) -> Result<(), String> {
        tokio::task::yield_now().await;
        hang(&arrivals).await;
        Ok(())
    }

    #[tracing::instrument(skip_all)]
    #[turbowish::instrument]
    pub(super) async fn below_tracing(arrivals: Arrivals) {
        tokio::task::yield_now().await;
        hang(&arrivals).await;
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
    tokio::spawn(stuck::in_branch(arrivals.clone()));
    tokio::spawn(stuck::behind_branch(arrivals.clone()));
    tokio::spawn(stuck::in_arm(arrivals.clone()));
    tokio::spawn(stuck::in_join(arrivals.clone()));
    tokio::spawn(stuck::in_own(arrivals.clone()));
    tokio::spawn(stuck::in_assert(arrivals.clone()));
    tokio::spawn(stuck::in_message(arrivals.clone()));
    tokio::spawn(stuck::in_format(arrivals.clone()));
    tokio::spawn(stuck::in_condition(arrivals.clone()));
    tokio::spawn(stuck::in_closure(arrivals.clone()));
    tokio::spawn(stuck::above_tracing(arrivals.clone()));
    tokio::spawn(traced::above_tracing_too(arrivals.clone()));
    tokio::spawn(traced::below_tracing(arrivals));
    // One thread: once this goes on, the poll that told of itself has ended.
    for _ in 0..14 {
        arrived.recv().await;
    }
}
