//! A macro that may await is entered with a marker, which changes nothing else: no value, no drop, no lint.
#![deny(warnings, unused, unused_results, let_underscore, rust_2018_idioms, future_incompatible)]
#![deny(unused_qualifications, unit_bindings, tail_expr_drop_order, if_let_rescope)]

use std::cell::RefCell;
use std::future::ready;

macro_rules! wait {
    ($e:expr) => {
        $e.await
    };
}

/// Awaits that no one can see.
macro_rules! pause {
    () => {
        tokio::task::yield_now().await
    };
}

macro_rules! declare {
    ($name:ident) => {
        let $name = ready(1).await;
    };
}

macro_rules! item {
    ($name:ident) => {
        fn $name() -> u32 {
            1
        }
    };
}

/// A place, not a value.
macro_rules! first {
    ($e:expr) => {
        $e.0
    };
}

struct Noisy<'a>(&'a RefCell<Vec<&'static str>>, &'static str);

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().push(self.1);
    }
}

impl Noisy<'_> {
    fn some(&self, n: u32) -> Option<u32> {
        Some(n)
    }
}

macro_rules! bodies {
    ($(#[$attribute:meta])* $module:ident) => {
        $(#[$attribute])*
        mod $module {
            use super::*;
            pub(super) async fn select(n: u32) -> u32 {
                let (tx, rx) = tokio::sync::oneshot::channel::<()>();
                drop(tx);
                tokio::select! {
                    biased;
                    () = std::future::pending() => 0,
                    _ = rx => n,
                }
            }

            pub(super) async fn joined() -> (u32, u32) {
                pause!();
                tokio::join!(select(1), async { wait!(ready(2)) })
            }

            pub(super) async fn everywhere(n: u32) -> Result<Vec<u32>, String> {
                declare!(one);
                item!(inner);
                let mut all = vec![one, inner(), wait!(ready(n))];
                assert_eq!(all[0], ready(1).await);
                let Some(more) = wait!(ready(Some(7))) else {
                    return wait!(ready(Err(String::new())));
                };
                all.push(more);
                match n {
                    0 => pause!(),
                    1 => all.push(wait!(ready(8))),
                    k if k == wait!(ready(2)) => all.push(9),
                    _ => {}
                }
                let found: &dyn Fn() -> u32 = match n {
                    0 => &wait!(ready(|| 10)),
                    _ => &|| 11,
                };
                all.push(found());
                let mut left = 2;
                'count: while wait!(ready(left > 0)) {
                    left -= 1;
                    while let Some(k) = wait!(ready(Some(left))) {
                        if k == 0 {
                            continue 'count;
                        }
                        all.push(k);
                        break;
                    }
                }
                #[cfg(any())]
                missing!(n);
                if wait!(ready(false)) {
                    pause!();
                } else if wait!(ready(true)) {
                    wait!(ready(()));
                }
                let mut pair = (String::new(), 1);
                first!(pair).push('x');
                all.extend(pair.0.len().try_into().ok().into_iter().collect::<Vec<u32>>());
                for k in wait!(ready([1, 2])) {
                    all.push(k);
                }
                wait!(ready(Ok(all)))
            }

            pub(super) async fn in_parentheses(n: u32) -> u32 {
                let braced = ({ ready(n) }).await;
                braced + ((ready(n))).await
            }

            pub(super) async fn drops(log: &RefCell<Vec<&'static str>>) -> Option<u32> {
                let _local = Noisy(log, "local");
                match 1 {
                    1 => assert_eq!(Some(1), wait!(ready(Noisy(log, "in arm").some(1)))),
                    _ => {}
                }
                log.borrow_mut().push("after match");
                let mut left = 2;
                while let Some(k) = wait!(ready(Noisy(log, "in while").some(left))) {
                    log.borrow_mut().push("in body");
                    if k == 0 {
                        break;
                    }
                    left -= 1;
                    if k == 1 {
                        continue;
                    }
                }
                while let 1 = wait!(ready(Noisy(log, "in last").some(left))).unwrap_or(1) {}
                while Noisy(log, "in condition").some(wait!(ready(left))) == Some(1) {}
                log.borrow_mut().push("after while");
                wait!(ready(Noisy(log, "in tail").some(3)))
            }
        }
    };
}

bodies!(plain);
bodies!(#[turbowish::instrument] rewritten);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(rewritten::select(3).await, 3);
    assert_eq!(rewritten::joined().await, plain::joined().await);
    for n in 0..4 {
        assert_eq!(rewritten::everywhere(n).await, plain::everywhere(n).await);
    }
    assert_eq!(rewritten::in_parentheses(1).await, plain::in_parentheses(1).await);
    let (log, plain_log) = (RefCell::default(), RefCell::default());
    assert_eq!(rewritten::drops(&log).await, plain::drops(&plain_log).await);
    assert_eq!(log, plain_log);
    assert!(log.borrow().len() > 10);
}
