//! Columns of alerts: how bad, which, who is involved, for how long, and who waits because of it.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::Unit::{Count, Duration, Place, Text};
use super::{Column, Family, Row, Value};
use crate::diagnose::alert::{Alert, Party, PartyKind, Pitfall, Severity};
use crate::snapshot::{Page, Place as AwaitPlace, Snapshot};

/// Too wide for a screen, where the problem view shows the same.
const LISTS_ONLY: u8 = u8::MAX;

static COLUMNS: [Column<Alert>; 11] = [
    Column::new(
        "severity",
        "SEVERITY",
        "alert (broken), warning (a cost, now or later) or note",
        (Text, 8, 0),
        &["severity"],
        |row, _| Value::Ranked {
            word: row.severity.word(),
            rank: row.severity as u32,
        },
    ),
    Column::new(
        "alert",
        "ALERT",
        "what goes wrong",
        (Text, 15, 0),
        &["kind"],
        |row, _| Value::Text(Cow::Borrowed(row.row().title)),
    ),
    Column::new(
        "who",
        "WHO",
        "tasks and resources in order, workers and procs",
        (Text, 36, 0),
        &["parties"],
        |row, _| who(row),
    ),
    Column::new(
        "for",
        "FOR",
        "how long it has been active",
        (Duration, 6, 0),
        &["since_ns"],
        |row, _| Value::Duration(row.held_ns),
    ),
    Column::new(
        "behind",
        "BEHIND",
        "tasks that wait because of it",
        (Count, 6, 0),
        &["behind", "behind_count"],
        |row, _| Value::Count(row.behind_count()),
    ),
    Column::new(
        "docs",
        "DOCS",
        "the page that explains it",
        (Text, 35, 1),
        &["docs"],
        |row, _| Value::Text(Cow::Borrowed(row.row().docs)),
    ),
    Column::new(
        "at",
        "AT",
        "await point concerned, file:line",
        (Place, 14, 2),
        &["at"],
        |row, _| match place(row) {
            Some(at) => Value::Place {
                file: &at.file,
                line: at.line,
            },
            None => Value::Unknown,
        },
    ),
    Column::new(
        "proc",
        "PROC",
        "path of the proc concerned",
        (Text, 20, 3),
        &["at"],
        |row, _| {
            let at = row.at.as_ref();
            at.map_or(Value::Blank, |at| Value::Text(Cow::Borrowed(&at.proc)))
        },
    ),
    Column::new(
        "kind",
        "KIND",
        "its name in JSON and settings",
        (Text, 20, LISTS_ONLY),
        &["kind"],
        |row, _| Value::Text(Cow::Borrowed(row.row().id)),
    ),
    Column::new(
        "sure",
        "SURE",
        "certain, or probable: then the reason states the assumption",
        (Text, 8, LISTS_ONLY),
        &["certain"],
        |row, _| Value::Text(Cow::Borrowed(sure(row))),
    ),
    Column::new(
        "title",
        "TITLE",
        "the alert in one sentence",
        (Text, 40, LISTS_ONLY),
        &["title"],
        |row, _| Value::Text(Cow::Borrowed(&row.title)),
    ),
];

/// Everybody once, in order.
fn who(row: &Alert) -> Value<'_> {
    let mut names: Vec<Cow<'_, str>> = Vec::new();
    for party in &row.parties {
        if !names.iter().any(|known| *known == party.name) {
            names.push(Cow::Borrowed(&party.name));
        }
    }
    Value::names(names.into_iter())
}

const fn sure(row: &Alert) -> &'static str {
    if row.certain { "certain" } else { "probable" }
}

fn place(row: &Alert) -> Option<&AwaitPlace> {
    row.at.as_ref()?.place.as_ref()
}

impl Row for Alert {
    const TABLE: &'static str = "alerts";
    const OWN_ORDER: &'static str = "worst";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &[]
    }

    fn page(snapshot: &Snapshot) -> &Page<Self> {
        &snapshot.alerts
    }

    fn page_mut(snapshot: &mut Snapshot) -> &mut Page<Self> {
        &mut snapshot.alerts
    }

    /// An alert has no name; those of one severity and instant stand as the table of pitfalls has them.
    fn name(&self) -> (&str, u64) {
        ("", self.pitfall as u64)
    }

    /// By severity, and what has held longest first.
    fn worst(&self) -> (u8, u64) {
        (self.severity as u8, u64::MAX - self.since)
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        let row = self.row();
        let mut parties = self.parties.iter().chain(&self.behind.tasks);
        found(row.id)
            || found(row.title)
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
    /// Names of those involved that are of one kind, each once, in order.
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

/// Who is part of alerts, and of how bad a one.
#[derive(Clone, Debug, Default)]
pub struct Involved<'a>(BTreeMap<(PartyKind, u64, &'a str), Severity>);

impl<'a> Involved<'a> {
    /// The parties of these alerts, and the procs that they are about.
    #[must_use]
    pub fn of(alerts: &'a [Alert]) -> Self {
        let mut all = Self::default();
        for alert in alerts {
            for Party { kind, id, name } in &alert.parties {
                // An id says it all.
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

    /// The worst of the alerts that a row is part of.
    #[must_use]
    pub fn severity<R: Row>(&self, row: &R) -> Option<Severity> {
        self.0.get(&row.party()?).copied()
    }
}

/// The first in the table's own order.
#[must_use]
pub fn worst(alerts: &[Alert]) -> Option<&Alert> {
    alerts.iter().min_by_key(|alert| worst_first(alert))
}

/// What alerts are sorted by in the table's own order: severity, and what has held longest.
#[must_use]
pub const fn worst_first(alert: &Alert) -> (Severity, u64, Pitfall) {
    (alert.severity, alert.since, alert.pitfall)
}

/// `1 alert, 2 warnings`: how many there are of each severity, the worst first; empty if there are none.
#[must_use]
pub fn tally<'a>(alerts: impl IntoIterator<Item = &'a Alert>) -> String {
    let mut counts = [0; 3];
    for alert in alerts {
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
