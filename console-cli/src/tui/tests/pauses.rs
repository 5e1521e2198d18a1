//! Paused tasks: their display, the keys `p` and `D`, and the renewal of leases.

use turbowish_model::snapshot::alert::{Alert, Party, PartyKind};
use turbowish_model::snapshot::{Accounting, PauseRow, Snapshot, TaskState};

use super::alerts::{deadlock, long_poll};
use super::fixture::{
    SECOND, alarmed, arrives, attached, kv, kv_without, peer, press, screen, tell, until,
};
use crate::tui::message::{Effect, Message};
use crate::tui::state::{PausedTask, State};

/// Three tasks: one paused by this console, one paused by another and woken since, one that is
/// polled for the last time.
fn paused() -> Snapshot {
    let mut snapshot = kv();
    let pause = |by: &str, left: Option<u64>, woken| {
        Some(PauseRow {
            by: by.to_owned(),
            left_ns: left.map(|seconds| seconds * SECOND),
            woken,
            address: 0x7f_00,
        })
    };
    for row in &mut snapshot.tasks.rows {
        row.pause = match &*row.name {
            "expiry" => pause("console pid 7", Some(52), false),
            "conn:51030" => pause("turbowish debug pid 8", None, true),
            "stats" => pause("console pid 7", Some(59), false),
            _ => None,
        };
        if row.pause.is_some() && row.state != TaskState::Polling {
            row.state = TaskState::Paused;
            row.since_ns = 8 * SECOND;
        }
    }
    snapshot.tasks_by_state.waiting -= 2;
    snapshot.tasks_by_state.paused = 2;
    snapshot
}

fn console(size: (u16, u16)) -> State {
    let mut state = attached(size);
    until(&mut state, 1);
    arrives(&mut state, paused());
    state
}

fn check(name: &str, keys: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for size in [(80, 24), (120, 40), (200, 50)] {
        let mut state = console(size);
        press(&mut state, keys);
        let (width, height) = size;
        settings.bind(|| {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen(&state));
        });
    }
}

/// What `D` and `g` attach a debugger to, by its name.
#[test]
fn a_debugger_is_for_the_task_of_an_alert() {
    let check = |alerts: Vec<Alert>, keys: &str, expected: Option<&str>| {
        let mut state = alarmed((80, 24), alerts);
        let effect = press(&mut state, keys);
        let name = match effect {
            Some(Effect::Debug { hold, .. }) => Some(hold.name),
            _ => None,
        };
        assert_eq!(name.as_deref(), expected, "{keys}");
        screen(&state)
    };
    check(vec![deadlock()], "! D g", Some("conn:51022"));
    // The task of the selected link.
    check(vec![deadlock()], "! j j j D g", Some("repl-1"));
    let mut blocked = long_poll();
    let rows = kv().tasks.rows;
    blocked.parties = ["conn:51022", "stats"]
        .map(|name| {
            let row = rows.iter().find(|row| row.name == name).unwrap();
            Party {
                kind: PartyKind::Task,
                id: row.id,
                name: row.name.clone(),
            }
        })
        .to_vec();
    // It is the one that is polled.
    check(vec![blocked.clone()], "! G D g", Some("stats"));
    blocked.parties.clear();
    let shown = check(vec![blocked], "! D", None);
    assert!(shown.contains("this alert has no task"), "{shown}");
}

#[test]
fn paused_tasks_are_marked() {
    check("paused_tasks", "2");
    check("paused_record", "2 Enter");
    check("paused_groups", "2 t j j j j");
    check("paused_debugger", "2 j D");
    check("paused_question", "2 / r e p l Enter p");
}

/// Selects a task and presses keys.
fn effect(name: &str, keys: &str) -> (State, Option<Effect>) {
    let mut state = console((80, 24));
    // A colon would be part of the filter's own language.
    let word = name.rsplit(':').next().unwrap_or(name);
    let letters: Vec<String> = word.chars().map(String::from).collect();
    press(&mut state, &format!("2 / {} Enter", letters.join(" ")));
    let effect = press(&mut state, keys);
    (state, effect)
}

