//! The record of one task: its current position, the resource that it waits for, the resources that
//! it holds with their waiters, and its await tree.

use turbowish_model::snapshot::column;
use turbowish_model::snapshot::report::one_line;
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Claim, Place, PollRow, ResourceRow, TaskRow, TaskState};

use super::rich_line::RichLine;
use super::tree::{self, fill};
use super::{DetailContext, alerts, of};

/// The record of a task, line by line.
pub(crate) fn lines(row: &TaskRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let mut lines = vec![head(row, beside)];
    let holds = row.holds.iter().map(|claim| holds(row, claim, beside));
    lines.extend(holds);
    lines.extend(means(row));
    lines.extend(paused(row, beside));
    lines.extend(origin(row, beside));
    let polls = format!(
        "  polls {}   run {}   longest {}   size {}",
        units::count(row.polls),
        beside.time(row.running_ns),
        beside.time(row.max_poll_ns),
        column::cell(row, "size"),
    );
    lines.push(polls.into());
    lines.extend(woken(row));
    lines.extend(last(row, beside));
    let pairs = row.attributes.iter();
    lines.extend(pairs.map(|(name, value)| RichLine::from(format!("  {name} = {value}"))));
    lines.extend(alerts(row, beside));
    lines.extend(tree::lines(row, beside));
    lines
}

/// The current await point of the task, the first one if there are several.
pub(crate) fn stands_at(row: &TaskRow) -> Option<&Place> {
    tree::first_leaf(row)?.place.as_ref()
}

/// `conn:51022  waiting 41.4 s on mpsc repl (full 64/64)   src/conn.rs:88:9-33
/// self.repl.send(cmd)`
fn head(row: &TaskRow, beside: &DetailContext<'_>) -> RichLine {
    let mut line =
        RichLine::default().title(format!("{}  {}", row.name, tree::state(row, beside.micro)));
    if !row.waits_on.is_empty() {
        let on = row.waits_on.iter().map(|claim| on(claim, beside.resources));
        line = line.say(" on ").join(RichLine::joined(on, ", "));
    }
    // The tree shows the branches; this is the first one.
    match stands_at(row) {
        Some(place) => line.say(format!(
            "   {}  {}",
            beside.place(place),
            one_line(&place.expr)
        )),
        None => line,
    }
}

fn on(claim: &Claim, resources: &[ResourceRow]) -> RichLine {
    let line = RichLine::default().resource(claim.resource_id, &claim.resource);
    match of(claim, resources).and_then(fill) {
        Some(fill) => line.say(format!(" ({fill})")),
        None => line,
    }
}

/// `holds mutex db 41.4 s, taken at src/conn.rs:84:30; 2 wait for it: expiry, snapshot`
fn holds(row: &TaskRow, claim: &Claim, beside: &DetailContext<'_>) -> RichLine {
    let mut line = RichLine::default()
        .label("  holds ")
        .resource(claim.resource_id, &claim.resource);
    if claim.amount > 1 {
        line = line.say(format!(" ({} of it)", units::count(claim.amount)));
    }
    line = line.say(format!(
        " {}, taken at {}",
        beside.time(claim.since_ns),
        beside.spot(&claim.at)
    ));
    let Some(held) = of(claim, beside.resources).filter(|held| held.waiter_count > 0) else {
        return line;
    };
    let verb = if held.waiter_count == 1 {
        "waits"
    } else {
        "wait"
    };
    let waiters = || held.waiters.iter().map(|waiter| waiter.task.as_deref());
    let count = units::count(held.waiter_count);
    line = line
        .say(format!("; {count} {verb} for it: "))
        .join(RichLine::tasks(waiters(), held.waiter_count));
    if waiters().any(|waiter| waiter == Some(&*row.name)) {
        line = line.say(" (including itself)");
    }
    line
}

/// `paused by console pid 4711, 52.0 s left; it was woken`
fn paused(row: &TaskRow, beside: &DetailContext<'_>) -> Option<RichLine> {
    let pause = row.pause.as_ref()?;
    let left = match pause.left_ns {
        Some(ns) => format!(", {} left", beside.time(ns)),
        None => " until it is resumed".to_owned(),
    };
    let woken = match (row.state, pause.woken) {
        (TaskState::Polling, _) => "; it stops when this poll ends",
        (_, true) => "; it was woken and will be polled on resume",
        (_, false) => "",
    };
    let by = &pause.by;
    let line = RichLine::default().label("  paused");
    Some(line.say(format!(" by {by}{left}{woken}")))
}

/// `conn:51022  waiting 41.4 s   src/conn.rs:88:9-33  self.repl.send(cmd)`
pub(crate) fn heading(row: &TaskRow) -> String {
    head(row, &DetailContext::default()).text()
}

/// `will send mpsc repl   may lock mutex db`
fn means(row: &TaskRow) -> Option<RichLine> {
    let mut line = RichLine::default();
    for (word, aims) in [("will", &row.will), ("may", &row.may)] {
        let mut each: Vec<RichLine> = Vec::new();
        for aim in aims {
            let one = RichLine::from(format!("{} ", aim.role.word()));
            let one = one.resource(aim.resource_id, &aim.resource);
            // Several calls of a task may have the same intent.
            if !each.contains(&one) {
                each.push(one);
            }
        }
        if !each.is_empty() {
            let blanks = if line.width() == 0 { "  " } else { "   " };
            let told = RichLine::joined(each, ", ");
            line = line.say(blanks).label(word).say(" ").join(told);
        }
    }
    (line.width() > 0).then_some(line)
}

