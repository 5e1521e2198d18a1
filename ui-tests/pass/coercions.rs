//! The returned value is coerced and inferred as in the plain function.

use std::error::Error;
use std::fmt::{Debug, Display};

#[turbowish::instrument]
mod instrumented {
    use super::*;

    pub async fn unsized_slice(bytes: &[u8; 3]) -> Option<&[u8]> {
        Some(bytes)
    }

    pub async fn boxed_closure(n: u32) -> Box<dyn Fn(&str) -> usize> {
        // The parameter's type is known from the return type alone.
        Box::new(move |text| text.len() + n as usize)
    }

    pub async fn in_the_middle(early: bool) -> Result<Box<dyn Debug>, Box<dyn Error>> {
        if early {
            return Ok(Box::new("early"));
        }
        let number: u32 = "7".parse()?;
        Err(format!("late {number}"))?;
        Ok(Box::new(number))
    }

    pub async fn function_pointer() -> fn(u32) -> u32 {
        |n| n + 1
    }

    pub async fn inferred() -> Vec<u64> {
        "1 2 3".split(' ').map(|word| word.parse().unwrap_or_default()).collect()
    }

    pub async fn defaulted() -> (u8, Option<String>) {
        Default::default()
    }

    pub async fn into() -> String {
        "text".into()
    }

    pub async fn opaque() -> impl Iterator<Item = u32> + Clone {
        [1, 2].into_iter()
    }

    pub async fn partly_opaque(fail: bool) -> Result<impl Display, Box<dyn Error>> {
        if fail {
            return Err("no".into());
        }
        Ok(5)
    }

    pub async fn opaque_inside() -> Box<dyn Iterator<Item = u8>> {
        Box::new(std::iter::once(1))
    }

    pub async fn reference<'a>(text: &'a String, _other: &str) -> &'a str {
        text
    }

    pub async fn diverging(fail: bool) -> u32 {
        if fail { panic!("asked to") } else { 3 }
    }

    pub async fn only_panics() -> u32 {
        unimplemented!()
    }

    pub async fn nothing() {
        tokio::task::yield_now().await;
    }

    pub async fn explicit_unit() -> () {}

    pub async fn unit_by_semicolon(v: &mut Vec<u8>) {
        v.pop();
    }

    pub async fn endless(v: &mut u32) -> ! {
        loop {
            *v += 1;
            tokio::task::yield_now().await;
        }
    }

    pub async fn never_from_tail() -> ! {
        std::process::exit(0)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(instrumented::unsized_slice(b"abc").await, Some(&b"abc"[..]));
    assert_eq!(instrumented::boxed_closure(2).await("abc"), 5);
    assert_eq!(format!("{:?}", instrumented::in_the_middle(true).await.unwrap()), "\"early\"");
    assert_eq!(instrumented::in_the_middle(false).await.unwrap_err().to_string(), "late 7");
    assert_eq!(instrumented::function_pointer().await(1), 2);
    assert_eq!(instrumented::inferred().await, [1, 2, 3]);
    assert_eq!(instrumented::defaulted().await, (0, None));
    assert_eq!(instrumented::into().await, "text");
    assert_eq!(instrumented::opaque().await.clone().sum::<u32>(), 3);
    assert_eq!(instrumented::partly_opaque(false).await.ok().unwrap().to_string(), "5");
    assert!(instrumented::partly_opaque(true).await.is_err());
    assert_eq!(instrumented::opaque_inside().await.count(), 1);
    assert_eq!(instrumented::reference(&"a".to_owned(), "b").await, "a");
    assert_eq!(instrumented::diverging(false).await, 3);
    assert!(tokio::spawn(instrumented::diverging(true)).await.unwrap_err().is_panic());
    assert!(tokio::spawn(instrumented::only_panics()).await.unwrap_err().is_panic());
    instrumented::nothing().await;
    instrumented::explicit_unit().await;
    let mut bytes = vec![1];
    instrumented::unit_by_semicolon(&mut bytes).await;
    assert!(bytes.is_empty());
    let mut rounds = 0;
    tokio::select! {
        biased;
        never = instrumented::endless(&mut rounds) => never,
        () = tokio::task::yield_now() => {}
    }
    assert!(rounds > 0);
    instrumented::never_from_tail().await
}
