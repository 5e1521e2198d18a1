//! A line of a record: words, some of which link to another record. The screen, a pipe and an issue
//! get the same line.

use turbowish_model::snapshot::alert::{Alert, Party, PartyKind};
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::units;

use crate::text;

/// A row that has its own record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Link {
    /// A task by its name, and by its ID if known.
    Task {
        /// Never used twice in a process.
        id: Option<u64>,
        /// The name in its row.
        name: String,
    },
    /// A resource by its name, and by its ID if known.
    Resource {
        /// Never used twice in a process.
        id: Option<u64>,
        /// The name in its row, with the kind.
        name: String,
    },
    /// A proc by its path.
    Proc(String),
    /// An alert by its kind, its start time, and its first party.
    Alert(Pitfall, u64, String),
}

impl Link {
    /// A task of which only the name is known.
    pub(crate) fn task(name: &str) -> Self {
        Self::Task {
            id: None,
            name: name.to_owned(),
        }
    }

    /// The link to an alert. A cycle stays the same alert if its members change; its start time
    /// distinguishes it from others.
    pub(crate) fn alert(alert: &Alert) -> Self {
        let cycle = matches!(alert.pitfall, Pitfall::Deadlock | Pitfall::SelfDeadlock);
        let first = alert.parties.first().filter(|_| !cycle);
        let name = first.map_or_else(String::new, |party| party.name.clone());
        Self::Alert(alert.pitfall, alert.since, name)
    }

    /// The link to a party of an alert, if it has a record: a worker has none.
    pub(crate) fn party(party: &Party) -> Option<Self> {
        let (id, name) = (Some(party.id), party.name.clone());
        match party.kind {
            PartyKind::Task => Some(Self::Task { id, name }),
            PartyKind::Resource => Some(Self::Resource { id, name }),
            PartyKind::Proc => Some(Self::Proc(name)),
            PartyKind::Worker => None,
        }
    }
}

