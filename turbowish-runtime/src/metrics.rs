//! Counters, gauges and events: a static at each use, numbered at its first use. Nothing here
//! locks, panics or touches the ledger. Nothing allocates either, once each place was used on a
//! thread, so that even an allocator may count.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use once_cell::race::OnceRef;
use turbowish_model::account::event_ring::{EVENT_VALUES, EventFact, EventRecord};
use turbowish_model::account::metrics::{MetricKey, SITE_LIMIT};
use turbowish_model::collect::metric_rows::MetricName;
use turbowish_model::event::{EventClass, UserEvent};
use turbowish_model::snapshot::MetricKind;

use crate::hot::thread::ThreadLedger;
use crate::hot::{clock, events, switch, thread};

/// Adds to one of the program's own counters, by name: `counter!("requests")` adds one,
/// `counter!("bytes", n)` adds `n`.
///
/// The addition is attributed to the innermost instrumented function that is polled on this thread,
/// or to none. Consoles show the counter's total and its rate: `turbowish query counters`. A
/// counter never decreases. The name is a constant. The number may be of any integer type; a
/// negative one counts as lost. Like the arguments of `log`'s macros, the number is evaluated only
/// while accounting is on: do not put required side effects there.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("report.json");
/// let turbowish = turbowish::Builder::new().report_to(&path).init();
/// for request in ["get", "set"] {
///     turbowish::counter!("requests");
///     turbowish::counter!("bytes", request.len());
/// }
/// drop(turbowish);
///
/// let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path)?)?;
/// let of = |name: &str| {
///     let rows = report["counters"].as_array()?;
///     rows.iter().find(|row| row["name"] == name)?["total"].as_u64()
/// };
/// assert_eq!((of("requests"), of("bytes")), (Some(2), Some(6)));
/// # Ok(())
/// # }
/// ```
///
/// Each use takes a few nanoseconds: an addition in the thread's own memory, without a lock. There
/// is room for 1024 places in the source, each in 64 functions; beyond that, numbers count as lost.
#[macro_export]
macro_rules! counter {
    ($name:expr $(,)?) => {
        $crate::counter!($name, 1_u64)
    };
    ($name:expr, $by:expr $(,)?) => {{
        static __TURBOWISH_COUNTER: $crate::private::Counter = $crate::private::Counter::new($name);
        if $crate::private::counts() {
            __TURBOWISH_COUNTER.add($by);
        }
    }};
}

/// Sets one of the program's own gauges, by name: `gauge!("queue", queue.len())`.
///
/// Consoles show its last value, set on any thread, and its minimum and maximum:
/// `turbowish query counters`. The value is a whole number of any integer type; one that does not
/// fit an `i64` counts as lost. Everything else is as with [`counter!`].
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("report.json");
/// let turbowish = turbowish::Builder::new().report_to(&path).init();
/// let mut queue = vec!["a", "b", "c"];
/// while queue.pop().is_some() {
///     turbowish::gauge!("queue", queue.len());
/// }
/// drop(turbowish);
///
/// let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path)?)?;
/// let gauge = &report["counters"][0];
/// assert_eq!((&gauge["value"], &gauge["max"]), (&0.into(), &2.into()));
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! gauge {
    ($name:expr, $value:expr $(,)?) => {{
        static __TURBOWISH_GAUGE: $crate::private::Gauge = $crate::private::Gauge::new($name);
        if $crate::private::counts() {
            __TURBOWISH_GAUGE.set($value);
        }
    }};
}

