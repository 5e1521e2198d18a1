//! JSON of the lists in an alert.

use alloc::string::{String, ToString};

use super::writer::Writer;
use super::{Options, PLACE, fact};
use crate::snapshot::alert::{Alert, BehindWait, Occurrence, Party, Point, Step};

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

pub(super) fn occurrence(out: &mut Writer, time: &Occurrence) {
    out.object(|out| {
        out.number("began_unix_ns", time.began_unix_ns);
        out.number("held_ns", time.held_ns);
        out.number("behind_count", time.behind_count);
    });
}

pub(super) fn behind_wait(out: &mut Writer, wait: &BehindWait) {
    out.object(|out| {
        out.key("at");
        point(out, &wait.at);
        out.number("tasks", wait.tasks);
        out.number("longest_ns", wait.longest_ns);
        out.flag("asleep", wait.asleep);
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
