//! Arguments and locals are dropped in the order of the plain function: on completion, and when the call is cancelled.

#![allow(unused)]

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

thread_local!(static DROPS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) });

pub struct Loud(&'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        DROPS.with_borrow_mut(|drops| drops.push(self.0));
    }
}

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain { use super::*; $($items)* }
        #[turbowish::instrument]
        mod instrumented { use super::*; $($items)* }
    };
}

twice! {
    pub async fn names(x: Loud, y: Loud, z: Loud) {
        let _local = Loud("local");
        let _ = &y;
        tokio::task::yield_now().await;
        let _late = Loud("late");
    }
    pub async fn unused(_x: Loud, _: Loud, mut _z: Loud) {
        tokio::task::yield_now().await;
    }
    pub async fn patterns(x: Loud, (a, b): (Loud, Loud), _: Loud, mut y: Loud, z: Loud) {
        tokio::task::yield_now().await;
        y = Loud("y, assigned");
        tokio::task::yield_now().await;
        let _ = &y;
    }
    pub async fn partly((a, _): (Loud, Loud), [_, ref b, ..]: [Loud; 3]) {
        tokio::task::yield_now().await;
    }
    pub async fn moved(x: Loud, y: Loud) {
        drop(x);
        tokio::task::yield_now().await;
    }
    pub struct Owner(pub Loud);
    impl Owner {
        pub async fn consumed(self, x: Loud) {
            tokio::task::yield_now().await;
            let _ = &self.0;
        }
        pub async fn ignored(self, _x: Loud) {}
    }
    pub async fn tail(x: Loud) -> usize {
        tokio::task::yield_now().await;
        Some(&Loud("temporary")).map(|loud| loud.0.len()).unwrap_or_default()
    }
    async fn length(loud: &Loud) -> usize {
        tokio::task::yield_now().await;
        loud.0.len()
    }
    pub async fn awaited_tail(x: Loud) -> usize {
        let _local = Loud("local");
        length(&Loud("temporary")).await
    }
    pub async fn awaited_in_scrutinee(x: Loud) -> usize {
        let _local = Loud("local");
        match length(&Loud("temporary")).await {
            0 => 0,
            n => n + length(&Loud("later")).await,
        }
    }
    #[must_use]
    pub async fn kept(x: Loud, (a, b): (Loud, Loud), _z: Loud) {
        tokio::task::yield_now().await;
    }
}

/// The order of drops when the call is cancelled after that many polls.
fn drops<F: Future>(polls: usize, future: F) -> Vec<&'static str> {
    {
        let mut future = pin!(future);
        for _ in 0..polls {
            if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                break;
            }
        }
    }
    DROPS.take()
}

fn loud<const N: usize>() -> [Loud; N] {
    let mut names = ["1", "2", "3", "4", "5", "6"].into_iter();
    [(); N].map(|()| Loud(names.next().unwrap()))
}

macro_rules! check {
    ($call:ident, ($($name:ident),*), $arguments:tt) => {
        for polls in 0..4 {
            let [$($name),*] = loud();
            let plain = drops(polls, plain::$call $arguments);
            let [$($name),*] = loud();
            assert_eq!(plain, drops(polls, instrumented::$call $arguments), "{} polled {polls} times", stringify!($call));
        }
    };
}

fn main() {
    check!(names, (a, b, c), (a, b, c));
    check!(unused, (a, b, c), (a, b, c));
    check!(patterns, (a, b, c, d, e, f), (a, (b, c), d, e, f));
    check!(partly, (a, b, c, d, e), ((a, b), [c, d, e]));
    check!(moved, (a, b), (a, b));
    check!(tail, (a), (a));
    check!(awaited_tail, (a), (a));
    check!(awaited_in_scrutinee, (a), (a));
    for polls in 0..3 {
        let [a, b] = loud();
        let plain = drops(polls, plain::Owner(a).consumed(b));
        let [a, b] = loud();
        assert_eq!(plain, drops(polls, instrumented::Owner(a).consumed(b)));
        let [a, b] = loud();
        let plain = drops(polls, plain::Owner(a).ignored(b));
        let [a, b] = loud();
        assert_eq!(plain, drops(polls, instrumented::Owner(a).ignored(b)));
    }
    #[allow(unused_must_use)]
    {
        check!(kept, (a, b, c, d), (a, (b, c), d));
    }
}
