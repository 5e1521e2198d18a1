//! Value of a cell: a number with its unit, a text, or one of three kinds of missing value.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::snapshot::natural::Natural;
use crate::snapshot::quantile::Distribution;
use crate::snapshot::units::{self, Micro};

/// The value of a column in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// One of a few words with a defined order.
    Ranked {
        /// The word.
        word: &'static str,
        /// Position of the word in that order.
        rank: u32,
    },
    /// Several names, in order.
    Names(Vec<Cow<'a, str>>),
    /// The first of several names, in order, and the number of those that are not among them.
    FirstNames(Vec<Cow<'a, str>>, u64),
    /// Amount of a resource in use: `1/1`, `50/1000`; without a capacity only the level.
    Fill {
        /// Amount held, or number of items inside.
        level: u64,
        /// The capacity; `None` if unbounded.
        capacity: Option<u64>,
    },
    /// A line of a source file.
    Place {
        /// The file, as the compiler names it.
        file: &'a str,
        /// The line, from 1.
        line: u32,
    },
    /// Nanoseconds.
    Duration(u64),
    /// Nanoseconds of something in progress.
    Open(u64),
    /// A time of day: nanoseconds since the Unix epoch.
    Clock(u64),
    /// A share in billionths.
    Share(u64),
    /// A rate in millionths per second.
    Rate(u64),
    /// An average number, in billionths.
    Average(u64),
    /// A plain number.
    Count(u64),
    /// A signed number.
    Signed(i64),
    /// Bytes.
    Bytes(u64),
    /// Shares of one core in chronological order, in millionths.
    Trend(&'a [u64]),
    /// Nothing was measured in the window.
    NoSample,
    /// The value is unknown.
    Unknown,
    /// The column does not apply to the row.
    Blank,
}

/// Format of source locations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// `src/conn.rs:88`
    #[default]
    Full,
    /// `conn.rs:88`
    Short,
}

/// Glyphs of a sparkline, from zero to the maximum.
pub type Levels = [char; 8];

/// The levels in ASCII.
pub const ASCII_LEVELS: Levels = [' ', '.', ':', '-', '=', '+', '*', '#'];

/// Format of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Spelling of "micro" in the glyph set.
    pub micro: Micro,
    /// Format of source locations.
    pub places: Shown,
    /// Levels of the glyph set.
    pub levels: &'static Levels,
    /// Local time minus UTC, in seconds.
    pub utc_offset_s: i64,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            micro: Micro::default(),
            places: Shown::default(),
            levels: &ASCII_LEVELS,
            utc_offset_s: 0,
        }
    }
}

/// Sort key of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// A negative number.
    Negative(i64),
    /// A non-negative number.
    Number(u64),
    /// Text, and a number that orders the lines of a file.
    Text(Natural, u32),
    /// No value; sorts last in both directions.
    Missing,
}

impl<'a> Value<'a> {
    /// The share of `part` in `whole`; no sample if `whole` is 0.
    #[must_use]
    pub fn share(part: u64, whole: u64) -> Self {
        match whole {
            0 => Self::NoSample,
            _ => Self::Share(units::ppb(part, whole)),
        }
    }

    /// The longest of these durations; no sample if there is none.
    #[must_use]
    pub const fn longest(of: &Distribution) -> Self {
        match of.n {
            0 => Self::NoSample,
            _ => Self::Duration(of.max_ns),
        }
    }

    /// The average number of things over a window in which they lasted `sum_ns` in all; no sample
    /// if the window is empty.
    #[must_use]
    pub fn average(sum_ns: u64, window_ns: u64) -> Self {
        match window_ns {
            0 => Self::NoSample,
            _ => Self::Average(units::ppb(sum_ns, window_ns)),
        }
    }

    /// The rate of `n` events in a window; no sample if the window is empty.
    #[must_use]
    pub fn rate(n: u64, window_ns: u64) -> Self {
        match window_ns {
            0 => Self::NoSample,
            _ => Self::Rate(units::micro_per_second(n, window_ns)),
        }
    }

    /// `sum_ns / n`; no sample if `n` is 0.
    #[must_use]
    pub fn mean(sum_ns: u64, n: u64) -> Self {
        sum_ns.checked_div(n).map_or(Self::NoSample, Self::Duration)
    }

    /// Several names; blank if there are none.
    #[must_use]
    pub(in crate::snapshot) fn names(names: impl Iterator<Item = Cow<'a, str>>) -> Self {
        let names: Vec<_> = names.collect();
        if names.is_empty() {
            Self::Blank
        } else {
            Self::Names(names)
        }
    }

