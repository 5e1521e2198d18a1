//! What the attribute prints calls of; not for people, and free to change with it.

pub use crate::hot::back::{Back, back};
pub use crate::hot::call::{Call, Entered, at, call, enter, within};
pub use crate::hot::probe;
pub use crate::hot::proc::Proc;
pub use crate::intent::{
    Fields, IntentSpec, MaybeResource, NoIntents, NotResource, OwnFields, intent, mean, verb,
};
pub use crate::metrics::{Counter, Gauge};

/// A crate that depends on another one named `core` means that one by `::core`.
pub use ::core;
pub use ::core::future::Future;

/// Whether counters and gauges are taken now.
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

/// What a function returns: names `!` where stable Rust does not.
pub trait Returns {
    /// The return type.
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

/// A closure that moves it is `FnOnce` and nothing more.
#[derive(Debug)]
pub struct Once;

impl Once {
    /// Moves it.
    #[inline]
    pub fn call(self) {}
}

/// An argument of a closure on its way into the block that the closure's body is: consumed, and so captured, as a whole, even if what it
/// holds is `Copy`.
#[derive(Debug)]
pub struct Arg<T>(T);

impl<T> Arg<T> {
    /// On its way.
    #[inline]
    pub fn new(argument: T) -> Self {
        Arg(argument)
    }

    /// There.
    #[inline]
    pub fn taken(self) -> T {
        self.0
    }
}
