//! Round trip: every field of every table is read back as written, and a file that is not a report
//! is refused with a message.

use serde_json::Value;
use turbowish_model::snapshot::column::{self, Context};
use turbowish_model::snapshot::json::{self, Options, Record};
use turbowish_model::snapshot::{ProcRow, Snapshot, Table, TableVisitor};

use super::{Object, Saved, document, snapshot};

/// Every list and object that is read, and plain fields, each with a unique value.
const FULL: &str = include_str!("full.json");

fn saved(text: &str) -> Result<Saved, String> {
    let document = document(text)?;
    Ok(Saved {
        name: "a.json".to_owned(),
        snapshot: snapshot(&document)?,
        document,
    })
}

/// [`FULL`] with a row for each table, and a unique value for each plain field that it lacks.
fn completed() -> Value {
    let mut full = serde_json::from_str(FULL).unwrap();
    Table::ALL
        .iter()
        .for_each(|table| table.visit(Complete(&mut full)));
    full
}

struct Complete<'a>(&'a mut Value);

impl TableVisitor for Complete<'_> {
    type Output = ();

    fn visit<R: Record>(self) {
        let mut one = Snapshot::default();
        R::page_mut(&mut one).rows.push(R::default());
        let empty = json::document(&one, &[R::IN], &Options::default());
        let empty: Value = serde_json::from_str(&empty).unwrap();
        if self.0.get(R::TABLE).is_none() {
            self.0[R::TABLE] = Value::Array(vec![Value::Object(Object::new())]);
            self.0["counts"][R::TABLE] = empty["counts"][R::TABLE].clone();
            self.0["counts"][R::TABLE]["total"] = 1.into();
            self.0["counts"][R::TABLE]["matched"] = 1.into();
        }
        for (nth, name) in R::field_names().into_iter().enumerate() {
            let row = &mut self.0[R::TABLE][0];
            if row.get(name).is_none() {
                let value = match &empty[R::TABLE][0][name] {
                    Value::Number(_) => (1_000 + nth).into(),
                    Value::String(_) => format!("text {nth}").into(),
                    Value::Bool(_) => true.into(),
                    _ => continue,
                };
                row[name] = value;
            }
        }
    }
}

fn full() -> (Saved, Value) {
    let saved = saved(&completed().to_string()).unwrap();
    let again = json::document(&saved.snapshot, Table::ALL, &Options::default());
    (saved, serde_json::from_str(&again).unwrap())
}

/// Everything of `expected` is in `got`.
fn same(expected: &Value, got: &Value, at: &str) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (name, value) in expected {
                let at = format!("{at}.{name}");
                same(value, got.get(name).unwrap_or(&Value::Null), &at);
            }
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            for (nth, (value, got)) in expected.iter().zip(got).enumerate() {
                same(value, got, &format!("{at}[{nth}]"));
            }
        }
        (expected, got) => assert_eq!(expected, got, "{at}"),
    }
}

#[test]
fn what_is_read_is_written_as_it_was() {
    let (_, again) = full();
    let expected = completed();
    for table in Table::names().chain(["counts"]) {
        same(&expected[table], &again[table], table);
    }
    for field in ["window_ns", "at_unix_ns", "since_start"] {
        same(&expected[field], &again[field], field);
    }
    assert_eq!(again["process"]["pid"], 4242);
}

/// Fields whose value in the file is that of an empty row are not tested above.
struct InFull<'a>(&'a Value);

impl TableVisitor for InFull<'_> {
    type Output = ();

    fn visit<R: Record>(self) {
        let row = &self.0[R::TABLE][0];
        for name in R::field_names() {
            assert!(row.get(name).is_some(), "{name} of {}", R::TABLE);
        }
        for needed in R::NEEDED {
            assert!(row.get(needed).is_some(), "{needed} of {}", R::TABLE);
        }
    }
}

#[test]
fn every_field_is_read() {
    let (_, again) = full();
    Table::ALL
        .iter()
        .for_each(|table| table.visit(InFull(&again)));
}

struct TellsAll<'a>(&'a Saved);

impl TableVisitor for TellsAll<'_> {
    type Output = ();

    fn visit<R: Record>(self) {
        for column in R::columns() {
            assert!(self.0.tells(column), "{} of {}", column.key, R::TABLE);
        }
        assert!(column::find::<R>(R::PLACE).is_some());
        assert_ne!(R::page(&self.0.snapshot).rows[0].label(), "");
    }
}

#[test]
fn a_whole_file_tells_every_column() {
    let (saved, _) = full();
    Table::ALL
        .iter()
        .for_each(|table| table.visit(TellsAll(&saved)));
}

#[test]
fn percentiles_that_are_not_in_the_file_are_not_told() {
    let (saved, _) = full();
    let context = Context::of(&saved.snapshot);
    let row = &saved.snapshot.procs.rows[0];
    for (key, expected) in [
        ("hold_p50", Some(71)),
        ("hold_p99", Some(73)),
        ("hold_p99.9", Some(74)),
        ("hold_p95", None),
    ] {
        let column = column::find::<ProcRow>(key).unwrap();
        assert_eq!(saved.tells(&column), expected.is_some(), "{key}");
        if expected.is_some() {
            assert_eq!(column.value(row, &context).number(), expected, "{key}");
        }
    }
}

#[test]
fn what_is_no_report_is_refused() {
    let start = "neither a turbowish report nor JSON of turbowish query: ";
    let head = r#""schema":1,"process":{"name":"kv","pid":1,"accounting":"armed"},"at_unix_ns":1,"window_ns":1"#;
    for (text, expected) in [
        (
            "",
            "not JSON: EOF while parsing a value at line 1 column 0".to_owned(),
        ),
        (
            "PROC RUN%",
            "not JSON: expected value at line 1 column 1".to_owned(),
        ),
        (
            "{}\n{}",
            "has several documents; use one line of it".to_owned(),
        ),
        ("[1]", format!("{start}not an object")),
        ("{}", format!("{start}no schema")),
        (r#"{"schema":"1"}"#, format!("{start}no schema")),
        (
            r#"{"schema":2}"#,
            "has schema 2, but this turbowish reads 1: update turbowish-cli".to_owned(),
        ),
        (r#"{"schema":1}"#, format!("{start}no process")),
        (
            &format!("{{{head},\"procs\":5}}"),
            "procs does not match the format (turbowish explain json)".to_owned(),
        ),
        (
            &format!("{{{head},\"procs\":[{{\"proc\":\"a\"}}]}}"),
            "has no procs[0].calls: it takes whole rows, written without --columns".to_owned(),
        ),
        (
            &format!(
                "{{{head},\"procs\":[{{\"proc\":\"a\",\"calls\":-1,\"polls\":1,\"never_polled\":0}}]}}"
            ),
            "procs[0].calls does not match the format (turbowish explain json)".to_owned(),
        ),
        (
            &format!(
                "{{{head},\"alerts\":[{{\"kind\":\"doom\",\"severity\":\"note\",\"parties\":[]}}]}}"
            ),
            "alerts[0].kind does not match the format (turbowish explain json)".to_owned(),
        ),
    ] {
        assert_eq!(saved(text).map(|_| ()), Err(expected), "{text}");
    }
    assert_eq!(saved(&format!("{{{head}}}")).unwrap().tables(), [""; 0]);
}
