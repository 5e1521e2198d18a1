//! A cell before it is printed: a number with its unit, a text, or one of three ways to have no value.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};

use crate::units::{self, Micro};

/// The value of a column in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Words.
    Text(Cow<'a, str>),
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
    /// Bytes.
    Bytes(u64),
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

/// How cells are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The glyph set's "micro".
    pub micro: Micro,
    /// How long places are written.
    pub places: Shown,
}

/// What a column sorts by: the value, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// A number.
    Number(u64),
    /// Words, and a number that orders lines of a file.
    Text(String, u32),
    /// No value; sorts last in either direction.
    Missing,
}

impl Value<'_> {
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

    /// The number in the value's own unit, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<u64> {
        match self {
            Self::Duration(n)
            | Self::Open(n)
            | Self::Share(n)
            | Self::Rate(n)
            | Self::Count(n)
            | Self::Bytes(n) => Some(*n),
            _ => None,
        }
    }

    /// The value as people read it, without padding.
    #[must_use]
    pub fn print(&self, style: Style) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Place { file, line } => match style.places {
                Shown::Full => format!("{file}:{line}"),
                Shown::Short => format!("{}:{line}", base_name(file)),
            },
            Self::Duration(ns) => units::duration(*ns, style.micro),
            Self::Open(ns) => units::duration(*ns, style.micro) + "+",
            Self::Share(ppb) => units::share(*ppb),
            Self::Rate(rate) => units::rate(*rate),
            Self::Count(n) => units::count(*n),
            Self::Bytes(n) => units::bytes(*n),
            Self::NoSample => units::NO_SAMPLE.to_string(),
            Self::Unknown => units::UNKNOWN.to_string(),
            Self::Blank => String::new(),
        }
    }

    /// What the value sorts by.
    #[must_use]
    pub fn sort_key(&self) -> SortKey {
        match self {
            Self::Text(text) => SortKey::Text(text.to_string(), 0),
            Self::Place { file, line } => SortKey::Text((*file).to_string(), *line),
            _ => self.number().map_or(SortKey::Missing, SortKey::Number),
        }
    }
}

/// The file without its folders, whichever way the path is written.
fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
