//! Recordings: every reading command gives of a file what it gives of the process, and `record`
//! leaves a whole file whatever ends it.

use std::fs::{self, File};
use std::io::{Cursor, Read as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::units::SECOND;
use turbowish_recording::{Compression, Reader, Writer};
use turbowish_wire::PROTOCOL;

use super::monitor::{Host, Manner, Reply, kv, stall, stuck};

/// A recording with these states in the folder of the host.
fn file(host: &Host, name: &str, states: &[Snapshot]) -> String {
    let mut writer = Writer::begin(Vec::new(), Compression::Deflate).unwrap();
    for state in states {
        writer.state(state, 0).unwrap();
    }
    let path = host.path().join(name);
    fs::write(&path, writer.end().unwrap()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The process as it was so many seconds before.
fn before(snapshot: &Snapshot, seconds: u64) -> Snapshot {
    let mut snapshot = snapshot.clone();
    snapshot.at_unix_ns -= seconds * SECOND;
    snapshot.process.uptime_ns -= seconds * SECOND;
    snapshot
}

/// Each command, on the process and on its recording.
#[test]
fn a_recording_answers_as_the_process() {
    for (snapshot, commands) in [
        (
            kv(),
            &[
                &["query", "procs", "?"][..],
                &[
                    "query", "procs", "?", "-f", "db", "-s", "calls", "-r", "-n", "2",
                ],
                &["query", "procs", "?", "-o", "json"],
                &["query", "awaits", "?", "-o", "csv", "-p", "50,99.9"],
                &["query", "tasks", "?", "-f", "state:waiting since>41s"],
                &["query", "counters", "?"],
                &["query", "delays", "?"],
                &["query", "slowest", "?"],
                &["query", "task", "?", "conn:51022"],
                &["query", "proc", "?", "serve", "-o", "json"],
                &["tree", "?", "-n", "2"],
                &["top", "?", "--limit", "3"],
            ][..],
        ),
        (
            stuck(),
            &[
                &["query", "resources", "?"][..],
                &["query", "resource", "?", "db"],
                &["query", "alerts", "?"],
                &["query", "alert", "?"],
                &["query", "alert", "?", "deadlock"],
            ],
        ),
    ] {
        let host = Host::empty();
        let pid = snapshot.process.pid.to_string();
        let path = file(&host, "x.tw", &[before(&snapshot, 1), snapshot.clone()]);
        host.start(snapshot, PROTOCOL);
        for command in commands {
            let of = |target: &str| {
                let words = command.iter().map(|word| word.replace('?', target));
                let words: Vec<String> = words.collect();
                let words: Vec<&str> = words.iter().map(|word| &**word).collect();
                host.stdout(&words)
            };
            let live = of(&pid);
            assert!(!live.is_empty());
            assert_eq!(of(&path), live, "{command:?}");
        }
        let live = host.stdout(&["query", "procs", &pid]);
        assert_eq!(host.stdout(&["query", "procs", "--from", &path]), live);
        let live = host.stdout(&["watch", &pid, "tasks", "--count", "1"]);
        let states = host.stdout(&["watch", &path, "tasks"]);
        assert_eq!(states.lines().count(), 2);
        assert_eq!(states.lines().last(), live.lines().last());
    }
}

/// A state is found by its instant, and it is said which one it is.
#[test]
fn an_instant_is_chosen() {
    let host = Host::empty();
    let states: Vec<Snapshot> = (0..4).rev().map(|ago| before(&kv(), ago)).collect();
    let path = file(&host, "x.tw", &states);
    for (at, nth) in [
        ("-0s", 4),
        ("-1s", 3),
        ("+1s", 2),
        ("17:04:30", 3),
        ("2026-11-20T17:04:28Z", 1),
        ("2026-11-20T18:04:29+01:00", 2),
    ] {
        let output = host.run(&["query", "procs", &path, "--at", at, "-o", "json"]);
        let told = String::from_utf8(output.stderr).unwrap();
        let expected = format!("state {nth} of 4\n");
        assert!(told.ends_with(&expected), "{at}: {told}");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["at_unix_ns"], states[nth - 1].at_unix_ns, "{at}");
    }
}

#[test]
fn what_a_recording_cannot_give_is_said() {
    let host = Host::empty();
    let path = file(&host, "x.tw", &[before(&kv(), 2), kv()]);
    let empty = file(&host, "empty.tw", &[]);
    let text = host.path().join("text.tw");
    fs::write(&text, "TABLE\n").unwrap();
    let text = text.to_str().unwrap();
    let newer = host.path().join("newer.tw");
    fs::write(&newer, b"TWREC\0\x07\0").unwrap();
    let newer = newer.to_str().unwrap();
    for (args, code, expected) in [
        (
            &["query", "procs", &path, "-w", "60s"][..],
            2,
            "and of no other window; leave out --window",
        ),
        (&["top", &path, "-w", "start"], 2, "and of no other window"),
        (
            &["check", &path, "--for", "3s"],
            2,
            "leave out --for, --within and --window",
        ),
        (
            &["query", "procs", &path, "--at", "-1h"],
            2,
            "x.tw has no state so early: it begins at 2026-11-20 17:04:29",
        ),
        (
            &["query", "procs", &path, "--from", &path],
            2,
            "one source at a time",
        ),
        (
            &["check", "4242", "--at", "-1s"],
            2,
            "--at is an instant of a recording",
        ),
        (
            &["query", "procs", &path, "--at", "soon"],
            2,
            "-10s (before the end)",
        ),
        (&["query", "task", &path], 2, "which task?"),
        (
            &["query", "procs", &path, "-f", "nothing>1"],
            2,
            "no field nothing in procs",
        ),
        (
            &["pause", &path, "conn:1"],
            2,
            "is a recording, and this needs a running process",
        ),
        (&["record", &path, "-o", "y.tw"], 2, "is a recording"),
        (&["debug", "--gdb", &path, "conn:1"], 2, "is a recording"),
        (
            &["query", "procs", "gone.tw"],
            3,
            "cannot read gone.tw: No such file",
        ),
        (
            &["query", "procs", &empty],
            2,
            "has no state: it ended before the first one",
        ),
        (
            &["query", "procs", text],
            2,
            "it is not a recording; turbowish record",
        ),
        (
            &["query", "procs", newer],
            2,
            "in format 7; this one reads up to 1: update it",
        ),
        (
            &[
                "diff", &path, &path, "--at", "-0s", "--at", "-0s", "--at", "-0s",
            ],
            2,
            "once or twice",
        ),
    ] {
        let (told, why) = host.failure(args);
        assert_eq!(told, Some(code), "{args:?}: {why}");
        assert!(why.contains(expected), "{args:?}: {why}");
        assert!(!host.path().join("y.tw").exists());
    }
}

/// Of more rows than were recorded, the answer says that it has only some.
#[test]
fn rows_that_were_not_recorded_are_said() {
    let host = Host::empty();
    let mut some = kv();
    some.tasks.total = 9_000;
    some.tasks.matched = 9_000;
    let count = some.tasks.rows.len();
    let path = file(&host, "x.tw", &[some]);
    let output = host.run(&["query", "tasks", &path]);
    let told = String::from_utf8(output.stderr).unwrap();
    let expected = format!("x.tw has the worst {count} of 9000 tasks at that instant");
    assert!(told.contains(&expected), "{told}");
    host.stdout(&["query", "tasks", &path, "-n", "1"]);
}

/// What is damaged is said, and all else is read.
#[test]
fn a_damaged_recording_is_read_as_far_as_it_goes() {
    let host = Host::empty();
    let path = file(&host, "x.tw", &[before(&kv(), 2), before(&kv(), 1), kv()]);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&path, &bytes).unwrap();
    let output = host.run(&["watch", &path, "procs"]);
    let (told, lines) = (output.stderr, String::from_utf8(output.stdout).unwrap());
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("x.tw is damaged: 1 chunk of "), "{told}");
    assert!(told.contains("1 known state lost"), "{told}");
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn two_states_are_compared_and_one_is_checked() {
    let host = Host::empty();
    let mut slow = kv();
    for row in &mut slow.procs.rows {
        let times = [
            &mut row.call_running,
            &mut row.poll_hold,
            &mut row.call_wall,
        ];
        for time in times {
            time.sum_ns *= 3;
            time.max_ns *= 3;
            time.buckets.iter_mut().for_each(|(upper, _)| *upper *= 3);
        }
    }
    let path = file(
        &host,
        "x.tw",
        &[before(&kv(), 100), before(&kv(), 60), slow],
    );
    let diff = |at: &[&str]| {
        let mut args = vec!["diff", &path, &path];
        args.extend(at.iter().flat_map(|at| ["--at", at]));
        let output = host.run(&args);
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    assert_eq!(diff(&[]).0, Some(0));
    assert_eq!(diff(&["+0s", "-60s"]).0, Some(0));
    let (code, text) = diff(&["+0s", "-0s"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("kv::db::get") && text.contains("FAIL"),
        "{text}"
    );
    // Beside the JSON of the same state it is the same.
    let json = host.stdout(&["query", "procs", &path, "-o", "json"]);
    let saved = host.path().join("saved.json");
    fs::write(&saved, json).unwrap();
    assert_eq!(
        host.run(&["diff", saved.to_str().unwrap(), &path])
            .status
            .code(),
        Some(0)
    );
    let check = |args: &[&str], expected| {
        let limit = ["check", "--max", "procs.run_p99 < 100ms", "--no-alerts"];
        let output = host.run(&[&limit[..], args].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(expected), "{args:?}: {text}");
    };
    check(&[&path, "--at", "+0s"], 0);
    check(&[&path], 1);
    check(&["--from", &path], 1);
    let wrong = file(&host, "alerts.tw", &[stuck()]);
    check(&[&wrong], 1);
    let mut over = kv();
    over.alerts.rows = vec![stall(over.at_unix_ns)];
    check(&[&file(&host, "over.tw", &[over])], 0);
}

/// A process that sends what it is told to, and a command that records it.
struct Stage {
    host: Host,
    out: PathBuf,
    child: Child,
}

impl Stage {
    fn start(args: &[&str]) -> Self {
        let host = Host::empty();
        host.start_with(kv(), Manner::Good);
        let out = host.path().join("x.tw");
        let mut command = host.command();
        command.arg("record").arg("-o").arg(&out).args(args);
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        Self { host, out, child }
    }

    /// Sends a state, and waits until it is in the file.
    fn send(&self, count: usize) {
        self.host.send(Reply::Snapshot);
        while self.states() < count {}
    }

    fn states(&self) -> usize {
        let bytes = fs::read(&self.out).unwrap_or_default();
        Reader::open(Cursor::new(bytes)).map_or(0, |reader| reader.states().len())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The exit code, what was told, and the states of the file, which is whole.
    fn end(self) -> (Option<i32>, String, Vec<Snapshot>) {
        let output = self.child.wait_with_output().unwrap();
        let mut reader = Reader::open(File::open(&self.out).unwrap()).unwrap();
        assert!(reader.damage().is_none());
        let count = reader.states().len();
        let states = (0..count).map(|nth| reader.snapshot(nth).unwrap());
        let told = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), told, states.collect())
    }
}

#[test]
fn the_end_of_the_process_ends_the_recording() {
    let stage = Stage::start(&[]);
    (1..=3).for_each(|count| stage.send(count));
    stage.host.send(Reply::End);
    let (code, told, states) = stage.end();
    assert_eq!(code, Some(0), "{told}");
    assert!(told.starts_with("turbowish: kv 4242 has ended\n"), "{told}");
    assert!(
        told.contains("x.tw: 3 states, ") && told.contains(", 0 lost"),
        "{told}"
    );
    assert_eq!(states.len(), 3);
    for state in states {
        assert_eq!((state.process, state.procs), (kv().process, kv().procs));
    }
}

#[test]
fn signals_leave_a_whole_file() {
    for (signal, expected) in [(Signal::INT, 0), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let stage = Stage::start(&["--for", "1h"]);
        (1..=2).for_each(|count| stage.send(count));
        stage.signal(signal);
        let (code, told, states) = stage.end();
        assert_eq!((code, states.len()), (Some(expected), 2), "{told}");
    }
}

/// A connection that breaks is said with its cause; without any state it is an error.
#[test]
fn a_broken_connection_ends_the_recording() {
    for (count, expected) in [(1, 0), (0, 3)] {
        let stage = Stage::start(&[]);
        (1..=count).for_each(|count| stage.send(count));
        stage.host.send(Reply::Fail("no more"));
        let (code, told, states) = stage.end();
        assert_eq!((code, states.len()), (Some(expected), count), "{told}");
        assert!(told.contains("no more"), "{told}");
    }
}

#[test]
fn a_time_ends_the_recording() {
    let stage = Stage::start(&["--for", "300ms", "--every", "100ms"]);
    let (code, told, states) = stage.end();
    assert_eq!((code, states.len()), (Some(0), 0), "{told}");
    assert!(told.ends_with("x.tw: 0 states, 8B, 0 lost\n"), "{told}");
}

/// A terminal sees how far it is; the line is gone when the recording ends.
#[test]
fn progress_is_told_to_a_terminal() {
    let host = Host::empty();
    host.start_with(kv(), Manner::Good);
    let out = host.path().join("x.tw");
    let (mut ours, theirs) = super::terminal();
    let mut command = host.command();
    command.args(["record", "--for", "100ms", "-o", out.to_str().unwrap()]);
    let mut child = command.stderr(theirs).spawn().unwrap();
    // The program has the other end, and this process no more.
    drop(command);
    let mut told = Vec::new();
    // The end of a terminal is an error on Linux.
    let _ = ours.read_to_end(&mut told);
    assert!(child.wait().unwrap().success());
    let told = String::from_utf8(told).unwrap();
    assert!(
        told.contains("x.tw: 0 states, 8B, 0 lost, ") && told.contains(" left"),
        "{told:?}"
    );
    assert!(told.contains("\r\u{1b}[Kturbowish: "), "{told:?}");
}

/// A process that is too old to take its classes back goes on recording them, and that is said.
#[test]
fn an_older_process_records_classes_from_then_on() {
    let host = Host::empty();
    host.start_with(kv(), Manner::Keeps(b""));
    let out = host.path().join("x.tw");
    let words = ["record", "--events", "calls", "--for", "100ms", "-o"];
    let output = host.run(&[&words[..], &[out.to_str().unwrap()]].concat());
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let last =
        "kv 4242 goes on recording calls; turbowish record 4242 --events CLASSES changes that";
    for expected in ["kv 4242 records calls from now on\n", last] {
        assert!(told.contains(expected), "{told}");
    }
    let output = host.run(&["record", "--events", "polls"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.trim_end()
            .ends_with("kv 4242 records polls from now on"),
        "{told}"
    );
}

/// A connection that breaks is told, and what becomes of the process.
#[test]
fn a_recorder_of_classes_says_that_its_process_is_out_of_reach() {
    let host = Host::empty();
    host.start_with(kv(), Manner::Keeps(b""));
    host.send(Reply::Fail("the wire is cut"));
    let out = host.path().join("x.tw");
    let (_, told) = host.failure(&["record", "--events", "calls", "-o", out.to_str().unwrap()]);
    assert!(told.contains("goes on recording calls"), "{told}");
}

#[test]
fn a_file_is_overwritten_only_if_that_is_meant() {
    let host = Host::empty();
    host.start_with(kv(), Manner::Good);
    let out = host.path().join("x.tw");
    fs::write(&out, "mine").unwrap();
    let args = ["record", "--for", "100ms", "-o", out.to_str().unwrap()];
    let (code, why) = host.failure(&args);
    assert_eq!(code, Some(1));
    assert!(
        why.contains("x.tw exists; another name, or --force"),
        "{why}"
    );
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    let output = host.run(&[&args[..], &["--force"]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(fs::read(&out).unwrap().starts_with(b"TWREC\0"));
    let (code, why) = host.failure(&["record", "-o", "/gone/x.tw"]);
    assert_eq!(code, Some(1));
    assert!(
        why.contains("cannot create /gone/x.tw: No such file"),
        "{why}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let host = Host::empty();
    host.start_with(kv(), Manner::Good);
    let (code, why) = host.failure(&["record", "--force", "-o", "/dev/full"]);
    assert_eq!(code, Some(1));
    assert!(
        why.contains("cannot write /dev/full: No space left"),
        "{why}"
    );
}

/// A disk that is full later: the states before are in the file, and it is whole.
#[test]
fn a_disk_that_becomes_full_leaves_a_whole_file() {
    let host = Host::empty();
    host.start_with(kv(), Manner::Good);
    let out = host.path().join("x.tw");
    let program = host.command();
    let limited = "trap '' XFSZ; ulimit -f 16; exec \"$0\" record -o \"$1\"";
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(limited);
    command.arg(program.get_program()).arg(&out);
    command.env("TURBOWISH_RUNTIME_DIR", host.path());
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    // More than fit into 8 or 16 KiB, whichever a block is.
    (0..20).for_each(|_| host.send(Reply::Snapshot));
    let (code, told, states) = Stage { host, out, child }.end();
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("cannot write ") && told.contains("File too large"),
        "{told}"
    );
    assert!(!states.is_empty() && states.len() < 20, "{told}");
    assert!(
        told.contains(&format!("x.tw: {} states, ", states.len())),
        "{told}"
    );
}

/// What a real server had while it was recorded lies between the states before and after.
#[test]
#[cfg(feature = "demo")]
fn a_real_server_is_recorded() {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::scripts::{Demo, answer};

    /// Polls of each task so far, which only grow; and when that was.
    fn polls(line: &str) -> (u64, BTreeMap<u64, u64>) {
        let value: Value = serde_json::from_str(line).unwrap();
        let rows = value["tasks"].as_array().unwrap().iter();
        let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
        let polls = rows.map(|row| (number(row, "id"), number(row, "polls")));
        (number(&value["process"], "uptime_ns"), polls.collect())
    }

    let host = Host::empty();
    let demo = Demo::start(&host, "0");
    demo.becomes_busy(&host);
    let (pid, out) = (demo.pid(), host.path().join("x.tw"));
    let path = out.to_str().unwrap();
    let mut command = host.command();
    command.args([
        "record", &pid, "--for", "3s", "--every", "200ms", "-o", path,
    ]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut live = Vec::new();
    while child.try_wait().unwrap().is_none() {
        live.push(polls(&answer(
            &host,
            &["query", "tasks", &pid, "-o", "json"],
        )));
    }
    let told = child.wait_with_output().unwrap();
    assert_eq!(
        told.status.code(),
        Some(0),
        "{:?}",
        String::from_utf8(told.stderr)
    );
    let lines = host.stdout(&["watch", path, "tasks"]);
    let states: Vec<_> = lines.lines().map(polls).collect();
    let mut compared = 0;
    for (uptime, tasks) in &live {
        let pairs = states.windows(2);
        let around = pairs.filter(|pair| pair[0].0 <= *uptime && *uptime <= pair[1].0);
        for pair in around {
            for (id, polls) in tasks {
                if let (Some(least), Some(most)) = (pair[0].1.get(id), pair[1].1.get(id)) {
                    assert!(
                        least <= polls && polls <= most,
                        "{id}: {least} {polls} {most}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(
        compared > 0,
        "{} live, {} recorded",
        live.len(),
        states.len()
    );
    demo.end();
    // The process is gone, and its recording is not.
    let table = host.stdout(&["query", "procs", path, "-f", "read_frame"]);
    assert!(table.contains("kv::conn::read_frame"), "{table}");
}
