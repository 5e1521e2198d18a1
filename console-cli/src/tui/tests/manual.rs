//! Consistency of docs/console.md with the tables of keys and commands.

use crate::tui::commands::{self, ConsoleCommand, Does};
use crate::tui::keys::{KEYS, Scope};

const MANUAL: &str = include_str!("../../../../docs/console.md");

/// Every line that the manual lacks, ready to be pasted.
fn check(expected: impl Iterator<Item = String>) {
    let missing: Vec<String> = expected
        .filter(|line| !MANUAL.lines().any(|written| written == line))
        .collect();
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}

fn where_it_works(scope: Scope) -> &'static str {
    match scope {
        Scope::All => "everywhere",
        Scope::Watch => "a process is watched",
        Scope::Past => "a process or a recording",
        Scope::Lists => "tables, processes, help",
        Scope::Table => "tables",
        Scope::Record => "a record",
        Scope::Picker => "processes",
        Scope::Menu => "sort menu",
        Scope::Columns => "list of columns",
        Scope::Prompt => "filter line",
        Scope::Command => "command line",
        Scope::Question => "a question",
        Scope::Pause => "pausing a task",
        Scope::Leave => "quitting with paused tasks",
        Scope::Debugger => "which debugger",
    }
}

#[test]
fn it_has_every_key() {
    check(KEYS.iter().map(|binding| {
        let keys: Vec<String> = binding.label.split(' ').map(|k| format!("`{k}`")).collect();
        let place = where_it_works(binding.scope);
        format!("| {} | {place} | {} |", keys.join(" "), binding.help)
    }));
    let keys = MANUAL
        .lines()
        .filter(|line| line.starts_with("| `"))
        .count();
    assert!(keys >= KEYS.len(), "{keys}");
}

#[test]
fn it_has_every_command() {
    let line = |command: &ConsoleCommand| {
        let typed = format!(":{} {}", command.name, command.takes);
        format!("| `{}` | {} |", typed.trim_end(), command.help)
    };
    let words = commands::all();
    let words = words
        .iter()
        .filter(|command| !matches!(command.does, Does::Press(_)));
    check(words.map(line));
}
