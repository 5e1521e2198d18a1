//! The problem view: the full description of an alert, with the same lines on the screen, in a pipe
//! and in an issue.

mod behind;
mod chain;
mod resolved;
pub(crate) mod source;

use turbowish_model::snapshot::alert::{Alert, Party, PartyKind, Point};
use turbowish_model::snapshot::column;
use turbowish_model::snapshot::report::{one_line, span};
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Place, ResourceRow, TaskRow, TaskState};

use super::rich_line::{Link, RichLine};
use super::{FROM_BEGINNING, tree};
use crate::text;

/// The context of the alert, and the format of the output.
pub(crate) struct AlertContext<'a> {
    /// Rows of tasks, as far as available.
    pub(crate) tasks: &'a [TaskRow],
    /// Rows of resources, as far as available.
    pub(crate) resources: &'a [ResourceRow],
    /// The time of day at which the alert began, if known.
    pub(crate) began: Option<String>,
    /// How long ago it ended, if it is over.
    pub(crate) ended_ago_ns: Option<u64>,
    /// Set if the rows are of an instant before its end, at which it had not been noticed.
    pub(crate) noticed_later: Option<NoticedLater>,
    /// The command that shows its time, if it is over; the console has a key for that.
    pub(crate) past: Option<String>,
    /// Local time minus UTC, in seconds.
    pub(crate) utc_offset_s: i64,
    /// Lines of its source, from [`source::lines`].
    pub(crate) source: &'a [String],
    /// The spelling of microseconds.
    pub(crate) micro: Micro,
    /// Width of the terminal in columns; sentences are wrapped there, and names cut if `cuts`.
    pub(crate) room: usize,
    /// No line exceeds `room`.
    pub(crate) cuts: bool,
}

/// When an alert was noticed that is told beside rows of an earlier instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticedLater {
    /// It had begun by then.
    Begun,
    /// It began later, too.
    ToBegin,
}

/// From this width on there is room for folders and expressions.
const WIDE: usize = 120;

impl AlertContext<'_> {
    pub(super) fn is_wide(&self) -> bool {
        !self.cuts || self.room >= WIDE
    }

    pub(super) fn time(&self, ns: u64) -> String {
        units::duration(ns, self.micro)
    }

    /// `conn.rs:88:9-33`, with its folders if there is room.
    pub(super) fn place(&self, place: &Place) -> String {
        let full = span(place);
        match full.rsplit(['/', '\\']).next() {
            Some(short) if !self.is_wide() => short.to_owned(),
            _ => full,
        }
    }

    fn task(&self, party: &Party) -> Option<&TaskRow> {
        self.tasks.iter().find(|row| row.id == party.id)
    }

    fn resource(&self, party: &Party) -> Option<&ResourceRow> {
        self.resources.iter().find(|row| row.id == party.id)
    }

    /// A label in front of a text, which is wrapped.
    fn labelled(&self, label: &str, text: &str) -> Vec<String> {
        let indent = text::width(label);
        let lines = text::wrap(text, self.room.saturating_sub(indent + 1).max(20));
        let lead = |at| match at {
            0 => label.to_owned(),
            _ => " ".repeat(indent),
        };
        let lines = lines.into_iter().enumerate();
        // Each wrapped line already begins with a blank.
        lines
            .map(|(at, line)| format!("{}{}", lead(at), &line[1..]))
            .collect()
    }
}

/// The whole view, line by line.
pub(crate) fn lines(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let mut lines = heading(alert, around);
    let body = if alert.steps.is_empty() {
        involved(alert, around)
    } else {
        chain::lines(alert, around)
    };
    for part in [
        body,
        resolved::lines(alert, around),
        behind::lines(alert, around),
        advice(alert, around),
        source_of(around),
    ] {
        if !part.is_empty() {
            lines.push(RichLine::default());
            lines.extend(part);
        }
    }
    if around.cuts {
        lines.iter_mut().for_each(|line| line.cut(around.room));
    }
    lines
}

/// ` DEADLOCK   3 tasks and 3 resources wait in a cycle      since 17:05:20, 41.2 s`
fn heading(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let title = format!(" {}   ", alert.pitfall.title().to_uppercase());
    let mut begin = around.labelled(&title, &alert.summary);
    if begin.is_empty() {
        begin.push(title.trim_end().to_owned());
    }
    let held = around.time(alert.lasted_ns());
    let end = match &around.began {
        Some(clock) if around.ended_ago_ns.is_some() || around.noticed_later.is_some() => {
            format!("at {clock}, lasted {held}")
        }
        _ if !alert.holds => format!("resolved; lasted {held}"),
        Some(clock) => format!("since {clock}, {held}"),
        None => format!("for {held}"),
    };
    let room = around.room.min(WIDE);
    let last = begin.last().map_or(0, |line| text::width(line));
    if last + 3 + text::width(&end) < room {
        let line = begin.pop().unwrap_or_default();
        begin.push(format!(
            "{line}{}",
            text::right(&end, room.saturating_sub(1 + last))
        ));
    } else {
        begin.push(text::right(&end, room.saturating_sub(1)));
    }
    let mut lines = begin.into_iter();
    let first = lines.next().map(|line| RichLine::default().title(line));
    first.into_iter().chain(lines.map(RichLine::from)).collect()
}

