//! Whether a call ended in an `Err` is asked of a type without size, never of a closure: a closure would name the lifetimes of the
//! returned value, and the call's future would then not be `Send` wherever the compiler forgets them.

use std::future::Future;
use std::marker::PhantomData;

/// Tells an `Err` from every other value.
pub trait Probe<T> {
    /// Whether `output` is an `Err`.
    fn is_err(&self, output: &T) -> bool;
}

/// What is never an `Err`.
#[derive(Clone, Copy, Debug)]
pub struct Other;

impl<T> Probe<T> for Other {
    #[inline]
    fn is_err(&self, _: &T) -> bool {
        false
    }
}

/// A `Result`.
#[derive(Clone, Copy, Debug)]
pub struct Fallible;

impl<T, E> Probe<Result<T, E>> for Fallible {
    #[inline]
    fn is_err(&self, output: &Result<T, E>) -> bool {
        output.is_err()
    }
}

/// The type of what a future comes to, without a value of it.
#[derive(Debug)]
pub struct Output<T>(PhantomData<fn() -> T>);

/// Of `future`.
#[inline]
pub fn of<F: Future>(_future: &F) -> Output<F::Output> {
    Output(PhantomData)
}

/// Chosen where the type is known to be a `Result`: what a type has of its own goes before what a trait gives it.
impl<T, E> Output<Result<T, E>> {
    /// The probe of a `Result`, of a type that is written.
    pub const PROBE: Fallible = Fallible;

    /// The probe of a `Result`, of a type that is inferred.
    #[inline]
    #[must_use]
    pub const fn __turbowish_probe(&self) -> Fallible {
        Fallible
    }
}

/// Chosen for every other type.
pub trait Unknown {
    /// The probe of what is no `Result`, of a type that is written.
    const PROBE: Other = Other;

    /// The probe of what is no `Result`, of a type that is inferred.
    #[inline]
    fn __turbowish_probe(&self) -> Other {
        Other
    }
}

impl<T> Unknown for Output<T> {}
