//! The alerts of the screens: three tasks in a cycle, a future that is not polled, and polls that
//! take long.

use turbowish_model::snapshot::Place;
use turbowish_model::snapshot::alert::{
    Alert, Behind, BehindWait, Occurrence, Party, PartyKind, Point, Severity, Step,
};
use turbowish_model::snapshot::pitfall::Pitfall;

const TENTH: u64 = 100_000_000;
/// When the alerts were seen last, on the process's own clock, in tenths of a second.
const NOW: u64 = 8_420;

fn party(kind: PartyKind, id: u64, name: &str) -> Party {
    Party {
        kind,
        id,
        name: name.to_owned(),
    }
}

fn task(id: u64, name: &str) -> Party {
    party(PartyKind::Task, id, name)
}

fn resource(id: u64, name: &str) -> Party {
    party(PartyKind::Resource, id, name)
}

/// A proc, and line and columns of its await in the file of its module.
fn point(proc: &str, (line, column, end_column): (u32, u32, u32), expr: &str) -> Point {
    let module = proc.split("::").nth(1).unwrap_or_default();
    Point {
        proc: proc.to_owned(),
        place: Some(Place {
            file: format!("src/{module}.rs"),
            line,
            column,
            end_line: line,
            end_column,
            expr: expr.to_owned(),
        }),
    }
}

/// An alert that has held for so many tenths of a second.
fn held(pitfall: Pitfall, severity: Severity, tenths: u64) -> Alert {
    Alert {
        pitfall,
        severity,
        since: (NOW - tenths) * TENTH,
        held_ns: tenths * TENTH,
        holds: true,
        certain: true,
        ..Alert::default()
    }
}

fn step(task: Party, point: Point, tenths: u64, on: Party, how: &str) -> Step {
    Step {
        task,
        point,
        since: (NOW - tenths) * TENTH,
        on,
        how: how.to_owned(),
    }
}

/// The deadlock of `stuck`, with 47 tasks behind it.
pub(crate) fn deadlock() -> Alert {
    let (conn, repl, snapshot) = (
        task(2, "conn:51022"),
        task(1, "repl-1"),
        task(3, "snapshot"),
    );
    let (queue, log, db) = (
        resource(2, "mpsc repl"),
        resource(1, "mutex log"),
        resource(3, "mutex db"),
    );
    let steps = vec![
        step(
            conn.clone(),
            point("kv::conn::serve", (88, 9, 33), "self.repl.send(cmd)"),
            414,
            queue.clone(),
            "64/64, full; only this task intends to receive",
        ),
        step(
            repl.clone(),
            point("kv::repl::push", (51, 27, 47), "self.log.lock()"),
            416,
            log.clone(),
            "held 41.6 s, taken at snapshot.rs:92, by",
        ),
        step(
            snapshot.clone(),
            point("kv::snapshot::write", (97, 18, 37), "self.db.lock()"),
            412,
            db.clone(),
            "held 41.4 s, taken at conn.rs:84, by",
        ),
    ];
    let mut behind: Vec<Party> = (0..47)
        .map(|n| task(10 + n, &format!("conn:{}", 51_000 + n)))
        .filter(|party| party.name != "conn:51022")
        .collect();
    behind.push(task(4, "expiry"));
    Alert {
        title: "deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in a cycle".to_owned(),
        summary: "3 tasks and 3 resources wait in a cycle".to_owned(),
        parties: vec![conn, queue, repl, log, snapshot, db],
        at: steps.first().map(|step| step.point.clone()),
        steps,
        behind: Behind {
            tasks: behind,
            unlisted: 0,
            ..Behind::default()
        },
        why: "No task in the cycle can run until another one in it does. None was woken.".to_owned(),
        fixes: vec![
            "conn.rs:88 sends while it holds mutex db: drop the guard first".to_owned(),
            "take mutex db before mutex log in kv::snapshot::write (it takes mutex log, then mutex db)"
                .to_owned(),
            "do not wait for mutex log in kv::repl::push, a receiver of mpsc repl".to_owned(),
        ],
        ..held(Pitfall::Deadlock, Severity::Alert, 412)
    }
}

