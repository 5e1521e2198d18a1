//! Lifetimes: elided, named, outlives, early bound, `'static`, in `dyn` and `impl`, hidden in a type.

use crate::twice::later;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard};

pub struct Parts<'a> {
    text: &'a str,
    count: usize,
}

twice! {
    pub async fn elided(text: &str) -> &str {
        later(text).await
    }
    pub async fn one_of_two<'a>(text: &'a str, _other: &str) -> &'a str {
        later(()).await;
        text
    }
    pub async fn both<'a, 'b>(left: &'a str, right: &'b str) -> (&'b str, &'a str) {
        (later(right).await, left)
    }
    pub async fn outlives<'a: 'b, 'b, T: 'a + ?Sized>(value: &'a T, count: &'b mut u32) -> &'b T {
        *count += later(1).await;
        value
    }
    pub async fn early<'a>(text: &'a str) -> usize
    where
        'a: 'a,
    {
        later(text.len()).await
    }
    pub async fn unbounded(text: &'static str) -> &'static str {
        later(text).await
    }
    pub async fn object<'a>(value: &'a (dyn Debug + Sync + 'a)) -> Box<dyn Debug + 'a> {
        later(()).await;
        Box::new(value)
    }
    pub async fn owned_object(value: Box<dyn Debug + Send>) -> Box<dyn Debug> {
        later(()).await;
        value
    }
    pub async fn exclusive(list: &mut Vec<u32>) -> Option<&mut u32> {
        list.push(later(1).await);
        list.last_mut()
    }
    pub async fn in_a_type(guard: MutexGuard<'_, u32>) -> u32 {
        *guard
    }
    pub async fn hidden(text: &str) -> std::borrow::Cow<'_, str> {
        later(()).await;
        text.into()
    }
    pub async fn pointers(f: fn(&str) -> &str, g: for<'a> fn(&'a u32) -> &'a u32) -> usize {
        later(()).await;
        f("ab").len() + *g(&1) as usize
    }
    pub async fn shorter(mut words: Vec<&str>) -> usize {
        let word = String::from("word");
        words.push(&word);
        later(words.len()).await
    }
    pub async fn the_other(mut left: &str, right: &str) -> usize {
        if left.is_empty() {
            left = right;
        }
        later(left.len()).await
    }
    pub async fn a_part(mut parts: Parts<'_>, mut text: String) -> usize {
        text.push('b');
        parts.text = &text;
        later(parts.text.len() + parts.count).await
    }
    pub async fn advanced(mut bytes: &mut [u8]) -> usize {
        let mut count = 0;
        while let [first, rest @ ..] = bytes {
            *first = later(1).await;
            bytes = rest;
            count += 1;
        }
        count
    }
    pub async fn slices(bytes: &[u8], target: &mut [u8], words: [&str; 2]) -> usize {
        target[0] = bytes[0];
        later(words.len()).await + target.len()
    }
}

#[test]
fn same() {
    same! {
        elided("text");
        one_of_two("text", &String::from("other"));
        both("left", "right");
        early("text");
        unbounded("text");
        object(&1);
        owned_object(Box::new("object"));
        hidden("text");
        pointers(|text| &text[1..], |n| n);
        shorter(vec!["a"]);
        the_other("", "text");
        a_part(Parts { text: "a", count: 1 }, String::from("a"));
        advanced(&mut [0; 3]);
        slices(b"ab", &mut [0; 3], ["a", "b"]);
        outlives("text", &mut 0);
        exclusive(&mut Vec::new());
        in_a_type(Mutex::new(1).lock().unwrap());
    }
}
