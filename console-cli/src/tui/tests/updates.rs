//! Messages in, state out.

use turbowish_model::snapshot::ProcRow;
use turbowish_model::snapshot::minute::{CELLS, LastMinute, Series};
use turbowish_model::snapshot::{Accounting, Snapshot};

use super::fixture::{
    AT, SECOND, arrives, attached, kv, kv_without, listed, looking, now, peer, press, screen, tell,
    until,
};
use crate::tui::message::{Effect, Message};
use crate::tui::state::{Overlay, PeerState, Phase, Question, State, View, Window};

/// The first column of the selected row, and the line of the table that it stands on.
fn selection(state: &State) -> (String, usize) {
    let screen = screen(state);
    let line = screen
        .lines()
        .skip(7)
        .position(|line| line.starts_with('>'))
        .expect("a selected row");
    let row = screen.lines().nth(7 + line).unwrap();
    (row[3..].split_whitespace().next().unwrap().to_owned(), line)
}

fn check_selection(keys: &str, expected: (&str, usize)) {
    let mut state = attached((80, 24));
    press(&mut state, keys);
    assert_eq!(
        selection(&state),
        (expected.0.to_owned(), expected.1),
        "after {keys:?}"
    );
}

#[test]
fn keys_move_the_selection() {
    check_selection("", ("kv::conn::read_frame", 0));
    check_selection("k", ("kv::conn::read_frame", 0));
    check_selection("j", ("kv::conn::write_reply", 1));
    check_selection("Dn Dn Up", ("kv::conn::write_reply", 1));
    check_selection("G", ("kv::snapshot::report", 13));
    check_selection("G k", ("kv::snapshot::tick", 12));
    check_selection("G g", ("kv::conn::read_frame", 0));
    check_selection("PgDn", ("kv::wal::flush", 13));
    check_selection("PgDn PgDn", ("kv::snapshot::report", 13));
    check_selection("^D", ("kv::expiry::sweep", 7));
    check_selection("^D ^U", ("kv::conn::read_frame", 0));
    check_selection("End Hm", ("kv::conn::read_frame", 0));
}

#[test]
fn keys_sort_at_once() {
    check_selection("I", ("kv::snapshot::report", 0));
    check_selection("<", ("kv::conn::read_frame", 0));
    check_selection(">", ("kv::conn::read_frame", 0));
    check_selection("> > >", ("kv::snapshot::write", 0));
    check_selection("s l o n g Enter", ("kv::snapshot::run", 0));
    check_selection("s Enter", ("kv::snapshot::report", 0));
    check_selection("s Esc", ("kv::conn::read_frame", 0));
    check_selection("< I", ("kv::wal::flush", 0));
}

#[test]
fn names_sort_as_people_count() {
    let mut state = attached((80, 24));
    press(&mut state, "s p r o c Enter");
    until(&mut state, 3);
    let mut snapshot = kv();
    for (row, name) in snapshot.procs.rows.iter_mut().zip(["a-10", "a-2", "a-3"]) {
        row.proc = name.to_owned();
    }
    arrives(&mut state, snapshot);
    for (keys, expected) in [("g", "a-2"), ("j", "a-3"), ("j", "a-10")] {
        press(&mut state, keys);
        assert_eq!(selection(&state).0, expected);
    }
}

#[test]
fn the_query_follows_view_window_order_and_filter() {
    let mut state = attached((80, 24));
    let asked = |state: &State| state.wanted().watch.map(|(_, query)| query).unwrap();
    let procs = |state: &State| asked(state).procs.unwrap();
    assert_eq!(asked(&state).window_ns, Some(10 * SECOND));
    assert_eq!(
        (procs(&state).sort.as_str(), procs(&state).limit),
        ("run", 5_000)
    );
    press(&mut state, "w");
    assert_eq!(asked(&state).window_ns, Some(60 * SECOND));
    press(&mut state, "w");
    assert_eq!(asked(&state).window_ns, None);
    press(&mut state, "w w");
    assert_eq!(asked(&state).window_ns, Some(10 * SECOND));
    press(&mut state, "I / d b Enter");
    assert_eq!(
        (procs(&state).invert, procs(&state).filter.as_str()),
        (true, "db")
    );
    press(&mut state, "Tab");
    // A table in the background asks for fewer.
    assert_eq!(procs(&state).limit, 200);
    assert_eq!(asked(&state).tasks.unwrap().limit, 5_000);
    press(&mut state, "S-Tab Esc");
    assert_eq!(procs(&state).filter, "");
}

