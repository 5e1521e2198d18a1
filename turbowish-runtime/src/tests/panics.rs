//! Messages of panics belong to the task that ended with them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Waker};

use turbowish_macros::instrument;

use super::stage::alone;
use crate::hot::{switch, task};
use crate::record_panics;

#[instrument]
async fn fails(text: &str) {
    panic!("{text}");
}

/// Has a panic of its own, and ends with the payload of another one, which calls no hook.
#[instrument]
async fn passes_on() {
    resume_unwind(Box::new("from elsewhere"));
}

#[instrument]
async fn recovers() {
    let caught = catch_unwind(|| panic!("was caught"));
    assert!(caught.is_err(), "the closure panics");
}

/// Polls a task once, which may panic.
fn poll(task: impl Future<Output = ()>) {
    let mut task = pin!(task);
    let mut context = Context::from_waker(Waker::noop());
    let polled = AssertUnwindSafe(|| task.as_mut().poll(&mut context));
    let _ = catch_unwind(polled);
}

/// Messages of the tasks that have panicked on this thread, the last two of them.
fn messages() -> [Option<String>; 2] {
    let ended = task::ended();
    let mut last = ended.into_iter().rev().take(2);
    std::array::from_fn(|_| last.next()?.note?.message)
}

#[test]
fn a_task_has_the_message_of_its_own_panic() {
    let _alone = alone();
    switch::arm().expect("accounting was off");
    poll(fails("before the hook"));
    assert_eq!(messages()[0], None);
    record_panics();
    record_panics();
    poll(fails(&"é".repeat(201)));
    poll(fails("no such host\n"));
    let [last, long] = messages();
    assert_eq!(last.as_deref(), Some("no such host\\n"));
    assert_eq!(long, Some("é".repeat(200)));
    // What one task has caught is not what another one ends with.
    poll(recovers());
    poll(passes_on());
    assert_eq!(messages()[0], None);
    let note = task::ended().into_iter().rev().find_map(|ended| ended.note);
    let place = note.and_then(|note| note.place).expect("the hook was told");
    assert!(place.file.ends_with("panics.rs"), "{place:?}");
    switch::disarm();
}
