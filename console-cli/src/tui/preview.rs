//! The preview: the record of the selected row, below the table and in two columns.

use ratatui::layout::Rect;

use super::layout::{self, UsedLines};
use super::record::{self, Excerpt, Record};
use super::state::{State, View};
use crate::detail::rich_line::{Link, RichLine};

/// Whether there is a preview; it is visible only if the terminal has room for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preview {
    /// Whether the user wants it; `None` before the first `v`: then it is on where the table would
    /// leave its lines empty.
    pub(crate) wanted: Option<bool>,
    /// The view whose table leaves them empty.
    spare: Option<View>,
    /// The lines that the open table uses, and the most that the preview has used below it.
    pub(crate) used: UsedLines,
    /// The view of that table, and the size of the screen.
    of: Option<(View, (u16, u16))>,
    /// Source lines and the excerpt that they belong to; `None` until the loop has read them.
    pub(crate) source: Option<(Excerpt, Vec<String>)>,
}

impl Preview {
    /// Whether it is on in that view.
    pub(crate) fn is_on(&self, view: View) -> bool {
        self.wanted.unwrap_or(self.spare == Some(view))
    }
}

/// The table keeps so many lines that it does not use any more, for the same reason.
const SLACK: u16 = 6;

/// Decides whether the open table leaves the lines of the preview empty. If it does, a few more
/// rows do not hide the preview: the table would jump with every task that comes or goes.
pub(crate) fn settle(state: &mut State) {
    let rows = state.table().counts().held;
    let room = usize::from(
        layout::screen(state.size, Some(UsedLines::ALL))
            .table
            .height,
    );
    let margin = match state.visit.preview.spare == Some(state.view) {
        true => room / 4,
        false => 0,
    };
    let is_spare = rows > 0 && rows <= room + margin;
    state.visit.preview.spare = is_spare.then_some(state.view);
    // One more for what is below the rows, and one that stays empty.
    let used = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2);
    let of = Some((state.view, state.size));
    let known = &mut state.visit.preview;
    if known.of != of {
        (known.of, known.used) = (of, UsedLines::default());
    }
    let table = &mut known.used.table;
    if used > *table || used.saturating_add(SLACK) < *table {
        *table = used;
    }
    let lines = lines(state);
    let most = &mut state.visit.preview.used.preview;
    *most = lines.max(*most);
}

/// The lines that the preview of the selected row uses if it gets them.
fn lines(state: &State) -> u16 {
    // A title, and a line of text.
    const LEAST: u16 = 2;
    let area = Rect::new(0, 0, state.size.0, state.size.1);
    let pages = record(state).map(|open| pages(state, &open, area));
    let text = pages.map_or(0, |pages| pages.left.len().max(pages.right.len()));
    u16::try_from(text + 1).unwrap_or(u16::MAX).max(LEAST)
}

/// The text of the preview.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    pub(crate) left: Vec<RichLine>,
    pub(crate) right: Vec<RichLine>,
    /// Number of lines without room.
    pub(crate) more: usize,
}

/// Columns of the terminal between the two pages.
pub(crate) const GAP: u16 = 3;

/// The record of the selected row, from the available rows; `None` if there is none, as for a
/// group.
pub(crate) fn record(state: &State) -> Option<Record> {
    if !state.previews() {
        return None;
    }
    let table = state.table();
    let mut record = Record::new(table.link(table.selected()?)?);
    record.find(&state.beside());
    let source = state.visit.preview.source.clone();
    record.source = source.filter(|(of, _)| record.excerpt().as_ref() == Some(of));
    Some(record)
}

/// Width of each of the two pages in an area, in columns.
pub(crate) const fn width(area: Rect) -> u16 {
    area.width.saturating_sub(GAP) / 2
}

/// The lines of a record on two pages of an area; its first line is in the title.
pub(crate) fn pages(state: &State, record: &Record, area: Rect) -> Pages {
    let lines = record::wrapped_lines(state, record, usize::from(width(area)));
    let height = usize::from(area.height).saturating_sub(1);
    split(lines, height)
}

/// Splits the record, between two of its parts if possible: where both pages have about the same
/// length, else as late as the first page has room. A part longer than a page is split at the end
/// of the page.
fn split(mut lines: Vec<RichLine>, height: usize) -> Pages {
    let blank = |line: &RichLine| line.text().trim().is_empty();
    let below = |at: usize| lines.len() - at - 1;
    let parts = (0..lines.len()).filter(|&at| at <= height && blank(&lines[at]));
    let parts: Vec<usize> = parts.collect();
    let both = parts.iter().copied().filter(|&at| below(at) <= height);
    let part = both.min_by_key(|&at| at.abs_diff(below(at))).or_else(|| {
        let last = parts.last().copied()?;
        let rest = lines[last + 1..].iter();
        // Otherwise the next part has the right page alone.
        let fits = rest.take_while(|line| !blank(line)).count() <= height;
        (last > 0 && lines.len() > height && fits).then_some(last)
    });
    let mut right = lines.split_off(part.unwrap_or(height).min(lines.len()));
    if part.is_some() {
        right.remove(0);
    }
    let more = right.len().saturating_sub(height);
    right.truncate(height);
    Pages {
        left: lines,
        right,
        more,
    }
}

/// The target of a click in the preview: the link at that point, else the subject of the record.
pub(crate) fn under(state: &State, (x, y): (u16, u16)) -> Option<Link> {
    let area = layout::of(state).preview;
    let record = record(state)?;
    let pages = pages(state, &record, area);
    let line = usize::from(y.checked_sub(area.y + 1)?);
    let begin = width(area) + GAP;
    let (page, x) = match x.checked_sub(begin) {
        Some(x) => (&pages.right, x),
        None => (&pages.left, x),
    };
    let links = record::links(page);
    let link = record::link_at(page, line, usize::from(x));
    let link = link.and_then(|at| links.get(at));
    Some(link.map_or(record.subject, |&(.., link)| link.clone()))
}

#[cfg(test)]
mod tests {
    use super::split;
    use crate::detail::rich_line::RichLine;

    /// Lines of one letter each, a blank between parts; the two pages, and the remaining lines.
    fn check(lines: &str, height: usize, expected: (&str, &str, usize)) {
        let lines = lines
            .chars()
            .map(|letter| RichLine::from(letter.to_string()));
        let pages = split(lines.collect(), height);
        let text = |page: &[RichLine]| page.iter().map(RichLine::text).collect::<String>();
        let found = (text(&pages.left), text(&pages.right), pages.more);
        assert_eq!((&*found.0, &*found.1, found.2), expected);
    }

    #[test]
    fn parts_are_torn_only_where_they_must() {
        check("", 4, ("", "", 0));
        check("abc", 4, ("abc", "", 0));
        check("ab c", 4, ("ab", "c", 0));
        check("a b c d e", 5, ("a b", "c d e", 0));
        check("abcd e", 4, ("abcd", "e", 0));
        check("abc defg", 4, ("abc", "defg", 0));
        check("ab defgh", 4, ("ab d", "efgh", 0));
        check("abcdefgh", 4, ("abcd", "efgh", 0));
        check("abcdefghi", 4, ("abcd", "efgh", 1));
        check("abc defghi", 4, ("abc ", "defg", 2));
        check("ab cde fghij", 4, ("ab", "cde ", 5));
        check("ab cd ef gh ijk", 4, ("ab", "cd e", 8));
    }
}
