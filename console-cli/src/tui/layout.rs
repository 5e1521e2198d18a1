//! Layout, computed from the size of the terminal alone; `update` and `view` call the same
//! functions.

use ratatui::layout::Rect;
use turbowish_model::snapshot::column::Unit;

use super::commands::is_console;
use super::help;
use super::keys::{KEYS, Scope};
use super::rows::{AnyTable, Face};
use super::state::{HelpPage, State};

/// Width of the marks before the first column: selection, alert, blank.
pub(crate) const GUTTER: usize = 3;

/// From this width on the header's five facts share two lines, and bars are long.
const WIDE: u16 = 160;

/// From this width on, tables of names have bars, too.
const ROOMY: u16 = 100;
const LOW: u16 = 20;
/// From this width on the header has a line with trends.
const TREND: u16 = 100;
/// From this width on places are written with their folders.
pub(crate) const FULL_PLACE: usize = 24;
/// From this width on a column contains names, for which any width is useful.
const NAMES: usize = 12;
/// Maximal width of a text column, however much room there is.
const LONG_WORDS: usize = 64;

/// The form of the header that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderForm {
    /// Workers and polls, tasks and coverage: two lines, and the trends.
    Wide,
    /// Workers, tasks, coverage: three lines, and the trends if they fit.
    Full,
    /// One line for all.
    Folded,
    /// None: the terminal is too small for the console.
    Tiny,
}

/// The parts of the screen, from top to bottom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScreenLayout {
    pub(crate) form: HeaderForm,
    pub(crate) title: Rect,
    pub(crate) alert: Rect,
    pub(crate) header: Rect,
    pub(crate) tabs: Rect,
    pub(crate) titles: Rect,
    pub(crate) table: Rect,
    /// Empty if the preview is off, or there is no room for it.
    pub(crate) preview: Rect,
    pub(crate) detail: Rect,
    pub(crate) hints: Rect,
}

/// The smallest terminal that has room for the preview.
pub(crate) const PREVIEW: (u16, u16) = (WIDE, 40);

/// Whether a terminal of that size has room for the preview.
pub(crate) const fn has_room((width, height): (u16, u16)) -> bool {
    width >= PREVIEW.0 && height >= PREVIEW.1
}

/// The parts of the screen as it is.
pub(crate) fn of(state: &State) -> ScreenLayout {
    let preview = state.previews();
    screen(state.size, preview.then_some(state.visit.preview.used))
}

/// The lines that a table and the preview below it use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsedLines {
    pub(crate) table: u16,
    pub(crate) preview: u16,
}

impl UsedLines {
    /// Both use all that they get.
    pub(crate) const ALL: Self = Self {
        table: u16::MAX,
        preview: u16::MAX,
    };
}

/// The parts of a screen of that size; with a preview, or without one.
pub(crate) fn screen((width, height): (u16, u16), preview: Option<UsedLines>) -> ScreenLayout {
    let form = match (width, height) {
        (..60, _) | (_, ..10) => HeaderForm::Tiny,
        (_, ..LOW) => HeaderForm::Folded,
        (WIDE.., _) => HeaderForm::Wide,
        _ => HeaderForm::Full,
    };
    let trend = u16::from(width >= TREND);
    let (header, around) = match form {
        HeaderForm::Wide => (2 + trend, 1),
        HeaderForm::Full => (3 + trend, 1),
        HeaderForm::Folded => (1, 1),
        HeaderForm::Tiny => (0, 0),
    };
    let mut left = Rect::new(0, 0, width, height);
    let mut cut = |lines: u16| {
        let lines = lines.min(left.height);
        let part = Rect {
            height: lines,
            ..left
        };
        left = Rect {
            y: left.y + lines,
            height: left.height - lines,
            ..left
        };
        part
    };
    let (title, alert, header, tabs, titles) = (cut(1), cut(1), cut(header), cut(around), cut(1));
    let rest = height.saturating_sub(titles.bottom());
    let rest = rest.saturating_sub(2 * around);
    // The table has three lines of five; each has the lines that the other one would leave empty.
    let share = |used: UsedLines| {
        let own = used.preview.min((rest * 2).div_ceil(5));
        own.max(rest.saturating_sub(used.table))
    };
    let preview = preview.map_or(0, share);
    let table = cut(rest - preview);
    ScreenLayout {
        form,
        title,
        alert,
        header,
        tabs,
        titles,
        table,
        preview: cut(preview),
        detail: cut(around),
        hints: cut(around),
    }
}

/// The parts of a record, below the alert line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) crumb: Rect,
    pub(crate) body: Rect,
}

