//! The record view: the lines of one row and its related rows, at the width of the screen; links
//! are data.

mod history;

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::json;
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Page, Place, ProcRow, ResourceRow, Snapshot, Table, TaskRow};

pub(crate) use self::history::{HistoryQuery, query as history_query};
use super::layout;
use super::rows::{Absent, OPEN_ROWS};
use super::state::State;
use crate::detail::problem::{self, AlertContext, NoticedLater};
use crate::detail::rich_line::{Kind, Link, RichLine};
use crate::detail::{DetailContext, proc, resource, task};
use crate::history::SubjectHistory;

/// Maximal number of rows that a record requests in addition to its subject.
pub(crate) const BESIDE: u32 = 1_000;

/// How the last line of the record of an alert begins: it is about keys, and is not copied.
pub(crate) const PAST_HINT: &str = " PAST  ";

/// The end of a record, which stays in sight as lines are added.
pub(crate) const END: usize = usize::MAX;

/// A record that is open, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The subject of the record.
    pub(crate) subject: Link,
    /// The last received row of the subject.
    pub(crate) kept: RecordRow,
    /// When that row was read, in nanoseconds since 1970.
    pub(crate) kept_unix_ns: u64,
    /// Set if the subject is not part of the last snapshot.
    pub(crate) absent: Option<Absent>,
    /// Index of the selected link.
    pub(crate) link: usize,
    /// Number of lines scrolled out of sight at the top; [`END`] if the last line is to be seen.
    pub(crate) scroll: usize,
    /// Source lines and the excerpt that they belong to; `None` until the loop has read them.
    pub(crate) source: Option<(Excerpt, Vec<String>)>,
    /// What the recording has of the subject, or why it has nothing; `None` until it was read.
    pub(crate) history: Option<Result<SubjectHistory, String>>,
}

/// The row of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordRow {
    /// No row has arrived yet.
    Nothing,
    Alert(Box<Alert>),
    Proc(Box<ProcRow>),
    Task(Box<TaskRow>),
    Resource(Box<ResourceRow>),
}

/// A source excerpt of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Excerpt {
    /// The locations of an alert's waits.
    Alert(Link),
    /// An await point and its surroundings.
    Await(Place),
    /// The signature of a proc: its path, file and line.
    Signature(String, String, u32),
}

impl Record {
    pub(crate) const fn new(subject: Link) -> Self {
        Self {
            subject,
            kept: RecordRow::Nothing,
            kept_unix_ns: 0,
            absent: None,
            link: 0,
            scroll: 0,
            source: None,
            history: None,
        }
    }

    /// The alert, if the record is of one.
    pub(crate) fn alert(&self) -> Option<&Alert> {
        match &self.kept {
            RecordRow::Alert(alert) => Some(alert),
            _ => None,
        }
    }

