//! Drop-in wrapper of tokio's `SetOnce`: observes who waits.

use std::fmt;
use std::panic::Location;

use tokio::sync::SetOnceError;

use super::Named;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role};

/// Same as [`tokio::sync::SetOnce`]; waiters are observed.
pub struct SetOnce<T> {
    resource: Resource,
    inner: tokio::sync::SetOnce<T>,
}

impl<T> SetOnce<T> {
    /// Same as [`tokio::sync::SetOnce::new`].
    #[track_caller]
    pub fn new() -> Self {
        Self::const_new()
    }

    /// Same as [`tokio::sync::SetOnce::const_new`].
    #[track_caller]
    pub const fn const_new() -> Self {
        Self {
            resource: Resource::new(Kind::OnceCell, None),
            inner: tokio::sync::SetOnce::const_new(),
        }
    }

    /// Same as [`tokio::sync::SetOnce::new_with`].
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        match value {
            Some(value) => Self::const_new_with(value),
            None => Self::const_new(),
        }
    }

    /// Same as [`tokio::sync::SetOnce::const_new_with`].
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        Self {
            resource: Resource::new(Kind::OnceCell, None),
            inner: tokio::sync::SetOnce::const_new_with(value),
        }
    }

    /// Same as [`tokio::sync::SetOnce::initialized`].
    pub fn initialized(&self) -> bool {
        self.inner.initialized()
    }

    /// Same as [`tokio::sync::SetOnce::get`].
    pub fn get(&self) -> Option<&T> {
        self.inner.get()
    }

    /// Same as [`tokio::sync::SetOnce::set`].
    ///
    /// # Errors
    /// If the cell has a value; the error returns the value.
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.inner.set(value)
    }

    /// Same as [`tokio::sync::SetOnce::into_inner`].
    pub fn into_inner(self) -> Option<T> {
        self.inner.into_inner()
    }

    /// Same as [`tokio::sync::SetOnce::wait`].
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        self.resource
            .wait(Role::Wait, 1, Location::caller(), self.inner.wait())
    }
}

impl<T> IntentTarget<verb::Wait> for SetOnce<T> {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl<T> Named for SetOnce<T> {
    fn name(&self, name: &str) {
        self.resource.name(name);
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::const_new_with(value)
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
