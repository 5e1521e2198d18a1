//! Intents: what a call intends to do with a resource, declared by its author or inferred from its
//! source. Intents are shown and change nothing.
//!
//! Nothing is borrowed and nothing is waited for: only the operand's record is used. An intent
//! lasts until its operation is done or its guard is dropped, which also happens at the call's end,
//! at its cancellation and at a panic. Intents are kept only while accounting is armed, and only
//! for tasks that are seen.

#[cfg(feature = "tokio")]
mod foreign;
#[cfg(not(feature = "tokio"))]
#[path = "intent/absent.rs"]
mod foreign;
pub mod verb;

use std::marker::PhantomData;
use std::ops::Deref;

use turbowish_model::account::resource::Role;
pub use turbowish_model::account::resource::{AGAIN, PROVEN, SAID, WILL};

pub use self::foreign::{Link, ResourceRef};
use self::verb::Verb;
use crate::hot::current::current_call;
use crate::hot::switch;

/// A resource that an intent can name with the verb `V`. Without instrumented primitives every type
/// is one, with no effect.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource that supports this operation",
    label = "an intent names something of `turbowish::sync`, or a reference to it",
    note = "`send(…)` and `recv(…)` take an end of a channel, `lock(…)` a Mutex, `read(…)` and `write(…)` a RwLock, `acquire(…)` a Semaphore, `wait(…)` a Notify, a Barrier or a OnceCell"
)]
pub trait IntentTarget<V> {
    /// [`Observed`] or [`Unobserved`].
    type Observation: Observation;

    /// The resource that intents refer to.
    fn resource_ref(&self) -> ResourceRef<'_>;
}

/// Whether intents on a type have an effect. If not, a call keeps no room for them.
pub trait Observation {
    /// What a call keeps of an intent and of those behind it.
    type Kept<N: Next>: Next;

    /// Declares an intent in front of `next`; none if it has no operand.
    fn declare<N: Next>(intent: Option<IntentSpec<'_>>, next: N) -> Self::Kept<N>;
}

/// Of types of `turbowish::sync`.
#[derive(Debug)]
pub enum Observed {}

/// Of types whose intents have no effect.
#[derive(Debug)]
pub enum Unobserved {}

impl Observation for Observed {
    type Kept<N: Next> = Intents;

    #[inline]
    fn declare<N: Next>(intent: Option<IntentSpec<'_>>, next: N) -> Intents {
        let next = next.link();
        match intent {
            Some(intent) => intent.and(next),
            None => Intents { first: next },
        }
    }
}

impl Observation for Unobserved {
    type Kept<N: Next> = N;

    #[inline]
    fn declare<N: Next>(_: Option<IntentSpec<'_>>, next: N) -> N {
        next
    }
}

/// What a call keeps of intents on operands of the type `T`, and of those behind it.
pub type Kept<V, T, N> = <<T as IntentTarget<V>>::Observation as Observation>::Kept<N>;

/// An intent before it is recorded.
#[derive(Clone, Copy, Debug)]
pub struct IntentSpec<'a> {
    what: ResourceRef<'a>,
    role: Role,
    how: u8,
}

impl<'a> IntentSpec<'a> {
    /// Creates an intent to use `operand`; `how` is a sum of [`WILL`] and the like.
    #[inline]
    pub fn new<V: Verb, T: IntentTarget<V> + ?Sized>(_verb: V, operand: &'a T, how: u8) -> Self {
        Self {
            what: operand.resource_ref(),
            role: V::ROLE,
            how,
        }
    }
}

/// Declares this intent of the call that is polled, in front of `next`.
#[inline]
pub fn declare<V, T, N>(verb: V, operand: &T, how: u8, next: N) -> Kept<V, T, N>
where
    V: Verb,
    T: IntentTarget<V> + ?Sized,
    N: Next,
{
    T::Observation::declare(Some(IntentSpec::new(verb, operand, how)), next)
}

