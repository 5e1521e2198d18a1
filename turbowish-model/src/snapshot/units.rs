//! Formatting of numbers: fixed widths, three significant digits, the unit chosen after rounding.
//!
//! Every function returns text without padding; [`DURATION_WIDTH`] and the other constants have the
//! width of the longest text. `0` is a measured zero. A missing value has its own word:
//! [`NO_SAMPLE`], [`UNKNOWN`], or nothing where it does not apply.

use alloc::format;
use alloc::string::{String, ToString};

/// Width of a duration in columns; a `+` for "in progress" adds one.
pub const DURATION_WIDTH: usize = 6;
/// Width of a rate, in columns.
pub const RATE_WIDTH: usize = 5;
/// Width of a count, in columns.
pub const COUNT_WIDTH: usize = 5;
/// Width of a share, in columns.
pub const SHARE_WIDTH: usize = 5;
/// Text for a value without a sample in the window.
pub const NO_SAMPLE: &str = "-";
/// Text for an unknown value.
pub const UNKNOWN: &str = "?";

/// Nanoseconds per second.
pub const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Spelling of "micro". Both have the same width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Micro {
    /// `us`, on a screen that has only ASCII.
    Ascii,
    /// `µs`
    #[default]
    Unicode,
}

impl Micro {
    const fn unit(self) -> &'static str {
        match self {
            Self::Ascii => "us",
            Self::Unicode => "µs",
        }
    }
}

/// The time of day of an instant: `17:04:31`. `utc_offset_s` is local time minus UTC, in seconds.
#[must_use]
pub fn time_of_day(unix_ns: u64, utc_offset_s: i64) -> String {
    const DAY: i64 = 86_400;
    let seconds = i64::try_from(unix_ns / SECOND).unwrap_or(0) + utc_offset_s;
    let of_day = seconds.rem_euclid(DAY);
    format!(
        "{:02}:{:02}:{:02}",
        of_day / 3_600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// A duration in at most six columns: `412ns`, `9.99µs`, `999µs`, `41.2 s`, `12m31s`, `3h07m`,
/// `4d11h`.
#[must_use]
pub fn duration(ns: u64, micro: Micro) -> String {
    if ns == 0 {
        return "0".to_string();
    }
    if ns < 1_000 {
        return format!("{ns}ns");
    }
    for (one, unit) in [(1_000, micro.unit()), (1_000_000, "ms")] {
        if let Some(digits) = below_thousand(ns, one) {
            return digits + unit;
        }
    }
    // 59.95 s rounds to 60.0 s, which is a minute.
    if ns < MINUTE - SECOND / 20
        && let Some(digits) = below_thousand(ns, SECOND)
    {
        return digits + " s";
    }
    clock(ns)
}

/// Three significant digits of `value / one`; `None` if they round to 1000.
fn below_thousand(value: u64, one: u64) -> Option<String> {
    for (decimals, scale) in [(2usize, 100u64), (1, 10), (0, 1)] {
        let scaled =
            (u128::from(value) * u128::from(scale) + u128::from(one / 2)) / u128::from(one);
        if scaled < 1_000 {
            let (whole, rest) = (scaled / u128::from(scale), scaled % u128::from(scale));
            return Some(if decimals == 0 {
                format!("{whole}")
            } else {
                format!("{whole}.{rest:0decimals$}")
            });
        }
    }
    None
}

/// A duration from one minute on in two adjacent units, rounded to the smaller one.
fn clock(ns: u64) -> String {
    let round = |unit: u64| ns / unit + u64::from(ns % unit >= unit / 2);
    let seconds = round(SECOND);
    if seconds < 3_600 {
        return format!("{}m{:02}s", seconds / 60, seconds % 60);
    }
    let minutes = round(MINUTE);
    if minutes < 24 * 60 {
        return format!("{}h{:02}m", minutes / 60, minutes % 60);
    }
    let hours = round(HOUR);
    if hours < 100 * 24 {
        return format!("{}d{:02}h", hours / 24, hours % 24);
    }
    let days = round(DAY);
    if days < 10_000 {
        format!("{days}d")
    } else {
        format!("{}y", days / 365)
    }
}

/// The length of a window: in whole seconds if within 1 % of them, otherwise a [`duration`].
///
/// `10 s`, `1.52 s`, `1m00s`.
#[must_use]
pub fn window(ns: u64, micro: Micro) -> String {
    let seconds = ns.saturating_add(SECOND / 2) / SECOND;
    let off = ns.abs_diff(seconds.saturating_mul(SECOND));
    if (1..60).contains(&seconds) && off <= ns / 100 {
        format!("{seconds} s")
    } else {
        duration(ns, micro)
    }
}

/// A rate per second in at most five columns, from millionths per second: `0.10`, `400`, `82.4k`.
#[must_use]
pub fn rate(micro_per_second: u64) -> String {
    match micro_per_second {
        0 => "0".to_string(),
        1..5_000 => "<0.01".to_string(),
        _ => thousands(micro_per_second, 1_000_000),
    }
}

/// A count in at most five columns: exact below 100,000, then `225k`, `5.07M`.
#[must_use]
pub fn count(n: u64) -> String {
    if n < 100_000 {
        n.to_string()
    } else {
        thousands(n, 1)
    }
}

/// A share in percent of one core, from billionths: `96.4`, `213.1`, `<0.1`, `4786`.
#[must_use]
pub fn share(ppb: u64) -> String {
    let tenths = ppb.saturating_add(500_000) / 1_000_000;
    match tenths {
        0 if ppb == 0 => "0".to_string(),
        0 => "<0.1".to_string(),
        1..10_000 => format!("{}.{}", tenths / 10, tenths % 10),
        10_000..1_000_000 => ((tenths + 5) / 10).to_string(),
        _ => thousands(ppb, 10_000_000),
    }
}

/// Bytes in at most six columns: `412B`, `3.1KiB`, `12KiB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    if n < 1_000 {
        return format!("{n}B");
    }
    let mut one = 1u64 << 10;
    for unit in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        let tenths = (u128::from(n) * 10 + u128::from(one / 2)) / u128::from(one);
        if tenths < 100 {
            return format!("{}.{}{unit}", tenths / 10, tenths % 10);
        }
        let whole = (u128::from(n) + u128::from(one / 2)) / u128::from(one);
        if whole < 1_000 {
            return format!("{whole}{unit}");
        }
        one <<= 10;
    }
    format!("{}EiB", n >> 60)
}

