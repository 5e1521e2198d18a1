//! The clock: raw ticks on the poll path, nanoseconds only for readers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use quanta::Clock;
use turbowish_model::account::time::Scale;
use turbowish_unsafe::counter;

/// The clock of this process.
struct ProcessClock {
    calibrated: OnceLock<Calibrated>,
    /// Whether the clock's raw ticks are those of the processor's counter, as it is.
    is_counter: AtomicBool,
}

/// A clock, and how long its ticks are.
struct Calibrated {
    clock: Clock,
    scale: Scale,
}

static CLOCK: ProcessClock = ProcessClock {
    calibrated: OnceLock::new(),
    is_counter: AtomicBool::new(false),
};

/// Calibrates the clock once; takes about a millisecond.
pub(crate) fn start() {
    calibrated();
}

fn calibrated() -> &'static Calibrated {
    CLOCK.calibrated.get_or_init(|| {
        let before = Between::counter();
        let clock = Clock::new();
        let is_counter = is_counter(&clock);
        CLOCK.is_counter.store(is_counter, Ordering::Relaxed);
        let mut span = span_ns(&clock);
        // If the thread was interrupted meanwhile, the clock may be wrong by a thousandth.
        if is_counter
            && let (Some(before), Some(after)) = (before, Between::counter())
            && let Some((least, most)) = before.bounds(&after)
        {
            span = span.clamp(least, most);
        }
        Calibrated {
            clock,
            scale: Scale::new(span, SPAN_BITS),
        }
    })
}

/// A scale is told by the nanoseconds of so many ticks, as a power of two.
const SPAN_BITS: u32 = 32;

/// How long these ticks take by the clock itself.
fn span_ns(clock: &Clock) -> u64 {
    clock.delta_as_nanos(0, 1 << SPAN_BITS)
}

/// A time by one clock, and two readings of another one around it.
struct Between<T> {
    before: u64,
    at: T,
    after: u64,
}

impl<T> Between<T> {
    /// The closest of so many readings: the thread may be interrupted between two of them.
    fn closest(readings: usize, ticks: fn() -> Option<u64>, time: fn() -> T) -> Option<Self> {
        let read = |_| {
            let (before, at, after) = (ticks()?, time(), ticks()?);
            Some(Self { before, at, after })
        };
        let all = (0..readings).filter_map(read);
        all.min_by_key(Self::took)
    }

    fn took(&self) -> u64 {
        self.after.saturating_sub(self.before)
    }
}

impl Between<Instant> {
    /// The counter beside the machine's clock.
    fn counter() -> Option<Self> {
        Self::closest(8, counter::read, Instant::now)
    }

    /// Least and largest number of nanoseconds that `2^SPAN_BITS` ticks can take, by these readings
    /// and later ones.
    fn bounds(&self, later: &Self) -> Option<(u64, u64)> {
        let ns = later.at.checked_duration_since(self.at)?.as_nanos();
        let span = |ns: u128, ticks: u64| (ns << SPAN_BITS).checked_div(ticks.into());
        let most = span(ns + 1, later.before.checked_sub(self.after)?)?;
        let least = span(ns.saturating_sub(1), later.after.checked_sub(self.before)?)?;
        Some((least.try_into().ok()?, most.try_into().ok()?))
    }
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
    let scale = Scale::new(span_ns(&clock), SPAN_BITS);
    CLOCK.calibrated.set(Calibrated { clock, scale }).is_ok()
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
    let calibrated = CLOCK.calibrated.get();
    calibrated.map_or(0, |calibrated| calibrated.clock.raw())
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

/// One instant, in ticks and in nanoseconds since 1970.
pub(crate) fn both() -> (u64, u64) {
    let read = Between::closest(3, || Some(ticks()), unix_ns);
    read.map_or((0, 0), |read| (read.before + read.took() / 2, read.at))
}

/// The wall clock at an instant that is over.
pub(crate) fn unix_ns_of(ticks: u64, scale: Scale) -> u64 {
    let (now, unix_ns) = both();
    unix_ns.saturating_sub(scale.ns(now.saturating_sub(ticks)))
}

/// Conversion from ticks to nanoseconds.
pub(crate) fn scale() -> Scale {
    calibrated().scale
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Between, SPAN_BITS};

    #[test]
    fn a_tick_is_as_long_as_two_pairs_of_readings_allow() {
        let begin = Instant::now();
        let at = |before, after, ns| Between {
            before,
            at: begin + Duration::from_nanos(ns),
            after,
        };
        let first = at(1_000, 1_100, 0);
        // Two ticks are a nanosecond, to a hundredth: 50,000 of them, or 200 fewer or more.
        let (least, most) = first.bounds(&at(101_000, 101_100, 50_000)).expect("later");
        let ticks = |span: u64| ((50_000u128 << SPAN_BITS) / u128::from(span)) as u64;
        assert!(
            (100_100..=100_103).contains(&ticks(least)),
            "{}",
            ticks(least)
        );
        assert!((99_897..=99_900).contains(&ticks(most)), "{}", ticks(most));
        // Readings that are no later bound nothing.
        assert_eq!(first.bounds(&at(1_050, 1_200, 50)), None);
        assert_eq!(first.bounds(&first), None);
        assert!(Between::counter().is_none_or(|one| one.before <= one.after));
    }
}