/// The parts of a record on a screen of that size: the hint line is where it always is.
pub(crate) fn record((width, height): (u16, u16)) -> Parts {
    let screen = screen((width, height), None);
    let top = screen.alert.bottom();
    let crumb = Rect {
        y: top,
        height: screen.tabs.height.min(height.saturating_sub(top)),
        ..screen.tabs
    };
    let below = crumb.bottom();
    let end = height.saturating_sub(screen.hints.height);
    let body = Rect::new(0, below, width, end.saturating_sub(below));
    Parts { crumb, body }
}

/// Number of lines of a record that fit on the screen, out of `lines`.
pub(crate) fn record_rows(size: (u16, u16), lines: usize) -> usize {
    let height = usize::from(record(size).body.height);
    // The number of hidden lines takes a separate line.
    if lines <= height {
        height
    } else {
        height.saturating_sub(1)
    }
}

/// Number of rows of the open table that fit on the screen.
pub(crate) fn table_rows(state: &State) -> usize {
    let lines = usize::from(of(state).table.height);
    let counts = state.table().counts();
    let all = counts.held <= lines && counts.matched <= counts.kept as u64 && counts.hidden == 0;
    // The number of hidden rows takes a separate line.
    if all {
        lines
    } else {
        lines.saturating_sub(1).max(1)
    }
}

/// A column on the screen.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) face: Face,
    /// Its position among all columns of the table.
    pub(crate) index: usize,
    /// Width of its text, in columns of the terminal.
    pub(crate) width: usize,
    /// Width of the bar after it, in columns of the terminal; 0 without a bar.
    pub(crate) bar: usize,
    /// Number of blanks before it.
    pub(crate) gap: usize,
}

impl Placed {
    /// The seventh column of a duration is for the `+` of an ongoing one.
    pub(crate) fn opens(&self) -> bool {
        self.face.grows
    }

    /// Whether its title leaves no room for a mark.
    pub(crate) fn is_full(&self) -> bool {
        crate::text::width(self.face.title) >= self.width
    }

    /// Whether the columns touch: digits directly before the words of the next column are hard to
    /// read.
    fn touches(&self, next: &Self) -> bool {
        self.face.unit.is_number() && !self.opens() && !next.face.unit.is_number()
    }

    /// Widens the column by at most `given`, up to `widest`; returns by how much.
    fn grow(&mut self, given: usize, widest: usize) -> usize {
        let grown = given.min(widest.saturating_sub(self.width));
        self.width += grown;
        grown
    }

    fn cost(&self) -> usize {
        let bar = if self.bar > 0 { 1 + self.bar } else { 0 };
        self.gap + self.width + bar
    }
}

/// The columns of a table that are visible at this width, from left to right.
///
/// Columns chosen by the user are shown in their own order, as many as fit. Otherwise columns of
/// rank 0 are removed from the right until the first column keeps three quarters of its width, and
/// the others are added in the order of their rank. Scrolled columns are in the order of the table.
pub(crate) fn columns(table: &dyn AnyTable, width: u16) -> Vec<Placed> {
    let (Some(first), others) = candidates(table, width) else {
        return Vec::new();
    };
    let room = usize::from(width).saturating_sub(GUTTER);
    let skip = table.columns_skipped();
    let mut chosen = if skip > 0 || table.picked().is_some() {
        let mut used = first.width * 3 / 4;
        others
            .into_iter()
            .skip(skip)
            .take_while(|column| fits(&mut used, column, room))
            .collect()
    } else {
        by_rank(others, &first, room)
    };
    chosen.insert(0, first);
    part_from_mark(&mut chosen, &table.order().key);
    spread(&mut chosen, room);
    chosen
}

/// The sort mark is in the gap beside a title that fills its column: one more blank separates that
/// title from the next one.
fn part_from_mark(chosen: &mut [Placed], sorted: &str) {
    let Some(at) = chosen.iter().position(|column| column.face.key == sorted) else {
        return;
    };
    let beside = (at + 1).min(chosen.len() - 1);
    if chosen[at].is_full() && beside > 0 {
        chosen[beside].gap += 1;
    }
}

/// The first column, and the others in order: the chosen ones, else all.
fn candidates(table: &dyn AnyTable, width: u16) -> (Option<Placed>, Vec<Placed>) {
    let mut all = placed(table, width).into_iter();
    let first = all.next();
    let others: Vec<Placed> = all.collect();
    let Some(picked) = table.picked() else {
        return (first, others);
    };
    let chosen = picked.iter().filter_map(|key| {
        let mut others = others.iter();
        others.find(|column| column.face.key == *key).cloned()
    });
    (first, chosen.collect())
}

