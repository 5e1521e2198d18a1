//! Probes: whether a call ended in an `Err` is decided by a zero-sized type, never by a closure. A
//! closure would name the lifetimes of the returned value, and the call's future would then not be
//! `Send` where the compiler erases them.

use std::future::Future;
use std::marker::PhantomData;

/// Tells an `Err` from every other value.
pub trait Probe<T> {
    /// Whether `output` is an `Err`. Cannot unwind, so that a poll needs no cleanup for that case.
    extern "C" fn is_err(&self, output: &T) -> bool;
}

/// Probe of types that are not a `Result`.
#[derive(Clone, Copy, Debug)]
pub struct Other;

impl<T> Probe<T> for Other {
    #[inline]
    extern "C" fn is_err(&self, _: &T) -> bool {
        false
    }
}

/// Probe of a `Result`.
#[derive(Clone, Copy, Debug)]
pub struct Fallible;

impl<T, E> Probe<Result<T, E>> for Fallible {
    #[inline]
    extern "C" fn is_err(&self, output: &Result<T, E>) -> bool {
        output.is_err()
    }
}

/// The output type of a future, without a value.
#[derive(Debug)]
pub struct Output<T: ?Sized>(PhantomData<fn() -> T>);

/// The output type of `future`.
#[inline]
pub fn of<F: Future>(_future: &F) -> Output<F::Output> {
    Output(PhantomData)
}

/// Chosen if the type is known to be a `Result`: inherent items take precedence over those of a
/// trait.
impl<T, E> Output<Result<T, E>> {
    /// Probe of a `Result` whose type is written in the source.
    pub const __TURBOWISH_PROBE: Fallible = Fallible;

    /// Probe of a `Result` whose type is inferred.
    #[inline]
    #[must_use]
    pub const fn __turbowish_probe(&self) -> Fallible {
        Fallible
    }
}

/// The type of a future, without a value.
#[derive(Debug)]
pub struct OutputOf<F>(PhantomData<fn() -> F>);

/// Chosen if the type is known to be a future with a `Result` as output.
impl<F, T, E> OutputOf<F>
where
    F: Future<Output = Result<T, E>>,
{
    /// Probe of the future's output.
    pub const __TURBOWISH_PROBE: Fallible = Fallible;
}

/// Chosen for every other type.
pub trait Unknown {
    /// Probe of a type that is not a `Result` and is written in the source.
    const __TURBOWISH_PROBE: Other = Other;

    /// Probe of a type that is not a `Result` and is inferred.
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
