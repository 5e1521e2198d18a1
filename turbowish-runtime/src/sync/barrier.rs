//! Drop-in wrapper of tokio's barrier: observes who waits.

use std::fmt;
use std::panic::Location;

use tokio::sync::BarrierWaitResult;

use super::Named;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role};

/// Same as [`tokio::sync::Barrier`]; waiters are observed.
pub struct Barrier {
    resource: Resource,
    inner: tokio::sync::Barrier,
}

impl Barrier {
    /// Same as [`tokio::sync::Barrier::new`].
    #[track_caller]
    pub fn new(n: usize) -> Self {
        Self {
            resource: Resource::new(Kind::Barrier, Some(n.max(1))),
            inner: tokio::sync::Barrier::new(n),
        }
    }

    /// Same as [`tokio::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        self.resource
            .wait(Role::Wait, 1, Location::caller(), self.inner.wait())
    }
}

impl IntentTarget<verb::Wait> for Barrier {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl Named for Barrier {
    fn name(&self, name: &str) {
        self.resource.name(name);
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
