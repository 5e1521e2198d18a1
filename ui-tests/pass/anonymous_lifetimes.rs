//! Anonymous lifetimes in the `impl Trait` of an argument: an `async fn` may have them, a plain `fn` may not.

use std::fmt::Debug;
use std::future::ready;

#[turbowish::instrument]
async fn close(reason: impl Into<Option<(u16, &str)>>) -> usize {
    match reason.into() {
        Some((code, text)) => usize::from(ready(code).await) + text.len(),
        None => 0,
    }
}

struct Borrowed<'a>(&'a u32);

impl<'a> From<&'a u32> for Borrowed<'a> {
    fn from(number: &'a u32) -> Self {
        Borrowed(number)
    }
}

#[turbowish::instrument]
async fn several<'a, T: Debug>(
    named: impl Into<&'a str>,
    items: impl Iterator<Item = &u32> + '_,
    hidden: impl Into<Borrowed<'_>>,
    call: impl Fn(&str) -> &str,
    nested: &impl IntoIterator<Item = impl AsRef<&str> + '_>,
    pointer: fn(&u32) -> &u32,
    value: T,
) -> String {
    let _ = nested;
    let sum: u32 = items.map(pointer).sum();
    let named = named.into();
    ready(()).await;
    format!("{}{sum}{}{value:?}", call(named), hidden.into().0)
}

/// The methods of a trait and of its impls fit, whichever of them are annotated.
#[allow(async_fn_in_trait, reason = "it is about these")]
trait Closes {
    async fn declared(&self, reason: impl Into<Option<&str>>) -> usize;
    async fn declared_only(&self, reason: impl Into<Option<&str>>) -> usize;
    #[turbowish::instrument]
    async fn default(&self, reason: impl Into<Option<&str>>) -> usize {
        ready(reason.into().map_or(0, str::len)).await
    }
    #[turbowish::instrument]
    async fn default_replaced(&self, reason: impl Into<Option<&str>>) -> usize {
        reason.into().map_or(0, str::len)
    }
}

struct Socket(usize);

#[turbowish::instrument]
impl Closes for Socket {
    async fn declared(&self, reason: impl Into<Option<&str>>) -> usize {
        ready(self.0).await + reason.into().map_or(0, str::len)
    }
    #[turbowish::instrument(skip)]
    async fn declared_only(&self, reason: impl Into<Option<&str>>) -> usize {
        self.0 + reason.into().map_or(0, str::len)
    }
    async fn default_replaced(&self, reason: impl Into<Option<&str>>) -> usize {
        self.0 + reason.into().map_or(0, str::len)
    }
}

#[tokio::main]
async fn main() {
    let text = "abc".to_owned();
    let spawned = tokio::spawn(async move { close((1, text.as_str())).await });
    assert_eq!(spawned.await.unwrap(), 4);
    assert_eq!(close(None).await, 0);
    let numbers = [1, 2];
    let nothing: [Box<&str>; 0] = [];
    let shown = several("a ", numbers.iter(), &numbers[0], str::trim, &nothing, |n| n, 'v').await;
    assert_eq!(shown, "a31'v'");
    let socket = Socket(1);
    assert_eq!(socket.declared("ab").await + socket.declared_only("ab").await, 6);
    assert_eq!(socket.default("ab").await + socket.default_replaced(None).await, 3);
}
