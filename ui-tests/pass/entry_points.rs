//! What `main` may return and be annotated with; annotated functions inside of annotated functions, blocks and constants.
#![deny(warnings, unused)]

use std::process::{ExitCode, Termination};

use tokio::task::yield_now;

#[turbowish::instrument]
#[tokio::main(flavor = "current_thread")]
async fn termination() -> impl Termination {
    yield_now().await;
    ExitCode::from(3)
}

#[tokio::main]
#[turbowish::instrument]
async fn fails() -> anyhow::Result<()> {
    yield_now().await;
    anyhow::ensure!(std::env::args().count() > 100, "too few");
    let _: u32 = "x".parse()?;
    Ok(())
}

#[turbowish::instrument]
async fn outer<T: Clone>(value: T) -> (T, u32) {
    #[turbowish::instrument]
    async fn inner<T: Clone>(value: &T) -> T {
        yield_now().await;
        value.clone()
    }
    #[turbowish::instrument]
    mod numbers {
        pub(super) async fn one() -> u32 {
            tokio::task::yield_now().await;
            1
        }
    }
    struct Local;
    #[turbowish::instrument]
    impl Local {
        async fn two(&self) -> u32 {
            #[turbowish::instrument]
            impl Deeper for Local {
                async fn three(&self) -> u32 {
                    yield_now().await;
                    3
                }
            }
            #[turbowish::instrument]
            trait Deeper {
                async fn three(&self) -> u32;
                async fn four(&self) -> u32 {
                    self.three().await + 1
                }
            }
            self.four().await - 2
        }
    }
    #[turbowish::instrument]
    fn plain() -> u32 {
        4
    }
    const FIVE: u32 = {
        #[turbowish::instrument]
        #[allow(dead_code)]
        async fn in_a_constant() {}
        5
    };
    let sum = numbers::one().await + Local.two().await + plain() + FIVE;
    (inner(&value).await, sum)
}

#[turbowish::instrument]
#[turbowish::instrument]
async fn twice(n: u32) -> u32 {
    yield_now().await;
    n
}

fn main() -> ExitCode {
    assert_eq!(termination().report(), ExitCode::from(3));
    assert!(fails().is_err());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(outer("text")), ("text", 12));
    assert_eq!(runtime.block_on(twice(1)), 1);
    ExitCode::SUCCESS
}
