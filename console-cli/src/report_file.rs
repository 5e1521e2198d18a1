//! A saved report, or the output of `query --format json`, read back. Missing values stay missing.

use std::io::Read as _;

use serde_json::{Map, Value};
use turbowish_model::query::{Query, RECORDED_WINDOW_NS, Rows};
use turbowish_model::snapshot::column::{Column, Row};
use turbowish_model::snapshot::json::{self, Parsed, Record, SCHEMA, fill};
use turbowish_model::snapshot::{Accounting, Page, Process, Snapshot, Table, TableVisitor};

use crate::failure::Failure;
use crate::recording::{Moment, begins_as_recording};
use crate::source;

type Object = Map<String, Value>;

/// The file name that stands for standard input.
const STDIN: &str = "-";

/// A snapshot from a file, and the fields that each of its rows has.
#[derive(Debug)]
pub(crate) struct Saved {
    /// The file name as given on the command line.
    pub(crate) name: String,
    /// Only the tables for which [`Self::has`] is true contain rows.
    pub(crate) snapshot: Snapshot,
    document: Object,
}

/// An error in a file, without the file's name.
type Fault = String;

impl Saved {
    /// Reads a file; `-` is standard input. Of a recording it is the state that shows an instant.
    ///
    /// # Errors
    /// The file cannot be read (target unreachable), or is not a known document (usage).
    pub(crate) fn read(name: &str, moment: Option<Moment>) -> Result<Self, Failure> {
        if name != STDIN && begins_as_recording(name) {
            let snapshot = source::recorded(name, moment, &everything())?;
            let text = json::document(&snapshot, Table::ALL, &json::Options::default());
            return Self::parse(name, &text);
        }
        if moment.is_some() {
            return Err(Failure::usage(format!(
                "--at is an instant of a recording, and {name} is none"
            )));
        }
        let text = if name == STDIN {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map(|_| text)
        } else {
            std::fs::read_to_string(name)
        };
        let text = text.map_err(|cause| Failure::target(format!("cannot read {name}: {cause}")))?;
        Self::parse(name, &text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The text is not a known document (usage).
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let refuse = |fault| Failure::usage(format!("{name}: {fault}"));
        let document = document(text).map_err(refuse)?;
        let snapshot = snapshot(&document).map_err(refuse)?;
        Ok(Self {
            name: name.to_owned(),
            snapshot,
            document,
        })
    }

    /// Whether the file has this table.
    pub(crate) fn has<R: Row>(&self) -> bool {
        self.document.contains_key(R::TABLE)
    }

    /// The names of the tables in the file.
    pub(crate) fn tables(&self) -> Vec<&'static str> {
        Table::names()
            .filter(|table| self.document.contains_key(*table))
            .collect()
    }

    /// Whether its rows have all fields for this column. A table without rows lacks none.
    pub(crate) fn tells<R: Record>(&self, column: &Column<R>) -> bool {
        let rows = self.document.get(R::TABLE).and_then(Value::as_array);
        let Some(row) = rows.and_then(|rows| rows.first()) else {
            return true;
        };
        let percentile = column.key.rsplit_once('_').map(|(_, name)| name);
        column.fields.iter().all(|name| {
            row.get(name).is_some_and(|value| match percentile {
                Some(_) if value.get("buckets").is_some() => true,
                Some(q) if column.is_percentile() => value.get(q).is_some(),
                _ => true,
            })
        })
    }

    /// Whether it has the buckets of this percentile's population, not only some percentiles.
    pub(crate) fn has_buckets<R: Record>(&self, column: &Column<R>) -> bool {
        let rows = self.document.get(R::TABLE).and_then(Value::as_array);
        let mut rows = rows.into_iter().flatten();
        rows.all(|row| {
            let mut populations = column.fields.iter().filter_map(|name| row.get(name));
            populations.all(|population| population.get("buckets").is_some())
        })
    }
}

impl Saved {
    /// The same as [`Self::tells`], as a result.
    ///
    /// # Errors
    /// Fields are missing (usage); the message lists the percentiles that the file has.
    pub(crate) fn must_tell<R: Record>(&self, column: &Column<R>) -> Result<(), Failure> {
        if self.tells(column) {
            return Ok(());
        }
        let rows = self.document.get(R::TABLE).and_then(Value::as_array);
        let row = rows.and_then(|rows| rows.first());
        let field = column.fields.first().filter(|_| column.is_percentile());
        let population = row.and_then(|row| row.get(*field?)?.as_object());
        let hint = population.map_or_else(
            || "it was written without it, or by another version".to_owned(),
            |population| {
                let names = population.keys().filter(|name| name.starts_with('p'));
                let names: Vec<&str> = names.map(String::as_str).collect();
                format!("it has only {} of this population", names.join(", "))
            },
        );
        Err(Failure::usage(format!(
            "{} does not contain {} of {}; {hint}",
            self.name,
            column.key,
            R::TABLE
        )))
    }
}

/// All rows of a state.
fn everything() -> Query {
    let mut query = Query {
        window_ns: Some(RECORDED_WINDOW_NS),
        ..Query::default()
    };
    for table in Table::ALL {
        *query.rows_mut(*table) = Some(Rows::default());
    }
    query
}

