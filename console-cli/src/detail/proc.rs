//! The record of one proc: its cost, how its calls ended, where they wait, its callers and callees.

use turbowish_model::snapshot::column::{Style, Value};
use turbowish_model::snapshot::delays::{EARLIER, IDLE, OTHER};
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::report::one_line;
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{AwaitRow, CounterRow, Place, ProcRow, Spot};

use super::rich_line::{RichLine, aligned, shrink, wrapped};
use super::{DetailContext, FROM_BEGINNING, alerts, histogram, slowest, tree};
use crate::text;

/// Width of the left one of two histograms, in columns.
const HALF: usize = 37;
/// Columns from which on await points have the percentile that a narrow record leaves out.
const WIDE: usize = 100;
/// What the numbers of await points are about.
const SCOPE: &str = " in the window: p99 and max of a wait; TOTAL of all calls";
/// Tasks that are named before the list is cut.
const TASKS: usize = 8;

/// The record of a proc, line by line.
pub(crate) fn lines(row: &ProcRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let mut lines = vec![head(row), shares(row, beside).into(), outcomes(row)];
    lines.extend(wall(row, beside));
    lines.extend(slowest::sentence(row, beside));
    lines.extend(longest(row, beside));
    lines.extend(ready(row, beside));
    let pairs = row.attributes.iter();
    lines.extend(pairs.map(|(name, value)| RichLine::from(format!("  {name} = {value}"))));
    lines.extend(alerts(row, beside));
    let parts = [
        histograms(row, beside),
        counts(row, beside),
        waits(row, beside),
        slowest::table(row, beside),
        others(row, beside),
    ];
    for part in parts {
        if !part.is_empty() {
            lines.push(RichLine::default());
            lines.extend(part);
        }
    }
    lines
}

/// `kv::snapshot::write   src/snapshot.rs:90`
fn head(row: &ProcRow) -> RichLine {
    let place = format!("   {}:{}", row.file, row.line);
    RichLine::default().title(row.proc.clone()).say(place)
}

/// `run  8.3%   incl  8.3%   calls 1.60/s   polls 4.80/s   live 0   future 3.1KiB`
fn shares(row: &ProcRow, beside: &DetailContext<'_>) -> String {
    let share = |ns| units::share(units::ppb(ns, beside.window_ns));
    let rate = |n| units::rate(units::micro_per_second(n, beside.window_ns));
    let size = match row.future_bytes {
        0 => units::UNKNOWN.to_owned(),
        bytes => units::bytes(bytes),
    };
    format!(
        "  run {}%   incl {}%   {} waiting   calls {}/s   polls {}/s   live {}   future {size}",
        share(row.running_ns),
        share(row.inclusive_ns),
        units::rate(units::ppb(row.yielded_ns, beside.window_ns) / 1_000),
        rate(row.ready + row.cancelled + row.panicked),
        rate(row.polls),
        units::count(row.live),
    )
}

/// `ended ready 16 (err 0)   cancelled 0 (never polled 0)   panicked 0`
fn outcomes(row: &ProcRow) -> RichLine {
    RichLine::default().label("  ended").say(format!(
        " ready {} (err {})   cancelled {} (never polled {})   panicked {}",
        units::count(row.ready),
        units::count(row.err),
        units::count(row.cancelled),
        units::count(row.never_polled),
        units::count(row.panicked),
    ))
}

/// `wall per call, creation to end   p50 1.02 s  p99 1.31 s  max 1.40 s`
fn wall(row: &ProcRow, beside: &DetailContext<'_>) -> Option<RichLine> {
    let percentiles = histogram::percentiles(&row.call_wall, beside.micro)?;
    let label = RichLine::default().label("  wall per call");
    Some(label.say(format!(", creation to end {percentiles}")))
}

