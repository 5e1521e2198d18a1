//! `turbowish diff`: compares two saved documents, row by row and column by column. A file never
//! differs from itself, and two files of the same load only by chance, which is not a failure.

mod chance;
mod compare;
mod evidence;
mod machine;
mod print;

use turbowish_model::query::Filter;
use turbowish_model::snapshot::column::{self, Column};
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{ProcRow, ResourceRow, Snapshot, Table, TableVisitor};

use self::compare::{Allowed, Change, Compared, LEVELS};
use self::machine::MachineGrowth;
use crate::args::{DiffArgs, Format, Share};
use crate::columns::choose;
use crate::failure::{Failure, note};
use crate::report_file::Saved;

/// Runs the command.
///
/// # Errors
/// A mistake on the command line, a file that is not a report, or a change for the worse.
pub(crate) fn run(args: &DiffArgs) -> Result<(), Failure> {
    let [old, new] = match args.at[..] {
        [] => [None, None],
        [both] => [Some(both); 2],
        [old, new] => [Some(old), Some(new)],
        _ => return Err(Failure::usage("--at is given once or twice")),
    };
    let before = Saved::read(&args.before, old)?;
    let after = Saved::read(&args.after, new)?;
    let compared = table(args, &before, &after)?.visit(Compare {
        args,
        before: &before,
        after: &after,
    })?;
    warn_of_overlap(&before, &after);
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
            machine: MachineGrowth::NONE,
            is_default: false,
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

#[derive(Clone, Copy)]
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
            machine: MachineGrowth::of(before, after, args.machine),
            is_default: args.columns.is_empty(),
        };
        let mut compared = Compared::of(before, after, &columns, &filter, allowed);
        if args.columns.is_empty() && args.table.is_none() && args.filter.is_empty() {
            compared.add(waiters(before, after, allowed));
            if !compared.has_failed() {
                compared.elsewhere = elsewhere(self, R::IN, allowed);
            }
        }
        if compared.is_unsure() {
            warn(&columns, before, after);
        }
        Ok(compared)
    }
}

/// Locks and channels for which many more tasks wait, if both files have them and they are not the
/// table that is compared anyway.
fn waiters(before: &Saved, after: &Saved, allowed: Allowed) -> Vec<Change> {
    let column = column::find::<ResourceRow>("waiters");
    let is_beside = |saved: &Saved| saved.has::<ResourceRow>() && saved.has::<ProcRow>();
    let column = column.filter(|_| is_beside(before) && is_beside(after));
    let Some(column) = column else {
        return Vec::new();
    };
    let every = Filter::parse("").expect("a blank filter keeps every row");
    Compared::of(before, after, &[column], &every, allowed).changes
}

/// The tables of waits in which rows fail, beside the one that is compared, and how many.
fn elsewhere(compare: Compare<'_>, but: Table, allowed: Allowed) -> Vec<(&'static str, usize)> {
    let others = [Table::Awaits, Table::Resources].into_iter();
    let others = others.filter(|table| *table != but);
    let failing = others.map(|table| (table.name(), table.visit(Failing(compare, allowed))));
    failing.filter(|(_, rows)| *rows > 0).collect()
}

/// Number of rows that fail; 0 if a file does not have the table.
struct Failing<'a>(Compare<'a>, Allowed);

impl TableVisitor for Failing<'_> {
    type Output = usize;

    fn visit<R: Record>(self) -> usize {
        let Compare {
            args,
            before,
            after,
        } = self.0;
        if !(before.has::<R>() && after.has::<R>()) {
            return 0;
        }
        let every = Filter::parse("").expect("a blank filter keeps every row");
        columns::<R>(args, before, after).map_or(0, |columns| {
            Compared::of(before, after, &columns, &every, self.1).failed()
        })
    }
}

/// Says that a part of the time is in both files.
fn warn_of_overlap(before: &Saved, after: &Saved) {
    let (old, new) = (&before.snapshot, &after.snapshot);
    let ends = [old.at_unix_ns, new.at_unix_ns];
    if old.process.pid != new.process.pid || ends[0] == ends[1] || ends.contains(&0) {
        return;
    }
    let begin = |saved: &Snapshot| saved.at_unix_ns.saturating_sub(saved.window_ns);
    let overlap = ends[0]
        .min(ends[1])
        .saturating_sub(begin(old).max(begin(new)));
    if overlap > 0 {
        let time = |ns| units::duration(ns, Micro::Unicode);
        note(&format!(
            "the windows overlap by {}, of {} and {}: a change is larger than it looks",
            time(overlap),
            time(old.window_ns),
            time(new.window_ns)
        ));
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
        for key in LEVELS {
            let known = columns.iter().any(|column| column.key == key);
            let level = column::find::<R>(key).filter(|_| !known);
            columns.extend(level.filter(|column| before.tells(column) && after.tells(column)));
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
