//! An `async` closure is called, captures, coerces and drops as written, and is as `Send` as it was.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::num::ParseIntError;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use tokio::task::yield_now;

thread_local!(static DROPS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) });

pub struct Loud(&'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        DROPS.with_borrow_mut(|drops| drops.push(self.0));
    }
}

pub trait Shape {
    fn sides(&self) -> u32;
}

pub struct Square;
pub struct Circle;

impl Shape for Square {
    fn sides(&self) -> u32 {
        4
    }
}

impl Shape for Circle {
    fn sides(&self) -> u32 {
        0
    }
}

async fn twice<T>(mut f: impl AsyncFnMut(&str) -> T) -> (T, T) {
    (f("first").await, f("second").await)
}

async fn once<A, T>(f: impl AsyncFnOnce(A) -> T, argument: A) -> T {
    f(argument).await
}

async fn by_shared<T>(f: impl AsyncFn() -> T) -> (T, T) {
    tokio::join!(f(), f())
}

async fn in_the_old_way<F: Future>(f: impl FnOnce() -> F) -> F::Output {
    f().await
}

async fn longest<'a>(f: impl for<'b> AsyncFn(&'b str, &'a str) -> &'a str, name: &'a str) -> &'a str {
    let local = String::from("local");
    f(&local, name).await
}

fn spawned<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> tokio::task::JoinHandle<T> {
    tokio::spawn(future)
}

fn is_send<T: Send>(value: T) -> T {
    value
}

/// `Send`, `Copy` and not `Sync`.
#[derive(Clone, Copy)]
struct Odd(std::marker::PhantomData<Cell<u32>>);

macro_rules! bodies {
    ($(#[$attribute:meta])* $module:ident) => {
        $(#[$attribute])*
        mod $module {
            use super::*;

            pub(super) async fn counts() -> (u32, Vec<String>) {
                let mut total = 0;
                let mut seen = Vec::new();
                let mut add = async |n: u32| {
                    yield_now().await;
                    total += async { n }.await;
                    total
                };
                let sum = add(1).await + add(2).await;
                let (a, b) = twice(async |name| {
                    seen.push(name.to_owned());
                    yield_now().await;
                    name.len() as u32
                })
                .await;
                (sum + total + a + b, seen)
            }

            pub(super) async fn kinds(owned: String) -> (usize, usize, String, u32) {
                let text = String::from("shared");
                let (a, b) = by_shared(async || {
                    yield_now().await;
                    text.len()
                })
                .await;
                let consumed = once(async |suffix: &str| { let mut own = owned; own.push_str(suffix); yield_now().await; own }, "!").await;
                let old = in_the_old_way(async || { yield_now().await; 7 }).await;
                (a, b, consumed, old)
            }

            pub(super) async fn lifetimes(name: &str) -> usize {
                let kept = longest(async |local, name| { yield_now().await; if local.len() > 100 { &name[1..] } else { name } }, name).await;
                let borrow = async |text: &str, at: usize| -> Option<char> { yield_now().await; text.chars().nth(at) };
                kept.len() + borrow("abc", 1).await.map_or(0, char::len_utf8)
            }

            pub(super) async fn errors(text: &str) -> Result<u32, ParseIntError> {
                let parse = async |text: &str| -> Result<u32, ParseIntError> {
                    yield_now().await;
                    let n: u32 = text.parse()?;
                    if n == 0 {
                        return Ok(1);
                    }
                    Ok(n)
                };
                let inferred: Result<u32, ParseIntError> = once(async |text: &str| { Ok(parse(text).await? + text.parse::<u32>()?) }, text).await;
                inferred
            }

            pub(super) async fn coerces(round: bool) -> u32 {
                let shape = async |round| -> Box<dyn Shape> {
                    if round {
                        return Box::new(Circle) as Box<dyn Shape>;
                    }
                    yield_now().await;
                    Box::new(Square) as _
                };
                let into = async |n: u8| -> u32 { yield_now().await; n.into() };
                shape(round).await.sides() + into(1).await
            }

            pub(super) async fn never_comes_back() -> u32 {
                let endless = async || loop { yield_now().await };
                let breaks = async || loop { yield_now().await; break };
                let panics = async |n: u32| panic!("{n}");
                breaks().await;
                let _unused = async || {};
                tokio::select! {
                    biased;
                    _ = panicking(panics(1)) => {}
                    never = endless() => never,
                }
                3
            }

            async fn panicking<F: Future>(future: F) {
                let _ = future;
            }

            pub(super) async fn patterns() -> u32 {
                let add = async |(a, b): (u32, u32), [c, ..]: [u32; 3], _: u32, mut d: u32, ref e: u32| {
                    d += 1;
                    yield_now().await;
                    a + b + c + d + *e
                };
                add((1, 2), [3, 4, 5], 6, 7, 8).await
            }

            pub(super) async fn sends() -> (u32, u32, usize) {
                let cell = async |cell: Cell<u32>| { yield_now().await; cell.set(3); yield_now().await; cell.get() };
                let a = is_send(cell(Cell::new(1))).await;
                let odd = async |_odd: Odd| { yield_now().await; 2 };
                let b = is_send(odd(Odd(std::marker::PhantomData))).await;
                let shared = Arc::new(HashMap::from([(1, "one")]));
                let owned = shared.clone();
                let c = spawned(async move {
                    let get = async |key: &u32| { yield_now().await; owned.get(key).map(|text| text.len()) };
                    get(&1).await
                }).await.unwrap().unwrap();
                let own = Cell::new(5);
                // What it owns is no one else's business.
                let handed = async move || { let n = own.get(); yield_now().await; n };
                let d = spawned(in_the_old_way_sent(handed)).await.unwrap();
                (a + d, b, c)
            }

            async fn in_the_old_way_sent<F: Future>(f: impl FnOnce() -> F) -> F::Output {
                let future = f();
                future.await
            }

            pub(super) async fn drops(log: Loud) -> usize {
                let _kept = Loud("kept");
                let call = async |first: Loud, (second, _): (Loud, Loud), _: Loud, _unused: Loud| {
                    let _local = Loud("local");
                    yield_now().await;
                    let n = first.0.len() + second.0.len() + log.0.len();
                    yield_now().await;
                    Some(&Loud("temporary")).map(|loud| loud.0.len()).unwrap_or_default() + n
                };
                let n = call(Loud("first"), (Loud("second"), Loud("rest")), Loud("wild"), Loud("unused")).await;
                once(async |moved: Loud| { drop(log); drop(moved); yield_now().await; }, Loud("moved")).await;
                n
            }
        }
    };
}

bodies!(plain);
bodies!(#[turbowish::instrument] rewritten);

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

macro_rules! same {
    ($($call:ident $arguments:tt)*) => {
        $(assert_eq!(rewritten::$call $arguments.await, plain::$call $arguments.await);)*
    };
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    same! {
        counts()
        kinds("owned".into())
        lifetimes("name")
        errors("0")
        errors("1")
        errors("x")
        coerces(true)
        coerces(false)
        never_comes_back()
        patterns()
        sends()
    }
    for polls in 0..6 {
        let expected = drops(polls, plain::drops(Loud("log")));
        assert_eq!(drops(polls, rewritten::drops(Loud("log"))), expected, "{polls} polls");
        assert_eq!(expected.is_empty(), false);
    }
}
