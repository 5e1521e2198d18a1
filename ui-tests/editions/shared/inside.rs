//! What may stand in a body: blocks, closures, items, attributes, constants, macros, tasks.
//!
//! | construct | function |
//! |---|---|
//! | `async` blocks: awaited in place, as try block, spawned, in closures, kept; `async` closures; `AsyncFn` | `blocks`, `closures`, `spawned` |
//! | an `async` block at the beginning of a statement, an arm, an operand | `blocks_first`, `ends_in_a_block_that_is_called` |
//! | `fn`, `impl`, `use`, `static`, `macro_rules!`, `trait`, `mod`, `enum`, `type` inside | `items` |
//! | attributes on statements and arms, tail with `cfg`, `let _ =`, `const` blocks | `attributes`, `underscores`, `const_blocks` |
//! | macros that await, or make futures | `macros` |

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt;

use crate::twice::{Loud, later, say};

twice! {
    pub async fn blocks(list: Vec<u32>) -> (u32, Result<u32, std::num::ParseIntError>) {
        let borrowing = async { list.len() as u32 };
        let moving = async move { later(2u32).await };
        let as_try: Result<u32, std::num::ParseIntError> = async { let n: u32 = "5".parse()?; Ok(n + later(1).await) }.await;
        let failing = async { "x".parse::<u32>()?; Ok(1) }.await;
        let all: Vec<Pin<Box<dyn Future<Output = u32>>>> = vec![Box::pin(async { 1 }), Box::pin(async { later(2).await })];
        let mut sum = 0;
        for each in all {
            sum += each.await;
        }
        let nested = async { async { async { later(1u32).await }.await + 1 }.await + 1 };
        let chosen: Pin<Box<dyn Future<Output = u32>>> = match sum {
            0 => Box::pin(async { 0 }),
            _ => Box::pin(async move { sum }),
        };
        let pair = (async { 1u32 }, async { 2u32 });
        let mut by_reference = Box::pin(async { later(3u32).await });
        (&mut by_reference).await;
        let kept = &mut Box::pin(async { 4u32 });
        sum += kept.await;
        async {}.await;
        drop(async { unreachable!() });
        let _ = async { unreachable!() };
        let sum = borrowing.await + moving.await + as_try.unwrap() + sum + nested.await + chosen.await + pair.1.await + pair.0.await;
        (sum, failing)
    }
    /// A statement, an arm and an operand may begin with a block.
    pub async fn blocks_first(n: u32) -> Result<u64, u32> {
        async { later(1).await }.boxed_local().await;
        async { later(Some(n)).await }.map(|n| n).await.unwrap();
        async { [1, 2] }.await[0];
        async { |n: u32| n }.await(1);
        async { (later(n).await, 2) }.await.0;
        async move { if n > 5 { Err(n) } else { Ok(()) } }.await?;
        async {}.map(|()| ()).await;
        #[allow(unused_must_use)]
        async { 1 }.boxed_local();
        let mut sum = match async { later(n).await }.await {
            0 => async { 1 }.await,
            1 => async { later(2).await }.boxed_local().await,
            2 => async { [3] }.await[0] + async { 1 }.await,
            _ if async { true }.await => async { 1 }.map(|n| n + 1).await + async { 4 }.await,
            _ => {
                async { 5 }.boxed_local().await
            }
        };
        if async { later(true).await }.await {
            sum += 1;
        }
        for m in async { vec![1] }.await {
            sum += m;
        }
        while async { false }.await {}
        while let Some(()) = async { None }.await {}
        let (Some(m), _) = async { (Some(1), 2) }.await else { async { later(9).await }.await; return Err(async { 0 }.await) };
        let ranges = async { 1 }.await..async { 2 }.await;
        let truth = !async { later(false).await }.await && async { true }.await || async { false }.await;
        let sign = -async { later(3i32).await }.await;
        let closure = || async { later(1u32).await }.boxed_local();
        sum = async { later(sum).await }.await + if truth { async { 1 }.await } else { async { 2 }.boxed_local().await };
        Ok(async { later(sum).await }.await as u64 + u64::from(m + closure().await) + ranges.len() as u64 + { sign } as u64 % 2)
    }
    pub async fn ends_in_a_block_that_is_called(n: u32) -> u32 {
        async { later(n).await }.map(|n| n + 1).await
    }
    pub async fn closures(list: Vec<u32>) -> Vec<u32> {
        let capturing = |n: u32| {
            let list = &list;
            async move { later(n).await + list.len() as u32 }
        };
        let moving = move |n| async move { later(n).await };
        let with_async = async |n: u32| later(n).await + list.len() as u32;
        let mut seen: Vec<u32> = vec![];
        let mut pushing = async |n: u32| seen.push(later(n).await);
        pushing(4).await;
        pushing(5).await;
        async fn called<F: AsyncFn(&str) -> u32>(f: F) -> u32 {
            f("ab").await + f("c").await
        }
        let sum = called(async |text: &str| text.len() as u32).await + called(|text: &str| later(text.len() as u32)).await;
        seen.extend([capturing(1).await, moving(2u32).await, with_async(3).await, sum]);
        seen
    }
    pub async fn items(n: u32) -> String {
        use std::fmt::Write as _;
        const N: u32 = 1;
        static CALLS: AtomicU32 = AtomicU32::new(0);
        #[derive(Debug, Default, Clone)]
        struct Inner {
            x: u32,
        }
        impl Inner {
            async fn get(&self) -> u32 {
                later(self.x + N).await
            }
            fn new() -> Self {
                Self { x: 1 }
            }
        }
        trait Sees {
            fn sees(&self) -> u32;
        }
        impl Sees for Inner {
            fn sees(&self) -> u32 {
                self.x
            }
        }
        enum Choice {
            Only,
        }
        use Choice::Only;
        type Alias = Inner;
        fn generic<T>(value: T) -> T {
            value
        }
        async fn shown<T: Debug>(value: &T) -> String {
            later(format!("{:?}", value)).await
        }
        macro_rules! one_more {
            ($future:expr) => {
                $future.await + 1
            };
        }
        mod inner {
            pub(super) fn two() -> u32 {
                2
            }
        }
        CALLS.fetch_add(1, Ordering::Relaxed);
        let value = Alias::new();
        let mut text = match Only {
            Only => shown(&value).await,
        };
        let sum = one_more!(value.get()) + value.sees() + generic(inner::two()) + n;
        write!(text, " {} {}", sum, later(CALLS.swap(0, Ordering::Relaxed)).await).unwrap();
        text
    }
    pub async fn attributes(x: u32) -> u32 {
        #[cfg(any())]
        {
            return no_such_function().await;
        }
        #[allow(unused_variables)]
        let y = later(x).await;
        #[cfg(all())]
        let z = later(1).await;
        #[cfg(any())]
        let z = no_such_function().await;
        #[rustfmt::skip]
        later(z).await;
        let w = match later(x).await {
            #[cfg(any())]
            0 => no_such_function().await,
            #[allow(unreachable_patterns)]
            _ => later(2).await,
        };
        #[cfg(any())]
        return no_such_function().await;
        #[cfg(any())]
        {
            z.no_such_method().await
        }
        #[cfg(all())]
        later(y + z + w).await
    }
    pub async fn underscores() {
        let _ = later(Loud("wild")).await;
        _ = later(Loud("assigned")).await;
        let _kept = later(Loud("kept")).await;
        let (_, _second) = later((Loud("first"), Loud("second"))).await;
        later(Loud("statement")).await;
        say("end");
    }
    pub async fn const_blocks() -> u32 {
        const TWO: usize = 2;
        let list = [const { 1 + 1 }; TWO];
        later(list[0]).await + const { 3 }
    }
    pub async fn macros(n: u32) -> (Vec<u32>, String, u32) {
        let list = vec![later(1).await, later(n).await];
        assert_eq!(later(1).await, list[0], "{}", later("why").await);
        assert!(matches!(later(Some(n)).await, Some(m) if m > 0));
        let text = format!("{} {}", later('a').await, later(n).await);
        let joined = tokio::join!(later(1), async { later(2).await });
        let selected = tokio::select! {
            biased;
            first = later(1) => first + later(10).await,
            second = later(2) => second,
        };
        tokio::pin! {
            let pinned = later(5);
        }
        (list, text, joined.0 + joined.1 + selected + pinned.await)
    }
    pub async fn spawned() -> u32 {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let shared = Arc::new(Mutex::new(1));
        let other = shared.clone();
        let task = runtime.spawn(async move {
            *other.lock().unwrap() += 1;
            later(5).await
        });
        let local = tokio::task::LocalSet::new();
        let alone = Rc::new(7);
        let waited = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(task)).join().unwrap().unwrap());
        let unsent = local.spawn_local(async move { later(*alone).await });
        drop(local);
        drop(unsent);
        let sum = *shared.lock().unwrap();
        later(sum + waited).await
    }
}

#[test]
fn same() {
    same! {
        blocks(vec![1, 2]);
        blocks_first(0);
        blocks_first(1);
        blocks_first(2);
        blocks_first(3);
        blocks_first(6);
        ends_in_a_block_that_is_called(1);
        closures(vec![1, 2]);
        items(1);
        attributes(1);
        underscores();
        const_blocks();
        macros(3);
        spawned();
    }
}
