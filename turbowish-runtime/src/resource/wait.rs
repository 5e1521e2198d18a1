//! Waits for a resource: the primitive's own future, observed while it is pending.

use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use turbowish_model::account::resource::Waiter;
use turbowish_unsafe::waker::{BorrowedWaker, WakeTarget};

use super::record::Record;
use super::{Kind, Resource, Role, order};
use crate::hot::current::{self, CurrentCall, current_call};
use crate::hot::forced_yield;
use crate::hot::waker_state::{Late, StatefulWaker, WakerState};

pin_project! {
    /// A future, and the wait that it is while it is pending. `R` refers to the resource: a wait
    /// borrows the primitive, or keeps it alive.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub(crate) struct Waited<R, F> {
        wait: Wait<R>,
        #[pin]
        future: F,
    }
}

#[derive(Debug)]
struct Wait<R> {
    /// Dropped before `resource`, which may be the last reference.
    entry: Option<WaitEntry>,
    resource: R,
    role: Role,
    amount: u32,
    at: &'static Location<'static>,
}

/// A wait in its resource's record; removed on drop.
#[derive(Debug)]
pub(crate) struct WaitEntry {
    record: Arc<Record>,
    node: Arc<WaitNode>,
    ticket: u64,
    /// The call that polled it last.
    who: CurrentCall,
    served: bool,
}

/// Waker state of a wait.
#[derive(Debug)]
pub(crate) struct WaitNode {
    waker_state: WakerState,
    /// Number of the task's root poll in which it was polled last.
    polled: AtomicU64,
    /// Whether it was not polled yet, so that nothing can have its waker.
    new: AtomicBool,
    /// The task that had the lock to itself when the wait began; 0 if it is not known.
    pub(super) behind: u64,
}

impl WakeTarget for WaitNode {
    fn cloned(&self) {
        forced_yield::look();
        self.waker_state.cloned();
    }
    fn dropped(&self) {
        self.waker_state.dropped();
    }
    fn wake(&self) {
        self.waker_state.wake();
    }
}

impl StatefulWaker for WaitNode {
    fn waker_state(&self) -> &WakerState {
        &self.waker_state
    }
}

impl WaitNode {
    /// Adds the wait's wake and last poll to what a reader sees of it.
    pub(super) fn shown(&self, waiter: &Waiter) -> Waiter {
        let woken = self.waker_state.wakes().since_poll();
        Waiter {
            woken,
            polled: self.polled.load(Ordering::Relaxed),
            wakeable: self.waker_state.is_held() || self.new.load(Ordering::Relaxed),
            ..*waiter
        }
    }
}

/// Ends the poll of the waker state, also if the poll unwinds.
struct Polling<'a>(&'a WakerState);

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Resource {
    /// Polls `future` as a wait for this resource: from its first pending poll until it is ready or
    /// dropped.
    #[inline]
    pub(crate) fn wait<F: Future>(
        &self,
        role: Role,
        amount: u32,
        at: &'static Location<'static>,
        future: F,
    ) -> Waited<&Self, F> {
        Waited::new(self, role, amount, at, future)
    }

    /// The same for a `poll_…` function, whose wait is kept in `slot` from one poll to the next.
    #[inline]
    pub(crate) fn poll_wait<R>(
        &self,
        slot: &mut Option<WaitEntry>,
        role: Role,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        if slot.is_none() {
            let polled = poll(cx);
            if polled.is_ready() {
                return polled;
            }
            *slot = self
                .record()
                .map(|record| WaitEntry::new(record, role, 1, at));
        }
        let Some(entry) = slot else {
            return Poll::Pending;
        };
        let polled = entry.poll(cx, poll);
        if polled.is_ready() {
            *slot = None;
        }
        polled
    }
}

impl<R: Deref<Target = Resource>> Wait<R> {
    /// Marks intents as done when the wait is over, if neither a hold nor a received item does so.
    #[inline]
    fn met(&self) {
        let is_end = match self.role {
            Role::Wait => true,
            Role::Receive => !matches!(self.resource.kind, Kind::Mpsc),
            _ => false,
        };
        if is_end {
            self.resource.met(self.role);
        }
    }
}

