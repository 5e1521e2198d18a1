//! Limits: every threshold of the alert rules, with a name, a default and a meaning.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::time::Duration;

use super::quantity::{Bytes, Percent, Quantity};
use crate::snapshot::units;

/// Unit of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds; written with a unit: `10ms`.
    Time,
    /// A whole number without a unit.
    Count,
    /// Percent; written with or without `%`.
    Percent,
    /// Bytes; written with or without `KiB` or `MiB`.
    Bytes,
}

/// A threshold as documented.
#[derive(Clone, Copy, Debug)]
pub struct LimitRow {
    /// The threshold that the row describes.
    pub limit: Limit,
    /// Name in settings, such as `long_poll.warn`.
    pub key: &'static str,
    /// Unit of the value.
    pub measure: Measure,
    /// Default in nanoseconds, percent or bytes, or a count.
    pub default: u64,
    /// Effect of exceeding it.
    pub meaning: &'static str,
}

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const SECOND: u64 = units::SECOND;

/// Expands to the type of the values of one measure.
macro_rules! value {
    (Time) => {
        Duration
    };
    (Count) => {
        u64
    };
    (Percent) => {
        Percent
    };
    (Bytes) => {
        Bytes
    };
}

/// Declares every limit once. A variant is named like its setting: `LongPollWarn` is
/// `long_poll.warn`.
macro_rules! limits {
    ($($name:ident $key:literal $measure:ident $default:expr, $meaning:literal;)*) => {
        /// A threshold of the alert rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Limit {
            $(#[doc = $meaning] $name,)*
        }

        /// A limit of the alert rules with its value, in the unit of the limit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum AlertLimit {
            $(
                #[doc = concat!("`", $key, "`: ", $meaning)]
                $name(value!($measure)),
            )*
        }

        impl AlertLimit {
            fn split(self) -> (Limit, u64) {
                match self {
                    $(Self::$name(value) => (Limit::$name, value.raw()),)*
                }
            }
        }

        /// Every threshold, in the order of [`Limit`].
        pub const LIMITS: &[LimitRow] = &[$(LimitRow {
            limit: Limit::$name,
            key: $key,
            measure: Measure::$measure,
            default: $default,
            meaning: $meaning,
        },)*];
    };
}

