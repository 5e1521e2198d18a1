//! A recording on the screen: steps, the title, and what works only in a process.

use std::io::Cursor;
use std::time::Duration;

use tokio::sync::mpsc::channel;
use turbowish_model::query::{Query, RECORDED_WINDOW_NS, Rows};
use turbowish_model::snapshot::alert::{Alert, Occurrence};
use turbowish_model::snapshot::{Accounting, Snapshot};
use turbowish_recording::{Compression, Reader, Writer};

use super::alerts::{deadlock, stall};
use super::fixture::{
    AT, SECOND, arrives, attached, key, kv, listed, looking, press, screen, tell, until, with,
};
use super::screens::{LARGE, SMALL, check};
use crate::recording::{RaisedMark, Recording};
use crate::tui::message::{Effect, Message};
use crate::tui::source::Source;
use crate::tui::state::{AlertTime, Leap, Past, Phase, State, Wanted};

/// The server so many seconds before the end, with a deadlock in the last ten seconds.
fn state_before(seconds: u64) -> Snapshot {
    let mut state = match seconds {
        0..10 => with(vec![deadlock()]),
        _ => kv(),
    };
    state.at_unix_ns = AT - seconds * SECOND;
    state.process.uptime_ns -= seconds * SECOND;
    state
}

/// A console that shows the last of 60 states, a second apart.
fn rewound(size: (u16, u16)) -> State {
    let mut state = looking(size);
    let times = (0..60).map(|nth| AT - (59 - nth) * SECOND).collect();
    state.link.past = Some(Past::new(
        "runs/x.tw",
        times,
        RaisedMark::alerts([20, 50]),
        59,
    ));
    assert_eq!(state.phase(), Phase::Connecting);
    arrives(&mut state, state_before(0));
    state
}

/// The number of the state that the console asks for.
fn asked(state: &State) -> Option<usize> {
    state.wanted().past.map(|(nth, _)| nth)
}

/// Presses keys; after each one the state arrives that it asks for.
fn step(state: &mut State, names: &str) {
    for name in names.split(' ') {
        let before = asked(state);
        tell(state, Message::Key(key(name)));
        if let Some(nth) = asked(state).filter(|_| asked(state) != before) {
            arrives(state, state_before(59 - nth as u64));
        }
    }
}

#[test]
fn screens() {
    for size in [SMALL, LARGE] {
        let mut state = rewound(size);
        check("recorded", &state);
        step(&mut state, "{ [ [");
        check("recorded_before", &state);
        step(&mut state, ". !");
        check("recorded_alert", &state);
        let mut state = rewound(size);
        press(&mut state, "?");
        check("recorded_help", &state);
        let mut empty = looking(size);
        empty.link.past = Some(Past::new("x.tw", vec![AT], Vec::new(), 0));
        check("recorded_opening", &empty);
    }
}

#[test]
fn keys_step_and_the_title_says_where() {
    let mut state = rewound(SMALL);
    let mut check = |keys: &str, nth: usize, title: &str| {
        step(&mut state, keys);
        assert_eq!(asked(&state), Some(nth), "{keys}");
        let text = screen(&state);
        let line = text.lines().next().unwrap_or_default();
        assert!(line.ends_with(title), "{keys}: {line}");
    };
    check("[", 58, "x.tw  17:04:30  -1.00 s  (state 59 of 60)");
    check("{", 48, "x.tw  17:04:20  -11.0 s  (state 49 of 60)");
    check("]", 49, "x.tw  17:04:21  -10.0 s  (state 50 of 60)");
    check(")", 50, "x.tw  17:04:22  -9.00 s  (state 51 of 60)");
    check("( (", 20, "x.tw  17:03:52  -39.0 s  (state 21 of 60)");
    check("}", 30, "x.tw  17:04:02  -29.0 s  (state 31 of 60)");
    check(".", 59, "x.tw  17:04:31  -0 s  (state 60 of 60)");
    check("]", 59, "x.tw  17:04:31  -0 s  (state 60 of 60)");
    let notice = state.notice.clone();
    assert_eq!(
        notice.as_deref(),
        Some("this is the last state of the recording")
    );
}

