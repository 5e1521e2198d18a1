//! The record of one resource: its fill level, its holders, its waiters in order, and its
//! throughput.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::snapshot::quantile::{Distribution, Percentile};
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{HolderRow, IntentRow, LongestRow, ResourceRow, WaiterRow};

use super::rich_line::{RichLine, aligned, wrapped};
use super::tree::{self, fill};
use super::{DetailContext, alerts};

/// The record of a resource, line by line.
pub(crate) fn lines(row: &ResourceRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    first_lines(row, beside, usize::MAX)
}

/// The record with at most so many holders and waiters.
pub(super) fn first_lines(
    row: &ResourceRow,
    beside: &DetailContext<'_>,
    limit: usize,
) -> Vec<RichLine> {
    let mut lines = vec![head(row, beside), flow(row).into()];
    if let Some(lengths) = beside.lengths {
        lines.extend(lengths.lines(row, beside.room));
    }
    lines.extend(times("waited", &row.waited, beside));
    lines.extend(longest("wait", row.longest_wait.as_ref(), beside));
    lines.extend(longest_queue(row, beside));
    let kept = match row.kind {
        Kind::Mpsc | Kind::Oneshot | Kind::Broadcast | Kind::Watch => "inside",
        _ => "held",
    };
    lines.extend(times(kept, &row.kept, beside));
    lines.extend(longest(kept, row.longest_hold.as_ref(), beside));
    lines.extend(ends("senders", &row.senders));
    lines.extend(ends("receivers", &row.receivers));
    lines.extend(intents("will", &row.will, row.will_count));
    lines.extend(intents("may", &row.may, row.may_count));
    let holders = row.holders.iter().map(|row| holder(row, beside));
    lines.extend(list("holders", holders.collect(), row.holder_count, limit));
    let waiters = row.waiters.iter().map(|row| waiter(row, beside));
    lines.extend(list(
        "waiters, in order",
        waiters.collect(),
        row.waiter_count,
        limit,
    ));
    lines.extend(idle(row, beside));
    lines.extend(alerts(row, beside));
    lines
}

/// `mpsc repl  full 64/64   made at src/main.rs:33:26   in use for 14m02s`
fn head(row: &ResourceRow, beside: &DetailContext<'_>) -> RichLine {
    let mut line = row.name.clone();
    if let Some(fill) = fill(row) {
        line += &format!("  {fill}");
    } else if row.capacity.is_some() && row.level.is_some() {
        line += if row.level == Some(0) {
            "  free"
        } else {
            "  held"
        };
    }
    if row.closed {
        line += "  closed";
    }
    RichLine::default().title(line).say(format!(
        "   made at {}   first used {} ago",
        beside.spot(&row.made_at),
        beside.time(row.age_ns)
    ))
}

/// `in 320476, out 320412   waits 9120, 1 now`
fn flow(row: &ResourceRow) -> String {
    let ResourceRow {
        put,
        took,
        waits,
        waiter_count,
        ..
    } = row;
    format!("  in {put}, out {took}   waits {waits}, {waiter_count} now")
}

/// `waited p50 20.0µs  p99 2.00ms  max 11.0ms`; empty if nothing was measured.
fn times(what: &str, population: &Distribution, beside: &DetailContext<'_>) -> Option<RichLine> {
    let at = |percent| population.percentile(Percentile::whole(percent));
    let (half, most) = (at(50)?, at(99)?);
    Some(RichLine::default().label(format!("  {what}")).say(format!(
        " p50 {}  p99 {}  max {}",
        beside.time(half),
        beside.time(most),
        beside.time(population.max_ns)
    )))
}

/// `longest held 1.50 s on w1 at 17:04:29, by task reindex-1 in shop::rebuild, taken at
/// src/db.rs:41:9`; in several lines where there is no room.
fn longest(what: &str, row: Option<&LongestRow>, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let Some(row) = row else {
        return Vec::new();
    };
    let (time, when) = (beside.time(row.took_ns), beside.when(row.ago_ns));
    let on = row.on.as_ref().map(|on| format!("on {on} "));
    let line = RichLine::default()
        .label(format!("  longest {what}"))
        .say(format!(" {time} {}{when}", on.unwrap_or_default()));
    // No links: most tasks are over by the time that somebody looks, and the first link of the
    // record is who has the resource now.
    let task = row.task.as_deref().unwrap_or("?");
    let mut by = match row.at {
        Some(_) => format!("by task {task}"),
        None => format!("taken out by task {task}"),
    };
    if !row.proc.is_empty() {
        by += &format!(" in {}", row.proc);
    }
    let behind = row.behind.as_ref();
    let behind = behind.map(|behind| format!("behind {behind}"));
    let asked = if what == "wait" { "asked" } else { "taken" };
    let at = row.at.as_ref();
    let at = at.map(|at| format!("{asked} at {}", beside.spot(at)));
    let more: Vec<String> = [Some(by), behind, at].into_iter().flatten().collect();
    wrapped(line, &more, beside.room)
}

