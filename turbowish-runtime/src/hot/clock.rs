//! The one clock: raw ticks on the path of a poll, nanoseconds only for readers.

use std::sync::OnceLock;

use quanta::Clock;
use turbowish_model::account::time::Scale;

static CLOCK: OnceLock<Clock> = OnceLock::new();

/// Calibrates the clock, once; takes about a millisecond.
pub(crate) fn start() -> &'static Clock {
    CLOCK.get_or_init(Clock::new)
}

/// Puts a clock in place of the machine's, before anything else has started it.
#[cfg(test)]
pub(crate) fn install(clock: Clock) -> bool {
    CLOCK.set(clock).is_ok()
}

/// The time now in ticks; 0 before [`start`].
#[cfg(not(test))]
#[inline]
pub(crate) fn ticks() -> u64 {
    CLOCK.get().map_or(0, Clock::raw)
}

/// The same, or the machine's time where a test asks for it.
#[cfg(test)]
pub(crate) fn ticks() -> u64 {
    static MACHINE: std::sync::LazyLock<Clock> = std::sync::LazyLock::new(Clock::new);
    match BY_ITSELF.load(std::sync::atomic::Ordering::Relaxed) {
        true => MACHINE.raw(),
        false => CLOCK.get().map_or(0, Clock::raw),
    }
}

/// Time goes by itself, and not by hand.
#[cfg(test)]
pub(crate) static BY_ITSELF: std::sync::atomic::AtomicBool =
    std::sync::atomic::AtomicBool::new(false);

/// How long a tick is.
pub(crate) fn scale() -> Scale {
    const SPAN_BITS: u32 = 32;
    let clock = start();
    Scale::new(clock.delta_as_nanos(0, 1 << SPAN_BITS), SPAN_BITS)
}
