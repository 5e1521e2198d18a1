//! What the attribute prints calls of; not for people, and free to change with it.

pub use crate::call::{Call, Entered, at, call, enter};
pub use crate::proc::{Proc, Site};

/// A crate that depends on another one named `core` means that one by `::core`.
pub use ::core;
pub use ::core::future::Future;

/// Gives an `async` block its type by a `return` that is never reached.
///
/// # Panics
///
/// Always.
#[must_use]
pub fn unreached<T>() -> T {
    unreachable!("only returned where nothing comes by")
}

/// Tells `Err` from every other value; the traits are brought in together, so that none is unused.
pub mod probe {
    /// Carries a returned value to the probe that fits its type.
    #[derive(Debug)]
    pub struct Probe<'a, T: ?Sized>(pub &'a T);

    /// Chosen where the type is known to be a `Result`.
    pub trait ErrProbe {
        /// Whether the value is an `Err`.
        fn is_err(&self) -> bool;
    }

    impl<T, E> ErrProbe for Probe<'_, Result<T, E>> {
        #[inline]
        fn is_err(&self) -> bool {
            self.0.is_err()
        }
    }

    /// Chosen, one reference further away, for every other type.
    pub trait AnyProbe {
        /// No.
        fn is_err(&self) -> bool;
    }

    impl<T: ?Sized> AnyProbe for &Probe<'_, T> {
        #[inline]
        fn is_err(&self) -> bool {
            false
        }
    }
}