    /// The kind of the subject.
    pub(crate) const fn word(&self) -> &'static str {
        match self.subject {
            Link::Task { .. } => "task",
            Link::Resource { .. } => "resource",
            Link::Proc(_) => "proc",
            Link::Alert(..) => "alert",
        }
    }

    /// The name of the subject in the breadcrumb.
    pub(crate) fn name(&self) -> String {
        match (&self.subject, &self.kept) {
            (_, RecordRow::Alert(alert)) => alert.pitfall.title().to_owned(),
            (Link::Task { name, .. } | Link::Resource { name, .. } | Link::Proc(name), _) => {
                name.clone()
            }
            (Link::Alert(pitfall, ..), _) => pitfall.title().to_owned(),
        }
    }

    /// The row as JSON.
    pub(crate) fn json(&self, shown: &Snapshot) -> Option<String> {
        fn page<R: Clone>(row: &R) -> Page<R> {
            Page {
                rows: vec![row.clone()],
                total: 1,
                matched: 1,
            }
        }
        let mut one = Snapshot {
            alerts: Page::default(),
            ..shown.clone()
        };
        let table = match &self.kept {
            RecordRow::Nothing => return None,
            RecordRow::Alert(row) => {
                one.alerts = page(&**row);
                Table::Alerts
            }
            RecordRow::Proc(row) => {
                one.procs = page(&**row);
                Table::Procs
            }
            RecordRow::Task(row) => {
                one.tasks = page(&**row);
                Table::Tasks
            }
            RecordRow::Resource(row) => {
                one.resources = page(&**row);
                Table::Resources
            }
        };
        Some(json::document(&one, &[table], &json::Options::default()))
    }

    /// The source excerpt that the record shows now.
    pub(crate) fn excerpt(&self) -> Option<Excerpt> {
        match &self.kept {
            RecordRow::Alert(_) => Some(Excerpt::Alert(self.subject.clone())),
            RecordRow::Task(row) => task::stands_at(row).cloned().map(Excerpt::Await),
            RecordRow::Proc(row) => Some(Excerpt::Signature(
                row.proc.clone(),
                row.file.clone(),
                row.line,
            )),
            RecordRow::Resource(_) | RecordRow::Nothing => None,
        }
    }

    /// The query for the process while the record is open.
    pub(crate) fn query(&self, window_ns: Option<u64>) -> Query {
        let first = |limit| {
            let rows = Rows::default();
            Some(Rows { limit, ..rows })
        };
        let named = |column: &str, name: &str| {
            // A text with quotes cannot be a filter: then all rows are requested.
            let filter = match name.contains('"') {
                true => String::new(),
                false => format!("{column}:\"{name}\""),
            };
            Rows {
                filter,
                limit: BESIDE,
                ..Rows::default()
            }
        };
        let query = Query {
            window_ns,
            ..Query::default()
        };
        match &self.subject {
            Link::Task { name, .. } => Query {
                // If many names contain it, it is among the first.
                tasks: Some(Rows {
                    sort: "task".to_owned(),
                    ..named("task", name)
                }),
                resources: first(OPEN_ROWS),
                ..query
            },
            Link::Resource { .. } => Query {
                resources: first(OPEN_ROWS),
                tasks: first(BESIDE),
                ..query
            },
            Link::Proc(path) => Query {
                procs: first(OPEN_ROWS),
                awaits: Some(named("proc", path)),
                counters: Some(named("proc", path)),
                delays: Some(named("victim", path)),
                slowest: Some(named("proc", path)),
                tasks: Some(named("root", path)),
                ..query
            },
            Link::Alert(..) => Query {
                tasks: first(BESIDE),
                resources: first(BESIDE),
                ..query
            },
        }
    }

    /// Takes the row from the available ones; returns whether it is among them.
    pub(crate) fn find(&mut self, beside: &DetailContext<'_>) -> bool {
        let found = match &self.subject {
            Link::Alert(..) => {
                let alerts = beside.alerts.iter();
                let same = alerts.clone().find(|a| Link::alert(a) == self.subject);
                // In a state of another time it is one of its other times.
                let alert = same.or_else(|| {
                    let (kept, mut alerts) = (self.alert()?, alerts);
                    alerts.find(|alert| alert.has_replaced(kept) || kept.has_replaced(alert))
                });
                alert.map(|alert| RecordRow::Alert(Box::new(alert.clone())))
            }
            Link::Proc(path) => {
                let row = beside.procs.iter().find(|row| row.proc == *path);
                row.map(|row| RecordRow::Proc(Box::new(row.clone())))
            }
            Link::Task { id, name } => {
                let is = |row: &&TaskRow| id.map_or(row.name == *name, |id| row.id == id);
                let row = beside.tasks.iter().find(is);
                row.map(|row| RecordRow::Task(Box::new(row.clone())))
            }
            Link::Resource { id, name } => {
                let is = |row: &&ResourceRow| id.map_or(row.name == *name, |id| row.id == id);
                let row = beside.resources.iter().find(is);
                row.map(|row| RecordRow::Resource(Box::new(row.clone())))
            }
        };
        let Some(kept) = found else { return false };
        // Of two rows with one name, it stays with the one found first.
        match (&mut self.subject, &kept) {
            (Link::Task { id, .. }, RecordRow::Task(row)) => *id = Some(row.id),
            (Link::Resource { id, .. }, RecordRow::Resource(row)) => *id = Some(row.id),
            (subject @ Link::Alert(..), RecordRow::Alert(alert)) => *subject = Link::alert(alert),
            _ => {}
        }
        self.kept = kept;
        self.kept_unix_ns = beside.at_unix_ns;
        true
    }
}

