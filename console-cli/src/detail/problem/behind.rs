//! Tasks that wait because of an alert. Names that differ only in a number are grouped.

use std::collections::BTreeMap;

use turbowish_model::snapshot::alert::{Alert, PartyKind};
use turbowish_model::snapshot::units;

use super::AlertContext;
use crate::detail::rich_line::RichLine;

/// ` BEHIND IT  47 tasks wait: 46 conn:*, expiry`
pub(super) fn lines(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let mut lines = waiting(alert, around);
    // Without a poll nothing is woken, so this is not in the number of tasks.
    if alert.unpolled_ns > 0 {
        let time = around.time(alert.unpolled_ns);
        let label = if lines.is_empty() {
            " BEHIND IT  "
        } else {
            "            "
        };
        let text = format!("nothing else that is covered was polled for {time}+");
        lines.extend(around.labelled(label, &text));
    }
    lines.into_iter().map(RichLine::from).collect()
}

fn waiting(alert: &Alert, around: &AlertContext<'_>) -> Vec<String> {
    let count = alert.behind_count();
    if count == 0 {
        return Vec::new();
    }
    let (tasks, wait) = if count == 1 {
        ("task", "waits")
    } else {
        ("tasks", "wait")
    };
    let known = alert.behind.tasks.iter();
    let names: Vec<&str> = known
        .filter(|party| party.kind == PartyKind::Task)
        .map(|party| party.name.as_str())
        .collect();
    let mut groups = grouped(&names);
    if alert.behind.unlisted > 0 && !names.is_empty() {
        groups.push(format!("{} more", units::count(alert.behind.unlisted)));
    }
    let mut text = format!("{} {tasks} {wait}", units::count(count));
    if !groups.is_empty() {
        text += &format!(": {}", groups.join(", "));
    }
    around.labelled(" BEHIND IT  ", &text)
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
    use super::grouped;

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
