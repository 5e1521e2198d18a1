//! The detail view of one row and the rows related to it: the same lines on the screen, in
//! `turbowish query` and in `turbowish tree`.

mod alert;
mod histogram;
pub(crate) mod length;
mod place;
pub(crate) mod problem;
pub(crate) mod proc;
pub(crate) mod resource;
pub(crate) mod rich_line;
mod slowest;
pub(crate) mod task;
mod tree;

use turbowish_model::query::{Query, Rows, Selection};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::Row;
use turbowish_model::snapshot::json::{self, Options, Record};
use turbowish_model::snapshot::report::span;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{
    AwaitRow, Claim, CounterRow, DelayRow, Place, ProcRow, ResourceRow, SlowestRow, Snapshot, Spot,
    Table, TaskRow,
};

use self::length::Lengths;
pub(crate) use self::place::{FROM_BEGINNING, at, spot};
use self::rich_line::{Link, RichLine};
use crate::args::{Format, QueryArgs, TableName, TreeArgs};
use crate::failure::{Failure, note, print};
use crate::recording::is_recording;
use crate::source::Origin;
use crate::{columns, plain_text, source, text};

/// From this width on, places are shown with folders; the console's first column is a mark.
const WIDE: usize = 119;
/// From here on the time of the day says too little.
const DAY_NS: u64 = 86_400_000_000_000;
/// Maximal number of holders and of waiters in a printed record, unless another is requested.
const CLAIMS: usize = 20;

/// Maximal number of names in a list before it is cut.
const NAMED: usize = 4;

/// The rows related to the subject of a record, as far as they are available.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DetailContext<'a> {
    pub(crate) procs: &'a [ProcRow],
    pub(crate) tasks: &'a [TaskRow],
    /// There are tasks that are missing here.
    pub(crate) some_tasks: bool,
    pub(crate) resources: &'a [ResourceRow],
    pub(crate) awaits: &'a [AwaitRow],
    pub(crate) counters: &'a [CounterRow],
    pub(crate) delays: &'a [DelayRow],
    pub(crate) slowest: &'a [SlowestRow],
    pub(crate) alerts: &'a [Alert],
    /// Length of the window of the sums, in nanoseconds.
    pub(crate) window_ns: u64,
    /// When the rows were read.
    pub(crate) at_unix_ns: u64,
    /// Local time minus UTC, in seconds.
    pub(crate) utc_offset_s: i64,
    /// Width of the terminal in columns, where it matters; below [`WIDE`] places have no folders.
    pub(crate) room: Option<usize>,
    /// The history of fill levels, if the caller has one.
    pub(crate) lengths: Option<&'a Lengths>,
    /// The spelling of microseconds.
    pub(crate) micro: Micro,
}

impl<'a> DetailContext<'a> {
    /// `at 17:04:29`; `26 h ago` where the time of the day says too little.
    fn when(&self, ago_ns: u64) -> String {
        let at = self.at_unix_ns.saturating_sub(ago_ns);
        match ago_ns {
            0..DAY_NS => format!("at {}", units::time_of_day(at, self.utc_offset_s)),
            _ => format!("{} ago", self.time(ago_ns)),
        }
    }

    /// All rows of a snapshot.
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        Self {
            procs: &snapshot.procs.rows,
            tasks: &snapshot.tasks.rows,
            some_tasks: snapshot.tasks.left_out() > 0,
            resources: &snapshot.resources.rows,
            awaits: &snapshot.awaits.rows,
            counters: &snapshot.counters.rows,
            delays: &snapshot.delays.rows,
            slowest: &snapshot.slowest.rows,
            alerts: &snapshot.alerts.rows,
            window_ns: snapshot.window_ns,
            at_unix_ns: snapshot.at_unix_ns,
            utc_offset_s: 0,
            room: None,
            lengths: None,
            micro: Micro::Unicode,
        }
    }

    /// The task of that name, if it is available.
    fn task(&self, name: &str) -> Option<&'a TaskRow> {
        self.tasks.iter().find(|task| task.name == name)
    }

    /// `src/conn.rs:88:9-33`
    fn place(&self, place: &Place) -> String {
        self.short(span(place))
    }

    /// `41.4 s`
    fn time(&self, ns: u64) -> String {
        units::duration(ns, self.micro)
    }

    /// `src/repl.rs:18:18`
    fn spot(&self, at: &Spot) -> String {
        self.short(spot(at))
    }

    fn short(&self, place: String) -> String {
        match place.rsplit_once(['/', '\\']) {
            Some((_, name)) if self.room.is_some_and(|room| room < WIDE) => name.to_owned(),
            _ => place,
        }
    }
}

