//! The help page is printed from the table of keys, and on a second press from the table of columns.

use ratatui::Frame;
use ratatui::style::Style;

use super::frame::Framed;
use super::text;
use crate::tui::keys::Binding;
use crate::tui::layout;
use crate::tui::state::State;

const WIDTH: u16 = 80;
/// Columns for the keys and for what they do, left and right of the middle.
const LEFT: (usize, usize) = (10, 26);
const RIGHT: (usize, usize) = (10, 25);

pub(super) fn draw(state: &State, columns: bool, scroll: usize, frame: &mut Frame<'_>) {
    let lines = if columns {
        column_page(state)
    } else {
        key_page(state)
    };
    let title = if columns {
        format!("help: columns of {}", state.view.title())
    } else {
        "help: keys".to_owned()
    };
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let framed = Framed {
        state,
        area: layout::overlay(state.size, (WIDTH, height)),
    };
    let below = lines.len().saturating_sub(scroll + framed.lines());
    let more = if below > 0 {
        format!("j: {below} more below")
    } else {
        String::new()
    };
    let close = if columns {
        "? keys  Esc closes"
    } else {
        "? columns  Esc closes"
    };
    framed.draw(frame, (&title, close), &more);
    for (at, line) in lines.iter().skip(scroll).enumerate() {
        framed.put(frame, at, line, Style::new());
    }
}

fn key_page(state: &State) -> Vec<String> {
    let all: Vec<&Binding> = layout::helped().collect();
    let half = layout::key_lines();
    let cell = |binding: Option<&&Binding>, (keys, help): (usize, usize)| match binding {
        Some(binding) => format!(
            "{} {}",
            text::left(binding.label, keys),
            text::left(binding.help, help)
        ),
        None => " ".repeat(keys + 1 + help),
    };
    let middle = state.look.glyphs.vertical;
    let mut lines: Vec<String> = (0..half)
        .map(|at| {
            format!(
                " {} {middle} {} ",
                cell(all.get(at), LEFT),
                cell(all.get(at + half), RIGHT)
            )
        })
        .collect();
    lines.push(
        " filter: text kv*run state:waiting hold_p99>10ms -conn     blank and, | or".to_owned(),
    );
    lines.push(" ? not known  - no sample  + still growing  .. cut  dim: ended or old".to_owned());
    lines
}

fn column_page(state: &State) -> Vec<String> {
    let line = |title: &str, key: &str, meaning: &str| {
        format!(
            " {} {} {meaning}",
            text::left(title, 10),
            text::left(key, 10)
        )
    };
    let faces = state.table().faces();
    let mut lines = vec![line("TITLE", "KEY", "MEANING")];
    lines.extend(
        faces
            .iter()
            .map(|face| line(face.title, face.key, face.meaning)),
    );
    lines
}
