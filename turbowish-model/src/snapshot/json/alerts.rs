//! JSON fields of an alert, and the lists in them.

use alloc::string::{String, ToString};

use super::fields::{Field, FieldValue, Record};
use super::writer::Writer;
use super::{Options, PLACE, fact};
use crate::snapshot::alert::{Alert, Party, PartyKind, Point, Step};

static ALERTS: [Field<Alert>; 18] = [
    Field::new("kind", "which: the name of its page", |row| {
        FieldValue::Text(row.pitfall.id())
    }),
    Field::new("severity", "alert, warning or note", |row| {
        FieldValue::Text(row.severity.word())
    }),
    Field::new("title", "the whole of it in a sentence", |row| {
        FieldValue::Text(&row.title)
    }),
    Field::new("summary", "what it is, in a few words", |row| {
        FieldValue::Text(&row.summary)
    }),
    Field::new("since_ns", "how long it has held", |row| {
        FieldValue::Number(row.held_ns)
    }),
    Field::new(
        "began_ns",
        "when it began, on the process's own clock; the same in every snapshot",
        |row| FieldValue::Number(row.since),
    ),
    Field::new("holds", "whether it was seen in the last scan", |row| {
        FieldValue::Flag(row.holds)
    }),
    Field::new("certain", "whether it follows from what is known", |row| {
        FieldValue::Flag(row.certain)
    }),
    Field::new("tasks", "names of its tasks, in order", |row| {
        FieldValue::Names(row.named(PartyKind::Task))
    }),
    Field::new("resources", "names of its resources, in order", |row| {
        FieldValue::Names(row.named(PartyKind::Resource))
    }),
    Field::new("parties", "all who are involved: kind, id, name", |row| {
        FieldValue::Parties(&row.parties)
    }),
    Field::new(
        "at",
        "the await point that it is about, and its proc",
        |row| FieldValue::Point(row.at.as_ref()),
    ),
    Field::new(
        "steps",
        "the chain of waits: task, at, since_ns, on, how",
        |row| FieldValue::Steps(row),
    ),
    Field::new("behind", "tasks that wait because of it", |row| {
        FieldValue::Parties(&row.behind.tasks)
    }),
    Field::new("behind_count", "how many there are", |row| {
        FieldValue::Number(row.behind_count())
    }),
    Field::new("why", "the reason", |row| FieldValue::Text(&row.why)),
    Field::new("fixes", "what can be done, each on its own", |row| {
        FieldValue::Texts(&row.fixes)
    }),
    Field::new("docs", "the command that explains it", |row| {
        FieldValue::Text(row.pitfall.docs())
    }),
];

impl Record for Alert {
    fn fields() -> &'static [Field<Self>] {
        &ALERTS
    }
}

pub(super) fn party(out: &mut Writer, party: &Party) {
    out.object(|out| {
        out.text("kind", party.kind.word());
        // Workers and procs have no id.
        out.optional("id", (party.id != 0).then_some(party.id));
        out.text("name", &party.name);
    });
}

pub(super) fn point(out: &mut Writer, point: &Point) {
    out.object(|out| {
        out.text("proc", &point.proc);
        for (name, read) in PLACE {
            out.key(name);
            match &point.place {
                None => out.null(),
                Some(place) => fact(out, &read(place), &Options::default()),
            }
        }
    });
}

pub(super) fn steps(out: &mut Writer, alert: &Alert) {
    out.array(&alert.steps, |out, step: &Step| {
        out.object(|out| {
            out.key("task");
            party(out, &step.task);
            out.key("at");
            point(out, &step.point);
            out.number("since_ns", alert.age(step.since));
            out.key("on");
            party(out, &step.on);
            out.text("how", &step.how);
        });
    });
}

/// `at.proc`, `at.file`, …
pub(super) fn flat_point(name: &str, point: Option<&Point>, cell: &mut dyn FnMut(String, String)) {
    let proc = point.map_or_else(String::new, |point| point.proc.clone());
    cell([name, ".proc"].concat(), proc);
    let place = point.and_then(|point| point.place.as_ref());
    for (key, read) in PLACE {
        let text = place.map_or_else(String::new, |at| read(at).to_string());
        cell([name, ".", key].concat(), text);
    }
}
