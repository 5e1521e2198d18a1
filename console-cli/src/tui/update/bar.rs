//! The command line: its input and its effects.

use turbowish_model::snapshot::Accounting;
use turbowish_wire::client::Target;

use super::{overlay, perform, record, save, scopes, sessions, set_filter, sort};
use crate::args;
use crate::detail::rich_line::Link;
use crate::tui::commands::{self, Does};
use crate::tui::keys::{Action, KEYS, Scope};
use crate::tui::message::Effect;
use crate::tui::rows::{Entry, Order};
use crate::tui::state::{HelpPage, Listed, Overlay, Peer, State, Typed, typed};

/// Opens the empty command line.
pub(super) fn open(state: &mut State) {
    if state.has_subject() {
        // The list was not updated meanwhile; it is requested from now on.
        state.listed = None;
    }
    state.overlay = Some(Overlay::Command(Typed::default()));
}

/// Performs an action while the command line is open.
pub(super) fn act(state: &mut State, action: Action, mut typed: Typed) -> Option<Effect> {
    match action {
        Action::Accept => return accept(state, typed),
        Action::Complete => match commands::complete(state, typed.text.trim_start()) {
            Ok(text) => {
                typed = Typed {
                    text,
                    behind: 0,
                    ..typed
                };
            }
            Err(fault) => typed.fault = Some(fault),
        },
        Action::Up => typed.earlier(&state.visit.typed.commands, 1),
        Action::Down => typed.earlier(&state.visit.typed.commands, -1),
        Action::Erase if typed.text.is_empty() => {
            overlay::closed(state);
            return None;
        }
        other => edit_line(&mut typed, other),
    }
    state.overlay = Some(Overlay::Command(typed));
    None
}

/// Performs an editing key in any text input.
pub(super) fn edit_line(typed: &mut Typed, action: Action) {
    match action {
        Action::Erase => typed.erase(),
        Action::EraseWord => typed.erase_word(),
        Action::EraseAll => *typed = Typed::default(),
        Action::CursorLeft => typed.step(-1),
        Action::CursorRight => typed.step(1),
        Action::First => typed.step(isize::MIN),
        Action::Last => typed.step(isize::MAX),
        _ => {}
    }
}

/// A letter was typed.
pub(super) fn letter(state: &mut State, mut typed: Typed, letter: char) {
    typed.insert(letter);
    state.overlay = Some(Overlay::Command(typed));
}

fn accept(state: &mut State, typed: Typed) -> Option<Effect> {
    let line = typed.text.trim().to_owned();
    if line.is_empty() {
        overlay::closed(state);
        return None;
    }
    // A command that opens an overlay opens it over the screen, not over this line.
    match run(state, &line) {
        Ok(effect) => {
            typed::remember(&mut state.visit.typed.commands, line);
            effect
        }
        Err(fault) => {
            let fault = Some(fault);
            state.overlay = Some(Overlay::Command(Typed { fault, ..typed }));
            None
        }
    }
}

fn run(state: &mut State, line: &str) -> Result<Option<Effect>, String> {
    let (command, word) = commands::parse(line)?;
    let name = &command.name;
    match (command.takes, word) {
        ("", "") => {}
        ("", _) => return Err(format!("{name} takes no argument; leave out {word}")),
        (takes, "") if !takes.starts_with('[') => {
            return Err(format!("{name} {takes}: {}", command.help));
        }
        _ => {}
    }
    let watches = !matches!(
        command.does,
        Does::Help | Does::Theme | Does::Process | Does::Press(_)
    );
    if watches && state.shown.is_none() {
        return Err(format!("{name} works only while a process is watched"));
    }
    overlay::closed(state);
    match command.does {
        Does::Open(view) => record::open_table(state, view),
        Does::Task => named(state, word, |state| &state.tables.tasks, Link::task)?,
        Does::Resource => named(state, word, |state| &state.tables.resources, resource)?,
        Does::Proc => named(state, word, |state| &state.tables.procs, proc)?,
        Does::Sort => sort_by(state, word)?,
        Does::Filter => {
            state.table().check_filter(word)?;
            record::open_table(state, state.view);
            set_filter(state, word.to_owned());
        }
        Does::Window => {
            if state.link.past.is_some() {
                return Err(super::past::ONE_WINDOW.to_owned());
            }
            state.window = args::window(word).map_err(|fault| format!("window takes {fault}"))?;
        }
        Does::Theme => {
            let theme = commands::theme(word)?;
            state.look.theme = theme;
            return Ok(Some(Effect::Theme(theme)));
        }
        Does::Process => process(state, word)?,
        Does::Arm => switch(state, true)?,
        Does::Disarm => switch(state, false)?,
        Does::Save => {
            let file = Some(word).filter(|word| !word.is_empty());
            return Ok(save::save(state, file));
        }
        Does::Help => help(state, word)?,
        Does::Press(action) => return press(state, name, action),
    }
    Ok(None)
}