/// The longest polls of the window and since the start; one line if they are the same.
fn longest(row: &ProcRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let Some(ever_ago_ns) = row.max_ever_ago_ns else {
        return Vec::new();
    };
    let ever = Longest {
        when: "since the start",
        took_ns: row.max_ever_ns,
        ago_ns: ever_ago_ns,
        on: row.max_ever_on.as_deref(),
        task: row.max_ever_task.as_deref(),
        after: row.max_ever_after.as_ref(),
    };
    let window = row.max_poll_ago_ns.map(|ago_ns| Longest {
        when: "in the window",
        took_ns: row.max_poll_ns,
        ago_ns,
        on: row.max_poll_on.as_deref(),
        task: row.max_poll_task.as_deref(),
        after: row.max_poll_after.as_ref(),
    });
    let is_known =
        |window: &Longest<'_>| (window.took_ns, window.ago_ns) == (ever.took_ns, ever.ago_ns);
    let mut lines = match window {
        Some(window) if !is_known(&window) => window.lines(beside),
        None if !row.max_poll_open && row.poll_hold.n > 0 => {
            let took = beside.time(row.max_poll_ns);
            let line = RichLine::default().label("  longest poll");
            vec![line.say(format!(" in the window {took}, not recorded which one"))]
        }
        _ => Vec::new(),
    };
    lines.extend(ever.lines(beside));
    lines
}

/// A longest poll.
struct Longest<'a> {
    when: &'static str,
    took_ns: u64,
    ago_ns: u64,
    on: Option<&'a str>,
    task: Option<&'a str>,
    after: Option<&'a Spot>,
}

impl Longest<'_> {
    /// `longest poll since the start 38.4ms on w1 at 17:04:29, in task snapshot-1, from the await
    /// at src/snapshot.rs:97:18-37 on`; in two lines where there is no room. It is known where the
    /// poll began; awaits that are ready at once may be passed in it.
    fn lines(&self, beside: &DetailContext<'_>) -> Vec<RichLine> {
        let on = self.on.unwrap_or("a thread that has ended");
        let (took, at) = (beside.time(self.took_ns), beside.when(self.ago_ns));
        let line = RichLine::default()
            .label("  longest poll")
            .say(format!(" {} {took} on {on} {at}", self.when));
        // No link: most are over by the time that somebody looks.
        let task = self.task.map(|task| format!("in task {task}"));
        let mut more: Vec<String> = task.into_iter().collect();
        let place = self.after.map(|after| {
            // The process tells where the await point begins.
            let is_there = |place: &&Place| {
                (&place.file, place.line, place.column) == (&after.file, after.line, after.column)
            };
            let mut places = beside.awaits.iter().map(|point| &point.place);
            let place = places.find(is_there);
            place.map_or_else(|| beside.spot(after), |place| beside.place(place))
        });
        more.push(place.map_or_else(
            || FROM_BEGINNING.into(),
            |place| format!("from the await at {place} on"),
        ));
        wrapped(line, &more, beside.room)
    }
}

/// `ready for 1.20 s in all, 1.10 s of it behind compact`: what delayed its tasks most, if anything
/// did.
fn ready(row: &ProcRow, beside: &DetailContext<'_>) -> Option<RichLine> {
    let own = beside
        .delays
        .iter()
        .filter(|delay| delay.victim == row.proc);
    let most = own.max_by_key(|delay| delay.time_ns)?;
    let all = beside.time(most.ready_ns);
    let part = beside.time(most.time_ns);
    let line = RichLine::default()
        .label("  ready")
        .say(format!(" for {all} in all, {part} of it "));
    Some(match most.behind.as_str() {
        behind @ (EARLIER | OTHER) => line.say(format!("behind {behind}")),
        IDLE => line.say("while its worker was idle or ran external code"),
        _ if most.is_own() => line.say("behind other tasks of this function"),
        proc => line.say("behind ").proc(proc),
    })
}

