//! Columns of a printed table: the requested ones, else a default for each kind of row.

use std::fmt;

use turbowish_model::query::QueryError;
use turbowish_model::snapshot::column::{self, Column, Family, Row};
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::{Table, TableVisitor};

/// Finds columns by key, in the requested order; without a request, the default ones.
pub(crate) fn choose<R: Row>(
    keys: &[String],
    percentiles: &[Percentile],
) -> Result<Vec<Column<R>>, QueryError> {
    let keys: Vec<&str> = match keys {
        [] => R::PRINTED.to_vec(),
        keys => keys.iter().map(|key| key.trim()).collect(),
    };
    let mut columns = Vec::new();
    for key in keys {
        if let Some(column) = column::find(key) {
            columns.push(column);
        } else if let Some(family) = population::<R>(key) {
            columns.extend(
                percentiles
                    .iter()
                    .map(|q| column::at_percentile(family, *q)),
            );
        } else if let Some(column) = column::spelled(key) {
            columns.push(column);
        } else {
            return Err(unknown::<R>(key));
        }
    }
    Ok(columns)
}

fn unknown<R: Row>(key: &str) -> QueryError {
    match column::nearest::<R>(key) {
        None => QueryError::NoColumn {
            table: R::TABLE,
            name: key.to_owned(),
        },
        nearest => QueryError::UnknownField {
            table: R::TABLE,
            key: key.to_owned(),
            nearest,
        },
    }
}

/// The key of a column that is named by its key or its title; any other word as it is. Processes
/// and the console sort by keys.
pub(crate) fn key(table: Table, word: &str) -> String {
    table.visit(SpelledKey(word))
}

struct SpelledKey<'a>(&'a str);

impl TableVisitor for SpelledKey<'_> {
    type Output = String;

    fn visit<R: Record>(self) -> String {
        let Self(word) = self;
        column::spelled::<R>(word).map_or_else(|| word.to_owned(), |c| c.key.into_owned())
    }
}

/// `hold` or `hold_p`.
fn population<R: Row>(key: &str) -> Option<&'static Family<R>> {
    let prefix = key.strip_suffix("_p").unwrap_or(key);
    R::families().iter().find(|family| family.prefix == prefix)
}

/// What `--columns` takes to list the columns of a table.
pub(crate) const LIST: &str = "help";

/// Every column of a table with its meaning.
pub(crate) struct TableListing(pub(crate) Table);

impl fmt::Display for TableListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.visit(Columns(f))?;
        match self.0 {
            Table::Procs => writeln!(
                f,
                "  N is one of {}\n  hold, poll, ready, run_p, incl_p in --columns: their --percentiles\n  \
                 attr.NAME  an attribute set at the proc",
                column::PERCENTILES.join(" ")
            ),
            Table::Tasks => {
                writeln!(f, "  {:<10} an attribute set by the program", "attr.NAME")
            }
            _ => Ok(()),
        }
    }
}

/// Every column of every table with its meaning, for `--help`.
pub(crate) struct Listing;

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in Table::ALL {
            writeln!(f, "{}", TableListing(*table))?;
        }
        write!(
            f,
            "Filter:\n  word           in name, place or expression; lower case matches any case\n  \
             a b   a | b    and, or;  -a not;  ( )  group;  \"text\" as it is\n  \
             column:a,b     text of a column; with * or ? it must match the whole text\n  \
             column:?       the value is unknown\n  \
             column>5ms     also < <= >= =; units ns us ms s m h, %, k M G, KiB MiB GiB, /s"
        )
    }
}

/// The columns of a table.
struct Columns<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl TableVisitor for Columns<'_, '_> {
    type Output = fmt::Result;

    fn visit<R: Record>(self) -> fmt::Result {
        let Self(f) = self;
        writeln!(f, "Columns of {} (sorted by {}):", R::TABLE, R::OWN_ORDER)?;
        for column in R::columns().iter().filter(|column| !column.is_percentile()) {
            writeln!(f, "  {:<10} {}", column.key, column.meaning)?;
        }
        for family in R::families() {
            writeln!(
                f,
                "  {:<10} {}",
                format!("{}_pN", family.prefix),
                family.meaning
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::alert::Alert;
    use turbowish_model::snapshot::column::Row;
    use turbowish_model::snapshot::quantile::Percentile;
    use turbowish_model::snapshot::{
        AwaitRow, CounterRow, DelayRow, ProcRow, ResourceRow, SlowestRow, Table, TaskRow,
    };

    use super::{choose, key};

    fn check<R: Row>(keys: &[&str], expected: &[&str]) {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let percentiles = ["50", "99.9"].map(|text| Percentile::parse(text).unwrap());
        let columns = choose::<R>(&keys, &percentiles).unwrap();
        let chosen: Vec<&str> = columns.iter().map(|column| &*column.key).collect();
        assert_eq!(chosen, expected);
    }

    #[test]
    fn populations_expand_to_the_percentiles_asked_for() {
        check::<ProcRow>(
            &["proc", "run", "hold"],
            &["proc", "run", "hold_p50", "hold_p99.9"],
        );
        check::<ProcRow>(&["run_p", "run_p99"], &["run_p50", "run_p99.9", "run_p99"]);
        check::<ProcRow>(&["poll"], &["poll_p50", "poll_p99.9"]);
        check::<ProcRow>(&[" calls "], &["calls"]);
        check::<ProcRow>(&["ready"], &["ready_p50", "ready_p99.9"]);
        check::<ResourceRow>(&["wait"], &["wait_p50", "wait_p99.9"]);
        check::<TaskRow>(&["task", "attr.user"], &["task", "attr.user"]);
    }

    #[test]
    fn defaults_are_columns() {
        fn exist<R: Row + Row>() {
            assert!(choose::<R>(&[], &[]).is_ok(), "{}", R::TABLE);
        }
        exist::<ProcRow>();
        exist::<TaskRow>();
        exist::<AwaitRow>();
        exist::<ResourceRow>();
        exist::<Alert>();
        exist::<CounterRow>();
        exist::<DelayRow>();
        exist::<SlowestRow>();
    }

    #[test]
    fn titles_name_columns() {
        check::<ProcRow>(
            &["PROC", "RUN%", "WALp99", "polp99.9", "HOLp50", "CALLS"],
            &["proc", "run", "wall_p99", "hold_p99.9", "hold_p50", "calls"],
        );
        assert_eq!(key(Table::Procs, "WALp99"), "wall_p99");
        assert_eq!(key(Table::Resources, "WAITp99"), "wait_p99");
        for word in ["", "worst", "hold_p98", "WALp98"] {
            assert_eq!(key(Table::Procs, word), word);
        }
    }

    #[test]
    fn a_mistyped_column_is_named() {
        let error = choose::<ProcRow>(&["lognest".to_owned()], &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no field lognest in procs; did you mean longest?"
        );
    }
}
