//! Whatever a program calls its things: what is printed of them controls no terminal, forges no
//! line and is no formula.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::{PauseRow, Snapshot};

use super::monitor::taint::{FORMULAS, controls, is_obeyed, taint};
use super::monitor::{Host, Manner, kv, stuck};

/// A program whose things are all called so, with rows in every table.
fn program(name: &str, pid: u32) -> Snapshot {
    let mut snapshot = stuck();
    let other = kv();
    snapshot.process.pid = pid;
    snapshot.counters = other.counters;
    snapshot.awaits = other.awaits;
    if let Some(row) = snapshot.tasks.rows.last_mut() {
        row.pause = Some(PauseRow {
            address: 0x1000,
            ..PauseRow::default()
        });
    }
    taint(snapshot, name)
}

fn host(name: &str) -> Host {
    let host = Host::empty();
    host.start_with(program(name, 4242), Manner::Obeys);
    host
}

/// Nothing panics, and what is printed is text.
fn check(command: &mut Command, what: &str) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let stdout = String::from_utf8(stdout).unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    let code = status.code();
    assert!(
        matches!(code, Some(0..=3)),
        "{what}: {status}: {}",
        stderr.chars().take(400).collect::<String>()
    );
    for text in [&stdout, &stderr] {
        let bad = text
            .char_indices()
            .find(|(_, c)| *c != '\n' && is_obeyed(*c));
        assert!(
            bad.is_none(),
            "{what}: {bad:?} in {:?}",
            text.chars().take(2_000).collect::<String>()
        );
        let forged = text.lines().find(|line| line.starts_with("FORGED"));
        assert_eq!(forged, None, "{what}");
    }
    stdout
}

const TABLES: [&str; 6] = [
    "procs",
    "tasks",
    "resources",
    "awaits",
    "alerts",
    "counters",
];

/// Commands that are the same whatever the name is.
const COMMANDS: [&[&str]; 12] = [
    &["ps"],
    &["top", "4242"],
    &["tree", "4242"],
    &["query", "alert", "4242"],
    &["check", "4242", "--no-alerts"],
    &["check", "4242", "--max", "procs.hold_p99 < 1ns"],
    &["check", "4242", "--max", "tasks.since < 1ns", "-o", "json"],
    &["watch", "4242", "--count", "1", "tasks", "alerts", "procs"],
    &["pause", "4242", "1"],
    &["resume", "4242", "1"],
    &["pause", "4242", "no such task"],
    &["debug", "--gdb", "4242", "1"],
];

fn commands(name: &str) {
    let host = host(name);
    // A program without a name of its own is in the list of those that run.
    host.start_with(program(name, 5120), Manner::Obeys);
    let run = |args: &[&str]| {
        // No debugger is there.
        let mut command = host.command();
        command.env("PATH", host.path()).args(args);
        check(
            &mut command,
            &args.join(" ").chars().take(80).collect::<String>(),
        )
    };
    for args in COMMANDS {
        run(args);
    }
    // Which of the two is not said.
    run(&["query", "procs"]);
    for table in TABLES {
        for format in ["table", "json", "csv"] {
            run(&["query", table, "4242", "-o", format]);
        }
    }
    for record in ["task", "resource", "proc", "alert"] {
        run(&["query", record, "4242", "nothing is called so"]);
        if name.len() < 65_536 {
            run(&["query", record, "4242", name]);
            run(&["query", record, "4242", name, "-o", "json"]);
        }
    }
    if name.len() < 65_536 {
        run(&["query", "procs", "4242", "--sort", name]);
        run(&["pause", "4242", name]);
        run(&["query", "procs", "4242", "--filter", name]);
        run(&["query", "procs", "4242", "--columns", name]);
        run(&["query", "procs", name]);
        run(&["check", "4242", "--max", name]);
        run(&["watch", "4242", name, name]);
    }
}

#[test]
fn what_controls_a_terminal_is_written_out() {
    commands(&controls());
}

