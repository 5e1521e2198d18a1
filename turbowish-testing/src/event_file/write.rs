//! Writing of event streams.

use serde_json::{Value, json};
use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{
    CallEvent, ConsoleEvent, Event, EventKind, IntentEvent, ResourceClaim, ResourceEvent,
    TaskEvent, UserEvent,
};

use super::{FORMAT, STRENGTHS};
use crate::names::Names;

/// The file of a stream, an event a line. `names` has the names that its events refer to.
#[must_use]
pub fn write(events: &[Event], names: &Names) -> String {
    let mut file = format!("{{\"format\": \"{FORMAT}\", \"events\": [");
    for (nth, event) in events.iter().enumerate() {
        file.push_str(if nth == 0 { "\n" } else { ",\n" });
        file.push_str(&line(event, names).to_string());
    }
    file.push_str("\n]}\n");
    file
}

fn line(event: &Event, names: &Names) -> Value {
    let (word, fields) = match event.kind {
        EventKind::Call { id, kind } => of_call(id, kind, names),
        EventKind::Task { id, kind } => {
            let (word, root) = match kind {
                TaskEvent::Begin { root } => ("task_begin", Some(root)),
                TaskEvent::Cloned => ("task_cloned", None),
                TaskEvent::Dropped => ("task_dropped", None),
                TaskEvent::Woken => ("task_woken", None),
                TaskEvent::End => ("task_end", None),
            };
            (word, json!({"task": id, "root": root}))
        }
        EventKind::Resource { id, kind } => resource_line(id, kind),
        EventKind::Intent { id, kind } => match kind {
            IntentEvent::Made {
                task,
                resource,
                role,
                strength,
            } => {
                let strength = named(&STRENGTHS, strength);
                let role = role.word();
                let fields = json!({"intent": id, "task": task, "resource": resource, "role": role, "strength": strength});
                ("intent_made", fields)
            }
            IntentEvent::Sure => ("intent_sure", json!({"intent": id})),
            IntentEvent::Done => ("intent_done", json!({"intent": id})),
            IntentEvent::Gone => ("intent_gone", json!({"intent": id})),
        },
        EventKind::User { name, kind } => user_line(names.texts.name(name), kind, names),
        EventKind::Console { client, kind } => console_line(client, kind),
    };
    let mut line = json!({"t": event.t, "th": event.thread, "k": word});
    for (field, value) in fields.as_object().into_iter().flatten() {
        if !value.is_null() {
            line[field] = value.clone();
        }
    }
    line
}

fn of_call(id: u64, kind: CallEvent, names: &Names) -> (&'static str, Value) {
    match kind {
        CallEvent::Create { proc } => {
            let proc = names.procs.name(proc);
            ("create", json!({"id": id, "proc": proc}))
        }
        CallEvent::PollStart { proc, root } => {
            let proc = proc.map(|proc| names.procs.name(proc));
            let root = root.then_some(true);
            ("poll_start", json!({"id": id, "proc": proc, "root": root}))
        }
        CallEvent::PollEnd(end) => {
            let end = match end {
                PollEnd::Pending => "pending",
                PollEnd::Ready | PollEnd::Err => "ready",
                PollEnd::Panic => "panic",
                PollEnd::Torn => "drop",
            };
            ("poll_end", json!({"id": id, "r": end}))
        }
        CallEvent::Drop => ("drop", json!({"id": id})),
        CallEvent::Wake => ("wake", json!({"id": id})),
        CallEvent::Await { proc, site, direct } => {
            let proc = names.procs.name(proc);
            let fields = json!({"id": id, "proc": proc, "site": site, "direct": direct});
            ("await", fields)
        }
        CallEvent::Unaccounted => ("unaccounted", json!({"id": id})),
    }
}

fn resource_line(id: u64, kind: ResourceEvent) -> (&'static str, Value) {
    let claim = |claim: ResourceClaim| {
        let role = claim.role.word();
        json!({"resource": id, "ticket": claim.ticket, "task": claim.task, "role": role, "amount": claim.amount})
    };
    let ticket = |ticket: u64| json!({"resource": id, "ticket": ticket});
    let items = |items: u64| json!({"resource": id, "items": items});
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

fn user_line(name: &str, kind: UserEvent, names: &Names) -> (&'static str, Value) {
    match kind {
        UserEvent::Count { by } => ("user_count", json!({"name": name, "by": by})),
        UserEvent::Gauge { value } => ("user_gauge", json!({"name": name, "value": value})),
        UserEvent::Attribute { value } => {
            let value = names.texts.name(value);
            ("user_attribute", json!({"name": name, "value": value}))
        }
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