/// `longest queue 44 waiters at 17:04:29`; a single waiter is no queue.
fn longest_queue(row: &ResourceRow, beside: &DetailContext<'_>) -> Option<RichLine> {
    let count = units::count(row.longest_queue);
    let when = beside.when(row.longest_queue_ago_ns);
    (row.longest_queue > 1).then(|| {
        RichLine::default()
            .label("  longest queue")
            .say(format!(" {count} waiters {when}"))
    })
}

/// `senders 2: conn:51022, ?`
fn ends(what: &str, users: &[Option<String>]) -> Option<RichLine> {
    let count = users.len() as u64;
    (count > 0).then(|| {
        RichLine::default()
            .label(format!("  {what}"))
            .say(format!(" {}: ", units::count(count)))
            .join(RichLine::tasks(users.iter().map(Option::as_deref), count))
    })
}

/// `will send 1: conn:51022`, a line for each operation.
fn intents(word: &str, rows: &[IntentRow], count: u64) -> Vec<RichLine> {
    let mut lines = Vec::new();
    // The operation of unlisted intents is known if there is only one kind.
    let only = rows.iter().all(|row| row.role == rows[0].role);
    for role in Role::ALL {
        let of_role = || rows.iter().filter(|row| row.role == role);
        let listed = of_role().count() as u64;
        if listed == 0 {
            continue;
        }
        let all = if only { count } else { listed };
        let names = RichLine::tasks(of_role().map(|row| row.task.as_deref()), all);
        let line = RichLine::default().label(format!("  {word}"));
        let role = format!(" {} {}: ", role.word(), units::count(all));
        lines.push(line.say(role).join(names));
    }
    let left_out = count.saturating_sub(rows.len() as u64);
    if left_out > 0 && !only {
        lines.push(format!("  {word}: {} more", units::count(left_out)).into());
    }
    lines
}

fn list(what: &str, mut rows: Vec<Vec<RichLine>>, count: u64, limit: usize) -> Vec<RichLine> {
    if count == 0 {
        return Vec::new();
    }
    let is_cut = limit < rows.len();
    // The process lists only the first of very many.
    let is_whole = count == rows.len() as u64;
    rows.truncate(limit);
    let shown = rows.len() as u64;
    let title = RichLine::default().label(format!("  {what}"));
    let mut lines = vec![title.say(format!(" ({})", units::count(count)))];
    let rows = aligned(rows, &[2]).into_iter();
    lines.extend(rows.map(|row| RichLine::from("    ").join(row)));
    let more = units::count(count.saturating_sub(shown));
    if is_cut {
        let shows = if is_whole { "all" } else { "more" };
        lines.push(format!("    and {more} more (--limit 0 shows {shows})").into());
    } else if count > shown {
        lines.push(format!("    ... {more} more").into());
    }
    lines
}

/// `repl-1 does not receive: waiting 41.6 s on mutex log, held by snapshot`: the reason why a full
/// channel is not drained.
fn idle(row: &ResourceRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let full = row.capacity.is_some_and(|all| row.level >= Some(all));
    if !full || row.waiter_count == 0 {
        return Vec::new();
    }
    let receivers = row.receivers.iter().flatten();
    let tasks = receivers.filter_map(|name| beside.task(name));
    let elsewhere = tasks.filter(|task| {
        let mut on = task.waits_on.iter();
        !task.waits_on.is_empty() && on.all(|claim| claim.resource_id != row.id)
    });
    elsewhere
        .map(|task| {
            let on = task.waits_on.iter();
            let on = on.map(|claim| tree::reason(claim, beside.resources));
            RichLine::from("  ")
                .task(Some(&task.name))
                .say(format!(
                    " does not receive: {} on ",
                    tree::state(task, beside.micro)
                ))
                .join(RichLine::joined(on, "; "))
        })
        .collect()
}

fn holder(row: &HolderRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let mut cells = claim(
        row.task.as_deref(),
        row.role.word(),
        row.amount,
        beside.time(row.since_ns),
        beside.spot(&row.at),
    );
    cells.extend(stands(row, beside));
    cells
}

/// `waiting 1.20 s at db.rs:67:9-33`: why a holder does not release.
fn stands(row: &HolderRow, beside: &DetailContext<'_>) -> Option<RichLine> {
    let task = beside.task(row.task.as_ref()?)?;
    let innermost = task.stack.iter().rfind(|call| !call.aside);
    let place = innermost.and_then(|call| call.place.as_ref());
    let at = place.map_or_else(String::new, |place| format!(" at {}", beside.place(place)));
    Some(format!("{}{at}", tree::state(task, beside.micro)).into())
}

fn waiter(row: &WaiterRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let mut cells = claim(
        row.task.as_deref(),
        row.role.word(),
        row.amount,
        beside.time(row.since_ns),
        beside.spot(&row.at),
    );
    if let Some(woken) = row.woken_ns {
        cells.push(format!("woken {} ago, not polled since", beside.time(woken)).into());
    }
    cells
}

fn claim(task: Option<&str>, role: &str, amount: u64, since: String, at: String) -> Vec<RichLine> {
    let role = if amount > 1 {
        format!("{role} {}", units::count(amount))
    } else {
        role.to_owned()
    };
    vec![
        RichLine::default().task(task),
        role.into(),
        since.into(),
        at.into(),
    ]
}
