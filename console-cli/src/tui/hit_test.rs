//! Hit test: the element at a point of the screen, from the same measures that drawing uses.

use turbowish_model::snapshot::units;

use super::layout::{self, GUTTER, HeaderForm};
use super::rows::Order;
use super::state::{State, View};
use super::{preview, record};
use crate::detail::rich_line::Link;
use crate::text;

/// The target of a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    /// The tab of a view.
    Tab(View),
    /// The line of alerts.
    Alerts,
    /// The title of a column, by key.
    Title(String),
    /// A row of the table.
    Row(usize),
    /// A link of the open record, by number.
    Link(usize),
    /// A link of the preview, or the subject of the preview.
    Preview(Link),
    /// A word of the breadcrumb, by its number of steps back.
    Crumb(usize),
}

/// From this width on there may be two blanks between the tabs.
const APART: u16 = 100;

/// How the tabs are drawn.
#[derive(Clone, Copy)]
struct TabForm {
    /// With two blanks between them.
    apart: bool,
    /// The number of tabs, from the left, with their numbers of rows; the open tab and alerts have
    /// them always.
    counted: usize,
}

/// The tabs, from left to right, as they are drawn: so that the filter beside them has room, and
/// the order if possible.
pub(crate) fn tabs(state: &State) -> Vec<(View, String)> {
    const ALL: usize = View::ALL.len();
    let form = |apart, counted| drawn(state, TabForm { apart, counted });
    let wide = state.size.0 >= APART;
    let room = usize::from(state.size.0);
    let beside = room.saturating_sub(text::width(&order(state)) + 2);
    let fits = |tabs: Vec<(View, String)>, room: usize| {
        let widths = tabs.iter().map(|(_, tab)| text::width(tab));
        (widths.sum::<usize>() <= room).then_some(tabs)
    };
    let whole = |room| fits(form(wide, ALL), room).or_else(|| fits(form(false, ALL), room));
    let in_part = |room| {
        let mut counted = (0..ALL).rev();
        counted.find_map(|counted| fits(form(false, counted), room))
    };
    // A filter must be seen; an order is worth less than the numbers of rows.
    let table = state.table();
    let narrows = !table.filter().is_empty() || table.grouping().is_some();
    whole(beside)
        .or_else(|| in_part(beside).filter(|_| narrows))
        .or_else(|| whole(room))
        .or_else(|| in_part(room))
        .unwrap_or_else(|| form(false, 0))
}

fn drawn(state: &State, form: TabForm) -> Vec<(View, String)> {
    let tab = |(at, view): (usize, View)| {
        let mut label = format!("{} {}", view.digit(), view.title());
        if at < form.counted || view == state.view || view == View::Alerts {
            label = format!("{label} {}", count(state, view));
        }
        let blank = view == View::ALL[0] || form.apart;
        let blank = if blank { " " } else { "" };
        match view == state.view {
            true => format!("{blank}[{label}]"),
            false => format!("{blank} {label} "),
        }
    };
    let views = View::ALL.into_iter().filter(|view| state.has_tab(*view));
    let views = views.enumerate();
    let mut tabs: Vec<_> = views.map(|(at, view)| (view, tab((at, view)))).collect();
    if let Some((_, last)) = tabs.last_mut() {
        last.truncate(last.trim_end().len());
    }
    tabs
}

/// The filter, and the order if no column shows it: beside the tabs.
pub(crate) fn order(state: &State) -> String {
    let table = state.table();
    let mut words = Vec::new();
    if !table.filter().is_empty() {
        words.push(format!("/{}", text::fit(table.filter(), 24)));
    }
    if let Some(grouping) = table.grouping() {
        words.push(format!("by {grouping}"));
    }
    let Order { key, invert } = table.order();
    if table.own_order().is_some_and(|own| own.key == key) {
        words.push(format!("{key} {}", if *invert { "last" } else { "first" }));
    }
    words.join("  ")
}

/// `55`, or `12 of 55` under a filter.
fn count(state: &State, view: View) -> String {
    let table = state.tables.of(view);
    let counts = table.counts();
    // Those that are over are in the table, too.
    if view == View::Alerts && table.filter().is_empty() {
        return units::count(state.alerts().count() as u64);
    }
    if table.filter().is_empty() || view != state.view {
        units::count(counts.total)
    } else {
        format!(
            "{} of {}",
            units::count(counts.matched),
            units::count(counts.total)
        )
    }
}

/// The element at a column and line, counted from 0, if no overlay is open.
pub(crate) fn at(state: &State, (x, y): (u16, u16)) -> Option<Hit> {
    state.shown.as_ref()?;
    let screen = layout::of(state);
    if screen.alert.height > 0 && y == screen.alert.y {
        return Some(Hit::Alerts);
    }
    if state.record.is_some() {
        return in_record(state, (usize::from(x), y));
    }
    if screen.form != HeaderForm::Tiny && y == screen.tabs.y {
        return tab(state, usize::from(x));
    }
    if y == screen.titles.y {
        return title(state, usize::from(x));
    }
    if (screen.preview.y..screen.preview.bottom()).contains(&y) {
        return preview::under(state, (x, y)).map(Hit::Preview);
    }
    let line = usize::from(y.checked_sub(screen.table.y)?);
    let height = layout::table_rows(state);
    let row = state.table().first_shown(height) + line;
    let there = line < height && row < state.table().counts().held;
    there.then_some(Hit::Row(row))
}

fn tab(state: &State, x: usize) -> Option<Hit> {
    let mut end = 0;
    tabs(state).into_iter().find_map(|(view, label)| {
        end += text::width(&label);
        (x < end).then_some(Hit::Tab(view))
    })
}

fn title(state: &State, x: usize) -> Option<Hit> {
    let mut end = GUTTER;
    let columns = layout::columns(state.table(), state.size.0);
    columns.into_iter().enumerate().find_map(|(at, column)| {
        let gap = if at == 0 { 0 } else { column.gap };
        let bar = if column.bar > 0 { column.bar + 1 } else { 0 };
        let begin = end + gap;
        end = begin + column.width + bar;
        let key = column.face.key.to_owned();
        (begin..end).contains(&x).then_some(Hit::Title(key))
    })
}

fn in_record(state: &State, (x, y): (usize, u16)) -> Option<Hit> {
    let parts = layout::record(state.size);
    if parts.crumb.height > 0 && y == parts.crumb.y {
        return crumb(state, x);
    }
    let line = usize::from(y.checked_sub(parts.body.y)?);
    let lines = record::lines(state);
    let height = record::height(state, lines.len());
    let scroll = state.record.as_ref().map_or(0, |open| open.scroll);
    let scroll = scroll.min(lines.len().saturating_sub(height));
    let shown = line < height;
    let link = shown.then(|| record::link_at(&lines, scroll + line, x));
    link.flatten().map(Hit::Link)
}

fn crumb(state: &State, x: usize) -> Option<Hit> {
    // A blank before the first word, ` > ` between them.
    let mut begin = 1;
    record::crumbs(state).into_iter().find_map(|(word, steps)| {
        let end = begin + text::width(&word);
        let hit = (begin..end).contains(&x).then_some(Hit::Crumb(steps));
        begin = end + 3;
        hit
    })
}
