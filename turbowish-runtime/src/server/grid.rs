//! Common instants at which the monitor's thread wakes: one wake serves all that is due then. They
//! are 25 ms apart; what is due less often has the instants that are 50 or 250 ms apart.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::time::Instant;

/// Distances of the instants: each is a multiple of the next one.
const STEPS: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_millis(50),
    SHORTEST,
];
const SHORTEST: Duration = Duration::from_millis(25);

/// One of the instants.
fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

/// The first instant after now of those that are a step apart.
pub(crate) fn next(step: Duration) -> Instant {
    after(origin(), step, Instant::now())
}

/// Number of the last instant of those that are a step apart.
pub(crate) fn number(step: Duration) -> u64 {
    let passed = Instant::now().saturating_duration_since(origin());
    u64::try_from(passed.as_nanos() / step.as_nanos().max(1)).unwrap_or(u64::MAX)
}

/// The first instant from `at` on, for what is due once in an `interval`: a multiple of a step. Any
/// other interval is kept as it is.
pub(super) fn from(at: Instant, interval: Duration) -> Instant {
    let is_multiple = |step: &Duration| interval.as_nanos().is_multiple_of(step.as_nanos());
    match STEPS.into_iter().find(is_multiple) {
        Some(step) if !interval.is_zero() => up(origin(), step, at),
        _ => at,
    }
}

/// The end of a pause of about this time, and at most half longer.
pub(super) fn about(pause: Duration) -> Instant {
    let now = Instant::now();
    around(origin(), now, pause)
}

/// How long before `at` the last instant was. `None` before the first of them: the clock of another
/// runtime has not come so far.
fn over(origin: Instant, step: Duration, at: Instant) -> Option<Duration> {
    let passed = at.checked_duration_since(origin)?;
    let over = passed.as_nanos() % step.as_nanos().max(1);
    Some(Duration::from_nanos(u64::try_from(over).unwrap_or(0)))
}

fn after(origin: Instant, step: Duration, now: Instant) -> Instant {
    let over = over(origin, step, now).unwrap_or_default();
    now + (step - over)
}

/// Soon after an instant counts as that instant: a thread wakes a little late.
fn up(origin: Instant, step: Duration, at: Instant) -> Instant {
    rounded(origin, step, at, step / 4)
}

fn around(origin: Instant, now: Instant, pause: Duration) -> Instant {
    let (longest, at) = (STEPS[0], now + pause);
    match pause {
        // A thread that wakes late makes up for it.
        pause if pause >= longest => rounded(origin, longest, at, longest),
        pause if pause >= SHORTEST => rounded(origin, SHORTEST, at, SHORTEST / 2),
        _ => at,
    }
}

/// The last instant if that was at most so long before `at`, else the next one.
fn rounded(origin: Instant, step: Duration, at: Instant, before: Duration) -> Instant {
    match over(origin, step, at) {
        None => at,
        Some(over) if over <= before => at - over,
        Some(over) => at + (step - over),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{STEPS, after, around, up};

    /// All in milliseconds since the first instant.
    fn check(cases: &[(u64, u64, u64)], end: impl Fn(Instant, Instant, u64) -> Instant) {
        let origin = Instant::now();
        for &(now, time, expected) in cases {
            let end = end(origin, origin + Duration::from_millis(now), time);
            assert_eq!(
                end.duration_since(origin).as_millis(),
                expected.into(),
                "{now}: {time}"
            );
        }
    }

    /// Now, a step, and the instant that follows.
    #[test]
    fn each_instant_follows_the_one_before() {
        let end = |origin, now, step| after(origin, Duration::from_millis(step), now);
        let cases = [
            (0, 250, 250),
            (1, 250, 250),
            // Work that takes long leaves none out that is still to come.
            (240, 250, 250),
            (250, 250, 500),
            (101, 50, 150),
            (1_003, 25, 1_025),
        ];
        check(&cases, end);
    }

    /// What is due, a step, and when it is done.
    #[test]
    fn what_is_due_waits_for_the_next_instant() {
        let end = |origin, due, step| up(origin, Duration::from_millis(step), due);
        let cases = [
            (0, 250, 0),
            (1_002, 250, 1_000),
            (1_062, 250, 1_000),
            (1_063, 250, 1_250),
            (1_240, 250, 1_250),
            (1_112, 50, 1_100),
            (1_113, 50, 1_150),
        ];
        check(&cases, end);
    }

    /// Now, a pause, and its end.
    #[test]
    fn a_pause_ends_at_an_instant_and_is_at_most_half_longer() {
        let end = |origin, now, pause| around(origin, now, Duration::from_millis(pause));
        let cases = [
            (0, 0, 0),
            (3, 10, 13),
            (100, 24, 124),
            (100, 25, 125),
            (101, 36, 125),
            (100, 38, 150),
            (151, 54, 200),
            (151, 80, 225),
            (36, 40, 75),
            (130, 250, 250),
            (251, 250, 500),
        ];
        check(&cases, end);
        let origin = Instant::now();
        for (pause, now) in (1..=250).flat_map(|pause| (0..25).map(move |now| (pause, now))) {
            let now = origin + Duration::from_millis(now);
            let end = around(origin, now, Duration::from_millis(pause));
            let longest = Duration::from_millis(pause) * 3 / 2;
            assert!(end > now && end - now <= longest, "{pause}");
        }
    }

    /// The clock of another runtime may not have come so far.
    #[test]
    fn before_the_first_instant_all_is_as_it_is() {
        let now = Instant::now();
        let (origin, ms) = (now + Duration::from_secs(1), Duration::from_millis(100));
        assert_eq!(around(origin, now, ms), now + ms);
        assert_eq!(up(origin, STEPS[0], now), now);
    }
}