#[test]
fn a_mistaken_filter_keeps_the_last_good_one() {
    let mut state = attached((80, 24));
    let rows = |state: &State| state.table().counts().held;
    for (keys, filter) in [
        ("/ d b", "db"),
        ("Space l o n g e s t", "db longest"),
        ("Space", "db longest "),
        // From here on a number is missing, then its unit; then it is another column's name.
        (">", "db longest "),
        ("Space 5", "db longest "),
        ("m s", "db longest > 5ms"),
        ("Space | |", "db longest > 5ms "),
        ("Space h o l d _ p 9 8 >", "db longest > 5ms || hold_p98"),
    ] {
        press(&mut state, keys);
        assert_eq!(state.table().filter(), filter, "{keys}");
        let Some(Overlay::Prompt { typed, .. }) = &state.overlay else {
            panic!("{:?}", state.overlay)
        };
        assert_eq!(typed.fault.is_none(), typed.text == filter, "{keys}");
    }
    let before = rows(&state);
    press(&mut state, "1 Enter");
    assert!(
        matches!(state.overlay, Some(Overlay::Prompt { .. })),
        "a mistake is not kept"
    );
    assert_eq!(rows(&state), before);
    press(&mut state, "Esc");
    assert_eq!((state.table().filter(), &state.overlay), ("", &None));
}

/// What is typed, letter by letter, and what stands in the line then; `|` is the cursor.
#[test]
fn the_filter_line_is_edited_as_lines_are() {
    let check = |keys: &str, expected: &str| {
        let mut state = attached((80, 24));
        press(&mut state, "/ d b Enter / ^U g e t Enter /");
        press(&mut state, keys);
        let Some(Overlay::Prompt { typed, .. }) = &state.overlay else {
            panic!("{keys}: {:?}", state.overlay)
        };
        let (before, behind) = typed.parts();
        assert_eq!(format!("{before}|{behind}"), expected, "{keys}");
        assert_eq!(state.table().filter(), typed.text, "{keys}");
    };
    check("", "get|");
    check("x", "getx|");
    check("Lt", "ge|t");
    check("Lt Lt x", "gx|et");
    check("Lt Bksp", "g|t");
    check("Hm", "|get");
    check("Hm - End s", "-gets|");
    check("Hm Bksp Lt", "|get");
    check("Lt Lt Rt Rt Rt", "get|");
    check("Space a Space b ^W", "get a |");
    check("Space a Space b ^W ^W", "get |");
    check("Space a Space Space ^W Lt", "get| ");
    check("Space d b Lt ^W", "get |b");
    check("^W", "|");
    check("Lt ^U", "|");
    check("ä Lt Bksp", "ge|ä");
    // Filters that were kept before; below them what is being typed.
    check("Up", "get|");
    check("Up Up", "db|");
    check("Up Up Up", "db|");
    check("x Up Up Dn", "get|");
    check("x Up Up Dn Dn", "getx|");
    check("Up Up Lt x Up", "db|");
}

#[test]
fn the_selection_follows_its_row() {
    let mut state = attached((80, 24));
    press(&mut state, "j j j");
    assert_eq!(selection(&state), ("kv::db::get".to_owned(), 3));
    let other = || {
        let mut snapshot = kv();
        snapshot.procs.rows[3].running_ns = 9 * SECOND;
        snapshot.procs.rows.push(ProcRow {
            proc: "kv::new".to_owned(),
            running_ns: 8 * SECOND,
            ..ProcRow::default()
        });
        snapshot
    };
    // Rows keep their order while the user moves; new ones come last.
    until(&mut state, 1);
    arrives(&mut state, other());
    assert_eq!(selection(&state), ("kv::db::get".to_owned(), 3));
    press(&mut state, "G");
    assert_eq!(selection(&state).0, "kv::new");
    press(&mut state, "g j j j");
    assert_eq!(selection(&state).0, "kv::db::get");
    until(&mut state, 4);
    arrives(&mut state, other());
    assert_eq!(
        selection(&state).0,
        "kv::db::get",
        "it is the second row by now"
    );
    press(&mut state, "k");
    assert_eq!(selection(&state).0, "kv::conn::read_frame");
}

