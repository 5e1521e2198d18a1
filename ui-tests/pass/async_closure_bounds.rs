//! What `async` closures can be given to, lend, borrow and be made of: bounds old and new, higher-ranked, boxed, nested.
#![deny(warnings)]

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use tokio::task::yield_now;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

async fn by_fn<F: Fn(u32) -> Fut, Fut: Future<Output = u32> + Send + 'static>(f: F) -> u32 {
    tokio::spawn(f(1)).await.unwrap() + f(2).await
}
async fn by_fn_ref<'a, F: Fn(u32) -> Fut, Fut: Future<Output = u32> + Send + 'a>(f: F) -> u32 {
    let a = f(1);
    let b = f(2);
    a.await + b.await
}
async fn by_fn_mut<F: FnMut() -> Fut, Fut: Future<Output = u32>>(mut f: F) -> u32 {
    f().await + f().await
}
async fn by_async_mut(mut f: impl AsyncFnMut()) {
    f().await;
    f().await
}
async fn hr(f: impl AsyncFn(&[u8], &dyn std::fmt::Display) -> usize) -> usize {
    f(&[1, 2], &3).await
}
async fn hr_mut(f: impl AsyncFn(&mut Vec<u32>)) -> Vec<u32> {
    let mut v = vec![];
    f(&mut v).await;
    f(&mut v).await;
    v
}
struct Retry<F>(F);
impl<F: AsyncFn(u32) -> Result<u32, String>> Retry<F> {
    async fn go(&self) -> u32 {
        let mut n = 0;
        loop {
            match (self.0)(n).await {
                Ok(k) => return k,
                Err(_) => n += 1,
            }
        }
    }
}
trait Tr {
    fn get(&self) -> u32;
}
impl Tr for u32 {
    fn get(&self) -> u32 {
        *self
    }
}
fn is_send<T: Send>(t: T) -> T {
    t
}