impl WaitEntry {
    #[cold]
    fn new(record: &Arc<Record>, role: Role, amount: u32, at: &'static Location<'static>) -> Self {
        let who = current_call();
        let node = Arc::new(WaitNode {
            waker_state: WakerState::default(),
            polled: AtomicU64::new(0),
            new: AtomicBool::new(true),
            behind: record.exclusive_task(),
        });
        order::asked(record, role, at);
        Self {
            ticket: record.wait(who, role, amount, at, node.clone()),
            record: record.clone(),
            node,
            who,
            served: false,
        }
    }

    /// The future has moved to another task, or to another call of the task.
    #[cold]
    fn adopt(&mut self, who: CurrentCall) {
        self.who = who;
        self.record.adopt(self.ticket, who);
    }

    /// Polls with the waker of the wait's own waker state.
    fn poll<R>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        let who = current_call();
        if (who.task, who.proc, who.site) != (self.who.task, self.who.proc, self.who.site) {
            self.adopt(who);
        }
        self.node.polled.store(who.poll, Ordering::Relaxed);
        self.node.new.store(false, Ordering::Relaxed);
        let polled = if self.node.waker_state.begin(cx.waker()).fits {
            let _polling = Polling(&self.node.waker_state);
            poll(&mut Context::from_waker(
                BorrowedWaker::new(&self.node).waker(),
            ))
        } else {
            let late = Late {
                target: self.node.clone(),
                outer: cx.waker(),
                is_inside: true,
            };
            poll(&mut Context::from_waker(late.lent().waker()))
        };
        self.served = polled.is_ready();
        polled
    }
}

impl Drop for WaitEntry {
    fn drop(&mut self) {
        self.record.leave(self.ticket, self.served);
    }
}

impl<R: Deref<Target = Resource>, F> Waited<R, F> {
    /// Same as [`Resource::wait`], for any reference to a resource.
    #[inline]
    pub(crate) const fn new(
        resource: R,
        role: Role,
        amount: u32,
        at: &'static Location<'static>,
        future: F,
    ) -> Self {
        let wait = Wait {
            entry: None,
            resource,
            role,
            amount,
            at,
        };
        Self { wait, future }
    }

    /// The primitive's own future.
    pub(crate) const fn future(&self) -> &F {
        &self.future
    }

    /// Runs `enlist`, which does something else than polling; unless it returns `true`, the future
    /// waits in the queue afterwards.
    pub(crate) fn enlist(self: Pin<&mut Self>, enlist: impl FnOnce(Pin<&mut F>) -> bool) -> bool {
        let this = self.project();
        let wait = this.wait;
        let done = enlist(this.future);
        if done {
            wait.entry = None;
            wait.met();
        } else if wait.entry.is_none() {
            let record = wait.resource.record();
            wait.entry =
                record.map(|record| WaitEntry::new(record, wait.role, wait.amount, wait.at));
        }
        done
    }
}

impl<R: Deref<Target = Resource>, F: Future> Future for Waited<R, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let wait = this.wait;
        let polled_before = wait.entry.is_some();
        if wait.entry.is_none() {
            let polled = this.future.as_mut().poll(cx);
            if polled.is_ready() {
                wait.met();
                return polled;
            }
            let record = wait.resource.record();
            wait.entry =
                record.map(|record| WaitEntry::new(record, wait.role, wait.amount, wait.at));
        }
        let Some(entry) = &mut wait.entry else {
            return Poll::Pending;
        };
        let polled = entry.poll(cx, |cx| this.future.as_mut().poll(cx));
        if polled.is_ready() {
            wait.entry = None;
            wait.met();
        } else if polled_before {
            current::ledger(turbowish_model::account::ledger::Ledger::spurious);
        }
        polled
    }
}
