//! Callbacks of the program for what the recorder records. They run on a thread of their own: one
//! that blocks holds up neither a worker nor the recorder.

mod pump;

use std::time::{Duration, SystemTime};

#[cfg(test)]
pub(crate) use self::pump::end;
pub(crate) use self::pump::{Heard, HeardEvent, close, is_heard, pass};

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedKind {
    /// A poll of a task.
    Poll,
    /// A wait for a resource of 100 µs or more, after which the task got what it waited for.
    Wait,
    /// Such a wait that the task gave up.
    GaveUp,
    /// A hold of a resource of 100 µs or more.
    Hold,
    /// An event of the program's own: `turbowish::event!`.
    User,
    /// Events that are lost: they were overwritten before they could be copied, or callbacks took
    /// too long.
    Lost,
}

/// An event that the recorder has recorded, for a callback of [`on_event`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RecordedEvent<'a> {
    /// What has happened.
    pub kind: RecordedKind,
    /// When it began; of events that are lost because callbacks took too long, when that was found.
    pub at: SystemTime,
    /// How long it took; zero for an event of the program's own.
    pub took: Duration,
    /// Of a poll, the root function of the task; of a wait or a hold, the kind of use, such as
    /// `lock`; of an event of the program's own, its name; empty if it is not known.
    pub name: &'a str,
    /// ID of the task; 0 if there is none.
    pub task: u64,
    /// Number of the thread; of events that are lost because callbacks took too long, 0, since they
    /// may be of several threads.
    pub thread: u32,
    /// Names and values of the numbers of an event of the program's own.
    pub values: &'a [(&'static str, i64)],
    /// Number of events that this one stands for: 1, or those that are lost.
    pub count: u64,
}

/// Calls `callback` with each poll, long wait, long hold and event of the program's own that the
/// recorder records from now on. States, marks and events of calls do not come. Needs the feature
/// `server` and a recorder (`TURBOWISH_RECORD`); without them nothing is called. The classes of
/// events are those of the recorder.
///
/// - **Thread.** All callbacks run on one thread, `turbowish-events`, one after the other. No call
///   overlaps another one, so a callback needs no lock of its own. What runs there is not measured.
/// - **Time.** An event comes up to 250 ms after it has happened. Those of one thread come in their
///   order; those of several threads do not.
/// - **Locks.** No lock of TurboWish is held while a callback runs. A callback may block, wait for
///   locks of the program, and call anything of TurboWish. No task waits for it. While it takes
///   longer than events come, at most 64 batches of them wait, of 262,144 events in all. Further
///   events are left out, and their number comes as [`RecordedKind::Lost`].
/// - **Signals.** Signals are blocked on that thread, but those of faults and SIGPROF: one that is
///   sent to the process goes to threads of the program, which may have blocked it, or wait for it.
///   Threads that a callback starts inherit that, child processes of `std::process::Command` do
///   not. A callback that wants signals unblocks them.
/// - **End.** When the [`Guard`](crate::Guard) is dropped, callbacks get what was recorded up to
///   then, and are dropped, also those that were never called. The end of the program waits for
///   that for a second at most. A callback that is added later, or in a child of `fork`, is dropped
///   at once.
/// - **Panics.** A callback that panics is not called any more, and one line on stderr says so. It
///   is dropped; if that panics too, the other callbacks go on.
///
/// ```
/// use std::sync::mpsc::channel;
/// use turbowish::RecordedKind;
///
/// let turbowish = turbowish::Builder::new().name("shop").init();
/// let (sender, events) = channel();
/// turbowish::on_event(move |event| {
///     if event.kind == RecordedKind::User {
///         let _ = sender.send((event.name.to_owned(), event.values.to_vec()));
///     }
/// });
/// turbowish::event!("cache.miss", key = 7);
/// drop(turbowish);
/// // With the feature `server`, it has come by now.
/// for (name, values) in events.try_iter() {
///     assert_eq!((&*name, &values[..]), ("cache.miss", &[("key", 7)][..]));
/// }
/// ```
pub fn on_event(callback: impl FnMut(&RecordedEvent<'_>) + Send + 'static) {
    pump::add(Box::new(callback));
}
