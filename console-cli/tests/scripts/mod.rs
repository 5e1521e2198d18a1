//! What scripts and CI use: outputs, exit codes, and that nothing passes which was not measured.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use turbowish_model::snapshot::Caller;
use turbowish_wire::PROTOCOL;

use super::monitor::{Host, gate, kv, stuck};

/// Exit code, standard output, standard error.
type Outcome = (Option<i32>, String, String);

fn outcome(host: &Host, args: &[&str]) -> Outcome {
    let output = host.run(args);
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// The verdict in text, and its exit code.
fn verdict(host: &Host, args: &[&str], code: i32) -> String {
    let (got, stdout, stderr) = outcome(host, args);
    assert_eq!((got, &*stderr), (Some(code), ""), "{args:?}\n{stdout}");
    stdout
}

fn deadlocked() -> Host {
    let host = Host::empty();
    host.start(stuck(), PROTOCOL);
    host
}

#[test]
fn a_limit_that_is_exceeded_is_printed_with_the_row_and_its_value() {
    let kv = Host::with_kv();
    let stuck = deadlocked();
    for (host, args, code, expected) in [
        (
            &kv,
            &["check", "4242", "--max", "procs.hold_p99 < 10ms"][..],
            1,
            "FAIL  procs.hold_p99 < 10ms   kv::snapshot::write 38.4ms (src/snapshot.rs:90); also kv::snapshot::run 38.4ms\n\
             6 of 9 procs are within the limit, 1 has no sample\n",
        ),
        (
            &kv,
            &["check", "--max", "procs.hold_p99<39ms"],
            0,
            "8 of 9 procs are within the limit, 1 has no sample\n",
        ),
        (
            &kv,
            &[
                "check",
                "--min",
                "procs.calls >= 10k",
                "-f",
                "proc:kv::db::*",
            ],
            0,
            "2 of 2 procs are within the limit\n",
        ),
        (
            &kv,
            &[
                "check",
                "--max",
                "procs.calls > 40k",
                "-f",
                "proc:kv::db::*",
            ],
            1,
            "FAIL  procs.calls > 40k   kv::db::set 24.8k (src/db.rs:61)\n\
             1 of 2 procs is within the limit\n",
        ),
        (
            &kv,
            &["check", "--max", "awaits.longest < 1s", "--no-alerts"],
            1,
            "FAIL  awaits.longest < 1s   kv::conn::read_frame self.stream.read_buf(&mut self.buffer) 12.0 s (src/conn.rs:131)\n\
             1 of 2 awaits is within the limit\nno alerts\n",
        ),
        (
            &kv,
            &["check", "--max", "resources.waiters < 1"],
            0,
            "there are no resources\n",
        ),
        (
            &stuck,
            &[
                "check",
                "--max",
                "resources.fill < 90%",
                "--max",
                "tasks.since < 41.3s",
            ],
            1,
            "FAIL  resources.fill < 90%   mutex log 1/1 (src/repl.rs:18); also mpsc repl 64/64, mutex db 1/1\n\
             FAIL  tasks.since < 41.3s    repl-1 41.6 s (src/repl.rs:51); also conn:51022 41.4 s, expiry 41.4 s\n\
             resources.fill < 90%: 0 of 3 resources are within the limit\n\
             tasks.since < 41.3s: 1 of 4 tasks is within the limit\n",
        ),
    ] {
        assert_eq!(verdict(host, args, code), expected, "{args:?}");
    }
}

#[test]
fn polls_that_are_held_twice_are_one_thing() {
    let mut snapshot = kv();
    let write = snapshot.procs.rows.iter_mut();
    let write = write.filter(|row| row.proc == "kv::snapshot::write");
    for row in write {
        row.callers.push(Caller {
            proc: "kv::snapshot::run".to_owned(),
            polls: 48,
            hold_ns: row.hold_ns,
        });
    }
    let host = Host::empty();
    host.start(snapshot, PROTOCOL);
    let limit = ["check", "--max", "procs.hold_p99 < 10ms"];
    let expected = "FAIL  procs.hold_p99 < 10ms   kv::snapshot::write 38.4ms (src/snapshot.rs:90); \
                    also kv::snapshot::run, which holds the same polls\n\
                    6 of 9 procs are within the limit, 1 has no sample\n";
    assert_eq!(verdict(&host, &limit, 1), expected);
    let files = Files::of(&[("a.json", &query(&host, "procs"))]);
    let path = files.path("a.json");
    let from = [&limit[..], &["--from", &path]].concat();
    assert_eq!(verdict(&host, &from, 1), expected);
}

#[test]
fn what_was_not_measured_does_not_pass_in_silence() {
    let host = Host::with_kv();
    for (args, expected) in [
        (
            &["check", "--max", "procs.hold_p99 < 1h", "-f", "nobody"][..],
            "FAIL  procs.hold_p99 < 1h   there are no procs to check\nthere are no procs\n",
        ),
        (
            &["check", "--max", "procs.run_p99 < 1h", "-f", "report"],
            "FAIL  procs.run_p99 < 1h   no proc has a sample to check\n\
             0 of 1 proc are within the limit, 1 has no sample\n",
        ),
    ] {
        assert_eq!(verdict(&host, args, 1), expected, "{args:?}");
    }
    let off = Host::empty();
    off.start(gate(), PROTOCOL);
    let (code, text) = off.failure(&["check"]);
    assert_eq!(code, Some(3));
    assert!(
        text.starts_with("turbowish: nothing can be checked: accounting is off in gate 5120"),
        "{text}"
    );
}

#[test]
fn an_alert_fails_unless_it_does_not_count() {
    let kv = Host::with_kv();
    let host = deadlocked();
    insta::assert_snapshot!("check_alerts", verdict(&host, &["check"], 1));
    assert_eq!(verdict(&kv, &["check"], 0), "no alerts\n");
    for (args, code, lines) in [
        (&["check", "--no-alerts"][..], 1, 3),
        (&["check", "--no-alerts=alert"], 1, 2),
        (
            &[
                "check",
                "--no-alerts=alert",
                "--except",
                "deadlock",
                "--except",
                "futurelock",
            ],
            0,
            1,
        ),
        (&["check", "--except", "deadlock"], 1, 2),
        (&["check", "--alert", "long-poll"], 1, 1),
        (
            &["check", "--alert", "starvation", "--alert", "Lost Waker"],
            0,
            1,
        ),
        (&["check", "--max", "tasks.polls < 1G"], 0, 1),
        (
            &[
                "check",
                "--max",
                "alerts.for < 1s",
                "-f",
                "deadlock",
                "--alert",
                "starvation",
            ],
            1,
            3,
        ),
    ] {
        let text = verdict(&host, args, code);
        assert_eq!(text.lines().count(), lines, "{args:?}\n{text}");
    }
    let text = verdict(&host, &["check", "--alert", "starvation"], 0);
    assert_eq!(text, "no starvation\n");
}

#[test]
fn a_verdict_is_json_too() {
    let host = deadlocked();
    let args = [
        "check",
        "--max",
        "procs.hold_p99 < 10ms",
        "--max",
        "resources.fill<=100%",
        "--no-alerts",
        "-o",
        "json",
    ];
    let text = verdict(&host, &args, 1);
    insta::assert_snapshot!("check_json", text);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["ok"], false);
    assert_eq!(value["limits"][0]["broken"][0]["value"], 38_400_000);
    assert_eq!(value["limits"][0]["limit_value"], 10_000_000);
    assert_eq!(value["limits"][1]["ok"], true);
    assert_eq!(value["alerts"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_check_takes_its_time() {
    let host = Host::with_kv();
    let args = ["check", "--max", "procs.hold_p99 < 10ms"];
    let once = verdict(&host, &args, 1);
    for time in [["--for", "1ms"], ["--within", "1ms"]] {
        assert_eq!(verdict(&host, &[&args[..], &time].concat(), 1), once);
    }
    // What holds is not waited for any longer.
    let holds = ["check", "--within", "1h", "--max", "procs.hold_p99 < 1s"];
    verdict(&host, &holds, 0);
    let nobody = Host::empty();
    let (code, text) = nobody.failure(&["check", "--within", "1ms"]);
    assert_eq!(code, Some(3));
    assert!(
        text.starts_with("turbowish: none of your processes"),
        "{text}"
    );
    let young = Host::empty();
    let mut snapshot = kv();
    (snapshot.window_ns, snapshot.since_start) = (10_000_000, true);
    young.start(snapshot, PROTOCOL);
    let limit = "procs.hold_p99 < 1s";
    let (code, _, stderr) = outcome(&young, &["check", "--window", "20ms", "--max", limit]);
    let waited = "turbowish: waiting 10.0ms until the window of 20.0ms is full\n";
    assert_eq!((code, &*stderr), (Some(0), waited));
    verdict(&young, &["check", "-w", "start", "--max", limit], 0);
    verdict(&young, &["check", "-w", "10ms", "--max", limit], 0);
    // Only sums of the window need all of it.
    assert_eq!(verdict(&young, &["check"], 0), "no alerts\n");
}

/// Files with these texts.
struct Files(TempDir);

impl Files {
    fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Output that speaks of the files, without their folder.
    fn told(&self, text: &str) -> String {
        let folder: PathBuf = self.0.path().join("");
        text.replace(folder.to_str().unwrap(), "")
    }
}

fn query(host: &Host, table: &str) -> String {
    host.stdout(&["query", table, "-o", "json", "-p", "50,90,99,99.9"])
}

#[test]
fn a_saved_report_is_checked_like_the_process() {
    let host = deadlocked();
    for (table, limit) in [
        ("procs", "procs.hold_p99<10ms"),
        ("procs", "procs.run<10%"),
        ("procs", "procs.calls<80k/s"),
        ("procs", "procs.longest<=1.92ms"),
        ("tasks", "tasks.since<41.3s"),
        ("tasks", "tasks.size<1KiB"),
        ("resources", "resources.fill<90%"),
        ("resources", "resources.wait_p99<1ms"),
        ("resources", "resources.ops<1"),
        ("awaits", "awaits.mean<1ms"),
        ("awaits", "awaits.share<50%"),
        ("alerts", "alerts.behind<1"),
    ] {
        let files = Files::of(&[("a.json", &query(&host, table))]);
        let (code, live, _) = outcome(&host, &["check", "--max", limit]);
        let from = ["check", "--max", limit, "--from", &files.path("a.json")];
        assert_eq!(
            outcome(&host, &from),
            (code, live, String::new()),
            "{limit}"
        );
    }
    let files = Files::of(&[("a.json", &query(&host, "alerts"))]);
    let live = verdict(&host, &["check"], 1);
    assert_eq!(
        verdict(&host, &["check", "--from", &files.path("a.json")], 1),
        live
    );
}

#[test]
fn mistakes_on_the_command_line_of_a_check_are_named() {
    let host = Host::with_kv();
    let files = Files::of(&[
        ("a.json", &without_buckets(&query(&host, "procs"))),
        ("no.json", "PROC"),
    ]);
    let (saved, broken) = (files.path("a.json"), files.path("no.json"));
    for (args, code, expected) in [
        (
            &["--max", "procs.hold_p98<1ms"][..],
            2,
            "no field hold_p98 in procs; did you mean hold_p99?",
        ),
        (
            &["--max", "procs.run_p99 < 5"],
            2,
            "limit procs.run_p99 < 5: run_p99 is a duration and needs a unit: ns us ms s m h",
        ),
        (
            &["--max", "procs.run < 5 calls > 1"],
            2,
            "limit procs.run < 5 calls > 1: write one number and its unit, without a blank, not \"calls > 1\"",
        ),
        (
            &["--max", "hold_p99<1ms"],
            2,
            "\"hold_p99<1ms\" is not a limit; write TABLE.COLUMN OP VALUE, such as procs.hold_p99 < 10ms; tables: procs, tasks, resources, awaits, alerts, counters, delays, slowest",
        ),
        (
            &["--filter", "kv"],
            2,
            "--filter selects the rows of a limit, and no limit is given: --max 'procs.hold_p99 < 10ms'",
        ),
        (
            &["--max", "procs.run<5", "--filter", "(kv"],
            2,
            "filter of procs: unmatched (",
        ),
        (
            &["--from", &saved, "--max", "procs.hold_p95<1s"],
            2,
            "a.json does not contain hold_p95 of procs; it has only p50, p90, p99, p99.9 of this population",
        ),
        (
            &["--from", &saved, "--max", "tasks.since<1s"],
            2,
            "a.json has no tasks; it has procs",
        ),
        (&["--from", &saved], 2, "a.json has no alerts; it has procs"),
        (
            &["--from", &broken],
            2,
            "no.json: not JSON: expected value at line 1 column 1",
        ),
        (
            &["--from", "/nowhere/b.json"],
            3,
            "cannot read /nowhere/b.json: No such file or directory (os error 2)",
        ),
        (
            &["4243"],
            3,
            "no process 4243 of yours runs TurboWish; running: kv 4242",
        ),
    ] {
        let (got, text) = host.failure(&[&["check"], args].concat());
        let expected = format!("turbowish: {expected}\n");
        assert_eq!((got, files.told(&text)), (Some(code), expected), "{args:?}");
    }
    for (args, expected) in [
        (
            &["--alert", "doom"][..],
            "no such alert; there are deadlock, ",
        ),
        (
            &["--no-alerts=bad"],
            "[possible values: alert, warning, note]",
        ),
        (&["--for", "5"], "a time with its unit, as in 30s or 1m"),
        (&["--for", "5s", "--within", "5s"], "cannot be used with"),
        (&["4242", "--from", "a.json"], "cannot be used with"),
    ] {
        let (got, text) = host.failure(&[&["check"], args].concat());
        assert_eq!(got, Some(2), "{args:?}");
        assert!(text.contains(expected), "{args:?} {text}");
    }
}

/// A document as older versions wrote it.
fn without_buckets(text: &str) -> String {
    let mut parts = text.split(",\"buckets\":[");
    let mut bare = parts.next().unwrap().to_owned();
    for part in parts {
        let end = if part.starts_with(']') { "]" } else { "]]" };
        bare += part.split_once(end).unwrap().1;
    }
    bare
}

/// Ascending values with their counts, as a population of JSON.
fn population(values: &[(u64, u64)]) -> Value {
    let n: u64 = values.iter().map(|(_, count)| count).sum();
    let sum: u64 = values.iter().map(|(value, count)| value * count).sum();
    let max = values.last().unwrap().0;
    json!({"n": n, "sum_ns": sum, "max_ns": max, "buckets": values})
}

/// The populations of a document with more than two different values.
fn spread(document: &mut Value) {
    for row in document["procs"].as_array_mut().unwrap() {
        let times = if row["proc"] == "kv::expiry::sweep" {
            1_000
        } else {
            1
        };
        for name in ["call_running", "poll_hold"] {
            let [n, p50, p99] = ["n", "p50", "p99"].map(|key| row[name][key].as_u64().unwrap_or(0));
            let n = n * times;
            if n > 0 {
                row[name] = population(&[
                    (p50 * 4 / 5, n / 5),
                    (p50, n * 2 / 5),
                    (p50.midpoint(p99), n * 3 / 10),
                    (p99, n - n / 5 - n * 2 / 5 - n * 3 / 10),
                ]);
            }
        }
    }
}

/// The kv server's procs, and the same after a change of the code.
fn before_and_after() -> Files {
    let host = Host::with_kv();
    let bare = without_buckets(&query(&host, "procs"));
    let mut before: Value = serde_json::from_str(&query(&host, "procs")).unwrap();
    spread(&mut before);
    let mut after = before.clone();
    let rows = after["procs"].as_array_mut().unwrap();
    for row in rows.iter_mut() {
        // Which bucket gets another bound.
        let (name, bucket, value) = match row["proc"].as_str().unwrap() {
            "kv::expiry::sweep" => {
                row["max_poll_ns"] = json!(9_100_000);
                ("poll_hold", 3, 8_550_000)
            }
            "kv::db::set" => ("poll_hold", 3, 23_000),
            "kv::conn::read_frame" => ("call_running", 1, 9_115),
            "kv::snapshot::write" => ("poll_hold", 3, 46_000_000),
            "kv::snapshot::report" => {
                row["ready"] = json!(16);
                continue;
            }
            "kv::db::get" => {
                row["proc"] = json!("kv::db::read");
                continue;
            }
            _ => continue,
        };
        row[name]["buckets"][bucket][0] = json!(value);
        row[name]["max_ns"] = json!(value.max(row[name]["max_ns"].as_u64().unwrap()));
    }
    let before = before.to_string();
    Files::of(&[
        ("before.json", &before),
        ("after.json", &after.to_string()),
        ("tasks.json", &query(&host, "tasks")),
        ("old.json", "{\"schema\":2}"),
        ("lines.json", &format!("{before}{before}")),
        ("bare.json", &bare),
    ])
}

/// What a comparison prints, and its exit code.
fn diff(files: &Files, args: &[&str], code: i32) -> String {
    let (before, after) = (files.path("before.json"), files.path("after.json"));
    let args = [&["diff", &before, &after], args].concat();
    files.told(&verdict(&Host::empty(), &args, code))
}

#[test]
fn a_diff_shows_what_has_changed_the_worst_first() {
    let files = before_and_after();
    let text = diff(&files, &["--fail-over", "10%"], 1);
    insta::assert_snapshot!("diff", text);
    // As the page of the screens draws it.
    for line in [
        "PROC                   WHAT      BEFORE  AFTER   CHANGE",
        "kv::expiry::sweep      POLp99    6.02ms 8.55ms   +42.0% FAIL",
        "kv::db::set            POLp99    21.5µs 23.0µs    +7.0% worse",
        "kv::conn::read_frame   RUNp50    10.8µs 9.12µs   -15.6% better",
        "kv::snapshot::write    POLp99    38.4ms 46.0ms   +19.8% too few",
        "kv::expiry::sweep      LONGEST   6.41ms 9.10ms   +42.0% single",
        "kv::expiry::sweep: p99 of a poll 6.02ms -> 8.55ms (+42.0%, at least +37.7%; 100,000 and 100,000 polls)",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    assert_eq!(diff(&files, &[], 1), text, "10 % is the default");
    assert_eq!(diff(&files, &["--threshold", "10"], 1), text);
    insta::assert_snapshot!("diff_json", diff(&files, &["-o", "json"], 1));
    insta::assert_snapshot!("diff_csv", diff(&files, &["-o", "csv"], 1));
    for (args, code, last) in [
        (
            &["--fail-over", "50%"][..],
            0,
            "3 of 8 procs changed by more than 2 %; 0 over 50 %; 1 new; 1 gone",
        ),
        (
            &["--fail-over", "2.5%"],
            1,
            "3 of 8 procs changed by more than 2 %; 2 over 2.5 %, 1 not certain; 1 new; 1 gone",
        ),
        (
            &["--columns", "run_p50,calls"],
            0,
            "2 of 8 procs changed by more than 2 %; 0 over 10 %; 1 new; 1 gone",
        ),
        (
            &["--filter", "sweep | set"],
            1,
            "2 of 2 procs changed by more than 2 %; 1 over 10 %",
        ),
    ] {
        let text = diff(&files, args, code);
        assert_eq!(text.lines().last(), Some(last), "{args:?}");
    }
}

/// A function that was not called in the window is not gone, and a part of a file does not tell
/// that there are no other rows.
#[test]
fn what_a_file_does_not_tell_is_not_gone() {
    let before = query(&Host::with_kv(), "procs");
    let mut after: Value = serde_json::from_str(&before).unwrap();
    let rows = after["procs"].as_array_mut().unwrap();
    let is = |name: &'static str| move |row: &&mut Value| row["proc"] == name;
    let unused = rows.iter_mut().find(is("kv::snapshot::report"));
    let unused = unused.expect("a row").clone();
    let idle = rows.iter_mut().find(is("kv::db::set")).expect("a row");
    for field in ["call_running", "call_wall", "poll_hold", "poll_running"] {
        idle[field] = unused[field].clone();
    }
    let whole = after.to_string();
    let rows = after["procs"].as_array_mut().unwrap();
    rows.retain(|row| row["proc"] != "kv::db::get");
    // It was asked for fewer rows than there are.
    after["counts"]["procs"]["total"] = json!(99);
    let files = Files::of(&[
        ("before.json", &before),
        ("after.json", &whole),
        ("part.json", &after.to_string()),
    ]);
    let (was, part) = (files.path("before.json"), files.path("part.json"));
    let told = files.told(&verdict(&Host::empty(), &["diff", &was, &part], 0));
    for text in [diff(&files, &[], 0), told.clone()] {
        let uncalled = text
            .lines()
            .find(|line| line.starts_with("not called in the "));
        assert!(
            uncalled.expect("a line").ends_with(": kv::db::set"),
            "{text}"
        );
        assert!(text.contains(" only before\n"), "{text}");
        assert!(!text.contains("gone"), "{text}");
    }
    let get = |line: &&str| line.starts_with("kv::db::get ");
    let get = told.lines().find(get).expect("a row");
    assert!(get.ends_with("only before"), "{told}");
    assert!(told.trim_end().ends_with("; 1 only before"), "{told}");
}

#[test]
fn a_file_is_no_different_from_itself() {
    let host = deadlocked();
    for (table, rows) in [
        ("procs", 9),
        ("tasks", 4),
        ("resources", 3),
        ("awaits", 2),
        ("alerts", 3),
        ("counters", 4),
        ("delays", 2),
    ] {
        let files = Files::of(&[("a.json", &query(&host, table))]);
        let path = files.path("a.json");
        let same = format!("0 of {rows} {table} changed by more than 2 %; 0 over 0 %\n");
        let args = ["diff", &path, &path, "--fail-over", "0"];
        assert_eq!(verdict(&host, &args, 0), same);
        let text = verdict(&host, &["diff", &path, &path, "-o", "json"], 0);
        let value: Value = serde_json::from_str(&text).unwrap();
        for list in ["changes", "new", "gone"] {
            assert_eq!(value[list], json!([]), "{table} {list}");
        }
    }
    let full = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report_file/full.json");
    for table in [
        "procs",
        "tasks",
        "resources",
        "awaits",
        "alerts",
        "counters",
    ] {
        let args = ["diff", full, full, "--table", table, "--fail-over", "0"];
        let text = verdict(&host, &args, 0);
        assert!(text.starts_with("0 of 1 "), "{table} {text}");
    }
}

/// A splitmix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    /// Above 0, below 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// `n` times of calls around a median, in buckets: 32 for each power of two.
    fn times(&mut self, n: u64, median: f64) -> Value {
        let mut buckets = std::collections::BTreeMap::new();
        for _ in 0..n {
            let radius = (-2.0 * self.unit().ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * self.unit()).cos();
            let value = (median * (0.3 * normal).exp()) as u64;
            let step = (1u64 << value.max(32).ilog2()) / 32;
            *buckets.entry((value / step + 1) * step - 1).or_insert(0) += 1;
        }
        population(&buckets.into_iter().collect::<Vec<(u64, u64)>>())
    }

    /// A window of the kv server, in which `slow` takes a fifth longer.
    fn window(&mut self, document: &Value, slow: &str) -> String {
        let mut window = document.clone();
        for row in window["procs"].as_array_mut().unwrap() {
            let factor = if row["proc"] == slow { 1.2 } else { 1.0 };
            for name in ["call_running", "poll_hold", "call_wall"] {
                let (n, p50) = (row[name]["n"].as_u64().unwrap(), row[name]["p50"].as_f64());
                if let Some(p50) = p50 {
                    row[name] = self.times(n.min(5_000), p50 * factor);
                }
            }
        }
        window.to_string()
    }
}

#[test]
fn windows_of_one_load_pass_and_a_slower_proc_is_named() {
    let host = Host::with_kv();
    let document: Value = serde_json::from_str(&query(&host, "procs")).unwrap();
    let mut random = Random(1);
    let slow = "kv::conn::write_reply";
    let mut windows = vec![("slower.json".to_owned(), random.window(&document, slow))];
    windows.extend((0..11).map(|nth| (format!("{nth}.json"), random.window(&document, ""))));
    let named: Vec<(&str, &str)> = windows.iter().map(|(a, b)| (&**a, &**b)).collect();
    let files = Files::of(&named);
    for nth in 0..10 {
        let (before, after) = (
            files.path(&format!("{nth}.json")),
            files.path(&format!("{}.json", nth + 1)),
        );
        let text = verdict(&host, &["diff", &before, &after], 0);
        assert!(!text.contains("FAIL"), "{text}");
    }
    let (before, after) = (files.path("0.json"), files.path("slower.json"));
    let text = verdict(&host, &["diff", &before, &after], 1);
    let sentences: Vec<&str> = text.lines().filter(|line| line.contains(" -> ")).collect();
    let [sentence] = sentences[..] else {
        panic!("{text}");
    };
    assert!(sentence.starts_with(&format!("{slow}: p")), "{sentence}");
    assert!(sentence.contains("; 5,000 and 5,000 "), "{sentence}");
    // In the other direction it is better, and passes.
    let text = verdict(&host, &["diff", &after, &before], 0);
    assert!(text.contains(" better"), "{text}");
}

#[test]
fn requests_that_take_much_longer_fail_without_options() {
    let host = Host::with_kv();
    let slow = "kv::db::set";
    let mut random = Random(5);
    let mut before: Value = serde_json::from_str(&query(&host, "procs")).unwrap();
    let mut after = before.clone();
    for (document, median) in [(&mut before, 6.66e6), (&mut after, 1.4e9)] {
        let mut rows = document["procs"].as_array_mut().unwrap().iter_mut();
        let row = rows.find(|row| row["proc"] == slow).unwrap();
        row["call_wall"] = random.times(300, median);
    }
    let texts = [before.to_string(), after.to_string()];
    let files = Files::of(&[("before.json", &texts[0]), ("after.json", &texts[1])]);
    let first = diff(&files, &[], 1);
    let first = first.lines().nth(1).unwrap();
    let is_failure = first.starts_with(slow) && first.ends_with("FAIL");
    assert!(is_failure && first.contains(" WALp"), "{first}");
    let asked = diff(&files, &["--columns", "wall_p50,wall_p99"], 1);
    let sentence = asked.lines().find(|line| line.contains(" -> ")).unwrap();
    let expected = format!("{slow}: p50 of a call from creation to end ");
    assert!(sentence.starts_with(&expected), "{sentence}");
}

#[test]
fn awaits_that_fail_are_told_if_no_proc_does() {
    let host = deadlocked();
    let mut random = Random(6);
    let mut before: Value = serde_json::from_str(&query(&host, "procs")).unwrap();
    let awaits: Value = serde_json::from_str(&query(&host, "awaits")).unwrap();
    before["awaits"] = awaits["awaits"].clone();
    let mut after = before.clone();
    for (document, median) in [(&mut before, 1e6), (&mut after, 9e6)] {
        document["awaits"][0]["await_wait"] = random.times(2_000, median);
    }
    let texts = [before.to_string(), after.to_string()];
    let files = Files::of(&[("before.json", &texts[0]), ("after.json", &texts[1])]);
    let text = diff(&files, &[], 0);
    let expected = "elsewhere: 1 await over 10 % (--table awaits)";
    assert_eq!(text.lines().last(), Some(expected), "{text}");
    let text = diff(&files, &["--table", "awaits"], 1);
    assert!(text.contains(" p50 ") && text.contains(" FAIL"), "{text}");
}

#[test]
fn what_piles_up_is_told_and_that_windows_overlap() {
    let host = deadlocked();
    let procs: Value = serde_json::from_str(&query(&host, "procs")).unwrap();
    let resources: Value = serde_json::from_str(&query(&host, "resources")).unwrap();
    let mut before = procs;
    before["resources"] = resources["resources"].clone();
    let mut after = before.clone();
    let more = |row: &mut Value, field: &str| {
        let n = row[field].as_u64().unwrap();
        row[field] = json!(n + 328);
        row.clone()
    };
    let proc = more(&mut after["procs"][0], "live");
    let lock = more(&mut after["resources"][0], "waiter_count");
    let at = after["at_unix_ns"].as_u64().unwrap();
    after["at_unix_ns"] = json!(at + 3_000_000_000);
    let texts = [before.to_string(), after.to_string()];
    let files = Files::of(&[("before.json", &texts[0]), ("after.json", &texts[1])]);
    let paths = [files.path("before.json"), files.path("after.json")];
    let (code, text, why) = outcome(&host, &["diff", &paths[0], &paths[1]]);
    assert_eq!(code, Some(0), "{text}");
    for (row, what) in [(&proc["proc"], "LIVE"), (&lock["resource"], "WAIT")] {
        let name = row.as_str().unwrap_or_default();
        let told = text
            .lines()
            .find(|line| line.contains(&format!(" {what} ")));
        let told = told.unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(told.starts_with(name) && told.ends_with(" more"), "{told}");
    }
    let expected = "turbowish: the windows overlap by 7.00 s, of 10.0 s and 10.0 s: a change is larger than it looks\n";
    assert_eq!(why, expected);
    // Fewer are no news, and nor is a file beside itself.
    let (code, text, _) = outcome(&host, &["diff", &paths[1], &paths[0]]);
    assert_eq!((code, text.contains("LIVE")), (Some(0), false), "{text}");
    let (_, _, why) = outcome(&host, &["diff", &paths[0], &paths[0]]);
    assert_eq!(why, "");
}

#[test]
fn a_file_of_an_older_version_fails_only_by_gross_changes() {
    let files = before_and_after();
    let after = files.path("after.json");
    let bare = files.path("bare.json");
    let (code, text, why) = outcome(&Host::empty(), &["diff", &bare, &after]);
    assert_eq!(code, Some(0), "{text}");
    let why = files.told(&why);
    let expected = "turbowish: bare.json has percentiles without their buckets: only a gross change of them can fail\n";
    assert_eq!(why, expected, "{text}");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let files = before_and_after();
    let path = |name: &str| files.path(name);
    let (before, after, tasks) = (path("before.json"), path("after.json"), path("tasks.json"));
    for (args, code, expected) in [
        (
            &[&*before, &tasks][..],
            2,
            "nothing to compare: before.json has procs, tasks.json has tasks",
        ),
        (
            &[&before, &after, "--table", "awaits"],
            2,
            "before.json has no awaits; it has procs",
        ),
        (
            &[&before, &path("old.json")],
            2,
            "old.json: has schema 2, but this turbowish reads 1: update turbowish-cli",
        ),
        (
            &[&before, &path("lines.json")],
            2,
            "lines.json: has several documents; use one line of it",
        ),
        (
            &[&before, &path("none.json")],
            3,
            "cannot read none.json: No such file or directory (os error 2)",
        ),
        (
            &[&before, &after, "-c", "where"],
            2,
            "where is text, and only numbers are compared",
        ),
        (
            &[&path("bare.json"), &after, "-c", "hold", "-p", "95"],
            2,
            "bare.json does not contain hold_p95 of procs; it has only p50, p90, p99, p99.9 of this population",
        ),
        (
            &[&before, &after, "-c", "lognest"],
            2,
            "no field lognest in procs; did you mean longest?",
        ),
    ] {
        let (got, text) = Host::empty().failure(&[&["diff"], args].concat());
        let expected = format!("turbowish: {expected}\n");
        assert_eq!((got, files.told(&text)), (Some(code), expected), "{args:?}");
    }
}

#[test]
fn standard_input_is_a_file_too() {
    let host = Host::with_kv();
    let run = |args: &[&str]| {
        let mut child = host.command();
        let mut child = child
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, query(&host, "procs").as_bytes()).unwrap();
        drop(input);
        child.wait_with_output().unwrap().status.code()
    };
    assert_eq!(
        run(&["check", "--from", "-", "--max", "procs.hold_p99<1ms"]),
        Some(1)
    );
    assert_eq!(
        run(&["check", "--from", "-", "--max", "procs.hold_p99<1s"]),
        Some(0)
    );
}

#[test]
fn a_watch_prints_a_document_a_line() {
    let host = deadlocked();
    let text = host.stdout(&["watch", "--count", "2", "--every", "100ms"]);
    let procs = host.stdout(&["query", "procs", "-o", "json"]);
    assert_eq!(text, without_buckets(&procs).repeat(2));
    let text = host.stdout(&[
        "watch", "4242", "alerts", "procs", "--count", "1", "--limit", "1", "-p", "99",
    ]);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["alerts"][0]["kind"], "deadlock");
    assert_eq!(lines[1]["counts"]["procs"]["left_out"], 8);
    assert_eq!(lines[1]["procs"][0]["poll_hold"]["p50"], Value::Null);
    let chosen = host.stdout(&[
        "watch", "tasks", "4242", "--count", "1", "-c", "state", "-f", "repl-1",
    ]);
    let value: Value = serde_json::from_str(&chosen).unwrap();
    assert_eq!(value["tasks"], json!([{"state": "waiting"}]));
    for (args, code, expected) in [
        (
            &["4242", "rpocs"][..],
            2,
            "no such table rpocs; tables: procs, tasks, resources, awaits, alerts, counters, delays, slowest",
        ),
        (
            &["4242", "procs", "tasks", "-c", "proc"],
            2,
            "--columns applies to one table; leave it out, or watch each table separately",
        ),
        (
            &["procs", "-f", "run>"],
            2,
            "filter of procs: run is compared with a number, not \"\"",
        ),
        (
            &["7"],
            3,
            "no process 7 of yours runs TurboWish; running: kv 4242",
        ),
    ] {
        let expected = format!("turbowish: {expected}\n");
        let got = host.failure(&[&["watch"], args].concat());
        assert_eq!(got, (Some(code), expected), "{args:?}");
    }
}

#[test]
fn a_watch_that_is_stopped_has_whole_lines_and_nothing_to_say() {
    let host = Host::with_kv();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut child = host
            .command()
            .args(["watch", "--every", "100ms"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        lines.read_line(&mut text).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        lines.read_to_string(&mut text).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), &*output.stderr),
            (Some(code), &[][..])
        );
        assert!(text.ends_with('\n'));
        for line in text.lines() {
            serde_json::from_str::<Value>(line).unwrap();
        }
    }
    // The reader goes after the first line.
    let mut child = host
        .command()
        .args(["watch", "--every", "100ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut String::new())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &[][..]));
}

#[test]
fn a_watch_goes_on_when_the_process_was_started_again() {
    let mut host = Host::with_kv();
    let mut child = host
        .command()
        .args(["watch", "4242", "--every", "100ms", "--reconnect"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut until = |key: &str, expected: u64| {
        let mut told = lines
            .by_ref()
            .map(|line| -> Value { serde_json::from_str(&line.unwrap()).unwrap() });
        told.find(|line| line["process"][key] == expected).unwrap();
    };
    let mut later = kv();
    until("uptime_ns", later.process.uptime_ns);
    for (pid, uptime_ns) in [(4242, 7), (4243, 8)] {
        host.kill();
        let note = notes.next().unwrap().unwrap();
        assert!(note.ends_with("; waiting for it"), "{note}");
        (later.process.pid, later.process.uptime_ns) = (pid, uptime_ns);
        host.start(later.clone(), PROTOCOL);
        until("uptime_ns", uptime_ns);
        until("pid", pid.into());
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_watch_ends_with_the_process() {
    for (count, code, expected) in [
        (&["--count", "0"], 0, ""),
        (&["--count", "36000"], 3, " snapshots\n"),
    ] {
        let mut host = Host::with_kv();
        let mut child = host
            .command()
            .args(["watch", "--every", "100ms"])
            .args(count)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut String::new()).unwrap();
        host.kill();
        lines.read_to_string(&mut String::new()).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(
            stderr.ends_with(expected) && stderr.is_empty() == (code == 0),
            "{stderr}"
        );
    }
}

#[test]
fn a_check_waits_for_a_process_that_is_yet_to_come() {
    let host = Host::empty();
    let child = host
        .command()
        .args(["check", "--within", "60s", "--no-alerts"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    host.start(kv(), PROTOCOL);
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(0), &b"no alerts\n"[..])
    );
}

/// The demo, on a terminal of its own, so that it stays.
#[cfg(feature = "demo")]
pub(crate) struct Demo {
    child: std::process::Child,
    screen: std::thread::JoinHandle<()>,
}

#[cfg(feature = "demo")]
impl Demo {
    /// A key-value server under load, and no troubles.
    pub(crate) fn start(host: &Host, report: &str) -> Self {
        let mut command = host.command();
        command.args(["demo", "--calm"]);
        command.env("TURBOWISH_REPORT", report);
        Self::of(command)
    }

    pub(crate) fn of(mut command: std::process::Command) -> Self {
        let (mut ours, theirs) = super::terminal();
        let child = command
            .env("TERM", "xterm")
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A screen that nobody reads would stop the console.
        let screen = std::thread::spawn(move || {
            let mut drawn = [0; 4096];
            while ours.read(&mut drawn).is_ok_and(|bytes| bytes > 0) {}
        });
        Self { child, screen }
    }

    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// It comes, and then its load.
    pub(crate) fn becomes_busy(&self, host: &Host) {
        let busy = [
            "check",
            &self.pid(),
            "--within",
            "60s",
            "--min",
            "procs.calls > 10",
            "-f",
            "proc:kv::conn::read_frame",
        ];
        let text = verdict(host, &busy, 0);
        assert_eq!(text, "1 of 1 proc is within the limit\n");
    }

    /// Ends it as a terminal that is closed would.
    pub(crate) fn end(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap();
        self.screen.join().unwrap();
    }
}

/// What is printed when the server finds time to answer: a busy machine may keep it from that for a
/// second.
#[cfg(feature = "demo")]
pub(crate) fn answer(host: &Host, args: &[&str]) -> String {
    loop {
        match outcome(host, args) {
            (Some(3), _, why) => assert!(why.contains("does not answer within"), "{why}"),
            (code, text, why) => {
                assert_eq!((code, &*why), (Some(0), ""), "{args:?}");
                return text;
            }
        }
    }
}

#[cfg(feature = "demo")]
#[test]
fn a_real_server_is_checked_watched_and_compared() {
    let host = Host::empty();
    let files = Files::of(&[]);
    let (report, saved) = (files.path("report.json"), files.path("saved.json"));
    let demo = Demo::start(&host, &report);
    let pid = demo.pid();
    demo.becomes_busy(&host);
    let read = "proc:kv::conn::read_frame";
    let never = [
        "check",
        &pid,
        "--for",
        "1s",
        "--max",
        "procs.hold_p50 < 1ns",
        "-f",
        read,
    ];
    let text = verdict(&host, &never, 1);
    let start = "FAIL  procs.hold_p50 < 1ns   kv::conn::read_frame ";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.ends_with("\n0 of 1 proc are within the limit\n"),
        "{text}"
    );
    verdict(&host, &["check", &pid, "--alert", "deadlock"], 0);
    let text = answer(&host, &["tree", &pid]);
    assert!(text.contains("- kv::"), "{text}");
    fs::write(
        &saved,
        answer(&host, &["query", "procs", &pid, "-o", "json"]),
    )
    .unwrap();
    let text = verdict(&host, &["diff", &saved, &saved], 0);
    assert!(text.starts_with("0 of "), "{text}");
    let text = host.stdout(&[
        "watch", &pid, "tasks", "procs", "--count", "3", "--every", "100ms",
    ]);
    assert_eq!(text.lines().count(), 6);
    // The server ends while it is watched.
    let mut watch = host
        .command()
        .args(["watch", &pid, "--every", "100ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    demo.end();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let output = watch.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &[][..]));
    assert!(rest.is_empty() || rest.ends_with("}\n"), "{rest}");
    // What it left behind has all tables.
    let from = [
        "check",
        "--from",
        &report,
        "--max",
        "procs.panicked = 0",
        "--alert",
        "deadlock",
    ];
    verdict(&host, &from, 0);
    let text = verdict(&host, &["diff", &report, &report], 0);
    assert!(text.starts_with("0 of "), "{text}");
    let (code, text, _) = outcome(&host, &["diff", &saved, &report, "--fail-over", "1000000%"]);
    assert!(
        text.contains(" procs changed by more than 2 %"),
        "{code:?} {text}"
    );
}

/// Words of a command as a shell would take them, quotes and all.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (nth, part) in line.split('\'').enumerate() {
        match nth % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// A command of the page, and what it prints.
fn run_line(host: &Host, files: &Files, line: &str) -> String {
    let (command, _) = line.split_once("  # exit code ").unwrap_or((line, ""));
    let command = command.trim_end();
    let output = host
        .command()
        .current_dir(files.0.path())
        .args(words(command.strip_prefix("$ turbowish ").unwrap()))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    match output.status.code() {
        Some(0) => format!("{command}\n{text}"),
        code => format!("{command}  # exit code {}\n{text}", code.unwrap()),
    }
}

/// The commands of docs/scripts.md print what it says they print, and end as it says.
#[test]
fn the_page_about_scripts_is_true() {
    let page = include_str!("../../../docs/scripts.md");
    let host = deadlocked();
    let files = before_and_after();
    let mut parts = page.split("```console\n");
    let mut actual = parts.next().unwrap().to_owned();
    for part in parts {
        let (fence, rest) = part.split_once("```").unwrap();
        let commands = fence.lines().filter(|line| line.starts_with("$ "));
        let printed: String = commands.map(|line| run_line(&host, &files, line)).collect();
        actual += &format!("```console\n{printed}```{rest}");
    }
    assert_eq!(page, actual);
    assert!(page.matches("```console\n$ turbowish ").count() > 2);
}
