//! JSON of the relations between tasks and resources.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};

use super::writer::Writer;
use crate::snapshot::{
    Aim, Claim, HolderRow, IntentRow, LongestRow, PauseRow, PollRow, Spot, WaiterRow, WakerRow,
};

pub(super) fn spot(out: &mut Writer, spot: &Spot) {
    out.object(|out| {
        out.text("file", &spot.file);
        out.number("line", spot.line.into());
        out.number("column", spot.column.into());
    });
}

pub(super) fn waker(out: &mut Writer, waker: &WakerRow) {
    out.object(|out| {
        out.optional_text("woken_by", waker.woken_by.as_deref());
        out.optional_text("woken_in", waker.woken_in.as_deref());
        out.number("wakes", waker.wakes);
        out.number("own_wakes", waker.own_wakes);
        out.number("clones", waker.clones);
        out.number("live", waker.live);
    });
}

pub(super) fn pause(out: &mut Writer, pause: &PauseRow) {
    out.object(|out| {
        out.text("by", &pause.by);
        out.optional("left_ns", pause.left_ns);
        out.flag("woken", pause.woken);
        out.number("address", pause.address);
    });
}

pub(super) fn flat_pause(
    name: &str,
    pause: Option<&PauseRow>,
    cell: &mut dyn FnMut(String, String),
) {
    let by = pause.map_or_else(String::new, |pause| pause.by.clone());
    cell([name, ".by"].concat(), by);
    let left = pause.and_then(|pause| pause.left_ns);
    let left = left.map_or_else(String::new, |ns| ns.to_string());
    cell([name, ".left_ns"].concat(), left);
}

pub(super) fn last_poll(out: &mut Writer, poll: &PollRow) {
    out.object(|out| {
        out.number("ago_ns", poll.ago_ns);
        out.optional("took_ns", poll.took_ns);
        out.optional_text("thread", poll.thread.as_deref());
        out.optional("worker", poll.worker.map(u64::from));
        out.optional("ready_ns", poll.ready_ns);
        out.optional_text("ready_by", poll.ready_by.as_deref());
        out.optional_text("ready_in", poll.ready_in.as_deref());
    });
}

pub(super) fn claim(out: &mut Writer, claim: &Claim) {
    out.object(|out| {
        out.number("resource_id", claim.resource_id);
        out.text("resource", &claim.resource);
        out.text("role", claim.role.word());
        out.number("amount", claim.amount);
        out.number("since_ns", claim.since_ns);
        out.key("at");
        spot(out, &claim.at);
    });
}

pub(super) fn aim(out: &mut Writer, aim: &Aim) {
    out.object(|out| {
        out.number("resource_id", aim.resource_id);
        out.text("resource", &aim.resource);
        out.text("role", aim.role.word());
        out.text("proc", &aim.proc);
    });
}

pub(super) fn intent(out: &mut Writer, row: &IntentRow) {
    out.object(|out| {
        out.optional_text("task", row.task.as_deref());
        out.text("role", row.role.word());
        out.text("proc", &row.proc);
    });
}

pub(super) fn holder(out: &mut Writer, row: &HolderRow) {
    out.object(|out| {
        out.optional_text("task", row.task.as_deref());
        out.text("role", row.role.word());
        out.number("amount", row.amount);
        out.number("since_ns", row.since_ns);
        out.key("at");
        spot(out, &row.at);
    });
}

pub(super) fn waiter(out: &mut Writer, row: &WaiterRow) {
    out.object(|out| {
        out.optional_text("task", row.task.as_deref());
        out.text("role", row.role.word());
        out.number("amount", row.amount);
        out.number("since_ns", row.since_ns);
        out.key("at");
        spot(out, &row.at);
        out.optional("woken_ns", row.woken_ns);
    });
}

