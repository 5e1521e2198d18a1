//! Suggestions for mistyped names.

use alloc::string::String;

use super::{PERCENTILES, Row, percentile_of};
use crate::sorting;

/// The known key most similar to a mistyped one; `None` if none is similar enough.
#[must_use]
pub fn nearest<R: Row>(key: &str) -> Option<String> {
    if let Some((family, percent)) = percentile_of::<R>(key)
        && let Some(nearest) = nearest_percentile(percent)
    {
        return Some([family.prefix, "_p", nearest].concat());
    }
    let mut closest = Closest::to(key);
    for column in R::columns() {
        closest.see(&column.key);
    }
    closest.found().map(String::from)
}

/// A decimal number in thousandths; what comes after them is left out.
///
/// Written out, because the standard library's parser of numbers that are not whole takes 15 KB.
fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let all = || whole.bytes().chain(part.bytes());
    if all().next().is_none() || !all().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let part = part.bytes().chain([b'0'; 3]).take(3);
    let digits = whole.bytes().chain(part);
    Some(digits.fold(0_u64, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add((digit - b'0').into())
    }))
}

/// The known percentile nearest to a number.
#[inline(never)]
fn nearest_percentile(percent: &str) -> Option<&'static str> {
    let wanted = thousandths(percent)?;
    // The start of a key that is still being typed is right.
    let other = |known: &str| !known.starts_with(percent);
    let off = |known: &str| thousandths(known).map_or(u64::MAX, |known| known.abs_diff(wanted));
    let mut known = PERCENTILES;
    sorting::by(&mut known, |a, b| {
        let by_number = off(a).cmp(&off(b));
        other(a).cmp(&other(b)).then(by_number)
    });
    Some(known[0])
}

/// The most similar of these words; `None` if none is similar enough.
#[must_use]
pub fn closest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut closest = Closest::to(word);
    known.for_each(|known| closest.see(known));
    closest.found()
}

/// The first of the most similar words seen so far, and its distance.
struct Closest<'w, 'a> {
    word: &'w str,
    nearest: Option<(usize, &'a str)>,
}

impl<'w, 'a> Closest<'w, 'a> {
    const fn to(word: &'w str) -> Self {
        Self {
            word,
            nearest: None,
        }
    }

    #[inline(never)]
    fn see(&mut self, known: &'a str) {
        let edits = distance(self.word, known);
        if self.nearest.is_none_or(|(fewest, _)| edits < fewest) {
            self.nearest = Some((edits, known));
        }
    }

    fn found(self) -> Option<&'a str> {
        let (edits, known) = self.nearest?;
        (edits <= known.len().min(self.word.len()) / 2).then_some(known)
    }
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
