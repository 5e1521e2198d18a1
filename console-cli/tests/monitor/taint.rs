//! A program that calls everything of its own the same thing, and what of that must reach no
//! terminal.
#![allow(dead_code, reason = "each of the tests that include it takes its part")]

use turbowish_model::snapshot::alert::{Alert, Party, Point};
use turbowish_model::snapshot::{
    Caller, Claim, HolderRow, Place, Snapshot, Spot, TaskRow, WaiterRow, WakerRow,
};

/// What a terminal obeys, or what is not seen: every C0 and C1 control but NUL, DEL, marks of
/// direction, characters without width.
pub(crate) fn controls() -> String {
    let mut name = "a\u{1b}]52;c;ZXZpbA==\u{7}\nFORGED line\r\n\tFORGED\u{1b}[2J".to_owned();
    let ranges = [
        '\u{1}'..='\u{1f}',
        '\u{7f}'..='\u{9f}',
        '\u{200e}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{2069}',
        '\u{e0000}'..='\u{e007f}',
    ];
    name.extend(ranges.into_iter().flatten());
    name.extend(['\u{61c}', '\u{200b}', '\u{feff}', '\u{fff9}']);
    name
}

/// Whether a terminal would obey it, or write the other way round, or show nothing for it.
pub(crate) fn is_obeyed(c: char) -> bool {
    let marks = [
        '\u{61c}'..='\u{61c}',
        '\u{200b}'..='\u{200b}',
        '\u{200e}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{2069}',
        '\u{feff}'..='\u{feff}',
        '\u{fff9}'..='\u{fff9}',
        '\u{e0000}'..='\u{e007f}',
    ];
    c.is_control() || marks.iter().any(|range| range.contains(&c))
}

/// Cells that a spreadsheet would calculate.
pub(crate) const FORMULAS: [&str; 6] = [
    "=cmd|'/c calc'!A1",
    "+1+cmd",
    "-2+3",
    "@SUM(1+1)*cmd",
    "\t=1+1",
    "\r=1+1",
];

/// Every text of a snapshot is `name`.
pub(crate) fn taint(mut snapshot: Snapshot, name: &str) -> Snapshot {
    let own = || name.to_owned();
    snapshot.process.name = own();
    snapshot.process.command = own();
    for worker in &mut snapshot.workers {
        worker.name = own();
        worker.polling.iter_mut().for_each(|poll| poll.proc = own());
    }
    for row in &mut snapshot.procs.rows {
        (row.proc, row.file) = (own(), own());
        row.attributes = vec![(own(), own()); 2];
        row.callers = vec![Caller {
            proc: own(),
            polls: 1,
            hold_ns: 1,
        }];
    }
    snapshot
        .tasks
        .rows
        .iter_mut()
        .for_each(|row| task(row, name));
    for row in &mut snapshot.awaits.rows {
        row.proc = own();
        place(&mut row.place, name);
    }
    for row in &mut snapshot.counters.rows {
        row.name = own();
        row.proc = Some(own());
        spot(&mut row.at, name);
    }
    for row in &mut snapshot.resources.rows {
        row.name = own();
        spot(&mut row.made_at, name);
        for HolderRow { task, at, .. } in &mut row.holders {
            *task = Some(own());
            spot(at, name);
        }
        for WaiterRow { task, at, .. } in &mut row.waiters {
            *task = Some(own());
            spot(at, name);
        }
        for intent in row.will.iter_mut().chain(&mut row.may) {
            (intent.task, intent.proc) = (Some(own()), own());
        }
        row.senders = vec![Some(own()); 2];
        row.receivers = vec![Some(own())];
    }
    for row in &mut snapshot.alerts.rows {
        alert(row, name);
    }
    snapshot
}

fn task(row: &mut TaskRow, name: &str) {
    let own = || name.to_owned();
    (row.name, row.root) = (own(), own());
    row.parent = Some(own());
    row.spawned_at = Some(Spot::default());
    row.spawned_at.iter_mut().for_each(|at| spot(at, name));
    row.attributes = vec![(own(), own()); 2];
    for call in &mut row.stack {
        call.proc = own();
        call.place.iter_mut().for_each(|at| place(at, name));
    }
    if let Some(WakerRow { woken_by, .. }) = &mut row.waker {
        *woken_by = Some(own());
    }
    if let Some(poll) = &mut row.last_poll {
        (poll.thread, poll.ready_by) = (Some(own()), Some(own()));
    }
    if let Some(pause) = &mut row.pause {
        pause.by = own();
    }
    for Claim { resource, at, .. } in row.waits_on.iter_mut().chain(&mut row.holds) {
        *resource = own();
        spot(at, name);
    }
    for aim in row.will.iter_mut().chain(&mut row.may) {
        (aim.resource, aim.proc) = (own(), own());
    }
}

fn alert(row: &mut Alert, name: &str) {
    let own = || name.to_owned();
    let party = |party: &mut Party| party.name = own();
    let point = |Point { proc, place: at }: &mut Point| {
        *proc = own();
        at.iter_mut().for_each(|at| place(at, name));
    };
    (row.title, row.summary, row.why) = (own(), own(), own());
    row.fixes.iter_mut().for_each(|fix| *fix = own());
    row.parties.iter_mut().for_each(party);
    row.behind.tasks.iter_mut().for_each(party);
    row.at.iter_mut().for_each(point);
    for step in &mut row.steps {
        party(&mut step.task);
        party(&mut step.on);
        point(&mut step.point);
        step.how = own();
    }
}

fn place(place: &mut Place, name: &str) {
    (place.file, place.expr) = (name.to_owned(), name.to_owned());
}

fn spot(spot: &mut Spot, name: &str) {
    spot.file = name.to_owned();
}
