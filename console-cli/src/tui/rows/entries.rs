//! Properties of each kind of row for the console: identity, record, group, and detail line.

use turbowish_model::query::{Grouping, TASK_GROUPINGS};
use turbowish_model::snapshot::alert::{Alert, Severity};
use turbowish_model::snapshot::column::{Style, cell};
use turbowish_model::snapshot::units::SECOND;
use turbowish_model::snapshot::{
    AwaitRow, CounterRow, Place, ProcRow, ResourceRow, Snapshot, Spot, TaskGroup, TaskRow,
    TaskState,
};

use super::{Entry, Muted, RowId, Sum};
use crate::detail::rich_line::Link;
use crate::detail::task::stands_at;
use crate::tui::detail;

/// The path without its last segment.
fn module(path: &str) -> String {
    let (module, _) = path.rsplit_once("::").unwrap_or(("", path));
    format!("{module}::*")
}

fn spot(place: &Place) -> Spot {
    Spot {
        file: place.file.clone(),
        line: place.line,
        column: place.column,
    }
}

impl Entry for ProcRow {
    const GROUPINGS: &'static [Grouping<Self>] = &[Grouping {
        name: "module",
        key: |row| module(&row.proc),
    }];

    fn call_it(&mut self, name: String) {
        self.proc = name;
    }

    const BAR: Option<(&'static str, usize)> = Some(("run", 8));

    fn id(&self) -> RowId {
        RowId::Proc(self.proc.clone(), self.file.clone(), self.line)
    }

    fn is(&self, id: &RowId) -> bool {
        matches!(id, RowId::Proc(proc, file, line)
            if *line == self.line && *proc == self.proc && *file == self.file)
    }

    fn link(&self) -> Link {
        Link::Proc(self.proc.clone())
    }

    fn detail(&self, _: Style) -> String {
        detail::proc(self)
    }

    fn spot(&self) -> Option<Spot> {
        Some(Spot {
            file: self.file.clone(),
            line: self.line,
            column: 1,
        })
    }
}

impl Entry for TaskRow {
    const GROUPINGS: &'static [Grouping<Self>] = &TASK_GROUPINGS;

    fn sums(snapshot: &mut Snapshot) -> Vec<Sum<Self>> {
        let groups = std::mem::take(&mut snapshot.task_groups).into_iter();
        let sum = |TaskGroup { key, tasks, row }| Sum {
            key,
            count: tasks,
            row,
        };
        groups.map(sum).collect()
    }

    fn call_it(&mut self, name: String) {
        self.name = name;
    }

    const BAR: Option<(&'static str, usize)> = None;

    fn id(&self) -> RowId {
        RowId::Task(self.id)
    }

    fn is(&self, id: &RowId) -> bool {
        *id == RowId::Task(self.id)
    }

    fn link(&self) -> Link {
        Link::Task {
            id: Some(self.id),
            name: self.name.clone(),
        }
    }

    fn detail(&self, style: Style) -> String {
        detail::task(self, style)
    }

    fn spot(&self) -> Option<Spot> {
        stands_at(self).map(spot)
    }

    /// The task was woken long ago, and is not polled.
    fn warns(&self) -> bool {
        self.state == TaskState::Ready && self.since_ns > SECOND
    }

    fn is_paused(&self) -> bool {
        self.pause.is_some()
    }
}

impl Entry for ResourceRow {
    const GROUPINGS: &'static [Grouping<Self>] = &[
        Grouping {
            name: "kind",
            key: |row| cell(row, "kind"),
        },
        Grouping {
            name: "place",
            key: |row| cell(row, "site"),
        },
    ];

    fn call_it(&mut self, name: String) {
        self.name = name;
    }

