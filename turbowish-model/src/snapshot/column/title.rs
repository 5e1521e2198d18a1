//! Lookup of columns by their title on a screen.

use alloc::borrow::Cow;
use alloc::format;

use super::{Column, Row, find};

/// The column whose title starts a text, in any case, and the length of that title.
#[must_use]
pub fn titled<R: Row>(text: &str) -> Option<(Column<R>, usize)> {
    let begins = |title: &str| {
        let begin = text.get(..title.len())?;
        begin.eq_ignore_ascii_case(title).then_some(title.len())
    };
    let own = R::columns().iter().filter_map(|column| {
        let length = begins(&column.title)?;
        Some((Cow::Borrowed(&*column.key), length))
    });
    let percentiles = R::families().iter().filter_map(|family| {
        let length = begins(family.title)?;
        let percent = text[length..].strip_prefix('p')?;
        let end = percent.find(|c: char| !c.is_ascii_digit() && c != '.');
        let percent = &percent[..end.unwrap_or(percent.len())];
        let key = format!("{}_p{percent}", family.prefix);
        Some((Cow::Owned(key), length + 1 + percent.len()))
    });
    let (key, length) = own.chain(percentiles).max_by_key(|(_, length)| *length)?;
    Some((find(&key)?, length))
}
