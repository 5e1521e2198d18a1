//! Common instants at which the monitor's thread wakes: one wake serves all that is due then.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::time::Instant;

/// Distances of the instants: each is a multiple of the next one. A longer pause ends at one of the
/// instants that are further apart.
const STEPS: [Duration; 4] = [
    SECOND,
    Duration::from_millis(250),
    Duration::from_millis(50),
    Duration::from_millis(25),
];

const SECOND: Duration = Duration::from_secs(1);

/// One of the instants.
fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

/// The common instant next to `at`. What is due sooner than the shortest step is due when it is.
pub(crate) fn near(at: Instant) -> Instant {
    nearest(origin(), Instant::now(), at)
}

/// The whole second next to `at`.
pub(super) fn near_second(at: Instant) -> Instant {
    rounded(origin(), SECOND, at).unwrap_or(at)
}

/// Number of the common instant next to now, among those that are so far apart.
pub(crate) fn number(step: Duration) -> u64 {
    let passed = (Instant::now() + step / 2).saturating_duration_since(origin());
    u64::try_from(passed.as_nanos() / step.as_nanos().max(1)).unwrap_or(u64::MAX)
}

/// The common instant that is next to the end of this time.
pub(crate) fn after(time: Duration) -> Instant {
    near(Instant::now() + time)
}

fn nearest(origin: Instant, now: Instant, at: Instant) -> Instant {
    let pause = at.saturating_duration_since(now);
    // The instants in between are a little late: two steps of 50 ms may be 99 ms.
    let is_within = |step: &Duration| *step <= pause + STEPS[3] / 2;
    let step = STEPS.into_iter().find(is_within);
    step.and_then(|step| rounded(origin, step, at))
        .unwrap_or(at)
}

/// `None` before the first of the instants: the clock of another runtime has not come so far.
fn rounded(origin: Instant, step: Duration, at: Instant) -> Option<Instant> {
    let passed = at.checked_duration_since(origin)?;
    let over = Duration::from_nanos((passed.as_nanos() % step.as_nanos()) as u64);
    Some(match over < step / 2 {
        true => at - over,
        false => at + (step - over),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::nearest;

    /// All in milliseconds since the first instant: now, what is due, and when it is done.
    #[test]
    fn pauses_end_together() {
        let origin = Instant::now();
        let ms = |time| origin + Duration::from_millis(time);
        for (now, due, expected) in [
            // As they are, if they are short.
            (0, 0, 0),
            (3, 5, 5),
            (100, 112, 112),
            (100, 90, 90),
            (0, 12, 12),
            (0, 13, 25),
            (1, 30, 25),
            (1, 38, 50),
            (51, 101, 100),
            (52, 100, 100),
            (60, 114, 100),
            (60, 134, 150),
            (1_001, 1_081, 1_100),
            (3, 253, 250),
            // A little late.
            (260, 500, 500),
            (374, 624, 500),
            (376, 626, 750),
            (7, 1_006, 1_000),
            (1_300, 2_300, 2_000),
            (1_300, 2_290, 2_000),
            (1_300, 2_280, 2_250),
            (2_002, 12_002, 12_000),
        ] {
            let done = nearest(origin, ms(now), ms(due));
            let done = done.duration_since(origin).as_millis();
            assert_eq!(done, expected, "{now}: {due}");
        }
        let later = origin + Duration::from_secs(1);
        assert_eq!(nearest(later, origin, ms(100)), ms(100));
    }
}
