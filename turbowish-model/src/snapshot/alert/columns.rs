//! Columns of alerts: severity, pitfall, parties, duration, and the tasks that wait.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ordered::Map;
use crate::snapshot::Place as AwaitPlace;
use crate::snapshot::alert::{Alert, Party, PartyKind, Severity};
use crate::snapshot::column::Unit::{Count, Duration, Place, Text};
use crate::snapshot::column::{Column, Heading, Row, Value, cell};
use crate::snapshot::pitfall::Pitfall;

static COLUMNS: [Column<Alert>; 14] = [
    Heading::new("severity", "SEVERITY", Text)
        .width(8)
        .rank(0)
        .meaning("alert (does not work), warning (costs time or resources, or will) or note")
        .fields(&["severity"])
        .read(|row, _| Value::Ranked {
            word: row.severity.word(),
            rank: row.severity as u32,
        }),
    Heading::new("alert", "ALERT", Text)
        .width(15)
        .rank(0)
        .meaning("what goes wrong")
        .fields(&["kind"])
        .read(|row, _| Value::Text(Cow::Borrowed(row.pitfall.title()))),
    Heading::new("who", "WHO", Text)
        .width(20)
        .rank(0)
        .meaning("parties involved: tasks and resources in order, workers and procs")
        .fields(&["parties"])
        .read(|row, _| who(row)),
    Heading::new("began", "BEGAN", Text)
        .width(8)
        .rank(0)
        .meaning("time of day at which it began; of several times the last")
        .fields(&["began_unix_ns"])
        .read(|row, context| Value::Clock(row.began_at(context.at_unix_ns))),
    Heading::new("for", "FOR", Duration)
        .width(6)
        .rank(0)
        .meaning("how long it has been active, or was; of several times the last")
        .fields(&["since_ns"])
        .read(|row, _| Value::Duration(row.lasted_ns())),
    Heading::new("behind", "BEHIND", Count)
        .width(6)
        .rank(0)
        .meaning("tasks that wait because of it; ? if that is unknown")
        .fields(&["behind", "behind_count"])
        .read(|row, _| behind(row)),
    Heading::new("ended", "ENDED", Duration)
        .width(6)
        .rank(0)
        .meaning("how long ago it ended, the last time; blank while it is active")
        .fields(&["over", "ended_unix_ns", "last_unix_ns"])
        .read(|row, context| {
            let ago = row.ended_ago(context.at_unix_ns);
            ago.map_or(Value::Blank, Value::Duration)
        }),
    Heading::new("times", "TIMES", Count)
        .width(5)
        .rank(2)
        .meaning("how often it was active; what comes again is listed once")
        .fields(&["times"])
        .read(|row, _| Value::Count(row.times.max(1))),
    Heading::new("docs", "DOCS", Text)
        .width(35)
        .rank(3)
        .meaning("the command that explains it")
        .fields(&["docs"])
        .read(|row, _| Value::Text(Cow::Borrowed(row.pitfall.docs()))),
    Heading::new("at", "AT", Place)
        .width(14)
        .rank(2)
        .meaning("await point concerned, file:line")
        .fields(&["at"])
        .read(|row, _| match place(row) {
            Some(at) => Value::Place {
                file: &at.file,
                line: at.line,
            },
            None => Value::Unknown,
        }),
    Heading::new("proc", "PROC", Text)
        .width(20)
        .rank(3)
        .meaning("path of the proc concerned")
        .fields(&["at"])
        .read(|row, _| {
            let at = row.at.as_ref();
            at.map_or(Value::Blank, |at| Value::Text(Cow::Borrowed(&at.proc)))
        }),
    Heading::new("kind", "KIND", Text)
        .width(20)
        .meaning("its name in JSON and settings")
        .fields(&["kind"])
        .read(|row, _| Value::Text(Cow::Borrowed(row.pitfall.id()))),
    Heading::new("sure", "SURE", Text)
        .width(8)
        .meaning("certain or probable; if probable, the reason states the assumption")
        .fields(&["certain"])
        .read(|row, _| Value::Text(Cow::Borrowed(sure(row)))),
    Heading::new("title", "TITLE", Text)
        .width(40)
        .meaning("the alert in one sentence")
        .fields(&["title"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.title))),
];

/// Each party once, in order.
fn who(row: &Alert) -> Value<'_> {
    let mut names: Vec<Cow<'_, str>> = Vec::new();
    for party in &row.parties {
        if !names.iter().any(|known| *known == party.name) {
            names.push(Cow::Borrowed(&party.name));
        }
    }
    Value::names(names.into_iter())
}

/// If nothing was polled, no task could be woken: how many wait is unknown.
fn behind(row: &Alert) -> Value<'_> {
    match row.behind_count() {
        0 if row.unpolled_ns > 0 || row.behind_unknown => Value::Unknown,
        count => Value::Count(count),
    }
}

const fn sure(row: &Alert) -> &'static str {
    if row.certain { "certain" } else { "probable" }
}

fn place(row: &Alert) -> Option<&AwaitPlace> {
    row.at.as_ref()?.place.as_ref()
}

