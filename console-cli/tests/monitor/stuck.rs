//! The key-value server of the screens in its deadlock: three tasks wait in a cycle, one behind it.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::snapshot::combinator::Combinator;
use turbowish_model::snapshot::quantile::Distribution;
use turbowish_model::snapshot::{
    Aim, Claim, HolderRow, IntentRow, Page, Place, PollRow, ResourceRow, Snapshot, Spot, StackRow,
    TaskRow, TaskState, TasksByState, WaiterRow, WakerRow,
};

use super::alerts::{deadlock, futurelock, long_poll};
use super::script::kv;

const MS: u64 = 1_000_000;

fn spot((file, line, column): (&str, u32, u32)) -> Spot {
    Spot {
        file: format!("src/{file}.rs"),
        line,
        column,
    }
}

/// Resources by their number.
const LOG: (u64, &str) = (1, "mutex log");
const REPL: (u64, &str) = (2, "mpsc repl");
const DB: (u64, &str) = (3, "mutex db");
const TICK: (u64, &str) = (4, "timer");

/// A resource, as what, for how many ms, and where.
fn claim((id, name): (u64, &str), role: Role, ms: u64, at: (&str, u32, u32)) -> Claim {
    Claim {
        resource_id: id,
        resource: name.to_owned(),
        role,
        amount: 1,
        since_ns: ms * MS,
        at: spot(at),
    }
}

