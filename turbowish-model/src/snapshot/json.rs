//! Snapshots as JSON and as [flat rows](flat_row): integers only, with one table of fields per kind
//! of row.
//!
//! The command line and the report at exit print the same document; docs/json.md describes it.

mod alerts;
mod claims;
mod fields;
mod flat;
mod read;
mod writer;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::fields::{FieldValue, Record, See, Setter};
pub(in crate::snapshot) use self::fields::{Read, Spelled};
pub use self::flat::{flat_header, flat_row};
pub use self::read::{Parsed, Readable, fill, put};
pub use self::writer::Writer;
use crate::snapshot::combinator::Combinator;
use crate::snapshot::quantile::{Distribution, Percentile};
use crate::snapshot::{
    Accounting, Lost, Overhead, Place, Process, Snapshot, StackRow, Table, TableVisitor, Worker,
};

/// Version of the document. It changes only if a field changes its meaning or is removed.
pub const SCHEMA: u64 = 1;

/// Options of the output.
#[derive(Clone, Debug)]
pub struct Options {
    /// Percentiles printed for each population.
    pub percentiles: Vec<Percentile>,
    /// Names of the fields to print; `None` prints all.
    pub fields: Option<Vec<&'static str>>,
    /// Whether each population of a row is printed with its buckets, from which two files can be
    /// compared.
    pub buckets: bool,
}

impl Default for Options {
    /// All fields; p50, p90, p99, p99.9; the buckets.
    fn default() -> Self {
        Self {
            percentiles: ["50", "90", "99", "99.9"]
                .iter()
                .filter_map(|text| Percentile::parse(text))
                .collect(),
            fields: None,
            buckets: true,
        }
    }
}

impl Options {
    fn keeps(&self, name: &str) -> bool {
        self.fields
            .as_ref()
            .is_none_or(|names| names.contains(&name))
    }
}

/// Returns the document on one line, with a line end.
#[must_use]
pub fn document(snapshot: &Snapshot, tables: &[Table], shape: &Options) -> String {
    let mut out = Writer::default();
    out.object(|out| {
        out.number("schema", SCHEMA);
        out.key("process");
        process(out, snapshot);
        out.number("at_unix_ns", snapshot.at_unix_ns);
        out.number("window_ns", snapshot.window_ns);
        out.flag("since_start", snapshot.since_start);
        out.key("lost");
        lost(out, &snapshot.lost);
        out.key("ready_latency");
        // Only rows are compared.
        let shape_of_all = Options {
            buckets: false,
            ..shape.clone()
        };
        distribution(out, &snapshot.ready_latency, &shape_of_all);
        if tables.contains(&Table::Alerts) {
            out.number("alerts_forgotten", snapshot.alerts_forgotten);
        }
        for each in tables {
            each.visit(Printed {
                out: &mut *out,
                snapshot,
                shape,
            });
        }
        out.key("counts");
        counts(out, snapshot, tables);
    });
    out.into_line()
}

fn process(out: &mut Writer, snapshot: &Snapshot) {
    let process: &Process = &snapshot.process;
    let tasks = &snapshot.tasks_by_state;
    out.object(|out| {
        out.text("name", &process.name);
        out.number("pid", process.pid.into());
        out.text("command", &process.command);
        out.number("uptime_ns", process.uptime_ns);
        out.text(
            "accounting",
            match process.accounting {
                Accounting::Armed => "armed",
                Accounting::Disarmed => "disarmed",
            },
        );
        out.number("accounting_since_unix_ns", process.accounting_since_unix_ns);
        out.number("procs_known", process.procs_known);
        out.optional("runtime_tasks", process.runtime_tasks);
        out.key("own_cost");
        own_cost(out, process.own_cost.as_ref());
        out.key("tasks_by_state");
        out.object(|out| {
            out.number("polling", tasks.polling);
            out.optional("ready", tasks.ready);
            out.number("waiting", tasks.waiting);
            out.number("paused", tasks.paused);
        });
        out.key("workers");
        out.array(&snapshot.workers, worker);
    });
}

