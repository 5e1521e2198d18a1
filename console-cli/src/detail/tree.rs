//! The await tree of a task: its calls, and at the end of each branch the resource that it waits
//! for.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::snapshot::column::{self, Context, Style, Value, cell};
use turbowish_model::snapshot::report::one_line;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Claim, Place, ResourceRow, Spot, StackRow, TaskRow, TaskState};

use super::rich_line::RichLine;
use super::{DetailContext, of};

/// `snapshot  waiting 41.2 s  holds mutex log`
pub(super) fn head(row: &TaskRow, micro: Micro) -> RichLine {
    let mut line = RichLine::from(format!("{}  {}", row.name, state(row, micro)));
    if !row.holds.is_empty() {
        let held = row.holds.iter();
        let held =
            held.map(|claim| RichLine::default().resource(claim.resource_id, &claim.resource));
        line = line.say("  holds ").join(RichLine::joined(held, ", "));
    }
    line
}

/// `waiting 41.2 s`, `polling 6.41 s+`
pub(super) fn state(row: &TaskRow, micro: Micro) -> String {
    let grows = match row.state {
        TaskState::Polling => "+",
        TaskState::Ready | TaskState::Waiting | TaskState::Paused => "",
    };
    let since = units::duration(row.since_ns, micro);
    format!("{} {since}{grows}", row.state.word())
}

/// The calls of a task, a line for each.
pub(super) fn lines(row: &TaskRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    lines_at(row, beside.resources, beside.micro, &|place| {
        beside.place(place)
    })
}

/// The same, with another format for places.
pub(super) fn lines_at(
    row: &TaskRow,
    resources: &[ResourceRow],
    micro: Micro,
    place: &dyn Fn(&Place) -> String,
) -> Vec<RichLine> {
    let claims = at_leaves(row);
    let last = row.stack.iter().rposition(|call| !call.aside);
    let mut lines: Vec<(u32, RichLine)> = Vec::new();
    // The depths of calls that poll several others: these are below a line that says so.
    let mut forks: Vec<u32> = Vec::new();
    for (at, call) in row.stack.iter().enumerate() {
        forks.retain(|fork| *fork < call.depth);
        let is_first_aside = call.aside && !row.stack[..at].iter().any(|call| call.aside);
        if is_first_aside {
            lines.push((0, "no longer polled".into()));
        }
        let depth = call.depth + forks.len() as u32 + u32::from(call.aside);
        let text = line(row, at, &claims[at], resources, micro, place);
        lines.push((depth, text));
        if let Some(fork) = call.fork {
            lines.push((depth + 1, fork.word().into()));
            forks.push(call.depth);
        }
        let is_cut = call.cut || row.stack_truncated && last == Some(at);
        if is_cut {
            lines.push((depth + 1, "..".into()));
        }
    }
    let depths: Vec<u32> = lines.iter().map(|(depth, _)| *depth).collect();
    let lines = lines.into_iter().enumerate();
    lines
        .map(|(at, (_, told))| RichLine::from(branch(&depths, at)).join(told))
        .collect()
}

/// `kv::snapshot::write  src/snapshot.rs:97:18-37  41.2 s  self.db.lock()  mutex db, held by
/// conn:51022`
fn line(
    row: &TaskRow,
    at: usize,
    claims: &[&Claim],
    resources: &[ResourceRow],
    micro: Micro,
    span: &dyn Fn(&Place) -> String,
) -> RichLine {
    let call = &row.stack[at];
    let place = call.place.as_ref();
    let mut words = vec![
        RichLine::default().proc(&call.proc),
        place.map_or_else(|| "?".to_owned(), span).into(),
        units::duration(call.since_ns, micro).into(),
    ];
    if is_leaf(&row.stack, at)
        && let Some(place) = place
        && !place.expr.is_empty()
    {
        words.push(one_line(&place.expr).into());
    }
    words.extend(claims.iter().map(|claim| reason(claim, resources)));
    let woken = call.woken_ns.map(|ns| units::duration(ns, micro));
    words.extend(woken.map(|ago| format!("woken {ago} ago, not polled since").into()));
    RichLine::joined(words, "  ")
}

/// `mutex db, held by conn:51022`, `mpsc repl, full 64/64, received by repl-1`
pub(super) fn reason(claim: &Claim, resources: &[ResourceRow]) -> RichLine {
    let mut words = vec![RichLine::default().resource(claim.resource_id, &claim.resource)];
    let Some(row) = of(claim, resources) else {
        return words.remove(0);
    };
    words.extend(fill(row).map(RichLine::from));
    if row.closed {
        words.push("closed".into());
    }
    let by = by(row);
    if by.width() > 0 {
        let verb = match (claim.role, row.kind) {
            (Role::Send, _) => "received by ",
            (_, Kind::Mpsc | Kind::Oneshot | Kind::Broadcast | Kind::Watch) => "sent by ",
            (_, Kind::Notify) => "notified by ",
            _ => "held by ",
        };
        words.push(RichLine::from(verb).join(by));
    }
    RichLine::joined(words, ", ")
}

