//! The last times that an alert was active; of one that is over, when it ended.

use turbowish_model::snapshot::alert::{Alert, Occurrence};
use turbowish_model::snapshot::units;

use super::{AlertContext, NoticedLater};
use crate::detail::rich_line::RichLine;

/// ` RESOLVED  42.0 s ago`, or ` RESOLVED  42.0 s ago; active 4 times:` with a line for each of the
/// last ones, the newest first.
pub(super) fn lines(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    if let Some(noticed) = around.noticed_later {
        let then = match noticed {
            NoticedLater::Begun => "it lasted then, and had not been noticed yet",
            NoticedLater::ToBegin => "it had not begun then",
        };
        let text = format!(
            "after this state: {then}; the states of tasks and resources are those of this state"
        );
        let lines = around.labelled(" NOTICED  ", &text);
        return lines.into_iter().map(RichLine::from).collect();
    }
    let Some(ago) = around.ended_ago_ns.map(|ns| around.time(ns)) else {
        return before(alert, around);
    };
    // What the view tells is then about another time than its head.
    let ago = match alert.last_time() {
        None => format!("{ago} ago"),
        Some(_) => format!(
            "{ago} ago, told as at its worst: at {}, {}",
            units::time_of_day(alert.began_unix_ns, around.utc_offset_s),
            around.time(alert.held_ns)
        ),
    };
    let text = match alert.times {
        0 | 1 => ago,
        n if alert.recent.is_empty() => format!("{ago}; active {} times", units::count(n)),
        n if alert.recent.len() as u64 == n => format!("{ago}; active {n} times:"),
        n => format!(
            "{ago}; active {} times, the last {} and the longest:",
            units::count(n),
            alert.recent.len().saturating_sub(1)
        ),
    };
    let mut lines = around.labelled(" RESOLVED  ", &text);
    if alert.times > 1 {
        lines.extend(times(&alert.recent, around));
    }
    lines.into_iter().map(RichLine::from).collect()
}

/// ` BEFORE  active 3 times before:` of an active alert, with a line for each of the last ones.
fn before(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let text = match alert.times {
        0 | 1 => return Vec::new(),
        2 => "active once before:".to_owned(),
        n => format!("active {} times before:", units::count(n - 1)),
    };
    let mut lines = around.labelled(" BEFORE  ", &text);
    lines.extend(times(&alert.recent, around));
    lines.into_iter().map(RichLine::from).collect()
}

/// `   17:05:36  1.50 s  252 wait  longest`
fn times(recent: &[Occurrence], around: &AlertContext<'_>) -> Vec<String> {
    let longest = recent.iter().map(|time| time.held_ns).max();
    let newest = recent.iter().rev();
    newest
        .map(|time| {
            let clock = units::time_of_day(time.began_unix_ns, around.utc_offset_s);
            let mut line = format!("   {clock} {:>7}", around.time(time.held_ns));
            match time.behind_count {
                0 => {}
                1 => line += "   1 task waited",
                n => line += &format!("   {} tasks waited", units::count(n)),
            }
            if Some(time.held_ns) == longest && recent.len() > 1 {
                line += "   the longest";
            }
            line
        })
        .collect()
}
