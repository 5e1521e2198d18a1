//! The clock: raw ticks on the poll path, nanoseconds only for readers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use quanta::Clock;
use turbowish_model::account::time::Scale;
use turbowish_unsafe::counter;

/// The clock of this process.
struct ProcessClock {
    clock: OnceLock<Clock>,
    /// Whether the clock's raw ticks are those of the processor's counter, as it is.
    is_counter: AtomicBool,
}

static CLOCK: ProcessClock = ProcessClock {
    clock: OnceLock::new(),
    is_counter: AtomicBool::new(false),
};

/// Calibrates the clock once; takes about a millisecond.
pub(crate) fn start() -> &'static Clock {
    CLOCK.clock.get_or_init(|| {
        let clock = Clock::new();
        CLOCK
            .is_counter
            .store(is_counter(&clock), Ordering::Relaxed);
        clock
    })
}

/// Whether each reading of the clock lies between two of the counter.
fn is_counter(clock: &Clock) -> bool {
    const READINGS: usize = 16;
    (0..READINGS).all(|_| {
        let before = counter::read();
        let raw = clock.raw();
        let after = counter::read();
        before.is_some_and(|before| before <= raw) && after.is_some_and(|after| raw <= after)
    })
}

/// Replaces the machine's clock, before anything has started it.
#[cfg(test)]
pub(crate) fn install(clock: Clock) -> bool {
    CLOCK.clock.set(clock).is_ok()
}

/// Current time in ticks; 0 before [`start`].
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    if CLOCK.is_counter.load(Ordering::Relaxed)
        && let Some(ticks) = counter::read()
    {
        return ticks;
    }
    ticks_of_clock()
}

#[cold]
#[inline(never)]
fn ticks_of_clock() -> u64 {
    CLOCK.clock.get().map_or(0, Clock::raw)
}

/// Current time in ticks, or the machine's time if a test asks for it.
#[cfg(test)]
pub(crate) fn ticks() -> u64 {
    static MACHINE: std::sync::LazyLock<Clock> = std::sync::LazyLock::new(Clock::new);
    match BY_ITSELF.load(std::sync::atomic::Ordering::Relaxed) {
        true => MACHINE.raw(),
        false => ticks_of_clock(),
    }
}

/// Whether time passes on its own instead of being set by the test.
#[cfg(test)]
pub(crate) static BY_ITSELF: std::sync::atomic::AtomicBool =
    std::sync::atomic::AtomicBool::new(false);

/// The wall clock, in nanoseconds since 1970. For readers only.
pub(crate) fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

/// One instant, in ticks and in nanoseconds since 1970. The thread may be interrupted between two
/// readings of a clock: the closest of some counts.
pub(crate) fn both() -> (u64, u64) {
    const READINGS: usize = 3;
    let read = || {
        let (before, unix_ns, after) = (ticks(), unix_ns(), ticks());
        (after.saturating_sub(before), before, unix_ns)
    };
    let (took, before, unix_ns) = (0..READINGS).map(|_| read()).min().unwrap_or_default();
    (before + took / 2, unix_ns)
}

/// The wall clock at an instant that is over.
pub(crate) fn unix_ns_of(ticks: u64, scale: Scale) -> u64 {
    let (now, unix_ns) = both();
    unix_ns.saturating_sub(scale.ns(now.saturating_sub(ticks)))
}

/// Conversion from ticks to nanoseconds.
pub(crate) fn scale() -> Scale {
    const SPAN_BITS: u32 = 32;
    let clock = start();
    Scale::new(clock.delta_as_nanos(0, 1 << SPAN_BITS), SPAN_BITS)
}
