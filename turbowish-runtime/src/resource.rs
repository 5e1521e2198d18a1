//! What instrumented primitives report to: who waits, who holds, what went through. Their own work is done by what they wrap.
//!
//! A [`Resource`] is part of its primitive and costs nothing until it is used while accounting is on; then it has a [`Record`], which
//! the monitor finds in a map. A record's lock is held for a few stores, and never while user code runs; the application meets
//! the monitor there only while one record is copied.

pub(crate) mod cancel_safety;
mod ends;
mod exclusive_holder;
mod hold;
mod intents;
mod order;
mod record;
mod state;
#[cfg(test)]
mod tests;
mod timer;
mod wait;

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, LazyLock, OnceLock};

use dashmap::DashMap;
pub(crate) use turbowish_model::account::resource::{Kind, Role};

use self::cancel_safety::EffectSource;
pub(crate) use self::ends::End;
use self::ends::Ends;
pub(crate) use self::hold::{Hold, OwnedHold};
pub use self::intents::{Link, ResourceRef};
#[cfg(feature = "server")]
pub(crate) use self::order::{Taken, orders};
pub(crate) use self::order::{clear, leave, over};
pub(crate) use self::record::Record;
use self::timer::timers_beyond;
pub(crate) use self::timer::{TimerWait, timers};
pub(crate) use self::wait::{WaitEntry, Waited};
use crate::hot::current::{self, CurrentCall};
use crate::hot::{clock, switch};

static RECORDS: LazyLock<DashMap<u64, Arc<Record>>> =
    LazyLock::new(|| DashMap::with_shard_amount(SHARDS));
static NEXT: AtomicU64 = AtomicU64::new(1);
static LIVE: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
/// Resources that exist and have no record.
static BEYOND: AtomicU64 = AtomicU64::new(0);

/// As for tasks: the monitor holds each for a few microseconds only.
const SHARDS: usize = 64;

/// Resources with a record of their own.
const LIMIT: u64 = 100_000;

/// What a primitive of ours holds beside the one that it wraps.
#[derive(Debug)]
pub(crate) struct Resource {
    kind: Kind,
    place: &'static Location<'static>,
    /// As it is now; [`NONE`] if there is none.
    capacity: AtomicU64,
    /// Nothing comes any more, which a record that is made later has to know.
    closed: AtomicBool,
    name: OnceLock<Arc<str>>,
    record: OnceLock<Option<Arc<Record>>>,
    ends: OnceLock<Arc<Ends>>,
}

/// Without a monitor's thread nobody asks what goes wrong.
const ALERTS: bool = cfg!(feature = "server");

/// No capacity.
const NONE: u64 = u64::MAX;

impl Resource {
    /// One that is made at the caller's caller; `capacity` is its permits, or the items that fit in.
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

    /// Gives it a name, once.
    pub(crate) fn name(&self, name: &str) {
        if switch::is_child() {
            return;
        }
        let name = self.name.get_or_init(|| name.into());
        if let Some(Some(record)) = self.record.get() {
            record.name(name);
        }
    }