/// Two histograms side by side: how long a poll takes, and how much time a call needs; one below
/// the other where there is no room.
fn histograms(row: &ProcRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let (hold, run) = (&row.poll_hold, &row.call_running);
    let mut left = histogram::lines(hold, '#', beside.micro);
    if row.max_poll_open {
        let open = beside.time(row.max_poll_ns);
        left.push(format!("  one is in progress, for {open}+"));
    }
    let right = histogram::lines(run, '#', beside.micro);
    let polls = format!("  POLL length, {} polls", units::count(hold.n));
    let calls = format!("RUN per call, {} calls ended", units::count(run.n));
    let both = |text: &String| text::width(text) <= HALF;
    let room = beside.room.unwrap_or(2 * HALF + 2);
    if room < 2 * HALF + 2 || !left.iter().chain([&polls, &calls]).all(both) {
        let mut lines = vec![RichLine::default().label(polls)];
        lines.extend(left.into_iter().map(RichLine::from));
        lines.push(RichLine::default().label(format!("  {calls}")));
        lines.extend(right.into_iter().map(RichLine::from));
        return lines;
    }
    let blank = |at: usize, lines: &[String]| lines.get(at).cloned().unwrap_or_default();
    let title = RichLine::default().label(polls).left(HALF);
    let mut lines = vec![title.say(" | ").label(calls)];
    let rows = left.len().max(right.len());
    lines.extend((0..rows).map(|at| {
        let line = RichLine::from(blank(at, &left)).left(HALF);
        line.say(" |").say(blank(at, &right))
    }));
    lines
}

/// What it counts and sets: `commands 82.4k/s 61.9M`, `queue 40 (0 to 64)`.
fn counts(row: &ProcRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let own = |counter: &&CounterRow| counter.proc.as_deref() == Some(&*row.proc);
    let cells = |counter: &CounterRow| {
        let signed = |n: Option<i64>| {
            n.map_or(Value::Blank, Value::Signed)
                .print(Style::default())
        };
        let (rate, value) = match (counter.added, counter.total) {
            (Some(added), Some(total)) => {
                let rate = units::micro_per_second(added, beside.window_ns);
                (format!("{}/s", units::rate(rate)), units::count(total))
            }
            _ => (String::new(), signed(counter.value)),
        };
        let mut cells = [counter.name.clone(), rate, value]
            .map(RichLine::from)
            .to_vec();
        if counter.min.is_some() {
            let range = format!("({} to {})", signed(counter.min), signed(counter.max));
            cells.push(range.into());
        }
        cells
    };
    let rows: Vec<Vec<RichLine>> = beside.counters.iter().filter(own).map(cells).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![RichLine::default().label("  COUNTERS")];
    let rows = aligned(rows, &[1, 2]);
    lines.extend(rows.into_iter().map(|row| RichLine::from("  ").join(row)));
    lines
}

/// Where its calls wait, the longest sum first.
fn waits(row: &ProcRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let here = |point: &&AwaitRow| point.proc == row.proc && point.place.file == row.file;
    let mut points: Vec<&AwaitRow> = beside.awaits.iter().filter(here).collect();
    if points.is_empty() {
        return Vec::new();
    }
    points.sort_by_key(|point| (!point.idle.is_empty(), std::cmp::Reverse(point.waited_ns)));
    let titles = [
        "  AWAIT POINT",
        "EXPRESSION",
        "WAITS",
        "NOW",
        "p50",
        "p99",
        "max",
        "TOTAL",
        "%",
    ];
    let percentile = |point: &AwaitRow, percent| {
        let wait = point.await_wait.percentile(Percentile::whole(percent));
        wait.map_or_else(|| units::NO_SAMPLE.to_owned(), |ns| beside.time(ns))
    };
    let longest = |point: &AwaitRow| match point.await_wait.n {
        0 => units::NO_SAMPLE.to_owned(),
        _ => beside.time(point.await_wait.max_ns),
    };
    let mut rows = vec![
        titles
            .map(|title| RichLine::default().label(title))
            .to_vec(),
    ];
    rows.extend(points.into_iter().map(|point| {
        vec![
            format!("  {}", beside.place(&point.place)).into(),
            one_line(&point.place.expr).into(),
            units::count(point.waits).into(),
            units::count(point.now).into(),
            percentile(point, 50).into(),
            percentile(point, 99).into(),
            longest(point).into(),
            beside.time(point.waited_ns).into(),
            units::share(point.share_ppm.saturating_mul(1_000)).into(),
        ]
    }));
    if let Some(room) = beside.room {
        if room < WIDE {
            // In favor of the expression.
            rows.iter_mut().for_each(|row| drop(row.remove(4)));
        }
        shrink(&mut rows, 1, room);
    }
    let label = RichLine::default().label("  AWAITS");
    let mut lines = vec![label.say(SCOPE)];
    lines.extend(aligned(rows, &[2, 3, 4, 5, 6, 7, 8]));
    lines
}

