//! The functions that every tool instruments, word for word the same: `instrumented!` is the tool's
//! own way to do it.

use std::hint::black_box;
use std::pin::Pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;

/// Pending so many times, and woken at once.
pub struct Yield(pub u32);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

instrumented! {
    pub async fn leaf(x: u32) -> u32 {
        black_box(x) + 1
    }
}

instrumented! {
    pub async fn yields(n: u32) {
        Yield(n).await
    }
}

/// A level of a chain awaits the next one; the leaf yields.
macro_rules! chain {
    ($name:ident $($below:ident)+) => {
        chain! { @level $name $($below)+ }
        chain! { $($below)+ }
    };
    ($name:ident) => {
        instrumented! {
            pub async fn $name(n: u32) {
                Yield(n).await
            }
        }
    };
    (@level $name:ident $below:ident $($rest:ident)*) => {
        instrumented! {
            pub async fn $name(n: u32) {
                $below(n).await
            }
        }
    };
}

chain! { c8 c7 c6 c5 c4 c3 c2 c1 }

instrumented! {
    pub async fn join_3(n: u32) {
        tokio::join!(yields(n), yields(n), yields(n));
    }
}

/// What a parked task waits for, for ever.
static NEVER: LazyLock<Notify> = LazyLock::new(Notify::new);

/// Tasks that have come to where they park.
pub static PARKED: AtomicU64 = AtomicU64::new(0);

instrumented! {
    pub async fn park_outer(id: u64) {
        park_middle(id).await
    }
}

instrumented! {
    async fn park_middle(id: u64) {
        park_inner(id).await
    }
}

instrumented! {
    async fn park_inner(id: u64) {
        PARKED.fetch_add(1, Ordering::Relaxed);
        NEVER.notified().await;
        black_box(id);
    }
}

instrumented! {
    pub async fn handle(path: String) -> String {
        let user = session(&path).await;
        format!("{user} {}\n", path.len())
    }
}

instrumented! {
    async fn session(path: &str) -> String {
        route(path).await
    }
}

instrumented! {
    async fn route(path: &str) -> String {
        load(path).await
    }
}

instrumented! {
    async fn load(path: &str) -> String {
        let rows = row(path.len() as u64).await;
        format!("user {rows}")
    }
}

instrumented! {
    async fn row(key: u64) -> u64 {
        Yield(1).await;
        black_box(key) + 1
    }
}