limits! {
    Clear "clear" Time SECOND, "Time that a condition must be gone before its alert is cleared.";
    Linger "linger" Time 60 * SECOND, "Time that an alert about a past event stays.";
    Window "window" Time SECOND, "Length of the windows over which rates are taken.";
    LongPollWarn "long_poll.warn" Time 10 * MS, "A poll that takes this long is a long poll.";
    LongPollCount "long_poll.count" Count 3, "This many long polls of one proc within ten windows are a warning,";
    LongPollShare "long_poll.share" Percent 1, "if they are at least this share of its polls.";
    LongPollAlert "long_poll.alert" Time 100 * MS, "A poll of this length that is seen twice is an alert; a warning about finished polls of this length is raised to an alert.";
    NeverYields "never_yields" Time SECOND, "A task is in its first poll for this long.";
    YieldsRarelyShare "yields_rarely.share" Percent 90, "A task spends this share of ten windows in polls";
    YieldsRarelyPoll "yields_rarely.poll" Time MS, "and its polls take this long on average.";
    CrowdedTaskFutures "crowded_task.futures" Count 32, "A task polls at least this many futures of one stream,";
    CrowdedTaskBusy "crowded_task.busy" Percent 90, "spends more than this share of ten windows in polls,";
    CrowdedTaskReady "crowded_task.ready" Time 100 * MS, "and has not polled a woken future of the stream for this long.";
    BlockedWorker "blocked_worker" Time SECOND, "A worker has been in one poll, or the heartbeat has not been polled, for this long.";
    StarvationReady "starvation.ready" Time 100 * MS, "A task is ready and not polled for this long";
    StarvationPolls "starvation.polls" Count 10, "while another one is polled this often.";
    LateTimersLate "late_timers.late" Time 10 * MS, "A timer whose wait ends this long after its deadline is late.";
    LateTimersShare "late_timers.share" Percent 1, "More than this share of the timers of one await point within ten windows are late,";
    LateTimersCount "late_timers.count" Count 3, "and at least this many.";
    LostWaker "lost_waker" Time SECOND, "A task waits for this long with nothing that could wake it.";
    SelfWakeSpinRate "self_wake_spin.rate" Count 100, "Wake-ups a second of one task";
    SelfWakeSpinShare "self_wake_spin.share" Percent 50, "of which more than this share come from its own polls,";
    SelfWakeSpinPoll "self_wake_spin.poll" Time 10 * US, "and whose polls are no longer than this on average: they do nothing.";
    SpuriousPollsShare "spurious_polls.share" Percent 90, "More than this share of a proc's polls changed nothing";
    SpuriousPollsPolls "spurious_polls.polls" Count 100, "out of at least this many.";
    SnoozedFuture "snoozed_future" Time SECOND, "A future was woken and has not been polled for this long, although its task has.";
    GuardAcrossAwaitHeld "guard_across_await.held" Time 100 * MS, "A guard is held for this long while its task waits elsewhere.";
    LockConvoyWaiters "lock_convoy.waiters" Count 8, "This many tasks requested a lock";
    LockConvoySpread "lock_convoy.spread" Time MS, "within this time,";
    LockConvoyWait "lock_convoy.wait" Time 10 * MS, "and still wait after this.";
    UnboundedGrowthWindows "unbounded_growth.windows" Count 10, "An unbounded channel grew in this many windows in a row";
    UnboundedGrowthLength "unbounded_growth.length" Count 1_000, "and holds more items than this.";
    TaskLeakWindows "task_leak.windows" Count 10, "The live tasks of one function grew in this many windows in a row,";
    TaskLeakSpawned "task_leak.spawned" Count 5, "which last until this many tasks were spawned,";
    TaskLeakEnded "task_leak.ended" Percent 50, "and in which less than this share of that number ended.";
    TaskLeakIdle "task_leak.idle" Time 10 * SECOND, "Most of the additional tasks were not polled for this long.";
    TaskLeakPolled "task_leak.polled" Count 60, "If most of them were, they grew in this many windows in a row.";
    BufferBloatFill "buffer_bloat.fill" Percent 90, "A bounded channel is this full";
    BufferBloatHeld "buffer_bloat.held" Time 10 * SECOND, "for this long";
    BufferBloatInside "buffer_bloat.inside" Time SECOND, "and an item spends longer than this in it (99th percentile).";
    BlockedSender "blocked_sender" Time 5 * SECOND, "A sender waits on a full channel whose receiver has not been polled for this long.";
    LargeFutureWarn "large_future.warn" Bytes 16 << 10, "A future of this size is a warning.";
    LargeFutureNote "large_future.note" Bytes 0, "A future of this size is a note; 0 turns the note off.";
    Overload "overload" Count 1_000_000, "More events than this come from one source in 100 ms.";
    WakerChurnClones "waker_churn.clones" Count 10, "More clones of a waker than this are made per poll";
    WakerChurnPolls "waker_churn.polls" Count 1_000, "over this many polls.";
    BudgetExhaustedShare "budget_exhausted.share" Percent 10, "More than this share of the polls of a proc's tasks within ten windows used up tokio's budget,";
    BudgetExhaustedPolls "budget_exhausted.polls" Count 100, "and at least this many.";
}

/// The values of all thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits([u64; LIMITS.len()]);

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// Reason why a threshold cannot be set; the text names the setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// No threshold has this name.
    Unknown {
        /// The name as written.
        key: String,
    },
    /// The value cannot be parsed.
    Value {
        /// Name of the setting.
        key: &'static str,
        /// The value as written.
        value: String,
        /// The expected form, with an example.
        form: &'static str,
    },
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { key } => write!(
                f,
                "unknown limit {key}; turbowish explain limits lists them"
            ),
            Self::Value { key, value, form } => write!(f, "limit {key}: {value} is not {form}"),
        }
    }
}

impl core::error::Error for LimitError {}

impl Limits {
    /// Returns the default of every limit.
    #[must_use]
    pub const fn new() -> Self {
        let mut values = [0; LIMITS.len()];
        let mut at = 0;
        while at < LIMITS.len() {
            values[at] = LIMITS[at].default;
            at += 1;
        }
        Self(values)
    }

    /// Returns a value: nanoseconds, a count, percent or bytes.
    #[must_use]
    pub const fn get(&self, limit: Limit) -> u64 {
        self.0[limit as usize]
    }

    /// Returns these limits with another value for one threshold.
    #[must_use]
    pub const fn with(mut self, limit: Limit, value: u64) -> Self {
        self.0[limit as usize] = value;
        self
    }

    /// Sets one limit; the others stay.
    pub fn set(&mut self, limit: AlertLimit) {
        let (limit, value) = limit.split();
        self.0[limit as usize] = value;
    }

    /// Sets a limit by name, as settings give it: `long_poll.warn`, `20ms`.
    ///
    /// # Errors
    /// No limit has this name, or the value is not in the limit's unit.
    pub fn set_text(&mut self, key: &str, value: &str) -> Result<(), LimitError> {
        let Some(row) = LIMITS.iter().find(|row| row.key == key) else {
            return Err(LimitError::Unknown {
                key: key.to_string(),
            });
        };
        let Some(parsed) = row.measure.parse(value.trim()) else {
            return Err(LimitError::Value {
                key: row.key,
                value: value.to_string(),
                form: row.measure.form(),
            });
        };
        self.0[row.limit as usize] = parsed;
        Ok(())
    }
}