/// What the tasks of [`by`] are to the resource: `held by`.
pub(super) fn relation(row: &ResourceRow) -> &'static str {
    let is_drained = match row.waiters.first() {
        Some(first) => first.role == Role::Send,
        None => row.level.is_some_and(|level| level > 0),
    };
    match row.kind {
        Kind::Mpsc | Kind::Oneshot | Kind::Broadcast | Kind::Watch if is_drained => "drained by",
        Kind::Mpsc | Kind::Oneshot | Kind::Broadcast | Kind::Watch => "filled by",
        Kind::Notify => "notified by",
        _ => "held by",
    }
}

/// Who has a resource, fills or empties it: names, or their number where there are many.
pub(super) fn by(row: &ResourceRow) -> RichLine {
    let context = Context::default();
    let column = column::find::<ResourceRow>("by");
    match column.as_ref().map(|column| column.value(row, &context)) {
        Some(Value::Names(names)) => {
            let known = |name: &str| name != units::UNKNOWN;
            let tasks = names.iter().map(|name| known(name).then_some(&**name));
            RichLine::tasks(tasks, names.len() as u64)
        }
        Some(Value::Unknown) => "unknown".into(),
        Some(other) => other.print(Style::default()).into(),
        None => RichLine::default(),
    }
}

/// `full 64/64`, `written`. A lock that only one task can hold is held if a task waits for it.
pub(super) fn fill(row: &ResourceRow) -> Option<String> {
    let (level, capacity) = row.fill()?;
    let word = match capacity {
        _ if row.kind == Kind::RwLock && level > 0 => {
            let word = if row.is_written() { "written" } else { "read" };
            return Some(word.to_owned());
        }
        Some(1) if row.kind == Kind::Mutex => return None,
        Some(all) if level >= all => "full ",
        _ if level == 0 => "empty ",
        _ => "",
    };
    Some(format!("{word}{}", cell(row, "fill")))
}

/// The position of the task: the innermost call of its first branch.
pub(super) fn first_leaf(row: &TaskRow) -> Option<&StackRow> {
    let mut calls = row.stack.iter().enumerate();
    let leaf = calls.find(|(at, _)| is_leaf(&row.stack, *at));
    leaf.map(|(_, call)| call)
}

/// Whether the call at position `at` has no calls below it.
fn is_leaf(stack: &[StackRow], at: usize) -> bool {
    stack
        .get(at + 1)
        .is_none_or(|next| next.depth <= stack[at].depth)
}

/// The resources that each call waits for. A claim belongs to the leaf inside whose await it was
/// made, or to the only leaf. If there are several such leaves, each gets one, in order.
fn at_leaves(row: &TaskRow) -> Vec<Vec<&Claim>> {
    let mut claims = vec![Vec::new(); row.stack.len()];
    let leaves: Vec<usize> = (0..row.stack.len())
        .filter(|at| is_leaf(&row.stack, *at))
        .collect();
    for claim in &row.waits_on {
        let inside = |at: &usize| {
            let place = row.stack[*at].place.as_ref();
            place.is_some_and(|place| contains(place, &claim.at))
        };
        let mut fitting: Vec<usize> = leaves.iter().copied().filter(inside).collect();
        if fitting.is_empty() {
            let own = leaves.iter().filter(|at| !row.stack[**at].aside);
            fitting.extend(own.clone().next().filter(|_| own.count() == 1));
        }
        let free = fitting.iter().find(|at| claims[**at].is_empty());
        if let Some(at) = free.or(fitting.last()) {
            claims[*at].push(claim);
        }
    }
    claims
}

fn contains(place: &Place, spot: &Spot) -> bool {
    let at = (spot.line, spot.column);
    place.file == spot.file
        && (place.line, place.column) <= at
        && at <= (place.end_line, place.end_column)
}

/// The prefix of a line: `|  `, `|- `, `` `- ``.
fn branch(depths: &[u32], at: usize) -> String {
    let depth = depths[at];
    let mut text = String::new();
    for level in 0..=depth {
        let goes_on = depths[at + 1..]
            .iter()
            .take_while(|depth| **depth >= level)
            .any(|depth| *depth == level);
        text += match (level == depth, goes_on) {
            (true, true) => "|- ",
            (true, false) => "`- ",
            (false, true) => "|  ",
            (false, false) => "   ",
        };
    }
    text
}