/// Performs the action of a key, if the key would work here.
fn press(state: &mut State, name: &str, action: Action) -> Result<Option<Effect>, String> {
    let here = scopes(state);
    let mut bound = KEYS
        .iter()
        .filter(|binding| binding.keys.iter().any(|(_, bound)| *bound == action));
    if bound.clone().any(|binding| here.contains(&binding.scope)) {
        return Ok(perform(state, action));
    }
    let place = match bound.find(|binding| commands::is_console(binding.scope)) {
        Some(binding) if binding.scope == Scope::Table => "in tables",
        Some(binding) if binding.scope == Scope::Record => "in records",
        _ => "while a process is watched",
    };
    Err(format!("{name} works only {place}"))
}

fn resource(name: &str) -> Link {
    Link::Resource {
        id: None,
        name: name.to_owned(),
    }
}

fn proc(path: &str) -> Link {
    Link::Proc(path.to_owned())
}

/// Opens a record: of an available row, or of any row of that name in the process.
fn named<R: Entry>(
    state: &mut State,
    name: &str,
    table: fn(&State) -> &crate::tui::rows::Table<R>,
    link: fn(&str) -> Link,
) -> Result<(), String> {
    let link = match commands::row(table(state), name)? {
        Some(row) => row.link(),
        None => link(name),
    };
    record::open(state, link);
    Ok(())
}

fn sort_by(state: &mut State, key: &str) -> Result<(), String> {
    state.table().check_sort(key)?;
    record::open_table(state, state.view);
    let now = state.table().order();
    let invert = now.key == key && !now.invert;
    let key = key.to_owned();
    sort(state, Order { key, invert });
    Ok(())
}

fn process(state: &mut State, word: &str) -> Result<(), String> {
    let pid = word.parse::<u32>().ok();
    let is_meant = |one: &&Listed| match (pid, &one.answer) {
        (Some(pid), _) => one.peer.pid == Some(pid),
        (None, Ok(shown)) => shown.process.name == word,
        (None, Err(_)) => false,
    };
    let mut meant = state.listed.iter().flatten().filter(is_meant);
    let peer = match (meant.next(), meant.next(), pid) {
        (Some(_), Some(_), _) => {
            return Err(format!("several processes are named {word}; 0 lists them"));
        }
        (Some(one), None, _) => one.peer.clone(),
        // The watched process is not given up for one that does not answer.
        (None, _, _) if state.listed.is_some() => {
            return Err(format!("no process {word} answers; 0 lists those that do"));
        }
        (None, _, Some(pid)) => Peer {
            pid: Some(pid),
            target: Target::Pid(pid),
        },
        (None, _, None) => return Err(format!("no process {word} is known; 0 lists them")),
    };
    sessions::turn(state, peer);
    Ok(())
}

fn switch(state: &mut State, arm: bool) -> Result<(), String> {
    let process = state.shown.as_ref().map(|shown| &shown.process);
    if let Some(process) = process
        && arm == (process.accounting == Accounting::Armed)
    {
        let now = if arm { "on" } else { "off" };
        return Err(format!("accounting in {} is already {now}", process.name));
    }
    super::ask_to_switch(state);
    Ok(())
}

fn help(state: &mut State, word: &str) -> Result<(), String> {
    let page = match word {
        "" => HelpPage::Keys,
        word => HelpPage::named(word)
            .ok_or("help has the pages keys, columns, filter and commands".to_owned())?,
    };
    state.overlay = Some(Overlay::Help { page, scroll: 0 });
    Ok(())
}
