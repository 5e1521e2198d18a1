//! Macros that await by themselves, and what is awaited before and after in them: the same values, drops and ways out.
#![deny(warnings, unused, rust_2018_idioms)]

use std::cell::RefCell;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use futures::stream::{self, StreamExt};

thread_local!(static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

fn note(text: impl Into<String>) {
    LOG.with_borrow_mut(|log| log.push(text.into()));
}

#[derive(Debug, PartialEq)]
struct Loud(u32);

impl Drop for Loud {
    fn drop(&mut self) {
        note(format!("{} dropped", self.0));
    }
}

/// Pending that often.
async fn after<T>(polls: u32, value: T) -> T {
    for left in 0..polls {
        note(format!("{left} of {polls}"));
        tokio::task::yield_now().await;
    }
    value
}

async fn borrowed(polls: u32, loud: &Loud) -> u32 {
    after(polls, loud.0).await
}

macro_rules! wait {
    ($e:expr) => {
        $e.await
    };
}

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain { use super::*; $($items)* }
        #[turbowish::instrument]
        mod rewritten { use super::*; $($items)* }
    };
}

twice! {
    pub(super) async fn forms(n: u32) -> u32 {
        let mut sum = 0;
        let kept = Loud(9);
        sum += tokio::select! {
            biased;
            one = after(n, 1) => one,
            two = after(2, 2), if n > 1 => { after(1, two).await }
            Some(k) = async { after(n, None).await }, if after(1, n > 3).await => k,
            _ = &mut Box::pin(borrowed(after(1, 3).await, &kept)) => 4
        };
        sum += tokio::select! {
            biased;
            Some(k) = after(1, (n > 2).then_some(Loud(1))) => k.0,
            Ok(k) | Err(k) = after(2, if n > 1 { Ok(n) } else { Err(7) }), if n > 0 => after(1, k).await,
            else => after(1, 8).await,
        };
        sum += tokio::select! { else => after(n, 1).await };
        tokio::select! {
            biased;
            k = after(after(1, n).await, Loud(2)) => {
                let local = Loud(3);
                match k.0 {
                    2 => sum += borrowed(1, &local).await,
                    _ => wait!(after(1, ())),
                }
            },
            _ = std::future::pending::<()>() => unreachable!("{}", after(1, 1).await),
        }
        sum
    }

    pub(super) async fn ways_out(n: u32) -> Result<u32, String> {
        let mut turns = 0;
        let found = 'turns: loop {
            turns += 1;
            tokio::select! {
                biased;
                _ = after(1, ()), if turns < n => continue,
                k = after(1, n), if n == 4 => break 'turns after(1, k).await,
                text = after(0, "x"), if n == 3 => {
                    let k: u32 = text.parse().map_err(|_| after(1, "no".to_owned())).or_else(|_| Err("no".to_owned()))?;
                    break k;
                }
                _ = after(2, ()) => return Ok(wait!(after(1, turns))),
            }
        };
        Ok(found + turns)
    }

    pub(super) async fn nested(n: u32) -> u32 {
        let outer = tokio::select! {
            biased;
            a = async { tokio::select! { biased; a = after(n, 1) => after(1, a).await, b = after(9, 2) => b } } => {
                tokio::select! {
                    biased;
                    b = after(1, a) => after(n, b).await,
                    c = after(1, Loud(1)) => { c.0 }
                }
            }
            b = after(4, Loud(5)) => wait!(after(1, b.0)),
        };
        let (a, b) = tokio::join!(nested_once(n), async { tokio::join!(after(1, 1), after(n, 2)).1 });
        outer + a + b
    }

    async fn nested_once(n: u32) -> u32 {
        wait!(after(n, n))
    }

    pub(super) async fn joined(n: u32) -> Result<u32, String> {
        let (first, fifth) = (Loud(1), Loud(5));
        let (a, b, c) = tokio::join!(biased; borrowed(n, &first), after(after(1, 1).await, 2), async { after(2, Loud(3)).await.0 });
        let (d, e) = futures::join!(after(n, Loud(4)), borrowed(1, &fifth),);
        let limit = 3;
        let (f, g) = tokio::try_join!(
            async { if n > limit { Err(after(1, "too much".to_owned()).await) } else { Ok(n) } },
            after(1, Ok(Loud(6))),
        )?;
        let (h, i) = futures::try_join!(after(1, Ok::<_, String>(1)), async { after(n, Ok(2)).await })?;
        Ok(a + b + c + d.0 + e + f + g.0 + h + i + tokio::join!(after(1, 1)).0)
    }

    pub(super) async fn of_futures(n: u32) -> u32 {
        let mut numbers = stream::iter([1, 2, 3]).fuse();
        let mut slow = pin!(after(n, 10).fuse());
        let mut sum = 0;
        loop {
            futures::select_biased! {
                k = numbers.next() => match k {
                    Some(k) => sum += after(1, k).await,
                    None => sum += 100,
                },
                k = slow => sum += wait!(after(1, k)),
                complete => break,
            }
        }
        sum += futures::select_biased! {
            k = Box::pin(after(n, Loud(1))).fuse() => { borrowed(1, &k).await }
            k = Box::pin(async { after(after(1, 2).await, 3).await }).fuse() => after(1, k).await,
        };
        sum += futures::select! {
            k = Box::pin(after(1, 1)).fuse() => k,
            default => after(1, 2).await,
        };
        sum
    }

    pub(super) async fn pinned(n: u32) -> u32 {
        let late = after(n, Loud(1));
        tokio::pin!(late);
        tokio::pin! {
            let early = after(1, after(1, Loud(2)).await);
            let block = async { after(2, 3).await };
        }
        let mut sum = 0;
        let mut open = true;
        while sum < 3 {
            tokio::select! {
                biased;
                k = &mut late, if open => { sum += k.0; open = false; }
                k = &mut block => sum += k,
                k = &mut early, if sum < 1 => sum += k.0,
            }
            if sum < 3 && !open {
                break;
            }
        }
        sum
    }

    /// Ways to stop that only the macro's own arms know.
    pub(super) async fn controlled(n: u32) -> ControlFlow<u32, u32> {
        for turn in 0..n {
            let step = tokio::select! {
                biased;
                k = after(1, turn) => match k {
                    2 => return ControlFlow::Break(after(1, k).await),
                    _ if wait!(after(1, k == 1)) => continue,
                    k => k,
                },
            };
            assert_eq!(after(1, step).await, turn);
        }
        ControlFlow::Continue(n)
    }
}

fn run<T: std::fmt::Debug>(polls: usize, future: impl Future<Output = T>) -> Vec<String> {
    {
        let mut future = pin!(future);
        for poll in 0..polls {
            note(format!("poll {poll}"));
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                note(format!("{value:?}"));
                break;
            }
        }
    }
    LOG.take()
}

macro_rules! check {
    ($($call:ident)*) => {$(
        for n in 0..5 {
            for polls in 1..25 {
                let expected = run(polls, plain::$call(n));
                assert_eq!(run(polls, rewritten::$call(n)), expected, "{}({n}) polled {polls} times", stringify!($call));
            }
        }
    )*};
}

fn is_send<F: Send>(_: F) {}

fn main() {
    check!(forms ways_out nested joined of_futures pinned controlled);
    is_send(rewritten::forms(1));
    is_send(rewritten::ways_out(1));
    is_send(rewritten::nested(1));
    is_send(rewritten::joined(1));
    is_send(rewritten::of_futures(1));
    is_send(rewritten::pinned(1));
}
