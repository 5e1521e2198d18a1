//! A value beside what it borrows from: it goes first, moves nowhere, and sees what becomes of the other.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use turbowish_unsafe::beside::{Beside, Family};

/// Says when it is dropped, in the log that it borrows.
struct Reader<'a> {
    log: &'a Log,
    place: Cell<usize>,
}

struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn say(&self, what: &'static str) {
        self.0.lock().expect("the log").push(what);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.say("owner");
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.log.say("value");
    }
}

struct Readers;

impl Family for Readers {
    type Of<'a> = Reader<'a>;
}

#[test]
fn it_goes_before_what_it_borrows_from() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let owner = Arc::new(Log(said.clone()));
    let mut beside = Beside::<Log, Readers>::new(owner.clone(), |log| Reader {
        log,
        place: Cell::new(0),
    });
    beside.with_pin(|value| value.place.set(std::ptr::from_ref(&*value).addr()));
    drop(owner);
    assert_eq!(Arc::strong_count(beside.owner()), 1);
    let moved = Box::new(beside);
    moved.with(|value| {
        assert_eq!(value.place.get(), std::ptr::from_ref(value).addr());
        value.log.say("still here");
    });
    drop(moved);
    assert_eq!(
        *said.lock().expect("the log"),
        ["still here", "value", "owner"]
    );
}