fn own_cost(out: &mut Writer, cost: Option<&Overhead>) {
    let Some(cost) = cost else { return out.null() };
    out.object(|out| {
        out.number("ppm", cost.ppm);
        out.optional("monitor_ppm", cost.monitor_ppm);
        out.number("poll_ps", cost.poll_ps);
        out.number("wake_ps", cost.wake_ps);
        out.number("counter_ps", cost.counter_ps);
        out.number("resource_ps", cost.resource_ps);
    });
}

fn worker(out: &mut Writer, worker: &Worker) {
    out.object(|out| {
        out.text("name", &worker.name);
        out.number("busy_ns", worker.busy_ns);
        out.key("polling");
        match &worker.polling {
            None => out.null(),
            Some(polling) => out.object(|out| {
                out.text("proc", &polling.proc);
                out.number("since_ns", polling.since_ns);
                out.number("root_since_ns", polling.root_since_ns);
            }),
        }
    });
}

fn lost(out: &mut Writer, lost: &Lost) {
    out.object(|out| {
        for reason in &Lost::REASONS {
            out.number(reason.key, (reason.count)(lost));
        }
        out.optional("last_ago_ns", lost.last_ago_ns);
    });
}

/// Prints the rows of a table.
struct Printed<'a> {
    out: &'a mut Writer,
    snapshot: &'a Snapshot,
    shape: &'a Options,
}

impl TableVisitor for Printed<'_> {
    type Output = ();

    fn visit<R: Record>(self) {
        self.out.key(R::TABLE);
        let shape = self.shape;
        self.out.array(&R::page(self.snapshot).rows, |out, row| {
            out.object(|out| row.each_field(&mut PrintedRow { out, shape }));
        });
    }
}

/// Prints the fields of a row.
struct PrintedRow<'a> {
    out: &'a mut Writer,
    shape: &'a Options,
}

impl See for PrintedRow<'_> {
    fn see(&mut self, name: &'static str, value: FieldValue<'_>) {
        if self.shape.keeps(name) {
            self.out.key(name);
            fact(self.out, &value, self.shape);
        }
    }
}

fn fact(out: &mut Writer, fact: &FieldValue<'_>, shape: &Options) {
    match fact {
        FieldValue::Text(text) => out.text_value(text),
        FieldValue::OptionalText(text) => match text {
            Some(text) => out.text_value(text),
            None => out.null(),
        },
        FieldValue::Number(n) => out.number_value(*n),
        FieldValue::Optional(n) => match n {
            Some(n) => out.number_value(*n),
            None => out.null(),
        },
        FieldValue::Signed(n) => match n {
            Some(n) => out.signed_value(*n),
            None => out.null(),
        },
        FieldValue::Flag(flag) => out.flag_value(*flag),
        FieldValue::Population(population) => distribution(out, population, shape),
        FieldValue::Stack(calls) => out.array(calls, call),
        FieldValue::Callers(callers) => out.array(callers, |out, caller| {
            out.object(|out| {
                out.text("proc", &caller.proc);
                out.number("polls", caller.polls);
                out.number("hold_ns", caller.hold_ns);
            });
        }),
        FieldValue::Spot(spot) => or_null(out, *spot, claims::spot),
        FieldValue::Waker(waker) => or_null(out, *waker, claims::waker),
        FieldValue::Pause(pause) => or_null(out, *pause, claims::pause),
        FieldValue::LastPoll(poll) => or_null(out, *poll, claims::last_poll),
        FieldValue::Longest(row) => or_null(out, *row, claims::longest),
        FieldValue::Claims(list) => out.array(list, claims::claim),
        FieldValue::Aims(list) => out.array(list, claims::aim),
        FieldValue::Intents(rows) => out.array(rows, claims::intent),
        FieldValue::Attributes(pairs) => claims::attributes(out, pairs),
        FieldValue::Holders(rows) => out.array(rows, claims::holder),
        FieldValue::Waiters(rows) => out.array(rows, claims::waiter),
        FieldValue::Ends(users) => out.array(users, |out, user| match user {
            Some(task) => out.text_value(task),
            None => out.null(),
        }),
        FieldValue::Series(numbers) => out.array(numbers, |out, n| out.number_value(*n)),
        FieldValue::Names(names) => out.array(names, |out, name| out.text_value(name)),
        FieldValue::Texts(texts) => out.array(texts, |out, text| out.text_value(text)),
        FieldValue::Parties(parties) => out.array(parties, alerts::party),
        FieldValue::Point(point) => or_null(out, *point, alerts::point),
        FieldValue::Steps(alert) => alerts::steps(out, alert),
        FieldValue::Occurrences(times) => out.array(times, alerts::occurrence),
        FieldValue::BehindWaits(waits) => out.array(waits, alerts::behind_wait),
    }
}

