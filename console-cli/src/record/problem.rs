//! The problem view: an alert told in full, the same lines on the screen, in a pipe and in an issue.

mod behind;
mod chain;
pub(crate) mod source;

use turbowish_model::diagnose::alert::{Alert, Party, PartyKind};
use turbowish_model::snapshot::report::{one_line, span};
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Place, ResourceRow, TaskRow, TaskState};

use super::told::{Link, Told};
use super::tree;
use crate::text;

/// What is known beside the alert itself, and how to write it.
pub(crate) struct Around<'a> {
    /// Rows of tasks, as far as they are at hand.
    pub(crate) tasks: &'a [TaskRow],
    /// Rows of resources, as far as they are at hand.
    pub(crate) resources: &'a [ResourceRow],
    /// The time of day at which it began, if it can be told.
    pub(crate) began: Option<String>,
    /// Lines of its source, from [`source::lines`].
    pub(crate) source: &'a [String],
    /// How microseconds are written.
    pub(crate) micro: Micro,
    /// Columns of the terminal; sentences are wrapped there, and names cut if `cuts`.
    pub(crate) room: usize,
    /// Nothing goes beyond `room`.
    pub(crate) cuts: bool,
}

/// From here on there is room for folders and expressions.
const WIDE: usize = 120;

impl Around<'_> {
    pub(super) fn is_wide(&self) -> bool {
        !self.cuts || self.room >= WIDE
    }

    pub(super) fn time(&self, ns: u64) -> String {
        units::duration(ns, self.micro)
    }

    /// `conn.rs:88:9-33`, with its folders where there is room.
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

    /// A label in front of a text that takes as many lines as it needs.
    fn labelled(&self, label: &str, text: &str) -> Vec<String> {
        let indent = text::width(label);
        let lines = text::wrap(text, self.room.saturating_sub(indent + 1).max(20));
        let lead = |at| match at {
            0 => label.to_owned(),
            _ => " ".repeat(indent),
        };
        let lines = lines.into_iter().enumerate();
        // Each wrapped line begins with a blank of its own.
        lines
            .map(|(at, line)| format!("{}{}", lead(at), &line[1..]))
            .collect()
    }
}

/// The whole view, line by line.
pub(crate) fn lines(alert: &Alert, around: &Around<'_>) -> Vec<Told> {
    let mut lines = heading(alert, around);
    let body = if alert.steps.is_empty() {
        involved(alert, around)
    } else {
        chain::lines(alert, around)
    };
    for part in [
        body,
        behind::lines(alert, around),
        advice(alert, around),
        source_of(around),
    ] {
        if !part.is_empty() {
            lines.push(Told::default());
            lines.extend(part);
        }
    }
    if around.cuts {
        lines.iter_mut().for_each(|line| line.cut(around.room));
    }
    lines
}

/// ` DEADLOCK   3 tasks and 3 resources wait in a cycle      since 17:05:20, 41.2 s`
fn heading(alert: &Alert, around: &Around<'_>) -> Vec<Told> {
    let title = format!(" {}   ", alert.row().title.to_uppercase());
    let mut begin = around.labelled(&title, &alert.summary);
    if begin.is_empty() {
        begin.push(title.trim_end().to_owned());
    }
    let held = around.time(alert.held_ns);
    let end = match &around.began {
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
    let first = lines.next().map(|line| Told::default().title(line));
    first.into_iter().chain(lines.map(Told::from)).collect()
}

/// Who is involved, where that is no chain, and where each one stands.
fn involved(alert: &Alert, around: &Around<'_>) -> Vec<Told> {
    // The name of a resource begins with its kind.
    let kind = |party: &Party| match party.kind {
        PartyKind::Resource => String::new(),
        kind => format!("{} ", kind.word()),
    };
    let parties = alert.parties.iter();
    let label = |party: &Party| {
        let line = Told::from(kind(party));
        line.link(party.name.clone(), Link::party(party))
    };
    let widest = parties.clone().map(|party| label(party).width());
    let width = widest.max().unwrap_or(0).min(around.room * 3 / 8) + 2;
    let mut lines: Vec<Told> = parties
        .map(|party| {
            let state = state(party, around);
            let line = Told::from(" ").join(label(party));
            match state.is_empty() {
                true => line,
                false => line.left(1 + width).say(" ").say(state),
            }
        })
        .collect();
    if let Some(at) = &alert.at {
        let mut line = Told::from(" at ").proc(&at.proc);
        if let Some(place) = &at.place {
            line = line.say(format!("   {}", around.place(place)));
            let expr = one_line(&place.expr);
            if !expr.is_empty() {
                line = line.say(format!("   {expr}"));
            }
        }
        lines.push(line);
    }
    lines.extend(calls(alert, around));
    lines
}

/// What the row of somebody says of now.
fn state(party: &Party, around: &Around<'_>) -> String {
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
            let by = tree::cell(row, "by");
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

/// The calls of the task that it is about, if it is about one: in its poll, or where they wait.
fn calls(alert: &Alert, around: &Around<'_>) -> Vec<Told> {
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
    let mut lines = vec![Told::default(), Told::default().label(label)];
    let tree = tree::lines_at(row, around.resources, around.micro, &|place| {
        around.place(place)
    });
    lines.extend(tree.into_iter().map(|line| Told::from("   ").join(line)));
    lines
}

fn source_of(around: &Around<'_>) -> Vec<Told> {
    let lines = around.source.iter();
    lines.map(|line| format!(" {line}").into()).collect()
}

/// Why, what to do, and where to read more.
fn advice(alert: &Alert, around: &Around<'_>) -> Vec<Told> {
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
    lines.push(format!(" MORE  {}", alert.row().docs));
    lines.into_iter().map(Told::from).collect()
}
