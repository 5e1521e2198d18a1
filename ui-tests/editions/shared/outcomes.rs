//! What a body comes to: coercions and inference of what is returned, functions that never return, recursion, the edition of the
//! user's tokens.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::future::Future;
use std::pin::Pin;

use crate::twice::later;

twice! {
    pub async fn coerced(which: u32) -> Result<Box<dyn Debug>, Box<dyn std::error::Error>> {
        if which == 0 {
            return Ok(Box::new("early"));
        }
        let n: u32 = later("7").await.parse()?;
        if which == 1 {
            Err(format!("late {}", n))?;
        }
        if which == 2 {
            return Err("text".into());
        }
        Ok(Box::new(n))
    }
    pub async fn coerced_reference(text: &String) -> &dyn Display {
        if text.is_empty() {
            return text;
        }
        later(()).await;
        text
    }
    pub async fn coerced_slice(list: &Vec<u32>) -> (Option<&[u32]>, Box<[u8]>) {
        if list.is_empty() {
            return (None, Box::new([]));
        }
        (Some(list), Box::new([1, 2]))
    }
    pub async fn coerced_functions(n: u32) -> Option<[fn(u32) -> u32; 2]> {
        fn same(n: u32) -> u32 {
            n
        }
        Some([same, match n { 0 => |n| n + 1, 1 => same, _ => return None }])
    }
    pub async fn calls_functions(n: u32) -> Option<u32> {
        Some(coerced_functions(n).await?.iter().map(|f| f(5)).sum())
    }
    pub async fn inferred_closure() -> Box<dyn FnMut(&mut Vec<u32>, &str) -> Option<u32>> {
        Box::new(|list, text| {
            list.push(text.len() as u32);
            list.first().copied()
        })
    }
    pub async fn calls_closure() -> Option<u32> {
        inferred_closure().await(&mut vec![], "text")
    }
    pub async fn inferred(text: &str) -> Result<BTreeMap<String, Vec<(u8, i64)>>, Box<dyn std::error::Error>> {
        let mut sum = 0;
        for n in text.split(',') {
            sum += n.parse::<i64>()?;
        }
        if sum == 0 {
            return Ok(Default::default());
        }
        Ok(std::iter::once((text.into(), vec![(1, sum), Default::default()])).collect())
    }
    pub async fn diverges(n: u32) -> u32 {
        let Some(n) = later(Some(n).filter(|n| *n > 0)).await else { panic!("zero") };
        match n {
            1 => unreachable!("one"),
            2 => todo!(),
            n => return n,
        }
    }
    pub async fn recursive(n: u32) -> u32 {
        if n == 0 { later(0).await } else { Box::pin(recursive(n - 1)).await + 1 }
    }
    pub async fn one(n: u32) -> u32 {
        if n == 0 { 0 } else { Box::pin(other(n - 1)).await + 1 }
    }
    pub async fn other(n: u32) -> u32 {
        let boxed: Pin<Box<dyn Future<Output = u32>>> = Box::pin(one(n));
        boxed.await + later(10).await
    }
    /// Methods and panics of the edition that the user writes in.
    pub async fn edition() -> (usize, String) {
        #[allow(array_into_iter)]
        let size = [1u8].into_iter().map(|item| std::mem::size_of_val(&item)).sum();
        let caught = std::panic::catch_unwind(|| {
            #[allow(non_fmt_panics)]
            {
                panic!("{}", 1)
            }
        });
        (size, later(caught.unwrap_err().downcast::<String>().map_or(String::new(), |text| *text)).await)
    }
    pub async fn located() -> (u32, u32, &'static str) {
        #[track_caller]
        fn here() -> u32 {
            std::panic::Location::caller().line()
        }
        (later(here()).await - line!(), later(column!()).await, module_path!().rsplit("::").nth(1).unwrap())
    }
}

#[test]
fn same() {
    same! {
        coerced(0);
        coerced(1);
        coerced(2);
        coerced(3);
        coerced_slice(&vec![1]);
        coerced_slice(&vec![]);
        calls_functions(0);
        calls_functions(1);
        calls_functions(2);
        calls_closure();
        inferred("1,2");
        inferred("0");
        inferred("x");
        diverges(0);
        diverges(1);
        diverges(2);
        diverges(3);
        recursive(3);
        one(2);
        edition();
        located();
    }
    let shown = |text: &dyn Display| text.to_string();
    let text = String::from("text");
    let run = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert_eq!(
        run.block_on(async { shown(plain::coerced_reference(&text).await) }),
        "text"
    );
    assert_eq!(
        run.block_on(async { shown(instrumented::coerced_reference(&text).await) }),
        "text"
    );
}

/// The cases would not notice an edition that is not the user's.
#[test]
fn editions_differ() {
    let size = if crate::EDITION < 2021 { 8 } else { 1 };
    assert!(whole!(instrumented::edition()).contains(&format!("=({}, \"1\")", size)));
}
