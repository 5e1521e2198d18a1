//! Lookup of columns by their title on a screen.

use alloc::format;
use alloc::string::{String, ToString};

use super::{Column, Row, find};

/// Former titles of populations, which filters still accept, and their keys.
const FORMER: [(&str, &str); 1] = [("HOL", "hold")];

/// Titles that the console shows in place of those of the printed tables, and their keys: its view
/// of procs has the name Functions.
const IN_CONSOLE: [(&str, &str); 1] = [("FUNCTION", "proc")];

/// The title of a column in the console.
#[must_use]
pub fn console_title<R>(column: &'static Column<R>) -> &'static str {
    let mut other = IN_CONSOLE.iter();
    let other = other.find(|(_, key)| column.key == *key);
    other.map_or(&*column.title, |(title, _)| title)
}

/// The column whose title starts a text, in any case, and the length of that title.
#[must_use]
pub fn titled<R: Row>(text: &str) -> Option<(Column<R>, usize)> {
    let mut longest = Longest { text, found: None };
    for column in R::columns() {
        longest.see_column(&column.title, &column.key);
        longest.see_column(console_title(column), &column.key);
    }
    for family in R::families() {
        longest.see_family(family.title, family.prefix);
    }
    let (key, length) = longest.found?;
    Some((find(&key)?, length))
}

/// The column with this key, or with this title in any case.
#[must_use]
pub fn spelled<R: Row>(word: &str) -> Option<Column<R>> {
    let whole = || titled(word).filter(|(_, length)| *length == word.len());
    find(word)
        .or_else(|| whole().map(|(column, _)| column))
        .or_else(|| find(&word.to_ascii_lowercase()))
}

/// The key of the longest title that starts a text, and its length. The same code for all tables.
struct Longest<'t> {
    text: &'t str,
    found: Option<(String, usize)>,
}

impl Longest<'_> {
    /// The length of the title, if it starts the text.
    fn begins(&self, title: &str) -> Option<usize> {
        let begin = self.text.get(..title.len())?;
        begin.eq_ignore_ascii_case(title).then_some(title.len())
    }

    fn see(&mut self, key: String, length: usize) {
        if self
            .found
            .as_ref()
            .is_none_or(|(_, longest)| length >= *longest)
        {
            self.found = Some((key, length));
        }
    }

    #[inline(never)]
    fn see_column(&mut self, title: &str, key: &str) {
        if let Some(length) = self.begins(title) {
            self.see(key.to_string(), length);
        }
    }

    /// Sees the columns of a population: their titles and keys begin with these.
    #[inline(never)]
    fn see_family(&mut self, title: &str, prefix: &str) {
        let former = FORMER.iter().filter(|(_, of)| *of == prefix);
        for title in former.map(|(title, _)| *title).chain([title]) {
            let Some(length) = self.begins(title) else {
                continue;
            };
            let Some(percent) = self.text[length..].strip_prefix('p') else {
                continue;
            };
            let end = percent.find(|c: char| !c.is_ascii_digit() && c != '.');
            let percent = &percent[..end.unwrap_or(percent.len())];
            self.see(format!("{prefix}_p{percent}"), length + 1 + percent.len());
        }
    }
}
