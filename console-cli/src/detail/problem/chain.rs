//! A chain of waits: alternating tasks and resources, where each line begins with the end of the
//! line before.

use turbowish_model::snapshot::alert::{Alert, Step};
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::report::one_line;

use super::AlertContext;
use crate::detail::rich_line::{Link, RichLine};
use crate::text;

/// The steps of an alert, arranged as a cycle or as two futures.
pub(super) fn lines(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    if alert.pitfall == Pitfall::Futurelock {
        return futures(alert, around);
    }
    let widths = Widths::of(alert, around);
    let cycle = matches!(alert.pitfall, Pitfall::Deadlock | Pitfall::SelfDeadlock);
    let mut lines = Vec::new();
    for step in &alert.steps {
        lines.push(waits(alert, step, &widths, around));
        let end = if cycle { ":" } else { "" };
        let indent = 1 + widths.name;
        let how = around.labelled(&" ".repeat(indent), &format!("{}{end}", step.how));
        let on = RichLine::from("   on ").link(step.on.name.clone(), Link::party(&step.on));
        lines.extend(begin(on, indent, how));
    }
    if let Some(first) = alert.steps.first().filter(|_| cycle) {
        let line = RichLine::from(" ^  ").link(first.task.name.clone(), Link::party(&first.task));
        let closes = if alert.holds { "closes" } else { "closed" };
        lines.push(
            line.left(1 + widths.name)
                .say(format!("the cycle {closes} here")),
        );
    }
    lines
}

/// Indented lines, with `words` before the first one.
fn begin(words: RichLine, indent: usize, lines: Vec<String>) -> Vec<RichLine> {
    let mut lines = lines.into_iter();
    let rest = lines.next().unwrap_or_default();
    let first = words
        .left(indent)
        .say(rest.get(indent..).unwrap_or_default());
    std::iter::once(first)
        .chain(lines.map(RichLine::from))
        .collect()
}

/// Widths of the columns of a chain.
struct Widths {
    name: usize,
    proc: usize,
    waits: usize,
}

impl Widths {
    fn of(alert: &Alert, around: &AlertContext<'_>) -> Self {
        let steps = || alert.steps.iter();
        let most = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        let name = most(&mut steps().map(|step| {
            // "task " and "  on " have the same length.
            5 + text::width(&step.task.name).max(text::width(&step.on.name))
        }));
        let proc = most(&mut steps().map(|step| text::width(&step.point.proc)));
        let waits = most(&mut steps().map(|step| text::width(&age(alert, step, around))));
        let place = most(&mut steps().map(|step| text::width(&place(step, around))));
        let mut widths = Self {
            name: name + 2,
            proc: proc + 2,
            waits: waits + 2,
        };
        if around.cuts {
            let room = around.room.saturating_sub(1);
            widths.name = widths.name.min(room * 3 / 8);
            let left = room.saturating_sub(widths.name + widths.waits + place + 1);
            widths.proc = widths.proc.min(left.max(12));
        }
        widths
    }
}

fn age(alert: &Alert, step: &Step, around: &AlertContext<'_>) -> String {
    // After the end it is how long it had waited then.
    let waits = if alert.holds { "waits" } else { "waited" };
    format!("{waits} {}", around.time(alert.age(step.since)))
}

fn place(step: &Step, around: &AlertContext<'_>) -> String {
    let place = step.point.place.as_ref();
    place.map_or_else(|| "?".to_owned(), |place| around.place(place))
}

/// ` task conn:51022   kv::conn::serve      waits 41.4 s   conn.rs:88:9-33`
fn waits(alert: &Alert, step: &Step, widths: &Widths, around: &AlertContext<'_>) -> RichLine {
    // "task " precedes it, and a blank follows it.
    let name = text::head(&step.task.name, widths.name.saturating_sub(6));
    let proc = text::fit_path(&step.point.proc, "::", widths.proc.saturating_sub(1));
    let mut link = RichLine::from(" task ").link(name, Link::party(&step.task));
    link = link.left(1 + widths.name);
    let proc = RichLine::default().link(proc, Some(Link::Proc(step.point.proc.clone())));
    let waits = text::left(&age(alert, step, around), widths.waits);
    link.join(proc.left(widths.proc))
        .say(format!("{waits}{}", place(step, around)))
        .say(expression(step, around))
}

/// The expression, if there is room for it.
fn expression(step: &Step, around: &AlertContext<'_>) -> String {
    let expr = step.point.place.as_ref().map(|place| one_line(&place.expr));
    match expr {
        Some(expr) if around.is_wide() && !expr.is_empty() => format!("  {expr}"),
        _ => String::new(),
    }
}

/// The two futures of a futurelock: the one that is next in the queue and is not polled, and the
/// one that waits behind it.
fn futures(alert: &Alert, around: &AlertContext<'_>) -> Vec<RichLine> {
    let mut lines = Vec::new();
    let steps = alert.steps.iter();
    let width = steps.map(|step| text::width(&step.point.proc)).max();
    for (at, step) in alert.steps.iter().enumerate() {
        let same = |other: Option<&Step>| other.is_some_and(|other| other.task == step.task);
        if at == 0 || !same(alert.steps.get(at - 1)) {
            let name = step.task.name.clone();
            lines.push(RichLine::from(" task ").link(name, Link::party(&step.task)));
        }
        let (branch, stem) = if same(alert.steps.get(at + 1)) {
            ("|-", "| ")
        } else {
            ("`-", "  ")
        };
        let letter = char::from(b'A' + u8::try_from(at % 26).unwrap_or(0));
        let proc = RichLine::default().proc(&step.point.proc);
        let line = RichLine::from(format!(" {branch} {letter}  "))
            .join(proc.left(width.unwrap_or(0)))
            .say(format!("   {}", place(step, around)));
        lines.push(line.say(expression(step, around)));
        let on = RichLine::from(format!(" {stem}      "))
            .link(step.on.name.clone(), Link::party(&step.on))
            .say(": ");
        let indent = on.width();
        let how = around.labelled(&" ".repeat(indent), &step.how);
        lines.extend(begin(on, indent, how));
    }
    lines
}
