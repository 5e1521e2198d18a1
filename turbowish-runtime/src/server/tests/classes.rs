//! Which classes of events are recorded when several connections ask for some.

use std::sync::atomic::Ordering;

use turbowish_model::event::EventClasses;
use turbowish_wire::Action;
use turbowish_wire::client::{ClientError, Connection};

use super::past::recording;
use super::{PATIENCE, Running};

fn classes(text: &str) -> EventClasses {
    EventClasses::parse(text).expect("known words")
}

/// Asks for classes, and checks what is recorded without them, and what is recorded then.
async fn hold(server: &Running, console: &Connection, text: &str, without: &str, all: &str) {
    let action = Action::HoldEvents(classes(text));
    let before = console.controlled(action).await.unwrap().recorded_before;
    assert_eq!(before.map(EventClasses::text).as_deref(), Some(without));
    assert_eq!(recorded(server), all);
}

/// Sets the classes, and checks which were set before, and what is recorded then.
async fn set(server: &Running, console: &Connection, text: &str, before: &str, all: &str) {
    let action = Action::RecordEvents(classes(text));
    let known = console.controlled(action).await.unwrap().recorded_before;
    assert_eq!(known.map(EventClasses::text).as_deref(), Some(before));
    assert_eq!(recorded(server), all);
}

fn recorded(server: &Running) -> String {
    server.source.classes.lock().unwrap().text()
}

/// A connection that has ended is noticed before long.
async fn until(server: &Running, all: &str) {
    let waits = async {
        while recorded(server) != all {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.expect(all);
}

const USUAL: &str = "states,polls,waits,user";
const ALL: &str = "states,polls,waits,user,calls";

#[tokio::test]
async fn what_a_connection_asks_for_ends_with_it_whatever_ends_it() {
    let server = recording(1 << 20, |_| {}).await;
    let console = server.connect().await.unwrap();
    hold(&server, &console, "calls", USUAL, ALL).await;
    hold(&server, &console, "", USUAL, USUAL).await;
    hold(&server, &console, "calls,user", USUAL, ALL).await;
    // Other requests change nothing about it.
    let _ = console
        .control(Action::SetAccounting(Default::default()))
        .await;
    assert_eq!(recorded(&server), ALL);
    drop(console);
    until(&server, USUAL).await;
}

#[tokio::test]
async fn the_last_of_two_recorders_leaves_what_the_other_one_records() {
    let server = recording(1 << 20, |_| {}).await;
    let [one, other] = [server.connect().await, server.connect().await].map(Result::unwrap);
    hold(&server, &one, "calls", USUAL, ALL).await;
    hold(&server, &other, "calls,polls", ALL, ALL).await;
    assert_eq!(server.source.changes.load(Ordering::SeqCst), 1);
    drop(one);
    // The end of the connection is noticed before long.
    let alone = async {
        let ask = || other.controlled(Action::HoldEvents(classes("calls,polls")));
        while ask().await.unwrap().recorded_before != Some(classes(USUAL)) {}
    };
    tokio::time::timeout(PATIENCE, alone).await.expect("alone");
    // What the other one records goes on without a break: the class of calls is not switched.
    hold(&server, &other, "calls", USUAL, ALL).await;
    assert_eq!(server.source.changes.load(Ordering::SeqCst), 1);
    drop(other);
    until(&server, USUAL).await;
}

#[tokio::test]
async fn the_classes_may_be_set_while_a_connection_asks_for_some() {
    let server = recording(1 << 20, |_| {}).await;
    let [one, other] = [server.connect().await, server.connect().await].map(Result::unwrap);
    set(&server, &other, "polls,calls", USUAL, "polls,calls").await;
    set(&server, &other, "polls", "polls,calls", "polls").await;
    hold(&server, &one, "calls", "polls", "polls,calls").await;
    set(&server, &other, "states", "polls", "states,calls").await;
    // Who has set them does not matter when it ends.
    drop(other);
    hold(&server, &one, "user", "states", "states,user").await;
    drop(one);
    until(&server, "states").await;
}

#[tokio::test]
async fn what_is_recorded_is_no_affair_of_who_may_only_read() {
    let server = recording(1 << 20, |config| config.read_only = true).await;
    let console = server.connect().await.unwrap();
    let refused = console.control(Action::HoldEvents(classes("calls"))).await;
    assert!(
        matches!(refused, Err(ClientError::ReadOnly { .. })),
        "{refused:?}"
    );
    let server = Running::start(|_| {}).await;
    let console = server.connect().await.unwrap();
    let refused = console.control(Action::HoldEvents(classes("calls"))).await;
    assert!(
        matches!(refused, Err(ClientError::Refused { .. })),
        "{refused:?}"
    );
}