/// Records an event of the program's own, by name, with up to four whole numbers:
/// `event!("cache.miss", key = id, bytes = entry.len())`.
///
/// Consoles and exports show it among what its task did: `turbowish history`. It is kept like the
/// polls of its thread, by the feature `server`: the last ones, in memory that is overwritten. The
/// name is a constant. A number may be of any integer type; where one does not fit an `i64`, the
/// event counts as lost. Like the arguments of `log`'s macros, numbers are evaluated only while
/// accounting is on: do not put required side effects there.
///
/// ```
/// let turbowish = turbowish::init();
/// for (key, entry) in ["one", "three"].iter().enumerate() {
///     turbowish::event!("cache.miss", key = key, bytes = entry.len());
/// }
/// turbowish::event!("cache.full");
/// # drop(turbowish);
/// ```
///
/// A literal beyond `i32` needs its type: `bytes = 5_000_000_000_i64`. An event takes a reading of
/// the clock and some plain stores. It takes no lock.
#[macro_export]
macro_rules! event {
    ($name:expr $(, $key:ident = $value:expr)* $(,)?) => {{
        static __TURBOWISH_EVENT: $crate::private::EventSite =
            $crate::private::EventSite::new($name, &[$($crate::private::core::stringify!($key)),*]);
        if $crate::private::counts() {
            __TURBOWISH_EVENT.record([$($crate::private::number($value)),*]);
        }
    }};
}

/// Static behind one [`event!`].
#[derive(Debug)]
pub struct EventSite(Metric);

/// Static behind one [`counter!`].
#[derive(Debug)]
pub struct Counter(Metric);

/// Static behind one [`gauge!`].
#[derive(Debug)]
pub struct Gauge(Metric);

/// A place in the source that adds to a counter, sets a gauge or records an event.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    /// `None` for an event.
    kind: Option<MetricKind>,
    /// Names of the numbers of an event.
    keys: &'static [&'static str],
    place: &'static Location<'static>,
    /// Number plus one; 0 before its first use.
    id: AtomicU32,
}

/// Marks a place beyond the maximum number of places.
const NO_ROOM: u32 = u32::MAX;

/// Counters and gauges of this process.
struct MetricList {
    /// Not a vector: that would allocate, and the caller may be an allocator. All zero at first, so
    /// it takes no room in the program's file.
    by_number: [OnceRef<'static, Metric>; SITE_LIMIT as usize],
    next: AtomicU32,
    /// Number of values that were discarded.
    lost: AtomicU64,
}

static METRICS: MetricList = MetricList {
    by_number: [const { OnceRef::new() }; SITE_LIMIT as usize],
    next: AtomicU32::new(0),
    lost: AtomicU64::new(0),
};

impl Counter {
    /// Creates the counter of the calling place.
    #[track_caller]
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(Metric::new(name, Some(MetricKind::Counter), &[]))
    }

    /// Adds `by`. A number that does not fit `u64` is counted as lost.
    #[inline]
    pub fn add(&'static self, by: impl TryInto<u64>) {
        match by.try_into() {
            Ok(by) => self.0.count(by),
            Err(_) => lose(),
        }
    }
}

impl Gauge {
    /// Creates the gauge of the calling place.
    #[track_caller]
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(Metric::new(name, Some(MetricKind::Gauge), &[]))
    }

    /// Sets the gauge to `value`. A number that does not fit `i64` is counted as lost.
    #[inline]
    pub fn set(&'static self, value: impl TryInto<i64>) {
        match value.try_into() {
            Ok(value) => self.0.set(value),
            Err(_) => lose(),
        }
    }
}

impl EventSite {
    /// Creates the event of the calling place.
    ///
    /// # Panics
    /// When the program is compiled, if it has more than four numbers.
    #[track_caller]
    #[must_use]
    pub const fn new(name: &'static str, keys: &'static [&'static str]) -> Self {
        assert!(
            keys.len() <= EVENT_VALUES,
            "an event has at most four numbers"
        );
        Self(Metric::new(name, None, keys))
    }

    /// Records the event with its numbers. One without a number where there should be one counts as
    /// lost.
    pub fn record<const N: usize>(&'static self, numbers: [Option<i64>; N]) {
        let mut values = [0; EVENT_VALUES];
        for (value, number) in values.iter_mut().zip(numbers) {
            let Some(number) = number else { return lose() };
            *value = number;
        }
        if !thread::records(EventClass::User) {
            return;
        }
        let at = clock::ticks();
        self.0.note(|thread, MetricKey { site, .. }| {
            let task = thread.ledger.current_task();
            let fact = EventFact::User { site, values };
            thread.events.push(&EventRecord { at, task, fact });
            true
        });
    }
}

/// A number of an event; `None` if it does not fit.
#[inline]
#[must_use]
pub fn number(number: impl TryInto<i64>) -> Option<i64> {
    number.try_into().ok()
}

/// The name, place and keys of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventWords {
    pub(crate) name: &'static str,
    pub(crate) place: &'static Location<'static>,
    pub(crate) keys: &'static [&'static str],
}

