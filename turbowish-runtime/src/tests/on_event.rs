//! Callbacks get what the recorder gets, and hold up nobody.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, SystemTime};

use super::classes::{HOLD, program};
use super::stage::alone;
use crate::hot::thread;
use crate::monitor::Monitor;
use crate::on_event::{self, Heard, HeardEvent, RecordedEvent, RecordedKind};
use crate::server::Source;

/// An event of the program's own, as a callback gets it: a number and the batch that it was in.
fn heard(value: i64) -> HeardEvent {
    HeardEvent {
        thread: 1,
        at_unix_ns: 5,
        took_ns: 0,
        task: 0,
        what: Heard::User {
            site: u32::MAX,
            values: [value; 4],
        },
    }
}

#[test]
fn callbacks_get_polls_holds_and_events_with_their_names() {
    let _alone = alone();
    let monitor = Monitor::new("heard".to_owned());
    thread::keep_polls(256, None);
    drop((thread::take_polls(), thread::take_call_logs()));
    monitor.arm();
    let (sender, events) = channel();
    crate::on_event(move |event: &RecordedEvent<'_>| {
        let RecordedEvent {
            kind,
            name,
            took,
            task,
            values,
            count,
            ..
        } = *event;
        let told = (
            kind,
            name.to_owned(),
            took,
            task != 0,
            values.to_vec(),
            count,
        );
        sender.send(told).expect("it is awaited");
    });
    std::thread::spawn(program).join().expect("no panic");
    drop(monitor.polls());
    on_event::end();
    let all: Vec<_> = events.try_iter().collect();
    let root = crate::hot::proc::all()[HOLD.id().expect("a number") as usize]
        .path
        .to_string();
    let seven = Duration::from_millis(7);
    let none = Duration::ZERO;
    let expected = [
        (RecordedKind::Poll, root.clone(), none, true, vec![], 1),
        (RecordedKind::Poll, root, seven, true, vec![], 1),
        (
            RecordedKind::User,
            "held".to_owned(),
            none,
            true,
            vec![("times", 3), ("of", -1)],
            1,
        ),
        (
            RecordedKind::Hold,
            "lock".to_owned(),
            seven,
            true,
            vec![],
            1,
        ),
    ];
    assert_eq!(all, expected);
    thread::keep_polls(0, None);
    monitor.disarm();
}

#[test]
fn a_callback_that_panics_is_not_called_again_and_others_are() {
    let _alone = alone();
    let (sender, calls) = channel();
    let other = sender.clone();
    crate::on_event(move |_: &RecordedEvent<'_>| {
        sender.send("panics").expect("it is awaited");
        panic!("a test wants it");
    });
    crate::on_event(move |_: &RecordedEvent<'_>| other.send("goes on").expect("it is awaited"));
    on_event::pass(vec![heard(1)]);
    on_event::pass(vec![heard(2)]);
    on_event::end();
    let all: Vec<_> = calls.iter().collect();
    assert_eq!(all, ["panics", "goes on", "goes on"]);
    // Nobody is called any more.
    on_event::pass(vec![heard(3)]);
    assert!(!on_event::is_heard());
}

/// Adds a callback that has an event, and blocks in it until what is returned first is dropped.
/// Then come: that a call has begun, and what it tells of its event.
fn blocked<T: Send + 'static>(
    told: impl Fn(&RecordedEvent<'_>) -> T + Send + 'static,
) -> (Sender<()>, Receiver<()>, Receiver<T>) {
    let (go_on, blocked): (Sender<()>, Receiver<()>) = channel();
    let (begun, has_begun) = channel();
    let (sender, events) = channel();
    crate::on_event(move |event: &RecordedEvent<'_>| {
        let _ = begun.send(());
        // Until the test lets it go on, and from then on at once.
        let _ = blocked.recv();
        sender.send(told(event)).expect("it is awaited");
    });
    on_event::pass(vec![heard(0)]);
    has_begun.recv().expect("it is called");
    (go_on, has_begun, events)
}

