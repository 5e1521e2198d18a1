//! Tests of the columns of every table: unique, documented, and correct for zero, no sample and
//! unknown.

use super::*;
use crate::account::resource::{Kind, Role};
use crate::snapshot::json::Record;
use crate::snapshot::{
    AwaitRow, Claim, HolderRow, Place, ProcRow, ResourceRow, Spot, StackRow, Table, TableVisitor,
    TaskRow, TaskState, WaiterRow, WakerRow,
};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

const TEN_SECONDS: Context = Context {
    window_ns: 10_000_000_000,
    at_unix_ns: 0,
};

fn printed<R: Row>(row: &R, key: &str) -> String {
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

struct WellFormed;

impl TableVisitor for WellFormed {
    type Output = ();

    fn visit<R: Record>(self) {
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
}

/// A column's key, or its title in any case, identifies the column unambiguously.
struct TitlesAreClear;

impl TableVisitor for TitlesAreClear {
    type Output = ();

    fn visit<R: Record>(self) {
        for column in R::columns() {
            let (titled, length) = titled::<R>(&column.title.to_lowercase()).expect("a title");
            assert_eq!(
                (titled.key, length),
                (column.key.clone(), column.title.len())
            );
            for title in [&*column.title, console_title(column)] {
                if let Some(other) = find::<R>(&title.to_lowercase()) {
                    assert_eq!(other.key, column.key, "{title}");
                }
            }
        }
    }
}

#[test]
fn titles_name_columns() {
    Table::ALL
        .iter()
        .for_each(|table| table.visit(TitlesAreClear));
    for (text, expected) in [
        ("RUN%>5", Some(("run", 4))),
        ("HOLp99.9 < 5ms", Some(("hold_p99.9", 8))),
        ("POLp99.9 < 5ms", Some(("hold_p99.9", 8))),
        ("POLp98", None),
        ("PROC:db", Some(("proc", 4))),
        ("function:db", Some(("proc", 8))),
        ("kv::db", None),
    ] {
        let found = titled::<ProcRow>(text);
        let found = found
            .as_ref()
            .map(|(column, length)| (&*column.key, *length));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn tables_are_well_formed() {
    Table::ALL.iter().for_each(|table| table.visit(WellFormed));
}

#[test]
fn cells_of_a_proc() {
    let row = ProcRow {
        proc: "kv::snapshot::write".to_string(),
        file: "src/snapshot.rs".to_string(),
        line: 90,
        running_ns: 830_112_407,
        trend_ppm: vec![0, 1, 300_000, 1_999_999, 2_000_000],
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
        ("waiting", "<0.01"),
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
        ("trend", " ..*#"),
    ] {
        assert_eq!(printed(&row, key), expected, "{key}");
    }
    let open = ProcRow {
        max_poll_open: true,
        ..row
    };
    assert_eq!(printed(&open, "longest"), "38.4ms+");
    let nothing = ProcRow::default();
    for (key, expected) in [
        ("run", "0"),
        ("longest", "-"),
        ("wall", "-"),
        ("size", "?"),
        ("trend", ""),
    ] {
        assert_eq!(printed(&nothing, key), expected, "{key}");
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
    assert_eq!(printed(&row, "at"), "src/snapshot.rs:97");
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
    assert_eq!(printed(&row, "since"), "41.2 s");
    row.stack.truncate(1);
    assert_eq!(printed(&row, "at"), "src/snapshot.rs:41");
    assert_eq!(printed(&row, "expr"), "x()");
    for unseen in ["?", ""] {
        if let Some(at) = &mut row.stack[0].place {
            at.expr = unseen.to_string();
        }
        let column = find::<TaskRow>("expr").expect("known");
        assert_eq!(column.value(&row, &TEN_SECONDS), Value::Unknown);
    }
    row.stack[0].place = None;
    assert_eq!(printed(&row, "at"), "?");
    row.state = TaskState::Polling;
    assert_eq!(printed(&row, "since"), "41.2 s+");
}

#[test]
fn percentiles_are_columns_by_name() {
    for (key, title, width) in [
        ("run_p99.9", "RUNp99.9", 8),
        ("incl_p90", "INCp90", 6),
        ("poll_p50", "OWNp50", 6),
        ("wall_p50", "WALp50", 6),
    ] {
        let column = find::<ProcRow>(key).expect("known");
        assert_eq!(
            (&*column.key, &*column.title, column.width),
            (key, title, width)
        );
    }
    for key in [
        "run_p0",
        "run_p101",
        "run_p",
        "hold_p98",
        "yielded_p50",
        "run_px",
        "",
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
        ("conn", None),
        ("zzzzzzzzz", None),
    ] {
        assert_eq!(
            nearest::<ProcRow>(mistyped).as_deref(),
            expected,
            "{mistyped}"
        );
    }
}

fn claim(resource: &str, role: Role) -> Claim {
    Claim {
        resource: resource.to_string(),
        role,
        ..Claim::default()
    }
}

#[test]
fn what_a_task_waits_for_and_holds() {
    let mut row = TaskRow {
        name: "conn:1".to_string(),
        state: TaskState::Waiting,
        waits_on: vec![
            claim("mutex db", Role::Lock),
            claim("mpsc repl", Role::Send),
        ],
        holds: vec![claim("mutex log", Role::Lock)],
        attributes: vec![("user".to_string(), "ann".to_string())],
        parent: Some("main".to_string()),
        spawned_at: Some(Spot {
            file: "src/main.rs".to_string(),
            line: 31,
            column: 5,
        }),
        waker: Some(WakerRow {
            woken_by: Some("repl-1".to_string()),
            wakes: 7,
            ..WakerRow::default()
        }),
        ..TaskRow::default()
    };
    for (key, expected) in [
        ("on", "mutex db, mpsc repl"),
        ("holds", "mutex log"),
        ("woken_by", "repl-1"),
        ("wakes", "7"),
        ("parent", "main"),
        ("site", "src/main.rs:31"),
        ("attr.user", "ann"),
        ("attr.other", ""),
    ] {
        assert_eq!(printed(&row, key), expected, "{key}");
    }
    let woken = |row: &mut TaskRow, by: Option<&str>, wakes| {
        row.waker = Some(WakerRow {
            woken_by: by.map(ToString::to_string),
            wakes,
            ..WakerRow::default()
        });
        printed(row, "woken_by")
    };
    assert_eq!(woken(&mut row, Some("conn:1"), 1), "self");
    assert_eq!(woken(&mut row, None, 1), "?");
    assert_eq!(woken(&mut row, None, 0), "-");
    let nothing = TaskRow {
        state: TaskState::Waiting,
        ..TaskRow::default()
    };
    for (key, expected) in [
        ("on", "external"),
        ("holds", ""),
        ("woken_by", "?"),
        ("wakes", "?"),
        ("parent", "?"),
        ("site", "?"),
    ] {
        assert_eq!(printed(&nothing, key), expected, "{key}");
    }
    let unknown = TaskRow {
        waits_unknown: true,
        ..nothing.clone()
    };
    assert_eq!(printed(&unknown, "on"), "?");
    for state in [TaskState::Polling, TaskState::Ready] {
        let row = TaskRow {
            state,
            ..TaskRow::default()
        };
        assert_eq!(printed(&row, "on"), "", "it does not wait");
    }
    assert!(find::<TaskRow>("attr.").is_none());
    let proc = ProcRow {
        attributes: vec![("user".to_string(), "ann".to_string())],
        ..ProcRow::default()
    };
    assert_eq!(printed(&proc, "attr.user"), "ann");
    assert!(find::<AwaitRow>("attr.user").is_none());
}

fn waiter(task: Option<&str>, role: Role, since_ns: u64) -> WaiterRow {
    WaiterRow {
        task: task.map(ToString::to_string),
        role,
        since_ns,
        ..WaiterRow::default()
    }
}

fn holders(tasks: &[Option<&str>]) -> Vec<HolderRow> {
    let holder = |task: &Option<&str>| HolderRow {
        task: task.map(ToString::to_string),
        ..HolderRow::default()
    };
    tasks.iter().map(holder).collect()
}

#[test]
fn cells_of_a_resource() {
    let row = ResourceRow {
        kind: Kind::Mutex,
        name: "mutex db".to_string(),
        made_at: Spot {
            file: "src/db.rs".to_string(),
            line: 21,
            column: 9,
        },
        age_ns: 10_000_000_000,
        capacity: Some(1),
        level: Some(1),
        holders: holders(&[Some("conn-1")]),
        holder_count: 1,
        waiters: vec![
            waiter(Some("conn-2"), Role::Lock, 41_400_000_000),
            waiter(None, Role::Lock, 41_000_000_000),
        ],
        waiter_count: 48,
        put: 4_000,
        took: 3_999,
        waits: 52,
        waited: population(&[1_000, 2_000_000]),
        ..ResourceRow::default()
    };
    for (key, expected) in [
        ("resource", "mutex db"),
        ("fill", "1/1"),
        ("waiters", "48"),
        ("oldest", "41.4 s"),
        ("ops", "400"),
        ("wait_p99", "2.00ms"),
        ("wait_p50", "1.00µs"),
        ("wait_max", "2.00ms"),
        ("hold_p99", "-"),
        ("hold_max", "-"),
        ("by", "conn-1"),
        ("waiting", "conn-2, ? and 46 more"),
        ("site", "src/db.rs:21"),
        ("in", "400"),
        ("out", "400"),
        ("kind", "mutex"),
        ("level", "1"),
    ] {
        assert_eq!(printed(&row, key), expected, "{key}");
    }
    let signal = ResourceRow {
        kind: Kind::Notify,
        waiters: vec![waiter(None, Role::Wait, 1)],
        waiter_count: 1,
        ..ResourceRow::default()
    };
    for (key, expected) in [
        ("fill", ""),
        ("hold_p99", ""),
        ("hold_max", ""),
        ("wait_p99", "-"),
        ("wait_max", "-"),
        ("by", "?"),
        ("ops", "-"),
    ] {
        assert_eq!(printed(&signal, key), expected, "{key}");
    }
    let nobody = ResourceRow::default();
    for key in ["oldest", "by", "waiting"] {
        assert_eq!(printed(&nobody, key), "", "{key}");
    }
    let unbounded = ResourceRow {
        kind: Kind::Mpsc,
        level: Some(312),
        ..ResourceRow::default()
    };
    assert_eq!(printed(&unbounded, "fill"), "312");
    let mut lock = ResourceRow {
        kind: Kind::RwLock,
        level: Some(1),
        holders: holders(&[None]),
        holder_count: 1,
        ..ResourceRow::default()
    };
    lock.holders[0].role = Role::Read;
    assert_eq!(printed(&lock, "fill"), "1", "one reader of any number");
    lock.holders[0].role = Role::Write;
    assert_eq!(printed(&lock, "fill"), "1/1");
    let fill = find::<ResourceRow>("fill").expect("known");
    assert_eq!(fill.value(&row, &TEN_SECONDS).number(), Some(1_000_000_000));
    assert_eq!(fill.value(&unbounded, &TEN_SECONDS).number(), None);
}

#[test]
fn a_cell_names_some_and_counts_the_others() {
    let names = |n: usize| Value::Names((0..n).map(|at| alloc::format!("t{at}").into()).collect());
    let print = |n| names(n).print(Style::default());
    assert_eq!(print(2), "t0, t1");
    assert_eq!(print(9), "t0, t1, t2, t3, t4, t5, t6, t7, t8");
    assert_eq!(print(126), "t0, t1, t2, t3, t4, t5, t6, t7 and 118 more");
    let first = Value::first_names(["t0", "t1"].map(Into::into).into_iter(), 401);
    assert_eq!(first.print(Style::default()), "t0, t1 and 399 more");
    let all = Value::first_names(["t0", "t1"].map(Into::into).into_iter(), 2);
    assert_eq!(all, names(2));
    let SortKey::Text(all, _) = names(126).sort_key() else {
        panic!("no text");
    };
    assert!(all.0.ends_with("t125"));
}

#[test]
fn who_has_it_or_is_at_the_other_end() {
    let by = |row: &ResourceRow| printed(row, "by");
    let held = |tasks: &[Option<&str>]| {
        by(&ResourceRow {
            kind: Kind::Semaphore,
            holders: holders(tasks),
            holder_count: tasks.len() as u64,
            ..ResourceRow::default()
        })
    };
    assert_eq!(held(&[Some("a"), Some("b"), Some("a")]), "a, b");
    assert_eq!(held(&[Some("a"), None]), "a, ?");
    assert_eq!(held(&[None]), "?");
    let many = [Some("a"), Some("b"), Some("c"), Some("d"), Some("d")];
    assert_eq!(held(&many), "5 tasks");
    let mut channel = ResourceRow {
        kind: Kind::Mpsc,
        capacity: Some(64),
        level: Some(64),
        senders: vec![Some("s".to_string()), None],
        receivers: vec![Some("r".to_string())],
        ..ResourceRow::default()
    };
    assert_eq!(by(&channel), "r", "full: who empties it");
    channel.level = Some(0);
    assert_eq!(by(&channel), "s, ?", "empty: who fills it");
    channel.waiters = vec![waiter(None, Role::Send, 1)];
    assert_eq!(by(&channel), "r", "a sender waits");
    channel.holders = holders(&[Some("p")]);
    channel.holders[0].amount = 60;
    channel.holder_count = 3;
    assert_eq!(by(&channel), "p", "nothing inside, all reserved");
    assert_eq!(printed(&channel, "fill"), "62/64");
    channel.level = Some(2);
    assert_eq!(by(&channel), "r, p", "some inside, some reserved");
    channel.holders.clear();
    channel.holder_count = 0;
    channel.waiters = vec![waiter(None, Role::Receive, 1)];
    assert_eq!(by(&channel), "s, ?");
}
