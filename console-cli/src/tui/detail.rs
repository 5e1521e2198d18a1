//! The detail line: the facts about the selected row that its columns omit.

use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::Style;
use turbowish_model::snapshot::report::span;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{
    AwaitRow, CounterRow, HolderRow, Place, ProcRow, ResourceRow, TaskRow,
};

use crate::detail::{at, spot};

/// `kv::snapshot::write  src/snapshot.rs:90  called by kv::snapshot::run`
pub(crate) fn proc(row: &ProcRow) -> String {
    let mut line = format!("{}  {}:{}", row.proc, row.file, row.line);
    let callers: Vec<&str> = row
        .callers
        .iter()
        .map(|caller| caller.proc.as_str())
        .collect();
    if !callers.is_empty() {
        line.push_str("  called by ");
        line.push_str(&callers.join(", "));
    }
    for (name, value) in &row.attributes {
        line.push_str(&format!("  {name}={value}"));
    }
    line
}

/// `snapshot  kv::snapshot::run > kv::snapshot::write  snapshot.rs:97:18-37  polls 689`
pub(crate) fn task(row: &TaskRow, style: Style) -> String {
    let mut line = row.name.clone();
    let calls = || row.stack.iter().filter(|call| !call.aside);
    let mut chain: Vec<&str> = calls().map(|call| call.proc.as_str()).collect();
    if chain.is_empty() {
        chain.push(&row.root);
    }
    line.push_str("  ");
    line.push_str(&chain.join(" > "));
    if row.stack_truncated {
        line.push_str(" > ..");
    }
    if let Some(place) = calls().rev().find_map(|call| call.place.as_ref()) {
        line.push_str(&format!("  {}", at(&place.file, place.line, place.column)));
    }
    let holds: Vec<&str> = row.holds.iter().map(|claim| &*claim.resource).collect();
    if !holds.is_empty() {
        line.push_str(&format!("  holds {}", holds.join(", ")));
    }
    line.push_str(&format!(
        "  polls {}  ran {}",
        units::count(row.polls),
        units::duration(row.running_ns, style.micro)
    ));
    line
}

/// `mutex log  made at src/repl.rs:18:18  taken by snapshot at src/snapshot.rs:92:23`; of one that
/// nobody holds, first who held it the longest: `mutex log  longest held 41.6 s by snapshot at
/// src/snapshot.rs:92:23`; and `longest queue 44, 12.3 s ago` if there are less now.
pub(crate) fn resource(row: &ResourceRow, style: Style) -> String {
    let mut line = row.name.clone();
    let free = row.longest_hold.as_ref().filter(|_| row.holder_count == 0);
    if let Some((longest, at)) = free.and_then(|longest| Some((longest, longest.at.as_ref()?))) {
        let took = units::duration(longest.took_ns, style.micro);
        let task = longest.task.as_deref().unwrap_or(units::UNKNOWN);
        line.push_str(&format!("  longest held {took} by {task} at {}", spot(at)));
    }
    if row.longest_queue > row.waiter_count.max(1) {
        let count = units::count(row.longest_queue);
        let ago = units::duration(row.longest_queue_ago_ns, style.micro);
        line.push_str(&format!("  longest queue {count}, {ago} ago"));
    }
    line.push_str(&format!("  made at {}", spot(&row.made_at)));
    if row.closed {
        line.push_str("  closed");
    }
    if let Some(HolderRow { task, at, .. }) = row.holders.first() {
        let task = task.as_deref().unwrap_or(units::UNKNOWN);
        line.push_str(&format!("  taken by {task} at {}", spot(at)));
    }
    if let Some(first) = row.waiters.first() {
        let task = first.task.as_deref().unwrap_or(units::UNKNOWN);
        let since = units::duration(first.since_ns, style.micro);
        let (role, at) = (first.role.word(), spot(&first.at));
        line.push_str(&format!("  first waiter {task}, {role} {since} at {at}"));
    }
    line
}

/// `deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in a cycle`; `3 times, the last: …`, or
/// `the worst` if that is an earlier one.
pub(crate) fn alert(row: &Alert) -> String {
    if row.times > 1 {
        let which = row.last_time().map_or("last", |_| "worst");
        format!(
            "{} times, the {which}: {}",
            units::count(row.times),
            row.title
        )
    } else if row.holds || row.is_over() {
        row.title.clone()
    } else {
        format!("{} (resolved)", row.title)
    }
}

