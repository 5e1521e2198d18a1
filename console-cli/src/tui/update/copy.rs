//! Copying: the selected row with its titles, or the whole record, as text or as JSON.

use turbowish_model::snapshot::sanitize;

use crate::detail::rich_line::RichLine;
use crate::text;
use crate::tui::layout::{self, Placed};
use crate::tui::message::Effect;
use crate::tui::record;
use crate::tui::rows::AnyTable;
use crate::tui::state::State;

/// The row or record as text.
pub(super) fn text(state: &mut State) -> Option<Effect> {
    let lines: Vec<String> = match &state.record {
        Some(_) => {
            let lines = record::lines(state);
            let own = |line: &RichLine| {
                let text = line.text();
                text.strip_prefix(' ')
                    .unwrap_or(&text)
                    .trim_end()
                    .to_owned()
            };
            let is_hint = |line: &RichLine| line.text().starts_with(record::PAST_HINT);
            lines
                .iter()
                .filter(|line| !is_hint(line))
                .map(own)
                .collect()
        }
        None => row(state),
    };
    copied(state, text::printed(&lines))
}

/// The row or record as JSON.
pub(super) fn json(state: &mut State) -> Option<Effect> {
    let text = match (&state.record, &state.shown) {
        (Some(open), Some(shown)) => open.json(shown),
        (None, Some(shown)) => {
            let row = state.table().selected();
            row.map(|row| state.table().json(row, shown))
        }
        _ => None,
    };
    copied(state, text.unwrap_or_default())
}

fn copied(state: &mut State, text: String) -> Option<Effect> {
    if text.is_empty() {
        state.notice = Some("there is nothing to copy".to_owned());
        return None;
    }
    let told = match text.lines().count() {
        1 => "1 line".to_owned(),
        n => format!("{n} lines"),
    };
    state.say(format!("copied {told}, if this terminal supports OSC 52"));
    // The copied text has no control characters.
    Some(Effect::Copy(sanitize::lines(&text).into_owned()))
}

/// The titles of the columns on the screen, and the cells of the selected row in full.
fn row(state: &State) -> Vec<String> {
    let table = state.table();
    let Some(row) = table.selected() else {
        return Vec::new();
    };
    let columns = layout::columns(table, state.size.0);
    let cells: Vec<(String, String)> = columns
        .iter()
        .map(|column| {
            (
                column.face.title.to_owned(),
                cell(state, table, row, column),
            )
        })
        .collect();
    let width = |(title, cell): &(String, String)| text::width(title).max(text::width(cell));
    let line = |of: fn(&(String, String)) -> &str| {
        let padded = cells.iter().zip(&columns).map(|(pair, column)| {
            if column.face.unit.is_number() {
                text::right(of(pair), width(pair))
            } else {
                text::left(of(pair), width(pair))
            }
        });
        let line = padded.collect::<Vec<_>>().join(" ");
        line.trim_end().to_owned()
    };
    vec![
        line(|(title, _)| title),
        line(|(_, cell)| cell),
        table.detail(row, state.style()),
    ]
}

fn cell(state: &State, table: &dyn AnyTable, row: usize, column: &Placed) -> String {
    let value = table.value(row, column.index, &state.context());
    value.print(state.style())
}
