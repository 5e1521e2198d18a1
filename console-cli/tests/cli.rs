//! The program as its users run it, against scripted processes behind real sockets.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

#[cfg(feature = "demo")]
mod demo;
mod explain;
mod hostile;
mod monitor;
#[cfg(feature = "demo")]
mod pauses;
mod recorded;
#[cfg(feature = "demo")]
mod recordings;
mod scripts;
mod stalled;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
#[cfg(feature = "demo")]
use std::path::Path;
use std::process::Stdio;

use monitor::{Host, gate, stall, stuck};
#[cfg(feature = "demo")]
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use turbowish_model::snapshot::CounterRow;
use turbowish_wire::PROTOCOL;

/// The text, and that it is what was agreed on.
fn check(name: &str, args: &[&str]) -> String {
    let text = Host::with_kv().stdout(args);
    insta::assert_snapshot!(name, text);
    assert!(!text.contains('\u{1b}'), "no colour where no terminal is");
    text
}

#[test]
fn tables() {
    check("procs", &["query", "procs"]);
    check("tasks", &["query", "tasks", "4242"]);
    check("awaits", &["query", "awaits", "--window", "start"]);
}

#[test]
fn who_delayed_whom() {
    check("delays", &["query", "delays"]);
    check(
        "delays_csv",
        &["query", "delays", "-o", "csv", "-f", "behind:snapshot"],
    );
    let record = Host::with_kv().stdout(&["query", "proc", "serve"]);
    let line = "  ready for 1.20 s in all, 1.10 s of it behind kv::snapshot::write";
    assert!(record.lines().any(|seen| seen == line), "{record}");
}