    /// Its record, while accounting is on; `None` beyond the limit, too.
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
            if LIVE.fetch_add(1, Ordering::Relaxed) >= LIMIT {
                LIVE.fetch_sub(1, Ordering::Relaxed);
                LOST.fetch_add(1, Ordering::Relaxed);
                BEYOND.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            let id = NEXT.fetch_add(1, Ordering::Relaxed);
            let ends = self.ends.get_or_init(Arc::default).clone();
            let capacity = self.capacity.load(Ordering::Relaxed);
            let record = Record::new(id, self.kind, self.place, capacity, ends);
            let record = Arc::new(record);
            RECORDS.insert(id, record.clone());
            Some(record)
        });
        let record = record.as_ref()?;
        // Named after it was entered, so that no name that comes at the same time is missed.
        if let Some(name) = self.name.get() {
            record.name(name);
        }
        // Likewise: whoever closes looks for the record after it has said so.
        fence(Ordering::SeqCst);
        if self.closed.load(Ordering::Relaxed) {
            record.close();
        }
        Some(record)
    }

    /// There are so many permits now.
    pub(crate) fn set_capacity(&self, capacity: Option<usize>) {
        let capacity = capacity.map_or(NONE, |capacity| capacity as u64);
        self.capacity.store(capacity, Ordering::Relaxed);
        if let Some(Some(record)) = self.record.get() {
            record.set_capacity(capacity);
        }
    }

    /// So many items came in.
    #[inline]
    pub(crate) fn put(&self, items: u64) {
        if let Some(record) = self.record() {
            record.put(items);
            self.moved(Role::Send, record);
        }
    }

    /// The current task has put in or taken out what is nowhere else.
    #[inline]
    fn moved(&self, role: Role, record: &Record) {
        if ALERTS && matches!(self.kind, Kind::Mpsc | Kind::Broadcast) {
            current::ledger(|ledger| cancel_safety::item(ledger, role, record.id));
        }
    }

    /// So many items went out, which did not leave: others may get them, too.
    #[inline]
    pub(crate) fn gave(&self, items: u64) {
        if let Some(record) = self.record() {
            record.took(items);
            self.moved(Role::Receive, record);
        }
    }

    /// An item is about to come in, if somebody has waited here; no record is made for it. Whether it is counted.
    pub(crate) fn put_known(&self) -> bool {
        let known = self.record.get().and_then(Option::as_ref);
        let counted = known.filter(|_| switch::is_armed());
        if let Some(record) = counted {
            record.put(1);
        }
        counted.is_some()
    }

    /// It did not come in.
    pub(crate) fn put_back(&self) {
        if let Some(Some(record)) = self.record.get() {
            record.put_back();
        }
    }

    /// An item went out that was counted when it came in, if it was.
    pub(crate) fn took_known(&self) {
        if let Some(Some(record)) = self.record.get() {
            record.took_known();
        }
    }

    /// An item comes in, if its stamp says when: one that came in while accounting was off is counted neither in nor out.
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

    /// Those items went out at once. Only one task at a time may take some.
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
                    record.kept(now.saturating_sub(stamp.0));
                }
            }
            record.took_alone(items);
            self.moved(Role::Receive, record);
        }
    }

    /// All that is inside is dropped unseen.
    pub(crate) fn emptied(&self) {
        if let Some(Some(record)) = self.record.get() {
            record.emptied();
        }
    }

    /// It is used by somebody who gets nothing.
    #[cold]
    pub(crate) fn seen(&self) {
        self.record();
    }

    /// Nothing comes any more.
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
        match self.record.get() {
            Some(Some(record)) => {
                LIVE.fetch_sub(1, Ordering::Relaxed);
                RECORDS.remove(&record.id);
            }
            Some(None) => {
                BEYOND.fetch_sub(1, Ordering::Relaxed);
            }
            None => {}
        }
    }
}

/// Takes and gives back a mutex of which nobody is told, to see what that costs.
pub(crate) fn unseen() -> impl Fn() {
    let place = Location::caller();
    let record = Record::new(0, Kind::Mutex, place, NONE, Arc::default());
    move || {
        let slot = record.hold(current::here(), Role::Lock, 1, place, false);
        record.release(slot);
    }
}

/// Every resource that was used and still is.
pub(crate) fn all() -> Vec<Arc<Record>> {
    RECORDS.iter().map(|entry| entry.value().clone()).collect()
}

/// What is to be said of a resource that still exists.
pub(crate) fn source(id: u64) -> Option<EffectSource> {
    Some(RECORDS.get(&id)?.source())
}

/// The same, if what `who` has taken there is still held.
pub(crate) fn source_held(id: u64, slot: u32, who: CurrentCall) -> Option<EffectSource> {
    let record = RECORDS.get(&id)?;
    (record.holder(slot) == Some(who)).then(|| record.source())
}

/// There are waits for resources or timers that are not told: more than are kept.
pub(crate) fn hides_waits() -> bool {
    BEYOND.load(Ordering::Relaxed) > 0 || timers_beyond() > 0
}

/// Resources that got no record.
pub(crate) fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// When an item came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Now; nothing while accounting is off.
    #[inline]
    pub(crate) fn now() -> Self {
        Self(if switch::is_armed() {
            clock::ticks().max(1)
        } else {
            0
        })
    }
}