fn document(text: &str) -> Result<Object, Fault> {
    let value: Value = serde_json::from_str(text).map_err(|cause| {
        // A second document follows a valid first one.
        if cause.is_syntax() && cause.to_string().starts_with("trailing") {
            "has several documents; use one line of it".to_owned()
        } else {
            format!("not JSON: {cause}")
        }
    })?;
    let Value::Object(document) = value else {
        return Err(no_report("not an object"));
    };
    match document.get("schema").map(Value::as_u64) {
        Some(Some(SCHEMA)) => Ok(document),
        Some(Some(other)) => Err(format!(
            "has schema {other}, but this turbowish reads {SCHEMA}: update turbowish-cli"
        )),
        _ => Err(no_report("no schema")),
    }
}

fn no_report(fault: &str) -> Fault {
    format!("neither a turbowish report nor JSON of turbowish query: {fault}")
}

fn snapshot(document: &Object) -> Result<Snapshot, Fault> {
    let mut snapshot = Snapshot {
        process: process(document).ok_or_else(|| no_report("no process"))?,
        ..Snapshot::default()
    };
    for (name, slot) in [
        ("at_unix_ns", &mut snapshot.at_unix_ns),
        ("window_ns", &mut snapshot.window_ns),
    ] {
        let value = document.get(name).and_then(Value::as_u64);
        *slot = value.ok_or_else(|| no_report(&format!("no {name}")))?;
    }
    let since_start = document.get("since_start").and_then(Value::as_bool);
    snapshot.since_start = since_start.unwrap_or(false);
    let forgotten = document.get("alerts_forgotten").and_then(Value::as_u64);
    snapshot.alerts_forgotten = forgotten.unwrap_or(0);
    for table in Table::ALL {
        table.visit(ReadPage {
            document,
            snapshot: &mut snapshot,
        })?;
    }
    Ok(snapshot)
}

fn process(document: &Object) -> Option<Process> {
    let value = &parsed(document.get("process")?);
    let mut process = Process::default();
    fill(&mut process.name, value, "name")?;
    fill(&mut process.pid, value, "pid")?;
    process.accounting = match value.get("accounting")?.as_str()? {
        "disarmed" => Accounting::Disarmed,
        _ => Accounting::Armed,
    };
    Some(process)
}

/// Reads the rows of a table, if the file has it.
struct ReadPage<'a> {
    document: &'a Object,
    snapshot: &'a mut Snapshot,
}

impl TableVisitor for ReadPage<'_> {
    type Output = Result<(), Fault>;

    fn visit<R: Record>(self) -> Self::Output {
        let Some(table) = self.document.get(R::TABLE) else {
            return Ok(());
        };
        let wrong = |at: &str| format!("{at} does not match the format (turbowish explain json)");
        let rows = table.as_array().ok_or_else(|| wrong(R::TABLE))?;
        let mut page = Page {
            rows: Vec::with_capacity(rows.len()),
            ..Page::default()
        };
        for (nth, row) in rows.iter().enumerate() {
            page.rows.push(self::row(row, nth)?);
        }
        let count = |name| {
            self.document
                .get("counts")?
                .get(R::TABLE)?
                .get(name)?
                .as_u64()
        };
        let shown = page.rows.len() as u64;
        page.total = count("total").unwrap_or(shown).max(shown);
        page.matched = count("matched").unwrap_or(shown).max(shown);
        *R::page_mut(self.snapshot) = page;
        Ok(())
    }
}

/// The same value, for the readers of the model.
fn parsed(value: &Value) -> Parsed {
    match value {
        Value::Null => Parsed::Null,
        Value::Bool(flag) => Parsed::Flag(*flag),
        Value::Number(n) => n.as_i128().map_or(Parsed::Null, Parsed::Number),
        Value::String(text) => Parsed::Text(text.clone()),
        Value::Array(list) => Parsed::List(list.iter().map(parsed).collect()),
        Value::Object(fields) => {
            let fields = fields.iter();
            Parsed::Object(
                fields
                    .map(|(name, value)| (name.clone(), parsed(value)))
                    .collect(),
            )
        }
    }
}

/// Reads a row. Missing fields keep their value of an empty row, and [`Saved::tells`] knows them.
fn row<R: Record>(value: &Value, nth: usize) -> Result<R, Fault> {
    let at = |name: &str| format!("{}[{nth}].{name}", R::TABLE);
    if let Some(name) = R::NEEDED.iter().find(|name| value.get(name).is_none()) {
        return Err(format!(
            "has no {}: it takes whole rows, written without --columns",
            at(name)
        ));
    }
    let mut row = R::default();
    for (name, set) in R::field_names().into_iter().zip(R::setters()) {
        if let Some(value) = value.get(name) {
            set(&mut row, &parsed(value)).ok_or_else(|| {
                format!(
                    "{} does not match the format (turbowish explain json)",
                    at(name)
                )
            })?;
        }
    }
    Ok(row)
}

#[cfg(test)]
mod tests;