/// The events among the places from number `from` on, with their numbers, as far as they are known.
/// `from` goes on behind them.
pub(crate) fn new_events(from: &mut usize) -> Vec<(u32, EventWords)> {
    let known = METRICS.by_number.iter().enumerate().skip(*from);
    let known = known.map_while(|(number, metric)| Some((number, metric.get()?)));
    let mut events = Vec::new();
    for (number, metric) in known {
        *from = number + 1;
        if metric.kind.is_none() {
            let &Metric {
                name, place, keys, ..
            } = metric;
            events.push((number as u32, EventWords { name, place, keys }));
        }
    }
    events
}

impl Metric {
    #[track_caller]
    const fn new(
        name: &'static str,
        kind: Option<MetricKind>,
        keys: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            kind,
            keys,
            place: Location::caller(),
            id: AtomicU32::new(0),
        }
    }

    fn count(&'static self, by: u64) {
        self.note(|thread, key| {
            events::user(key.site, || UserEvent::Count { by });
            thread.metrics.count(key, by)
        });
    }

    fn set(&'static self, value: i64) {
        let now = clock::ticks();
        self.note(|thread, key| {
            events::user(key.site, || UserEvent::Gauge { value });
            thread.metrics.set(key, value, now)
        });
    }

    #[inline]
    fn note(&'static self, note: impl FnOnce(&ThreadLedger, MetricKey) -> bool) {
        let Some(epoch) = switch::epoch() else { return };
        let noted = self.number().and_then(|site| {
            thread::with(epoch, |thread| {
                let proc = thread.ledger.current_call().proc;
                note(thread, MetricKey { site, proc })
            })
        });
        if noted != Some(true) {
            missed(epoch);
        }
    }

    #[inline]
    fn number(&'static self) -> Option<u32> {
        match self.id.load(Ordering::Relaxed) {
            0 => self.enter(),
            NO_ROOM => None,
            id => Some(id - 1),
        }
    }

    /// Two threads may register at once: then one place has two numbers, and rows with the same
    /// name are merged.
    #[cold]
    fn enter(&'static self) -> Option<u32> {
        let grown = |next: u32| (next < SITE_LIMIT).then_some(next + 1);
        let number = METRICS
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        let Ok(number) = number else {
            self.id.store(NO_ROOM, Ordering::Relaxed);
            return None;
        };
        let _ = METRICS.by_number[number as usize].set(self);
        self.id.store(number + 1, Ordering::Relaxed);
        Some(number)
    }
}

/// Counts a value that found no room, or came when its thread's storage was gone. Values are not
/// counted as lost while accounting is being disarmed, nor those of an allocator on the monitor's
/// thread.
#[cold]
fn missed(epoch: u32) {
    if switch::epoch() == Some(epoch) && !thread::is_ours() {
        lose();
    }
}

#[cold]
fn lose() {
    METRICS.lost.fetch_add(1, Ordering::Relaxed);
}

/// Number of values that were discarded.
pub(crate) fn lost() -> u64 {
    METRICS.lost.load(Ordering::Relaxed)
}

/// Name and kind of the counter or gauge with this number.
pub(crate) fn name(site: u32) -> Option<MetricName<'static>> {
    let metric = METRICS.by_number.get(site as usize)?.get()?;
    Some(MetricName {
        name: metric.name,
        kind: metric.kind?,
        file: metric.place.file(),
        line: metric.place.line(),
        column: metric.place.column(),
    })
}
