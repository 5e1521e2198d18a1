//! A poll of a call, from its start to its end.
//!
//! It stays where it starts: a guard that is moved would be copied through memory. A poll that is
//! not accounted writes one byte of it.

use turbowish_model::account::call::PollEnd;

use super::quick::{PollShape, end};
use super::root::PollWaker;
use super::{CallState, straight};
use crate::hot::thread::{self, ThisThread};

/// Depth of a poll without an open frame: it has got none, or it is closed.
pub(super) const CLOSED: u32 = u32::MAX;
/// Depth and shape of a poll that has no frame yet.
pub(super) const CLOSED_ANY: (u32, PollShape) = (CLOSED, PollShape::Any);

/// A poll of a call. If it is dropped before its end, it unwound or was torn down.
// With a tag of its own: one that lies in the waker would have to be worked out at each end.
#[repr(u8)]
pub(super) enum CallPoll<'a> {
    /// Nothing is accounted.
    Unaccounted,
    /// The call has nothing to do but to poll what it awaits. It may have got a frame in it.
    Straight(&'a mut CallState),
    /// Any other poll.
    Open(OpenPoll<'a>),
}

impl<'a> CallPoll<'a> {
    /// Makes this, which must be [`Unaccounted`](Self::Unaccounted), a poll that may get a frame.
    #[inline(always)]
    pub(super) fn open(
        &mut self,
        state: &'a mut CallState,
        epoch: u32,
        (depth, shape): (u32, PollShape),
    ) -> &mut OpenPoll<'a> {
        let open = OpenPoll {
            state,
            epoch,
            depth,
            shape,
            waker: PollWaker::Inherited,
        };
        // Nothing is to be ended.
        std::mem::forget(std::mem::replace(self, Self::Open(open)));
        match self {
            Self::Open(open) => open,
            Self::Unaccounted | Self::Straight(_) => unreachable!("it was opened just now"),
        }
    }

    #[inline(always)]
    pub(super) fn end(&mut self, here: ThisThread, how: PollEnd) {
        match self {
            Self::Open(open) => end(here, open, how),
            Self::Straight(state) => straight::end(here, state, how),
            Self::Unaccounted => {}
        }
    }
}

/// A poll that has a frame, unless its depth is [`CLOSED`].
pub(super) struct OpenPoll<'a> {
    pub(super) state: &'a mut CallState,
    pub(super) epoch: u32,
    pub(super) depth: u32,
    pub(super) shape: PollShape,
    pub(super) waker: PollWaker<'a>,
}

impl Drop for CallPoll<'_> {
    #[inline]
    fn drop(&mut self) {
        unwound(self);
    }
}

/// Closes a frame without a result.
#[allow(
    improper_ctypes_definitions,
    reason = "both sides are Rust; in C's way it cannot unwind"
)]
#[cold]
extern "C" fn unwound(poll: &mut CallPoll<'_>) {
    let how = if std::thread::panicking() {
        PollEnd::Panic
    } else {
        PollEnd::Torn
    };
    let is_over = match poll {
        CallPoll::Unaccounted => true,
        CallPoll::Straight(_) => false,
        CallPoll::Open(open) => open.depth == CLOSED,
    };
    if !is_over {
        poll.end(thread::this(), how);
    }
}
