//! Common instants at which the monitor's thread wakes: one wake serves all that is due then.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::time::Instant;

/// Distances of the instants: each is a multiple of the next one. A longer pause ends at one of the
/// instants that are further apart.
const STEPS: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_millis(50),
    Duration::from_millis(25),
];

/// The common instant next to `at`. What is due sooner than the shortest step is due when it is.
pub(crate) fn near(at: Instant) -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    nearest(*ORIGIN.get_or_init(|| now), now, at)
}

/// The common instant that is next to the end of this time.
pub(crate) fn after(time: Duration) -> Instant {
    near(Instant::now() + time)
}

fn nearest(origin: Instant, now: Instant, at: Instant) -> Instant {
    let pause = at.saturating_duration_since(now);
    // The instants in between are a little late: two steps of 50 ms may be 99 ms.
    let is_within = |step: &Duration| *step <= pause + STEPS[2] / 2;
    let (Some(step), Some(passed)) = (
        STEPS.into_iter().find(is_within),
        at.checked_duration_since(origin),
    ) else {
        return at;
    };
    let over = Duration::from_nanos((passed.as_nanos() % step.as_nanos()) as u64);
    match over < step / 2 {
        true => at - over,
        false => at + (step - over),
    }
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
        ] {
            let done = nearest(origin, ms(now), ms(due));
            let done = done.duration_since(origin).as_millis();
            assert_eq!(done, expected, "{now}: {due}");
        }
        // A clock of another runtime that has not come so far.
        let later = origin + Duration::from_secs(1);
        assert_eq!(nearest(later, origin, ms(100)), ms(100));
    }
}