/// Whether columns further to the right are hidden.
pub(crate) fn columns_hidden_right(table: &dyn AnyTable, width: u16) -> bool {
    let (_, others) = candidates(table, width);
    let shown = columns(table, width);
    let skip = table.columns_skipped();
    let last = shown.last().map(|column| column.face.key);
    let further = others.last().map(|column| column.face.key) != last;
    let fewer = shown.len() + skip < others.len() + 1;
    (further || fewer) && skip + 1 < others.len()
}

fn placed(table: &dyn AnyTable, width: u16) -> Vec<Placed> {
    let faces = table.faces();
    let is_name = |face: &Face| face.unit == Unit::Text && face.rank == 0;
    let times = match width {
        WIDE.. => 2,
        // Names are worth more than a bar.
        ..ROOMY if faces.iter().skip(1).any(is_name) => 0,
        _ => 1,
    };
    let place = |(index, face): (usize, Face)| Placed {
        index,
        width: face.width,
        bar: face.bar * times,
        gap: 1,
        face,
    };
    faces.into_iter().enumerate().map(place).collect()
}

fn fits(used: &mut usize, column: &Placed, room: usize) -> bool {
    *used += column.cost();
    *used <= room
}

fn by_rank(others: Vec<Placed>, first: &Placed, room: usize) -> Vec<Placed> {
    let (mut chosen, mut more): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|column| column.face.rank == 0);
    let cost = |columns: &[Placed]| columns.iter().map(Placed::cost).sum::<usize>();
    while cost(&chosen) + first.width * 3 / 4 > room && chosen.pop().is_some() {}
    let mut used = first.width + cost(&chosen);
    more.retain(|column| column.face.rank != u8::MAX);
    more.sort_by_key(|column| column.face.rank);
    chosen.extend(
        more.into_iter()
            .take_while(|column| fits(&mut used, column, room)),
    );
    chosen.sort_by_key(|column| column.index);
    chosen
}

/// Distributes the remaining width to text columns, or takes the missing width from the widest
/// column.
///
/// Places grow until they can be written in full, the first column takes a third, and the widest of
/// the other text columns the rest.
fn spread(chosen: &mut [Placed], room: usize) {
    let used: usize = chosen.iter().map(Placed::cost).sum::<usize>() - 1;
    if let Some(missing) = used.checked_sub(room) {
        if let Some(widest) = chosen.iter_mut().rev().max_by_key(|column| column.width) {
            widest.width = widest.width.saturating_sub(missing).max(1);
        }
        return;
    }
    let mut left = room - used;
    for at in 1..chosen.len() {
        if left > 0 && chosen[at - 1].touches(&chosen[at]) {
            chosen[at].gap += 1;
            left -= 1;
        }
    }
    for place in chosen
        .iter_mut()
        .filter(|column| column.face.unit == Unit::Place)
    {
        // A smaller share would be useless.
        if place.width + left >= FULL_PLACE {
            left -= place.grow(left, FULL_PLACE);
        }
    }
    let (first, others) = chosen.split_at_mut(1);
    let Some(first) = first.first_mut() else {
        return;
    };
    let words = others
        .iter_mut()
        .filter(|column| column.face.unit == Unit::Text);
    let Some(words) = words.rev().max_by_key(|column| column.width) else {
        first.grow(left, LONG_WORDS);
        return;
    };
    // A short column contains a word, not names.
    if first.face.unit == Unit::Text && first.width >= NAMES {
        left -= first.grow(left / 3, LONG_WORDS);
    }
    words.grow(left, LONG_WORDS);
}

/// The border of an overlay of that size, in the middle of the screen and never beyond it.
pub(crate) fn overlay((width, height): (u16, u16), wanted: (u16, u16)) -> Rect {
    let (w, h) = (wanted.0.min(width), wanted.1.min(height));
    Rect::new((width - w) / 2, (height - h) / 2, w, h)
}

/// The number of lines of the help page, and how many of them fit on the screen.
pub(crate) fn help_lines(state: &State, page: HelpPage) -> (usize, usize) {
    let height = usize::from(state.size.1).saturating_sub(2).max(1);
    (help::lines(state, page).len(), height)
}

/// Number of lines of the two columns of keys.
pub(crate) fn key_lines() -> usize {
    helped().count().div_ceil(2)
}

/// The bindings listed on the help page: those of the console, not those of its overlays.
pub(crate) fn helped() -> impl Iterator<Item = &'static super::keys::Binding> {
    KEYS.iter()
        .filter(|binding| is_console(binding.scope) && binding.scope != Scope::Record)
}
