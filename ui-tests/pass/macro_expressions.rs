//! Awaits among the arguments of std's macros: the same values, text, drops and panics, also when the call is cancelled.
#![deny(warnings, unused, unused_results, rust_2018_idioms)]

use std::cell::RefCell;
use std::fmt::Write as _;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

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

impl Loud {
    fn id(&self) -> u32 {
        self.0
    }
}

impl std::fmt::Display for Loud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "loud {}", self.0)
    }
}

/// Pending once.
async fn slow<T>(value: T) -> T {
    tokio::task::yield_now().await;
    note("slow");
    value
}

async fn id(loud: &Loud) -> u32 {
    slow(loud.id()).await
}

/// Borrows what it is given.
fn same(loud: &Loud) -> &Loud {
    loud
}

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain { use super::*; $($items)* }
        #[turbowish::instrument]
        mod rewritten { use super::*; $($items)* }
    };
}

twice! {
    pub(super) async fn text(n: u32) -> String {
        let mut text = format!("{} {n} {:?}", id(&Loud(1)).await, slow(Loud(2)).await);
        text += &format!("{a}{b}{a}", a = slow(3).await, b = id(same(&Loud(4))).await,);
        write!(text, "{}", slow("!").await).unwrap();
        writeln!(slow(&mut text).await, "{0}{0}", slow(&Loud(5)).await).unwrap();
        if n == 7 {
            println!("{}", format_args!("{} {}", slow(&Loud(6)).await, id(&Loud(7)).await));
            eprintln!("{}", async { slow(n).await }.await);
        }
        text
    }

    pub(super) async fn lists(n: u32) -> Vec<u32> {
        let mut all = vec![id(&Loud(1)).await, slow(2).await, n];
        all.extend(vec![slow(3).await; id(&Loud(4)).await as usize]);
        all.extend(vec![vec![slow(5).await], vec![6, slow(7).await]].concat());
        let futures = vec![slow(8), slow(9)];
        for future in futures {
            all.push(future.await);
        }
        all
    }

    pub(super) async fn questions(n: u32) -> (bool, bool, bool) {
        let a = matches!(slow(Loud(1)).await, Loud(id) if id == slow(n).await);
        let b = matches!(id(&Loud(2)).await, 1..=2 | 5);
        while !matches!(slow(Some(n)).await, Some(k) if k > 0 || slow(true).await) {
            note("never here");
        }
        let _ = slow(Loud(3)).await;
        (a, b, matches!(slow(&Loud(4)).await.id(), 4))
    }

    pub(super) async fn checks(n: u32) -> u32 {
        assert_eq!(id(&Loud(1)).await, slow(1).await);
        assert_ne!(slow(n).await, 7, "{} {}", slow(n).await, slow(Loud(2)).await);
        debug_assert_eq!(slow(n).await, n);
        assert!(slow(n).await < 100, "{} is too much", slow(n).await);
        assert!(id(&Loud(3)).await == 3);
        assert!(matches!(slow(Some(n)).await, Some(k) if k < slow(50).await));
        debug_assert!({ let k = slow(n).await; k + slow(1).await > 0 });
        match n {
            0 => assert_eq!(slow(n).await, 1),
            1 => assert_eq!(slow(n).await, 2, "{n} is {}", slow("one").await),
            2 => assert_ne!(slow(n).await, id(&Loud(2)).await),
            3 => panic!("{} {n}", slow("three").await),
            4 => unreachable!("{}", slow("four").await),
            5 => todo!("{}", slow("five").await),
            6 => unimplemented!("{}", slow("six").await),
            _ => {}
            #[cfg(any())]
            _ => missing!(n.await),
        };
        n
    }

    pub(super) async fn conditions(n: u32) {
        match n {
            0 => assert!(slow(n).await == 1),
            1 => assert!(id(&Loud(1)).await == 0 && slow(true).await, ),
            2 => assert!(matches!(slow(Some(n)).await, None)),
            3 => assert!(!slow(true).await, "{} is wrong", slow(n).await),
            _ => debug_assert!({ slow(n).await == 0 }),
        }
    }

    pub(super) async fn pins(n: u32) -> u32 {
        let borrowed = std::pin::pin!(id(&Loud(1)).await);
        let future = std::pin::pin!(async { slow(n).await + id(&Loud(2)).await });
        let sum = *borrowed + future.await;
        let later = pin!(slow(Loud(3)));
        let kept = Loud(4);
        let other = pin!(id(same(&kept)));
        sum + later.await.id() + other.await
    }

    pub(super) async fn extended(n: u32) -> u32 {
        // The temporaries live as long as the block does.
        let kept = &format!("{}", slow(Loud(1)).await);
        let list: &[Loud] = &vec![slow(Loud(2)).await, Loud(3)];
        note("before the end");
        kept.len() as u32 + list[0].id() + n
    }

    pub(super) async fn tails(n: u32) -> usize {
        let local = Loud(n);
        format!("{} {}", slow(&Loud(1)).await, id(&local).await).len()
    }

    pub(super) async fn futures_of_macros(n: u32) -> u32 {
        macro_rules! number {
            ($e:expr) => {
                async move { slow($e).await }
            };
        }
        number!(n).await + number!(slow(n).await).await
    }
}

/// Polls that often, and says all that happened.
fn run<T: std::fmt::Debug>(polls: usize, future: impl Future<Output = T>) -> Vec<String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut future = pin!(future);
        for poll in 0..polls {
            note(format!("poll {poll}"));
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                note(format!("{value:?}"));
                return;
            }
        }
        note("cancelled");
    }));
    if let Err(panic) = outcome {
        let text = panic.downcast_ref::<String>().cloned();
        note(text.unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap().to_string()));
    }
    LOG.take()
}

macro_rules! check {
    ($($call:ident)*) => {$(
        for n in 0..8 {
            for polls in 1..20 {
                let expected = run(polls, plain::$call(n));
                assert!(polls < 19 || expected.last().unwrap() != "cancelled", "{expected:?}");
                assert_eq!(run(polls, rewritten::$call(n)), expected, "{}({n}) polled {polls} times", stringify!($call));
            }
        }
    )*};
}

/// Panics say where they stand; the same file and line, whichever of the twins it is.
fn places<F: Future>(future: F) -> String {
    thread_local!(static PLACE: RefCell<String> = const { RefCell::new(String::new()) });
    std::panic::set_hook(Box::new(|info| PLACE.set(info.to_string())));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut future = pin!(future);
        while future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
    }));
    assert!(outcome.is_err());
    let _ = LOG.take();
    PLACE.take()
}

fn is_send<F: Send>(future: F) -> F {
    future
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    check!(text lists questions checks conditions pins extended tails futures_of_macros);
    for n in 0..5 {
        assert_eq!(places(rewritten::conditions(n)), places(plain::conditions(n)));
    }
    for n in 0..7 {
        assert_eq!(places(rewritten::checks(n)), places(plain::checks(n)));
    }
    let text = places(rewritten::conditions(1));
    assert!(text.ends_with("assertion failed: id(&Loud(1)).await == 0 && slow(true).await"), "{text}");
    let _ = is_send(rewritten::text(1));
    let _ = is_send(rewritten::lists(1));
    let _ = is_send(rewritten::questions(1));
    let _ = is_send(rewritten::checks(1));
    let _ = is_send(rewritten::pins(1));
    let _ = is_send(rewritten::tails(1));
}