/// A gap is told at the state behind it, whichever way one comes.
#[test]
fn lost_states_are_told() {
    let mut state = rewound(SMALL);
    let mut lost = vec![0; 60];
    (lost[57], lost[56]) = (3, 1);
    state.link.past = state.link.past.take().map(|past| past.with_lost(lost));
    for (key, expected) in [
        ("[", None),
        (
            "[",
            Some("3 states were due before this one, and were not recorded"),
        ),
        (
            "[",
            Some("1 state was due before this one, and was not recorded"),
        ),
        ("[", None),
        ("}", None),
        ("(", None),
    ] {
        step(&mut state, key);
        assert_eq!(state.visit.news.as_deref(), expected, "{key}");
    }
}

/// A state is shown as soon as it comes, although a key was pressed just before.
#[test]
fn a_step_shows_all_of_that_instant() {
    let mut state = rewound(SMALL);
    assert_eq!(state.alerts().count(), 1);
    step(&mut state, "{");
    assert_eq!(state.alerts().count(), 0);
    assert_eq!(
        state.shown.as_ref().map(|shown| shown.at_unix_ns),
        Some(AT - 10 * SECOND)
    );
    // The present of one instant is not kept for another one that was disarmed.
    let mut disarmed = state_before(11);
    disarmed.process.accounting = Accounting::Disarmed;
    disarmed.procs.rows.clear();
    disarmed.procs.total = 0;
    press(&mut state, "[");
    arrives(&mut state, disarmed);
    assert_eq!(state.tables.procs.rows().len(), 0);
}

#[test]
fn a_state_that_cannot_be_read_leaves_the_one_before() {
    let mut state = rewound(SMALL);
    press(&mut state, "{");
    let told = "the chunk at byte 77: it cannot be decompressed";
    tell(&mut state, Message::Unread(told.to_owned()));
    assert_eq!(asked(&state), Some(59));
    assert_eq!(state.notice.as_deref(), Some(told));
    assert!(screen(&state).contains("(state 60 of 60)"));
}

#[test]
fn what_needs_a_process_says_so() {
    for (keys, expected) in [
        ("w", "a recording has the sums of 10 s"),
        ("Space", "a recorded state stands still"),
        ("a", "this is a recording: there is no process"),
        ("2 p", "this is a recording: its tasks cannot be paused"),
        ("2 D", "this is a recording: its tasks cannot be paused"),
    ] {
        let mut state = rewound(SMALL);
        assert_eq!(press(&mut state, keys), None, "{keys}");
        let notice = state.notice.clone().unwrap_or_default();
        assert!(notice.starts_with(expected), "{keys}: {notice}");
        assert!(state.overlay.is_none() && state.pending.frozen_ns.is_none());
    }
}

#[test]
fn it_is_saved_from_the_recording_in_the_recorded_window() {
    let mut state = rewound(SMALL);
    state.window = crate::args::Window(None);
    let effect = press(&mut state, "S");
    let Some(Effect::Fetch { query, .. }) = effect else {
        panic!("{effect:?}");
    };
    assert_eq!(query.window_ns, Some(RECORDED_WINDOW_NS));
    let (_, query) = state.wanted().past.unwrap();
    assert_eq!(query.window_ns, Some(RECORDED_WINDOW_NS));
}

/// Processes are listed for nothing but the list of processes, and one of them is watched only if
/// it is chosen.
#[test]
fn a_process_can_be_chosen_instead() {
    let mut state = rewound(SMALL);
    assert!(!state.wanted().listing && state.wanted().watch.is_none());
    tell(&mut state, Message::Listed(vec![listed(4242, |_| ())]));
    assert_eq!(state.phase(), Phase::Past);
    press(&mut state, "0");
    assert!(state.wanted().listing);
    press(&mut state, "Esc");
    assert_eq!(state.phase(), Phase::Past);
    press(&mut state, "0 Enter");
    let wanted = state.wanted();
    assert!(wanted.watch.is_some() && wanted.past.is_none());
}

