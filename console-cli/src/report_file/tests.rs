//! Round trip: every field of every table is read back as written, and a file that is not a report
//! is refused with a message.

use serde_json::Value;
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::{self, Context};
use turbowish_model::snapshot::json::{self, Options, Table};
use turbowish_model::snapshot::{AwaitRow, CounterRow, ProcRow, ResourceRow, TaskRow};

use super::{Comparable, Saved, TABLES, document, snapshot};

/// Every field that is read, each with a unique value.
const FULL: &str = include_str!("full.json");

/// Fields of which no column tells anything.
const NOT_READ: [&str; 3] = ["steps", "tasks", "resources"];

fn saved(text: &str) -> Result<Saved, String> {
    let document = document(text)?;
    Ok(Saved {
        name: "a.json".to_owned(),
        snapshot: snapshot(&document)?,
        document,
    })
}

fn full() -> (Saved, Value) {
    let saved = saved(FULL).unwrap();
    let tables = [
        Table::Procs,
        Table::Tasks,
        Table::Resources,
        Table::Awaits,
        Table::Alerts,
        Table::Counters,
    ];
    let again = json::document(&saved.snapshot, &tables, &Options::default());
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
    let expected: Value = serde_json::from_str(FULL).unwrap();
    for table in TABLES.into_iter().chain(["counts"]) {
        same(&expected[table], &again[table], table);
    }
    for field in ["window_ns", "at_unix_ns", "since_start"] {
        same(&expected[field], &again[field], field);
    }
    assert_eq!(again["process"]["pid"], 4242);
}

/// A field that is new in docs/json.md has its line in `saved/rows.rs` and its value in
/// `full.json`.
#[test]
fn every_field_is_read() {
    fn check<R: Comparable>() {
        let expected: Value = serde_json::from_str(FULL).unwrap();
        let row = &expected[R::TABLE][0];
        let fields = R::fields().iter().map(|field| field.name);
        for name in fields.filter(|name| !NOT_READ.contains(name)) {
            let read = R::reads().iter().any(|(known, _)| *known == name);
            assert!(read, "saved/rows.rs does not read {name} of {}", R::TABLE);
            assert!(row.get(name).is_some(), "{name} of {}", R::TABLE);
        }
        for needed in R::NEEDED {
            assert!(row.get(needed).is_some(), "{needed} of {}", R::TABLE);
        }
    }
    check::<ProcRow>();
    check::<TaskRow>();
    check::<ResourceRow>();
    check::<AwaitRow>();
    check::<Alert>();
    check::<CounterRow>();
}

#[test]
fn a_whole_file_tells_every_column() {
    fn check<R: Comparable>(saved: &Saved) {
        for column in R::columns() {
            assert!(saved.tells(column), "{} of {}", column.key, R::TABLE);
        }
        assert!(column::find::<R>(R::PLACE).is_some());
        assert_ne!(R::page(&saved.snapshot).rows[0].label(), "");
    }
    let (saved, _) = full();
    check::<ProcRow>(&saved);
    check::<TaskRow>(&saved);
    check::<ResourceRow>(&saved);
    check::<AwaitRow>(&saved);
    check::<Alert>(&saved);
    check::<CounterRow>(&saved);
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
            "has schema 2, this turbowish reads 1: update turbowish-cli".to_owned(),
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