/// The lines of the open record; empty if none is open.
pub(crate) fn lines(state: &State) -> Vec<RichLine> {
    let open = state.record.as_ref();
    open.map_or_else(Vec::new, |open| {
        wrapped_lines(state, open, usize::from(state.size.0))
    })
}

/// The lines of a record, wrapped at `room` columns of the terminal.
pub(crate) fn wrapped_lines(state: &State, open: &Record, room: usize) -> Vec<RichLine> {
    let mut beside = DetailContext {
        // The first column is reserved for the mark.
        room: Some(room.saturating_sub(1)),
        ..state.beside()
    };
    if open.absent.is_some() {
        // Its durations are those of then.
        beside.at_unix_ns = open.kept_unix_ns;
    }
    let source = open.source.as_ref().map_or(&[][..], |(_, lines)| lines);
    let own = match &open.kept {
        RecordRow::Alert(alert) => return alert_lines(state, alert, source, room),
        RecordRow::Task(row) => with_source(task::lines(row, &beside), source, usize::MAX),
        RecordRow::Proc(row) => with_source(proc::lines(row, &beside), source, 1),
        RecordRow::Resource(row) => resource::lines(row, &beside),
        RecordRow::Nothing => vec![missing(state, open)],
    };
    // The first column is free for the mark of the selected line.
    let wrapped = |line: RichLine| RichLine::from(" ").join(line).wrapped(room);
    let own = seen_last(state, open).into_iter().chain(own);
    let mut lines: Vec<RichLine> = own.flat_map(wrapped).collect();
    lines.extend(history::lines(state, open, room));
    lines
}

/// `ended; as last seen at 16:05:51:`, above what is not now.
fn seen_last(state: &State, open: &Record) -> Option<RichLine> {
    let absent = open.absent.filter(|_| open.kept != RecordRow::Nothing)?;
    let at = units::time_of_day(open.kept_unix_ns, state.now.utc_offset_s);
    Some(format!("{}; as last seen at {at}:", absent.word()).into())
}

/// Inserts the source after that many lines; at the end, with a separator before it.
fn with_source(mut lines: Vec<RichLine>, source: &[String], after: usize) -> Vec<RichLine> {
    let at = after.min(lines.len());
    let mut more: Vec<RichLine> = source.iter().map(|line| line.as_str().into()).collect();
    if at == lines.len() && !more.is_empty() {
        more.insert(0, RichLine::default());
    }
    lines.splice(at..at, more);
    lines
}

fn missing(state: &State, open: &Record) -> RichLine {
    let (word, name) = (open.word(), open.name());
    let why = match (&state.visit.near, state.pending.frozen_ns) {
        (Some(_), _) => format!("{word} {name} has ended or has no row"),
        (None, Some(_)) => format!("{word} {name} is not in the frozen rows; Space unfreezes"),
        (None, None) => format!("loading {word} {name}"),
    };
    why.into()
}

