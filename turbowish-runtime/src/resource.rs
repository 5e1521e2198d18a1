//! Records of instrumented primitives: waiters, holders, and flow. The wrapped primitives do the
//! actual work.
//!
//! A [`Resource`] is part of its primitive and costs nothing until it is used while accounting is
//! on. Then it has a [`Record`], which the monitor finds in a map. A record's lock is held for a
//! few stores, and never while user code runs. The application contends with the monitor only while
//! one record is copied.

pub(crate) mod cancel_safety;
mod ends;
mod exclusive_holder;
mod hold;
mod intents;
mod late_timers;
mod longest;
mod order;
mod record;
mod registry;
mod state;
mod timer;
mod wait;

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};

pub(crate) use turbowish_model::account::resource::{Kind, Role};

pub(crate) use self::ends::End;
use self::ends::Ends;
pub(crate) use self::hold::{Hold, OwnedHold};
pub use self::intents::{Link, ResourceRef};
pub(crate) use self::late_timers::{late_from, take_timer_delays};
pub(crate) use self::order::{Taken, clear, leave, orders, over};
pub(crate) use self::record::Record;
pub(crate) use self::registry::{all, hides_waits, lost, source, source_held};
pub(crate) use self::timer::{TimerWait, each_timer, timers};
pub(crate) use self::wait::{WaitEntry, Waited};
use crate::features;
use crate::hot::current;
use crate::hot::{clock, switch};

/// State of a drop-in wrapper beside the primitive that it wraps.
#[derive(Debug)]
pub(crate) struct Resource {
    kind: Kind,
    place: &'static Location<'static>,
    /// Current capacity; [`NONE`] if there is none.
    capacity: AtomicU64,
    /// Whether it is closed: a record that is created later needs to know.
    closed: AtomicBool,
    name: OnceLock<Arc<str>>,
    record: OnceLock<Option<Arc<Record>>>,
    ends: OnceLock<Arc<Ends>>,
}

/// Stands for no capacity.
const NONE: u64 = u64::MAX;

impl Resource {
    /// Creates a resource, located at the caller's caller; `capacity` is the number of permits, or
    /// of items that fit in.
    #[track_caller]
    pub(crate) const fn new(kind: Kind, capacity: Option<usize>) -> Self {
        Self {
            kind,
            place: Location::caller(),
            capacity: AtomicU64::new(match capacity {
                Some(capacity) => capacity as u64,
                None => NONE,
            }),
            closed: AtomicBool::new(false),
            name: OnceLock::new(),
            record: OnceLock::new(),
            ends: OnceLock::new(),
        }
    }

    /// Sets its name; the first name stays.
    pub(crate) fn name(&self, name: &str) {
        if switch::is_child() {
            return;
        }
        let name = self.name.get_or_init(|| name.into());
        if let Some(Some(record)) = self.record.get() {
            record.name(name);
        }
    }

    /// Its record, created on first use while accounting is armed; `None` otherwise and beyond the
    /// limit.
    #[inline]
    fn record(&self) -> Option<&Arc<Record>> {
        if !switch::is_armed() {
            return None;
        }
        match self.record.get() {
            Some(record) => record.as_ref(),
            None => self.enter(),
        }
    }

    /// Its record, if it has one.
    #[inline]
    fn known(&self) -> Option<&Arc<Record>> {
        self.record.get()?.as_ref()
    }

    #[cold]
    fn enter(&self) -> Option<&Arc<Record>> {
        let record = self.record.get_or_init(|| {
            registry::enter(|id| {
                let ends = self.ends.get_or_init(Arc::default).clone();
                let capacity = self.capacity.load(Ordering::Relaxed);
                Record::new(id, self.kind, self.place, capacity, ends)
            })
        });
        let record = record.as_ref()?;
        // Read after the record was entered, so that a name set concurrently is not missed.
        if let Some(name) = self.name.get() {
            record.name(name);
        }
        // Likewise: the closing thread looks for the record after it has set `closed`.
        fence(Ordering::SeqCst);
        if self.closed.load(Ordering::Relaxed) {
            record.close();
        }
        Some(record)
    }