/// Runs `query task`, `query resource`, `query proc` or `query alert`.
///
/// # Errors
/// A mistake on the command line, no answer, or no row of that name.
pub(crate) fn run(args: &QueryArgs, token: Option<&str>) -> Result<(), Failure> {
    if args.table == TableName::Alert {
        return alert::run(args, token);
    }
    let (target, name) = named(args)?;
    if args.format == Format::Csv || !args.columns.is_empty() {
        return Err(Failure::usage(format!(
            "a record has no columns: turbowish query {}s --format csv",
            word(args.table)
        )));
    }
    let origin = source::origin(target, &args.past, token)?;
    let is_live = matches!(origin, None | Some(Origin::Process(_)));
    let snapshot = ask(origin, &query_of(args, name))?;
    let asked = (args, name, is_live);
    match args.table {
        TableName::Resource => {
            let limit = match args.limit {
                None => CLAIMS,
                Some(0) => usize::MAX,
                Some(limit) => limit as usize,
            };
            one::<ResourceRow>(snapshot, asked, |row, beside| {
                resource::first_lines(row, beside, limit)
            })
        }
        TableName::Proc => one::<ProcRow>(snapshot, asked, proc::lines),
        _ => one::<TaskRow>(snapshot, asked, task::lines),
    }
}

/// Runs `tree`.
///
/// # Errors
/// A mistake in the filter, or no answer.
pub(crate) fn tree(args: &TreeArgs, token: Option<&str>) -> Result<(), Failure> {
    let query = Query {
        tasks: Some(Rows {
            filter: args.rows.filter.clone(),
            sort: columns::key(Table::Tasks, &args.rows.sort),
            invert: false,
            limit: args.limit,
            ..Rows::default()
        }),
        resources: Some(Rows::default()),
        ..Query::default()
    };
    let origin = source::origin(args.target.as_deref(), &args.past, token)?;
    let snapshot = ask(origin, &query)?;
    let mut lines = Vec::new();
    for row in &snapshot.tasks.rows {
        lines.push(tree::head(row, Micro::Unicode).text());
        let calls = tree::lines(row, &DetailContext::of(&snapshot));
        lines.extend(calls.iter().map(RichLine::text));
    }
    lines.push(crate::footer::footer::<TaskRow>(&snapshot));
    lines.push(String::new());
    print(&text::printed(&lines))
}

fn ask(origin: Option<Origin>, query: &Query) -> Result<Snapshot, Failure> {
    Selection::parse(query)?;
    let snapshot = source::runtime()?.block_on(source::snapshot(origin, query))?;
    if let Some(warning) = source::disarmed(&snapshot) {
        note(&warning);
    }
    Ok(snapshot)
}

const fn word(table: TableName) -> &'static str {
    match table {
        TableName::Resource => "resource",
        TableName::Proc => "proc",
        _ => "task",
    }
}

/// The process and the name; a single word is the name, in the only process.
fn named(args: &QueryArgs) -> Result<(Option<&str>, &str), Failure> {
    match (args.target.as_deref(), args.name.as_deref()) {
        (target, Some(name)) => Ok((target, name)),
        (Some(name), None) if !is_recording(name) => Ok((None, name)),
        (_, None) => {
            let word = word(args.table);
            Err(Failure::usage(format!(
                "which {word}? turbowish query {word} PID NAME; turbowish query {word}s lists them"
            )))
        }
    }
}

