//! Off, paused, on: by the environment, by the program, and who wins.
#![cfg(feature = "server")]

mod program;

use program::{Program, terminate};

#[test]
fn off_starts_nothing() {
    let program = Program::example("ways-to-end", &["switch"]).env("TURBOWISH", "off");
    let sockets = program.folder.path().join("sockets");
    let left = program.run();
    assert!(left.status.success());
    assert!(left.report.is_none());
    assert_eq!(left.stderr, "");
    assert!(!sockets.exists());
}

#[test]
fn off_has_no_thread_and_no_socket() {
    let program = Program::example("ways-to-end", &["graceful"]).env("TURBOWISH", "off");
    program.run_until_ready(|pid, folder| {
        assert_eq!(
            threads(pid)
                .iter()
                .filter(|name| name.starts_with("turbowish"))
                .count(),
            0
        );
        assert!(!folder.join("sockets").exists());
        terminate(pid);
    });
}

#[test]
fn on_has_a_monitor_and_a_socket_that_goes_away() {
    let program = Program::example("ways-to-end", &["graceful"]);
    let sockets = program.folder.path().join("sockets");
    let left = program.run_until_ready(|pid, _| {
        // The monitor binds in its own time; a client would look again as well.
        let socket = sockets.join(format!("{pid}.sock"));
        while !socket.exists() {
            std::thread::yield_now();
        }
        assert!(
            threads(pid)
                .iter()
                .any(|name| name == "turbowish-monit" || name == "turbowish-monitor")
        );
        terminate(pid);
    });
    assert!(left.status.success());
    assert_eq!(
        std::fs::read_dir(sockets)
            .expect("the folder stays")
            .count(),
        0
    );
}

#[test]
fn paused_counts_from_resume_on_and_not_while_paused_again() {
    let left = Program::example("ways-to-end", &["switch"])
        .env("TURBOWISH", "disarmed")
        .run();
    let proc = left.proc("ways_to_end::work");
    assert_eq!(
        (&proc["calls"], &proc["polls"], &proc["ready"]),
        (&2.into(), &4.into(), &2.into())
    );
    assert_eq!(proc["live"], 0);
}

#[test]
fn on_counts_from_the_start() {
    let left = Program::example("ways-to-end", &["switch"]).run();
    let proc = left.proc("ways_to_end::work");
    assert_eq!((&proc["calls"], &proc["ready"]), (&3.into(), &3.into()));
}

#[test]
fn a_guard_that_is_dropped_early_ends_accounting() {
    let left = Program::example("ways-to-end", &["early"]).run();
    assert!(left.status.success());
    assert_eq!(left.stdout, "accounted false\naccounted false\n");
    assert_eq!(left.proc("ways_to_end::work")["calls"], 1);
}

#[test]
fn a_word_that_is_none_is_named_and_ignored() {
    let left = Program::example("ways-to-end", &["return"])
        .env("TURBOWISH", "perhaps")
        .run();
    assert!(
        left.stderr
            .starts_with("turbowish: TURBOWISH=perhaps is not on, disarmed or off"),
        "{}",
        left.stderr
    );
    assert_eq!(left.proc("ways_to_end::work")["calls"], 1);
}

fn threads(pid: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("Linux");
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .map(|name| name.trim_end().to_owned())
        .collect()
}
