//! A program whose work is known: every bound here holds whatever else the machine does.
#![cfg(feature = "enabled")]

mod program;

use program::Program;
use serde_json::Value;

const MS: u64 = 1_000_000;

fn number(proc: &Value, field: &str) -> u64 {
    proc[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} of {proc}"))
}

#[test]
fn work_waits_and_ends_are_told_apart() {
    let left = Program::example("known-work", &["5"])
        .env("RUST_BACKTRACE", "0")
        .run();
    assert!(left.status.success(), "{}", left.stderr);
    // Spins: 10, 20 and 30 ms a call. Sleeps: 100 and 10 ms a call, never in running.
    for (proc, spin, sleeps) in [
        ("parent", 10, 110),
        ("child", 20, 110),
        ("grandchild", 30, 10),
    ] {
        let row = left.proc(&format!("known_work::work::{proc}"));
        assert_eq!((number(row, "calls"), number(row, "ready")), (5, 5));
        assert!(number(row, "running_ns") >= 5 * spin * MS, "{row}");
        assert!(number(row, "yielded_ns") >= 5 * sleeps * MS, "{row}");
        assert!(
            number(row, "running_ns") + number(row, "yielded_ns") <= number(row, "wall_ns"),
            "{row}"
        );
    }
    let fib = left.proc("known_work::work::fib");
    assert_eq!(number(fib, "calls"), 41);
    assert!(number(fib, "running_ns") >= 21 * MS);
    // Recursion counts once: no more than all the time its outermost call was polled.
    assert!(
        number(fib, "inclusive_ns") <= number(fib, "max_poll_ns"),
        "{fib}"
    );
    assert!(
        number(fib, "hold_ns") > number(fib, "inclusive_ns"),
        "{fib}"
    );
}

#[test]
fn who_keeps_the_worker_is_told() {
    let left = Program::example("known-work", &["1"])
        .env("RUST_BACKTRACE", "0")
        .run();
    let report = left.report.as_ref().expect("a report");
    let rows = report["delays"].as_array().expect("delays");
    let is_it = |row: &&Value| {
        row["victim"] == "known_work::work::handle" && row["behind"] == "known_work::work::compact"
    };
    let row = rows.iter().find(is_it).expect("a row");
    // Five times 20 ms, as two clocks see them.
    assert_eq!(number(row, "polls"), 5, "{row}");
    assert!(number(row, "time_ns") >= 99 * MS, "{row}");
    assert!(number(row, "time_ns") <= number(row, "ready_ns"), "{row}");
}

#[test]
fn every_way_a_call_can_end_is_counted_apart() {
    let left = Program::example("known-work", &["1"])
        .env("RUST_BACKTRACE", "0")
        .run();
    let outcomes = |proc: &str| {
        let row = left.proc(&format!("known_work::work::{proc}"));
        [
            "calls",
            "ready",
            "err",
            "cancelled",
            "never_polled",
            "panicked",
            "immediate",
        ]
        .map(|field| number(row, field))
    };
    assert_eq!(outcomes("too_slow"), [2, 0, 0, 2, 1, 0, 0]);
    assert_eq!(outcomes("panics"), [1, 0, 0, 0, 0, 1, 0]);
    assert_eq!(outcomes("fails"), [1, 1, 1, 0, 0, 0, 1]);
    let awaits = left.report.as_ref().expect("a report")["awaits"]
        .as_array()
        .expect("awaits");
    let dropped: Vec<&Value> = awaits.iter().filter(|row| row["cancelled"] != 0).collect();
    assert_eq!(dropped.len(), 1, "{dropped:?}");
    assert_eq!(dropped[0]["proc"], "known_work::work::too_slow");
    assert_eq!(dropped[0]["expr"], "sleep(Duration::from_secs(3600))");
    assert_eq!(dropped[0]["cancelled"], 1);
}
