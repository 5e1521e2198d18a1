//! Calls nest 25 deep under the compiler's default `recursion_limit`, and recursion works as in plain functions.

use std::future::Future;
use std::pin::Pin;

#[turbowish::instrument]
mod levels {
    pub async fn level_1(n: u64) -> u64 {
        tokio::task::yield_now().await;
        n
    }
    pub async fn level_2(n: u64) -> u64 {
        level_1(n).await + 1
    }
    pub async fn level_3(n: u64) -> u64 {
        level_2(n).await + 1
    }
    pub async fn level_4(n: u64) -> u64 {
        level_3(n).await + 1
    }
    pub async fn level_5(n: u64) -> u64 {
        level_4(n).await + 1
    }
    pub async fn level_6(n: u64) -> u64 {
        level_5(n).await + 1
    }
    pub async fn level_7(n: u64) -> u64 {
        level_6(n).await + 1
    }
    pub async fn level_8(n: u64) -> u64 {
        level_7(n).await + 1
    }
    pub async fn level_9(n: u64) -> u64 {
        level_8(n).await + 1
    }
    pub async fn level_10(n: u64) -> u64 {
        level_9(n).await + 1
    }
    pub async fn level_11(n: u64) -> u64 {
        level_10(n).await + 1
    }
    pub async fn level_12(n: u64) -> u64 {
        level_11(n).await + 1
    }
    pub async fn level_13(n: u64) -> u64 {
        level_12(n).await + 1
    }
    pub async fn level_14(n: u64) -> u64 {
        level_13(n).await + 1
    }
    pub async fn level_15(n: u64) -> u64 {
        level_14(n).await + 1
    }
    pub async fn level_16(n: u64) -> u64 {
        level_15(n).await + 1
    }
    pub async fn level_17(n: u64) -> u64 {
        level_16(n).await + 1
    }
    pub async fn level_18(n: u64) -> u64 {
        level_17(n).await + 1
    }
    pub async fn level_19(n: u64) -> u64 {
        level_18(n).await + 1
    }
    pub async fn level_20(n: u64) -> u64 {
        level_19(n).await + 1
    }
    pub async fn level_21(n: u64) -> u64 {
        level_20(n).await + 1
    }
    pub async fn level_22(n: u64) -> u64 {
        level_21(n).await + 1
    }
    pub async fn level_23(n: u64) -> u64 {
        level_22(n).await + 1
    }
    pub async fn level_24(n: u64) -> u64 {
        level_23(n).await + 1
    }
    pub async fn level_25(n: u64) -> u64 {
        level_24(n).await + 1
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

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(tokio::spawn(levels::level_25(1)).await.unwrap(), 25);
    assert_eq!(tokio::spawn(fib(10)).await.unwrap(), 55);
    assert!(tokio::spawn(mutual::even(10)).await.unwrap());
    assert_eq!(tokio::spawn(boxed(5)).await.unwrap(), 5);
}