    const BAR: Option<(&'static str, usize)> = Some(("fill", 5));

    fn id(&self) -> RowId {
        RowId::Resource(self.id)
    }

    fn is(&self, id: &RowId) -> bool {
        *id == RowId::Resource(self.id)
    }

    fn link(&self) -> Link {
        Link::Resource {
            id: Some(self.id),
            name: self.name.clone(),
        }
    }

    fn detail(&self, style: Style) -> String {
        detail::resource(self, style)
    }

    fn spot(&self) -> Option<Spot> {
        Some(self.made_at.clone())
    }
}

impl Entry for AwaitRow {
    const GROUPINGS: &'static [Grouping<Self>] = &[
        Grouping {
            name: "proc",
            key: |row| row.proc.clone(),
        },
        Grouping {
            name: "module",
            key: |row| module(&row.proc),
        },
    ];

    fn call_it(&mut self, name: String) {
        self.place = Place {
            file: name,
            ..Place::default()
        };
    }

    const BAR: Option<(&'static str, usize)> = None;

    fn id(&self) -> RowId {
        RowId::Await(
            self.proc.clone(),
            self.place.file.clone(),
            self.place.line,
            self.place.column,
        )
    }

    fn is(&self, id: &RowId) -> bool {
        matches!(id, RowId::Await(proc, file, line, column)
            if (*line, *column) == (self.place.line, self.place.column)
                && *proc == self.proc
                && *file == self.place.file)
    }

    /// An await point is shown in the record of its proc.
    fn link(&self) -> Link {
        Link::Proc(self.proc.clone())
    }

    fn detail(&self, style: Style) -> String {
        detail::await_point(self, style.micro)
    }

    fn spot(&self) -> Option<Spot> {
        Some(spot(&self.place))
    }
}

impl Entry for Alert {
    const GROUPINGS: &'static [Grouping<Self>] = &[Grouping {
        name: "alert",
        key: |row| row.pitfall.title().to_owned(),
    }];

    fn call_it(&mut self, name: String) {
        self.title = name;
    }

    const BAR: Option<(&'static str, usize)> = None;

    fn id(&self) -> RowId {
        RowId::Alert(Link::alert(self))
    }

    fn is(&self, id: &RowId) -> bool {
        self.id() == *id
    }

    fn link(&self) -> Link {
        Link::alert(self)
    }

    fn detail(&self, _: Style) -> String {
        detail::alert(self)
    }

    fn severity(&self) -> Option<Severity> {
        (!self.is_over()).then_some(self.severity)
    }

    fn past_severity(&self) -> Option<Severity> {
        self.is_over().then_some(self.severity)
    }

    fn is_over(&self) -> bool {
        self.is_over()
    }

    fn muted(&self, muted: Muted<'_>) -> Option<u64> {
        muted(self).filter(|_| !self.is_over())
    }

    /// The await point of the alert, else the first of its chain.
    fn spot(&self) -> Option<Spot> {
        let steps = self.steps.iter().map(|step| &step.point);
        let mut points = self.at.iter().chain(steps);
        points.find_map(|point| point.place.as_ref().map(spot))
    }
}

impl Entry for CounterRow {
    const GROUPINGS: &'static [Grouping<Self>] = &[
        Grouping {
            name: "counter",
            key: |row| row.name.clone(),
        },
        Grouping {
            name: "proc",
            key: |row| row.proc.clone().unwrap_or_default(),
        },
    ];

    fn call_it(&mut self, name: String) {
        self.name = name;
    }

    const BAR: Option<(&'static str, usize)> = None;

    fn id(&self) -> RowId {
        RowId::Counter(self.name.clone(), self.proc.clone())
    }

    fn is(&self, id: &RowId) -> bool {
        matches!(id, RowId::Counter(name, proc) if *name == self.name && *proc == self.proc)
    }

    /// A counter is shown in the record of its proc.
    fn link(&self) -> Link {
        Link::Proc(self.proc.clone().unwrap_or_default())
    }

    fn has_record(&self) -> bool {
        self.proc.is_some()
    }

    fn detail(&self, _: Style) -> String {
        detail::counter(self)
    }

    fn spot(&self) -> Option<Spot> {
        Some(self.at.clone())
    }
}
