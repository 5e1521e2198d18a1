//! The validator: each rule by example, random streams, streams of the mock executor, and what one mistake in such a stream comes to.

mod any;
#[path = "../check/mod.rs"]
mod check;
mod docs;
mod mistakes;
#[path = "../mock/mod.rs"]
mod mock;
mod rules;
mod streams;
#[path = "../written/mod.rs"]
mod written;

use turbowish_model::validate::{Event, Report, Validator};

/// What is reported of a stream.
fn reports(events: &[Event]) -> Vec<Report> {
    let mut validator = Validator::default();
    let mut reports = Vec::new();
    for event in events {
        validator.event(event, &mut |report| reports.push(report));
    }
    let told: u64 = validator.broken().map(|(_, count)| count).sum();
    assert_eq!(told, reports.len() as u64);
    assert_eq!(
        (validator.events(), validator.unseen()),
        (events.len() as u64, 0)
    );
    reports
}