/// A sort key, and the way back from a record, put the rows in order at once.
#[test]
fn rows_keep_their_order_only_while_the_cursor_moves() {
    let other = || {
        let mut snapshot = kv();
        snapshot.procs.rows[3].running_ns = 9 * SECOND;
        snapshot
    };
    let place = |keys: &str| {
        let mut state = attached((80, 24));
        press(&mut state, "j j j");
        until(&mut state, 1);
        arrives(&mut state, other());
        assert_eq!(selection(&state), ("kv::db::get".to_owned(), 3));
        press(&mut state, keys);
        selection(&state)
    };
    assert_eq!(place(""), ("kv::db::get".to_owned(), 3));
    assert_eq!(place("I I"), ("kv::db::get".to_owned(), 1));
    assert_eq!(place("Enter Esc"), ("kv::db::get".to_owned(), 1));
    // Other keys do not hold the order.
    let mut state = attached((80, 24));
    press(&mut state, "j j j");
    until(&mut state, 4);
    press(&mut state, "w");
    until(&mut state, 5);
    arrives(&mut state, other());
    assert_eq!(selection(&state), ("kv::db::get".to_owned(), 1));
}

#[test]
fn groups_keep_their_order_while_the_user_moves() {
    let mut state = attached((80, 24));
    press(&mut state, "t j");
    let (name, at) = selection(&state);
    let other = || {
        let mut snapshot = kv();
        snapshot.procs.rows[5].running_ns = 9 * SECOND;
        snapshot
    };
    until(&mut state, 1);
    arrives(&mut state, other());
    assert_eq!(selection(&state), (name.clone(), at));
    until(&mut state, 4);
    arrives(&mut state, other());
    assert_eq!(selection(&state).0, name);
    assert_ne!(selection(&state).1, at);
}

#[test]
fn a_frozen_minute_does_not_move() {
    let mut state = attached((200, 50));
    let trend = |state: &State| {
        let screen = screen(state);
        let line = screen.lines().find(|line| line.starts_with(" last 60 s"));
        line.expect("a trend").to_owned()
    };
    let before = trend(&state);
    press(&mut state, "Space");
    for second in [20, 40, 80] {
        until(&mut state, second);
        let mut snapshot = kv();
        snapshot.process.uptime_ns += second * SECOND;
        snapshot.tasks_by_state.waiting += 1_000;
        arrives(&mut state, snapshot);
        assert_eq!(trend(&state), before);
    }
    press(&mut state, "Space");
    assert_ne!(trend(&state), before);
}

/// The process keeps the numbers of one window; those of the window on the screen are others.
#[test]
fn the_last_minute_is_that_of_the_process_whatever_the_window() {
    let mut state = attached((200, 50));
    let mut snapshot = kv();
    snapshot.process.uptime_ns += 3 * SECOND;
    snapshot.minute = LastMinute::of_one(&snapshot);
    // In a longer window there is more of everything.
    snapshot.tasks_by_state.waiting += 1_000;
    snapshot.window_ns = 60 * SECOND;
    let told = snapshot.minute.clone();
    let uptime_ns = snapshot.process.uptime_ns;
    arrives(&mut state, snapshot);
    let trends = &state.visit.trends;
    for series in Series::ALL {
        let last = |minute: &LastMinute| minute.of(series, uptime_ns, 1);
        assert_eq!(last(trends), last(&told), "{series:?}");
    }
    let screen = screen(&state);
    let line = screen.lines().find(|line| line.starts_with(" last 60 s"));
    let tasks = format!("tasks {}##", "?".repeat(CELLS - 2));
    assert!(line.expect("a trend").contains(&tasks), "{screen}");
}

#[test]
fn an_untouched_selection_stays_on_the_first_row() {
    let mut state = attached((80, 24));
    let mut snapshot = kv();
    snapshot.procs.rows[3].running_ns = 30 * SECOND;
    arrives(&mut state, snapshot);
    assert_eq!(selection(&state), ("kv::db::get".to_owned(), 0));
}

