//! Suggestions for mistyped names.

use alloc::format;
use alloc::string::String;

use super::{PERCENTILES, Row, percentile_of};
use crate::sorting;

/// The known key most similar to a mistyped one; `None` if none is similar enough.
#[must_use]
pub fn nearest<R: Row>(key: &str) -> Option<String> {
    if let Some((family, percent)) = percentile_of::<R>(key)
        && let Ok(wanted) = percent.parse::<f64>()
    {
        let nearest = nearest_percentile(percent, wanted);
        return Some(format!("{}_p{nearest}", family.prefix));
    }
    let mut known = R::columns().iter().map(|column| &*column.key);
    let known: &mut dyn Iterator<Item = &str> = &mut known;
    closest(key, known).map(String::from)
}

fn nearest_percentile(percent: &str, wanted: f64) -> &'static str {
    // The start of a key that is still being typed is right.
    let other = |known: &str| !known.starts_with(percent);
    let off = |known: &str| {
        known
            .parse()
            .map_or(f64::MAX, |known: f64| (known - wanted).abs())
    };
    let mut known = PERCENTILES;
    sorting::by(&mut known, |a, b| {
        let by_number = off(a).total_cmp(&off(b));
        other(a).cmp(&other(b)).then(by_number)
    });
    known[0]
}

/// The most similar of these words; `None` if none is similar enough.
#[must_use]
pub fn closest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|known| (distance(word, known), known));
    let near = near.min_by_key(|(edits, _)| *edits);
    let near = near.filter(|(edits, known)| *edits <= known.len().min(word.len()) / 2);
    near.map(|(_, known)| known)
}

/// Levenshtein's edit distance; only the first 64 characters are compared.
fn distance(left: &str, right: &str) -> usize {
    let right: alloc::vec::Vec<char> = right.chars().take(64).collect();
    let mut row: alloc::vec::Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