fn hold(state: &State, name: &str) -> PausedTask {
    let mut rows = state.tables.tasks.rows().iter();
    let row = rows.find(|row| row.name == name).expect("a task");
    PausedTask {
        peer: state.link.peer.clone().expect("a process"),
        task: row.id,
        name: name.to_owned(),
    }
}

#[test]
fn p_pauses_what_is_selected_or_open_and_lets_go_on_what_is_paused() {
    for keys in ["p y", "p Y", "p Enter", "Enter p y"] {
        let (state, effect) = effect("repl-1", keys);
        assert_eq!(effect, Some(Effect::Pause(hold(&state, "repl-1"))));
        // Also before the process has answered.
        assert_eq!(state.wanted().holds, [hold(&state, "repl-1")]);
    }
    for name in ["expiry", "conn:51030", "stats"] {
        let (state, effect) = effect(name, "p");
        assert_eq!(effect, Some(Effect::Resume(hold(&state, name))), "{name}");
    }
    for (keys, lldb) in [("D g", false), ("Enter D l", true)] {
        let (state, effect) = effect("expiry", keys);
        let hold = hold(&state, "expiry");
        assert_eq!(effect, Some(Effect::Debug { hold, lldb }));
    }
}

#[test]
fn p_asks_and_any_other_key_leaves_the_task_alone() {
    for keys in [
        "p",
        "p n",
        "p Esc",
        "p ^C",
        "p q",
        "p p",
        "p j",
        "p Space",
        "Enter p x",
    ] {
        let (mut state, effect) = effect("repl-1", keys);
        assert_eq!(effect, None, "{keys}");
        assert_eq!(state.wanted().holds, [], "{keys}");
        assert_eq!(state.overlay.is_some(), keys == "p", "{keys}");
        // Nothing is pending: the next p asks again.
        if keys != "p" {
            press(&mut state, "p");
        }
        let last = screen(&state).lines().last().map(str::to_owned);
        let asked = " Pause repl-1? It is not polled until it is resumed. y pause, Esc no";
        assert_eq!(last.as_deref().map(str::trim_end), Some(asked), "{keys}");
    }
}

#[test]
fn elsewhere_it_is_said_what_the_keys_are_for() {
    let check = |keys: &str, expected: &str| {
        let mut state = console((80, 24));
        assert_eq!(press(&mut state, keys), None, "{keys}");
        let notice = state.notice.clone().unwrap_or_default();
        assert!(notice.contains(expected), "{keys}: {notice}");
    };
    check("p", "(2 lists them); Space freezes");
    check("3 Enter p", "2 lists them");
    check("2 t j j j j p", "l unfolds it");
    check("2 t j j j j D", "l unfolds it");
    let (mut state, _) = effect("expiry", "Enter");
    until(&mut state, 3);
    arrives(&mut state, kv_without("expiry"));
    assert_eq!(press(&mut state, "p"), None);
    assert_eq!(state.notice.as_deref(), Some("the task has ended"));
    let mut state = console((80, 24));
    let shown = state.shown.as_mut().expect("data");
    shown.process.accounting = Accounting::Disarmed;
    assert_eq!(press(&mut state, "2 p"), None);
    let notice = state.notice.clone().unwrap_or_default();
    assert!(notice.starts_with("accounting is off"), "{notice}");
}