/// Whether it has ended is not known, where rows are left out or the filter may have let it go.
#[test]
fn a_selected_row_that_was_not_sent_is_not_said_to_have_ended() {
    for (keys, unsent) in [("2 j j j", 7), ("2 / c o n n Enter j", 0)] {
        let mut state = attached((80, 24));
        press(&mut state, keys);
        let (selected, _) = selection(&state);
        until(&mut state, 1);
        let mut some = kv_without(&selected);
        some.tasks.total += unsent;
        some.tasks.matched += unsent;
        arrives(&mut state, some);
        assert_eq!(selection(&state).0, selected);
        let shown = screen(&state);
        assert!(shown.contains("(not sent)") && !shown.contains("(ended)"));
        // It may well be there to be paused.
        let asked = press(&mut state, "p Enter");
        assert!(matches!(asked, Some(Effect::Pause(_))), "{asked:?}");
    }
}

#[test]
fn a_selected_row_that_ended_stays_until_one_leaves_it() {
    let mut state = attached((80, 24));
    press(&mut state, "2 j j j");
    assert_eq!(selection(&state).0, "conn:51022");
    until(&mut state, 1);
    arrives(&mut state, kv_without("conn:51022"));
    assert_eq!(selection(&state).0, "conn:51022");
    assert!(screen(&state).contains("(ended)"));
    arrives(&mut state, kv_without("conn:51022"));
    assert_eq!(
        selection(&state).0,
        "conn:51022",
        "it stays over more than one snapshot"
    );
    press(&mut state, "k");
    assert!(!screen(&state).contains("(ended)"));
    assert!(!screen(&state).contains("51022  "), "{}", screen(&state));
}

#[test]
fn equal_rows_never_swap() {
    let mut state = attached((80, 24));
    let mut snapshot = kv();
    for row in &mut snapshot.procs.rows {
        row.running_ns = SECOND;
    }
    arrives(&mut state, snapshot.clone());
    let before = screen(&state);
    snapshot.procs.rows.reverse();
    arrives(&mut state, snapshot);
    assert_eq!(screen(&state), before);
}

#[test]
fn rows_wait_while_keys_are_pressed() {
    let mut state = attached((80, 24));
    let mut later = kv();
    later.at_unix_ns = AT + SECOND;
    until(&mut state, 1);
    press(&mut state, "j");
    arrives(&mut state, later);
    assert!(screen(&state).contains("17:04:31"), "held");
    let mut soon = now(1);
    soon.mono_ns += 299_000_000;
    tell(&mut state, Message::Tick(soon));
    assert!(screen(&state).contains("17:04:31"), "held");
    soon.mono_ns += 1_000_000;
    tell(&mut state, Message::Tick(soon));
    assert!(screen(&state).contains("17:04:32"), "shown");
}

#[test]
fn a_record_tells_the_time_of_its_longest_poll_by_its_own_rows() {
    let mut state = attached((120, 40));
    press(&mut state, "/ s n a p s h o t : : w r i t e Enter Enter");
    assert!(screen(&state).contains("at 17:04:29"), "the table's rows");
    arrives(&mut state, kv());
    assert!(screen(&state).contains("at 17:04:29"), "its own");
}

#[test]
fn a_frozen_display_stands_and_its_tables_still_answer() {
    let mut state = attached((80, 24));
    press(&mut state, "Space");
    let mut later = kv();
    later.procs.rows.truncate(2);
    later.at_unix_ns = AT + 5 * SECOND;
    until(&mut state, 5);
    arrives(&mut state, later);
    assert!(screen(&state).contains("FROZEN 17:04:31, 5 s ago"));
    press(&mut state, "/ d b Enter");
    assert_eq!(state.table().counts().held, 3);
    press(&mut state, "Esc");
    assert_eq!(state.table().counts().held, 17);
    press(&mut state, "Space");
    assert_eq!(state.table().counts().held, 2);
    assert!(screen(&state).contains("LIVE  17:04:36"));
}

