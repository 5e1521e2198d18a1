//! Lexical elements of a filter: operators, numbers, units and words, and where each one ends.

use super::filter::Comparison;
use crate::snapshot::column::Unit;
use crate::snapshot::units;

pub(super) fn is_key_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.'
}

pub(super) fn comparison(text: &str) -> Option<(Comparison, &str)> {
    // Longer operators first.
    [
        ("!=", Comparison::NotEqual),
        ("==", Comparison::Equal),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::MoreOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::More),
        ("=", Comparison::Equal),
    ]
    .into_iter()
    .find_map(|(sign, comparison)| Some((comparison, text.strip_prefix(sign)?)))
}

/// Role of a comma: part of a bare word, or separator between the values of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Commas {
    Text,
    Separate,
}

/// End of a number with its unit.
pub(super) fn number_end(text: &str) -> usize {
    let end = text.find(|c: char| c.is_whitespace() || "|()".contains(c));
    let end = end.unwrap_or(text.len());
    text[..end].find("&&").unwrap_or(end)
}

/// End of a word: a space, `|`, `&&` or `)`, but not inside the word's own parentheses, so that
/// `self.db.lock()` is one word.
pub(super) fn word_end(text: &str, commas: Commas) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' if closes(&text[at..]) => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => return at,
            '|' if depth == 0 => return at,
            '&' if depth == 0 && text[at..].starts_with("&&") => return at,
            ',' if depth == 0 && commas == Commas::Separate => return at,
            c if c.is_whitespace() && depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether the parenthesis at the beginning is closed.
fn closes(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().any(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Number of the column's own units in one `unit`.
pub(super) fn scale(column: Unit, unit: &str) -> Option<u64> {
    match column {
        Unit::Duration => units::duration_unit(unit),
        Unit::Share | Unit::Trend => matches!(unit, "" | "%").then_some(10_000_000),
        Unit::Rate => Some(thousands(unit.strip_suffix("/s").unwrap_or(unit))? * 1_000_000),
        Unit::Average => Some(thousands(unit)? * 1_000_000_000),
        Unit::Count => thousands(unit),
        Unit::Bytes => match unit {
            "" | "B" => Some(1),
            "KiB" => Some(1 << 10),
            "MiB" => Some(1 << 20),
            "GiB" => Some(1 << 30),
            _ => None,
        },
        Unit::Text | Unit::Place => None,
    }
}

fn thousands(unit: &str) -> Option<u64> {
    match unit {
        "" => Some(1),
        "k" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        _ => None,
    }
}

pub(super) const fn units_of(column: Unit) -> &'static str {
    match column {
        Unit::Duration => "it is a duration: ns us ms s m h",
        Unit::Share | Unit::Trend => "it is a share: %",
        Unit::Rate => "it is a rate: k M G, /s",
        Unit::Average | Unit::Count => "it is a count: k M G",
        Unit::Bytes => "it is a size: KiB MiB GiB",
        Unit::Text | Unit::Place => "it is text",
    }
}