macro_rules! twice { ($($i:tt)*) => { mod plain { use super::*; $($i)* } #[turbowish::instrument] mod rewritten { use super::*; $($i)* } } }
twice! {
    pub async fn old() -> u32 {
        let k = 5;
        let a = by_fn(async |n| { yield_now().await; n + 1 }).await;
        let b = by_fn_ref(async |n| { yield_now().await; n + k }).await;
        let arc = Arc::new(7);
        let c = by_fn(move |n| { let arc = arc.clone(); async move { yield_now().await; n + *arc } }).await;
        let rc = Rc::new(1);
        let d = by_fn_mut(async || { yield_now().await; *rc }).await;
        a + b + c + d
    }
    pub async fn mutates() -> Vec<u32> {
        let mut v = vec![1];
        by_async_mut(async || { v.push(2); yield_now().await; v.push(3); }).await;
        let mut s = String::new();
        by_async_mut(async || { let r = &mut s; yield_now().await; r.push('x'); }).await;
        v.push(s.len() as u32);
        v.extend(hr_mut(async |v| { v.push(1); yield_now().await; let last = v.last_mut().unwrap(); *last += 1; }).await);
        v
    }
    pub async fn ranked() -> usize {
        let base = String::from("abc");
        hr(async |bytes, shown| { yield_now().await; bytes.len() + shown.to_string().len() + base.len() }).await
    }
    pub async fn retries() -> u32 {
        let counter = Mutex::new(0);
        Retry(async |n: u32| { *counter.lock().unwrap() += 1; yield_now().await; if n < 3 { Err(n.to_string())? } Ok(n + *counter.lock().unwrap()) }).go().await
    }
    pub async fn lends() -> usize {
        let text = String::from("hello");
        let get = async || -> &str { yield_now().await; text.as_str() };
        let first = async |at: usize| { &text[..at] };
        get().await.len() + first(2).await.len()
    }
    pub async fn boxed<T: Clone + Send + Sync + 'static>(value: T) -> T {
        let f = async |v: &T| { yield_now().await; v.clone() };
        let fut: BoxFuture<'_, T> = Box::pin(f(&value));
        fut.await
    }
    pub async fn nested() -> u32 {
        let mut total = 0;
        let mut outer = async |n: u32| {
            let mut inner = async |k: u32| { total += k; yield_now().await; async { total += 1; }.await; total };
            let a = inner(n).await;
            inner(a).await
        };
        outer(1).await + outer(2).await
    }
    pub async fn selects() -> u32 {
        let f = async |n: u32| tokio::select! { biased; _ = std::future::pending::<()>(), if n > 100 => 1, k = async { yield_now().await; n } => { yield_now().await; k } };
        let g = async || { tokio::join!(f(1), f(2)) };
        let (a, b) = g().await;
        a + b
    }
    pub async fn spawned() -> u32 {
        let map = Arc::new(Mutex::new(BTreeMap::new()));
        let put = async |k: u32| { yield_now().await; map.lock().unwrap().insert(k, k); map.lock().unwrap().len() as u32 };
        let n = is_send(put(1)).await;
        let h = { let map = map.clone(); tokio::spawn(async move { let len = async |add: &u32| { yield_now().await; map.lock().unwrap().len() as u32 + add }; len(&1).await + len(&2).await }) };
        n + h.await.unwrap()
    }
    pub async fn dynamic() -> u32 {
        let f = async |t: &dyn Tr| { yield_now().await; t.get() };
        let g = async |t: Box<dyn Tr + Send>| { yield_now().await; t.get() };
        f(&4).await + is_send(g(Box::new(5))).await
    }
    pub async fn never_polled() -> u32 {
        let f = async |s: String| s.len();
        let _ = f("a".into());
        drop(f("b".into()));
        f("ccc".into()).await as u32
    }
    pub struct S { pub n: u32 }
    impl S {
        pub async fn run(&mut self) -> u32 {
            let mut add = async |k: u32| { self.n += k; yield_now().await; self.n };
            add(1).await;
            add(2).await;
            let get = async || self.more(1).await;
            get().await + get().await
        }
        async fn more(&self, k: u32) -> u32 { yield_now().await; self.n + k }
        pub async fn once(self) -> u32 {
            let f = async || { let S { n } = self; yield_now().await; n };
            f().await
        }
    }
    pub async fn vec_of() -> u32 {
        let mut futures = vec![];
        let f = async |n: u32| -> u32 { yield_now().await; n };
        for n in 0..3 { futures.push(f(n)); }
        futures::future::join_all(futures).await.into_iter().sum()
    }
    pub async fn arrays<const N: usize>() -> usize {
        let f = async |a: [u8; N]| -> [u8; N] { yield_now().await; a };
        f([0; N]).await.len()
    }
    pub async fn question() -> Option<u32> {
        let f = async |n: Option<u32>| Some(n? + 1);
        let g = async |n: Option<u32>| -> Option<_> { let n = n?; if n == 0 { return None; } Some(f(Some(n)).await?) };
        g(Some(1)).await
    }
    pub async fn labelled() -> u32 {
        let f = async |mut n: u32| 'out: { loop { if n > 3 { break 'out n; } n += 1; yield_now().await; } };
        let g = async |n: u32| if n > 1 { n } else { yield_now().await; 0 };
        let h = async |n: u32| match n { 0 => g(1).await, n => g(n).await };
        let i = async || { h(3).await };
        f(0).await + i().await
    }
    pub fn not_async() -> impl AsyncFn(u32) -> u32 {
        async |n| { yield_now().await; n }
    }
    pub async fn with_items() -> u32 {
        let f = async |n: u32| { fn add(n: u32) -> u32 { n + 1 } use std::cmp::max; const K: u32 = 2; yield_now().await; max(add(n), K) };
        f(5).await
    }
    pub async fn temporaries(m: &tokio::sync::Mutex<Vec<u32>>) -> u32 {
        let f = async || m.lock().await.len() as u32;
        let g = async |n: u32| m.lock().await.push(n);
        g(1).await; g(2).await;
        let h = async || match m.lock().await.first() { Some(n) => *n, None => 0 };
        f().await + h().await
    }
}
#[tokio::main]
async fn main() {
    macro_rules! same { ($($call:expr),* $(,)?) => { $( { assert_eq!({ use rewritten::*; $call.await }, { use plain::*; $call.await }); } )* } }
    same!(
        old(),
        mutates(),
        ranked(),
        retries(),
        lends(),
        boxed(3u32),
        nested(),
        selects(),
        spawned(),
        dynamic(),
        never_polled(),
        S { n: 1 }.run(),
        S { n: 1 }.once(),
        vec_of(),
        arrays::<3>(),
        question(),
        labelled(),
        with_items(),
        temporaries(&tokio::sync::Mutex::new(vec![]))
    );
    assert_eq!(rewritten::not_async()(3).await, 3);
    is_send(rewritten::spawned()).await;
    is_send(rewritten::boxed(String::new())).await;
    is_send(rewritten::nested()).await;
    is_send(rewritten::lends()).await;
    is_send(rewritten::selects()).await;
    is_send(rewritten::vec_of()).await;
}
