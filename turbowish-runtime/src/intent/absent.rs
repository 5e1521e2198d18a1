//! Without instrumented primitives there is nothing to mean: intents compile, on whatever they name, and do nothing.

use std::marker::PhantomData;

use turbowish_model::account::resource::Role;

use super::IntentTarget;
use crate::hot::current::CurrentCall;

/// The account of what is meant: there is none.
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

/// An intent that is kept: none is.
#[derive(Debug)]
pub enum Link {}

impl Link {
    pub(super) const fn will(&self) {
        match *self {}
    }
}

impl<V, T: ?Sized> IntentTarget<V> for T {
    fn meant(&self) -> ResourceRef<'_> {
        ResourceRef(PhantomData)
    }
}
