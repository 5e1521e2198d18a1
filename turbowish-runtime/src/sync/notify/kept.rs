//! A wait and the `Arc` that it borrows from, in one value.

use std::panic::Location;
use std::sync::Arc;

use turbowish_unsafe::beside::{Beside, Family};

use super::{Notified, Notify};
use crate::resource::Role;

/// The family of waits for a [`Notify`], by lifetime.
#[derive(Debug)]
pub(crate) struct Waits;

impl Family for Waits {
    type Of<'a> = Notified<'a>;
}

/// A wait together with its [`Notify`].
pub(super) type Kept = Beside<Notify, Waits>;

/// Creates a wait of the caller at `at`.
pub(super) fn kept(notify: Arc<Notify>, at: &'static Location<'static>) -> Kept {
    Beside::new(notify, move |notify: &Notify| {
        let notified = notify.inner.notified();
        Notified {
            wait: notify.resource.wait(Role::Wait, 1, at, notified),
        }
    })
}
