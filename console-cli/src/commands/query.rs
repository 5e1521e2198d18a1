//! `turbowish query`: one table of one snapshot, as text, JSON or CSV.

use turbowish_model::query::{Query, Rows, Selection};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::{Column, Context, Row, Style};
use turbowish_model::snapshot::json::{self, Options, Record, Table};
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::text_table::TextTable;
use turbowish_model::snapshot::{AwaitRow, CounterRow, ProcRow, ResourceRow, Snapshot, TaskRow};

use crate::args::{Format, QueryArgs, TableName};
use crate::columns::{Defaults, choose};
use crate::failure::{Failure, note, print};
use crate::footer::footer;
use crate::text::printed;
use crate::{detail, sheet, source};

/// Runs the command.
///
/// # Errors
/// A mistake in the query, before anything is asked; or no answer.
pub(crate) fn run(args: &QueryArgs, token: Option<&str>) -> Result<(), Failure> {
    let record = matches!(
        args.table,
        TableName::Task | TableName::Resource | TableName::Proc | TableName::Alert
    );
    if let (false, Some(name)) = (record, &args.name) {
        return Err(Failure::usage(format!(
            "a table takes no name ({name}); one row: turbowish query task PID NAME, or resource, proc, alert"
        )));
    }
    match args.table {
        TableName::Task | TableName::Resource | TableName::Proc | TableName::Alert => {
            detail::run(args, token)
        }
        TableName::Procs => table::<ProcRow>(args, token, Table::Procs),
        TableName::Tasks => table::<TaskRow>(args, token, Table::Tasks),
        TableName::Resources => table::<ResourceRow>(args, token, Table::Resources),
        TableName::Awaits => table::<AwaitRow>(args, token, Table::Awaits),
        TableName::Alerts => table::<Alert>(args, token, Table::Alerts),
        TableName::Counters => table::<CounterRow>(args, token, Table::Counters),
    }
}

fn table<R: Record + Defaults>(
    args: &QueryArgs,
    token: Option<&str>,
    table: Table,
) -> Result<(), Failure> {
    let columns = choose::<R>(&args.columns, &percentiles(args))?;
    let query = query_of(args);
    Selection::parse(&query)?;
    let target = source::target(args.target.as_deref(), token)?;
    let snapshot = source::runtime()?.block_on(source::snapshot(target, &query))?;
    if let Some(warning) = source::disarmed(&snapshot) {
        note(&warning);
    }
    print(&match args.format {
        Format::Table => text(&snapshot, &columns),
        Format::Json => json::document(&snapshot, &[table], &shape(args, &columns)),
        Format::Csv => csv::<R>(&snapshot, &shape(args, &columns))?,
    })
}

fn query_of(args: &QueryArgs) -> Query {
    let rows = Some(Rows {
        filter: args.rows.filter.clone(),
        sort: args.rows.sort.clone(),
        invert: args.reverse,
        limit: args.limit,
        ..Rows::default()
    });
    let query = Query {
        window_ns: args.window.0,
        ..Query::default()
    };
    match args.table {
        TableName::Procs | TableName::Proc => Query {
            procs: rows,
            ..query
        },
        TableName::Tasks | TableName::Task => Query {
            tasks: rows,
            ..query
        },
        TableName::Resources | TableName::Resource => Query {
            resources: rows,
            ..query
        },
        TableName::Awaits => Query {
            awaits: rows,
            ..query
        },
        TableName::Alerts | TableName::Alert => Query {
            alerts: rows,
            ..query
        },
        TableName::Counters => Query {
            counters: rows,
            ..query
        },
    }
}

/// The requested percentiles, else two in a table and those of [`Options`] in JSON and CSV.
fn percentiles(args: &QueryArgs) -> Vec<Percentile> {
    match (&args.percentiles[..], args.format) {
        ([], Format::Table) => [50, 99].map(Percentile::whole).to_vec(),
        ([], Format::Json | Format::Csv) => Options::default().percentiles,
        (asked, _) => asked.to_vec(),
    }
}

/// All fields, or those that correspond to the requested columns.
fn shape<R: Row>(args: &QueryArgs, columns: &[Column<R>]) -> Options {
    let fields = columns
        .iter()
        .flat_map(|column| column.fields)
        .copied()
        .collect();
    Options {
        percentiles: percentiles(args),
        fields: (!args.columns.is_empty()).then_some(fields),
    }
}

fn text<R: Row>(snapshot: &Snapshot, columns: &[Column<R>]) -> String {
    let context = Context::of(snapshot);
    let page = R::page(snapshot);
    let mut lines = TextTable::of(columns, &page.rows, &context, Style::default()).lines();
    lines.push(footer::<R>(snapshot));
    lines.push(String::new());
    printed(&lines)
}

fn csv<R: Record>(snapshot: &Snapshot, shape: &Options) -> Result<String, Failure> {
    let rows = R::page(snapshot).rows.iter();
    let rows = rows.map(|row| json::flat_row(row, shape));
    sheet::csv(std::iter::once(json::flat_header::<R>(shape)).chain(rows))
}