fn query_of(args: &QueryArgs, name: &str) -> Query {
    // The process searches for the text anywhere in a name; here only whole names count.
    let filter = |column: &str| match name.contains('"') {
        true => String::new(),
        false => format!("{column}:\"{name}\""),
    };
    let rows = |filter: String| {
        Some(Rows {
            filter,
            ..Rows::default()
        })
    };
    let query = Query {
        window_ns: args.window.0,
        ..Query::default()
    };
    match args.table {
        TableName::Resource => Query {
            resources: rows(String::new()),
            tasks: rows(String::new()),
            ..query
        },
        // A caller is part of the proc's own row, a callee of the callee's row.
        TableName::Proc => Query {
            procs: rows(String::new()),
            awaits: rows(filter("proc")),
            counters: rows(filter("proc")),
            delays: rows(filter("victim")),
            slowest: rows(filter("proc")),
            tasks: rows(filter("root")),
            ..query
        },
        // Holders of the resource that a task waits for, and waiters for the resources that it
        // holds, are in the rows of resources.
        _ => Query {
            tasks: rows(filter("task")),
            resources: rows(String::new()),
            ..query
        },
    }
}

/// Prints the rows of that name.
fn one<R: Record + Clone>(
    mut snapshot: Snapshot,
    (args, name, is_live): (&QueryArgs, &str, bool),
    lines: impl Fn(&R, &DetailContext<'_>) -> Vec<RichLine>,
) -> Result<(), Failure> {
    let page = R::page_mut(&mut snapshot);
    let near = page.rows.iter().map(|row| row.name().0);
    let near = near.filter(|known| known.contains(name)).min();
    let near = near.map(str::to_owned);
    let named = page.rows.iter().filter(|row| is_called(row.name().0, name));
    let named: Vec<R> = named.cloned().collect();
    if named.is_empty() {
        let word = word(args.table);
        let hint = near.map_or_else(
            || format!("turbowish query {word}s lists them"),
            |near| format!("did you mean {near}?"),
        );
        // A state has the worst rows only.
        let of = if is_live { "" } else { "what is recorded of " };
        return Err(Failure::Local(format!(
            "no {word} {name} in {of}{} {}; {hint}",
            snapshot.process.name, snapshot.process.pid
        )));
    }
    if args.format == Format::Json {
        page.matched = named.len() as u64;
        page.rows = named;
        let shape = match &args.percentiles[..] {
            [] => Options::default(),
            asked => Options {
                percentiles: asked.to_vec(),
                ..Options::default()
            },
        };
        return print(&json::document(&snapshot, &[R::IN], &shape));
    }
    let beside = DetailContext {
        utc_offset_s: plain_text::utc_offset_s(),
        ..DetailContext::of(&snapshot)
    };
    let told = |row: &R| {
        let lines: Vec<String> = lines(row, &beside).iter().map(RichLine::text).collect();
        text::printed(&lines) + "\n"
    };
    print(&named.iter().map(told).collect::<Vec<_>>().join("\n"))
}

/// Whether the row has this name. A resource may be named without its kind, `db` for `mutex db`,
/// and a proc without its modules.
pub(crate) fn is_called(full: &str, name: &str) -> bool {
    let inside = |end: &str| {
        full.strip_suffix(name)
            .is_some_and(|rest| rest.ends_with(end))
    };
    full == name || full.split_once(' ').is_some_and(|(_, own)| own == name) || inside("::")
}

/// `alert: deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in a cycle`, with the severity of
/// each alert that involves the row; `resolved: ` if it is over.
fn alerts<R: Row>(row: &R, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let Some((kind, id, name)) = row.party() else {
        return Vec::new();
    };
    let speaks = |alert: &&Alert| {
        let mut parties = alert.parties.iter();
        parties.any(|party| (party.kind, party.id) == (kind, id) && (id > 0 || party.name == name))
    };
    let told = |alert: &Alert| {
        let label = match alert.is_over() {
            true => "resolved",
            false => alert.severity.word(),
        };
        let line = RichLine::default().label(format!("  {label}: "));
        line.link(alert.title.clone(), Some(Link::alert(alert)))
    };
    beside.alerts.iter().filter(speaks).map(told).collect()
}

/// The resource of a claim, if the snapshot contains it.
fn of<'a>(claim: &Claim, resources: &'a [ResourceRow]) -> Option<&'a ResourceRow> {
    resources.iter().find(|row| row.id == claim.resource_id)
}