/// Of the task `snapshot`: one future has its turn at `mutex db`, another one is polled.
pub(crate) fn futurelock() -> Alert {
    let (snapshot, db) = (task(3, "snapshot"), resource(3, "mutex db"));
    let save = point("kv::snapshot::write", (97, 18, 37), "self.db.lock()");
    let report = point("kv::snapshot::report", (61, 18, 37), "db.lock()");
    Alert {
        title: "futurelock 12.4 s+: snapshot got mutex db, but does not poll write".to_owned(),
        summary: "a future was granted a resource, but its task polls another future; certain, 1 task".to_owned(),
        parties: vec![snapshot.clone(), db.clone()],
        at: Some(save.clone()),
        steps: vec![
            step(
                snapshot.clone(),
                save,
                124,
                db.clone(),
                "granted 12.4 s ago, not polled since",
            ),
            step(snapshot, report, 124, db, "waits 12.4 s, behind it"),
        ],
        behind: Behind {
            tasks: vec![task(4, "expiry")],
            unlisted: 50,
            ..Behind::default()
        },
        why: "snapshot keeps kv::snapshot::write alive but does not poll it, so mutex db stays with that future. Meanwhile snapshot polls kv::snapshot::report, which waits for mutex db.".to_owned(),
        fixes: vec![
            "spawn write, or poll both in one join! or select!".to_owned(),
            "or drop write before snapshot.rs:61: `drop(write)`".to_owned(),
        ],
        ..held(Pitfall::Futurelock, Severity::Alert, 124)
    }
}

/// Of the proc `kv::snapshot::write`, over now.
pub(crate) fn long_poll() -> Alert {
    Alert {
        title: "long poll 38.4ms: kv::snapshot::write, 44 polls > 10ms".to_owned(),
        summary: "polls take too long".to_owned(),
        parties: vec![
            party(PartyKind::Proc, 0, "kv::snapshot::write"),
            task(3, "snapshot"),
        ],
        at: Some(point("kv::snapshot::write", (97, 18, 37), "self.db.lock()")),
        why: "A poll must return quickly: the worker runs no other task until then.".to_owned(),
        fixes: vec!["use spawn_blocking for file I/O".to_owned()],
        holds: false,
        ..held(Pitfall::LongPoll, Severity::Warning, 5_000)
    }
}

/// A poll that blocked its worker for 1.5 s, three times, the last time 42 s before this instant.
pub(crate) fn stall(at_unix_ns: u64) -> Alert {
    let ended = at_unix_ns - 420 * TENTH;
    Alert {
        title: "blocked worker w1 1.50 s: kv::compact::run in one poll".to_owned(),
        summary: "one poll took too long".to_owned(),
        parties: vec![party(PartyKind::Worker, 0, "w1"), task(7, "compact")],
        at: Some(point("kv::compact::run", (30, 19, 33), "tick.tick()")),
        behind: Behind {
            tasks: vec![task(21, "conn:51011"), task(22, "conn:51012"), task(4, "expiry")],
            unlisted: 0,
            waits: vec![
                BehindWait {
                    at: point("kv::conn::serve", (84, 9, 22), "self.db.lock()"),
                    tasks: 3,
                    longest_ns: 14 * TENTH,
                    asleep: false,
                },
                BehindWait {
                    at: point("kv::stats::sample", (21, 9, 20), "sleep(PERIOD)"),
                    tasks: 12,
                    longest_ns: 15 * TENTH,
                    asleep: true,
                },
            ],
        },
        why: "A poll must return quickly: w1 ran no other task until this one returned.".to_owned(),
        fixes: vec![
            "between compact.rs:30 and the next await: file I/O or a loop? use spawn_blocking, or yield_now().await every few ms".to_owned(),
        ],
        holds: false,
        began_unix_ns: ended - 15 * TENTH,
        ended_unix_ns: Some(ended),
        unpolled_ns: 14 * TENTH,
        times: 3,
        last_unix_ns: Some(ended),
        recent: [(815, 12, 2), (415, 21, 250), (15, 15, 3)]
            .map(|(ago, held, behind_count)| Occurrence {
                began_unix_ns: ended - ago * TENTH,
                held_ns: held * TENTH,
                behind_count,
            })
            .to_vec(),
        ..held(Pitfall::BlockedWorker, Severity::Alert, 15)
    }
}
