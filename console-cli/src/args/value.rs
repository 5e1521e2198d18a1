//! Values of the command line that are more than words.

use std::path::PathBuf;
use std::time::Duration;

use turbowish_model::query::LONGEST_WINDOW_NS;
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::units;

use super::Window;

/// Reads the length of a window: `5s`, `1m`, `start`.
///
/// # Errors
/// It is neither; the text says what it should be.
pub(crate) fn window(text: &str) -> Result<Window, String> {
    if text == "start" {
        return Ok(Window(None));
    }
    match units::parse_duration(text) {
        Some(ns) if ns > LONGEST_WINDOW_NS => {
            let longest = Duration::from_nanos(LONGEST_WINDOW_NS).as_secs();
            Err(format!(
                "at most {longest}s (older data is not kept), or start"
            ))
        }
        Some(ns) if ns > 0 => Ok(Window(Some(ns))),
        _ => Err("a time with its unit, as in 5s or 1m, or start".to_owned()),
    }
}

pub(super) fn interval(text: &str) -> Result<Duration, String> {
    let interval = units::parse_duration(text).map(Duration::from_nanos);
    interval
        .filter(|time| (Duration::from_millis(100)..=Duration::from_secs(10)).contains(time))
        .ok_or_else(|| "a time from 100ms to 10s".to_owned())
}

pub(super) fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.is_dir() {
        true => Ok(path),
        false => Err("there is no such folder".to_owned()),
    }
}

pub(super) fn percentile(text: &str) -> Result<Percentile, String> {
    let number = text.strip_prefix('p').unwrap_or(text);
    Percentile::parse(number)
        .ok_or_else(|| "a number above 0 and at most 100, as in 50 or 99.9".to_owned())
}
