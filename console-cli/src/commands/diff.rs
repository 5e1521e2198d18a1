//! `turbowish diff`: compares two saved documents, row by row and column by column. A file never
//! differs from itself, and two files of the same load only by chance, which is not a failure.

mod chance;
mod compare;
mod evidence;
mod print;

use turbowish_model::query::Filter;
use turbowish_model::snapshot::column::Column;
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::{Table, TableVisitor};

use self::compare::{Allowed, Compared};
use crate::args::{DiffArgs, Format, Share};
use crate::columns::choose;
use crate::failure::{Failure, note};
use crate::report_file::Saved;

/// Runs the command.
///
/// # Errors
/// A mistake on the command line, a file that is not a report, or a change for the worse.
pub(crate) fn run(args: &DiffArgs) -> Result<(), Failure> {
    let before = Saved::read(&args.before)?;
    let after = Saved::read(&args.after)?;
    let compared = table(args, &before, &after)?.visit(Compare {
        args,
        before: &before,
        after: &after,
    })?;
    if before.snapshot.process.name != after.snapshot.process.name {
        note(&format!(
            "two programs are compared: {} and {}",
            before.snapshot.process.name, after.snapshot.process.name
        ));
    }
    crate::failure::print(&match args.format {
        Format::Table => print::table(&compared),
        Format::Json => print::json(&compared, &before, &after),
        Format::Csv => print::csv(&compared)?,
    })?;
    if compared.has_failed() {
        Err(Failure::Found)
    } else {
        Ok(())
    }
}

/// Whether no column of any table that both files have has changed for the worse.
pub(crate) fn is_no_worse(before: &Saved, after: &Saved) -> bool {
    let mut tables = Table::ALL.iter();
    tables.all(|table| table.visit(IsNoWorse { before, after }))
}

struct IsNoWorse<'a> {
    before: &'a Saved,
    after: &'a Saved,
}

impl TableVisitor for IsNoWorse<'_> {
    type Output = bool;

    fn visit<R: Record>(self) -> bool {
        let Self { before, after } = self;
        let judged = |column: &Column<R>| before.tells(column) && after.tells(column);
        let columns: Vec<Column<R>> = R::columns().iter().filter(|c| judged(c)).cloned().collect();
        let all = Filter::parse("").expect("a blank filter keeps every row");
        let none = Allowed {
            share: Share(0),
            time_ns: 0,
        };
        !Compared::of(before, after, &columns, &all, none).has_failed()
    }
}

/// The requested table, else the first that both files have.
fn table(args: &DiffArgs, before: &Saved, after: &Saved) -> Result<Table, Failure> {
    if let Some(table) = args.table {
        return Ok(table.table());
    }
    let (old, new) = (before.tables(), after.tables());
    let mut all = Table::ALL.iter().copied();
    let both = all.find(|table| old.contains(&table.name()) && new.contains(&table.name()));
    both.ok_or_else(|| {
        let list = |tables: &[&str]| match tables {
            [] => "no table".to_owned(),
            tables => tables.join(", "),
        };
        Failure::usage(format!(
            "nothing to compare: {} has {}, {} has {}",
            before.name,
            list(&old),
            after.name,
            list(&new)
        ))
    })
}

struct Compare<'a> {
    args: &'a DiffArgs,
    before: &'a Saved,
    after: &'a Saved,
}

impl TableVisitor for Compare<'_> {
    type Output = Result<Compared, Failure>;

    fn visit<R: Record>(self) -> Self::Output {
        let Self {
            args,
            before,
            after,
        } = self;
        for saved in [before, after] {
            if !saved.has::<R>() {
                return Err(Failure::usage(format!(
                    "{} has no {}; it has {}",
                    saved.name,
                    R::TABLE,
                    saved.tables().join(", ")
                )));
            }
        }
        let filter = Filter::<R>::parse(&args.filter)?;
        let columns = columns::<R>(args, before, after)?;
        let allowed = Allowed {
            share: args.fail_over,
            time_ns: args.min_change,
        };
        let compared = Compared::of(before, after, &columns, &filter, allowed);
        if compared.is_unsure() {
            warn(&columns, before, after);
        }
        Ok(compared)
    }
}

/// Says what a file without buckets cannot tell.
fn warn<R: Record>(columns: &[Column<R>], before: &Saved, after: &Saved) {
    let percentiles = || columns.iter().filter(|column| column.is_percentile());
    for saved in [before, after] {
        if !percentiles().all(|column| saved.has_buckets(column)) {
            note(&format!(
                "{} has percentiles without their buckets: only a gross change of them can fail",
                saved.name
            ));
        }
    }
}

/// The requested columns, which must be numbers in both files; else the columns of which a larger
/// value is worse: among those that the table shows, or if none of these qualifies, among all.
fn columns<R: Record>(
    args: &DiffArgs,
    before: &Saved,
    after: &Saved,
) -> Result<Vec<Column<R>>, Failure> {
    let mut columns = choose::<R>(&args.columns, &args.percentiles)?;
    if args.columns.is_empty() {
        let judged = |column: &Column<R>| {
            column.larger_is_worse() && before.tells(column) && after.tells(column)
        };
        columns.retain(judged);
        if columns.is_empty() {
            columns = R::columns().to_vec();
            columns.retain(judged);
        }
        return Ok(columns);
    }
    for column in &columns {
        if !column.unit.is_number() {
            return Err(Failure::usage(format!(
                "{} is text, and only numbers are compared",
                column.key
            )));
        }
        before.must_tell(column)?;
        after.must_tell(column)?;
    }
    Ok(columns)
}
