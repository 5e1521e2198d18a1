//! Whether a call ended in an `Err` is asked of a type without size, never of a closure: a closure would name the lifetimes of the
//! returned value, and the call's future would then not be `Send` wherever the compiler forgets them.

use std::future::Future;
use std::marker::PhantomData;

/// Tells an `Err` from every other value.
pub trait Probe<T> {
    /// Whether `output` is an `Err`. It cannot unwind, so that a poll has nothing to drop if it did.
    extern "C" fn is_err(&self, output: &T) -> bool;
}

/// What is never an `Err`.
#[derive(Clone, Copy, Debug)]
pub struct Other;

impl<T> Probe<T> for Other {
    #[inline]
    extern "C" fn is_err(&self, _: &T) -> bool {
        false
    }
}

/// A `Result`.
#[derive(Clone, Copy, Debug)]
pub struct Fallible;

impl<T, E> Probe<Result<T, E>> for Fallible {
    #[inline]
    extern "C" fn is_err(&self, output: &Result<T, E>) -> bool {
        output.is_err()
    }
}

/// The type of what a future comes to, without a value of it.
#[derive(Debug)]
pub struct Output<T: ?Sized>(PhantomData<fn() -> T>);

/// Of `future`.
#[inline]
pub fn of<F: Future>(_future: &F) -> Output<F::Output> {
    Output(PhantomData)
}

/// Chosen where the type is known to be a `Result`: what a type has of its own goes before what a trait gives it.
impl<T, E> Output<Result<T, E>> {
    /// The probe of a `Result`, of a type that is written.
    pub const __TURBOWISH_PROBE: Fallible = Fallible;

    /// The probe of a `Result`, of a type that is inferred.
    #[inline]
    #[must_use]
    pub const fn __turbowish_probe(&self) -> Fallible {
        Fallible
    }
}

/// The type of a future, without a value of it.
#[derive(Debug)]
pub struct OutputOf<F>(PhantomData<fn() -> F>);

/// Chosen where the type is known to be a future that comes to a `Result`.
impl<F, T, E> OutputOf<F>
where
    F: Future<Output = Result<T, E>>,
{
    /// The probe of what the future comes to.
    pub const __TURBOWISH_PROBE: Fallible = Fallible;
}

/// Chosen for every other type.
pub trait Unknown {
    /// The probe of what is no `Result`, of a type that is written.
    const __TURBOWISH_PROBE: Other = Other;

    /// The probe of what is no `Result`, of a type that is inferred.
    #[inline]
    fn __turbowish_probe(&self) -> Other {
        Other
    }
}

impl<T: ?Sized> Unknown for Output<T> {}
impl<F> Unknown for OutputOf<F> {}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::pin::Pin;

    use super::{Fallible, Future, Other, Output, OutputOf, Probe, Unknown as _};

    type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

    trait Service {
        type Future: Future<Output = Result<Self::Response, String>>;
        type Response;
        const PROBE: Fallible = OutputOf::<Self::Future>::__TURBOWISH_PROBE;
    }

    struct Echo;

    impl Service for Echo {
        type Future = Boxed<Result<u8, String>>;
        type Response = u8;
    }

    #[test]
    fn errors_are_known_by_type() {
        let failed: Result<u8, String> = Err(String::new());
        // The type of each constant is what is tested: `Fallible` or `Other`.
        let probes: [Fallible; 4] = [
            Output::<std::io::Result<u8>>::__TURBOWISH_PROBE,
            OutputOf::<Boxed<Result<u8, String>>>::__TURBOWISH_PROBE,
            OutputOf::<<Echo as Service>::Future>::__TURBOWISH_PROBE,
            Echo::PROBE,
        ];
        for probe in probes {
            assert!(probe.is_err(&failed));
        }
        let probes: [Other; 4] = [
            Output::<Option<u8>>::__TURBOWISH_PROBE,
            OutputOf::<Boxed<u8>>::__TURBOWISH_PROBE,
            OutputOf::<Pin<Box<dyn Any>>>::__TURBOWISH_PROBE,
            OutputOf::<Result<u8, String>>::__TURBOWISH_PROBE,
        ];
        for probe in probes {
            assert!(!probe.is_err(&failed));
        }
    }
}