/// The parties of an alert that is not a chain, and their locations.
fn involved(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    // The name of a resource begins with its kind.
    let kind = |party: &Party| match party.kind {
        PartyKind::Resource => String::new(),
        kind => format!("{} ", kind.word()),
    };
    let parties = alert.parties.iter();
    let label = |party: &Party| {
        let line = RichLine::from(kind(party));
        line.link(party.name.clone(), Link::party(party))
    };
    let widest = parties.clone().map(|party| label(party).width());
    let width = widest.max().unwrap_or(0).min(around.room * 3 / 8) + 2;
    let mut lines: Vec<RichLine> = parties
        .map(|party| {
            let state = state(party, around);
            let line = RichLine::from(" ").join(label(party));
            match state.is_empty() {
                true => line,
                false => line.left(1 + width).say(" ").say(state),
            }
        })
        .collect();
    if let Some(at) = &alert.at {
        lines.extend(point(alert, at, around));
    }
    lines.extend(calls(alert, around));
    lines
}

/// ` at kv::conn::serve   conn.rs:88:9-33   self.db.lock()`; of a poll in progress, the await point
/// behind which it runs is on a line of its own.
fn point(alert: &Alert, at: &Point, around: &AlertContext<'_>) -> Vec<RichLine> {
    let place = at.place.as_ref().map(|place| {
        let expr = one_line(&place.expr);
        format!("{}   {expr}", around.place(place))
            .trim_end()
            .to_owned()
    });
    let word = if alert.is_in_poll() { " in " } else { " at " };
    let proc = RichLine::from(word).proc(&at.proc);
    match place {
        None if alert.is_in_poll() => vec![proc, RichLine::from(format!("    {FROM_BEGINNING}"))],
        None => vec![proc],
        Some(place) if alert.is_in_poll() => {
            vec![
                proc,
                format!("    in the code after the await at {place}").into(),
            ]
        }
        Some(place) => vec![proc.say(format!("   {place}"))],
    }
}

/// The present state of a party, from its row.
fn state(party: &Party, around: &AlertContext<'_>) -> String {
    match party.kind {
        PartyKind::Task => {
            let row = around.task(party);
            row.map_or_else(String::new, |row| tree::state(row, around.micro))
        }
        PartyKind::Resource => {
            let Some(row) = around.resource(party) else {
                return String::new();
            };
            let mut words: Vec<String> = tree::fill(row).into_iter().collect();
            let by = column::cell(row, "by");
            if !by.is_empty() {
                words.push(format!("{} {by}", tree::relation(row)));
            }
            if row.waiter_count > 0 {
                words.push(format!("{} waiting", units::count(row.waiter_count)));
            }
            words.join("   ")
        }
        PartyKind::Worker | PartyKind::Proc => String::new(),
    }
}

/// The calls of the task that the alert is about, if there is one: in its poll, or where they wait.
fn calls(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let mut tasks = alert.parties.iter().filter(|p| p.kind == PartyKind::Task);
    let (Some(only), None) = (tasks.next(), tasks.next()) else {
        return Vec::new();
    };
    let Some(row) = around.task(only).filter(|row| !row.stack.is_empty()) else {
        return Vec::new();
    };
    let label = match row.state {
        TaskState::Polling => " IN THIS POLL",
        TaskState::Ready | TaskState::Waiting | TaskState::Paused => " AWAIT TREE",
    };
    let mut lines = vec![RichLine::default(), RichLine::default().label(label)];
    let tree = tree::lines_at(row, around.resources, around.micro, &|place| {
        around.place(place)
    });
    lines.extend(
        tree.into_iter()
            .map(|line| RichLine::from("   ").join(line)),
    );
    lines
}

fn source_of(around: &AlertContext<'_>) -> Vec<RichLine> {
    let lines = around.source.iter();
    lines.map(|line| format!(" {line}").into()).collect()
}

/// The cause, the remedy, and a link to the documentation.
fn advice(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let mut lines = Vec::new();
    if !alert.why.is_empty() {
        lines.extend(around.labelled(" WHY   ", &alert.why));
    }
    for (at, fix) in alert.fixes.iter().enumerate() {
        let label = format!("{}{} ", if at == 0 { " DO    " } else { "       " }, at + 1);
        let or = if at > 0 && !fix.starts_with("or ") {
            "or "
        } else {
            ""
        };
        lines.extend(around.labelled(&label, &format!("{or}{fix}")));
    }
    lines.push(format!(" MORE  {}", alert.pitfall.docs()));
    lines.extend(around.past.as_ref().map(|past| format!(" PAST  {past}")));
    lines.into_iter().map(RichLine::from).collect()
}
