//! Files of event streams: what is written is read back, and what is not in the format is refused
//! with its place.

mod write;

use serde_json::{Map, Value};
use turbowish_model::account::resource::{Kind, Role, Strength};
use turbowish_model::event::{
    ConsoleEvent, Event, EventKind, IntentEvent, ResourceClaim, ResourceEvent, TaskEvent, UserEvent,
};

pub use self::write::write;
use crate::check::{array, call_event, number, object, text};
use crate::names::Names;

/// Version of the format that is read and written.
pub const FORMAT: &str = "turbowish-events/1";
const VECTORS: &str = "turbowish-occupancy-vectors/1";

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Name, if the file gives it one.
    pub name: Option<String>,
    /// Events, in the order of the file.
    pub events: Vec<Event>,
}

/// Reads a file of one stream, or a file of occupancy vectors. Adds the names in it to `names`.
///
/// # Errors
///
/// Names what of the text is not in the format.
pub fn read(file: &str, names: &mut Names) -> Result<Vec<Stream>, String> {
    let file: Value = serde_json::from_str(file).map_err(|error| format!("not JSON: {error}"))?;
    let file = object(&file, "the file")?;
    match file.get("format") {
        None => {}
        Some(Value::String(format)) if format == FORMAT || format == VECTORS => {}
        Some(other) => {
            return Err(format!(
                "format: {other} is not \"{FORMAT}\" or \"{VECTORS}\""
            ));
        }
    }
    if !file.contains_key("vectors") {
        let events = events(file.get("events"), names)?;
        return Ok(vec![Stream { name: None, events }]);
    }
    let vectors = array(file.get("vectors"), "vectors")?.iter().enumerate();
    vectors
        .map(|(nth, vector)| stream(vector, nth, names))
        .collect()
}

fn stream(vector: &Value, nth: usize, names: &mut Names) -> Result<Stream, String> {
    let unnamed = format!("vector number {}", nth + 1);
    let vector = object(vector, &unnamed)?;
    let name = text(vector.get("name"), "name").map_err(|error| format!("{unnamed}: {error}"))?;
    let events = events(vector.get("events"), names);
    Ok(Stream {
        name: Some(name.to_owned()),
        events: events.map_err(|error| format!("vector {name}: {error}"))?,
    })
}

fn events(value: Option<&Value>, names: &mut Names) -> Result<Vec<Event>, String> {
    let numbered = array(value, "events")?.iter().enumerate();
    let place = |nth: usize| move |error: String| format!("event number {}: {error}", nth + 1);
    numbered
        .map(|(nth, value)| event(value, names).map_err(place(nth)))
        .collect()
}

/// Reads the fields of one event.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn number(&self, field: &str) -> Result<u64, String> {
        number(self.0.get(field), field)
    }

    fn text(&self, field: &str) -> Result<&'a str, String> {
        text(self.0.get(field), field)
    }

    /// One of a few words.
    fn word<T: Copy>(&self, field: &str, words: &[(&str, T)]) -> Result<T, String> {
        let given = self.text(field)?;
        let found = words.iter().find(|(word, _)| *word == given);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            format!("{field}: \"{given}\" is not one of {}", words.join(", "))
        })
    }

    fn optional(&self, field: &str) -> Result<Option<u64>, String> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            given => number(given, field).map(Some),
        }
    }

    fn claim(&self) -> Result<ResourceClaim, String> {
        Ok(ResourceClaim {
            ticket: self.number("ticket")?,
            task: self.number("task")?,
            role: self.word("role", &ROLES)?,
            amount: self.optional("amount")?.unwrap_or(1),
        })
    }
}

const ROLES: [(&str, Role); 7] = [
    ("lock", Role::Lock),
    ("read", Role::Read),
    ("write", Role::Write),
    ("acquire", Role::Acquire),
    ("send", Role::Send),
    ("recv", Role::Receive),
    ("wait", Role::Wait),
];
const KINDS: [(&str, Kind); 11] = [
    ("mutex", Kind::Mutex),
    ("rwlock", Kind::RwLock),
    ("semaphore", Kind::Semaphore),
    ("barrier", Kind::Barrier),
    ("notify", Kind::Notify),
    ("once_cell", Kind::OnceCell),
    ("mpsc", Kind::Mpsc),
    ("oneshot", Kind::Oneshot),
    ("broadcast", Kind::Broadcast),
    ("watch", Kind::Watch),
    ("timer", Kind::Timer),
];
const STRENGTHS: [(&str, Strength); 2] = [("will", Strength::Will), ("may", Strength::May)];

