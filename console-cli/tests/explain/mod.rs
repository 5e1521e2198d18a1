//! `turbowish explain`: which page is printed, and how.

use std::io::Read;

use rustix::termios::{Winsize, tcsetwinsize};

use crate::monitor::Host;
use crate::terminal;

const LOST_WAKER: &str = include_str!("../../../docs/alerts/lost-waker.md");
const JSON: &str = concat!(
    include_str!("../../../docs/json.md"),
    "\n",
    include_str!("../../../docs/tables.md")
);

#[test]
fn a_pipe_gets_the_page_as_it_is() {
    let host = Host::empty();
    for args in [
        &["explain", "lost-waker"][..],
        &["explain", "Lost_Waker"],
        &["explain", "lost", "waker"],
        &["explain", "6"],
    ] {
        assert_eq!(host.stdout(args), LOST_WAKER, "{args:?}");
    }
    assert_eq!(host.stdout(&["explain", "json"]), JSON);
    let limits = host.stdout(&["explain", "limits"]);
    assert!(limits.starts_with("# Thresholds\n"), "{limits}");
    let list = host.stdout(&["explain"]);
    assert!(list.contains("\n 6  lost-waker            alert     A task waits,"));
    assert_eq!(list.matches("  warning   ").count(), 20, "{list}");
}

#[test]
fn an_unknown_name_is_wrong_usage() {
    let host = Host::empty();
    let expected =
        "turbowish: no alert lostwaker; did you mean lost-waker? turbowish explain lists all\n";
    let told = host.failure(&["explain", "lostwaker"]);
    assert_eq!(told, (Some(2), expected.to_owned()));
    let told = host.failure(&["explain", "32"]);
    let expected = "turbowish: no alert 32; turbowish explain lists all\n";
    assert_eq!(told, (Some(2), expected.to_owned()));
}

/// What a terminal of so many columns shows of a page.
fn shown(columns: u16, variables: &[(&str, &str)]) -> String {
    let (mut ours, theirs) = terminal();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size).unwrap();
    let host = Host::empty();
    let mut command = host.command();
    command
        .args(["explain", "lost-waker"])
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(theirs.try_clone().unwrap())
        .stdout(theirs);
    let mut child = command.spawn().unwrap();
    // It keeps the program's end of the terminal open.
    drop(command);
    let mut page = Vec::new();
    // A terminal without another end is an error behind its last byte.
    let _ = ours.read_to_end(&mut page);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    String::from_utf8(page).unwrap().replace("\r\n", "\n")
}

#[test]
fn a_terminal_gets_wrapped_text() {
    let page = shown(60, &[]);
    assert!(
        page.starts_with("\u{1b}[1mlost waker\u{1b}[22m\n\n"),
        "{page}"
    );
    let plain = shown(60, &[("NO_COLOR", "1")]);
    assert_eq!(
        page.replace("\u{1b}[1m", "").replace("\u{1b}[22m", ""),
        plain
    );
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert!(plain.contains("\n\nHow to fix it\n\n"), "{plain}");
    let prose = plain.lines().filter(|line| !line.starts_with("  "));
    let longest = prose.map(|line| line.chars().count()).max();
    assert!(longest.is_some_and(|longest| (50..=60).contains(&longest)));
    assert_eq!(shown(60, &[("TERM", "dumb")]), plain);
}
