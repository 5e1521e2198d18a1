//! Streams of events as files: what is written is read back, and what is not in the format is refused with its place.
#![allow(
    dead_code,
    reason = "each of the tests and the example that include it takes its part"
)]

use serde_json::{Map, Value, json};
use turbowish_model::account::call::PollEnd;
use turbowish_model::account::resource;
use turbowish_model::account::resource::Role;
use turbowish_model::diagnose::situation::Strength;
use turbowish_model::replay::Kind;
use turbowish_model::validate::{
    Claim, ConsoleEvent, Event, EventKind, IntentEvent, ResourceEvent, TaskEvent, UserEvent,
};

use super::check::{array, call_event, number, object, text};

/// The version of the format that is understood.
pub(crate) const FORMAT: &str = "turbowish-events/1";
const VECTORS: &str = "turbowish-occupancy-vectors/1";

/// A stream with its name, if the file gives it one.
pub(crate) struct Stream {
    pub(crate) name: Option<String>,
    pub(crate) events: Vec<Event>,
}

/// Reads a file of one stream, or a file of occupancy vectors.
pub(crate) fn read(file: &str) -> Result<Vec<Stream>, String> {
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
        let events = events(file.get("events"))?;
        return Ok(vec![Stream { name: None, events }]);
    }
    let vectors = array(file.get("vectors"), "vectors")?.iter().enumerate();
    vectors.map(|(nth, vector)| stream(vector, nth)).collect()
}

fn stream(vector: &Value, nth: usize) -> Result<Stream, String> {
    let unnamed = format!("vector number {}", nth + 1);
    let vector = object(vector, &unnamed)?;
    let name = text(vector.get("name"), "name").map_err(|error| format!("{unnamed}: {error}"))?;
    let events = events(vector.get("events"));
    Ok(Stream {
        name: Some(name.to_owned()),
        events: events.map_err(|error| format!("vector {name}: {error}"))?,
    })
}

