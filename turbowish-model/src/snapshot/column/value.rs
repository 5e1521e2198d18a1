//! A cell before it is printed: a number with its unit, a text, or one of three ways to have no value.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::snapshot::natural::Natural;
use crate::snapshot::units::{self, Micro};

/// The value of a column in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Words.
    Text(Cow<'a, str>),
    /// One of a few words that have an order of their own.
    Ranked {
        /// The word.
        word: &'static str,
        /// Where it stands among the others.
        rank: u32,
    },
    /// Names of several things, the first one first.
    Names(Vec<Cow<'a, str>>),
    /// How much of a resource is used: `1/1`, `50/1000`; without a capacity only the level.
    Fill {
        /// What is held, or inside.
        level: u64,
        /// How much there can be; `None` if that has no bound.
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
    /// Nanoseconds of something that still goes on.
    Open(u64),
    /// Billionths.
    Share(u64),
    /// Millionths per second.
    Rate(u64),
    /// A plain number.
    Count(u64),
    /// One that may be below zero.
    Signed(i64),
    /// Bytes.
    Bytes(u64),
    /// Shares of one core one after the other in time, in millionths.
    Trend(&'a [u64]),
    /// Nothing was measured in the window.
    NoSample,
    /// It cannot be known.
    Unknown,
    /// It does not apply.
    Blank,
}

/// How long places are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// `src/conn.rs:88`
    #[default]
    Full,
    /// `conn.rs:88`
    Short,
}

/// Glyphs of a sparkline, from nothing to the most.
pub type Levels = [char; 8];

/// The levels in seven bits.
pub const ASCII_LEVELS: Levels = [' ', '.', ':', '-', '=', '+', '*', '#'];

/// How cells are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The glyph set's "micro".
    pub micro: Micro,
    /// How long places are written.
    pub places: Shown,
    /// The glyph set's levels.
    pub levels: &'static Levels,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            micro: Micro::default(),
            places: Shown::default(),
            levels: &ASCII_LEVELS,
        }
    }
}

/// What a column sorts by: the value, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// A number below zero.
    Negative(i64),
    /// A number.
    Number(u64),
    /// Words, and a number that orders lines of a file.
    Text(Natural, u32),
    /// No value; sorts last in either direction.
    Missing,
}

impl<'a> Value<'a> {
    /// The share of `part` in `whole`; no sample for an empty whole.
    #[must_use]
    pub fn share(part: u64, whole: u64) -> Self {
        match whole {
            0 => Self::NoSample,
            _ => Self::Share(units::ppb(part, whole)),
        }
    }

    /// `n` events in a window; no sample for an empty window.
    #[must_use]
    pub fn rate(n: u64, window_ns: u64) -> Self {
        match window_ns {
            0 => Self::NoSample,
            _ => Self::Rate(units::micro_per_second(n, window_ns)),
        }
    }

    /// `sum_ns / n`; no sample for an empty population.
    #[must_use]
    pub fn mean(sum_ns: u64, n: u64) -> Self {
        sum_ns.checked_div(n).map_or(Self::NoSample, Self::Duration)
    }

    /// Names of several things; blank if there is none.
    #[must_use]
    pub(super) fn names(names: impl Iterator<Item = Cow<'a, str>>) -> Self {
        let names: Vec<_> = names.collect();
        if names.is_empty() {
            Self::Blank
        } else {
            Self::Names(names)
        }
    }

    /// The number in the value's own unit, if it is one; of a fill its share, of a trend its mean in billionths.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Fill { level, capacity } => capacity.map(|all| units::ppb(*level, all)),
            Self::Duration(n)
            | Self::Open(n)
            | Self::Share(n)
            | Self::Rate(n)
            | Self::Count(n)
            | Self::Bytes(n) => Some(*n),
            Self::Signed(n) => u64::try_from(*n).ok(),
            Self::Trend(cells) => mean(cells),
            _ => None,
        }
    }

    /// The same, below zero too.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        match self {
            Self::Signed(n) => Some(i128::from(*n)),
            other => other.number().map(i128::from),
        }
    }

    /// The value as people read it, without padding.
    #[must_use]
    pub fn print(&self, style: Style) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Ranked { word, .. } => (*word).to_string(),
            Self::Names(names) => listed(names),
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
            Self::Share(ppb) => units::share(*ppb),
            Self::Rate(rate) => units::rate(*rate),
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

    /// What the value sorts by.
    #[must_use]
    pub fn sort_key(&self) -> SortKey {
        let text = |text: String, number| SortKey::Text(Natural(text), number);
        match self {
            Self::Text(words) => text(words.to_string(), 0),
            Self::Ranked { rank, .. } => text(String::new(), *rank),
            Self::Names(names) => text(names.join(", "), 0),
            Self::Place { file, line } => text((*file).to_string(), *line),
            Self::Signed(n) if *n < 0 => SortKey::Negative(*n),
            _ => self.number().map_or(SortKey::Missing, SortKey::Number),
        }
    }
}

/// Names that a cell prints of a longer list; what is sorted, filtered and written as JSON has all of them.
const NAMED: usize = 8;

/// `repl-1, repl-2`; of many the first ones, and how many more there are.
fn listed(names: &[Cow<'_, str>]) -> String {
    // One name takes no more room than the words for it.
    if names.len() <= NAMED + 1 {
        return names.join(", ");
    }
    let (first, rest) = names.split_at(NAMED);
    format!(
        "{} and {} more",
        first.join(", "),
        units::count(rest.len() as u64)
    )
}

/// The mean of a trend in billionths; `None` if it has no cells.
fn mean(cells: &[u64]) -> Option<u64> {
    let sum: u128 = cells.iter().map(|&ppm| u128::from(ppm) * 1_000).sum();
    let mean = sum.checked_div(cells.len() as u128)?;
    Some(u64::try_from(mean).unwrap_or(u64::MAX))
}

/// A glyph for each cell: the largest is full, what is above nothing leaves a trace.
fn sparkline(cells: &[u64], levels: &Levels) -> String {
    let most = cells.iter().copied().max().unwrap_or(0).max(1);
    let level = |&ppm: &u64| match ppm {
        0 => levels[0],
        _ => levels[(1 + u128::from(ppm) * 6 / u128::from(most)) as usize],
    };
    cells.iter().map(level).collect()
}

/// The file without its folders, whichever way the path is written.
fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