/// `src/snapshot.rs:112:9-30  self.file.sync_data()  in kv::snapshot::write`; an idle wait has
/// `idle: timer` before the function. At the end, `longest wait in the window 1.06 s, 2.0 s ago in
/// task handle-7; since the start 1.50 s, 12.0 s ago in task snapshot-1`.
pub(crate) fn await_point(row: &AwaitRow, micro: Micro) -> String {
    let Place { expr, .. } = &row.place;
    let idle = match row.idle.is_empty() {
        true => String::new(),
        false => format!("idle: {}  ", row.idle),
    };
    let mut line = format!("{}  {expr}  {idle}in {}", span(&row.place), row.proc);
    let time = |ns| units::duration(ns, micro);
    let told = |ns, ago_ns, task: &Option<String>| {
        let task = task.as_ref().map(|task| format!(" in task {task}"));
        format!(
            "{}, {} ago{}",
            time(ns),
            time(ago_ns),
            task.unwrap_or_default()
        )
    };
    let ever = row.max_wait_ago_ns;
    let ever = ever.map(|ago| told(row.max_wait_ns, ago, &row.max_wait_task));
    let window = row.wait_max_ns.zip(row.wait_max_ago_ns);
    let window = window.map(|(ns, ago)| told(ns, ago, &row.wait_max_task));
    line += &match (window, ever) {
        (Some(window), Some(ever)) if window != ever => {
            format!("  longest wait in the window {window}; since the start {ever}")
        }
        (_, Some(ever)) => format!("  longest wait since the start {ever}"),
        (_, None) => String::new(),
    };
    line
}

/// `commands  counter  src/conn.rs:73  in kv::conn::serve`
pub(crate) fn counter(row: &CounterRow) -> String {
    let (kind, at) = (row.kind.word(), spot(&row.at));
    let begin = format!("{}  {kind}  {at}", row.name);
    match &row.proc {
        Some(proc) => format!("{begin}  in {proc}"),
        None => format!("{begin}  outside any annotated function"),
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::Spot;

    use super::*;

    #[test]
    fn columns_that_are_not_known_are_left_out() {
        let check = |column, end_column, expected: [&str; 2]| {
            let place = Place {
                file: "load.rs".to_owned(),
                line: 73,
                column,
                end_line: 73,
                end_column,
                ..Place::default()
            };
            let row = AwaitRow {
                place: place.clone(),
                ..AwaitRow::default()
            };
            let at = Spot {
                file: place.file,
                line: place.line,
                column,
            };
            let await_point = |row: &AwaitRow| await_point(row, Micro::Unicode);
            assert_eq!(await_point(&row).split("  ").next(), Some(expected[0]));
            let idle = AwaitRow {
                idle: "timer".to_owned(),
                ..row
            };
            assert!(await_point(&idle).contains("  idle: timer  in "));
            assert_eq!(spot(&at), expected[1]);
        };
        let longest = AwaitRow {
            max_wait_ns: 1_500_000_000,
            max_wait_ago_ns: Some(12_000_000_000),
            max_wait_task: Some("snapshot-1".to_owned()),
            ..AwaitRow::default()
        };
        let ends = |row: &AwaitRow, end: &str| {
            let line = await_point(row, Micro::Unicode);
            assert!(line.ends_with(end), "{line}");
        };
        let ever = "since the start 1.50 s, 12.0 s ago in task snapshot-1";
        ends(&longest, &format!("  longest wait {ever}"));
        let mut window = AwaitRow {
            wait_max_ns: Some(1_500_000_000),
            wait_max_ago_ns: Some(12_000_000_000),
            wait_max_task: Some("snapshot-1".to_owned()),
            ..longest
        };
        ends(&window, &format!("  longest wait {ever}"));
        (window.wait_max_ns, window.wait_max_task) = (Some(1_060_000_000), None);
        let own = "longest wait in the window 1.06 s, 12.0 s ago";
        ends(&window, &format!("  {own}; {ever}"));
        check(9, 30, ["load.rs:73:9-30", "load.rs:73:9"]);
        check(0, 0, ["load.rs:73", "load.rs:73"]);
    }
}
