//! Time as a message: the state reads no clock, it receives the time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use turbowish_model::snapshot::units;

use crate::plain_text::utc_offset_s;

/// The clocks of the console. Only the loop reads them.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> Now {
        Now {
            mono_ns: u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            unix_ns: unix_ns(),
            utc_offset_s: utc_offset_s(),
        }
    }
}

/// Wall-clock time, nanoseconds since the Unix epoch.
pub(super) fn unix_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// One instant, as the loop read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Now {
    /// Nanoseconds since the console started; never goes back.
    pub(crate) mono_ns: u64,
    /// Nanoseconds since the Unix epoch.
    pub(crate) unix_ns: u64,
    /// Local time minus UTC, in seconds.
    pub(crate) utc_offset_s: i64,
}

impl Now {
    /// The time of day of an instant: `17:04:31`.
    pub(crate) fn time_of_day(self, unix_ns: u64) -> String {
        units::time_of_day(unix_ns, self.utc_offset_s)
    }
}

#[cfg(test)]
mod tests {
    use super::Now;

    #[test]
    fn the_time_of_day_is_local() {
        let check = |unix_s: u64, utc_offset_s, expected: &str| {
            let now = Now {
                utc_offset_s,
                ..Now::default()
            };
            assert_eq!(now.time_of_day(unix_s * 1_000_000_000), expected);
        };
        check(0, 0, "00:00:00");
        check(0, -3_600, "23:00:00");
        check(1_795_194_271, 0, "17:04:31");
        check(1_795_194_271, 19_800, "22:34:31");
    }
}