#[test]
fn a_name_may_be_wider_than_any_screen() {
    commands(&"x".repeat(70_000));
    commands(&"e\u{301}日".repeat(5_000));
}

/// Saved documents come from outside as well, and so do the names of files.
#[test]
fn reports_are_printed_by_the_same_rule() {
    let name = controls();
    let host = host(&name);
    let folder = host.path().join("ev\u{1b}]0;il\u{7}\u{202e}");
    fs::create_dir_all(&folder).unwrap();
    let report = folder.join("b\n\u{9b}31m.json");
    let save = |table: &str| host.stdout(&["query", table, "4242", "-o", "json"]);
    fs::write(&report, save("procs")).unwrap();
    let after = folder.join("after.json");
    let other = save("procs").replace("FORGED line", "FORGED lines");
    fs::write(&after, other).unwrap();
    let broken = folder.join("broken.json");
    fs::write(
        &broken,
        "{\"schema\":1,\"procs\":[{\"proc\":\"\u{9b}\u{202e}\n",
    )
    .unwrap();
    let file = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    for format in ["table", "json", "csv"] {
        for (before, after) in [(&report, &after), (&report, &broken)] {
            let args = ["diff", "-o", format, &file(before), &file(after)].map(str::to_owned);
            check(host.command().args(&args), &format!("diff {format}"));
        }
    }
    for path in [&report, &broken, &folder] {
        for table in ["procs.hold_p99", "tasks.since"] {
            let limit = format!("{table} < 1ns");
            let args = ["check", "--from", &file(path), "--max", &limit].map(str::to_owned);
            check(host.command().args(&args), "check --from");
        }
    }
    let mut child = host
        .command()
        .args(["check", "--from", "-", "--no-alerts"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It may have ended before it has read everything.
    let _ = child
        .stdin
        .take()
        .unwrap()
        .write_all(save("alerts").as_bytes());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn json_keeps_what_is_written_out_elsewhere() {
    let name = controls();
    let host = host(&name);
    let json = host.stdout(&["query", "tasks", "4242", "-o", "json"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["process"]["name"], *name);
    assert_eq!(value["tasks"][0]["name"], *name);
    assert_eq!(value["tasks"][0]["attributes"][&*name], *name);
}

/// A spreadsheet calculates what begins as a formula: text is told from it by a quote, and numbers
/// stay numbers.
#[test]
fn csv_has_no_formulas() {
    for formula in FORMULAS {
        let host = host(formula);
        for table in TABLES {
            let csv = host.stdout(&["query", table, "4242", "-o", "csv"]);
            let mut reader = csv::Reader::from_reader(csv.as_bytes());
            let cells: Vec<String> = reader
                .records()
                .flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
                .collect();
            let is_number = |cell: &str| cell.parse::<i128>().is_ok();
            let bad = cells.iter().find(|cell| {
                !is_number(cell) && cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
            });
            assert_eq!(bad, None, "{formula:?} {table}");
            // It is there all the same.
            let text = formula.trim_start();
            assert!(
                cells.iter().any(|cell| cell.contains(text)),
                "{table} {csv}"
            );
        }
    }
    let drift = Host::with_kv().stdout(&["query", "counters", "-o", "csv"]);
    assert!(drift.contains(",-120,"), "{drift}");
}

/// What a process says of its refusal is its own text.
#[test]
fn the_errors_of_a_process_are_printed_by_the_same_rule() {
    let name = controls();
    let host = Host::empty();
    let alerts: Vec<Alert> = Vec::new();
    let mut snapshot = program(&name, 4242);
    snapshot.alerts.rows = alerts;
    host.start_with(snapshot, Manner::Refuses);
    for args in [
        &["pause", "4242", "1"][..],
        &["resume", "4242", "1"],
        &["query", "procs", "4242"],
        &["watch", "4242", "--count", "1"],
        &["top", "4242"],
        &["ps"],
        &["check", "4242", "--no-alerts"],
    ] {
        check(host.command().args(args), &args.join(" "));
    }
}