pub(super) fn longest(out: &mut Writer, row: &LongestRow) {
    out.object(|out| {
        out.number("took_ns", row.took_ns);
        out.number("ago_ns", row.ago_ns);
        out.text("role", row.role.word());
        out.optional_text("task", row.task.as_deref());
        out.text("proc", &row.proc);
        out.key("at");
        match &row.at {
            Some(at) => spot(out, at),
            None => out.null(),
        }
        out.optional_text("on", row.on.as_deref());
        out.optional_text("behind", row.behind.as_deref());
    });
}

pub(super) fn flat_longest(
    name: &str,
    row: Option<&LongestRow>,
    cell: &mut dyn FnMut(String, String),
) {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let number = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let mut each = |field: &str, value| cell([name, ".", field].concat(), value);
    each("took_ns", number(row.map(|row| row.took_ns)));
    each("ago_ns", number(row.map(|row| row.ago_ns)));
    each("role", text(row.map(|row| row.role.word())));
    each("task", text(row.and_then(|row| row.task.as_deref())));
    each("proc", text(row.map(|row| row.proc.as_str())));
    each("on", text(row.and_then(|row| row.on.as_deref())));
    each("behind", text(row.and_then(|row| row.behind.as_deref())));
    let at = row.and_then(|row| row.at.as_ref());
    flat_spot(&[name, ".at"].concat(), at, cell);
}

/// Writes attributes as one object. Of two with the same name the later one is used, as in every
/// JSON reader.
pub(super) fn attributes(out: &mut Writer, pairs: &[(String, String)]) {
    out.object(|out| {
        for (at, (name, value)) in pairs.iter().enumerate() {
            if !pairs[at + 1..].iter().any(|(later, _)| later == name) {
                out.text(name, value);
            }
        }
    });
}

pub(super) fn flat_spot(name: &str, spot: Option<&Spot>, cell: &mut dyn FnMut(String, String)) {
    let number = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
    let file = spot.map_or_else(String::new, |spot| spot.file.clone());
    cell([name, ".file"].concat(), file);
    cell([name, ".line"].concat(), number(spot.map(|spot| spot.line)));
    cell(
        [name, ".column"].concat(),
        number(spot.map(|spot| spot.column)),
    );
}

pub(super) fn flat_waker(
    name: &str,
    waker: Option<&WakerRow>,
    cell: &mut dyn FnMut(String, String),
) {
    let by = waker.and_then(|waker| waker.woken_by.clone());
    cell([name, ".woken_by"].concat(), by.unwrap_or_default());
    let calls = waker.and_then(|waker| waker.woken_in.clone());
    cell([name, ".woken_in"].concat(), calls.unwrap_or_default());
    let mut count = |key: &str, n: Option<u64>| {
        let text = n.map_or_else(String::new, |n| n.to_string());
        cell([name, key].concat(), text);
    };
    count(".wakes", waker.map(|waker| waker.wakes));
    count(".own_wakes", waker.map(|waker| waker.own_wakes));
    count(".clones", waker.map(|waker| waker.clones));
    count(".live", waker.map(|waker| waker.live));
}

pub(super) fn flat_poll(name: &str, poll: Option<&PollRow>, cell: &mut dyn FnMut(String, String)) {
    let mut number = |key: &str, n: Option<u64>| {
        let text = n.map_or_else(String::new, |n| n.to_string());
        cell([name, key].concat(), text);
    };
    number(".ago_ns", poll.map(|poll| poll.ago_ns));
    number(".took_ns", poll.and_then(|poll| poll.took_ns));
    number(".worker", poll.and_then(|poll| poll.worker).map(u64::from));
    number(".ready_ns", poll.and_then(|poll| poll.ready_ns));
    let mut text = |key: &str, text: Option<&String>| {
        cell([name, key].concat(), text.cloned().unwrap_or_default());
    };
    text(".thread", poll.and_then(|poll| poll.thread.as_ref()));
    text(".ready_by", poll.and_then(|poll| poll.ready_by.as_ref()));
    text(".ready_in", poll.and_then(|poll| poll.ready_in.as_ref()));
}
