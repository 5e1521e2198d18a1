//! Commands typed after `:`. One table: dispatch, completion and help are derived from it and from
//! the key table.

use turbowish_model::snapshot::column::closest;
use turbowish_model::snapshot::natural;

use super::keys::{Action, KEYS, Scope};
use super::rows::Table;
use super::state::{HelpPage, State, View};
use crate::detail::is_called;
use crate::theme::Theme;
use crate::tui::rows::Entry;

/// The action of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Open(View),
    /// Opens the record of a task, a resource or a proc.
    Task,
    Resource,
    Proc,
    /// Sorts the table by a column.
    Sort,
    /// Keeps rows of the table.
    Filter,
    /// Sets the length of the window.
    Window,
    /// Selects the theme.
    Theme,
    /// Switches to a process.
    Process,
    /// Arms or disarms accounting.
    Arm,
    Disarm,
    /// Writes the snapshot to a file.
    Save,
    /// Opens a page of help.
    Help,
    /// Performs the action of a key.
    Press(Action),
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConsoleCommand {
    pub(crate) name: String,
    /// The argument; in brackets if optional.
    pub(crate) takes: &'static str,
    pub(crate) help: &'static str,
    pub(crate) does: Does,
}

type Line = (&'static str, &'static str, &'static str, Does);

/// Commands with an argument, and those that are not the action of a key.
const WORDS: [Line; 18] = [
    (
        "procs",
        "",
        "the table of functions",
        Does::Open(View::Procs),
    ),
    ("tasks", "", "the table of tasks", Does::Open(View::Tasks)),
    (
        "resources",
        "",
        "the table of resources",
        Does::Open(View::Resources),
    ),
    (
        "awaits",
        "",
        "the table of await points",
        Does::Open(View::Awaits),
    ),
    (
        "alerts",
        "",
        "the table of alerts",
        Does::Open(View::Alerts),
    ),
    (
        "counters",
        "",
        "the table of counters and gauges",
        Does::Open(View::Counters),
    ),
    ("task", "NAME", "the record of a task", Does::Task),
    (
        "resource",
        "NAME",
        "the record of a resource",
        Does::Resource,
    ),
    (
        "proc",
        "PATH",
        "the record of a function; the end of its path is enough",
        Does::Proc,
    ),
    (
        "sort",
        "COLUMN",
        "sort the table; again: invert",
        Does::Sort,
    ),
    (
        "filter",
        "[TEXT]",
        "filter the rows; empty: show all",
        Does::Filter,
    ),
    (
        "window",
        "TIME",
        "1s, 10s, up to 60s, or start",
        Does::Window,
    ),
    (
        "theme",
        "NAME",
        "dark, light, mono, or auto (detected)",
        Does::Theme,
    ),
    (
        "process",
        "NAME",
        "switch to a process, by name or ID",
        Does::Process,
    ),
    ("arm", "", "arm accounting (asks)", Does::Arm),
    ("disarm", "", "disarm accounting (asks)", Does::Disarm),
    ("save", "[FILE]", "save the snapshot as JSON", Does::Save),
    (
        "help",
        "[PAGE]",
        "keys, columns, filter or commands",
        Does::Help,
    ),
];

/// Short names, as in other programs, and the words of the screen.
const SHORT: [(&str, &str); 5] = [
    ("q", "quit"),
    ("h", "help"),
    ("w", "save"),
    ("functions", "procs"),
    ("function", "proc"),
];

/// All commands: those of `WORDS`, then the actions of keys, by name.
pub(crate) fn all() -> Vec<ConsoleCommand> {
    let word = |&(name, takes, help, does): &Line| ConsoleCommand {
        name: name.to_owned(),
        takes,
        help,
        does,
    };
    let mut all: Vec<ConsoleCommand> = WORDS.iter().map(word).collect();
    let console = KEYS.iter().filter(|binding| is_console(binding.scope));
    for binding in console {
        for &(_, action) in binding.keys {
            let name = action.name();
            let known = all.iter().any(|command| command.name == name);
            if !known && action != Action::Command {
                all.push(ConsoleCommand {
                    name,
                    takes: "",
                    help: binding.help,
                    does: Does::Press(action),
                });
            }
        }
    }
    all
}

/// Whether the scope belongs to the console itself, not to an overlay.
pub(crate) const fn is_console(scope: Scope) -> bool {
    matches!(
        scope,
        Scope::All | Scope::Watch | Scope::Past | Scope::Lists | Scope::Table | Scope::Record
    )
}

/// The command of a line, and the argument after its name.
///
/// # Errors
/// There is no such command; the message may suggest another one.
pub(crate) fn parse(line: &str) -> Result<(ConsoleCommand, &str), String> {
    let line = line.trim();
    let (typed, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let short = SHORT.iter().find(|(short, _)| *short == typed);
    let name = short.map_or(typed, |(_, name)| name);
    let all = all();
    if let Some(found) = all.iter().find(|command| command.name == name) {
        return Ok((found.clone(), rest.trim()));
    }
    let known = all.iter().map(|command| command.name.as_str());
    let hint = match closest(typed, known) {
        Some(near) => format!("{near}?"),
        None => "Tab lists them".to_owned(),
    };
    Err(format!("no command {typed}; {hint}"))
}

/// Completions for the end of a line: its start, and the words that begin with it.
pub(crate) fn completions(state: &State, line: &str) -> (usize, Vec<String>) {
    let Some((name, _)) = line.split_once(char::is_whitespace) else {
        let names = all().into_iter().map(|command| command.name);
        return (0, beginning(line, names));
    };
    let begin = line.len() - line[name.len()..].trim_start().len();
    let Ok((command, _)) = parse(line) else {
        return (begin, Vec::new());
    };
    let typed = &line[begin..];
    match command.does {
        // Of a filter, the last word is completed.
        Does::Filter => {
            let last = typed
                .rfind([' ', '(', '|', '&', '-', '!'])
                .map_or(0, |at| at + 1);
            let keys = columns(state).into_iter();
            (begin + last, beginning(&typed[last..], keys))
        }
        does => (begin, beginning(typed, words(state, does).into_iter())),
    }
}

fn beginning(typed: &str, words: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = words.filter(|word| word.starts_with(typed)).collect();
    found.sort_by(|one, other| natural::compare(one, other));
    found.dedup();
    found
}

/// The words that a command accepts.
fn words(state: &State, does: Does) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    match does {
        Does::Task => names(&state.tables.tasks),
        Does::Resource => names(&state.tables.resources),
        Does::Proc => names(&state.tables.procs),
        Does::Sort => columns(state),
        Does::Window => owned(&["1s", "10s", "60s", "start"]),
        Does::Theme => owned(&["auto", "dark", "light", "mono"]),
        Does::Help => HelpPage::ALL.map(|page| page.word().to_owned()).to_vec(),
        Does::Process => {
            let listed = state.listed.iter().flatten();
            let names = listed
                .clone()
                .filter_map(|one| Some(one.answer.as_ref().ok()?.process.name.clone()));
            let pids = listed.filter_map(|one| Some(one.peer.pid?.to_string()));
            pids.chain(names).collect()
        }
        _ => Vec::new(),
    }
}

fn names<R: Entry>(table: &Table<R>) -> Vec<String> {
    let rows = table.rows().iter();
    rows.map(|row| row.name().0.to_owned()).collect()
}

/// Keys of the open table's columns.
fn columns(state: &State) -> Vec<String> {
    let table = state.table();
    let own = table.own_order().into_iter();
    let faces = own.chain(table.faces());
    faces.map(|face| face.key.to_owned()).collect()
}

/// The line with its last word completed as far as it is unambiguous.
///
/// # Errors
/// No completion exists.
pub(crate) fn complete(state: &State, line: &str) -> Result<String, String> {
    let (begin, found) = completions(state, line);
    let Some(first) = found.first() else {
        return Err(match &line[begin..] {
            "" => "nothing to complete here".to_owned(),
            typed => format!("nothing begins with {typed}"),
        });
    };
    let common = found.iter().skip(1).fold(first.as_str(), |common, word| {
        let same = common.chars().zip(word.chars()).take_while(|(a, b)| a == b);
        &common[..same.map(|(a, _)| a.len_utf8()).sum()]
    });
    let mut whole = format!("{}{common}", &line[..begin]);
    let takes = |line: &str| parse(line).is_ok_and(|(command, _)| !command.takes.is_empty());
    if found.len() == 1 && begin == 0 && takes(&whole) {
        whole.push(' ');
    }
    Ok(whole)
}

/// A row by its name or the end of it.
///
/// # Errors
/// No row has this name, and all rows are available; or several have it.
pub(crate) fn row<'a, R: Entry>(table: &'a Table<R>, name: &str) -> Result<Option<&'a R>, String> {
    let rows = table.rows();
    if let Some(row) = rows.iter().find(|row| row.name().0 == name) {
        return Ok(Some(row));
    }
    let mut called = rows.iter().filter(|row| is_called(row.name().0, name));
    match (called.next(), called.next()) {
        (Some(one), None) => return Ok(Some(one)),
        (Some(one), Some(other)) => {
            let (one, other) = (one.name().0, other.name().0);
            return Err(format!("{name} is ambiguous: {one} or {other}"));
        }
        (None, _) => {}
    }
    if (rows.len() as u64) < table.page().total {
        return Ok(None);
    }
    let word = R::TABLE.trim_end_matches('s');
    let names = || rows.iter().map(|row| row.name().0);
    // The modules or the kind may be omitted.
    let own = names().find_map(|full| {
        let at = full.len().checked_sub(name.len())?;
        let end = full.get(at..)?;
        closest(name, [end].into_iter()).map(|_| full)
    });
    let near = closest(name, names()).or(own);
    Err(match near {
        Some(near) => format!("no {word} {name}; {near}?"),
        None => format!("no {word} {name}; :{} lists them", R::TABLE),
    })
}

/// A theme by its name; `auto` is `None`.
///
/// # Errors
/// There is no theme of that name.
pub(crate) fn theme(name: &str) -> Result<Option<Theme>, String> {
    match name {
        "auto" => Ok(None),
        name => match Theme::named(name) {
            Some(theme) => Ok(Some(theme)),
            None => Err("theme takes dark, light, mono or auto".to_owned()),
        },
    }
}
