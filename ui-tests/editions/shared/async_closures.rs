//! `async` closures: what they capture, lend, reborrow, consume and move, in part and in loops; of which traits they are.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;

use futures::FutureExt;

use crate::twice::{Loud, later, say};

pub struct Pair(pub Loud, pub Loud);

#[derive(Debug, Clone, Copy)]
pub struct Brand<'b>(PhantomData<fn(&'b ()) -> &'b ()>, u32);

async fn many<F: AsyncFnMut(u32) -> u32>(mut f: F) -> u32 {
    f(1).await + f(2).await
}
async fn shared<F: AsyncFn() -> T, T>(f: &F) -> (T, T) {
    futures::join!(f(), f())
}
async fn once<T>(f: impl AsyncFnOnce() -> T) -> T {
    f().await
}
async fn branded<R>(f: impl for<'b> AsyncFnOnce(Brand<'b>) -> R) -> R {
    f(Brand(PhantomData, 5)).await
}
async fn visited(list: &mut [u32], f: impl AsyncFn(&mut u32)) {
    for n in list {
        f(n).await;
    }
}
fn plain_fn<F: Fn(u32) -> R, R: Future<Output = u32> + Send + 'static>(
    f: F,
) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(f(3))
}

twice! {
    pub async fn reborrows(n: &mut u32, list: &mut Vec<u32>) -> u32 {
        let mut add = async |by: u32| {
            *n += later(by).await;
            list.push(*n);
        };
        add(1).await;
        add(2).await;
        let again = &mut *n;
        let mut through = async || { *again += later(1).await; };
        through().await;
        through().await;
        *n + list.len() as u32
    }
    pub async fn parts(mut pair: Pair, tuple: (u32, String)) -> usize {
        let first = async || later(pair.0.0.len()).await;
        drop(pair.1);
        let n = first().await;
        pair.1 = Loud("new");
        let mut second = async || { pair.1 = later(Loud("newer")).await; };
        let text = async || tuple.1.len();
        second().await;
        say("between");
        second().await;
        drop(pair.0);
        n + text().await + tuple.0 as usize
    }
    pub async fn consumes(x: Loud, y: Loud, flag: bool) -> usize {
        let consuming = async || {
            let inner = x;
            later(inner.0.len()).await
        };
        let n = once(consuming).await;
        let maybe = async || if flag { later(Some(y)).await } else { None };
        say("before");
        n + once(maybe).await.map_or(0, |y| y.0.len())
    }
    pub async fn never_called(x: Loud, y: Loud) {
        let consuming = async || drop(x);
        let borrowing = async || y.0.len();
        later(()).await;
        let unpolled = borrowing();
        drop(consuming);
        later(()).await;
        drop(unpolled);
    }
    pub async fn dropped_in_the_middle(x: Loud) -> usize {
        let waits = async |y: Loud| {
            let _local = Loud("local");
            later(()).await;
            later(()).await;
            x.0.len() + y.0.len()
        };
        let mut call = Box::pin(waits(Loud("y")));
        assert!((&mut call).now_or_never().is_none());
        drop(call);
        waits(Loud("z")).await
    }
    pub async fn traits() -> (u32, (usize, usize), u32) {
        let mut sum = 0;
        let with_state = many(async |n| { sum += later(n).await; sum }).await;
        let text = "text".to_owned();
        let lengths = shared(&async || later(text.len()).await).await;
        (with_state + sum, lengths, plain_fn(async |n| later(n).await + 1).await)
    }
    pub async fn lends(list: &mut Vec<u32>) -> u32 {
        let first = async |list: &mut Vec<u32>, n: u32| -> Option<u32> {
            list.push(later(n).await);
            list.first().copied()
        };
        let a = first(list, 4).await;
        visited(list, async |n| { *n += 1; later(()).await; *n *= 2; }).await;
        a.unwrap_or(0) + list.iter().sum::<u32>()
    }
    pub async fn brands() -> u32 {
        branded(async |brand| { let same = later(brand).await; same.1 + brand.1 }).await
    }
    pub async fn in_loops(words: &[&str]) -> BTreeMap<String, usize> {
        let mut seen = BTreeMap::new();
        for word in words {
            let mut count = async |by: usize| {
                if word.is_empty() {
                    return Err("empty");
                }
                *seen.entry(word.to_string()).or_insert(0) += later(by).await;
                Ok(())
            };
            if count(1).await.is_err() {
                break;
            }
            count(word.len()).await.unwrap();
        }
        seen
    }
    pub async fn nested(n: u32) -> u32 {
        let outer = async |a: u32| {
            let inner = async |b: u32| {
                let innermost = async || later(a + b + n).await;
                innermost().await + innermost().await
            };
            inner(1).await + async { inner(2).await }.await
        };
        outer(10).await
    }
    pub async fn shadows(x: u32, y: Rc<u32>) -> (u32, Rc<u32>) {
        let x = async |x: u32, (y, _): (u32, Loud), _: Loud| { let x = x + y; later(x).await };
        let sum = x(1, (2, Loud("rest")), Loud("wild")).await;
        (sum, y)
    }
    pub async fn patterns(list: Vec<(u32, Option<&str>)>) -> usize {
        let of = async |&(n, text): &(u32, Option<&str>), [a, .., b]: [u32; 3], ref c: String, mut d: Vec<u32>| {
            d.push(later(n).await);
            text.map_or(0, str::len) + (a + b) as usize + c.len() + d.len()
        };
        let mut sum = 0;
        for item in &list {
            sum += of(item, [1, 2, 3], "c".to_owned(), vec![]).await;
        }
        sum
    }
    pub async fn tries(text: &str) -> Result<u32, std::num::ParseIntError> {
        let parse = async |text: &str| text.parse::<u32>();
        let both = async |a: &str| {
            let n = parse(a).await?;
            if n > 5 {
                return Ok(later(5).await);
            }
            Ok::<u32, std::num::ParseIntError>(n + parse("1").await?)
        };
        both(text).await
    }
    pub async fn moving(x: Loud, n: Box<u32>) -> usize {
        let owning = async move |by: u32| later(x.0.len() + (*n + by) as usize).await;
        let a = owning(1).await;
        say("called");
        let b = owning(2).await;
        drop(owning);
        say("dropped");
        a + b
    }
    pub struct Machine {
        state: u32,
        log: Vec<String>,
    }
    impl Machine {
        async fn step(&mut self, by: u32) -> u32 {
            let Self { state, log } = self;
            let mut change = async |by: u32| {
                *state += by;
                log.push(format!("{}", later(*state).await));
            };
            change(by).await;
            change(by).await;
            let read = async || self.state + self.log.len() as u32;
            read().await + read().await
        }
        async fn finish(self) -> (u32, Vec<String>) {
            let take = async || (self.state, self.log);
            take().await
        }
    }
    pub async fn machines() -> (u32, (u32, Vec<String>)) {
        let mut machine = Machine { state: 1, log: vec![] };
        (machine.step(2).await, machine.finish().await)
    }
}

#[test]
fn same() {
    same! {
        reborrows(&mut 1, &mut vec![]);
        parts(Pair(Loud("first"), Loud("second")), (1, "text".to_owned()));
        consumes(Loud("x"), Loud("y"), true);
        consumes(Loud("x"), Loud("y"), false);
        never_called(Loud("x"), Loud("y"));
        dropped_in_the_middle(Loud("x"));
        in_loops(&["a", "b", "a"]);
        in_loops(&["a", "", "b"]);
        nested(1);
        shadows(1, Rc::new(2));
        patterns(vec![(1, None), (2, Some("text"))]);
        tries("x");
        tries("2");
        tries("9");
        moving(Loud("x"), Box::new(1));
        machines();
    }
    // Whether these are `Send`, the compiler cannot say of the plain ones either.
    assert_eq!(
        whole!(plain::lends(&mut vec![1])),
        whole!(instrumented::lends(&mut vec![1]))
    );
    assert_eq!(whole!(plain::traits()), whole!(instrumented::traits()));
    assert_eq!(whole!(plain::brands()), whole!(instrumented::brands()));
}
