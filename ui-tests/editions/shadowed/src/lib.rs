//! Every name that an expansion could mean is taken: preludes, crates, types, traits, variants, functions, and `::core`.

#![no_implicit_prelude]
#![allow(
    missing_docs,
    dead_code,
    unused_macros,
    unreachable_pub,
    non_camel_case_types,
    clippy::all,
    clippy::wildcard_imports,
    reason = "the names are the case"
)]

pub mod core {}
pub mod std {}
pub mod alloc {}
pub mod turbowish {}
pub mod __private {}
pub mod private {}
pub mod probe {}
pub mod future {}
pub mod pin {}

pub struct Result(pub u32);
pub struct Future;
pub struct Box;
pub struct Vec;
pub struct Probe;
pub struct Proc;
pub struct Site;
pub struct Call;
pub struct Pin;
pub struct Output;
pub struct str;
pub struct u32x;
pub trait Send {}
pub trait Sized {}
pub trait Default {}
pub trait Fn {}
pub trait Drop {}
pub trait ErrProbe {}
pub trait AnyProbe {}
pub trait Into {}

/// Its variants have the names of the prelude's.
#[derive(::std::fmt::Debug, ::std::cmp::PartialEq)]
pub enum Option {
    Some(u32),
    None,
    Ok(u32),
    Err(u32),
}
pub use Option::{Err, None, Ok, Some};

pub fn call() {}
pub fn at() {}
pub fn enter() {}
pub fn unreached() {}
pub fn drop() {}
pub fn of() {}

macro_rules! file {
    () => {
        no_such_file
    };
}
macro_rules! line {
    () => {
        no_such_line
    };
}
macro_rules! concat {
    () => {
        nothing
    };
}

/// Pending once.
pub struct Once(pub bool);

impl ::std::future::Future for Once {
    type Output = ();
    fn poll(
        mut self: ::std::pin::Pin<&mut Self>,
        cx: &mut ::std::task::Context<'_>,
    ) -> ::std::task::Poll<()> {
        if self.0 {
            return ::std::task::Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        ::std::task::Poll::Pending
    }
}

#[::turbowish::instrument]
pub async fn named_alike(call: u32, at: u32, future: u32) -> u32 {
    Once(false).await;
    call + at + future + ::core::answer()
}

#[::turbowish::instrument]
pub async fn result(_: u32, (a, _b): (u32, u32)) -> Result {
    Once(false).await;
    Result(a)
}

#[::turbowish::instrument]
pub async fn option(n: u32) -> Option {
    let inner = async { Ok(1) };
    if n == 0 {
        return Err(0);
    }
    if let Ok(m) = inner.await {
        return Ok(n + m);
    }
    None
}

#[::turbowish::instrument]
pub async fn real_result(
    text: &::std::primitive::str,
) -> ::std::result::Result<u32, ::std::num::ParseIntError> {
    Once(false).await;
    let n: u32 = ::std::primitive::str::parse(text)?;
    ::std::result::Result::Ok(n)
}

#[::turbowish::instrument]
pub async fn endless() -> ! {
    loop {
        Once(false).await
    }
}

#[must_use]
#[::turbowish::instrument]
pub async fn kept(n: u32) -> Option {
    Once(false).await;
    Some(n)
}

#[::turbowish::instrument]
pub fn plain(n: u32) -> Option {
    Some(n)
}

#[::turbowish::instrument]
pub fn boxed(
    n: u32,
) -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = Option>>> {
    ::std::boxed::Box::pin(async move {
        Once(false).await;
        Some(n)
    })
}

pub struct Type;

#[::turbowish::instrument]
impl Type {
    pub async fn method<Call, Future, Output>(
        &self,
        call: Call,
        _future: Future,
        output: Output,
    ) -> (Call, Output) {
        Once(false).await;
        (call, output)
    }
}

#[::turbowish::instrument]
pub mod module {
    use super::*;
    pub async fn inside(text: &::std::primitive::str) -> (Option, usize) {
        let closure = async |n: u32| Some(n);
        let joined = crate::tokio_join!(closure(1).await, 2);
        (joined, text.len())
    }
}

/// As `tokio::join!` would be, of these names.
#[macro_export]
macro_rules! tokio_join {
    ($left:expr, $right:expr) => {{
        let _ = $right;
        $left
    }};
}
