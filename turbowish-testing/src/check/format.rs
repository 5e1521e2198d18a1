//! The file of vectors: everything used of it is read here, or refused with its place.

use serde_json::{Map, Value};
use turbowish_model::account::call::PollEnd;
use turbowish_model::account::counters::PROC_LIMIT;
use turbowish_model::event::{CallEvent, Event, EventKind};

use crate::names::Names;

/// The version of the format that is understood.
const FORMAT: &str = "turbowish-occupancy-vectors/1";

/// Fields by name.
type Object = Map<String, Value>;

/// One scenario with the numbers that it comes to.
#[derive(Debug)]
pub struct Vector {
    /// Name of the scenario.
    pub name: String,
    /// Events, all of calls.
    pub events: Vec<Event>,
    /// Names of the events' procs.
    pub names: Names,
    /// Time of the snapshot; that of the last event if none is given.
    pub now: Option<u64>,
    /// Expected numbers, by part of the result.
    pub expect: Object,
    /// Wrong numbers, by the name of the mistake.
    pub traps: Object,
    /// Numbers of another profiler, by proc.
    pub oracle: Object,
}

/// Reads a file of vectors.
///
/// # Errors
///
/// Names what of the text is not in the format.
pub fn read(text: &str) -> Result<Vec<Vector>, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let file = object(&file, "the file")?;
    match file.get("format") {
        None => {}
        Some(Value::String(format)) if format == FORMAT => {}
        Some(other) => return Err(format!("format: {other} is not \"{FORMAT}\"")),
    }
    let vectors = array(file.get("vectors"), "vectors")?;
    if vectors.is_empty() {
        return Err("vectors: there are none".into());
    }
    let numbered = vectors.iter().enumerate();
    numbered.map(|(nth, value)| vector(value, nth)).collect()
}

fn vector(value: &Value, nth: usize) -> Result<Vector, String> {
    let unnamed = format!("vector number {}", nth + 1);
    let vector = object(value, &unnamed)?;
    let name = text(vector.get("name"), "name").map_err(|error| format!("{unnamed}: {error}"))?;
    parts(vector, name).map_err(|error| format!("vector {name}: {error}"))
}

fn parts(vector: &Object, name: &str) -> Result<Vector, String> {
    let events = array(vector.get("events"), "events")?;
    let mut names = Names::default();
    let event = |(nth, value): (usize, &Value)| {
        let event = call_event(value, &mut names);
        event.map_err(|error| format!("event number {}: {error}", nth + 1))
    };
    let events: Vec<Event> = events
        .iter()
        .enumerate()
        .map(event)
        .collect::<Result<_, _>>()?;
    let procs = names.procs.len();
    if procs >= PROC_LIMIT as usize {
        return Err(format!(
            "events: {procs} procs, and a ledger holds {PROC_LIMIT}"
        ));
    }
    let now = match vector.get("now") {
        None | Some(Value::Null) => None,
        given => Some(number(given, "now")?),
    };
    Ok(Vector {
        name: name.to_owned(),
        events,
        names,
        now,
        expect: expect(vector)?,
        traps: optional(vector, "traps")?,
        oracle: optional(vector, "chroprof_oracle")?,
    })
}

/// A field that is true or false; false if it is not there.
fn flag(event: &Object, field: &str) -> Result<bool, String> {
    match event.get(field) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(format!("{field}: {other} is neither true nor false")),
    }
}

/// Reads one event of a call; adds the proc that it names.
pub(crate) fn call_event(value: &Value, names: &mut Names) -> Result<Event, String> {
    let event = object(value, "the event")?;
    let kind = match text(event.get("k"), "k")? {
        "create" => CallEvent::Create {
            proc: names.procs.id(text(event.get("proc"), "proc")?),
        },
        "poll_start" => CallEvent::PollStart {
            proc: match event.get("proc") {
                None | Some(Value::Null) => None,
                given => Some(names.procs.id(text(given, "proc")?)),
            },
            root: flag(event, "root")?,
        },
        "poll_end" => CallEvent::PollEnd(match text(event.get("r"), "r")? {
            "pending" => PollEnd::Pending,
            "ready" => PollEnd::Ready,
            "panic" => PollEnd::Panic,
            "drop" => PollEnd::Torn,
            other => {
                let known = "pending, ready, panic or drop";
                return Err(format!("r: \"{other}\" is not {known}"));
            }
        }),
        "drop" => CallEvent::Drop,
        "wake" => CallEvent::Wake,
        "await" => CallEvent::Await {
            proc: names.procs.id(text(event.get("proc"), "proc")?),
            site: u32::try_from(number(event.get("site"), "site")?)
                .map_err(|_| "site: beyond 4294967295")?,
            direct: flag(event, "direct")?,
        },
        "unaccounted" => CallEvent::Unaccounted,
        other => {
            let known = "create, poll_start, poll_end, drop, wake, await or unaccounted";
            return Err(format!("k: \"{other}\" is not {known}"));
        }
    };
    Ok(Event {
        t: number(event.get("t"), "t")?,
        thread: number(event.get("th"), "th")?,
        kind: EventKind::Call {
            id: number(event.get("id"), "id")?,
            kind,
        },
    })
}

