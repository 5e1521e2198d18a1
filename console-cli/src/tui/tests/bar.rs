//! The command line: typed text, completion and effect.

use turbowish_model::snapshot::Accounting;

use super::alerts::deadlock;
use super::fixture::{SECOND, alarmed, attached, listed, looking, press, screen, tell};
use super::screens::{MIDDLE, SMALL, check};
use crate::theme::Theme;
use crate::tui::commands::{self, Does};
use crate::tui::message::{Effect, Message};
use crate::tui::state::{Overlay, State, View, Window};

/// Types a line after `:`; the last letters are keys.
fn type_line(state: &mut State, line: &str) {
    press(state, ":");
    for letter in line.chars() {
        let name = match letter {
            ' ' => "Space".to_owned(),
            letter => letter.to_string(),
        };
        press(state, &name);
    }
}

fn run(state: &mut State, line: &str) -> Option<Effect> {
    type_line(state, line);
    press(state, "Enter")
}

fn fault(state: &State) -> Option<&str> {
    match &state.overlay {
        Some(Overlay::Command(typed)) => typed.fault.as_deref(),
        _ => None,
    }
}

fn text(state: &State) -> &str {
    match &state.overlay {
        Some(Overlay::Command(typed)) => &typed.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn commands_do_what_keys_and_options_do() {
    let check = |line: &str, shows: &dyn Fn(&State) -> bool| {
        let mut state = alarmed(SMALL, vec![deadlock()]);
        run(&mut state, line);
        assert_eq!(fault(&state), None, "{line}");
        assert!(shows(&state), ":{line} led to\n{}", screen(&state));
    };
    let opened = |name: &'static str| {
        move |state: &State| {
            state
                .record
                .as_ref()
                .is_some_and(|open| open.name() == name)
        }
    };
    check("tasks", &|state| state.view == View::Tasks);
    check(" alerts ", &|state| state.view == View::Alerts);
    check("task conn:51022", &opened("conn:51022"));
    check("resource mutex db", &opened("mutex db"));
    check("resource db", &opened("mutex db"));
    check("proc kv::db::get", &opened("kv::db::get"));
    check("proc db::get", &opened("kv::db::get"));
    check("sort hold_p99", &|state| {
        state.table().order().key == "hold_p99"
    });
    check("sort hold_p99.9", &|state| {
        state.table().order().key == "hold_p99.9"
    });
    check("sort run", &|state| state.table().order().invert);
    check("filter db -get", &|state| state.table().counts().held == 2);
    check("filter db && ! get", &|state| {
        state.table().counts().held == 2
    });
    check("filter RUN% > 10", &|state| state.table().counts().held > 0);
    check("window 60s", &|state| {
        state.window == Window(Some(60 * SECOND))
    });
    check("window start", &|state| state.window == Window(None));
    check("next_view", &|state| state.view == View::Tasks);
    check("group", &|state| state.table().grouping() == Some("module"));
    check("worst_alert", &|state| state.record.is_some());
    check("freeze", &|state| state.pending.frozen_ns.is_some());
    check("help filter", &|state| {
        screen(state).contains("help: filter")
    });
    check("h", &|state| screen(state).contains("help: keys"));
    check("disarm", &|state| {
        screen(state).contains("Disarm accounting in kv")
    });
    check("process 4300", &|state| {
        state.link.peer.as_ref().and_then(|peer| peer.pid) == Some(4300)
    });
    check("", &|state| state.overlay.is_none());
}

#[test]
fn some_commands_are_for_the_loop() {
    let check = |line: &str, expected: Option<Effect>| {
        assert_eq!(run(&mut attached(SMALL), line), expected, "{line}");
    };
    check("quit", Some(Effect::Quit));
    check("q", Some(Effect::Quit));
    check("redraw", Some(Effect::Redraw));
    check("theme light", Some(Effect::Theme(Some(Theme::Light))));
    check("theme auto", Some(Effect::Theme(None)));
    check("mouse", Some(Effect::Mouse(false)));
    let mut state = attached(SMALL);
    run(&mut state, "disarm");
    let off = Some(Effect::Switch(Accounting::Disarmed));
    assert_eq!(press(&mut state, "y"), off);
}

#[test]
fn a_mistake_is_named_and_can_be_mended() {
    let check = |line: &str, expected: &str| {
        let mut state = attached(SMALL);
        run(&mut state, line);
        assert_eq!(fault(&state), Some(expected), "{line}");
        press(&mut state, "Bksp");
        assert_eq!(fault(&state), None);
    };
    check("tsks", "no command tsks; tasks?");
    check("xyzzyxyzzy", "no command xyzzyxyzzy; Tab lists them");
    check("sort", "sort COLUMN: sort the table; again: invert");
    check("tasks now", "tasks takes no argument; leave out now");
    check(
        "sort hold_p98",
        "no field hold_p98 in procs; did you mean hold_p99?",
    );
    check(
        "filter hold_p99>5",
        "filter of procs: hold_p99 is a duration and needs a unit: ns us ms s m h",
    );
    check(
        "window 60",
        "window takes a time with its unit, as in 5s or 1m, or start",
    );
    check(
        "window 5m",
        "window takes at most 60s (older data is not kept), or start",
    );
    check("theme blue", "theme takes dark, light, mono or auto");
    check("process kw", "no process kw is known; 0 lists them");
    check("arm", "accounting in kv is already on");
    check(
        "help me",
        "help has the pages keys, columns, filter and commands",
    );
    check("proc db::gte", "no proc db::gte; kv::db::get?");
    check(
        "proc run",
        "run is ambiguous: kv::main::run or kv::repl::run",
    );
}

#[test]
fn what_works_elsewhere_says_where() {
    let mut state = attached(SMALL);
    run(&mut state, "proc db::get");
    run(&mut state, "hide");
    assert_eq!(fault(&state), Some("hide works only in tables"));
    let mut state = looking(SMALL);
    let both = || vec![listed(4242, |_| ()), listed(4300, |_| ())];
    tell(&mut state, Message::Listed(both()));
    run(&mut state, "sort run");
    assert_eq!(
        fault(&state),
        Some("sort works only while a process is watched")
    );
    // A list that comes meanwhile leaves the line alone.
    tell(&mut state, Message::Listed(both()));
    assert_eq!(text(&state), "sort run");
    press(&mut state, "Esc");
    assert!(matches!(state.overlay, Some(Overlay::Picker(_))));
    run(&mut state, "process 4301");
    let none = "no process 4301 answers; 0 lists those that do";
    assert_eq!(fault(&state), Some(none));
    press(&mut state, "Esc");
    run(&mut state, "process kv");
    let several = "several processes are named kv; 0 lists them";
    assert_eq!(fault(&state), Some(several));
    press(&mut state, "Esc");
    run(&mut state, "process 4300");
    assert!(state.wanted().watch.is_some());
}

#[test]
fn a_process_is_switched_to_by_its_name() {
    let mut state = attached(SMALL);
    type_line(&mut state, "process gate");
    // The list is requested while the line is open.
    let gate = listed(4300, |shown| shown.process.name = "gate".to_owned());
    tell(
        &mut state,
        Message::Listed(vec![listed(4242, |_| ()), gate]),
    );
    press(&mut state, "Enter");
    let peer = state.link.peer.as_ref();
    assert_eq!(peer.and_then(|peer| peer.pid), Some(4300));
}

#[test]
fn tab_completes_as_far_as_it_is_clear() {
    let check = |typed: &str, expected: &str| {
        let mut state = attached(SMALL);
        type_line(&mut state, typed);
        press(&mut state, "Tab");
        assert_eq!(text(&state), expected);
    };
    check("so", "sort");
    check(" so", "sort");
    check("sort", "sort");
    check("sort_m", "sort_menu");
    check("win", "window ");
    check("window s", "window start");
    check("sort hold_p9", "sort hold_p9");
    check("sort lon", "sort longest");
    check("task snap", "task snapshot");
    check("proc kv::d", "proc kv::db::");
    check("resource mutex d", "resource mutex db");
    check("theme l", "theme light");
    check("help co", "help co");
    check("help fi", "help filter");
    check("filter db cancel", "filter db cancelled");
    check("filter -(cancel", "filter -(cancelled");
    let nothing = |typed: &str, expected: &str| {
        let mut state = attached(SMALL);
        type_line(&mut state, typed);
        press(&mut state, "Tab");
        assert_eq!(fault(&state), Some(expected), "{typed}");
    };
    nothing("theme x", "nothing begins with x");
    nothing("tasks ", "nothing to complete here");
}

#[test]
fn lines_are_found_again() {
    let mut state = attached(SMALL);
    for line in ["tasks", "window 1s", "nonsense", "tasks"] {
        run(&mut state, line);
        press(&mut state, "Esc");
    }
    type_line(&mut state, "pro");
    let mut check = |keys: &str, expected: &str| {
        press(&mut state, keys);
        assert_eq!(text(&state), expected, "{keys}");
    };
    check("Up", "tasks");
    check("Up", "window 1s");
    check("Up", "window 1s");
    check("Dn", "tasks");
    check("Dn", "pro");
    check("Dn", "pro");
    check("Up x", "tasksx");
    check("^U", "");
}

#[test]
fn every_command_does_something_or_says_why_not() {
    for command in commands::all() {
        // Each needs something before it that it can undo.
        let before = match command.name.as_str() {
            "history_back" => "2",
            "history_forward" => "2 H",
            "procs" => "2",
            "back" | "first" | "up" | "half_page_up" | "page_up" => "j",
            "columns_left" => "l",
            "unhide" => "x",
            _ => "",
        };
        let word = match command.does {
            Does::Task => "conn:51022",
            Does::Resource => "db",
            Does::Proc => "db::get",
            Does::Sort => "longest",
            Does::Filter => "db",
            Does::Window => "1s",
            Does::Theme => "dark",
            Does::Process => "4300",
            _ => "",
        };
        let mut state = alarmed(SMALL, vec![deadlock()]);
        press(&mut state, before);
        let shown = screen(&state);
        let effect = run(&mut state, &format!("{} {word}", command.name));
        assert!(
            effect.is_some() || screen(&state) != shown,
            ":{} does nothing",
            command.name
        );
    }
}

#[test]
fn screens() {
    for size in [SMALL, MIDDLE] {
        let mut state = attached(size);
        type_line(&mut state, "so");
        check("command", &state);
        press(&mut state, "r t Space h o l d");
        check("command_sort", &state);
        press(&mut state, "^U Enter");
        run(&mut state, "sort hold_p98");
        check("command_mistaken", &state);
        press(&mut state, "Esc");
        run(&mut state, "proc db::get");
        type_line(&mut state, "tasks");
        check("command_in_record", &state);
        press(&mut state, "Esc");
        run(&mut state, "help commands");
        check("help_commands", &state);
        run(&mut state, "help filter");
        check("help_filter", &state);
    }
}
