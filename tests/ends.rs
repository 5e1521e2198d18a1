//! The report is there however the program ends, once, and the program ends as it would have.
#![cfg(all(unix, feature = "enabled"))]

mod program;

use std::os::unix::process::ExitStatusExt;

use program::{Left, Program, SIGINT, SIGTERM, send, terminate};

fn check_report(left: &Left, calls: u64) {
    assert_eq!(
        left.proc("ways_to_end::work")["calls"],
        calls,
        "{}",
        left.stderr
    );
    assert_eq!(
        left.stderr.matches("in polls").count(),
        2,
        "one report, in text: {}",
        left.stderr
    );
    assert!(left.stderr.contains("ways_to_end::work"), "{}", left.stderr);
}

#[test]
fn when_the_guard_drops() {
    let left = Program::example("ways-to-end", &["return"]).run();
    assert!(left.status.success());
    check_report(&left, 1);
}

#[test]
fn when_a_panic_unwinds_main() {
    let left = Program::example("ways-to-end", &["panic"]).run();
    assert_eq!(left.status.code(), Some(101));
    check_report(&left, 1);
}

#[test]
fn at_process_exit() {
    for (way, code) in [("exit", 3), ("exit-worker", 4)] {
        let left = Program::example("ways-to-end", &[way]).run();
        assert_eq!(left.status.code(), Some(code));
        check_report(&left, 1);
    }
}

#[test]
fn at_sigterm_which_still_ends_the_program() {
    let left = Program::example("ways-to-end", &["wait"]).run_until_ready(|pid, _| terminate(pid));
    assert_eq!(left.status.signal(), Some(SIGTERM), "{}", left.stderr);
    check_report(&left, 1);
    assert_eq!(left.proc("ways_to_end::forever")["live"], 1);
}

#[test]
fn at_sigterm_a_program_that_handles_it_ends_its_own_way() {
    let left =
        Program::example("ways-to-end", &["graceful"]).run_until_ready(|pid, _| terminate(pid));
    assert_eq!(left.status.code(), Some(0), "{}", left.stderr);
    assert!(left.stdout.ends_with("bye\n"));
    check_report(&left, 1);
}

#[test]
fn a_file_that_is_no_report_is_left_alone() {
    let program = Program::example("ways-to-end", &["return"]);
    let path = program.folder.path().join("precious.txt");
    std::fs::write(&path, "precious").expect("written");
    let left = program
        .env("TURBOWISH_REPORT", path.to_str().expect("text"))
        .run();
    assert!(left.status.success());
    assert!(left.stderr.contains("is not a report"), "{}", left.stderr);
    assert!(
        left.stderr.contains("ways_to_end::work"),
        "the text is printed all the same: {}",
        left.stderr
    );
}

#[test]
fn an_earlier_report_is_replaced() {
    let program = Program::example("ways-to-end", &["return"]);
    let path = program.folder.path().join("report.json");
    std::fs::write(&path, "{\"schema\":1,\"process\":{\"name\":\"old\"}}").expect("written");
    check_report(&program.run(), 1);
}

#[test]
fn at_sigterm_although_the_program_listens_for_ctrl_c() {
    let left =
        Program::example("ways-to-end", &["listens"]).run_until_ready(|pid, _| terminate(pid));
    assert_eq!(left.status.signal(), Some(SIGTERM), "{}", left.stderr);
    check_report(&left, 1);
}

#[test]
fn at_ctrl_c_a_program_that_listens_for_it_ends_its_own_way() {
    let left =
        Program::example("ways-to-end", &["listens"]).run_until_ready(|pid, _| send(SIGINT, pid));
    assert_eq!(left.status.code(), Some(0), "{}", left.stderr);
    assert!(left.stdout.ends_with("bye\n"));
    check_report(&left, 1);
}
