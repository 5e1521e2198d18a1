//! The views of the console, and a table for each.

use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::Context;
use turbowish_model::snapshot::{AwaitRow, CounterRow, ProcRow, ResourceRow, TaskRow};

use crate::tui::rows::{AnyTable, Table};

/// A table of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Procs,
    Tasks,
    Resources,
    Awaits,
    Alerts,
    Counters,
}

impl View {
    /// In the order of the tabs.
    pub(crate) const ALL: [Self; 6] = [
        Self::Procs,
        Self::Tasks,
        Self::Resources,
        Self::Awaits,
        Self::Alerts,
        Self::Counters,
    ];

    /// The digit that opens it.
    pub(crate) const fn digit(self) -> char {
        match self {
            Self::Procs => '1',
            Self::Tasks => '2',
            Self::Resources => '3',
            Self::Awaits => '4',
            Self::Alerts => '5',
            Self::Counters => '6',
        }
    }

    /// The label of its tab.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Procs => "Functions",
            Self::Tasks => "Tasks",
            Self::Resources => "Resources",
            Self::Awaits => "Awaits",
            Self::Alerts => "Alerts",
            Self::Counters => "Counters",
        }
    }

    /// Its name in commands and in the file of settings.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Procs => "procs",
            Self::Tasks => "tasks",
            Self::Resources => "resources",
            Self::Awaits => "awaits",
            Self::Alerts => "alerts",
            Self::Counters => "counters",
        }
    }

    /// The view `by` tabs further on, cyclically.
    pub(crate) fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|view| *view == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}

/// The tables, one for each view.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// Instant and window of their rows, which stay while a record is open.
    pub(crate) read: Context,
    pub(crate) procs: Table<ProcRow>,
    pub(crate) tasks: Table<TaskRow>,
    pub(crate) resources: Table<ResourceRow>,
    pub(crate) awaits: Table<AwaitRow>,
    pub(crate) alerts: Table<Alert>,
    pub(crate) counters: Table<CounterRow>,
}

impl Tables {
    pub(crate) fn of(&self, view: View) -> &dyn AnyTable {
        match view {
            View::Procs => &self.procs,
            View::Tasks => &self.tasks,
            View::Resources => &self.resources,
            View::Awaits => &self.awaits,
            View::Alerts => &self.alerts,
            View::Counters => &self.counters,
        }
    }

    pub(crate) fn of_mut(&mut self, view: View) -> &mut dyn AnyTable {
        match view {
            View::Procs => &mut self.procs,
            View::Tasks => &mut self.tasks,
            View::Resources => &mut self.resources,
            View::Awaits => &mut self.awaits,
            View::Alerts => &mut self.alerts,
            View::Counters => &mut self.counters,
        }
    }
}