#[test]
fn data_get_old_and_fresh_again() {
    let check = |seconds, expected| {
        let mut state = attached((80, 24));
        until(&mut state, seconds);
        assert_eq!(state.phase(), expected, "{seconds} s");
        arrives(&mut state, kv());
        assert_eq!(state.phase(), Phase::Live);
    };
    check(3, Phase::Live);
    check(4, Phase::Stale { ns: 4 * SECOND });
    check(90, Phase::Stale { ns: 90 * SECOND });
}

/// With very many tasks a process sends less often than it is asked to: that is said, and what is
/// on the screen is not stale.
#[test]
fn a_process_that_takes_its_time_is_not_silent() {
    let check = |pace_ns, seconds, phase, badge: &str| {
        let mut state = attached((80, 24));
        tell(&mut state, Message::Pace(pace_ns));
        arrives(&mut state, kv());
        until(&mut state, seconds);
        assert_eq!(state.phase(), phase, "{pace_ns} ns, {seconds} s");
        let screen = screen(&state);
        let title = screen.lines().next().unwrap_or_default();
        assert!(title.contains(badge), "{title}");
    };
    check(0, 1, Phase::Live, "LIVE  17:");
    check(SECOND, 3, Phase::Live, "LIVE  17:");
    check(SECOND + 499_000_000, 3, Phase::Live, "LIVE  17:");
    check(SECOND + 500_000_000, 3, Phase::Live, "LIVE every 2 s");
    check(8 * SECOND, 10, Phase::Live, "LIVE every 8 s");
    check(
        8 * SECOND,
        11,
        Phase::Stale { ns: 11 * SECOND },
        "STALE 11 s",
    );
}

