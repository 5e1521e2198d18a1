//! Intents without instrumented primitives: they compile, whatever they name, and do nothing.

use std::marker::PhantomData;

use turbowish_model::account::resource::Role;

use super::{IntentTarget, Unobserved};
use crate::hot::current::CurrentCall;

/// The resource of an intent: none.
#[derive(Clone, Copy, Debug)]
pub struct ResourceRef<'a>(PhantomData<&'a ()>);

impl ResourceRef<'_> {
    pub(super) const fn link(
        self,
        _: CurrentCall,
        _: Role,
        _: u8,
        next: Option<Link>,
    ) -> Option<Link> {
        next
    }
}

/// A recorded intent: cannot exist.
#[derive(Debug)]
pub enum Link {}

impl Link {
    pub(super) const fn will(&self) {
        match *self {}
    }
}

impl<V, T: ?Sized> IntentTarget<V> for T {
    type Observation = Unobserved;

    fn resource_ref(&self) -> ResourceRef<'_> {
        ResourceRef(PhantomData)
    }
}
