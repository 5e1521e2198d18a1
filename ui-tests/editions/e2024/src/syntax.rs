//! Syntax that came late, or that is seldom written.

use crate::twice::{Loud, later, say};
use futures::{FutureExt, StreamExt, TryFutureExt};
use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::future::Future;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Mutex;

pub const fn double(n: usize) -> usize {
    n * 2
}
pub trait Super {
    fn get(&self) -> u32;
}
pub trait Sub: Super {}
impl Super for u32 {
    fn get(&self) -> u32 {
        *self
    }
}
impl Sub for u32 {}
#[derive(Debug)]
pub struct S {
    n: u32,
    l: Loud,
}

twice! {
    // const generic expressions, generics with defaults, where clauses
    pub async fn consts<const N: usize>(
        a: [u8; N],
        b: [u8; double(3)],
        c: [u8; {
            const K: usize = 2;
            K + 1
        }],
    ) -> [u8; { 1 + 1 }] {
        later(()).await;
        [a.len() as u8, b.len() as u8 + c.len() as u8]
    }
    pub async fn precise<'a, 'b, T: Debug>(x: &'a str, y: &'b T) -> impl Display + Debug + use<'a, 'b, T> {
        later(()).await;
        format!("{x} {y:?}")
    }
    pub fn precise_tail<'a, T: AsRef<str>>(x: &'a str, y: T) -> impl Future<Output = usize> + use<'a, T> {
        async move { later(x.len()).await + y.as_ref().len() }
    }
    pub async fn nested_impl(
        f: impl for<'a> Fn(&'a str) -> Box<dyn Iterator<Item = char> + 'a>,
    ) -> (Vec<impl Debug>, impl Fn(u32) -> Result<Box<dyn Debug>, String>) {
        let v: Vec<char> = f("abc").collect();
        later(()).await;
        (v, |n| {
            if n == 0 {
                Err("zero".into())
            } else {
                Ok(Box::new(n))
            }
        })
    }
    pub async fn uses_nested() -> String {
        let (a, b) = nested_impl(|s| Box::new(s.chars())).await;
        format!("{a:?} {:?} {:?}", b(0).err(), b(1).ok())
    }
    // never coercion
    pub async fn never(n: u32) -> u32 {
        let x: u32 = match n {
            0 => return 7,
            1 => loop {
                break 3;
            },
            2 => {
                later(()).await;
                return 9;
            }
            n => n,
        };
        let y = if n > 100 { unreachable!() } else { later(x).await };
        let _z: fn() -> ! = || panic!();
        y
    }
    pub async fn ends_in_panic(n: u32) -> Result<(), String> {
        later(n).await;
        panic!("at {n}")
    }
    pub async fn ends_in_loop() -> impl Debug {
        let mut n = 0;
        loop {
            n += later(1).await;
            if n > 2 {
                break n;
            }
        }
    }
    pub async fn todo_body() -> Vec<u32> {
        todo!()
    }
    pub async fn unimpl(_x: Loud) -> Result<Box<dyn Debug>, Box<dyn std::error::Error>> {
        unimplemented!("no {}", 1)
    }
    // async try blocks
    pub async fn tries(text: &str) -> Result<u32, String> {
        let parsed = async {
            let n = text.parse::<u32>()?;
            if n == 0 {
                return Ok(None);
            }
            Ok::<_, std::num::ParseIntError>(Some(later(n).await))
        }
        .await;
        let r: Result<Option<u32>, Box<dyn std::error::Error>> = async {
            let x = parsed.clone()?;
            Ok(x)
        }
        .await;
        let opt = async { Some(r.ok()??.checked_add(later(1).await)?) }.await;
        'lab: {
            let inner = async {
                'l2: {
                    if text.len() > 3 {
                        break 'l2 later(1).await;
                    }
                    later(2).await
                }
            }
            .await;
            if inner == 1 {
                break 'lab;
            }
            say("inner two");
        }
        opt.ok_or_else(|| "nothing".to_owned())
    }
    // let chains, 2024
    pub async fn chains(x: Option<u32>, y: Result<u32, String>) -> u32 {
        if let Some(a) = later(x).await
            && a > 1
            && let Ok(b) = later(&y).await
            && later(*b).await > 2
        {
            return a + b;
        }
        while let Some(a) = x
            && later(a).await > 5
            && let Err(e) = &y
        {
            say(e.clone());
            return 1;
        }
        match later(x).await {
            Some(n)
                if let Ok(m) = y.as_ref().map(|m| m + n)
                    && false =>
            {
                m
            }
            Some(n) => n,
            None => 0,
        }
    }
    // raw/unicode
    pub async fn r#async(r#await: u32, größe: u32) -> u32 {
        let ß = later(größe).await;
        r#await + ß
    }
    pub async fn unicode() -> String {
        let 名前 = later("é").await;
        format!("{名前}{}", r#async(1, 2).await)
    }
    // unsafe extern
    pub async fn items_more() -> u32 {
        1
    }
    #[expect(unused_variables, unused_mut, reason = "case")]
    pub async fn expects(mut x: u32) -> u32 {
        #[expect(unused_must_use)]
        later(Ok::<u32, u32>(1)).await;
        let y = later(1).await;
        y
    }
    #[allow(ungated_async_fn_track_caller)]
    #[track_caller]
    pub async fn tracked() -> u32 {
        later(1).await
    }
    pub async fn deref<P>(p: P) -> usize
    where
        P: Deref<Target: AsRef<[u8]>> + Clone,
    {
        later(p.clone()).await.as_ref().len()
    }
    pub async fn dyn_upcast(x: Box<dyn Sub>) -> Box<dyn Super> {
        later(()).await;
        x
    }
    pub async fn up() -> u32 {
        dyn_upcast(Box::new(3u32)).await.get()
    }
    pub async fn assoc_bounds<I: IntoIterator<Item: Debug + Clone, IntoIter: ExactSizeIterator>>(i: I) -> usize {
        let i = i.into_iter();
        let n = i.len();
        for x in i {
            later(x.clone()).await;
        }
        n
    }
    pub async fn slice_patterns(list: &[u32]) -> u32 {
        match list {
            [] => 0,
            [one] => later(*one).await,
            [first, .., last] if later(first < last).await => *last,
            [first, rest @ ..] => first + rest.len() as u32,
        }
    }
    pub async fn destructures() -> u32 {
        let (a, b);
        (a, (b, _)) = (later(1).await, later((2, Loud("x"))).await);
        let [x, y]: [u32; 2] = later([3, 4]).await;
        let S { n, .. } = later(S { n: 5, l: Loud("s") }).await;
        a + b + x + y + n
    }
    pub async fn format_forms(n: u32) -> String {
        let w = 5;
        format!(
            "{n:>w$} {0:?} {x} {1:.2}",
            later(1).await,
            1.5,
            x = later('x').await
        ) + &format!("{}", format_args!("{}", later(2).await))
    }
    pub async fn question_forms() -> Option<Result<u32, String>> {
        let x = later(Some(Ok::<_, String>(1))).await?;
        let y = match x {
            Ok(n) => n,
            Err(e) => return Some(Err(e)),
        };
        Some((|| -> Result<u32, String> { Ok(y) })())
    }
    pub async fn borrow_across(m: &Mutex<HashMap<String, u32>>) -> Option<u32> {
        let k = later("k".to_owned()).await;
        let n = m.lock().unwrap().entry(k).or_insert_with(|| 4).clone();
        let g = *m.lock().ok()?.get("k")?;
        later(n + g).await.checked_sub(1)
    }
}

#[test]
fn same() {
    same! {
        consts([1;
        3], [0;
        6], [0;
        3]);
        precise("a", &1);
        precise_tail("a", "bc");
        uses_nested();
        never(0);
        never(1);
        never(2);
        never(3);
        ends_in_panic(1);
        ends_in_loop();
        todo_body();
        unimpl(Loud("x"));
        tries("1");
        tries("0");
        tries("x");
        tries("12345");
        chains(Some(2), Ok(3));
        chains(Some(6), Err("e".into()));
        chains(None, Ok(1));
        unicode();
        items_more();
        expects(1);
        tracked();
        deref(Rc::new([1u8, 2]));
        up();
        assoc_bounds([1, 2]);
        slice_patterns(&[]);
        slice_patterns(&[1]);
        slice_patterns(&[1, 2]);
        slice_patterns(&[2, 1]);
        destructures();
        format_forms(3);
        question_forms();
        borrow_across(&Mutex::new(HashMap::new()));
    }
}