    /// Sets the number of existing permits.
    pub(crate) fn set_capacity(&self, capacity: Option<usize>) {
        let capacity = capacity.map_or(NONE, |capacity| capacity as u64);
        self.capacity.store(capacity, Ordering::Relaxed);
        if let Some(Some(record)) = self.record.get() {
            record.set_capacity(capacity);
        }
    }

    /// Counts `items` that were put in.
    #[inline]
    pub(crate) fn put(&self, items: u64) {
        if let Some(record) = self.record() {
            record.put(items);
            self.moved(Role::Send, record);
        }
    }

    /// Records that the current task has put in or taken out an item, which is now nowhere else.
    #[inline]
    fn moved(&self, role: Role, record: &Record) {
        if features::SERVER && matches!(self.kind, Kind::Mpsc | Kind::Broadcast) {
            current::ledger(|ledger| cancel_safety::item(ledger, role, record.id));
        }
    }

    /// Counts `items` that were read but stay inside: other receivers may get them, too.
    #[inline]
    pub(crate) fn gave(&self, items: u64) {
        if let Some(record) = self.record() {
            record.took(items);
            self.moved(Role::Receive, record);
        }
    }

    /// Counts an item that is about to be put in, if anything has waited here; creates no record.
    /// Returns whether it was counted.
    pub(crate) fn put_known(&self) -> bool {
        let known = self.record.get().and_then(Option::as_ref);
        let counted = known.filter(|_| switch::is_armed());
        if let Some(record) = counted {
            record.put(1);
        }
        counted.is_some()
    }

    /// Reverts [`put_known`](Self::put_known): the item was not put in.
    pub(crate) fn put_back(&self) {
        if let Some(Some(record)) = self.record.get() {
            record.put_back();
        }
    }

    /// Counts an item that was taken out, if it was counted when it was put in.
    pub(crate) fn took_known(&self) {
        if let Some(Some(record)) = self.record.get() {
            record.took_known();
        }
    }

    /// Counts an item that is put in, if it is stamped. An item put in while accounting was off is
    /// counted neither in nor out.
    #[inline]
    pub(crate) fn put_stamped(&self, stamp: Stamp) {
        if stamp.0 == 0 {
            return;
        }
        let record = match self.record.get() {
            Some(record) => record.as_ref(),
            None => self.enter(),
        };
        if let Some(record) = record {
            record.put(1);
            self.moved(Role::Send, record);
        }
    }

    /// Counts items that were taken out together. Only one task at a time may take items out.
    #[inline]
    pub(crate) fn took(&self, stamps: impl Iterator<Item = Stamp>) {
        let mut known = stamps.filter(|stamp| stamp.0 != 0).peekable();
        if known.peek().is_some()
            && let Some(Some(record)) = self.record.get()
        {
            let now = switch::is_armed().then(clock::ticks);
            let mut items = 0;
            for stamp in known {
                items += 1;
                if let Some(now) = now {
                    record.kept(now.saturating_sub(stamp.0), now);
                }
            }
            record.took_alone(items);
            self.moved(Role::Receive, record);
        }
    }

    /// Counts all items inside as taken: they are dropped with the receiver.
    pub(crate) fn emptied(&self) {
        if let Some(Some(record)) = self.record.get() {
            record.emptied();
        }
    }

    /// Creates the record, for a use that acquires nothing.
    #[cold]
    pub(crate) fn seen(&self) {
        self.record();
    }

    /// Marks the resource as closed.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if let Some(Some(record)) = self.record.get() {
            record.close();
        }
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        if switch::is_child() {
            return;
        }
        if let Some(record) = self.record.get() {
            registry::remove(record);
        }
    }
}

/// Acquires and releases an unlisted mutex record, to measure the overhead.
pub(crate) fn unseen() -> impl Fn() {
    let place = Location::caller();
    let record = Record::new(0, Kind::Mutex, place, NONE, Arc::default());
    move || {
        let slot = record.hold(current::current_call(), Role::Lock, 1, place, false);
        record.release(slot);
    }
}

/// Time at which an item was put in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// The current time; 0 while accounting is disarmed.
    #[inline]
    pub(crate) fn now() -> Self {
        Self(if switch::is_armed() {
            clock::ticks().max(1)
        } else {
            0
        })
    }
}
