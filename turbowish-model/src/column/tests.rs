//! Every column of every table: unique, explained, and right about zero, no sample and unknown.

use super::*;
use crate::snapshot::{Place, StackRow, TaskState};
use alloc::string::ToString;
use alloc::vec;

const TEN_SECONDS: Context = Context {
    window_ns: 10_000_000_000,
};

fn cell<R: Row>(row: &R, key: &str) -> String {
    let column = find::<R>(key).expect("a known key");
    column.cell(row, &TEN_SECONDS, Style::default())
}

fn population(values: &[u64]) -> Distribution {
    Distribution {
        n: values.len() as u64,
        sum_ns: values.iter().sum(),
        max_ns: values.iter().copied().max().unwrap_or(0),
        buckets: values.iter().map(|value| (*value, 1)).collect(),
    }
}

fn well_formed<R: Row>() {
    let columns = R::columns();
    for (index, column) in columns.iter().enumerate() {
        assert!(
            !columns[..index].iter().any(|other| other.key == column.key),
            "{} twice",
            column.key
        );
        assert!(
            column.title.chars().count() <= column.width.max(6),
            "{}",
            column.key
        );
        assert!(
            !column.meaning.is_empty() && !column.fields.is_empty(),
            "{}",
            column.key
        );
        assert!(find::<R>(&column.key).is_some());
    }
}

#[test]
fn tables_are_well_formed() {
    well_formed::<ProcRow>();
    well_formed::<TaskRow>();
    well_formed::<AwaitRow>();
}

#[test]
fn cells_of_a_proc() {
    let row = ProcRow {
        proc: "kv::snapshot::write".to_string(),
        file: "src/snapshot.rs".to_string(),
        line: 90,
        running_ns: 830_112_407,
        inclusive_ns: 21_310_000_000,
        yielded_ns: 1,
        wall_ns: 16_000_000,
        max_poll_ns: 38_402_113,
        calls: 16,
        polls: 48,
        ready: 12,
        cancelled: 4,
        never_polled: 3,
        future_bytes: 3_174,
        call_running: population(&[50_300_000, 71_200_000]),
        ..ProcRow::default()
    };
    for (key, expected) in [
        ("proc", "kv::snapshot::write"),
        ("run", "8.3"),
        ("incl", "213.1"),
        ("yielded", "<0.1"),
        ("calls", "1.60"),
        ("polls", "4.80"),
        ("live", "0"),
        ("run_p50", "50.3ms"),
        ("run_p99", "71.2ms"),
        ("run_max", "71.2ms"),
        ("run_p25", "50.3ms"),
        ("hold_p99", "-"),
        ("longest", "38.4ms"),
        ("cancelled", "0.10"),
        ("never", "0.30"),
        ("err", "0"),
        ("wall", "1.00ms"),
        ("size", "3.1KiB"),
        ("where", "src/snapshot.rs:90"),
    ] {
        assert_eq!(cell(&row, key), expected, "{key}");
    }
    let open = ProcRow {
        max_poll_open: true,
        ..row
    };
    assert_eq!(cell(&open, "longest"), "38.4ms+");
    let nothing = ProcRow::default();
    for (key, expected) in [("run", "0"), ("longest", "-"), ("wall", "-"), ("size", "?")] {
        assert_eq!(cell(&nothing, key), expected, "{key}");
    }
}

#[test]
fn a_task_stands_at_the_innermost_call_of_its_first_branch() {
    let call = |depth, line| StackRow {
        depth,
        place: Some(Place {
            file: "src/snapshot.rs".to_string(),
            line,
            expr: "x()".to_string(),
            ..Place::default()
        }),
        ..StackRow::default()
    };
    let mut row = TaskRow {
        state: TaskState::Waiting,
        since_ns: 41_200_000_000,
        stack: vec![call(0, 41), call(1, 97), call(1, 121)],
        ..TaskRow::default()
    };
    assert_eq!(cell(&row, "at"), "src/snapshot.rs:97");
    let short = Style {
        places: Shown::Short,
        ..Style::default()
    };
    assert_eq!(
        find::<TaskRow>("at")
            .expect("known")
            .cell(&row, &TEN_SECONDS, short),
        "snapshot.rs:97"
    );
    assert_eq!(cell(&row, "since"), "41.2 s");
    row.stack.truncate(1);
    assert_eq!(cell(&row, "at"), "src/snapshot.rs:41");
    assert_eq!(cell(&row, "expr"), "x()");
    for unseen in ["?", ""] {
        if let Some(at) = &mut row.stack[0].place {
            at.expr = unseen.to_string();
        }
        let column = find::<TaskRow>("expr").expect("known");
        assert_eq!(column.value(&row, &TEN_SECONDS), Value::Unknown);
    }
    row.stack[0].place = None;
    assert_eq!(cell(&row, "at"), "?");
    row.state = TaskState::Polling;
    assert_eq!(cell(&row, "since"), "41.2 s+");
}

#[test]
fn percentiles_are_columns_by_name() {
    for (key, title, width) in [
        ("run_p99.9", "RUNp99.9", 8),
        ("incl_p90", "INCp90", 6),
        ("poll_p50", "POLp50", 6),
    ] {
        let column = find::<ProcRow>(key).expect("known");
        assert_eq!(
            (&*column.key, &*column.title, column.width),
            (key, title, width)
        );
    }
    for key in [
        "run_p0", "run_p101", "run_p", "hold_p98", "wall_p50", "run_px", "",
    ] {
        assert!(find::<ProcRow>(key).is_none(), "{key}");
    }
}

#[test]
fn the_nearest_key() {
    for (mistyped, expected) in [
        ("hold_p98", Some("hold_p99")),
        ("hold_p9x", Some("hold_p90")),
        ("hold_p9", Some("hold_p90")),
        ("hold_p2", Some("hold_p25")),
        ("hold_p99.", Some("hold_p99.9")),
        ("hold_p100", Some("hold_p99.99")),
        ("lognest", Some("longest")),
        ("runs", Some("run")),
        ("zzzzzzzzz", None),
    ] {
        assert_eq!(
            nearest::<ProcRow>(mistyped).as_deref(),
            expected,
            "{mistyped}"
        );
    }
}