    /// The first of `all` names; blank if none is listed.
    #[must_use]
    pub(in crate::snapshot) fn first_names(
        names: impl Iterator<Item = Cow<'a, str>>,
        all: u64,
    ) -> Self {
        match Self::names(names) {
            Self::Names(names) if all > names.len() as u64 => {
                let more = all - names.len() as u64;
                Self::FirstNames(names, more)
            }
            value => value,
        }
    }

    /// The number in the value's own unit; the share of a fill; the mean of a trend in billionths.
    /// `None` if the value is no number.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Fill { level, capacity } => capacity.map(|all| units::ppb(*level, all)),
            Self::Duration(n)
            | Self::Open(n)
            | Self::Share(n)
            | Self::Rate(n)
            | Self::Average(n)
            | Self::Count(n)
            | Self::Bytes(n) => Some(*n),
            Self::Signed(n) => u64::try_from(*n).ok(),
            Self::Trend(cells) => mean(cells),
            _ => None,
        }
    }

    /// Same as [`Value::number`], and also negative numbers.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        match self {
            Self::Signed(n) => Some(i128::from(*n)),
            other => other.number().map(i128::from),
        }
    }

    /// The formatted value, without padding.
    #[must_use]
    pub fn print(&self, style: Style) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Ranked { word, .. } => (*word).to_string(),
            Self::Names(names) => listed(names, 0),
            Self::FirstNames(names, more) => listed(names, *more),
            Self::Fill { level, capacity } => match capacity {
                Some(all) => format!("{}/{}", units::count(*level), units::count(*all)),
                None => units::count(*level),
            },
            Self::Place { file, line } => match style.places {
                Shown::Full => format!("{file}:{line}"),
                Shown::Short => format!("{}:{line}", base_name(file)),
            },
            Self::Duration(ns) => units::duration(*ns, style.micro),
            Self::Open(ns) => units::duration(*ns, style.micro) + "+",
            Self::Clock(unix_ns) => units::time_of_day(*unix_ns, style.utc_offset_s),
            Self::Share(ppb) => units::share(*ppb),
            Self::Rate(rate) => units::rate(*rate),
            Self::Average(ppb) => units::rate(ppb.div_ceil(1_000)),
            Self::Count(n) => units::count(*n),
            Self::Signed(n) => {
                let sign = if *n < 0 { "-" } else { "" };
                format!("{sign}{}", units::count(n.unsigned_abs()))
            }
            Self::Bytes(n) => units::bytes(*n),
            Self::Trend(cells) => sparkline(cells, style.levels),
            Self::NoSample => units::NO_SAMPLE.to_string(),
            Self::Unknown => units::UNKNOWN.to_string(),
            Self::Blank => String::new(),
        }
    }

    /// The sort key.
    #[must_use]
    pub fn sort_key(&self) -> SortKey {
        let text = |text: String, number| SortKey::Text(Natural(text), number);
        match self {
            Self::Text(words) => text(words.to_string(), 0),
            Self::Ranked { rank, .. } => text(String::new(), *rank),
            Self::Names(names) | Self::FirstNames(names, _) => text(names.join(", "), 0),
            Self::Place { file, line } => text((*file).to_string(), *line),
            Self::Clock(unix_ns) => SortKey::Number(*unix_ns),
            Self::Signed(n) if *n < 0 => SortKey::Negative(*n),
            _ => self.number().map_or(SortKey::Missing, SortKey::Number),
        }
    }
}

/// Maximum number of names that a cell prints. Sorting, filters and JSON use all of them.
const NAMED: usize = 8;

/// `repl-1, repl-2`; of many names the first ones, and the number of the others, of which `more`
/// are not in the list.
fn listed(names: &[Cow<'_, str>], more: u64) -> String {
    // One more name takes no more space than the words for it.
    if more == 0 && names.len() <= NAMED + 1 {
        return names.join(", ");
    }
    let (first, rest) = names.split_at(names.len().min(NAMED));
    format!(
        "{} and {} more",
        first.join(", "),
        units::count(more.saturating_add(rest.len() as u64))
    )
}

/// The mean of a trend in billionths; `None` if it has no cells.
fn mean(cells: &[u64]) -> Option<u64> {
    let sum: u128 = cells.iter().map(|&ppm| u128::from(ppm) * 1_000).sum();
    let mean = sum.checked_div(cells.len() as u128)?;
    Some(u64::try_from(mean).unwrap_or(u64::MAX))
}

/// One glyph per cell: the maximum is full, and any value above zero is visible.
fn sparkline(cells: &[u64], levels: &Levels) -> String {
    let most = cells.iter().copied().max().unwrap_or(0).max(1);
    let level = |&ppm: &u64| match ppm {
        0 => levels[0],
        _ => levels[(1 + u128::from(ppm) * 6 / u128::from(most)) as usize],
    };
    cells.iter().map(level).collect()
}

/// The file name without directories, for both kinds of path separators.
fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
