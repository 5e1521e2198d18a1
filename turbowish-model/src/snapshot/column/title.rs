//! Lookup of columns by their title on a screen.

use alloc::format;
use alloc::string::{String, ToString};

use super::{Column, Row, find};

/// Former titles of populations, which filters still accept, and their keys.
const FORMER: [(&str, &str); 1] = [("HOL", "hold")];

/// The column whose title starts a text, in any case, and the length of that title.
#[must_use]
pub fn titled<R: Row>(text: &str) -> Option<(Column<R>, usize)> {
    let columns = R::columns().iter();
    let mut columns = columns.map(|column| (&*column.title, &*column.key));
    let families = R::families().iter();
    let mut families = families.flat_map(|family| {
        let former = FORMER.iter().filter(|(_, prefix)| *prefix == family.prefix);
        [(family.title, family.prefix)]
            .into_iter()
            .chain(former.copied())
    });
    let (key, length) = longest(text, &mut columns, &mut families)?;
    Some((find(&key)?, length))
}

/// The key of the longest title, and its length. `columns` and `families` are titles and keys, or
/// prefixes of both. The same code for all tables.
fn longest(
    text: &str,
    columns: &mut dyn Iterator<Item = (&'static str, &'static str)>,
    families: &mut dyn Iterator<Item = (&'static str, &'static str)>,
) -> Option<(String, usize)> {
    let begins = |title: &str| {
        let begin = text.get(..title.len())?;
        begin.eq_ignore_ascii_case(title).then_some(title.len())
    };
    let own = columns.filter_map(|(title, key)| Some((key.to_string(), begins(title)?)));
    let percentiles = families.filter_map(|(title, prefix)| {
        let length = begins(title)?;
        let percent = text[length..].strip_prefix('p')?;
        let end = percent.find(|c: char| !c.is_ascii_digit() && c != '.');
        let percent = &percent[..end.unwrap_or(percent.len())];
        let key = format!("{prefix}_p{percent}");
        Some((key, length + 1 + percent.len()))
    });
    own.chain(percentiles).max_by_key(|(_, length)| *length)
}