/// A recording of these states, in memory.
fn recording(states: &[Snapshot]) -> Recording {
    let mut writer = Writer::begin(Vec::new(), Compression::Deflate).unwrap();
    for state in states {
        writer.state(state, 0).unwrap();
    }
    let bytes = Cursor::new(writer.end().unwrap());
    Recording::of(
        "x.tw".to_owned(),
        Reader::open(Box::new(bytes) as _).unwrap(),
    )
}

/// The source reads the state that is wanted, as it was recorded, and with the rows that are
/// wanted.
#[tokio::test]
async fn the_source_reads_states() {
    let states: Vec<Snapshot> = (0..3).rev().map(state_before).collect();
    let (sender, mut inbox) = channel(64);
    let recorded = Some(recording(&states));
    let mut source = Source::new(sender, Duration::from_secs(1), recorded);
    let query = |window_ns| Query {
        window_ns,
        procs: Some(Rows {
            filter: "snapshot::write".to_owned(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    for nth in [2, 0, 1] {
        source.follow(Wanted {
            past: Some((nth, query(Some(RECORDED_WINDOW_NS)))),
            survey: Some(query(Some(RECORDED_WINDOW_NS))),
            ..Wanted::default()
        });
        let survey = inbox.recv().await.unwrap();
        assert!(matches!(survey.message, Message::Survey(_)));
        let told = inbox.recv().await.unwrap();
        assert!(source.is_current(&told));
        let Message::Snapshot(snapshot) = told.message else {
            panic!("{:?}", told.message);
        };
        assert_eq!(snapshot.at_unix_ns, states[nth].at_unix_ns);
        assert_eq!(snapshot.process, states[nth].process);
        let names: Vec<&str> = snapshot.procs.rows.iter().map(|row| &*row.proc).collect();
        assert_eq!(names, ["kv::snapshot::write"]);
    }
    source.follow(Wanted {
        past: Some((1, query(None))),
        ..Wanted::default()
    });
    let told = inbox.recv().await.unwrap().message;
    assert!(
        matches!(&told, Message::Unread(why) if why.contains("no other window")),
        "{told:?}"
    );
}

/// From a process that is watched, a step back leads to the states that it keeps, and `.` back to
/// the process.
#[test]
fn a_live_process_is_rewound() {
    let kept = || {
        let times = (0..60).map(|nth| AT - (59 - nth) * SECOND).collect();
        Ok(Past::new("REWIND", times, RaisedMark::alerts([20, 50]), 59))
    };
    let check = |name: &str, way: Leap, nth: usize, title: &str| {
        let mut state = attached(SMALL);
        arrives(&mut state, state_before(0));
        let effect = tell(&mut state, Message::Key(key(name)));
        assert_eq!(effect, Some(Effect::Rewind(way)));
        // Until they have arrived, the process is watched on.
        assert!(asked(&state).is_none() && state.wanted().watch.is_some());
        tell(&mut state, Message::Kept(way, kept()));
        assert!(state.wanted().watch.is_none());
        assert_eq!(asked(&state), Some(nth));
        arrives(&mut state, state_before(59 - nth as u64));
        assert_eq!(state.phase(), Phase::Past);
        assert!(screen(&state).contains(title), "{}", screen(&state));
        assert_eq!(state.notice, None);
        tell(&mut state, Message::Key(key("a")));
        let notice = state.notice.as_deref().unwrap_or_default();
        assert!(
            notice.starts_with("this is the past: . returns"),
            "{notice}"
        );
        assert_eq!(tell(&mut state, Message::Key(key("."))), None);
        assert!(asked(&state).is_none() && state.wanted().watch.is_some());
        arrives(&mut state, state_before(0));
        assert_eq!(state.phase(), Phase::Live);
        assert!(screen(&state).contains("LIVE"), "{}", screen(&state));
    };
    check(
        "[",
        Leap::State,
        59,
        "REWIND  17:04:31  -0 s  (state 60 of 60)",
    );
    check(
        "{",
        Leap::TenSeconds,
        49,
        "REWIND  17:04:21  -10.0 s  (state 50 of 60)",
    );
    check(
        "(",
        Leap::Alert,
        50,
        "REWIND  17:04:22  -9.00 s  (state 51 of 60)",
    );

    let mut state = attached(SMALL);
    arrives(&mut state, state_before(0));
    assert_eq!(tell(&mut state, Message::Key(key("]"))), None);
    assert_eq!(state.notice.as_deref(), Some("this is live: [ { ( go back"));
    press(&mut state, "[");
    let reason = "kv 4242 keeps no states".to_owned();
    tell(&mut state, Message::Kept(Leap::State, Err(reason.clone())));
    assert_eq!(state.notice, Some(reason));
    assert_eq!(state.phase(), Phase::Live);
}

/// From an alert, one key leads to the state of its time: from a running process, from another
/// state, and from the table. What is not kept is told, and the process is watched on.
#[test]
fn an_alert_leads_to_its_past() {
    let over = |began_s: u64| Alert {
        ended_unix_ns: Some(AT - (began_s - 1) * SECOND),
        began_unix_ns: AT - began_s * SECOND,
        held_ns: SECOND,
        ..deadlock()
    };
    let kept = |first_s: u64| {
        let times = (0..=first_s).map(|nth| AT - (first_s - nth) * SECOND);
        Ok(Past::new(
            "REWIND",
            times.collect(),
            Vec::new(),
            first_s as usize,
        ))
    };
    let way = Leap::Spell(AlertTime {
        pitfall: deadlock().pitfall,
        began: AT - 30 * SECOND,
        ended: AT - 29 * SECOND,
    });
    for keys in ["! (", "5 ("] {
        let mut state = attached(SMALL);
        arrives(&mut state, with(vec![over(30)]));
        let effect = press(&mut state, keys);
        assert_eq!(effect, Some(Effect::Rewind(way)), "{keys}");
        tell(&mut state, Message::Kept(way, kept(60)));
        assert_eq!(asked(&state), Some(30));
        arrives(&mut state, with(vec![over(30)]));
        // From any other state, too; from its own, the key leads to the alert before.
        press(&mut state, "]");
        assert_eq!(asked(&state), Some(31));
        press(&mut state, "(");
        assert_eq!(asked(&state), Some(30));
        press(&mut state, "(");
        let notice = state.notice.as_deref();
        assert_eq!(notice, Some("no alert begins before this state"));
        assert_eq!(asked(&state), Some(30));
    }
    let mut state = attached(SMALL);
    arrives(&mut state, with(vec![over(30)]));
    press(&mut state, "! (");
    tell(&mut state, Message::Kept(way, kept(20)));
    let told = "the time of this alert is not kept any more: the states begin at 17:04:11";
    assert_eq!(state.notice.as_deref(), Some(told));
    assert!(asked(&state).is_none() && state.wanted().watch.is_some());
    // In other views the key leads to the last alert.
    press(&mut state, "1");
    let effect = press(&mut state, "(");
    assert_eq!(effect, Some(Effect::Rewind(Leap::Alert)));
}

/// From an alert that was active several times, the key leads back from one time to the one before,
/// and the record is that of the state that is shown.
#[test]
fn the_times_of_an_alert_are_stepped_through() {
    let time = |began_s: u64| Occurrence {
        began_unix_ns: AT - began_s * SECOND,
        held_ns: SECOND,
        behind_count: 0,
    };
    // In the state of so many seconds ago, the alert has just ended.
    let state = |now_s: u64| {
        let times = [50, 30, 10].into_iter().filter(|began_s| *began_s > now_s);
        let recent: Vec<Occurrence> = times.map(time).collect();
        let last = recent.last().expect("a time").began_unix_ns;
        let alert = Alert {
            since: last / SECOND,
            began_unix_ns: last,
            ended_unix_ns: Some(last + SECOND),
            last_unix_ns: Some(last + SECOND),
            times: recent.len() as u64,
            held_ns: SECOND,
            recent,
            ..stall(AT)
        };
        let mut state = with(vec![alert]);
        state.at_unix_ns = AT - now_s * SECOND;
        state
    };
    let mut shown = attached(SMALL);
    arrives(&mut shown, state(0));
    press(&mut shown, "! (");
    let times = (0..60).map(|nth| AT - (59 - nth) * SECOND).collect();
    let past = Past::new("REWIND", times, RaisedMark::alerts([10, 30, 50]), 59);
    let way = Leap::Spell(AlertTime {
        pitfall: stall(AT).pitfall,
        began: AT - 10 * SECOND,
        ended: AT - 9 * SECOND,
    });
    tell(&mut shown, Message::Kept(way, Ok(past)));
    let mut seen = Vec::new();
    for _ in 0..3 {
        let nth = asked(&shown).expect("a state");
        arrives(&mut shown, state(59 - nth as u64));
        let alert = shown.record.as_ref().and_then(|open| open.alert());
        let began = alert.map(|alert| (AT - alert.began_unix_ns) / SECOND);
        seen.push((nth, began));
        press(&mut shown, "(");
    }
    assert_eq!(seen, [(50, Some(10)), (30, Some(30)), (10, Some(50))]);
    assert_eq!(asked(&shown), Some(10));
    let notice = shown.notice.as_deref();
    assert_eq!(notice, Some("no alert begins before this state"));
}

/// A snapshot that came just after a key is not shown in place of the state that it has led to.
#[test]
fn what_the_process_sent_last_is_not_shown_as_the_past() {
    let mut state = attached(SMALL);
    arrives(&mut state, state_before(0));
    tell(&mut state, Message::Key(key("[")));
    tell(&mut state, Message::Snapshot(Box::new(state_before(0))));
    let times = vec![AT - 20 * SECOND, AT];
    let past = Past::new("REWIND", times, Vec::new(), 0);
    tell(&mut state, Message::Kept(Leap::State, Ok(past)));
    tell(&mut state, Message::Snapshot(Box::new(state_before(20))));
    until(&mut state, 10);
    let shown = state.shown.as_ref().map(|shown| shown.at_unix_ns);
    assert_eq!(shown, Some(AT - 20 * SECOND));
}

/// The line about keys is not part of what is copied.
#[test]
fn the_last_line_of_an_alert_says_which_key() {
    let mut state = attached((80, 60));
    arrives(&mut state, with(vec![deadlock()]));
    press(&mut state, "!");
    let is_hint = |text: &str| text.contains("( goes to the state of that time");
    assert!(is_hint(&screen(&state)), "{}", screen(&state));
    let Some(Effect::Copy(text)) = press(&mut state, "y") else {
        panic!("it is copied");
    };
    assert!(text.contains("DEADLOCK") && !is_hint(&text), "{text}");
}

/// A state from before the end of a stall, in which it was not noticed yet: what is known of it
/// later is told as that, beside the rows of that state.
#[test]
fn an_alert_may_have_been_noticed_later() {
    for size in [SMALL, LARGE] {
        let mut state = attached(size);
        arrives(&mut state, with(vec![stall(AT)]));
        press(&mut state, "!");
        let began = stall(AT).began_at(AT);
        state.link.past = Some(Past::new("REWIND", vec![began, AT], Vec::new(), 0));
        let mut before = kv();
        before.at_unix_ns = began;
        arrives(&mut state, before);
        check("past_noticed_later", &state);
        let open = state.record.as_ref().expect("a record");
        assert_eq!(open.absent, None);
        let mut before = kv();
        before.at_unix_ns = began - SECOND;
        arrives(&mut state, before);
        assert!(
            screen(&state).contains("it had not begun then"),
            "{}",
            screen(&state)
        );
        // After its end it is over.
        arrives(&mut state, with(vec![stall(AT)]));
        assert!(
            screen(&state).contains(" RESOLVED  42.0 s ago"),
            "{}",
            screen(&state)
        );
    }
}

/// Of a process with very many tasks there is a state now and then.
#[test]
fn it_is_said_if_there_are_few_states() {
    for (apart, told) in [(1, false), (6, true)] {
        let mut state = attached(SMALL);
        arrives(&mut state, state_before(0));
        let times = (0..20)
            .map(|nth| AT - (19 - nth) * apart * SECOND)
            .collect();
        let past = Past::new("REWIND", times, Vec::new(), 19);
        tell(&mut state, Message::Key(key("[")));
        tell(&mut state, Message::Kept(Leap::State, Ok(past)));
        let line = "6.00 s from one state to the next: each takes the process long";
        assert_eq!(screen(&state).contains(line), told, "{}", screen(&state));
    }
}