/// `spawned by main-1 in accept src/net.rs:9 > begin at src/net.rs:31:5   alive 14m02s`, or `alive
/// 14m02s   root kv::serve   spawn not seen (turbowish::spawn)`.
fn origin(row: &TaskRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let alive = format!("alive {}", beside.time(row.age_ns));
    if row.parent.is_none() && row.spawned_at.is_none() {
        let line = RichLine::default().say(format!("  {alive}   root "));
        let line = line.proc(&row.root);
        return vec![line.say("   spawn not seen (turbowish::spawn)")];
    }
    let mut line = RichLine::default().label("  spawned");
    if let Some(parent) = &row.parent {
        line = line.say(" by ").task(Some(parent));
        line = line.say(within(row.spawned_in.as_deref()));
    }
    if let Some(at) = &row.spawned_at {
        line = line.say(format!(" at {}", beside.spot(at)));
    }
    vec![line.say(format!("   {alive}"))]
}

/// ` in serve src/conn.rs:70 > push`: the calls that ran in the task that woke or spawned this one.
/// Empty if that was its root, of which the task's name tells.
fn within(calls: Option<&str>) -> String {
    let calls = calls.filter(|calls| calls.contains(" > "));
    calls.map_or_else(String::new, |calls| format!(" in {calls}"))
}

/// `woken 650k times, 12 by itself, last by repl-2; 1 could wake it`
fn woken(row: &TaskRow) -> Option<RichLine> {
    let waker = row.waker.as_ref()?;
    let live = match waker.live {
        1 => "; 1 clone of its waker is alive".to_owned(),
        n => format!("; {} clones of its waker are alive", units::count(n)),
    };
    let by = who(row, waker.woken_by.as_deref());
    Some(match waker.wakes {
        0 => RichLine::default().label("  never woken").say(live),
        1 => RichLine::default()
            .label("  woken")
            .say(" once, by ")
            .join(by)
            .say(live),
        wakes => RichLine::default()
            .label("  woken")
            .say(format!(
                " {} times, {} by itself, last by ",
                units::count(wakes),
                units::count(waker.own_wakes),
            ))
            .join(by)
            .say(live),
    })
}

/// Its last transitions, the newest first: `last  41.4 s ago  polled on w1 for 17.3ms, then waits
/// on mutex db`, and the reason for the poll.
fn last(row: &TaskRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let Some(poll) = &row.last_poll else {
        return Vec::new();
    };
    let mut told = Vec::new();
    if row.state == TaskState::Ready {
        let waker = row.waker.as_ref();
        let by = waker.and_then(|waker| waker.woken_by.as_deref());
        let calls = waker.and_then(|waker| waker.woken_in.as_deref());
        let line = RichLine::default().say("woken by ").join(who(row, by));
        let line = line.say(within(calls)).say(", not polled since");
        told.push((row.since_ns, line));
    }
    told.push((poll.ago_ns, polled(row, poll, beside)));
    if let Some(ready) = poll.ready_ns {
        let line = match (row.polls, poll.ready_by.as_deref()) {
            (1, None) => RichLine::default().say("spawned"),
            (1, by) => RichLine::default().say("spawned by ").join(who(row, by)),
            (_, by) => RichLine::default().say("woken by ").join(who(row, by)),
        };
        let calls = within(poll.ready_in.as_deref());
        let line = line.say(format!("{calls}, ready for {}", beside.time(ready)));
        told.push((poll.ago_ns.saturating_add(ready), line));
    }
    let first = RichLine::default().label("  last");
    let heads = std::iter::once(first).chain(std::iter::repeat(RichLine::from("      ")));
    let lines = heads.zip(told).map(|(head, (ago, line))| {
        let head = head.say(format!("  {:>7} ago  ", beside.time(ago)));
        head.join(line)
    });
    lines.collect()
}

fn polled(row: &TaskRow, poll: &PollRow, beside: &DetailContext<'_>) -> RichLine {
    let on = match (poll.worker, &poll.thread) {
        // The header's name for the worker.
        (Some(worker), _) => format!("w{worker}"),
        (None, Some(thread)) => format!("thread {thread}"),
        (None, None) => "a thread that has ended".to_owned(),
    };
    let line = RichLine::default().say(format!("polled on {on}"));
    let Some(took) = poll.took_ns else {
        return line.say(", still in progress");
    };
    let line = line.say(format!(" for {}, then waits", beside.time(took)));
    if row.waits_on.is_empty() {
        return line;
    }
    let on = row.waits_on.iter();
    let on = on.map(|claim| RichLine::default().resource(claim.resource_id, &claim.resource));
    line.say(" on ").join(RichLine::joined(on, ", "))
}

/// The waker of a task.
fn who(row: &TaskRow, by: Option<&str>) -> RichLine {
    match by {
        Some(task) if task == row.name => RichLine::from("itself".to_owned()),
        Some(thread) if thread.starts_with("thread ") => {
            let name = thread.trim_start_matches("thread ");
            let number = name.strip_prefix('w').unwrap_or_default();
            let is_worker = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            RichLine::from(if is_worker { name } else { thread }.to_owned())
        }
        Some(task) => RichLine::default().task(Some(task)),
        None => RichLine::from("a thread that polls no task".to_owned()),
    }
}