/// The expectation, with every part of the right shape.
fn expect(vector: &Object) -> Result<Object, String> {
    let expect = optional(vector, "expect")?;
    let parts = ["procs", "calls", "busy", "edges", "anomalies"];
    if !parts.iter().any(|part| expect.contains_key(*part)) {
        return Err("expect: it says nothing".into());
    }
    for part in ["procs", "calls"] {
        for (name, fields) in &optional(&expect, part)? {
            let fields = object(fields, &format!("expect.{part}.{name}"))?;
            for (field, value) in fields {
                let place = format!("expect.{part}.{name}.{field}");
                match value {
                    Value::Object(population) => quantiles(population, &place)?,
                    Value::String(_) if part == "calls" => {}
                    other => _ = number(Some(other), &place)?,
                }
            }
            if part == "calls" {
                key(name, "expect.calls")?;
            }
        }
    }
    for part in ["busy", "anomalies"] {
        for (name, value) in &optional(&expect, part)? {
            number(Some(value), &format!("expect.{part}.{name}"))?;
            if part == "busy" {
                key(name, "expect.busy")?;
            }
        }
    }
    for (nth, edge) in edges(&expect)?.iter().enumerate() {
        let place = |field: &str| format!("expect.edges[{nth}].{field}");
        let edge = object(edge, &format!("expect.edges[{nth}]"))?;
        for field in ["kind", "parent", "child"] {
            text(edge.get(field), &place(field))?;
        }
        for field in ["n", "ns"] {
            number(edge.get(field), &place(field))?;
        }
    }
    Ok(expect)
}

fn edges(expect: &Object) -> Result<Vec<Value>, String> {
    match expect.get("edges") {
        None | Some(Value::Null) => Ok(Vec::new()),
        given => array(given, "expect.edges").cloned(),
    }
}

fn quantiles(population: &Object, place: &str) -> Result<(), String> {
    for (field, value) in population {
        if *value != Value::Null {
            number(Some(value), &format!("{place}.{field}"))?;
        }
    }
    Ok(())
}

fn key(text: &str, place: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| format!("{place}: \"{text}\" is not an unsigned 64-bit integer"))
}

fn optional(within: &Object, field: &str) -> Result<Object, String> {
    match within.get(field) {
        None | Some(Value::Null) => Ok(Object::new()),
        Some(value) => object(value, field).cloned(),
    }
}

pub(crate) fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Object, String> {
    let object = value.as_object();
    object.ok_or_else(|| format!("{place}: not an object"))
}

pub(crate) fn array<'a>(value: Option<&'a Value>, field: &str) -> Result<&'a Vec<Value>, String> {
    let value = value.ok_or_else(|| format!("{field}: it is missing"))?;
    value
        .as_array()
        .ok_or_else(|| format!("{field}: not an array"))
}

pub(crate) fn text<'a>(value: Option<&'a Value>, field: &str) -> Result<&'a str, String> {
    let value = value.ok_or_else(|| format!("{field}: it is missing"))?;
    value
        .as_str()
        .ok_or_else(|| format!("{field}: {value} is not a string"))
}

pub(crate) fn number(value: Option<&Value>, field: &str) -> Result<u64, String> {
    let value = value.ok_or_else(|| format!("{field}: it is missing"))?;
    let number = value.as_u64();
    number.ok_or_else(|| format!("{field}: {value} is not an unsigned 64-bit integer"))
}