/// Three significant digits with the first of `k M G T P E` that keeps them below 1000.
fn thousands(value: u64, mut one: u64) -> String {
    for unit in ["", "k", "M", "G", "T", "P"] {
        if let Some(digits) = below_thousand(value, one) {
            return digits + unit;
        }
        match one.checked_mul(1_000) {
            Some(next) => one = next,
            None => break,
        }
    }
    format!("{}E", value / 1_000_000_000_000_000_000)
}

/// `part / whole` in billionths, rounded up so that only zero gives zero; 0 if `whole` is 0.
#[must_use]
pub fn ppb(part: u64, whole: u64) -> u64 {
    ratio(part, whole, 1_000_000_000)
}

/// `n` events in `window_ns` as millionths per second, rounded up so that only zero gives zero.
#[must_use]
pub fn micro_per_second(n: u64, window_ns: u64) -> u64 {
    ratio(n, window_ns, 1_000_000 * u128::from(SECOND))
}

fn ratio(part: u64, whole: u64, scale: u128) -> u64 {
    if whole == 0 {
        return 0;
    }
    // u64 times 10^15 stays below 2^128.
    let exact = (u128::from(part) * scale).div_ceil(u128::from(whole));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

/// Parses a duration with its unit: `5s`, `1.5ms`, `250us`, `2m`. `None` without a unit or out of
/// range.
#[must_use]
pub fn parse_duration(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    let one = duration_unit(unit.trim_start())?;
    scaled(number, one)
}

/// Parses a share in percent, `5%` or `0.5`, as billionths. `None` if it is not a number or out of
/// range.
#[must_use]
pub fn parse_share(text: &str) -> Option<u64> {
    scaled(
        text.strip_suffix('%').unwrap_or(text).trim_end(),
        10_000_000,
    )
}

/// Parses a number of bytes: `4096`, `4KiB`, `10 MB`. `None` if it is not one or out of range.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let sized = UNITS
        .iter()
        .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)));
    let (number, bytes) = sized.unwrap_or((text, 1));
    let number: u64 = number.trim_end().parse().ok()?;
    number.checked_mul(bytes)
}

/// Nanoseconds per unit of time: `ns us µs ms s m h d`.
pub(crate) fn duration_unit(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        _ => return None,
    })
}

/// A decimal number times `one`, rounded down. `None` if it is not a number or does not fit.
pub(crate) fn scaled(number: &str, one: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = if whole.is_empty() {
        0
    } else {
        whole.parse::<u64>().ok()?
    };
    let mut sum = u128::from(whole) * u128::from(one);
    let mut weight = u128::from(one);
    // Further digits cannot change a whole nanosecond, even of the longest unit.
    for byte in fraction.bytes().take(18) {
        let digit = u128::from(byte - b'0');
        sum += digit * weight / 10;
        weight /= 10;
    }
    u64::try_from(sum).ok()
}

#[cfg(test)]
mod tests;
