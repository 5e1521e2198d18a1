//! `turbowish query`: one table of one snapshot, as text, JSON or CSV.

use turbowish_model::query::{Query, Rows, Selection};
use turbowish_model::snapshot::column::{Column, Context, Row, Style};
use turbowish_model::snapshot::json::{self, Options, Record};
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::text_table::TextTable;
use turbowish_model::snapshot::{Snapshot, TableVisitor};

use crate::args::{Format, QueryArgs};
use crate::columns::{TableListing, choose};
use crate::failure::{Failure, note, print};
use crate::footer::{footer, remark};
use crate::plain_text::utc_offset_s;
use crate::text::printed;
use crate::{columns, detail, sheet, source};

/// Runs the command.
///
/// # Errors
/// A mistake in the query, before anything is asked; or no answer.
pub(crate) fn run(args: &QueryArgs, token: Option<&str>) -> Result<(), Failure> {
    if let (false, Some(name)) = (args.table.is_record(), &args.name) {
        return Err(Failure::usage(format!(
            "a table takes no name ({name}); one row: turbowish query task PID NAME, or resource, proc, alert"
        )));
    }
    if args.columns == [columns::LIST] {
        return print(&TableListing(args.table.table()).to_string());
    }
    if args.table.is_record() {
        return detail::run(args, token);
    }
    args.table.table().visit(Print { args, token })
}

/// Prints a table.
struct Print<'a> {
    args: &'a QueryArgs,
    token: Option<&'a str>,
}

impl TableVisitor for Print<'_> {
    type Output = Result<(), Failure>;

    fn visit<R: Record>(self) -> Result<(), Failure> {
        let Self { args, token } = self;
        let columns = choose::<R>(&args.columns, &percentiles(args))?;
        let query = query_of(args);
        Selection::parse(&query)?;
        let origin = source::origin(args.target.as_deref(), &args.past, token)?;
        let snapshot = source::runtime()?.block_on(source::snapshot(origin, &query))?;
        if let Some(warning) = source::disarmed(&snapshot) {
            note(&warning);
        }
        print(&match args.format {
            Format::Table => text(&snapshot, &columns),
            Format::Json => json::document(&snapshot, &[R::IN], &shape(args, &columns)),
            Format::Csv => csv::<R>(&snapshot, &shape(args, &columns))?,
        })
    }
}

fn query_of(args: &QueryArgs) -> Query {
    let rows = Some(Rows {
        filter: args.rows.filter.clone(),
        sort: columns::key(args.table.table(), &args.rows.sort),
        invert: args.reverse,
        limit: args.limit.unwrap_or(0),
        ..Rows::default()
    });
    let mut query = Query {
        window_ns: args.window.0,
        ..Query::default()
    };
    *query.rows_mut(args.table.table()) = rows;
    query
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
        buckets: true,
    }
}

fn text<R: Row>(snapshot: &Snapshot, columns: &[Column<R>]) -> String {
    let context = Context::of(snapshot);
    let page = R::page(snapshot);
    let style = Style {
        utc_offset_s: utc_offset_s(),
        ..Style::default()
    };
    let mut lines = TextTable::of(columns, &page.rows, &context, style).lines();
    lines.push(footer::<R>(snapshot));
    lines.extend(remark(R::IN).iter().map(|line| (*line).to_owned()));
    lines.push(String::new());
    printed(&lines)
}

fn csv<R: Record>(snapshot: &Snapshot, shape: &Options) -> Result<String, Failure> {
    let rows = R::page(snapshot).rows.iter();
    let rows = rows.map(|row| json::flat_row(row, shape));
    sheet::csv(std::iter::once(json::flat_header::<R>(shape)).chain(rows))
}
