//! Drop-in wrapper of tokio's notify: observes who waits.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Named;
use crate::intent::{IntentTarget, Observed, ResourceRef, verb};
use crate::resource::{Kind, Resource, Role, Waited};

/// Same as [`tokio::sync::Notify`]; waiters are observed.
pub struct Notify {
    resource: Resource,
    /// Created at its first use: `const_new` cannot allocate. An `Arc` of its own, because tokio's
    /// owned wait needs one.
    inner: OnceLock<Arc<tokio::sync::Notify>>,
}

impl Notify {
    /// Same as [`tokio::sync::Notify::new`].
    #[track_caller]
    pub fn new() -> Self {
        Self::const_new()
    }

    /// Same as [`tokio::sync::Notify::const_new`].
    #[track_caller]
    pub const fn const_new() -> Self {
        Self {
            resource: Resource::new(Kind::Notify, None),
            inner: OnceLock::new(),
        }
    }

    /// Same as [`tokio::sync::Notify::notified`].
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let notified = self.inner().notified();
        Notified {
            wait: self
                .resource
                .wait(Role::Wait, 1, Location::caller(), notified),
        }
    }

    /// Same as [`tokio::sync::Notify::notified_owned`].
    #[inline]
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let notified = self.inner().clone().notified_owned();
        OwnedNotified {
            wait: Waited::new(Owner(self), Role::Wait, 1, Location::caller(), notified),
        }
    }

    /// Same as [`tokio::sync::Notify::notify_one`].
    pub fn notify_one(&self) {
        self.inner().notify_one();
    }

    /// Same as [`tokio::sync::Notify::notify_last`].
    pub fn notify_last(&self) {
        self.inner().notify_last();
    }

    /// Same as [`tokio::sync::Notify::notify_waiters`].
    pub fn notify_waiters(&self) {
        self.inner().notify_waiters();
    }

    #[inline]
    fn inner(&self) -> &Arc<tokio::sync::Notify> {
        self.inner.get_or_init(Arc::default)
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl IntentTarget<verb::Wait> for Notify {
    type Observation = Observed;

    fn resource_ref(&self) -> ResourceRef<'_> {
        self.resource.resource_ref()
    }
}

impl Named for Notify {
    fn name(&self, name: &str) {
        self.resource.name(name);
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}

pin_project! {
    /// Same as [`tokio::sync::futures::Notified`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Notified<'a> {
        #[pin]
        wait: Waited<&'a Resource, tokio::sync::futures::Notified<'a>>,
    }
}

impl Notified<'_> {
    /// Same as [`tokio::sync::futures::Notified::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.enlist(|notified| notified.enable())
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().wait.poll(cx)
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wait.future().fmt(f)
    }
}

/// Keeps alive the resource of an owned wait.
struct Owner(Arc<Notify>);

impl Deref for Owner {
    type Target = Resource;

    fn deref(&self) -> &Resource {
        &self.0.resource
    }
}

pin_project! {
    /// Same as [`tokio::sync::futures::OwnedNotified`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct OwnedNotified {
        #[pin]
        wait: Waited<Owner, tokio::sync::futures::OwnedNotified>,
    }
}

impl OwnedNotified {
    /// Same as [`tokio::sync::futures::OwnedNotified::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.enlist(|notified| notified.enable())
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().wait.poll(cx)
    }
}

impl fmt::Debug for OwnedNotified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wait.future().fmt(f)
    }
}