#[test]
fn what_this_console_has_paused_is_kept_until_it_is_over() {
    let mut state = console((80, 24));
    let (one, other) = (hold(&state, "expiry"), hold(&state, "stats"));
    let holds = |state: &State| state.wanted().holds;
    let paused = |state: &mut State, hold: &PausedTask, answer| {
        tell(state, Message::Paused(hold.clone(), answer));
    };
    paused(&mut state, &one, Err("kv 4242 is read-only".to_owned()));
    assert_eq!(state.notice.as_deref(), Some("kv 4242 is read-only"));
    assert_eq!(holds(&state), []);
    paused(&mut state, &one, Ok(()));
    paused(&mut state, &one, Ok(()));
    paused(&mut state, &other, Ok(()));
    assert_eq!(holds(&state), [one.clone(), other.clone()]);
    assert_eq!(press(&mut state, "q"), None);
    let last = screen(&state).lines().last().map(str::to_owned);
    let asked = " 2 tasks are paused by this console: r resume and quit, k keep paused, s stay";
    assert_eq!(last.as_deref().map(str::trim_end), Some(asked));
    press(&mut state, "s");
    tell(&mut state, Message::Resumed(one.clone(), Ok(())));
    assert_eq!(state.visit.news.as_deref(), Some("expiry resumed"));
    assert_eq!(holds(&state), std::slice::from_ref(&other));
    // The same number in another process is another task.
    let elsewhere = PausedTask {
        peer: peer(4300),
        ..other.clone()
    };
    let gone = || "the task is now paused by console pid 9".to_owned();
    tell(&mut state, Message::Unheld(elsewhere, gone()));
    assert_eq!(holds(&state), std::slice::from_ref(&other));
    tell(&mut state, Message::Unheld(other, gone()));
    let told = "stats: the task is now paused by console pid 9";
    assert_eq!(state.notice.as_deref(), Some(told));
    assert_eq!(press(&mut state, "q"), Some(Effect::Quit));
}

/// Data in which a task is paused or goes on, after so many seconds.
fn shows(state: &mut State, seconds: u64, hold: &PausedTask, paused: bool) {
    let mut snapshot = kv();
    let mut rows = snapshot.tasks.rows.iter_mut();
    let row = rows.find(|row| row.id == hold.task).expect("a task");
    row.polls = 0;
    row.state = TaskState::Waiting;
    if paused {
        row.state = TaskState::Paused;
        row.pause = Some(PauseRow::default());
    }
    until(state, seconds);
    arrives(state, snapshot);
}

#[test]
fn p_again_is_for_the_same_task_and_counts_from_what_was_asked_for_last() {
    let mut state = attached((80, 24));
    until(&mut state, 1);
    arrives(&mut state, kv());
    press(&mut state, "2 : s o r t Space p o l l s Enter");
    let Some(Effect::Pause(hold)) = press(&mut state, "p y") else {
        panic!("the first row goes on");
    };
    assert_eq!(press(&mut state, "p"), None);
    let told = format!("{}: the process has not answered yet", hold.name);
    assert_eq!(state.notice.as_deref(), Some(&*told));
    // The rows do not show it yet.
    tell(&mut state, Message::Paused(hold.clone(), Ok(())));
    assert_eq!(press(&mut state, "p"), Some(Effect::Resume(hold.clone())));
    assert_eq!(press(&mut state, "p"), None);
    tell(&mut state, Message::Resumed(hold.clone(), Ok(())));
    assert_eq!(press(&mut state, "p y"), Some(Effect::Pause(hold.clone())));
    tell(&mut state, Message::Paused(hold.clone(), Ok(())));
    // They do, and the row has another place.
    shows(&mut state, 10, &hold, true);
    assert_ne!(state.table().selected(), Some(0));
    assert_eq!(press(&mut state, "p"), Some(Effect::Resume(hold.clone())));
    // What is refused is not so.
    let reason = || Err("no".to_owned());
    tell(&mut state, Message::Resumed(hold.clone(), reason()));
    assert_eq!(press(&mut state, "p"), Some(Effect::Resume(hold)));
}

#[test]
fn a_task_that_goes_on_by_another_hand_is_not_asked_about() {
    let mut state = console((80, 24));
    let hold = hold(&state, "expiry");
    let failed = || Err("the debugger has failed: exit status: 1".to_owned());
    tell(&mut state, Message::Paused(hold.clone(), Ok(())));
    tell(&mut state, Message::Debugged(hold.clone(), failed()));
    // Whether it goes on its row says.
    assert_eq!(state.notice, failed().err());
    shows(&mut state, 10, &hold, true);
    assert_eq!(state.wanted().holds, std::slice::from_ref(&hold));
    shows(&mut state, 20, &hold, false);
    assert_eq!(state.wanted().holds, []);
    tell(&mut state, Message::Paused(hold.clone(), Ok(())));
    tell(&mut state, Message::Debugged(hold, Ok(())));
    let told = "the debugger has exited; expiry resumed";
    assert_eq!(state.visit.news.as_deref(), Some(told));
    assert_eq!(press(&mut state, "q"), Some(Effect::Quit));
}