/// The role of a piece of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Ordinary words.
    #[default]
    Plain,
    /// The heading.
    Title,
    /// The label of the line.
    Label,
    /// A link to another record.
    Link(Link),
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RichSpan {
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RichLine {
    pub(crate) parts: Vec<RichSpan>,
}

impl From<String> for RichLine {
    fn from(text: String) -> Self {
        Self::default().say(text)
    }
}

impl From<&str> for RichLine {
    fn from(text: &str) -> Self {
        Self::default().say(text)
    }
}

impl RichLine {
    fn part(mut self, text: impl Into<String>, kind: Kind) -> Self {
        let text = text.into();
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.kind == kind && kind == Kind::Plain => last.text.push_str(&text),
            _ => self.parts.push(RichSpan { text, kind }),
        }
        self
    }

    /// Adds ordinary words.
    pub(crate) fn say(self, text: impl Into<String>) -> Self {
        self.part(text, Kind::Plain)
    }

    /// Adds a label.
    pub(crate) fn label(self, text: impl Into<String>) -> Self {
        self.part(text, Kind::Label)
    }

    /// Adds a heading.
    pub(crate) fn title(self, text: impl Into<String>) -> Self {
        self.part(text, Kind::Title)
    }

    /// Adds text with a link; without a link, plain text.
    pub(crate) fn link(self, text: impl Into<String>, link: Option<Link>) -> Self {
        self.part(text, link.map_or(Kind::Plain, Kind::Link))
    }

    /// Adds a task's name, or the sign for an external task.
    pub(crate) fn task(self, name: Option<&str>) -> Self {
        let text = name.unwrap_or(units::UNKNOWN);
        self.link(text, name.map(Link::task))
    }

    /// Adds a resource's name.
    pub(crate) fn resource(self, id: u64, name: &str) -> Self {
        let link = Link::Resource {
            id: Some(id),
            name: name.to_owned(),
        };
        self.link(name, Some(link))
    }

    /// Adds a proc's path.
    pub(crate) fn proc(self, path: &str) -> Self {
        self.link(path, Some(Link::Proc(path.to_owned())))
    }

    /// Adds another line.
    pub(crate) fn join(mut self, other: impl Into<Self>) -> Self {
        self.parts.extend(other.into().parts);
        self
    }

    /// Joins lines into one, with `between` between each two.
    pub(crate) fn joined(lines: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        lines.fold(first, |told, line| told.say(between).join(line))
    }

    /// The first names of tasks, and a mark if there are more.
    pub(crate) fn tasks<'a>(names: impl Iterator<Item = Option<&'a str>>, all: u64) -> Self {
        let named = names.take(super::NAMED);
        let mut lines: Vec<Self> = named.map(|name| Self::default().task(name)).collect();
        if all > lines.len() as u64 {
            lines.push("..".into());
        }
        Self::joined(lines, ", ")
    }

    /// The same line, padded on its right.
    pub(crate) fn left(self, room: usize) -> Self {
        let blanks = room.saturating_sub(self.width());
        self.say(" ".repeat(blanks))
    }

    /// Width of the line, in columns of the terminal.
    pub(crate) fn width(&self) -> usize {
        self.parts.iter().map(|part| text::width(&part.text)).sum()
    }

    /// The text of the line.
    pub(crate) fn text(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect()
    }

    /// Cuts the line at `room` columns.
    pub(crate) fn cut(&mut self, room: usize) {
        if self.width() <= room {
            return;
        }
        let mut left = room;
        let mut kept = Vec::new();
        for mut part in self.parts.drain(..) {
            let own = text::width(&part.text);
            // A cut needs room for the two dots.
            if own + 2 <= left {
                left -= own;
                kept.push(part);
                continue;
            }
            part.text = text::head(&format!("{}{}", part.text, " ".repeat(left + 1)), left);
            let dots = part.text.trim_end_matches('.').trim_end().is_empty();
            part.kind = if dots { Kind::Plain } else { part.kind };
            kept.push(part);
            break;
        }
        self.parts = kept;
    }

    /// Wraps the line; continuation lines are indented further than the first one.
    pub(crate) fn wrapped(self, room: usize) -> Vec<Self> {
        if self.width() <= room {
            return vec![self];
        }
        let text = self.text();
        let lead = text::width(&text) - text::width(text.trim_start_matches([' ', '|', '`', '-']));
        let indent = (lead + 4).min(room / 2);
        let mut lines = Vec::new();
        let mut line = Self::default();
        let mut used = 0;
        for part in self.parts {
            let whole = matches!(part.kind, Kind::Link(_));
            let pieces = match whole {
                true => vec![part.text.as_str()],
                false => pieces(&part.text, room.saturating_sub(indent)),
            };
            for piece in pieces {
                let own = text::width(piece);
                // Blanks are omitted at the end of a line and at the beginning of the next one.
                if used == indent && !lines.is_empty() && piece.trim().is_empty() {
                    continue;
                }
                if used > indent && used + text::width(piece.trim_end()) > room {
                    lines.push(std::mem::take(&mut line).trimmed());
                    line = line.say(" ".repeat(indent));
                    used = indent;
                }
                used += own;
                line = line.part(piece, part.kind.clone());
            }
        }
        lines.push(line.trimmed());
        lines.iter_mut().for_each(|line| line.cut(room));
        lines
    }

    /// The line without trailing blanks.
    fn trimmed(mut self) -> Self {
        if let Some(last) = self.parts.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
        self
    }

    /// Its links, in order.
    #[cfg(test)]
    pub(crate) fn links(&self) -> impl Iterator<Item = &Link> {
        self.parts.iter().filter_map(|part| match &part.kind {
            Kind::Link(link) => Some(link),
            _ => None,
        })
    }
}

/// Pieces of a text that stay on one line: words; in a text with several values, which are
/// separated by three blanks, each value that fits.
fn pieces(text: &str, room: usize) -> Vec<&str> {
    const BETWEEN: &str = "   ";
    if !text.contains(BETWEEN) {
        return text.split_inclusive(' ').collect();
    }
    let values = text.split_inclusive(BETWEEN);
    let of = |value: &'_ str| text::width(value.trim_end()) <= room;
    let mut pieces = Vec::new();
    for value in values {
        match of(value) {
            true => pieces.push(value),
            false => pieces.extend(value.split_inclusive(' ')),
        }
    }
    pieces
}

/// Cuts the cells of one column until rows of that many cells fit into the room, but never to
/// nothing.
pub(crate) fn shrink(rows: &mut [Vec<RichLine>], column: usize, room: usize) {
    let width = |rows: &[Vec<RichLine>], at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(RichLine::width).max().unwrap_or(0)
    };
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let others: usize = (0..columns)
        .filter(|at| *at != column)
        .map(|at| width(rows, at) + 1)
        .sum();
    let least = room.saturating_sub(others).max(8);
    let cells = rows.iter_mut().filter_map(|row| row.get_mut(column));
    cells.for_each(|cell| cell.cut(least));
}