impl IntentSpec<'_> {
    /// Each intent refers to the next, so that a call keeps one place for all of them.
    #[inline]
    fn and(self, next: Option<Link>) -> Intents {
        Intents {
            first: match switch::is_armed() {
                true => self.link(next),
                false => next,
            },
        }
    }

    fn link(self, next: Option<Link>) -> Option<Link> {
        let who = current_call();
        match who.task {
            0 => next,
            _ => self.what.link(who, self.role, self.how, next),
        }
    }
}

/// An operand that may be a resource, or of another type that is used in the same way.
#[derive(Debug)]
pub struct MaybeResource<V, P>(pub V, pub P);

/// Chosen if the type is known to be a resource: inherent methods take precedence over those of a
/// trait.
impl<V: Verb, T: IntentTarget<V> + ?Sized> MaybeResource<V, &T> {
    /// Declares the intent; `how` encodes its strength.
    #[inline]
    pub fn __turbowish_mean<N: Next>(self, how: u8, next: N) -> Kept<V, T, N> {
        declare(self.0, self.1, how, next)
    }
}

/// The same for an operand that may be absent.
impl<V: Verb, T: IntentTarget<V> + ?Sized> MaybeResource<V, Option<&T>> {
    /// Declares the intent, if the operand is present.
    #[inline]
    pub fn __turbowish_mean<N: Next>(self, how: u8, next: N) -> Kept<V, T, N> {
        let intent = self.1.map(|operand| IntentSpec::new(self.0, operand, how));
        T::Observation::declare(intent, next)
    }
}

/// Chosen for every other type.
pub trait NotResource {
    /// Declares nothing; returns `next`.
    fn __turbowish_mean<N: Next>(self, how: u8, next: N) -> N;
}

impl<V, P> NotResource for MaybeResource<V, P> {
    #[inline]
    fn __turbowish_mean<N: Next>(self, _how: u8, next: N) -> N {
        next
    }
}

/// The fields of a type: an expression written as a field access may name a field of the type's
/// `Deref` target.
#[derive(Debug)]
pub struct Fields<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Fields<T> {
    /// Creates the value for `T`.
    #[inline]
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "only for what the attribute prints"
    )]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Chosen if the type is known to implement `Deref`.
impl<T: Deref + ?Sized> Fields<T> {
    /// `false`: a field may belong to the `Deref` target.
    #[inline]
    #[must_use]
    pub const fn __turbowish_are_own(self) -> bool {
        false
    }
}

/// Chosen for every other type.
pub trait OwnFields {
    /// `true`: every field belongs to the type itself.
    fn __turbowish_are_own(self) -> bool;
}

impl<T: ?Sized> OwnFields for Fields<T> {
    #[inline]
    fn __turbowish_are_own(self) -> bool {
        true
    }
}

/// Intents of a call, until this is dropped.
#[derive(Debug)]
#[must_use = "the intents end when this is dropped"]
pub struct Intents {
    first: Option<Link>,
}

/// No intents: a call whose operands turn out to be no resources keeps nothing.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct NoIntents;

/// The remaining intents of a call.
pub trait Next {
    /// The first of them.
    fn link(self) -> Option<Link>;
}

impl Next for NoIntents {
    #[inline]
    fn link(self) -> Option<Link> {
        None
    }
}

impl Next for Intents {
    #[inline]
    fn link(self) -> Option<Link> {
        self.first
    }
}

/// An intent declared in a body: see
/// [`intend!`](https://docs.rs/turbowish/latest/turbowish/macro.intend.html). Ends when this is
/// dropped, or when the operation is done.
#[derive(Debug)]
#[must_use = "the intent ends when this is dropped: `let _intent = turbowish::intend!(…);`"]
pub struct Intent {
    link: Option<Link>,
}

/// Declares this intent of the call that is polled.
#[inline]
pub fn intent(aim: IntentSpec<'_>) -> Intent {
    Intent {
        link: aim.and(None).first,
    }
}

impl Intent {
    /// Turns a `may` into a `will`.
    pub fn will(&self) {
        if let Some(link) = &self.link {
            link.will();
        }
    }

    /// Ends the intent, whether or not the operation was done: the same as dropping this.
    pub fn done(self) {}
}