fn event(value: &Value, names: &mut Names) -> Result<Event, String> {
    let fields = Fields(object(value, "the event")?);
    let word = fields.text("k")?;
    let kind = match word.split_once('_').map(|(about, _)| about) {
        _ if CALLS.contains(&word) => return call_event(value, names),
        Some("task") => task(word, &fields)?,
        Some("resource") => of_resource(word, &fields)?,
        Some("intent") => intent(word, &fields)?,
        Some("user") => user(word, &fields, names)?,
        Some("console") => console(word, &fields)?,
        _ => return Err(unknown(word)),
    };
    Ok(Event {
        t: fields.number("t")?,
        thread: fields.number("th")?,
        kind,
    })
}

const CALLS: [&str; 7] = [
    "create",
    "poll_start",
    "poll_end",
    "drop",
    "wake",
    "await",
    "unaccounted",
];

fn unknown(word: &str) -> String {
    let abouts = "task_…, resource_…, intent_…, user_… or console_… of docs/validator.md";
    format!(
        "k: \"{word}\" is not one of {}, nor a {abouts}",
        CALLS.join(", ")
    )
}

fn task(word: &str, fields: &Fields<'_>) -> Result<EventKind, String> {
    let kind = match word {
        "task_begin" => TaskEvent::Begin {
            root: fields.number("root")?,
        },
        "task_cloned" => TaskEvent::Cloned,
        "task_dropped" => TaskEvent::Dropped,
        "task_woken" => TaskEvent::Woken,
        "task_end" => TaskEvent::End,
        _ => return Err(unknown(word)),
    };
    let id = fields.number("task")?;
    Ok(EventKind::Task { id, kind })
}

fn of_resource(word: &str, fields: &Fields<'_>) -> Result<EventKind, String> {
    let ticket = || fields.number("ticket");
    let items = || Ok::<u64, String>(fields.optional("items")?.unwrap_or(1));
    let kind = match word {
        "resource_made" => ResourceEvent::Made {
            kind: fields.word("kind", &KINDS)?,
            capacity: fields.optional("capacity")?,
        },
        "resource_wait" => ResourceEvent::Wait(fields.claim()?),
        "resource_taken" => ResourceEvent::Taken(fields.claim()?),
        "resource_left" => ResourceEvent::Left { ticket: ticket()? },
        "resource_released" => ResourceEvent::Released { ticket: ticket()? },
        "resource_put" => ResourceEvent::Put { items: items()? },
        "resource_took" => ResourceEvent::Took { items: items()? },
        "resource_closed" => ResourceEvent::Closed,
        "resource_dropped" => ResourceEvent::Dropped,
        _ => return Err(unknown(word)),
    };
    let id = fields.number("resource")?;
    Ok(EventKind::Resource { id, kind })
}

fn intent(word: &str, fields: &Fields<'_>) -> Result<EventKind, String> {
    let kind = match word {
        "intent_made" => IntentEvent::Made {
            task: fields.number("task")?,
            resource: fields.number("resource")?,
            role: fields.word("role", &ROLES)?,
            strength: fields.word("strength", &STRENGTHS)?,
        },
        "intent_sure" => IntentEvent::Sure,
        "intent_done" => IntentEvent::Done,
        "intent_gone" => IntentEvent::Gone,
        _ => return Err(unknown(word)),
    };
    let id = fields.number("intent")?;
    Ok(EventKind::Intent { id, kind })
}

fn user(word: &str, fields: &Fields<'_>, names: &mut Names) -> Result<EventKind, String> {
    let kind = match word {
        "user_count" => UserEvent::Count {
            by: fields.number("by")?,
        },
        "user_gauge" => {
            let value = fields.0.get("value").unwrap_or(&Value::Null);
            let value = value.as_i64();
            let value = value.ok_or("value: it is not a signed 64-bit integer")?;
            UserEvent::Gauge { value }
        }
        "user_attribute" => UserEvent::Attribute {
            value: names.texts.id(fields.text("value")?),
        },
        _ => return Err(unknown(word)),
    };
    let name = names.texts.id(fields.text("name")?);
    Ok(EventKind::User { name, kind })
}

fn console(word: &str, fields: &Fields<'_>) -> Result<EventKind, String> {
    let task = || fields.number("task");
    let kind = match word {
        "console_connect" => ConsoleEvent::Connect,
        "console_disconnect" => ConsoleEvent::Disconnect,
        "console_query" => ConsoleEvent::Query,
        "console_reply" => ConsoleEvent::Reply {
            calls: fields.number("calls")?,
        },
        "console_arm" => ConsoleEvent::Arm,
        "console_disarm" => ConsoleEvent::Disarm,
        "console_pause" => ConsoleEvent::Pause { task: task()? },
        "console_resume" => ConsoleEvent::Resume { task: task()? },
        _ => return Err(unknown(word)),
    };
    let client = fields.number("client")?;
    Ok(EventKind::Console { client, kind })
}