/// A call: depth, proc, file, line, columns, expression, ms.
type Call = (
    u32,
    &'static str,
    (&'static str, u32, u32, u32),
    &'static str,
    u64,
);

fn task(id: u64, name: &str, ms: u64, calls: &[Call], waits_on: Vec<Claim>) -> TaskRow {
    let call = |(depth, proc, (file, line, column, end_column), expr, ms): &Call| StackRow {
        depth: *depth,
        proc: format!("kv::{proc}"),
        place: Some(Place {
            file: format!("src/{file}.rs"),
            line: *line,
            column: *column,
            end_line: *line,
            end_column: *end_column,
            expr: (*expr).to_owned(),
        }),
        since_ns: ms * MS,
        ..StackRow::default()
    };
    TaskRow {
        id,
        name: name.to_owned(),
        state: TaskState::Waiting,
        since_ns: ms * MS,
        age_ns: 842_000 * MS,
        polls: 689,
        running_ns: 10_900 * MS,
        max_poll_ns: 38 * MS,
        root: format!("kv::{}", calls[0].1),
        future_bytes: 12 << 10,
        stack: calls.iter().map(call).collect(),
        waker: Some(WakerRow {
            woken_by: Some("main-1".to_owned()),
            wakes: 690,
            own_wakes: 2,
            clones: 700,
            live: 1,
            ..WakerRow::default()
        }),
        last_poll: Some(PollRow {
            ago_ns: ms * MS + 40_000,
            took_ns: Some(40_000),
            thread: Some("tokio-rt-worker".to_owned()),
            worker: Some(1),
            ready_ns: Some(11_200),
            ready_by: Some("main-1".to_owned()),
            ..PollRow::default()
        }),
        waits_on,
        ..TaskRow::default()
    }
}

fn aim((resource_id, resource): (u64, &str), role: Role, proc: &str) -> Aim {
    Aim {
        resource_id,
        resource: resource.to_owned(),
        role,
        proc: format!("kv::{proc}"),
    }
}

fn tasks() -> Vec<TaskRow> {
    let lock = Role::Lock;
    let mut conn = task(
        2,
        "conn:51022",
        41_400,
        &[(
            0,
            "conn::serve",
            ("conn", 88, 9, 33),
            "self.repl.send(cmd)",
            41_400,
        )],
        vec![claim(REPL, Role::Send, 41_400, ("conn", 88, 19))],
    );
    conn.holds = vec![claim(DB, lock, 41_400, ("conn", 84, 30))];
    conn.parent = Some("main-1".to_owned());
    conn.spawned_at = Some(spot(("main", 31, 5)));
    conn.attributes = vec![("peer".to_owned(), "10.0.0.7".to_owned())];
    let repl = task(
        1,
        "repl-1",
        41_600,
        &[(
            0,
            "repl::push",
            ("repl", 51, 27, 47),
            "self.log.lock()",
            41_600,
        )],
        vec![claim(LOG, lock, 41_600, ("repl", 51, 36))],
    );
    let mut snapshot = task(
        3,
        "snapshot",
        41_200,
        &[
            (0, "snapshot::run", ("snapshot", 41, 9, 60), "join!", 41_600),
            (
                1,
                "snapshot::write",
                ("snapshot", 97, 18, 37),
                "self.db.lock()",
                41_200,
            ),
            (
                1,
                "snapshot::tick",
                ("snapshot", 121, 9, 27),
                "tick.tick()",
                41_600,
            ),
        ],
        vec![
            claim(DB, lock, 41_200, ("snapshot", 97, 26)),
            claim(TICK, Role::Wait, 41_600, ("snapshot", 121, 14)),
        ],
    );
    snapshot.stack[0].fork = Some(Combinator::Join);
    snapshot.will = vec![
        aim(DB, lock, "snapshot::write"),
        aim(DB, lock, "snapshot::report"),
    ];
    snapshot.may = vec![aim(REPL, Role::Send, "snapshot::run")];
    snapshot.holds = vec![claim(LOG, lock, 41_600, ("snapshot", 92, 23))];
    let mut expiry = task(
        4,
        "expiry",
        41_400,
        &[
            (
                0,
                "expiry::run",
                ("expiry", 22, 9, 30),
                "self.sweep()",
                41_400,
            ),
            (
                1,
                "expiry::sweep",
                ("expiry", 33, 22, 36),
                "db.lock()",
                41_400,
            ),
        ],
        // Asked for in a function without the attribute.
        vec![claim(DB, lock, 41_400, ("db", 60, 14))],
    );
    // A select! polled it before, by reference.
    let left = StackRow {
        depth: 0,
        woken_ns: Some(41_300 * MS),
        aside: true,
        cut: true,
        ..expiry.stack[1].clone()
    };
    expiry.stack.push(left);
    vec![repl, conn, expiry, snapshot]
}

fn resources(tasks: &[TaskRow]) -> Vec<ResourceRow> {
    let row = |(id, name): (u64, &str), kind, made_at, size| {
        let waits = |task: &TaskRow| {
            let claim = task.waits_on.iter().find(|claim| claim.resource_id == id)?;
            Some(WaiterRow {
                task: Some(task.name.clone()),
                role: claim.role,
                amount: 1,
                since_ns: claim.since_ns,
                at: claim.at.clone(),
                woken_ns: None,
            })
        };
        let holds = |task: &TaskRow| {
            let claim = task.holds.iter().find(|claim| claim.resource_id == id)?;
            Some(HolderRow {
                task: Some(task.name.clone()),
                role: claim.role,
                amount: 1,
                since_ns: claim.since_ns,
                at: claim.at.clone(),
            })
        };
        let waiters: Vec<_> = tasks.iter().filter_map(waits).collect();
        let holders: Vec<_> = tasks.iter().filter_map(holds).collect();
        ResourceRow {
            id,
            kind,
            name: name.to_owned(),
            made_at: spot(made_at),
            age_ns: 800_000 * MS,
            capacity: Some(size),
            level: Some(size),
            holder_count: holders.len() as u64,
            holders,
            waiter_count: waiters.len() as u64,
            waiters,
            ..ResourceRow::default()
        }
    };
    let population = |n, p50, p99| Distribution {
        n: 2 * n,
        sum_ns: n * (p50 + p99),
        max_ns: p99,
        buckets: vec![(p50, n), (p99, n)],
    };
    let mut repl = row(REPL, Kind::Mpsc, ("main", 33, 26), 64);
    repl.senders = vec![
        Some("conn:51022".to_owned()),
        None,
        Some("snapshot".to_owned()),
    ];
    repl.receivers = vec![Some("repl-1".to_owned())];
    let intent = |task: &str, role, proc: &str| IntentRow {
        task: Some(task.to_owned()),
        role,
        proc: format!("kv::{proc}"),
    };
    repl.will = vec![
        intent("conn:51022", Role::Send, "conn::serve"),
        intent("repl-1", Role::Receive, "repl::run"),
    ];
    repl.will_count = 2;
    let conns = [51019, 51044, 51003, 51061];
    let conns = conns.map(|n| intent(&format!("conn:{n}"), Role::Send, "conn::serve"));
    repl.may = conns.to_vec();
    repl.may_count = 49;
    repl.put = 320_476;
    repl.took = 320_412;
    repl.waits = 77;
    repl.waited = population(38, 20_000, 2 * MS);
    repl.kept = population(160_206, 1_210_000, 8_800_000);
    let mut db = row(DB, Kind::Mutex, ("db", 21, 13), 1);
    // It was told long ago that it is its turn.
    db.waiters[0].woken_ns = Some(12_400 * MS);
    db.waiters.push(WaiterRow {
        role: Role::Lock,
        amount: 1,
        since_ns: 9 * MS,
        at: spot(("admin", 14, 20)),
        ..WaiterRow::default()
    });
    db.waiter_count = 48;
    vec![row(LOG, Kind::Mutex, ("repl", 18, 18), 1), repl, db]
}

/// A process in which nothing moves any more.
pub(crate) fn stuck() -> Snapshot {
    fn page<R>(rows: Vec<R>) -> Page<R> {
        Page {
            total: rows.len() as u64,
            matched: rows.len() as u64,
            rows,
        }
    }
    let tasks = tasks();
    Snapshot {
        tasks_by_state: TasksByState {
            polling: 0,
            ready: Some(0),
            waiting: 4,
            paused: 0,
        },
        resources: page(resources(&tasks)),
        tasks: page(tasks),
        alerts: page(vec![long_poll(), futurelock(), deadlock()]),
        ..kv()
    }
}
