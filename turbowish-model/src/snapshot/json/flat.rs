//! Rows without nested values, for CSV: a cell each for the parts of a value.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{FieldValue, Options, PLACE, Record, alerts, claims};
use crate::snapshot::StackRow;
use crate::snapshot::tasks::leaf;

/// Header of flat rows: field names; those of nested objects are joined by a point.
///
/// A population has `.n`, `.sum_ns`, `.max_ns` and its percentiles. A stack is reduced to its
/// innermost call: `at.proc`, `at.file`, …. Names in lists of resources, tasks and attributes share
/// one cell, joined by `, `; sentences are joined by `; `. The callers of a proc and the steps of
/// an alert are omitted.
#[must_use]
pub fn flat_header<R: Record>(shape: &Options) -> Vec<String> {
    let row = R::default();
    let mut header = Vec::new();
    flat(&row, shape, &mut |name, _| header.push(name));
    header
}

/// One flat row in the order of [`flat_header`]; missing values are empty.
#[must_use]
pub fn flat_row<R: Record>(row: &R, shape: &Options) -> Vec<String> {
    let mut cells = Vec::new();
    flat(row, shape, &mut |_, cell| cells.push(cell));
    cells
}

fn flat<R: Record>(row: &R, shape: &Options, cell: &mut dyn FnMut(String, String)) {
    row.each_field(&mut |name, value: FieldValue<'_>| {
        if shape.keeps(name) {
            flat_value(name, value, shape, cell);
        }
    });
}

fn flat_value(
    name: &str,
    value: FieldValue<'_>,
    shape: &Options,
    cell: &mut dyn FnMut(String, String),
) {
    match value {
        FieldValue::Population(population) => {
            let mut inner = |key: &str, value: Option<u64>| {
                cell(
                    [name, ".", key].concat(),
                    value.map_or_else(String::new, |n| n.to_string()),
                );
            };
            inner("n", Some(population.n));
            inner("sum_ns", Some(population.sum_ns));
            inner("max_ns", Some(population.max_ns));
            for q in &shape.percentiles {
                inner(&q.name(), population.percentile(*q));
            }
        }
        FieldValue::Stack(calls) => innermost(leaf(calls), cell),
        FieldValue::Callers(_)
        | FieldValue::Steps(_)
        | FieldValue::Occurrences(_)
        | FieldValue::BehindWaits(_) => {}
        FieldValue::Point(point) => alerts::flat_point(name, point, cell),
        FieldValue::Spot(spot) => claims::flat_spot(name, spot, cell),
        FieldValue::Waker(waker) => claims::flat_waker(name, waker, cell),
        FieldValue::LastPoll(poll) => claims::flat_poll(name, poll, cell),
        FieldValue::Longest(row) => claims::flat_longest(name, row, cell),
        FieldValue::Pause(pause) => claims::flat_pause(name, pause, cell),
        plain => cell(name.to_string(), plain.to_string()),
    }
}

fn innermost(call: Option<&StackRow>, cell: &mut dyn FnMut(String, String)) {
    let proc = call.map_or_else(String::new, |call| call.proc.clone());
    cell("at.proc".to_string(), proc);
    let place = call.and_then(|call| call.place.as_ref());
    for (name, fact) in PLACE {
        let text = place.map_or_else(String::new, |at| fact(at).to_string());
        cell(["at.", name].concat(), text);
    }
    let since = call.map_or_else(String::new, |call| call.since_ns.to_string());
    cell("at.since_ns".to_string(), since);
}
