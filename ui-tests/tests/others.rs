//! Macros of other crates: arguments that are no Rust, functions that become something else, types that are made by macros.
//!
//! | macro | test |
//! |---|---|
//! | `stream!`, `try_stream!`: `yield`, `for await`, `?`, blocks inside | `values`: `streams`, `borrowed_stream`, `boxed_stream`, `sums` |
//! | `pin_project!`, methods on `Pin<&mut Self>` that use the projection | `values`: `polled`, `sums` |
//! | `#[apply(…)]` on a test, above and below ours | `applied_above`, `applied_below`, `listed::applied` |
//! | `#[apply(…)]` that makes a struct with the function inside, as `#[handler]` and `#[get]` do | `handled` |
//! | an attribute on an `impl` that takes attributes of methods and arguments away, as `#[Object]` does | `helpers` |
//! | `#[futures_test::test]`, above and below ours | `futures_above`, `futures_below`, `listed::futures` |

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_imports,
    reason = "modules of cases"
)]

use std::pin::Pin;
use std::task::{Context, Poll};

use async_stream::{stream, try_stream};
use futures::{Stream, StreamExt};
use macro_rules_attribute::apply;
use tokio::task::yield_now;

async fn later<T>(value: T) -> T {
    yield_now().await;
    value
}

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain {
            use super::*;
            $($items)*
        }
        #[turbowish::instrument]
        mod instrumented {
            use super::*;
            $($items)*
        }
    };
}

twice! {
    pin_project_lite::pin_project! {
        struct Polled<F> {
            #[pin]
            inner: F,
            polls: u32,
        }
    }
    impl<F: Future> Future for Polled<F> {
        type Output = (F::Output, u32);
        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
            let this = self.project();
            *this.polls += 1;
            this.inner.poll(cx).map(|output| (output, *this.polls))
        }
    }
    impl<S: Stream<Item = u32>> Polled<S> {
        async fn sum(self: Pin<&mut Self>) -> u32 {
            let mut this = self.project();
            while let Some(n) = this.inner.next().await {
                *this.polls += later(n).await;
            }
            *this.polls
        }
    }
    pub(super) async fn polled() -> (u32, u32) {
        Polled { inner: later(5), polls: 0 }.await
    }
    pub(super) async fn sums() -> u32 {
        let inner = stream! {
            for n in 0..4 {
                yield later(n).await;
            }
        };
        std::pin::pin!(Polled { inner, polls: 1 }).sum().await
    }
    fn zero_to(end: u32) -> impl Stream<Item = u32> {
        stream! {
            for n in 0..end {
                yield n;
            }
        }
    }
    pub(super) async fn streams(fail: bool) -> Result<Vec<u32>, String> {
        let mut all = vec![];
        let stream = try_stream! {
            let mut sum = 0;
            for await n in zero_to(3) {
                sum += later(n).await;
                if fail {
                    Err("failed".to_owned())?;
                }
                yield sum;
            }
            let last: u32 = later(Ok::<u32, String>(9)).await?;
            yield last;
        };
        futures::pin_mut!(stream);
        while let Some(n) = stream.next().await {
            let n: Result<u32, String> = n;
            all.push(n?);
        }
        Ok(all)
    }
    pub(super) async fn borrowed_stream(list: &[u32]) -> u32 {
        let stream = stream! {
            for n in list {
                yield later(*n).await;
                let inner = async { later(*n).await };
                yield inner.await;
            }
        };
        tokio::pin!(stream);
        let mut sum = 0;
        loop {
            tokio::select! {
                n = stream.next() => match n {
                    Some(n) => sum += n,
                    None => break sum,
                },
                else => break 0,
            }
        }
    }
    type Numbers = Pin<Box<dyn Stream<Item = Result<u32, std::io::Error>> + Send>>;
    async fn boxed(n: u32) -> Numbers {
        let first = later(n).await;
        Box::pin(try_stream! {
            yield first;
            yield later(first + 1).await;
        })
    }
    pub(super) async fn boxed_stream() -> Vec<u32> {
        boxed(1).await.map(Result::unwrap).collect().await
    }
}

#[tokio::test]
async fn values() {
    macro_rules! same {
        ($($call:ident $arguments:tt = $value:expr;)*) => {$(
            assert_eq!(plain::$call $arguments.await, $value);
            assert_eq!(instrumented::$call $arguments.await, $value);
        )*};
    }
    same! {
        polled() = (5, 2);
        sums() = 7;
        streams(true) = Err("failed".to_owned());
        streams(false) = Ok(vec![0, 1, 3, 9]);
        borrowed_stream(&[1, 2]) = 6;
        boxed_stream() = [1, 2];
    }
}

