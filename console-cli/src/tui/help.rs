//! Help pages, generated from the tables of keys, columns and commands.

use super::commands::{self, ConsoleCommand};
use super::keys::Binding;
use super::layout;
use super::state::{HelpPage, State};
use crate::text;

/// Widths of the key and of its description, in columns, in the left and in the right half.
pub(super) const LEFT: (usize, usize) = (11, 25);
pub(super) const RIGHT: (usize, usize) = (10, 25);

/// The lines of a page.
pub(crate) fn lines(state: &State, page: HelpPage) -> Vec<String> {
    match page {
        HelpPage::Keys => keys(state),
        HelpPage::Columns => columns(state),
        HelpPage::Filter => FILTER.map(|line| format!(" {line}")).to_vec(),
        HelpPage::Commands => commands::all().iter().map(command).collect(),
    }
}

/// The last line of a page, which names the next page.
pub(crate) fn close(page: HelpPage) -> String {
    format!("? {}  Esc closes", page.next().word())
}

fn keys(state: &State) -> Vec<String> {
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
        " filter: text kv*run state:waiting hold_p99>10ms !conn     space and, | or".to_owned(),
    );
    lines.push(
        " ? not known  - no sample  + still growing  .. cut  z slept  dim: ended or old".to_owned(),
    );
    lines
}

fn columns(state: &State) -> Vec<String> {
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

const FILTER: [&str; 15] = [
    "snapshot            in name, location, expression; a capital: case-sensitive",
    "kv*run  kv?run      * any text, ? one character; the whole text must match",
    "\"a b\"               this exact text",
    "/^kv::(db|wal)::/   a regular expression",
    "!conn  -conn        not",
    "get set             both; a space or && means and",
    "get | set           one of them; || means the same",
    "(get | set) run>1%  groups",
    "state:ready,polling column contains one of these; = compares the whole text",
    "at:conn.rs:88       a source location",
    "hold_p99 >= 5ms     or POLp99: < <= > >= = != a number; times need a unit",
    "size:?              the value is unknown; no other test finds these",
    "-muted              alerts that are not muted",
    "attr.user:ann       an attribute of a task",
    "units               ns us ms s m h   %   k M G   KiB MiB GiB   /s",
];

fn command(command: &ConsoleCommand) -> String {
    let typed = format!(":{} {}", command.name, command.takes);
    format!(" {} {}", text::left(typed.trim_end(), 18), command.help)
}
