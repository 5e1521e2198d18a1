//! The first and the last thing in a task's poll: the waker that it is given, the row that it gets, where it stands after it.

use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use turbowish_model::call::PollEnd;
use turbowish_model::ledger::Charge;
use turbowish_model::task::Readied;

use super::{Life, leave_task};
use crate::node::Late;
use crate::task::{self, Live, Newcomer, Task};
use crate::thread::ThreadLedger;
use crate::{clock, root, thread};

/// The waker that a poll is given.
pub(super) enum Given<'a> {
    /// The caller's.
    AsItCame,
    /// That of the task which the call is the root of, or of the branch that it is.
    OfTask,
    /// The same in its first poll. Given up in [`end`](super::end), so that a poll has nothing else
    /// to do after it.
    Late(ManuallyDrop<Newcomer<'a>>),
    /// The same in a later poll, while nothing of the task has a clone of the executor's waker.
    Again(ManuallyDrop<Late<'a, Live>>),
}

impl<'a> Given<'a> {
    /// That of `task`, in a poll with the executor's `waker`.
    pub(super) fn of(task: &Task, fits: bool, waker: &'a Waker) -> Self {
        match fits {
            true => Self::OfTask,
            false => Self::Again(ManuallyDrop::new(task.late(waker))),
        }
    }
}

/// The poll of a task's root is open. Returns the waker that it is given.
#[inline(never)]
pub(super) fn open_root<'a>(
    thread: &ThreadLedger,
    life: &mut Life,
    (epoch, bytes): (u32, usize),
    waker: &'a Waker,
) -> Given<'a> {
    let ledger = &thread.ledger;
    let t = ledger.latest();
    thread.polls.store(true, Ordering::Relaxed);
    let wrapped = task::is_wrapped();
    if life.task.as_ref().is_some_and(Task::is_branch) {
        // It was polled by another call before.
        leave_task(life);
    }
    match &*life.task {
        Some(task) => {
            ledger.name_root(task.birth.id);
            let waited_since = task.begin(epoch, thread.index, t);
            if !wrapped {
                return Given::AsItCame;
            }
            // A wake from before accounting was switched off is no reason for this poll.
            let begun = task.begin_waker(waker);
            if let (Some(woken), Some(waited_since)) = (begun.readied, waited_since) {
                let since = woken.since.max(waited_since);
                task.readied(Readied { since, ..woken });
                ledger.ready(t.saturating_sub(since));
            }
            Given::of(task, begun.fits, waker)
        }
        None if life.account.is_rowless() => Given::AsItCame,
        None => {
            ledger.show_all();
            let Some(birth) = task::birth(life.proc, bytes, t) else {
                return Given::AsItCame;
            };
            ledger.name_root(birth.id);
            thread.newborn.begin(&birth);
            if !wrapped {
                return Given::AsItCame;
            }
            let story = root::story();
            if let Some(story) = &story {
                ledger.ready(t.saturating_sub(story.at));
                thread.tell(Some(story.clone()));
            }
            Given::Late(ManuallyDrop::new(Newcomer {
                outer: waker,
                birth,
                story,
                owner: 0,
                epoch,
                thread: thread.index,
                live: OnceLock::new(),
                woken: AtomicBool::new(false),
            }))
        }
    }
}

/// How a poll ends.
pub(super) struct Closing<'a> {
    pub(super) end: PollEnd,
    /// The poll was given a waker of ours.
    pub(super) is_ours: bool,
    pub(super) newcomer: Option<&'a Newcomer<'a>>,
}

/// The poll of a task's root is closed: if the task is not over, it shows where it stands, and gets a row for it after its first poll.
#[inline(never)]
pub(super) fn close_root(
    thread: &ThreadLedger,
    life: &mut Life,
    t: u64,
    charge: &Charge,
    closing: &Closing<'_>,
) {
    let ledger = &thread.ledger;
    let pending = closing.end == PollEnd::Pending;
    if life.task.is_none() && !life.account.is_rowless() {
        let newborn = thread.newborn.own();
        if pending {
            match task::enter(newborn, ledger.epoch(), thread.index, closing.newcomer) {
                Some(task) => settle(life, task),
                None => life.account.set_rowless(),
            }
        }
        thread.newborn.end();
        if closing
            .newcomer
            .is_some_and(|newcomer| newcomer.story.is_some())
        {
            thread.tell(None);
        }
    }
    if let (true, Some(task)) = (pending, &*life.task) {
        task.end(t, charge.hold, charge.inclusive, |each| {
            ledger.take_trail(each)
        });
    }
}

/// The call is the root of a task with a row: from here on its future stays where it is.
#[cold]
fn settle(life: &mut Life, task: Task) {
    // The future comes behind, unless it asks for more alignment than most.
    let address = std::ptr::from_ref(life).addr() + size_of::<Life>();
    task.mark().lies_at(address);
    *life.task = Some(task);
}

/// Accounting was switched off in the first poll of a task: if it waits now it has its row, though where it waits is not known.
#[cold]
pub(super) fn outlast(epoch: u32, life: &mut Life, pending: bool, newcomer: Option<&Newcomer<'_>>) {
    thread::with_current(epoch, |thread| {
        let newborn = thread.newborn.own();
        if pending
            && newborn.id != 0
            && let Some(task) = task::enter(newborn, epoch, thread.index, newcomer)
        {
            settle(life, task);
        }
        thread.newborn.end();
    });
    if let Some(task) = &*life.task {
        task.end(clock::ticks(), 0, 0, |_| false);
    }
}

/// A poll unwound: a task that ends with it is told of.
#[cold]
pub(super) fn told_of(life: &Life, newcomer: Option<&Newcomer<'_>>) {
    match (&*life.task, newcomer) {
        (Some(task), _) if !task.is_branch() => task.panicked(),
        (None, Some(newcomer)) if newcomer.owner == 0 => {
            task::panicked(newcomer.birth, &newcomer.story);
        }
        _ => {}
    }
}