#[test]
fn the_list_of_processes_is_filtered() {
    let mut state = attached((80, 24));
    let other = |pid, name: &str, command: &str| {
        listed(pid, |snapshot| {
            snapshot.process.name = name.to_owned();
            snapshot.process.command = command.to_owned();
        })
    };
    let all = vec![
        other(4242, "kv", "kv --port 7379"),
        other(5120, "gateway", "gateway --config eu.toml"),
        other(6001, "gateway", "gateway --config us.toml"),
    ];
    tell(&mut state, Message::Listed(all));
    let names = |state: &State| {
        let screen = screen(state);
        let lines = screen.lines().skip(3).take(5);
        let pids = lines.filter_map(|line| {
            line.split_whitespace()
                .find(|word| word.parse::<u32>().is_ok())
        });
        pids.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    press(&mut state, "0");
    assert_eq!(names(&state), "4242 5120 6001");
    press(&mut state, "/ g a t e");
    assert!(
        screen(&state).contains(" filter: gate"),
        "{}",
        screen(&state)
    );
    assert!(screen(&state).contains("3 of your processes run TurboWish  2 of them match"));
    assert_eq!(names(&state), "5120 6001");
    // Letters are text, and Enter keeps it.
    press(&mut state, "Enter j");
    press(&mut state, "/ q Bksp Enter");
    assert_eq!(names(&state), "5120 6001");
    press(&mut state, "Esc");
    assert_eq!(names(&state), "4242 5120 6001");
    press(&mut state, "/ x y z");
    assert_eq!(names(&state), "");
    press(&mut state, "Enter Enter");
    assert_eq!(state.link.peer, Some(peer(4242)));
    press(&mut state, "Esc / 6 0 0 1 Enter Enter");
    assert_eq!(state.link.peer, Some(peer(6001)));
}

#[test]
fn a_process_that_ended_is_followed_by_its_command_line() {
    let mut state = attached((80, 24));
    let ended = || Message::Silent {
        tries: 1,
        fate: PeerState::Ended { unix_ns: AT },
    };
    tell(&mut state, ended());
    assert!(state.wanted().listing && state.wanted().watch.is_none());
    until(&mut state, 2);
    tell(
        &mut state,
        Message::Silent {
            tries: 2,
            fate: PeerState::Ended {
                unix_ns: AT + SECOND,
            },
        },
    );
    assert_eq!(
        state.phase(),
        Phase::Gone { ns: 2 * SECOND },
        "the first notice counts"
    );
    let other = |pid| {
        listed(pid, |snapshot: &mut Snapshot| {
            snapshot.process.command = "gate".to_owned()
        })
    };
    tell(
        &mut state,
        Message::Listed(vec![other(7), listed(4242, |_| ())]),
    );
    assert!(
        matches!(state.phase(), Phase::Gone { .. }),
        "another program is not followed"
    );
    tell(
        &mut state,
        Message::Listed(vec![other(7), listed(8, |_| ())]),
    );
    assert_eq!(state.link.peer, Some(peer(8)));
    assert_eq!(state.phase(), Phase::Connecting);
    assert!(state.wanted().watch.is_some());
}

#[test]
fn processes_are_attached_to_listed_and_switched() {
    let mut state = looking((80, 24));
    assert!(state.wanted().listing);
    tell(
        &mut state,
        Message::Listed(vec![listed(4242, |_| ()), listed(4377, |_| ())]),
    );
    assert!(
        matches!(state.overlay, Some(Overlay::Picker(_))),
        "several are listed"
    );
    assert_eq!(press(&mut state, "Esc"), None);
    assert!(
        matches!(state.overlay, Some(Overlay::Picker(_))),
        "there is nothing below"
    );
    press(&mut state, "j Enter");
    assert_eq!(
        (&state.link.peer, &state.overlay),
        (&Some(peer(4377)), &None)
    );
    arrives(&mut state, kv());
    press(&mut state, "2 / c o n n Enter 0 k Enter");
    assert_eq!(state.link.peer, Some(peer(4242)));
    assert_eq!(
        (state.view, state.table().filter()),
        (View::Tasks, ""),
        "a filter belongs to the process for which it was typed"
    );
    assert_eq!(
        state.table().counts().held,
        0,
        "rows of another process are not"
    );
    tell(&mut state, Message::Listed(vec![listed(4377, |_| ())]));
    assert_eq!(
        state.link.peer,
        Some(peer(4242)),
        "a process watched is never left by itself"
    );
}

#[test]
fn a_switch_shows_at_once_and_a_refusal_is_told() {
    let mut state = attached((80, 24));
    tell(&mut state, Message::Switched(Ok(Accounting::Disarmed)));
    assert!(screen(&state).contains("DISARMED since 17:04:31"));
    press(&mut state, "a");
    assert_eq!(
        state.overlay,
        Some(Overlay::Question(Question::Switch { arm: true }))
    );
    press(&mut state, "n");
    tell(
        &mut state,
        Message::Switched(Err("kv is read-only".to_owned())),
    );
    assert!(screen(&state).contains("! kv is read-only"));
    press(&mut state, "j");
    assert!(!screen(&state).contains("read-only"));
}

#[test]
fn what_one_made_of_a_process_is_found_again() {
    let mut state = attached((80, 24));
    let both = || vec![listed(4242, |_| ()), listed(4300, |_| ())];
    press(&mut state, "2 / e x p i r y Enter Enter w 0");
    tell(&mut state, Message::Listed(both()));
    press(&mut state, "j Enter");
    arrives(&mut state, kv());
    assert_eq!((state.view, state.table().filter()), (View::Tasks, ""));
    assert!(state.record.is_none());
    press(&mut state, "1 0");
    tell(&mut state, Message::Listed(both()));
    press(&mut state, "k Enter");
    assert_eq!(
        (state.view, state.table().filter()),
        (View::Tasks, "expiry")
    );
    let open = state.record.as_ref().map(|open| open.name());
    assert_eq!(open.as_deref(), Some("expiry"));
    assert_eq!(state.window, Window(Some(60 * SECOND)));
    press(&mut state, "Esc");
    assert!(state.record.is_none());
}

#[test]
fn the_record_of_a_proc_survives_a_restart() {
    let check = |keys: &str, expected: Option<&str>| {
        let mut state = attached((80, 24));
        press(&mut state, keys);
        let unix_ns = AT;
        tell(
            &mut state,
            Message::Silent {
                tries: 1,
                fate: PeerState::Ended { unix_ns },
            },
        );
        tell(&mut state, Message::Listed(vec![listed(4300, |_| ())]));
        assert_eq!(
            state.link.peer.as_ref().and_then(|peer| peer.pid),
            Some(4300)
        );
        let open = state.record.as_ref().map(|open| open.name());
        assert_eq!(open.as_deref(), expected, "{keys}");
    };
    check("1 j Enter", Some("kv::conn::write_reply"));
    check("2 j Enter", None);
    check("1", None);
}