fn alert_lines(state: &State, alert: &Alert, source: &[String], room: usize) -> Vec<RichLine> {
    let beside = state.beside();
    let at = state.shown.as_ref().map_or(0, |shown| shown.at_unix_ns);
    let began = alert.holds || alert.is_over();
    let noticed_later = is_told_later(state, alert).then(|| match alert.began_at(at) > at {
        true => NoticedLater::ToBegin,
        false => NoticedLater::Begun,
    });
    let ago = alert.ended_ago(at).filter(|_| noticed_later.is_none());
    // The present rows do not show what an alert was that is over.
    let (tasks, resources) = match ago {
        None => (beside.tasks, beside.resources),
        Some(_) => (&[][..], &[][..]),
    };
    let around = AlertContext {
        tasks,
        resources,
        began: began.then(|| state.now.time_of_day(alert.began_at(at))),
        ended_ago_ns: ago,
        noticed_later,
        past: None,
        utc_offset_s: state.now.utc_offset_s,
        source,
        micro: state.look.glyphs.micro,
        room,
        cuts: true,
    };
    let mut lines = problem::lines(alert, &around);
    if !source.is_empty() {
        lines.push(RichLine::default());
    }
    let mut hint = RichLine::from(format!(
        "{PAST_HINT}( goes to the state of that time, if it is kept; [ back from there"
    ));
    hint.cut(room);
    lines.push(hint);
    lines
}

/// Whether the alert had not ended at the instant of the state that is shown, although it is known
/// that it did: it was noticed after this state.
pub(crate) fn is_told_later(state: &State, alert: &Alert) -> bool {
    let end = alert.last_unix_ns.or(alert.ended_unix_ns);
    let shown = state.shown.as_ref().map(|shown| shown.at_unix_ns);
    state.link.past.is_some() && end.zip(shown).is_some_and(|(end, at)| at < end)
}

/// The links of lines: line, piece of the line, and target.
pub(crate) fn links(lines: &[RichLine]) -> Vec<(usize, usize, &Link)> {
    let of = |(at, told): (usize, &'_ RichLine)| {
        let parts = told.parts.iter().enumerate();
        let links = parts.filter_map(move |(part, told)| match &told.kind {
            Kind::Link(_) => Some((at, part)),
            _ => None,
        });
        links.collect::<Vec<_>>()
    };
    let places = lines.iter().enumerate().flat_map(of);
    places
        .filter_map(|(line, part)| match &lines[line].parts[part].kind {
            Kind::Link(link) => Some((line, part, link)),
            _ => None,
        })
        .collect()
}

/// The link at a column of a line.
pub(crate) fn link_at(lines: &[RichLine], line: usize, column: usize) -> Option<usize> {
    let told = lines.get(line)?;
    let mut begin = 0;
    let mut under = None;
    for (at, part) in told.parts.iter().enumerate() {
        let end = begin + crate::text::width(&part.text);
        if (begin..end).contains(&column) {
            under = Some(at);
        }
        begin = end;
    }
    let part = under?;
    let links = links(lines);
    links.iter().position(|&(l, p, _)| (l, p) == (line, part))
}

/// The words of the breadcrumb, each with its number of steps back.
pub(crate) fn crumbs(state: &State) -> Vec<(String, usize)> {
    let Some(open) = &state.record else {
        return Vec::new();
    };
    let back = state.visit.history.back();
    let base = back.iter().rposition(|stop| stop.record.is_none());
    let (view, from) = base.map_or((state.view, 0), |at| (back[at].view, at + 1));
    let path: Vec<&Record> = back[from..]
        .iter()
        .filter_map(|stop| stop.record.as_ref())
        .chain([open])
        .collect();
    let alerts = matches!(path.first(), Some(first) if matches!(first.subject, Link::Alert(..)));
    let root = if alerts { "Alerts" } else { view.title() };
    let mut words = vec![(root.to_owned(), path.len())];
    let last = path.len();
    for (at, record) in path.into_iter().enumerate() {
        let mut name = record.name();
        // The parties distinguish alerts of one kind, if there is room for them.
        if let (Some(alert), true) = (record.alert(), at + 1 == last) {
            let tasks = alert.named(turbowish_model::snapshot::alert::PartyKind::Task);
            name = format!("{name} {}", tasks.join(" ")).trim_end().to_owned();
        }
        words.push((name, last - 1 - at));
    }
    words
}

/// Number of lines of the open record that fit on the screen.
pub(crate) fn height(state: &State, lines: usize) -> usize {
    layout::record_rows(state.size, lines)
}
