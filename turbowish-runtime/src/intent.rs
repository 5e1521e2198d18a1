//! What a call means to do with a resource, said by its author or read from its source: it is shown, and changes nothing.
//!
//! Nothing is borrowed and nothing is waited for: of the operand only the account is taken. An intent lasts until its operation is done
//! or its guard is dropped, which the call's end, its cancellation and a panic do. Only while accounting is on, and only in a task that is
//! seen, is anything kept.

#[cfg(not(feature = "tokio"))]
mod absent;
#[cfg(feature = "tokio")]
mod foreign;
pub mod verb;

use std::marker::PhantomData;
use std::ops::Deref;

use turbowish_model::account::resource::Role;

#[cfg(not(feature = "tokio"))]
pub use self::absent::{Link, Meant};
use self::verb::Verb;
use crate::hot::current::here;
use crate::hot::switch;
#[cfg(feature = "tokio")]
pub use crate::resource::{Link, Meant};

/// What something can be meant to be used for, by a verb. Without instrumented primitives everything can, and nothing comes of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource that supports this operation",
    label = "an intent names something of `turbowish::sync`, or a reference to it",
    note = "`send(…)` and `recv(…)` take an end of a channel, `lock(…)` a Mutex, `read(…)` and `write(…)` a RwLock, `acquire(…)` a Semaphore, `wait(…)` a Notify, a Barrier or a OnceCell"
)]
pub trait Means<V> {
    /// Its account.
    fn meant(&self) -> Meant<'_>;
}

/// It is sure: a will, and no may.
pub const WILL: u8 = 1;
/// It is done again and again, so that having done it once does not end it.
pub const AGAIN: u8 = 2;
/// What is used is the call's own or borrowed by it, as its source shows: until then, if it is a will to be done once; else as long as the
/// call's body runs.
pub const PROVEN: u8 = 4;
/// Its author says so.
pub const SAID: u8 = 8;

/// An intent that is to be.
#[derive(Clone, Copy, Debug)]
pub struct Aim<'a> {
    what: Meant<'a>,
    role: Role,
    how: u8,
}

impl<'a> Aim<'a> {
    /// To use `operand`; `how` is a sum of [`WILL`] and the like.
    #[inline]
    pub fn new<V: Verb, T: Means<V> + ?Sized>(_verb: V, operand: &'a T, how: u8) -> Self {
        Self {
            what: operand.meant(),
            role: V::ROLE,
            how,
        }
    }
}

/// The call that is polled means to do that, and what is `next`.
#[inline]
pub fn mean<V, T, N>(verb: V, operand: &T, how: u8, next: N) -> Intents
where
    V: Verb,
    T: Means<V> + ?Sized,
    N: Next,
{
    Aim::new(verb, operand, how).and(next.link())
}

impl Aim<'_> {
    /// One intent names the next, so that a call keeps no more than a place of its own for all of them.
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
        let who = here();
        match who.task {
            0 => next,
            _ => self.what.link(who, self.role, self.how, next),
        }
    }
}

/// What may be a resource, or anything else that happens to be used like one.
#[derive(Debug)]
pub struct Perhaps<V, P>(pub V, pub P);

/// Chosen where the type is known to be a resource: what a type has of its own goes before what a trait gives it.
impl<V: Verb, T: Means<V> + ?Sized> Perhaps<V, &T> {
    /// It is meant.
    #[inline]
    pub fn __turbowish_mean<N: Next>(self, how: u8, next: N) -> Intents {
        mean(self.0, self.1, how, next)
    }
}

/// The same, of what is perhaps not looked at.
impl<V: Verb, T: Means<V> + ?Sized> Perhaps<V, Option<&T>> {
    /// It is meant, if it is there.
    #[inline]
    pub fn __turbowish_mean<N: Next>(self, how: u8, next: N) -> Intents {
        match self.1 {
            Some(operand) => mean(self.0, operand, how, next),
            None => Intents { first: next.link() },
        }
    }
}

/// Chosen for every other type.
pub trait Anything {
    /// Nothing is meant, but what is `next`.
    fn __turbowish_mean<N: Next>(self, how: u8, next: N) -> N;
}

impl<V, P> Anything for Perhaps<V, P> {
    #[inline]
    fn __turbowish_mean<N: Next>(self, _how: u8, next: N) -> N {
        next
    }
}

/// The fields of a type: what is written like one may be one of what the type points to, which only its own `Deref` finds.
#[derive(Debug)]
pub struct Fields<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Fields<T> {
    /// Those of `T`.
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

/// Chosen where the type is known to point to another one.
impl<T: Deref + ?Sized> Fields<T> {
    /// They may be the other one's.
    #[inline]
    #[must_use]
    pub const fn __turbowish_are_own(self) -> bool {
        false
    }
}

/// Chosen for every other type.
pub trait Whoever {
    /// They are its own.
    fn __turbowish_are_own(self) -> bool;
}

impl<T: ?Sized> Whoever for Fields<T> {
    #[inline]
    fn __turbowish_are_own(self) -> bool {
        true
    }
}

/// What a call means to do, until this is dropped.
#[derive(Debug)]
#[must_use = "the intents end when this is dropped"]
pub struct Intents {
    first: Option<Link>,
}

/// No intents: a call whose handles turn out to be something else keeps nothing.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Nothing;

/// The rest of what a call means.
pub trait Next {
    /// The first of it.
    fn link(self) -> Option<Link>;
}

impl Next for Nothing {
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

/// An intent that a body says: see [`intend!`](https://docs.rs/turbowish/latest/turbowish/macro.intend.html). It ends when this is dropped, or
/// when what was meant is done.
#[derive(Debug)]
#[must_use = "the intent ends when this is dropped: `let _intent = turbowish::intend!(…);`"]
pub struct Intent {
    link: Option<Link>,
}

/// The call that is polled means to do that.
#[inline]
pub fn intent(aim: Aim<'_>) -> Intent {
    Intent {
        link: aim.and(None).first,
    }
}

impl Intent {
    /// What may be done will be done: there is no way around it any more.
    pub fn will(&self) {
        if let Some(link) = &self.link {
            link.will();
        }
    }

    /// It is done, or will not be: the same as to drop this.
    pub fn done(self) {}
}