/// Who calls it, whom it calls, and the tasks of which it is the root.
fn others(row: &ProcRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let part = |hold_ns: u64, of: &str| {
        let share = units::share(units::ppb(hold_ns, row.hold_ns));
        format!("{share}% of {of}")
    };
    let line = |proc: &str, polls: u64, told: String| {
        vec![
            RichLine::from("  ").proc(proc),
            format!("{} polls", units::count(polls)).into(),
            told.into(),
        ]
    };
    let callers = row.callers.iter();
    let nested: u64 = callers.clone().map(|caller| caller.polls).sum();
    let nested_ns: u64 = callers.clone().map(|caller| caller.hold_ns).sum();
    let mut by: Vec<Vec<RichLine>> = callers
        .map(|caller| {
            line(
                &caller.proc,
                caller.polls,
                part(caller.hold_ns, "its time in polls"),
            )
        })
        .collect();
    if row.polls > nested {
        let mut cells = line(
            "",
            row.polls - nested,
            part(row.hold_ns.saturating_sub(nested_ns), "its time in polls"),
        );
        cells[0] = "  as the root of a task".into();
        by.push(cells);
    }
    let calls = beside.procs.iter().flat_map(|other| {
        let own = other
            .callers
            .iter()
            .filter(|caller| caller.proc == row.proc);
        own.map(|caller| (caller.hold_ns, other.proc.as_str(), caller.polls))
    });
    let mut calls: Vec<_> = calls.collect();
    calls.sort_by(|a, b| b.cmp(a));
    let below = calls
        .into_iter()
        .map(|(hold_ns, proc, polls)| line(proc, polls, part(hold_ns, "its time in polls")));
    let mut lines = listed("  CALLED BY", by);
    lines.extend(listed("  CALLS", below.collect()));
    lines.extend(tasks(row, beside));
    lines
}

fn listed(label: &str, rows: Vec<Vec<RichLine>>) -> Vec<RichLine> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![RichLine::default().label(label)];
    let rows = aligned(rows, &[1]);
    lines.extend(rows.into_iter().map(|row| RichLine::from("  ").join(row)));
    lines
}

/// `TASKS  snapshot waiting 41.2 s, ..`
fn tasks(row: &ProcRow, beside: &DetailContext<'_>) -> Option<RichLine> {
    let rooted = || beside.tasks.iter().filter(|task| task.root == row.proc);
    let count = rooted().count();
    if count == 0 {
        return None;
    }
    let mut named: Vec<RichLine> = rooted()
        .take(TASKS)
        .map(|task| {
            let line = RichLine::default().task(Some(&task.name));
            line.say(format!(" {}", tree::state(task, beside.micro)))
        })
        .collect();
    match count.saturating_sub(TASKS) {
        0 if beside.some_tasks => named.push("possibly more".into()),
        0 => {}
        more if beside.some_tasks => named.push(format!("at least {more} more").into()),
        more => named.push(format!("{more} more").into()),
    }
    let label = RichLine::default().label("  TASKS  ");
    Some(label.join(RichLine::joined(named, ", ")))
}