fn or_null<T: ?Sized>(out: &mut Writer, value: Option<&T>, print: fn(&mut Writer, &T)) {
    match value {
        Some(value) => print(out, value),
        None => out.null(),
    }
}

fn distribution(out: &mut Writer, population: &Distribution, shape: &Options) {
    out.object(|out| {
        out.number("n", population.n);
        out.number("sum_ns", population.sum_ns);
        out.number("max_ns", population.max_ns);
        for q in &shape.percentiles {
            out.optional(&q.name(), population.percentile(*q));
        }
        if shape.buckets {
            out.key("buckets");
            out.array(&population.buckets, |out, (upper_ns, count)| {
                out.array(&[*upper_ns, *count], |out, n| out.number_value(*n));
            });
        }
    });
}

fn call(out: &mut Writer, call: &StackRow) {
    out.object(|out| {
        out.text("proc", &call.proc);
        for (name, fact) in PLACE {
            out.key(name);
            match &call.place {
                None => out.null(),
                Some(place) => self::fact(out, &fact(place), &Options::default()),
            }
        }
        out.number("since_ns", call.since_ns);
        out.number("depth", call.depth.into());
        out.optional_text("fork", call.fork.map(Combinator::word));
        out.optional("woken_ns", call.woken_ns);
        for (name, holds) in [("aside", call.aside), ("cut", call.cut)] {
            out.flag(name, holds);
        }
    });
}

type PlaceValue = for<'a> fn(&'a Place) -> FieldValue<'a>;

/// The fields of an await point, in the document and in flat rows.
const PLACE: [(&str, PlaceValue); 6] = [
    ("file", |at| FieldValue::Text(&at.file)),
    ("line", |at| FieldValue::Number(at.line.into())),
    ("column", |at| FieldValue::Number(at.column.into())),
    ("end_line", |at| FieldValue::Number(at.end_line.into())),
    ("end_column", |at| FieldValue::Number(at.end_column.into())),
    ("expr", |at| FieldValue::Text(&at.expr)),
];

fn counts(out: &mut Writer, snapshot: &Snapshot, tables: &[Table]) {
    out.object(|out| {
        for table in tables {
            table.visit(Counts {
                out: &mut *out,
                snapshot,
            });
        }
    });
}

/// Prints how many rows a table has, and how many were left out.
struct Counts<'a> {
    out: &'a mut Writer,
    snapshot: &'a Snapshot,
}

impl TableVisitor for Counts<'_> {
    type Output = ();

    fn visit<R: Record>(self) {
        let page = R::page(self.snapshot);
        self.out.key(R::TABLE);
        self.out.object(|out| {
            out.number("total", page.total);
            out.number("matched", page.matched);
            out.number("left_out", page.left_out());
        });
    }
}

#[cfg(test)]
mod tests;
