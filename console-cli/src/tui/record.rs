//! What a record shows: the lines of one row and what it is tied to, as wide as the screen; its links are data.

use turbowish_model::diagnose::alert::Alert;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::json::{self, Table as Document};
use turbowish_model::snapshot::{Page, Place, ProcRow, ResourceRow, Snapshot, TaskRow};

use super::layout;
use super::rows::{Absent, OPEN_ROWS};
use super::state::State;
use crate::record::problem::{self, Around};
use crate::record::told::{Kind, Link, Told};
use crate::record::{Beside, proc, resource, task};

/// Rows beside the subject that a record asks for at most.
pub(crate) const BESIDE: u32 = 1_000;

/// A record that is open, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// What it is of.
    pub(crate) subject: Link,
    /// Its row as it came last.
    pub(crate) kept: Kept,
    /// It is not part of the last snapshot.
    pub(crate) absent: Option<Absent>,
    /// Which of its links is selected.
    pub(crate) link: usize,
    /// Lines that are out of sight above.
    pub(crate) scroll: usize,
    /// Lines of source, and what they are of; `None` until the loop has read them.
    pub(crate) source: Option<(Excerpt, Vec<String>)>,
}

/// The row that a record is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It has not come yet.
    Nothing,
    Alert(Box<Alert>),
    Proc(Box<ProcRow>),
    Task(Box<TaskRow>),
    Resource(Box<ResourceRow>),
}

/// A piece of source that a record shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Excerpt {
    /// Where the waits of an alert stand.
    Alert(Link),
    /// An await point and what is around it.
    Await(Place),
    /// The signature of a proc: its path, file and line.
    Signature(String, String, u32),
}

impl Record {
    pub(crate) const fn new(subject: Link) -> Self {
        Self {
            subject,
            kept: Kept::Nothing,
            absent: None,
            link: 0,
            scroll: 0,
            source: None,
        }
    }

    /// The alert that it is of, if it is of one.
    pub(crate) fn alert(&self) -> Option<&Alert> {
        match &self.kept {
            Kept::Alert(alert) => Some(alert),
            _ => None,
        }
    }

