//! The rewrite raises no lint of its own.
#![deny(warnings, missing_docs, unused, unreachable_pub, unused_qualifications, missing_debug_implementations)]
#![deny(rust_2018_idioms, future_incompatible, let_underscore, single_use_lifetimes, unused_lifetimes)]
#![deny(elided_lifetimes_in_paths, explicit_outlives_requirements, trivial_casts, trivial_numeric_casts)]
#![deny(unused_results, unsafe_code, missing_copy_implementations, unit_bindings, refining_impl_trait)]
#![forbid(unsafe_op_in_unsafe_fn)]

use std::fmt::Display;
use std::future::Future;

/// A proc.
#[turbowish::instrument]
pub async fn proc(_unused: &str, (a, _): (u32, u32), mut b: u32) -> Result<u32, String> {
    b += 1;
    tokio::task::yield_now().await;
    Ok(a + b)
}

/// An opaque one.
#[turbowish::instrument]
pub async fn opaque(fail: bool) -> Result<impl Display, String> {
    if fail {
        return Err(String::new());
    }
    Ok(1)
}

/// An endless one.
#[turbowish::instrument]
pub async fn endless() -> ! {
    loop {
        tokio::task::yield_now().await;
    }
}

/// An ordinary one.
#[turbowish::instrument]
pub fn ordinary() -> u32 {
    1
}

/// What others promise.
pub trait Promises {
    /// A promise.
    fn promised(&self) -> impl Future<Output = u32> + Send;
}

/// A type.
#[derive(Debug, Clone, Copy)]
pub struct Type<'a>(pub &'a str);

#[turbowish::instrument]
impl Promises for Type<'_> {
    async fn promised(&self) -> u32 {
        let inner = async { Ok::<_, ()>(1) };
        inner.await.unwrap_or_default()
    }
}

#[turbowish::instrument]
impl<'a> Type<'a> {
    /// A method.
    pub async fn text(&self, _other: &str) -> Option<&'a str> {
        tokio::task::yield_now().await;
        Some(self.0)
    }
    /// A method that is kept.
    #[must_use]
    pub async fn kept(self, _unused: u32) -> u32 {
        1
    }
}

/// A module.
#[turbowish::instrument]
pub mod module {
    /// A function.
    pub async fn function(_: u32) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(proc("", (1, 2), 3).await, Ok(5));
    assert!(opaque(true).await.is_err());
    assert!(opaque(false).await.is_ok());
    drop(endless());
    assert_eq!(ordinary(), 1);
    assert_eq!(Type("a").promised().await, 1);
    assert_eq!(Type("a").text("").await, Some("a"));
    assert_eq!(Type("a").kept(1).await, 1);
    module::function(1).await;
}
