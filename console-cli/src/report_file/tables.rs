//! Properties of each kind of row for scripts: its reader, its name and its source location.

use serde_json::Value;
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::{self, Context, Row, Style};
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::{AwaitRow, CounterRow, ProcRow, ResourceRow, TaskRow};

use super::rows;
use crate::columns::Defaults;

/// The fields to read, each with its reader.
pub(crate) type Reads<R> = &'static [(&'static str, fn(&mut R, &Value) -> Option<()>)];

/// A row that can be read back and compared.
pub(crate) trait Comparable: Record + Defaults {
    /// Fields on which columns of other fields rest too: without them a row cannot be told.
    const NEEDED: &'static [&'static str];

    /// The column of its place in the source.
    const PLACE: &'static str;

    /// The fields that are read.
    fn reads() -> Reads<Self>;

    /// What it is called: the same in another run, where that can be.
    fn label(&self) -> String;

    /// The rows whose polls contain those of this one, by their names.
    fn polled_by(&self) -> Vec<String> {
        Vec::new()
    }

    /// `src/snapshot.rs:90`; nothing if it is not known.
    fn place(&self) -> Option<String> {
        let text = cell(self, Self::PLACE);
        text.contains(':').then_some(text)
    }
}

fn cell<R: Row>(row: &R, key: &str) -> String {
    // Names and places are the same in every window.
    let context = Context { window_ns: 0 };
    column::find::<R>(key).map_or_else(String::new, |column| {
        column.cell(row, &context, Style::default())
    })
}

impl Comparable for ProcRow {
    const NEEDED: &'static [&'static str] = &["proc", "calls", "polls", "never_polled"];
    const PLACE: &'static str = "where";

    fn reads() -> Reads<Self> {
        rows::PROCS
    }

    fn label(&self) -> String {
        self.proc.clone()
    }

    fn polled_by(&self) -> Vec<String> {
        let callers = self.callers.iter();
        callers.map(|caller| caller.proc.clone()).collect()
    }
}

impl Comparable for TaskRow {
    const NEEDED: &'static [&'static str] = &["name", "state"];
    const PLACE: &'static str = "at";

    fn reads() -> Reads<Self> {
        rows::TASKS
    }

    fn label(&self) -> String {
        self.name.clone()
    }
}

impl Comparable for ResourceRow {
    const NEEDED: &'static [&'static str] = &["name", "kind", "level", "holders", "holder_count"];
    const PLACE: &'static str = "site";

    fn reads() -> Reads<Self> {
        rows::RESOURCES
    }

    fn label(&self) -> String {
        self.name.clone()
    }
}

impl Comparable for AwaitRow {
    const NEEDED: &'static [&'static str] = &["proc", "expr", "file", "line", "column"];
    const PLACE: &'static str = "at";

    fn reads() -> Reads<Self> {
        rows::AWAITS
    }

    /// `kv::db::get self.db.lock()`: lines shift from one version to the next.
    fn label(&self) -> String {
        format!("{} {}", self.proc, cell(self, "expr"))
    }
}

impl Comparable for Alert {
    const NEEDED: &'static [&'static str] = &["kind", "severity", "parties"];
    const PLACE: &'static str = "at";

    fn reads() -> Reads<Self> {
        rows::ALERTS
    }

    /// `deadlock: there, back`
    fn label(&self) -> String {
        match cell(self, "who") {
            who if who.is_empty() => self.pitfall.title().to_owned(),
            who => format!("{}: {who}", self.pitfall.title()),
        }
    }
}

impl Comparable for CounterRow {
    const NEEDED: &'static [&'static str] = &["name", "kind", "proc"];
    const PLACE: &'static str = "at";

    fn reads() -> Reads<Self> {
        rows::COUNTERS
    }

    /// `orders in kv::db::set`
    fn label(&self) -> String {
        match &self.proc {
            Some(proc) => format!("{} in {proc}", self.name),
            None => self.name.clone(),
        }
    }
}
