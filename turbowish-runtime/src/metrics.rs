//! Counters and gauges: a static at each use, numbered at its first use. Nothing here locks, panics
//! or touches the ledger. Nothing allocates either, once each place was used on a thread, so that
//! even an allocator may count.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use once_cell::race::OnceRef;
use turbowish_model::account::metrics::{MetricKey, SITE_LIMIT};
use turbowish_model::collect::metric_rows::MetricName;
use turbowish_model::event::UserEvent;
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

/// Static behind one [`counter!`].
#[derive(Debug)]
pub struct Counter(Metric);

/// Static behind one [`gauge!`].
#[derive(Debug)]
pub struct Gauge(Metric);

/// A place in the source that adds to a counter or sets a gauge.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    kind: MetricKind,
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
        Self(Metric::new(name, MetricKind::Counter))
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
        Self(Metric::new(name, MetricKind::Gauge))
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

impl Metric {
    #[track_caller]
    const fn new(name: &'static str, kind: MetricKind) -> Self {
        Self {
            name,
            kind,
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
        kind: metric.kind,
        file: metric.place.file(),
        line: metric.place.line(),
        column: metric.place.column(),
    })
}