/// Rows of cells, with each column as wide as its widest cell; the columns in `right` are
/// right-aligned.
pub(crate) fn aligned(rows: Vec<Vec<RichLine>>, right: &[usize]) -> Vec<RichLine> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(RichLine::width).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let told = |cells: Vec<RichLine>| {
        let last = cells.len().saturating_sub(1);
        let cells = cells.into_iter().enumerate().map(|(at, cell)| {
            let blanks = widths[at].saturating_sub(cell.width());
            match right.contains(&at) {
                true => RichLine::from(" ".repeat(blanks)).join(cell),
                false if at == last => cell,
                false => cell.left(widths[at]),
            }
        });
        RichLine::joined(cells, " ")
    };
    rows.into_iter().map(told).collect()
}

/// `line, more, more`; goes on in further lines where there is no room.
pub(crate) fn wrapped(line: RichLine, more: &[String], room: Option<usize>) -> Vec<RichLine> {
    let mut lines = vec![line];
    for (nth, part) in more.iter().enumerate() {
        let last = lines.pop().unwrap_or_default().say(",");
        let comma = usize::from(nth + 1 < more.len());
        let width = last.width() + 1 + text::width(part) + comma;
        if room.is_some_and(|room| width > room) {
            lines.extend([last, RichLine::from(format!("    {part}"))]);
        } else {
            lines.push(last.say(format!(" {part}")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Link, RichLine, wrapped};

    #[test]
    fn a_long_line_is_wrapped_between_its_parts() {
        let check = |room, expected: &[&str]| {
            let more = ["by task a".to_owned(), "at b.rs:1".to_owned()];
            let lines = wrapped(RichLine::from("longest 1.50 s"), &more, room);
            let lines: Vec<String> = lines.iter().map(RichLine::text).collect();
            assert_eq!(lines, expected, "{room:?}");
        };
        check(None, &["longest 1.50 s, by task a, at b.rs:1"]);
        check(Some(36), &["longest 1.50 s, by task a, at b.rs:1"]);
        check(Some(35), &["longest 1.50 s, by task a,", "    at b.rs:1"]);
        check(Some(25), &["longest 1.50 s,", "    by task a, at b.rs:1"]);
        check(
            Some(3),
            &["longest 1.50 s,", "    by task a,", "    at b.rs:1"],
        );
    }

    #[test]
    fn a_line_is_cut_where_it_ends_and_keeps_its_links() {
        let line = || RichLine::from("holds ").task(Some("expiry")).say(", taken");
        let check = |room, expected: &str, links| {
            let mut told = line();
            told.cut(room);
            assert_eq!(
                (told.text().as_str(), told.links().count()),
                (expected, links)
            );
            assert!(told.width() <= room, "{room}");
        };
        check(19, "holds expiry, taken", 1);
        check(18, "holds expiry, ta..", 1);
        check(14, "holds expiry..", 1);
        check(13, "holds expir..", 1);
        check(8, "holds ..", 0);
        check(7, "holds..", 0);
        check(1, ".", 0);
        check(0, "", 0);
    }

    #[test]
    fn a_long_line_goes_on_further_in() {
        let line = || {
            RichLine::from("  |- holds ")
                .task(Some("expiry"))
                .say(", taken at src/a.rs")
        };
        let check = |room, expected: &[&str]| {
            let lines: Vec<String> = line().wrapped(room).iter().map(RichLine::text).collect();
            assert_eq!(lines, expected);
        };
        check(40, &["  |- holds expiry, taken at src/a.rs"]);
        check(30, &["  |- holds expiry, taken at", "         src/a.rs"]);
        check(
            19,
            &[
                "  |- holds expiry,",
                "         taken at",
                "         src/a.rs",
            ],
        );
    }

    #[test]
    fn a_value_stays_with_its_name() {
        let line =
            || RichLine::from("  ended").say(" ready 0, of them err 0   cancelled 0   panicked 0");
        let lines = |room| {
            let lines = line().wrapped(room);
            lines.iter().map(RichLine::text).collect::<Vec<_>>()
        };
        let whole = "  ended ready 0, of them err 0   cancelled 0";
        assert_eq!(lines(53), [whole, "      panicked 0"]);
        assert_eq!(
            lines(24),
            [
                "  ended ready 0, of them",
                "      err 0",
                "      cancelled 0",
                "      panicked 0",
            ]
        );
    }

    #[test]
    fn names_are_links_and_what_is_not_known_is_none() {
        let told = RichLine::tasks([Some("a"), None, Some("b")].into_iter(), 7);
        assert_eq!(told.text(), "a, ?, b, ..");
        let links: Vec<&Link> = told.links().collect();
        assert_eq!(links, [&Link::task("a"), &Link::task("b")]);
    }
}