/// Bits of an instant of the process's clock: nine years in nanoseconds.
const SINCE_BITS: u32 = 58;
const SINCE_MAX: u64 = (1 << SINCE_BITS) - 1;
const _: () = assert!(Pitfall::ALL.len() <= 1 << (u64::BITS - SINCE_BITS));

impl Row for Alert {
    const OWN_ORDER: &'static str = "worst";
    const PRINTED: &'static [&'static str] = &[
        "severity", "alert", "who", "began", "for", "ended", "behind", "docs",
    ];
    const NEEDED: &'static [&'static str] = &["kind", "severity", "parties"];
    const PLACE: &'static str = "at";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    /// `deadlock: there, back`
    fn label(&self) -> String {
        match cell(self, "who") {
            who if who.is_empty() => String::from(self.pitfall.title()),
            who => alloc::format!("{}: {who}", self.pitfall.title()),
        }
    }

    /// Alerts have no name; those of equal severity and instant keep the order of the table of
    /// pitfalls.
    fn name(&self) -> (&str, u64) {
        ("", self.pitfall as u64)
    }

    /// By severity; of one severity the active alerts, by pitfall and then the longest first; then
    /// those that are over, the one that ended last first.
    fn worst(&self) -> (u8, u64) {
        let class = 2 * self.severity as u8;
        let pitfall = (self.pitfall as u64) << SINCE_BITS;
        match self.last_unix_ns.or(self.ended_unix_ns) {
            None => (class, u64::MAX - (pitfall | self.since.min(SINCE_MAX))),
            Some(last) => (class + 1, last),
        }
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        let mut parties = self.parties.iter().chain(&self.behind.tasks);
        found(self.pitfall.id())
            || found(self.pitfall.title())
            || found(&self.title)
            || found(&self.summary)
            || parties.any(|party| found(&party.name))
            || self.at.as_ref().is_some_and(|at| found(&at.proc))
            || place(self).is_some_and(|at| {
                found(&at.expr) || found(&alloc::format!("{}:{}", at.file, at.line))
            })
    }
}

impl Alert {
    /// Names of the parties of one kind, each once, in order.
    #[must_use]
    pub fn named(&self, kind: PartyKind) -> Vec<&str> {
        let mut names = Vec::new();
        for Party { name, .. } in self.parties.iter().filter(|party| party.kind == kind) {
            if !names.contains(&name.as_str()) {
                names.push(name.as_str());
            }
        }
        names
    }
}

/// The parties of active alerts, with the severity of the worst alert.
#[derive(Clone, Debug, Default)]
pub struct Involved<'a>(Map<(PartyKind, u64, &'a str), Severity>);

impl<'a> Involved<'a> {
    /// Collects the parties of the active alerts, and the procs that they concern.
    #[must_use]
    pub fn of(alerts: &'a [Alert]) -> Self {
        let mut all = Self::default();
        for alert in alerts.iter().filter(|alert| !alert.is_over()) {
            for Party { kind, id, name } in &alert.parties {
                // An id identifies the party, so the name is dropped.
                let name = if *id == 0 { name.as_str() } else { "" };
                all.add((*kind, *id, name), alert.severity);
            }
            if let Some(at) = &alert.at {
                all.add((PartyKind::Proc, 0, at.proc.as_str()), alert.severity);
            }
        }
        all
    }

    fn add(&mut self, key: (PartyKind, u64, &'a str), severity: Severity) {
        let known = self.0.entry(key).or_insert(severity);
        *known = severity.min(*known);
    }

    /// Severity of the worst alert that a row is part of.
    #[must_use]
    pub fn severity<R: Row>(&self, row: &R) -> Option<Severity> {
        self.0.get(&row.party()?).copied()
    }
}

/// The first active alert in the table's own order.
#[must_use]
pub fn worst(alerts: &[Alert]) -> Option<&Alert> {
    let active = alerts.iter().filter(|alert| !alert.is_over());
    active.min_by_key(|alert| worst_first(alert))
}

/// Sort key of alerts in the table's own order.
#[must_use]
pub fn worst_first(alert: &Alert) -> (u8, u64, Pitfall) {
    let (class, last) = alert.worst();
    (class, u64::MAX - last, alert.pitfall)
}

/// The first alert in the table's own order, active or not: the one that consoles name and open.
#[must_use]
pub fn headline(alerts: &[Alert]) -> Option<&Alert> {
    alerts.iter().min_by_key(|alert| worst_first(alert))
}

/// `1 alert, 2 warnings`: the number of active alerts of each severity, worst first; empty if there
/// are none.
#[must_use]
pub fn severity_counts<'a>(alerts: impl IntoIterator<Item = &'a Alert>) -> String {
    let mut counts = [0; 3];
    for alert in alerts.into_iter().filter(|alert| !alert.is_over()) {
        counts[alert.severity as usize] += 1;
    }
    let mut words: Vec<String> = Vec::new();
    for severity in [Severity::Alert, Severity::Warning, Severity::Note] {
        match counts[severity as usize] {
            0 => {}
            1 => words.push(alloc::format!("1 {}", severity.word())),
            n => words.push(alloc::format!("{n} {}s", severity.word())),
        }
    }
    words.join(", ")
}
