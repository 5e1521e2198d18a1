//! The clock: raw ticks on the poll path, nanoseconds only for readers.

use std::sync::OnceLock;

use quanta::Clock;
use turbowish_model::account::time::Scale;

static CLOCK: OnceLock<Clock> = OnceLock::new();

/// Calibrates the clock once; takes about a millisecond.
pub(crate) fn start() -> &'static Clock {
    CLOCK.get_or_init(Clock::new)
}

/// Replaces the machine's clock, before anything has started it.
#[cfg(test)]
pub(crate) fn install(clock: Clock) -> bool {
    CLOCK.set(clock).is_ok()
}

/// Current time in ticks; 0 before [`start`].
#[cfg(not(test))]
#[inline]
pub(crate) fn ticks() -> u64 {
    CLOCK.get().map_or(0, Clock::raw)
}

/// Current time in ticks, or the machine's time if a test asks for it.
#[cfg(test)]
pub(crate) fn ticks() -> u64 {
    static MACHINE: std::sync::LazyLock<Clock> = std::sync::LazyLock::new(Clock::new);
    match BY_ITSELF.load(std::sync::atomic::Ordering::Relaxed) {
        true => MACHINE.raw(),
        false => CLOCK.get().map_or(0, Clock::raw),
    }
}

/// Whether time passes on its own instead of being set by the test.
#[cfg(test)]
pub(crate) static BY_ITSELF: std::sync::atomic::AtomicBool =
    std::sync::atomic::AtomicBool::new(false);

/// Conversion from ticks to nanoseconds.
pub(crate) fn scale() -> Scale {
    const SPAN_BITS: u32 = 32;
    let clock = start();
    Scale::new(clock.delta_as_nanos(0, 1 << SPAN_BITS), SPAN_BITS)
}