    /// What its subject is.
    pub(crate) const fn word(&self) -> &'static str {
        match self.subject {
            Link::Task { .. } => "task",
            Link::Resource { .. } => "resource",
            Link::Proc(_) => "proc",
            Link::Alert(..) => "alert",
        }
    }

    /// What the breadcrumb calls it.
    pub(crate) fn name(&self) -> String {
        match (&self.subject, &self.kept) {
            (_, Kept::Alert(alert)) => alert.row().title.to_owned(),
            (Link::Task { name, .. } | Link::Resource { name, .. } | Link::Proc(name), _) => {
                name.clone()
            }
            (Link::Alert(pitfall, ..), _) => pitfall.row().title.to_owned(),
        }
    }

    /// Its row as JSON has it.
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
            Kept::Nothing => return None,
            Kept::Alert(row) => {
                one.alerts = page(&**row);
                Document::Alerts
            }
            Kept::Proc(row) => {
                one.procs = page(&**row);
                Document::Procs
            }
            Kept::Task(row) => {
                one.tasks = page(&**row);
                Document::Tasks
            }
            Kept::Resource(row) => {
                one.resources = page(&**row);
                Document::Resources
            }
        };
        Some(json::document(&one, &[table], &json::Shape::default()))
    }

    /// The piece of source that belongs to it now.
    pub(crate) fn excerpt(&self) -> Option<Excerpt> {
        match &self.kept {
            Kept::Alert(_) => Some(Excerpt::Alert(self.subject.clone())),
            Kept::Task(row) => task::stands_at(row).cloned().map(Excerpt::Await),
            Kept::Proc(row) => Some(Excerpt::Signature(
                row.proc.clone(),
                row.file.clone(),
                row.line,
            )),
            Kept::Resource(_) | Kept::Nothing => None,
        }
    }

    /// What to ask the process for while it is open.
    pub(crate) fn query(&self, window_ns: Option<u64>) -> Query {
        let first = |limit| {
            let rows = Rows::default();
            Some(Rows { limit, ..rows })
        };
        let named = |column: &str, name: &str| {
            // A text with quotes cannot be asked for: then it is one of all.
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
                // Of many whose names hold it, it comes early.
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

    /// Takes its row from what is at hand; gives whether it is there.
    pub(crate) fn find(&mut self, beside: &Beside<'_>) -> bool {
        let found = match &self.subject {
            Link::Alert(..) => {
                let alert = beside
                    .alerts
                    .iter()
                    .find(|a| Link::alert(a) == self.subject);
                alert.map(|alert| Kept::Alert(Box::new(alert.clone())))
            }
            Link::Proc(path) => {
                let row = beside.procs.iter().find(|row| row.proc == *path);
                row.map(|row| Kept::Proc(Box::new(row.clone())))
            }
            Link::Task { id, name } => {
                let is = |row: &&TaskRow| id.map_or(row.name == *name, |id| row.id == id);
                let row = beside.tasks.iter().find(is);
                row.map(|row| Kept::Task(Box::new(row.clone())))
            }
            Link::Resource { id, name } => {
                let is = |row: &&ResourceRow| id.map_or(row.name == *name, |id| row.id == id);
                let row = beside.resources.iter().find(is);
                row.map(|row| Kept::Resource(Box::new(row.clone())))
            }
        };
        let Some(kept) = found else { return false };
        // Of two with one name it stays with the first that was found.
        match (&mut self.subject, &kept) {
            (Link::Task { id, .. }, Kept::Task(row)) => *id = Some(row.id),
            (Link::Resource { id, .. }, Kept::Resource(row)) => *id = Some(row.id),
            _ => {}
        }
        self.kept = kept;
        true
    }
}

/// The lines of the open record; none if none is open.
pub(crate) fn lines(state: &State) -> Vec<Told> {
    let open = state.record.as_ref();
    open.map_or_else(Vec::new, |open| {
        told(state, open, usize::from(state.size.0))
    })
}

/// The lines of a record in so many columns of the terminal.
pub(crate) fn told(state: &State, open: &Record, room: usize) -> Vec<Told> {
    let beside = Beside {
        // The first column is the mark's.
        room: Some(room.saturating_sub(1)),
        ..state.beside()
    };
    let source = open.source.as_ref().map_or(&[][..], |(_, lines)| lines);
    let own = match &open.kept {
        Kept::Alert(alert) => return alert_lines(state, alert, source, room),
        Kept::Task(row) => with_source(task::lines(row, &beside), source, usize::MAX),
        Kept::Proc(row) => with_source(proc::lines(row, &beside), source, 1),
        Kept::Resource(row) => resource::lines(row, &beside),
        Kept::Nothing => vec![missing(state, open)],
    };
    // The first column is free for the mark of the selected line.
    let wrapped = |line: Told| Told::from(" ").join(line).wrapped(room);
    own.into_iter().flat_map(wrapped).collect()
}

/// The source goes behind that many lines, apart from what it follows at the end.
fn with_source(mut lines: Vec<Told>, source: &[String], after: usize) -> Vec<Told> {
    let at = after.min(lines.len());
    let mut more: Vec<Told> = source.iter().map(|line| line.as_str().into()).collect();
    if at == lines.len() && !more.is_empty() {
        more.insert(0, Told::default());
    }
    lines.splice(at..at, more);
    lines
}

fn missing(state: &State, open: &Record) -> Told {
    let (word, name) = (open.word(), open.name());
    let why = match (&state.visit.near, state.pending.frozen_ns) {
        (Some(_), _) => format!("{word} {name} has ended or has no row"),
        (None, Some(_)) => format!("{word} {name} is not in the frozen rows; Space unfreezes"),
        (None, None) => format!("asking for {word} {name}"),
    };
    why.into()
}

fn alert_lines(state: &State, alert: &Alert, source: &[String], room: usize) -> Vec<Told> {
    let beside = state.beside();
    let at = state.shown.as_ref().map_or(0, |shown| shown.at_unix_ns);
    let began = at.saturating_sub(alert.held_ns);
    let around = Around {
        tasks: beside.tasks,
        resources: beside.resources,
        began: alert.holds.then(|| state.now.time_of_day(began)),
        source,
        micro: state.look.glyphs.micro,
        room,
        cuts: true,
    };
    problem::lines(alert, &around)
}

/// The links of lines: line, part of it, and where it leads.
pub(crate) fn links(lines: &[Told]) -> Vec<(usize, usize, &Link)> {
    let of = |(at, told): (usize, &'_ Told)| {
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

/// The link that lies under a column of a line.
pub(crate) fn link_at(lines: &[Told], line: usize, column: usize) -> Option<usize> {
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

/// The words of the breadcrumb, and how many steps back each of them is.
pub(crate) fn crumbs(state: &State) -> Vec<(String, usize)> {
    let Some(open) = &state.record else {
        return Vec::new();
    };
    let back = state.visit.history.back();
    let base = back.iter().rposition(|stop| stop.record.is_none());
    let (view, from) = base.map_or((state.view, 0), |at| (back[at].view, at + 1));
    let trail: Vec<&Record> = back[from..]
        .iter()
        .filter_map(|stop| stop.record.as_ref())
        .chain([open])
        .collect();
    let alerts = matches!(trail.first(), Some(first) if matches!(first.subject, Link::Alert(..)));
    let root = if alerts { "Alerts" } else { view.title() };
    let mut words = vec![(root.to_owned(), trail.len())];
    let last = trail.len();
    for (at, record) in trail.into_iter().enumerate() {
        let mut name = record.name();
        // Who is involved tells alerts of one kind apart, where there is room for it.
        if let (Some(alert), true) = (record.alert(), at + 1 == last) {
            let tasks = alert.named(turbowish_model::diagnose::alert::PartyKind::Task);
            name = format!("{name} {}", tasks.join(" ")).trim_end().to_owned();
        }
        words.push((name, last - 1 - at));
    }
    words
}

/// How many lines of the open record are on the screen at once.
pub(crate) fn height(state: &State, lines: usize) -> usize {
    layout::record_rows(state.size, lines)
}