fn events(value: Option<&Value>) -> Result<Vec<Event>, String> {
    let numbered = array(value, "events")?.iter().enumerate();
    let place = |nth: usize| move |error: String| format!("event number {}: {error}", nth + 1);
    numbered
        .map(|(nth, value)| event(value).map_err(place(nth)))
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

    fn claim(&self) -> Result<Claim, String> {
        Ok(Claim {
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
const KINDS: [(&str, resource::Kind); 11] = [
    ("mutex", resource::Kind::Mutex),
    ("rwlock", resource::Kind::RwLock),
    ("semaphore", resource::Kind::Semaphore),
    ("barrier", resource::Kind::Barrier),
    ("notify", resource::Kind::Notify),
    ("once_cell", resource::Kind::OnceCell),
    ("mpsc", resource::Kind::Mpsc),
    ("oneshot", resource::Kind::Oneshot),
    ("broadcast", resource::Kind::Broadcast),
    ("watch", resource::Kind::Watch),
    ("timer", resource::Kind::Timer),
];
const STRENGTHS: [(&str, Strength); 2] = [("will", Strength::Will), ("may", Strength::May)];

fn event(value: &Value) -> Result<Event, String> {
    let fields = Fields(object(value, "the event")?);
    let word = fields.text("k")?;
    let act = match word.split_once('_').map(|(about, _)| about) {
        _ if CALLS.contains(&word) => return call_event(value).map(Event::from),
        Some("task") => task(word, &fields)?,
        Some("resource") => of_resource(word, &fields)?,
        Some("intent") => intent(word, &fields)?,
        Some("user") => user(word, &fields)?,
        Some("console") => console(word, &fields)?,
        _ => return Err(unknown(word)),
    };
    Ok(Event {
        t: fields.number("t")?,
        thread: fields.number("th")?,
        act,
    })
}

const CALLS: [&str; 5] = ["create", "poll_start", "poll_end", "drop", "wake"];

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

fn user(word: &str, fields: &Fields<'_>) -> Result<EventKind, String> {
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
            value: fields.text("value")?.to_owned(),
        },
        _ => return Err(unknown(word)),
    };
    let name = fields.text("name")?.to_owned();
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

/// A stream as it stands in a file, an event a line.
pub(crate) fn written(events: &[Event]) -> String {
    let mut file = format!("{{\"format\": \"{FORMAT}\", \"events\": [");
    for (nth, event) in events.iter().enumerate() {
        file.push_str(if nth == 0 { "\n" } else { ",\n" });
        file.push_str(&line(event).to_string());
    }
    file.push_str("\n]}\n");
    file
}

fn line(event: &Event) -> Value {
    let (word, fields) = match &event.act {
        EventKind::Call { id, kind } => of_call(*id, kind),
        EventKind::Task { id, kind } => {
            let (word, root) = match kind {
                TaskEvent::Begin { root } => ("task_begin", Some(*root)),
                TaskEvent::Cloned => ("task_cloned", None),
                TaskEvent::Dropped => ("task_dropped", None),
                TaskEvent::Woken => ("task_woken", None),
                TaskEvent::End => ("task_end", None),
            };
            (word, json!({"task": id, "root": root}))
        }
        EventKind::Resource { id, kind } => resource_line(*id, kind),
        EventKind::Intent { id, kind } => match kind {
            IntentEvent::Made {
                task,
                resource,
                role,
                strength,
            } => {
                let strength = named(&STRENGTHS, *strength);
                let role = role.word();
                let fields = json!({"intent": id, "task": task, "resource": resource, "role": role, "strength": strength});
                ("intent_made", fields)
            }
            IntentEvent::Sure => ("intent_sure", json!({"intent": id})),
            IntentEvent::Done => ("intent_done", json!({"intent": id})),
            IntentEvent::Gone => ("intent_gone", json!({"intent": id})),
        },
        EventKind::User { name, kind } => match kind {
            UserEvent::Count { by } => ("user_count", json!({"name": name, "by": by})),
            UserEvent::Gauge { value } => ("user_gauge", json!({"name": name, "value": value})),
            UserEvent::Attribute { value } => {
                ("user_attribute", json!({"name": name, "value": value}))
            }
        },
        EventKind::Console { client, kind } => console_line(*client, *kind),
    };
    let mut line = json!({"t": event.t, "th": event.thread, "k": word});
    for (field, value) in fields.as_object().into_iter().flatten() {
        if !value.is_null() {
            line[field] = value.clone();
        }
    }
    line
}

fn of_call(id: u64, kind: &Kind) -> (&'static str, Value) {
    match kind {
        Kind::Create(proc) => ("create", json!({"id": id, "proc": proc})),
        Kind::PollStart { proc, root } => {
            let root = root.then_some(true);
            ("poll_start", json!({"id": id, "proc": proc, "root": root}))
        }
        Kind::PollEnd(end) => {
            let end = match end {
                PollEnd::Pending => "pending",
                PollEnd::Ready | PollEnd::Err => "ready",
                PollEnd::Panic => "panic",
                PollEnd::Torn => "drop",
            };
            ("poll_end", json!({"id": id, "r": end}))
        }
        Kind::Drop => ("drop", json!({"id": id})),
        Kind::Wake => ("wake", json!({"id": id})),
    }
}

fn resource_line(id: u64, kind: &ResourceEvent) -> (&'static str, Value) {
    let claim = |claim: &Claim| {
        let role = claim.role.word();
        json!({"resource": id, "ticket": claim.ticket, "task": claim.task, "role": role, "amount": claim.amount})
    };
    let ticket = |ticket: &u64| json!({"resource": id, "ticket": ticket});
    let items = |items: &u64| json!({"resource": id, "items": items});
    match kind {
        ResourceEvent::Made { kind, capacity } => {
            let kind = kind.word();
            let fields = json!({"resource": id, "kind": kind, "capacity": capacity});
            ("resource_made", fields)
        }
        ResourceEvent::Wait(of) => ("resource_wait", claim(of)),
        ResourceEvent::Taken(of) => ("resource_taken", claim(of)),
        ResourceEvent::Left { ticket: of } => ("resource_left", ticket(of)),
        ResourceEvent::Released { ticket: of } => ("resource_released", ticket(of)),
        ResourceEvent::Put { items: of } => ("resource_put", items(of)),
        ResourceEvent::Took { items: of } => ("resource_took", items(of)),
        ResourceEvent::Closed => ("resource_closed", json!({"resource": id})),
        ResourceEvent::Dropped => ("resource_dropped", json!({"resource": id})),
    }
}

fn console_line(client: u64, kind: ConsoleEvent) -> (&'static str, Value) {
    let (word, task, calls) = match kind {
        ConsoleEvent::Connect => ("console_connect", None, None),
        ConsoleEvent::Disconnect => ("console_disconnect", None, None),
        ConsoleEvent::Query => ("console_query", None, None),
        ConsoleEvent::Reply { calls } => ("console_reply", None, Some(calls)),
        ConsoleEvent::Arm => ("console_arm", None, None),
        ConsoleEvent::Disarm => ("console_disarm", None, None),
        ConsoleEvent::Pause { task } => ("console_pause", Some(task), None),
        ConsoleEvent::Resume { task } => ("console_resume", Some(task), None),
    };
    (
        word,
        json!({"client": client, "task": task, "calls": calls}),
    )
}

fn named<T: PartialEq>(words: &[(&'static str, T)], value: T) -> Option<&'static str> {
    let found = words.iter().find(|(_, known)| *known == value);
    found.map(|(word, _)| *word)
}
