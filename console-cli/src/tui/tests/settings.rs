//! Settings kept between consoles, and the effect of an invalid file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::fixture::{SECOND, attached, listed, looking, press, screen, tell};
use super::screens::SMALL;
use crate::theme::Theme;
use crate::tui::message::Message;
use crate::tui::settings::Settings;
use crate::tui::state::{State, Window};
use crate::tui::store::{self, Store};

/// A folder, and the file in it.
fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/turbowish/console.json");
    (folder, path)
}

/// A console that begins with the file, has these keys pressed, and keeps what changed.
fn session(path: &Path, keys: &str) -> State {
    let mut state = attached(SMALL);
    let mut store = Store::open(Some(path.to_owned()), &mut state);
    store.begin(&state);
    press(&mut state, keys);
    store.keep(&state).unwrap();
    state
}

#[test]
fn a_console_is_as_the_last_one_was_left() {
    let (_folder, path) = file();
    session(&path, "c Space Esc s l o n g Enter w M 2 I 5 c j Space Esc");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("settings", text);
    });
    let mut state = session(&path, "");
    assert_eq!(state.window, Window(Some(60 * SECOND)));
    assert!(screen(&state).contains(" of 1m00s (kept)  LIVE"));
    assert!(!state.look.mouse);
    assert_eq!(state.table().order().key, "longest");
    assert_eq!(state.table().picked().unwrap()[0], "calls");
    press(&mut state, "2");
    assert!(state.table().order().invert);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn filters_and_selections_are_not_kept() {
    let (_folder, path) = file();
    session(&path, "j / d b Enter t x 2 Space");
    assert!(!path.exists());
}

#[test]
fn what_the_command_line_says_is_for_one_console() {
    let (_folder, path) = file();
    session(&path, "w");
    let mut state = attached(SMALL);
    let mut store = Store::open(Some(path.clone()), &mut state);
    state.window = Window(None);
    state.look.theme = Some(Theme::Light);
    store.begin(&state);
    press(&mut state, "I");
    store.keep(&state).unwrap();
    let kept = Settings::parse(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(kept.window, Some(Window(Some(60 * SECOND))));
    assert_eq!(kept.theme, None);
    assert!(session(&path, "").table().order().invert);
}

#[test]
fn a_bad_file_is_named_and_left_alone_until_something_changes() {
    let check = |text: &str, expected: &str| {
        let (_folder, path) = file();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let state = session(&path, "");
        let told = state.notice.unwrap_or_default();
        let begin = format!("{} is ignored: ", path.display());
        assert_eq!(told.strip_prefix(&begin), Some(expected), "{told}");
        assert_eq!(
            state.window,
            Window(Some(10 * SECOND)),
            "nothing of it is used"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        session(&path, "w");
        assert!(session(&path, "").notice.is_none());
    };
    check("{", "EOF while parsing an object at line 1 column 1");
    check("{}", "it has no version");
    check(
        r#"{"version":1,"window":60}"#,
        "window has an invalid value",
    );
    check(
        r#"{"version":1,"window":"1s","theme":"blue"}"#,
        "theme has an invalid value",
    );
    check(
        r#"{"version":1,"window":"1s","tables":{"tasks":{"columns":[7]}}}"#,
        "tables.tasks has an invalid value",
    );
    check(
        r#"{"version":1,"window":"1s","tables":{"procs":{"sort":"hold_p98"}}}"#,
        "no field hold_p98 in procs; did you mean hold_p99?",
    );
}

#[test]
fn what_cannot_be_read_or_written_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    // A folder stands where the file should.
    let path = folder.path().to_owned();
    let mut state = attached(SMALL);
    let mut store = Store::open(Some(path.clone()), &mut state);
    store.begin(&state);
    let told = state.notice.take().unwrap_or_default();
    assert!(
        told.ends_with("is ignored: it is not a settings file"),
        "{told}"
    );
    press(&mut state, "w");
    let fault = store.keep(&state).unwrap_err();
    let begin = format!("settings are not saved in {}: ", path.display());
    assert!(fault.starts_with(&begin), "{fault}");
    assert_eq!(store.keep(&state), Ok(()));
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let mut state = looking(SMALL);
    let mut store = Store::open(None, &mut state);
    store.begin(&state);
    press(&mut state, "M");
    assert_eq!(store.keep(&state), Ok(()));
}

#[test]
fn the_file_is_in_the_folder_for_states() {
    let check = |variables: &[(&str, &str)], expected: Option<&str>| {
        let found = store::path(|name| {
            let mut known = variables.iter();
            let found = known.find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        assert_eq!(found.as_deref(), expected.map(Path::new));
    };
    let home = ("HOME", "/users/ann");
    check(
        &[home, ("XDG_STATE_HOME", "/s")],
        Some("/s/turbowish/console.json"),
    );
    let own = Some("/users/ann/.local/state/turbowish/console.json");
    check(&[home], own);
    check(&[home, ("XDG_STATE_HOME", "")], own);
    check(&[home, ("XDG_STATE_HOME", "relative")], own);
    check(&[], None);
}

#[test]
fn another_process_has_the_same_columns_and_order() {
    let mut state = attached(SMALL);
    press(&mut state, "c Space Esc > / d b Enter 0");
    let both = vec![listed(4242, |_| ()), listed(4300, |_| ())];
    tell(&mut state, Message::Listed(both));
    let before = Settings::of(&state);
    press(&mut state, "j Enter");
    assert_eq!(Settings::of(&state), before);
    assert_eq!(state.table().filter(), "");
}

#[test]
fn a_bad_file_on_the_screen() {
    let mut state = attached(SMALL);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    fs::write(&path, "[]").unwrap();
    Store::open(Some(path), &mut state);
    assert!(screen(&state).contains("c is ignored: it has no version"));
}

#[test]
fn what_another_console_has_chosen_meanwhile_stays() {
    let (_folder, path) = file();
    let open = || {
        let mut state = attached(SMALL);
        let mut store = Store::open(Some(path.clone()), &mut state);
        store.begin(&state);
        (state, store)
    };
    let kept = || Settings::parse(&fs::read_to_string(&path).unwrap()).unwrap();
    let (mut one, mut its) = open();
    let (mut other, mut other_its) = open();
    press(&mut one, "w");
    its.keep(&one).unwrap();
    press(&mut other, "M");
    other_its.keep(&other).unwrap();
    let window = Some(Window(Some(60 * SECOND)));
    assert_eq!((kept().window, kept().mouse), (window, Some(false)));
    // What was taken back is not what it was before it was chosen.
    press(&mut other, "M");
    other_its.keep(&other).unwrap();
    assert_eq!((kept().window, kept().mouse), (window, Some(true)));
    // What has become newer or unreadable is not touched.
    for text in ["{", r#"{"version":9}"#] {
        fs::write(&path, text).unwrap();
        press(&mut one, "w");
        let told = its.keep(&one).unwrap_err();
        assert!(told.starts_with("settings are not saved in "), "{told}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn the_file_of_a_newer_console_is_never_written_over() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = r#"{"version":2,"window":"1s"}"#;
    fs::write(&path, text).unwrap();
    let mut state = attached(SMALL);
    let mut store = Store::open(Some(path.clone()), &mut state);
    store.begin(&state);
    let (name, why) = (path.display(), "version 2, and this turbowish knows 1");
    let told = format!("{name} is ignored: {why}");
    assert_eq!(state.notice, Some(told));
    press(&mut state, "w");
    let told = format!("settings are not saved in {name}: {why}");
    assert_eq!(store.keep(&state), Err(told));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
