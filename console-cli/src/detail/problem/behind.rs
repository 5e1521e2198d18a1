//! Tasks that wait because of an alert, and where they stand. Names that differ only in a number
//! are grouped.

use std::collections::BTreeMap;

use turbowish_model::snapshot::alert::{Alert, BehindWait, PartyKind};
use turbowish_model::snapshot::report::one_line;
use turbowish_model::snapshot::units;

use super::AlertContext;
use crate::detail::rich_line::RichLine;
use crate::text;

const LABEL: &str = " BEHIND IT  ";

/// ` BEHIND IT  47 tasks wait: 46 conn:*, expiry`, and below it where they do; `waited` if the
/// alert is over.
pub(super) fn lines(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let mut lines = waiting(alert, around);
    lines.extend(places(alert, around, false));
    // Without a poll nothing is woken, so this is not in the number of tasks.
    if alert.unpolled_ns > 0 {
        let time = around.time(alert.unpolled_ns);
        let text = format!("nothing else that is covered was polled for {time}+");
        lines.extend(around.labelled(label(&lines), &text));
    }
    let asleep = alert.behind.waits.iter().filter(|wait| wait.asleep);
    let count: u64 = asleep.map(|wait| wait.tasks).sum();
    if count > 0 {
        let (tasks, were) = match count {
            1 => ("task", "was"),
            _ => ("tasks", "were"),
        };
        let text = format!(
            "{} {tasks} stood still, and {were} woken when it had ended:",
            units::count(count)
        );
        lines.extend(around.labelled(label(&lines), &text));
        lines.extend(places(alert, around, true));
    }
    lines.into_iter().map(RichLine::from).collect()
}

/// The label on the first line, blanks on others.
const fn label(lines: &[String]) -> &'static str {
    match lines {
        [] => LABEL,
        _ => "            ",
    }
}

/// `  1.48 s+  252 at shop.rs:57:9-34 shop.catalog.lock()`: the longest wait, and how many tasks.
fn places(alert: &Alert, around: &AlertContext<'_>, asleep: bool) -> Vec<String> {
    let waits = alert.behind.waits.iter();
    let waits: Vec<&BehindWait> = waits.filter(|wait| wait.asleep == asleep).collect();
    // Some may only be counted: where they stand is not known, it may be here.
    let known: u64 = waits.iter().map(|wait| wait.tasks).sum();
    let least = match known < alert.behind_count() {
        true if !asleep => "+",
        _ => "",
    };
    let counts = waits.iter().map(|wait| units::count(wait.tasks) + least);
    let counts: Vec<String> = counts.collect();
    let widest = counts.iter().map(|count| text::width(count)).max();
    let line = |(wait, count): (&&BehindWait, &String)| {
        // As long as the poll had not ended, they waited on.
        let more = if asleep { " " } else { "+" };
        let time = format!("{}{more}", around.time(wait.longest_ns));
        let count = text::right(count, widest.unwrap_or(0));
        format!("{:12}{time:>8} {count} {}", "", stands(wait, around))
    };
    waits.iter().zip(&counts).map(line).collect()
}

/// `at shop.rs:57:9-34 shop.catalog.lock()`, or the function if the await point is not known.
fn stands(wait: &BehindWait, around: &AlertContext<'_>) -> String {
    match &wait.at.place {
        Some(place) => format!("at {} {}", around.place(place), one_line(&place.expr)),
        None => format!("in {}", wait.at.proc),
    }
}

fn waiting(alert: &Alert, around: &AlertContext<'_>) -> Vec<String> {
    let count = alert.behind_count();
    if count == 0 {
        return Vec::new();
    }
    let (tasks, wait) = match (count, alert.holds) {
        (1, true) => ("task", "waits"),
        (1, false) => ("task", "waited"),
        (_, true) => ("tasks", "wait"),
        (_, false) => ("tasks", "waited"),
    };
    let known = alert.behind.tasks.iter();
    let names: Vec<&str> = known
        .filter(|party| party.kind == PartyKind::Task)
        .map(|party| party.name.as_str())
        .collect();
    let text = format!("{} {tasks} {wait}", units::count(count));
    let named = by_name(&names, alert.behind.unlisted > 0);
    around.labelled(LABEL, &(text + &named))
}

/// `: 46 conn:*, expiry`; where only some of the tasks are known by name,
/// `, 64 seen by name: 60 conn:*, 4 repl-*`, or without the number of the only group.
fn by_name(names: &[&str], are_some: bool) -> String {
    let groups = grouped(names);
    match &groups[..] {
        [] => String::new(),
        groups if !are_some => format!(": {}", groups.join(", ")),
        groups => {
            let seen = units::count(names.len() as u64);
            let all = format!("{seen} ");
            let groups = groups.join(", ");
            let named = groups.strip_prefix(&all).unwrap_or(&groups);
            format!(", {seen} seen by name: {named}")
        }
    }
}

/// `46 conn:*`, `expiry`: the largest group first, then by name.
fn grouped(names: &[&str]) -> Vec<String> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        // A name that is only a number forms no group.
        let stem = if stem.is_empty() { name } else { stem };
        groups.entry(stem).or_default().push(name);
    }
    let mut groups: Vec<(&str, Vec<&str>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let told = |(stem, members): (&str, Vec<&str>)| match members[..] {
        [only] => only.to_owned(),
        _ => format!("{} {stem}*", units::count(members.len() as u64)),
    };
    groups.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::{by_name, grouped};

    #[test]
    fn the_number_of_names_is_told_where_it_is_not_that_of_the_tasks() {
        let check = |names: &[&str], are_some, expected: &str| {
            assert_eq!(by_name(names, are_some), expected);
        };
        check(&[], false, "");
        check(&[], true, "");
        check(&["a-1", "a-2"], false, ": 2 a-*");
        check(&["a-1", "a-2"], true, ", 2 seen by name: a-*");
        check(&["expiry"], true, ", 1 seen by name: expiry");
        let three = ["a-1", "a-2", "expiry"];
        check(&three, false, ": 2 a-*, expiry");
        check(&three, true, ", 3 seen by name: 2 a-*, expiry");
    }

    #[test]
    fn names_that_differ_in_a_number_are_one() {
        let check = |names: &[&str], expected: &[&str]| assert_eq!(grouped(names), expected);
        check(&[], &[]);
        check(&["expiry"], &["expiry"]);
        check(&["conn:1", "expiry", "conn:22"], &["2 conn:*", "expiry"]);
        check(&["b-1", "a-1"], &["a-1", "b-1"]);
        check(&["7", "8"], &["7", "8"]);
        check(&["same", "same"], &["2 same*"]);
    }
}
