//! The line below a table: the number of rows shown, the total, and the window.

use turbowish_model::snapshot::column::Row;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Snapshot, Table, report};

/// `4 of 17 procs, window 10 s`
pub(crate) fn footer<R: Row>(snapshot: &Snapshot) -> String {
    let page = R::page(snapshot);
    let shown = page.rows.len() as u64;
    let mut text = match shown {
        all if all == page.total => format!("{all} {}", counted(R::TABLE, all)),
        some => format!("{some} of {} {}", page.total, counted(R::TABLE, page.total)),
    };
    let left_out = page.left_out();
    if left_out > 0 {
        text += &format!(", {left_out} more match");
    }
    if R::IN == Table::Alerts && snapshot.alerts_forgotten > 0 {
        text += &format!(
            ", {} more are forgotten",
            units::count(snapshot.alerts_forgotten)
        );
    }
    // Tasks, resources and alerts show the present, or totals since they began.
    if !matches!(R::IN, Table::Tasks | Table::Resources | Table::Alerts) {
        text += &format!(", {}", window(snapshot));
    }
    if report::lost(snapshot) > 0 {
        text += &format!(", {}", report::lost_in_full(snapshot));
    }
    text
}

/// What a table cannot have, if that needs to be said.
pub(crate) const fn remark(table: Table) -> &'static [&'static str] {
    match table {
        Table::Delays => &[
            "A task is ready once it is woken. While a poll blocks the worker that watches timers and I/O,",
            "nothing is woken: turbowish query alert PID blocked-worker has what stood still.",
        ],
        _ => &[],
    }
}

/// The singular, `proc` for `procs`, if `count` is one.
pub(crate) fn counted(table: &str, count: u64) -> &str {
    match count {
        1 => table.strip_suffix('s').unwrap_or(table),
        _ => table,
    }
}

/// `window 10 s`, or `since start 12m31s`.
pub(crate) fn window(snapshot: &Snapshot) -> String {
    let length = units::window(snapshot.window_ns, Micro::Unicode);
    if snapshot.since_start {
        format!("since start, {length}")
    } else {
        format!("window {length}")
    }
}
