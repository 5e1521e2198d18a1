//! `impl Trait` as argument and as return, also nested.

use crate::twice::later;
use std::fmt::{Debug, Display};
use std::future::Future;

twice! {
    pub async fn arguments(show: impl Fn(&str) -> &str, items: impl Iterator<Item = impl Display>) -> String {
        let mut all = String::new();
        for item in items {
            all.push_str(show(&later(item).await.to_string()));
        }
        all
    }
    pub async fn borrowed(text: &str) -> impl Iterator<Item = char> + Debug + '_ {
        later(()).await;
        text.chars()
    }
    pub async fn named<'a>(text: &'a str) -> impl Iterator<Item = char> + Debug + 'a {
        later(text.chars()).await
    }
    pub async fn elided(list: &[u32]) -> impl Iterator<Item = &u32> + Debug {
        later(()).await;
        list.iter()
    }
    pub async fn captures_all(text: &str, number: &u32) -> impl Debug {
        (later(text).await.len(), *number)
    }
    pub async fn nested(n: u32) -> Result<Option<impl Display + Debug + Clone>, Box<dyn std::error::Error + Send + Sync>> {
        if n == 0 {
            return Ok(None);
        }
        if later(n).await == 1 {
            return Err("one".into());
        }
        Ok(Some(n))
    }
    pub async fn tuple(n: u32) -> (impl Fn(u32) -> u32, impl Debug) {
        (move |m| n + m, later("second").await)
    }
    pub async fn future(n: u32) -> impl Future<Output = u32> {
        async move { later(n).await }
    }
    pub async fn uses() -> String {
        let (f, second) = tuple(1).await;
        format!("{} {:?} {}", f(2), second, future(3).await.await)
    }
    pub async fn anonymous(reason: impl Into<Option<(u16, &str)>>, items: impl Iterator<Item = &u32> + '_) -> u32 {
        let (code, text) = later(reason.into()).await.unwrap_or((7, ""));
        u32::from(code) + text.len() as u32 + items.sum::<u32>()
    }
    pub async fn in_a_box() -> Box<impl Debug> {
        Box::new(later(1).await)
    }
}

#[test]
fn same() {
    same! {
        arguments(|text| &text[1..], ["ab", "cd"].iter());
        borrowed("text");
        named("text");
        elided(&[1, 2]);
        captures_all("text", &1);
        nested(0);
        nested(1);
        nested(2);
        uses();
        anonymous((1, "abc"), [1, 2].iter());
        anonymous(None, [].iter());
        in_a_box();
    }
}
