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

/// Chosen where the type is known to be a `Result`. A trait of the user may give every type a method, of any usual name.
pub trait ErrProbe {
    /// The probe of a `Result`.
    fn __turbowish_probe(&self) -> Fallible;
}

impl<T, E> ErrProbe for Output<Result<T, E>> {
    #[inline]
    fn __turbowish_probe(&self) -> Fallible {
        Fallible
    }
}

/// Chosen, one reference further away, for every other type.
pub trait AnyProbe {
    /// The probe of what is no `Result`.
    fn __turbowish_probe(&self) -> Other;
}

impl<T> AnyProbe for &Output<T> {
    #[inline]
    fn __turbowish_probe(&self) -> Other {
        Other
    }
}
