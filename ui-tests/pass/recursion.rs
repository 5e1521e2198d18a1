//! Calls nest deep under the compiler's default `recursion_limit`, and recursion works as in plain functions.
//!
//! Where a spawned future must be `Send`, the compiler goes four steps down for each level, for a plain one three: the call is one
//! more type around the function's own. What the innermost function awaits takes the rest of the 128 steps: `yield_now` few,
//! `sleep`, whose driver holds tokio's whole I/O, 28. So plain functions nest 40 and 33 deep, and ours 30 and 25. With the
//! feature off ours are the plain ones.

use std::future::Future;
use std::pin::Pin;

macro_rules! chain {
    ($name:ident, $leaf:expr, $($level:ident: $below:ident,)*) => {
        #[turbowish::instrument]
        mod $name {
            pub async fn level_1(n: u64) -> u64 {
                $leaf.await;
                n
            }
            $(pub async fn $level(n: u64) -> u64 {
                $below(n).await + 1
            })*
        }
    };
}

chain!(
    yielding,
    tokio::task::yield_now(),
    level_2: level_1, level_3: level_2, level_4: level_3, level_5: level_4, level_6: level_5, level_7: level_6,
    level_8: level_7, level_9: level_8, level_10: level_9, level_11: level_10, level_12: level_11,
    level_13: level_12, level_14: level_13, level_15: level_14, level_16: level_15, level_17: level_16,
    level_18: level_17, level_19: level_18, level_20: level_19, level_21: level_20, level_22: level_21,
    level_23: level_22, level_24: level_23, level_25: level_24, level_26: level_25, level_27: level_26,
    level_28: level_27, level_29: level_28, level_30: level_29,
);

chain!(
    sleeping,
    tokio::time::sleep(std::time::Duration::from_millis(1)),
    level_2: level_1, level_3: level_2, level_4: level_3, level_5: level_4, level_6: level_5, level_7: level_6,
    level_8: level_7, level_9: level_8, level_10: level_9, level_11: level_10, level_12: level_11,
    level_13: level_12, level_14: level_13, level_15: level_14, level_16: level_15, level_17: level_16,
    level_18: level_17, level_19: level_18, level_20: level_19, level_21: level_20, level_22: level_21,
    level_23: level_22, level_24: level_23, level_25: level_24,
);

/// As deep as plain functions go.
#[cfg(not(feature = "enabled"))]
mod compiled_out {
    chain!(
        sleeping,
        tokio::time::sleep(std::time::Duration::from_millis(1)),
        level_2: level_1, level_3: level_2, level_4: level_3, level_5: level_4, level_6: level_5, level_7: level_6,
        level_8: level_7, level_9: level_8, level_10: level_9, level_11: level_10, level_12: level_11,
        level_13: level_12, level_14: level_13, level_15: level_14, level_16: level_15, level_17: level_16,
        level_18: level_17, level_19: level_18, level_20: level_19, level_21: level_20, level_22: level_21,
        level_23: level_22, level_24: level_23, level_25: level_24, level_26: level_25, level_27: level_26,
        level_28: level_27, level_29: level_28, level_30: level_29, level_31: level_30, level_32: level_31,
        level_33: level_32,
    );

    pub async fn run() {
        assert_eq!(tokio::spawn(sleeping::level_33(1)).await.unwrap(), 33);
    }
}

#[turbowish::instrument]
async fn fib(n: u32) -> u32 {
    if n < 2 { n } else { Box::pin(fib(n - 1)).await + Box::pin(fib(n - 2)).await }
}

#[turbowish::instrument]
mod mutual {
    pub async fn even(n: u32) -> bool {
        n == 0 || Box::pin(odd(n - 1)).await
    }
    pub async fn odd(n: u32) -> bool {
        n != 0 && Box::pin(even(n - 1)).await
    }
}

#[turbowish::instrument]
fn boxed(n: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move { if n == 0 { 0 } else { boxed(n - 1).await + 1 } })
}

#[tokio::main]
async fn main() {
    assert_eq!(tokio::spawn(yielding::level_30(1)).await.unwrap(), 30);
    assert_eq!(tokio::spawn(sleeping::level_25(1)).await.unwrap(), 25);
    #[cfg(not(feature = "enabled"))]
    compiled_out::run().await;
    assert_eq!(tokio::spawn(fib(10)).await.unwrap(), 55);
    assert!(tokio::spawn(mutual::even(10)).await.unwrap());
    assert_eq!(tokio::spawn(boxed(5)).await.unwrap(), 5);
}