impl LimitRow {
    /// The default as settings and documentation write it.
    #[must_use]
    pub fn default_text(&self) -> String {
        match self.measure {
            Measure::Time if self.default.is_multiple_of(SECOND) => {
                format!("{}s", self.default / SECOND)
            }
            Measure::Time if self.default.is_multiple_of(MS) => format!("{}ms", self.default / MS),
            Measure::Time => format!("{}µs", self.default / US),
            Measure::Count => format!("{}", self.default),
            Measure::Percent => format!("{}%", self.default),
            Measure::Bytes if self.default == 0 => "0".to_string(),
            Measure::Bytes => format!("{}KiB", self.default >> 10),
        }
    }
}

impl Measure {
    const fn form(self) -> &'static str {
        match self {
            Self::Time => "a time with its unit, such as 250ms",
            Self::Count => "a whole number",
            Self::Percent => "a whole number of percent, such as 90%",
            Self::Bytes => "a number of bytes, such as 4KiB",
        }
    }

    fn parse(self, text: &str) -> Option<u64> {
        match self {
            Self::Time => units::parse_duration(text),
            Self::Count => text.parse().ok(),
            Self::Percent => text.trim_end_matches('%').trim_end().parse().ok(),
            Self::Bytes => units::parse_bytes(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};
    use core::time::Duration;

    use super::{AlertLimit, Bytes, LIMITS, Limit, Limits, Percent};

    fn check(key: &str, value: &str, expected: Result<u64, &str>) {
        let mut limits = Limits::default();
        let set = limits.set_text(key, value);
        let row = LIMITS.iter().find(|row| row.key == key);
        let found = set.map(|()| row.map_or(0, |row| limits.get(row.limit)));
        assert_eq!(
            found.map_err(|e| e.to_string()),
            expected.map_err(ToString::to_string)
        );
    }

    #[test]
    fn a_limit_is_set_by_its_name() {
        check("long_poll.warn", "20ms", Ok(20_000_000));
        check("long_poll.count", "7", Ok(7));
        check("buffer_bloat.fill", "75%", Ok(75));
        check("buffer_bloat.fill", "75", Ok(75));
        check("large_future.warn", "4KiB", Ok(4096));
        check("large_future.warn", "100", Ok(100));
    }

    #[test]
    fn a_limit_is_set_by_its_type() {
        let check = |limit, at, expected| {
            let mut limits = Limits::new();
            limits.set(limit);
            assert_eq!(limits, Limits::new().with(at, expected));
        };
        let long = Duration::from_millis(20);
        check(
            AlertLimit::LongPollWarn(long),
            Limit::LongPollWarn,
            20_000_000,
        );
        check(AlertLimit::LongPollCount(7), Limit::LongPollCount, 7);
        check(
            AlertLimit::BufferBloatFill(Percent(75)),
            Limit::BufferBloatFill,
            75,
        );
        check(
            AlertLimit::LargeFutureWarn(Bytes(4096)),
            Limit::LargeFutureWarn,
            4096,
        );
        check(AlertLimit::Clear(Duration::MAX), Limit::Clear, u64::MAX);
    }

    #[test]
    fn a_limit_is_named_like_its_setting() {
        for row in LIMITS {
            let words = row.key.split(['.', '_']);
            let name: String = words
                .map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..]))
                .collect();
            assert_eq!(format!("{:?}", row.limit), name);
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        check(
            "long_pol",
            "20ms",
            Err("unknown limit long_pol; turbowish explain limits lists them"),
        );
        let no_unit = "limit long_poll.warn: 20 is not a time with its unit, such as 250ms";
        check("long_poll.warn", "20", Err(no_unit));
        check(
            "overload",
            "1e6",
            Err("limit overload: 1e6 is not a whole number"),
        );
        let huge = "limit large_future.warn: 99999999999999999999KiB is not a number of bytes, such as 4KiB";
        check("large_future.warn", "99999999999999999999KiB", Err(huge));
    }

    #[test]
    fn rows_stand_where_their_limits_say() {
        for (at, row) in LIMITS.iter().enumerate() {
            assert_eq!(row.limit as usize, at);
            let mut limits = Limits([0; LIMITS.len()]);
            assert_eq!(
                limits.set_text(row.key, &row.default_text()),
                Ok(()),
                "{}",
                row.key
            );
            assert_eq!(limits.get(row.limit), row.default, "{}", row.key);
        }
        assert_eq!(Limits::default().with(Limit::Clear, 5).get(Limit::Clear), 5);
    }
}
