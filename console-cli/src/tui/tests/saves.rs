//! Saving of tables: the request, the file, and reading it back.

use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::{ProcRow, TaskRow};

use super::alerts::deadlock;
use super::fixture::{alarmed, arrives, attached, kv, looking, press, screen, tell, until, with};
use super::screens::SMALL;
use crate::report_file::Saved;
use crate::tui::message::{Effect, File, Message};
use crate::tui::state::State;

fn notice(state: &State) -> String {
    screen(state).lines().nth(1).unwrap_or_default().to_owned()
}

fn written(effect: Option<Effect>) -> File {
    match effect {
        Some(Effect::Write(file)) => *file,
        other => panic!("{other:?}"),
    }
}

fn read(file: &File) -> Saved {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.json");
    std::fs::write(&path, &file.text).unwrap();
    Saved::read(path.to_str().unwrap(), None).unwrap()
}

#[test]
fn a_process_that_answers_is_asked_for_all_of_it() {
    let mut state = attached(SMALL);
    press(&mut state, "/ d b Enter");
    let Some(Effect::Fetch { query, file }) = press(&mut state, "S") else {
        panic!("it asks");
    };
    assert_eq!(file, None);
    assert_eq!(query.window_ns, Some(10_000_000_000));
    // The filter of the screen does not apply to the file.
    let all = [&query.procs, &query.tasks, &query.resources, &query.awaits];
    for rows in all {
        let rows = rows.as_ref().unwrap();
        assert_eq!((rows.filter.as_str(), rows.limit), ("", 0));
    }
    let answer = Ok(Box::new(with(vec![deadlock()])));
    let file = written(tell(&mut state, Message::Fetched(answer, None)));
    assert_eq!(
        (file.name.as_str(), file.numbered),
        ("kv-4242-170431.json", true)
    );
    let saved = read(&file);
    assert!(saved.has::<ProcRow>() && saved.has::<TaskRow>() && saved.has::<Alert>());
    assert_eq!(saved.snapshot.procs.rows.len(), kv().procs.rows.len());
    assert_eq!(saved.snapshot.alerts.rows.len(), 1);
    tell(
        &mut state,
        Message::Written(Ok("saved kv-4242-170431.json".into())),
    );
    assert_eq!(notice(&state), " saved kv-4242-170431.json");
}

/// A message goes away by itself: it covers the alert line.
#[test]
fn a_message_goes_away() {
    let mut state = attached(SMALL);
    arrives(&mut state, with(vec![deadlock()]));
    let alerts = notice(&state);
    let mut check = |message: Message, seen_s: u64, gone_s: u64| {
        tell(&mut state, message);
        assert_ne!(notice(&state), alerts);
        until(&mut state, seen_s);
        assert_ne!(notice(&state), alerts);
        until(&mut state, gone_s);
        arrives(&mut state, with(vec![deadlock()]));
        assert_eq!(notice(&state), alerts);
    };
    check(Message::Written(Ok("saved a.json".into())), 4, 5);
    check(Message::Written(Err("not saved: full".into())), 14, 15);
    // One that comes meanwhile is there for its whole time.
    tell(&mut state, Message::Written(Ok("saved a.json".into())));
    until(&mut state, 19);
    tell(&mut state, Message::Written(Ok("saved b.json".into())));
    until(&mut state, 23);
    assert_eq!(notice(&state), " saved b.json");
}

#[test]
fn an_answer_that_does_not_come_is_told() {
    let mut state = attached(SMALL);
    press(&mut state, "S");
    assert_eq!(notice(&state), "! requesting the whole snapshot");
    let answer = Err("kv 4242 is gone".to_owned());
    assert_eq!(tell(&mut state, Message::Fetched(answer, None)), None);
    assert_eq!(notice(&state), "! not saved: kv 4242 is gone");
}

#[test]
fn what_stands_on_the_screen_is_saved_where_nothing_answers() {
    let check = |begin: &dyn Fn(&mut State)| {
        let mut state = alarmed(SMALL, vec![deadlock()]);
        begin(&mut state);
        let file = written(press(&mut state, "S"));
        let saved = read(&file);
        assert_eq!(saved.snapshot.procs.rows.len(), kv().procs.rows.len());
        assert_eq!(saved.snapshot.alerts.rows.len(), 1);
        assert_eq!(saved.snapshot.at_unix_ns, kv().at_unix_ns);
        assert_eq!(file.name, "kv-4242-170431.json");
    };
    check(&|state| drop(press(state, "Space")));
    check(&|state| until(state, 60));
    check(&|state| drop(press(state, "Space 2 Enter")));
}

#[test]
fn a_name_can_be_given_and_those_of_processes_are_made_good() {
    let mut state = attached(SMALL);
    let keys = ": s a v e Space a . j s o n Enter";
    let Some(Effect::Fetch { file, .. }) = press(&mut state, keys) else {
        panic!("it asks");
    };
    let mut odd = kv();
    odd.process.name = "../a b".to_owned();
    let answer = || Ok(Box::new(odd.clone()));
    let named = written(tell(&mut state, Message::Fetched(answer(), file)));
    assert_eq!((named.name.as_str(), named.numbered), ("a.json", false));
    let own = written(tell(&mut state, Message::Fetched(answer(), None)));
    assert_eq!(own.name, "_a_b-4242-170431.json");
    assert_eq!(press(&mut looking(SMALL), "S"), None);
}
