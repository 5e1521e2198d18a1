//! The validator: each rule by example, random streams, streams of the mock executor, and what one
//! mistake in such a stream comes to.

mod any;
mod docs;
mod mistakes;
mod rules;
mod streams;

use turbowish_model::event::Event;
use turbowish_testing::validate::{Report, Validator};

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
