//! Functions and types used by code that the attribute emits; not for users, and free to change
//! with it.

pub use crate::hot::back::{Back, back};
pub use crate::hot::call::{Call, Entered, ProcRef, at, call, enter, within};
pub use crate::hot::probe;
pub use crate::hot::proc::Proc;
pub use crate::intent::{
    Fields, IntentSpec, MaybeResource, NoIntents, NotResource, OwnFields, declare, intent, verb,
};
pub use crate::metrics::{Counter, EventSite, Gauge, number};

/// Re-exported because a crate that depends on another one named `core` resolves `::core` to that
/// one.
pub use ::core;
pub use ::core::future::Future;

/// Whether counters and gauges are recorded now.
#[inline]
#[must_use]
pub fn counts() -> bool {
    crate::hot::switch::is_armed()
}

/// Gives an `async` block its type by a `return` that is never reached.
///
/// # Panics
///
/// Always.
#[must_use]
pub fn unreached<T>() -> T {
    unreachable!("only returned where nothing comes by")
}

/// A function's return type: names `!`, which stable Rust cannot.
pub trait Returns {
    /// The return type of the function.
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

/// A closure that moves this is `FnOnce` and nothing more.
#[derive(Debug)]
pub struct Once;

impl Once {
    /// Consumes `self`, so that its closure is `FnOnce`.
    #[inline]
    pub fn call(self) {}
}

/// An argument of a closure on its way into the block that is the closure's body. It is consumed,
/// and so captured as a whole, even if its content is `Copy`.
#[derive(Debug)]
pub struct Arg<T>(T);

impl<T> Arg<T> {
    /// Takes the argument as a whole.
    #[inline]
    pub fn new(argument: T) -> Self {
        Arg(argument)
    }

    /// Returns the argument inside the block.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0
    }
}