/// Makes a test, as `#[macro_rules_attribute::apply(smol_macros::test!)]` does.
macro_rules! test {
    ($(#[$attribute:meta])* $vis:vis async fn $name:ident() $body:block) => {
        #[test]
        $(#[$attribute])*
        $vis fn $name() {
            futures::executor::block_on(async $body)
        }
    };
}

/// Makes a struct of the function, which stands inside of a method.
macro_rules! served {
    ($(#[$attribute:meta])* $vis:vis async fn $name:ident($($argument:ident: $ty:ty),*) -> $output:ty $body:block) => {
        #[allow(non_camel_case_types, reason = "a case")]
        $vis struct $name;
        impl $name {
            $vis async fn handle(&self, $($argument: $ty),*) -> $output {
                $(#[$attribute])*
                async fn $name($($argument: $ty),*) -> $output $body
                $name($($argument),*).await
            }
        }
    };
}

#[turbowish::instrument]
#[apply(served!)]
async fn served_above(text: &str, n: u32) -> Result<usize, std::num::ParseIntError> {
    let parsed: usize = later(text).await.parse()?;
    Ok(parsed + n as usize)
}

#[apply(served!)]
#[turbowish::instrument]
async fn served_below(text: &str, n: u32) -> Result<usize, std::num::ParseIntError> {
    let parsed: usize = later(text).await.parse()?;
    Ok(parsed + n as usize)
}

/// Attributes of its methods and of their arguments are its own.
macro_rules! object {
    (impl $ty:ident {$(
        $(#[graphql($($graphql:tt)*)])?
        $(#[turbowish::$ours:ident])?
        async fn $name:ident(&$this:ident $(, $(#[$attribute:meta])* $argument:ident: $argument_ty:ty)*) -> $output:ty $body:block
    )*}) => {
        impl $ty {$(
            $(#[turbowish::$ours])?
            async fn $name(&$this $(, $argument: $argument_ty)*) -> $output $body
        )*}
    };
}

struct Above(u32);

#[turbowish::instrument]
#[apply(object!)]
impl Above {
    #[graphql(complexity = "count * child_complexity")]
    async fn sum(&self, #[graphql(default = 5)] count: u32, text: String) -> u32 {
        later(self.0 + count).await + text.len() as u32
    }
}

struct Methods(u32);

#[apply(object!)]
impl Methods {
    #[graphql(complexity = "count * child_complexity")]
    #[turbowish::instrument]
    async fn sum(&self, #[graphql(default = 5)] count: u32, text: String) -> u32 {
        later(self.0 + count).await + text.len() as u32
    }
}

#[tokio::test]
async fn handled() {
    assert_eq!(served_above.handle("1", 2).await, Ok(3));
    assert_eq!(served_below.handle("1", 2).await, Ok(3));
    assert_eq!(listed::handled.handle("1", 2).await, Ok(3));
    assert!(served_above.handle("x", 2).await.is_err());
}

#[tokio::test]
async fn helpers() {
    assert_eq!(Above(1).sum(2, "text".into()).await, 7);
    assert_eq!(Methods(1).sum(2, "text".into()).await, 7);
}

#[turbowish::instrument]
#[apply(test!)]
async fn applied_above() {
    assert_eq!(std::future::ready(1).await, 1);
}

#[apply(test!)]
#[turbowish::instrument]
async fn applied_below() {
    assert_eq!(std::future::ready(1).await, 1);
}

#[turbowish::instrument]
#[futures_test::test]
async fn futures_above() {
    assert_eq!(std::future::ready(1).await, 1);
}

#[futures_test::test]
#[turbowish::instrument]
async fn futures_below() {
    assert_eq!(std::future::ready(1).await, 1);
}

#[turbowish::instrument]
mod listed {
    use super::*;

    #[futures_test::test]
    async fn futures() {
        assert_eq!(std::future::ready(1).await, 1);
    }
    #[apply(test!)]
    async fn applied() {
        assert_eq!(std::future::ready(1).await, 1);
    }
    #[apply(served!)]
    pub(super) async fn handled(text: &str, n: usize) -> Result<usize, std::num::ParseIntError> {
        Ok(later(text).await.parse::<usize>()? + n)
    }
}

/// A test that vanishes fails here.
#[test]
fn every_test_is_listed() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .arg("--list")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut tests: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    tests.sort_unstable();
    let expected = [
        "applied_above",
        "applied_below",
        "every_test_is_listed",
        "futures_above",
        "futures_below",
        "handled",
        "helpers",
        "listed::applied",
        "listed::futures",
        "values",
    ];
    assert_eq!(tests, expected);
}