/// Whoever passes events on never waits: what finds no room is counted and told.
#[test]
fn a_callback_that_blocks_holds_up_nobody() {
    let _alone = alone();
    let (go_on, has_begun, events) = blocked(|event| (event.kind, event.count));
    // One is with the callback, 64 wait, and these have no room.
    for nth in 0..64 + 10 {
        on_event::pass(vec![heard(nth), heard(nth)]);
    }
    drop(go_on);
    // All that found room has begun.
    (0..64 * 2).for_each(|_| has_begun.recv().expect("it is called"));
    on_event::pass(vec![heard(99)]);
    on_event::end();
    let all: Vec<_> = events.iter().collect();
    assert_eq!(all.len(), 1 + 64 * 2 + 2);
    let last = [(RecordedKind::Lost, 20), (RecordedKind::User, 1)];
    assert_eq!(all[all.len() - 2..], last);
}

/// What the thread was never passed an event for is dropped with the rest.
#[test]
fn the_end_drops_callbacks_that_were_never_called() {
    let _alone = alone();
    let (sender, events) = channel::<u8>();
    crate::on_event(move |_: &RecordedEvent<'_>| sender.send(1).expect("it is awaited"));
    on_event::end();
    assert_eq!(events.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn the_end_drops_callbacks_that_were_called() {
    let _alone = alone();
    let (sender, events) = channel();
    crate::on_event(move |_: &RecordedEvent<'_>| sender.send(1).expect("it is awaited"));
    on_event::pass(vec![heard(1)]);
    on_event::end();
    assert_eq!(events.try_recv(), Ok(1));
    assert_eq!(events.try_recv(), Err(TryRecvError::Disconnected));
}

/// Panics when it is dropped, with a payload that does so too.
struct PanicsAtDrop(Sender<&'static str>);

impl Drop for PanicsAtDrop {
    fn drop(&mut self) {
        self.0.send("dropped").expect("it is awaited");
        std::panic::panic_any(PanicsAtDrop(self.0.clone()));
    }
}

#[test]
fn a_callback_whose_drop_panics_ends_no_other_one() {
    let _alone = alone();
    let (sender, calls) = channel();
    let (other, owned) = (sender.clone(), PanicsAtDrop(sender.clone()));
    crate::on_event(move |_: &RecordedEvent<'_>| {
        std::panic::panic_any(PanicsAtDrop(owned.0.clone()));
    });
    crate::on_event(move |_: &RecordedEvent<'_>| other.send("goes on").expect("it is awaited"));
    on_event::pass(vec![heard(1)]);
    on_event::pass(vec![heard(2)]);
    on_event::end();
    let all: Vec<_> = calls.try_iter().collect();
    // The payload of the panic, and the callback; what these panic with is not dropped.
    assert_eq!(all, ["dropped", "dropped", "goes on", "goes on"]);
}

/// The queue has a limit in events, too; those that are still to be told of at the end are.
#[test]
fn few_large_batches_are_left_out_as_many_small_ones() {
    const MOST: u64 = 256 << 10;
    let _alone = alone();
    let (go_on, _, events) = blocked(|event| (event.kind, event.at, event.thread, event.count));
    let before = SystemTime::now();
    on_event::pass(vec![heard(1); MOST as usize + 10]);
    on_event::pass(vec![heard(2); 7]);
    drop(go_on);
    on_event::end();
    let all: Vec<_> = events.iter().collect();
    let users = all.iter().filter(|event| event.0 == RecordedKind::User);
    assert_eq!(users.count() as u64, MOST);
    assert_eq!(all.len() as u64, MOST + 1);
    // Not the thread and the time of an event that has nothing to do with it.
    let (kind, at, thread, count) = all[all.len() - 1];
    assert_eq!((kind, thread, count), (RecordedKind::Lost, 0, 11 + 7));
    assert!(at >= before, "{at:?}");
}