#[test]
fn counters_and_gauges() {
    check("counters", &["query", "counters"]);
    check(
        "counters_csv",
        &["query", "counters", "-o", "csv", "-f", "proc:conn"],
    );
    let json = check("counters_json", &["query", "counters", "-o", "json"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["counters"][2]["value"], -120);
    let host = Host::with_kv();
    for (filter, expected) in [
        ("value<0", vec!["drift"]),
        ("value<=50", vec!["drift", "clients"]),
        ("value>=50", vec!["commands", "bytes sent", "clients"]),
        ("kind:gauge proc:accept", vec!["clients"]),
        ("rate>100k", vec!["bytes sent"]),
    ] {
        let args = [
            "query", "counters", "-o", "csv", "-c", "counter", "-f", filter,
        ];
        let text = host.stdout(&args);
        let mut names: Vec<&str> = text.lines().skip(1).collect();
        names.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(names, expected, "{filter}");
    }
}

#[test]
fn the_record_of_a_proc_has_its_numbers() {
    let host = Host::with_kv();
    let check = |proc: &str, expected: &[&str]| {
        let text = host.stdout(&["query", "proc", proc]);
        let lines = text.lines().skip_while(|line| *line != "  COUNTERS");
        let own = lines.skip(1).take_while(|line| !line.is_empty());
        assert_eq!(own.collect::<Vec<_>>(), expected, "{text}");
    };
    check("kv::conn::serve", &["  commands 82.4k/s 61.9M"]);
    check("kv::db::get", &[]);
}

/// What a program calls its tasks, resources and numbers is its own affair, and no terminal obeys
/// it.
#[test]
fn names_cannot_do_anything() {
    const NASTY: &str = "a\u{1b}[2J\u{7}\r\nkv::forged  99.9\u{202e}\u{9b}31m";
    let mut snapshot = stuck();
    for row in &mut snapshot.tasks.rows {
        row.name = NASTY.to_owned();
        row.attributes = vec![(NASTY.to_owned(), NASTY.to_owned()); 2];
        row.waits_on
            .iter_mut()
            .for_each(|claim| claim.resource = NASTY.to_owned());
    }
    for row in &mut snapshot.resources.rows {
        row.name = NASTY.to_owned();
    }
    for row in &mut snapshot.alerts.rows {
        row.title = NASTY.to_owned();
        row.parties
            .iter_mut()
            .for_each(|party| party.name = NASTY.to_owned());
    }
    snapshot.process.name = NASTY.to_owned();
    let row = CounterRow {
        name: NASTY.repeat(100),
        proc: Some(NASTY.to_owned()),
        ..CounterRow::default()
    };
    snapshot.counters.rows = vec![row.clone(), row, CounterRow::default()];
    let host = Host::empty();
    host.start(snapshot, PROTOCOL);
    for args in [
        &["query", "tasks", "-c", "task,on,attr.user,holds"][..],
        &["query", "resources"],
        &["query", "counters"],
        &["query", "alerts"],
        &["query", "alert"],
        &["query", "task", "4242", NASTY],
        &["query", "resource", "4242", NASTY],
        &["tree"],
        &["top"],
        &["ps"],
    ] {
        let text = host.stdout(args);
        let bad = text.lines().find(|line| {
            line.starts_with("kv::forged")
                || line.chars().any(|c| c.is_control() || c == '\u{202e}')
        });
        assert_eq!(bad, None, "{args:?}");
        assert!(!text.is_empty(), "{args:?}");
    }
    let json = host.stdout(&["query", "counters", "-o", "json"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["counters"][1]["proc"], NASTY);
}

/// The text of a process in a deadlock.
fn check_stuck(name: &str, args: &[&str]) -> String {
    let host = Host::empty();
    host.start(stuck(), PROTOCOL);
    let text = host.stdout(args);
    insta::assert_snapshot!(name, text);
    text
}

#[test]
fn resources_and_who_waits_for_them() {
    check_stuck("resources", &["query", "resources"]);
    check_stuck(
        "resources_csv",
        &["query", "resources", "4242", "-o", "csv"],
    );
    check_stuck(
        "tasks_chosen",
        &[
            "query",
            "tasks",
            "--filter",
            "on:db,repl",
            "--columns",
            "task,on,holds,woken_by,wakes,parent,site,attr.peer",
        ],
    );
}

#[test]
fn a_record_says_what_one_thing_is_tied_to() {
    let text = check_stuck("task", &["query", "task", "4242", "conn:51022"]);
    // As the page of the screens draws it.
    assert_eq!(
        text.lines().next(),
        Some(
            "conn:51022  waiting 41.4 s on mpsc repl (full 64/64)   src/conn.rs:88:9-33  self.repl.send(cmd)"
        )
    );
    check_stuck("task_join", &["query", "task", "snapshot"]);
    check_stuck("resource_channel", &["query", "resource", "4242", "repl"]);
    check_stuck("resource_mutex", &["query", "resource", "mutex db"]);
    let json = check_stuck("task_json", &["query", "task", "conn:51022", "-o", "json"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["tasks"].as_array().map(Vec::len), Some(1));
    assert_eq!(value["tasks"][0]["holds"][0]["resource"], "mutex db");
}

#[test]
fn alerts_are_a_table_and_each_is_told_in_full() {
    check_stuck("alerts", &["query", "alerts"]);
    check_stuck(
        "alerts_csv",
        &[
            "query",
            "alerts",
            "-o",
            "csv",
            "-f",
            "severity:alert",
            "-c",
            "alert,for,who,at",
        ],
    );
    let worst = check_stuck("alert", &["query", "alert"]);
    for args in [
        &["query", "alert", "4242"][..],
        &["query", "alert", "worst"],
        &["query", "alert", "deadlock"],
        &["query", "alert", "4242", "repl-1"],
        &["query", "alert", "4242", "mpsc repl"],
    ] {
        let host = Host::empty();
        host.start(stuck(), PROTOCOL);
        assert_eq!(host.stdout(args), worst, "{args:?}");
    }
    check_stuck("alert_futurelock", &["query", "alert", "futurelock"]);
    check_stuck("alert_over", &["query", "alert", "4242", "long-poll"]);
    let json = check_stuck("alert_json", &["query", "alert", "Long_Poll", "-o", "json"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["alerts"].as_array().map(Vec::len), Some(1));
    // Two of them have it.
    let host = Host::empty();
    host.start(stuck(), PROTOCOL);
    let both = host.stdout(&["query", "alert", "db"]);
    assert_eq!(both.matches("MORE  ").count(), 2, "{both}");
    let plain = host.stdout(&["top", "--limit", "1"]);
    let told = "2 alerts, 1 warning; deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in a cycle (turbowish explain deadlock)";
    assert_eq!(plain.lines().nth(3), Some(told));
}

#[test]
fn an_alert_that_is_over_is_told_with_its_end() {
    let host = Host::empty();
    let mut snapshot = stuck();
    let past = stall(snapshot.at_unix_ns);
    snapshot.alerts.rows = vec![past];
    (snapshot.alerts.total, snapshot.alerts.matched) = (1, 1);
    snapshot.alerts_forgotten = 4;
    host.start(snapshot, PROTOCOL);
    for (name, args) in [
        ("alerts_past", &["query", "alerts"][..]),
        ("alert_past", &["query", "alert"]),
        ("alerts_past_csv", &["query", "alerts", "-o", "csv"]),
        ("alerts_past_json", &["query", "alerts", "-o", "json"]),
    ] {
        insta::assert_snapshot!(name, host.stdout(args));
    }
    let plain = host.stdout(&["top", "--limit", "1"]);
    let told = "no alerts, 1 resolved; resolved 42.0 s ago: blocked worker w1 1.50 s: kv::compact::run in one poll (turbowish explain blocked-worker)";
    assert_eq!(plain.lines().nth(3), Some(told));
    // It may be older than the check.
    assert_eq!(host.stdout(&["check", "--no-alerts"]), "no alerts\n");
}

#[test]
fn of_many_waiters_the_first_are_printed() {
    let host = Host::empty();
    let mut snapshot = stuck();
    let mut rows = snapshot.resources.rows.iter_mut();
    let db = rows.find(|row| row.name == "mutex db").unwrap();
    let waiter = db.waiters[2].clone();
    db.waiters.resize(30, waiter);
    db.waiter_count = 30;
    host.start(snapshot, PROTOCOL);
    for (limit, printed, last) in [
        (&[][..], 20, Some("    and 10 more (--limit 0 shows all)")),
        (
            &["-n", "29"],
            29,
            Some("    and 1 more (--limit 0 shows all)"),
        ),
        (&["--limit", "30"], 30, None),
        (&["--limit", "0"], 30, None),
    ] {
        let text = host.stdout(&[&["query", "resource", "db"], limit].concat());
        let waiters = text
            .lines()
            .skip_while(|line| !line.contains("waiters, in order (30)"));
        let waiters: Vec<&str> = waiters
            .skip(1)
            .take_while(|l| l.starts_with("    "))
            .collect();
        assert_eq!(
            waiters.len(),
            printed + usize::from(last.is_some()),
            "{text}"
        );
        let told = waiters
            .last()
            .copied()
            .filter(|line| line.contains(" more"));
        assert_eq!(told, last, "{text}");
    }
    let json = host.stdout(&["query", "resource", "db", "-o", "json", "--limit", "1"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    let waiters = value["resources"][0]["waiters"].as_array();
    assert_eq!(waiters.map(Vec::len), Some(30), "{json}");
}

#[test]
fn no_alert_is_no_error_but_a_name_that_none_has_is() {
    let host = Host::with_kv();
    assert_eq!(host.stdout(&["query", "alert"]), "no alerts\n");
    let none = "turbowish: no alert deadlock in kv 4242; there are no alerts\n";
    assert_eq!(
        host.failure(&["query", "alert", "deadlock"]),
        (Some(1), none.to_owned())
    );
    let host = Host::empty();
    host.start(stuck(), PROTOCOL);
    let others =
        "turbowish: no alert starvation in kv 4242; there are: deadlock, futurelock, long poll\n";
    assert_eq!(
        host.failure(&["query", "alert", "starvation"]),
        (Some(1), others.to_owned())
    );
    // The name of a process alone is the process.
    assert_eq!(
        host.stdout(&["query", "alert", "kv"]),
        host.stdout(&["query", "alert", "4242"])
    );
    let csv = "turbowish: an alert in full has no columns: turbowish query alerts --format csv\n";
    assert_eq!(
        host.failure(&["query", "alert", "-o", "csv"]),
        (Some(2), csv.to_owned())
    );
}

#[test]
fn a_record_of_nothing_says_what_there_is() {
    let host = Host::empty();
    host.start(stuck(), PROTOCOL);
    for (args, code, expected) in [
        (
            &["query", "task"][..],
            2,
            "which task? turbowish query task PID NAME; turbowish query tasks lists them",
        ),
        (
            &["query", "task", "4242", "nobody"],
            1,
            "no task nobody in kv 4242; turbowish query tasks lists them",
        ),
        (
            &["query", "task", "conn:5102"],
            1,
            "no task conn:5102 in kv 4242; did you mean conn:51022?",
        ),
        (
            &["query", "resource", "4242", "a\"b"],
            1,
            "no resource a\"b in kv 4242; turbowish query resources lists them",
        ),
        (
            &["query", "resource", "db", "-o", "csv"],
            2,
            "a record has no columns: turbowish query resources --format csv",
        ),
        (
            &["query", "tasks", "4242", "expiry"],
            2,
            "a table takes no name (expiry); one row: turbowish query task PID NAME, or resource, proc, alert",
        ),
    ] {
        let expected = format!("turbowish: {expected}\n");
        assert_eq!(host.failure(args), (Some(code), expected), "{args:?}");
    }
}

#[test]
fn a_tree_shows_what_each_branch_waits_for() {
    let text = check_stuck("tree", &["tree", "4242", "--filter", "on:db -conn"]);
    for line in [
        "|- kv::snapshot::write  src/snapshot.rs:97:18-37  41.2 s  self.db.lock()  mutex db, held by conn:51022",
        "`- kv::snapshot::tick  src/snapshot.rs:121:9-27  41.6 s  tick.tick()  timer",
        "`- kv::expiry::sweep  src/expiry.rs:33:22-36  41.4 s  db.lock()  mutex db, held by conn:51022",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn a_table_has_the_columns_asked_for() {
    let text = check(
        "procs_chosen",
        &[
            "query",
            "procs",
            "4242",
            "--filter",
            "hold_p99>5ms",
            "--percentiles",
            "50,99",
            "--columns",
            "proc,run,calls,hold,longest",
        ],
    );
    // As the page of the screens draws it.
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("PROC                   RUN% CALL/s POLp50 POLp99 LONGEST")
    );
    assert_eq!(
        lines.next(),
        Some("kv::snapshot::write     8.3   1.60 17.1ms 38.4ms 38.4ms")
    );
}

/// No process is asked.
#[test]
fn a_table_lists_its_columns() {
    let host = Host::empty();
    let first = |args: &[&str]| {
        let text = host.stdout(args);
        let mut lines = text.lines().map(str::to_owned);
        (
            lines.next().unwrap_or_default(),
            lines.next().unwrap_or_default(),
        )
    };
    let proc = "  proc       path of the function";
    for (args, title, column) in [
        (
            &["query", "procs", "--columns"][..],
            "Columns of procs (sorted by run):",
            proc,
        ),
        (
            &["query", "proc", "-c"],
            "Columns of procs (sorted by run):",
            proc,
        ),
        (
            &["query", "resources", "4242", "--columns"],
            "Columns of resources (sorted by worst):",
            "  resource   kind and name, or kind and the place where it was created",
        ),
    ] {
        assert_eq!(
            first(args),
            (title.to_owned(), column.to_owned()),
            "{args:?}"
        );
    }
}

#[test]
fn rows_are_sorted_and_limited() {
    check(
        "procs_sorted",
        &["query", "procs", "-s", "hold_p99", "-n", "2", "-p", "99.9"],
    );
    check(
        "procs_reversed",
        &[
            "query",
            "procs",
            "--sort",
            "proc",
            "--reverse",
            "--columns",
            "proc,live",
        ],
    );
    check(
        "tasks_filtered",
        &["query", "tasks", "--filter", "state:waiting since>1s -repl"],
    );
    check(
        "tasks_not",
        &["query", "tasks", "--filter", "-conn", "--columns", "task"],
    );
}

#[test]
fn top_without_a_terminal_is_one_plain_snapshot() {
    let text = check("plain", &["top", "--limit", "5"]);
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("kv pid 4242, up 12m31s, armed, window 10 s, 2026-11-20 17:04:31")
    );
    assert_eq!(
        Host::with_kv().stdout(&[]),
        Host::with_kv().stdout(&["top"])
    );
}

#[test]
fn a_narrow_page_has_fewer_columns_and_whole_names() {
    let output = Host::with_kv()
        .command()
        .arg("top")
        .env("COLUMNS", "72")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    insta::assert_snapshot!("plain_narrow", text);
}

#[test]
fn json_is_one_document_of_integers() {
    let text = check(
        "procs_json",
        &["query", "procs", "-o", "json", "-f", "snapshot::write"],
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], 1);
    assert_eq!(value["process"]["pid"], 4242);
    assert_eq!(value["procs"][0]["running_ns"], 830_000_000);
    assert_eq!(value["procs"][0]["poll_hold"]["p99.9"], 38_400_000);
    assert_eq!(value["counts"]["procs"]["matched"], 1);
    let text = check(
        "tasks_json",
        &[
            "query",
            "tasks",
            "--format",
            "json",
            "--filter",
            "\"conn:51022\"",
        ],
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    let stack = value["tasks"][0]["stack"].as_array().unwrap();
    assert_eq!(stack.last().unwrap()["expr"], "self.repl.send(cmd)");
    assert_eq!(stack[0]["proc"], "kv::conn::serve");
    check(
        "awaits_json",
        &[
            "query",
            "awaits",
            "--format",
            "json",
            "--columns",
            "at,total",
        ],
    );
}

#[test]
fn csv_has_a_header_and_integers() {
    let text = check(
        "procs_csv",
        &[
            "query",
            "procs",
            "--format",
            "csv",
            "-p",
            "99",
            "-c",
            "proc,run,hold_p99",
        ],
    );
    let widths: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
    check("tasks_csv", &["query", "tasks", "--format", "csv"]);
}

#[test]
fn ps_lists_every_process() {
    let host = Host::with_kv();
    host.start(gate(), PROTOCOL);
    insta::assert_snapshot!("ps", host.stdout(&["ps"]));
}

#[test]
fn ps_shows_a_process_that_it_cannot_talk_to() {
    let host = Host::with_kv();
    host.start(gate(), PROTOCOL + 1);
    let output = host.run(&["ps"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("ps_other", String::from_utf8(output.stdout).unwrap());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("update turbowish-cli"), "{stderr}");
}

#[test]
fn a_process_whose_accounting_is_off_says_so() {
    let host = Host::empty();
    host.start(gate(), PROTOCOL);
    let output = host.run(&["query", "procs"]);
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("turbowish: accounting is off in gate 5120"),
        "{stderr}"
    );
    insta::assert_snapshot!("plain_disarmed", host.stdout(&["top"]));
}

#[test]
fn errors_have_a_code_and_say_what_to_do() {
    let nothing = Host::empty();
    let one = Host::with_kv();
    let two = Host::with_kv();
    two.start(gate(), PROTOCOL);
    let other = Host::empty();
    other.start(gate(), PROTOCOL + 1);
    let start_one =
        "start one with turbowish::init() in main and the feature `server`, or try: turbowish demo";
    for (host, args, code, expected) in [
        (
            &one,
            &["query", "procs", "--sort", "hold_p98"][..],
            2,
            "no field hold_p98 in procs; did you mean hold_p99?",
        ),
        (
            &one,
            &["query", "procs", "-f", "hold_p98>1ms"],
            2,
            "no field hold_p98 in procs; did you mean hold_p99?",
        ),
        (
            &one,
            &["query", "procs", "-c", "lognest"],
            2,
            "no field lognest in procs; did you mean longest?",
        ),
        (
            &one,
            &["query", "procs", "-f", "run_p99>5"],
            2,
            "filter of procs: run_p99 is a duration and needs a unit: ns us ms s m h",
        ),
        (
            &one,
            &["top", "--filter", "(get"],
            2,
            "filter of procs: unmatched (",
        ),
        (
            &one,
            &["query", "procs", "kv:http"],
            2,
            "kv:http is not a process ID, name, socket path or host:port; turbowish ps lists the processes",
        ),
        (
            &one,
            &["query", "procs", "4243"],
            3,
            "no process 4243 of yours runs TurboWish; running: kv 4242",
        ),
        (
            &two,
            &["query", "procs", "4243"],
            3,
            "no process 4243 of yours runs TurboWish; running: kv 4242, gate 5120",
        ),
        (
            &two,
            &["query", "procs"],
            3,
            "2 of your processes run TurboWish; choose one: kv 4242, gate 5120",
        ),
        (
            &two,
            &["top"],
            3,
            "2 of your processes run TurboWish; choose one: kv 4242, gate 5120",
        ),
        (
            &nothing,
            &["query", "procs"],
            3,
            &format!("none of your processes runs TurboWish; {start_one}"),
        ),
        (
            &nothing,
            &["top", "7"],
            3,
            &format!("no process 7 of yours runs TurboWish; {start_one}"),
        ),
        (
            &nothing,
            &["ps"],
            0,
            &format!("none of your processes runs TurboWish; {start_one}"),
        ),
        (
            &other,
            &["top", "5120"],
            3,
            "gate 5120 speaks protocol 2, this console 1: update turbowish-cli",
        ),
    ] {
        let expected = format!("turbowish: {expected}\n");
        assert_eq!(host.failure(args), (Some(code), expected), "{args:?}");
    }
}

#[test]
fn a_title_names_a_column() {
    let host = Host::with_kv();
    let by = |columns, sort| host.stdout(&["query", "procs", "-c", columns, "--sort", sort]);
    assert_eq!(by("PROC,WALp99", "WALp99"), by("proc,wall_p99", "wall_p99"));
    let text = "turbowish: no field zzz in procs; turbowish query procs --columns lists them\n";
    let expected = (Some(2), text.to_owned());
    assert_eq!(host.failure(&["query", "procs", "--sort", "zzz"]), expected);
}

#[test]
fn one_word_alone_is_a_process_or_an_alert() {
    let two = Host::with_kv();
    two.start(gate(), PROTOCOL);
    assert_eq!(two.stdout(&["query", "alert", "kv"]), "no alerts\n");
    let text = "turbowish: 2 of your processes run TurboWish; choose one: kv 4242, gate 5120\n";
    let expected = (Some(3), text.to_owned());
    assert_eq!(two.failure(&["query", "alert", "serve"]), expected);
}

/// A terminal: our end, and the program's.
pub(crate) fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    (ours.into(), theirs)
}

/// A terminal that cannot place a cursor gets the plain page, and is told why.
#[test]
fn a_dumb_terminal_gets_the_plain_page() {
    let host = Host::with_kv();
    let (mut ours, theirs) = terminal();
    let output = host
        .command()
        .args(["top", "4242"])
        .env("TERM", "dumb")
        .stdin(theirs.try_clone().unwrap())
        .stdout(theirs)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.starts_with("turbowish: TERM is dumb"), "{stderr}");
    let mut page = Vec::new();
    // A terminal without another end is an error behind its last byte.
    let _ = ours.read_to_end(&mut page);
    let page = String::from_utf8(page).unwrap();
    assert!(!page.contains('\u{1b}'), "{page:?}");
    assert_eq!(page.replace("\r\n", "\n"), host.stdout(&["top", "4242"]));
}

#[test]
fn a_process_is_found_by_its_name() {
    let host = Host::with_kv();
    host.start(gate(), PROTOCOL);
    let by_id = host.stdout(&["query", "procs", "4242"]);
    assert_eq!(host.stdout(&["query", "procs", "kv"]), by_id);
    let record = host.stdout(&["query", "task", "4242", "snapshot"]);
    assert_eq!(host.stdout(&["query", "task", "kv", "snapshot"]), record);
    let unknown = host.failure(&["query", "procs", "kw"]);
    let running = "no process kw of yours runs TurboWish; running: kv 4242, gate 5120";
    assert_eq!(unknown, (Some(3), format!("turbowish: {running}\n")));
    let mut twin = gate();
    twin.process.pid = 5121;
    host.start(twin, PROTOCOL);
    let several =
        "turbowish: 2 processes have the name gate; choose one by its ID: 5120, 5121\n".to_owned();
    let failure = host.failure(&["query", "procs", "gate"]);
    assert_eq!(failure, (Some(3), several));
}

#[test]
fn one_of_something_is_one() {
    let host = Host::empty();
    let mut one = stuck();
    one.alerts.rows.truncate(1);
    one.alerts.total = 1;
    one.alerts.matched = 1;
    host.start(one, PROTOCOL);
    let text = host.stdout(&["query", "alerts"]);
    assert!(text.ends_with("\n1 alert\n"), "{text}");
    let text = host.stdout(&["query", "alerts", "--limit", "1"]);
    assert!(text.ends_with("\n1 alert\n"), "{text}");
}

#[test]
fn a_process_that_is_not_there_is_told_before_the_screen_opens() {
    let host = Host::with_kv();
    let (mut ours, theirs) = terminal();
    let output = host
        .command()
        .args(["top", "999999999"])
        .stdin(theirs.try_clone().unwrap())
        .stdout(theirs)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "turbowish: no process 999999999 of yours runs TurboWish; running: kv 4242\n"
    );
    assert_eq!(output.status.code(), Some(3));
    // With the program's end closed, what it has written can be read, and then there is no more.
    let mut drawn = Vec::new();
    let _ = ours.read_to_end(&mut drawn);
    assert!(drawn.is_empty(), "{}", String::from_utf8_lossy(&drawn));
}

#[cfg(feature = "demo")]
#[test]
fn a_demo_that_is_interrupted_leaves_nothing_behind() {
    let host = Host::empty();
    let folder = tempfile::tempdir().unwrap();
    let files = |path: &Path| path.read_dir().unwrap().count();
    let mut demo = host
        .command()
        .arg("demo")
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while files(folder.path()) == 0 {
        assert_eq!(demo.try_wait().unwrap(), None);
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&demo), Signal::INT).unwrap();
    let output = demo.wait_with_output().unwrap();
    assert_eq!((&*output.stdout, &*output.stderr), (&[][..], &[][..]));
    assert_eq!(output.status.code(), Some(130));
    assert_eq!((files(folder.path()), files(host.path())), (0, 0));
}

#[test]
fn the_command_line_is_checked() {
    let host = Host::empty();
    for (args, expected) in [
        (
            &["query", "procs", "--window", "5"][..],
            "a time with its unit, as in 5s or 1m, or start",
        ),
        (
            &["query", "procs", "--window", "5m"],
            "at most 60s (older data is not kept), or start",
        ),
        (
            &["top", "--window", "61s"],
            "at most 60s (older data is not kept), or start",
        ),
        (&["top", "--interval", "1ms"], "a time from 100ms to 10s"),
        (
            &["query", "procs", "-p", "101"],
            "a number above 0 and at most 100, as in 50 or 99.9",
        ),
        (&["query", "rpocs"], "a similar value exists: 'procs'"),
        (&["quer"], "a similar subcommand exists: 'query'"),
    ] {
        let (code, text) = host.failure(args);
        assert_eq!(code, Some(2), "{args:?}");
        assert!(
            text.starts_with("turbowish: ") && text.contains(expected),
            "{text}"
        );
    }
}

#[test]
fn tcp_and_socket_paths_are_targets() {
    let host = Host::with_kv();
    let socket = host.path().join("4242.sock");
    let text = host.stdout(&["query", "procs", "-c", "proc", socket.to_str().unwrap()]);
    assert!(text.ends_with("9 procs, window 10 s\n"), "{text}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = listener.local_addr().unwrap().to_string();
    drop(listener);
    let (code, text) = host.failure(&["query", "procs", &refused]);
    assert_eq!(code, Some(3));
    assert!(
        text.starts_with(&format!("turbowish: cannot connect to {refused}")),
        "{text}"
    );
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let host = Host::with_kv();
    for args in [
        &["query", "procs"][..],
        &["top"],
        &["ps"],
        &["explain"],
        &["explain", "deadlock"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = host
            .command()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closed before the program can have written anything.
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), &*stderr),
            (Some(0), ""),
            "{args:?}"
        );
    }
    let mut child = host
        .command()
        .args(["query", "procs"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.starts_with("PROC"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn help_fits_a_terminal_and_has_examples() {
    let host = Host::empty();
    for args in [
        &["--help"][..],
        &["top", "--help"],
        &["ps", "--help"],
        &["query", "--help"],
        &["query", "-h"],
        &["annotate", "--help"],
        &["annotate", "-h"],
        &["tree", "--help"],
        &["check", "--help"],
        &["watch", "--help"],
        &["diff", "--help"],
        &["explain", "--help"],
    ] {
        let output = host
            .command()
            .args(args)
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("\nExamples:\n"), "{args:?}");
        let wide: Vec<&str> = text
            .lines()
            .filter(|line| line.chars().count() > 80)
            .collect();
        assert!(wide.is_empty(), "{args:?} {wide:?}");
    }
}

#[cfg(feature = "demo")]
#[test]
fn the_demo_prints_a_page_of_its_own_server() {
    let text = Host::empty().stdout(&["demo"]);
    assert!(text.starts_with("kv-demo pid "), "{text}");
    let row = text
        .lines()
        .find(|line| line.starts_with("kv::conn::read_frame "))
        .unwrap();
    let percentiles = row.split_whitespace().filter(|cell| cell.ends_with('s'));
    assert!(percentiles.count() >= 3, "{row}");
}

#[test]
fn completions_and_manual() {
    let host = Host::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = host.stdout(&["completions", shell]);
        for option in [
            "percentiles",
            "all-targets",
            "no-alerts",
            "fail-over",
            "reconnect",
            "explain",
        ] {
            assert!(script.contains(option), "{shell} {option}");
        }
        // Values of --sort, of explain, and of --alert, for the shells whose completions have any.
        if ["bash", "zsh", "fish"].contains(&shell) {
            for value in ["oldest", "waiting", "lost-waker"] {
                assert!(script.contains(value), "{shell} {value}");
            }
        }
    }
    assert!(host.stdout(&["man"]).contains(".TH turbowish"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man1");
    let output = host.run(&["man", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(out.join("turbowish-query.1").exists());
    for command in ["annotate", "tree", "check", "watch", "diff", "explain"] {
        assert!(out.join(format!("turbowish-{command}.1")).exists());
    }
}
