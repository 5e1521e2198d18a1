//! Tasks that a console keeps from being polled.
//!
//! A task's call looks at one flag of its row before a poll. Where it is set, the poll is *withheld*: the future is not polled, no frame
//! is opened, nothing is counted, and the executor's waker that the poll was given is kept here. When the pause ends that waker is woken,
//! once, and the executor polls the task as it wanted to before. If no poll was withheld there is nothing to make up for: the task waits on.
//!
//! A pause ends when a console says so, when its lease is over, when the task is, and when accounting is switched off, since calls do not
//! look then. Leases are counted by the monitor as its thread goes on, and not read off the clock by whoever comes by: a process that a
//! debugger has stopped uses up none of them, and finds its tasks where they were when it is let go.
//!
//! The lock of the table is held for a few words. No waker is cloned, woken or dropped under it: what an executor does then is its own
//! affair, and may lead back here.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use turbowish_model::account::task::Pause as Reading;

use crate::hot::task::{Live, Task};
use crate::hot::waker_state::let_go;
use crate::hot::{clock, switch};
use crate::log::say;

/// Paused tasks by id.
static PAUSES: Mutex<BTreeMap<u64, Pause>> = Mutex::new(BTreeMap::new());

/// What a task's row has of all this.
///
/// Where the root future lies, 0 until that is known; and in the lowest bit, which no such address has, whether polls are to be withheld.
#[derive(Debug, Default)]
pub(crate) struct Mark(AtomicUsize);

/// Polls are to be withheld.
const PAUSED: usize = 1;

impl Mark {
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) & PAUSED != 0
    }

    /// The root future is pinned here from now on. The task has its row already, and may have been paused.
    pub(crate) fn lies_at(&self, address: usize) {
        self.0.fetch_or(address & !PAUSED, Ordering::Relaxed);
    }

    fn address(&self) -> usize {
        self.0.load(Ordering::Relaxed) & !PAUSED
    }

    pub(crate) fn set(&self) {
        self.0.fetch_or(PAUSED, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.0.fetch_and(!PAUSED, Ordering::Relaxed);
    }
}

/// A poll is not to be.
#[derive(Debug)]
pub(crate) struct Withheld;

/// A paused task.
struct Pause {
    live: Arc<Live>,
    by: String,
    /// In ticks.
    since: u64,
    lease: Option<Lease>,
    /// Of the executor, from the last poll that was withheld.
    waker: Option<Waker>,
}

/// How long a pause lasts by itself, in ticks.
#[derive(Clone, Copy)]
struct Lease {
    left: u64,
    counted: u64,
}

impl Lease {
    fn new(length: u64) -> Self {
        Self {
            left: length,
            counted: clock::ticks(),
        }
    }

    /// What is left; of the time since it was counted last no more than `most` is taken off.
    fn left(self, now: u64, most: u64) -> u64 {
        let passed = now.saturating_sub(self.counted).min(most);
        self.left.saturating_sub(passed)
    }
}

/// Why a lease does not begin anew.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unrenewed {
    /// The task is not paused.
    NotPaused,
    /// It is, by somebody else.
    By(String),
}

fn with<R>(change: impl FnOnce(&mut BTreeMap<u64, Pause>) -> R) -> R {
    change(&mut PAUSES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether the call, if it is the root of a task, may be polled now: it costs two looks at memory that the poll needs anyway.
#[inline]
pub(crate) fn look(task: &Option<Task>, waker: &Waker) -> Result<(), Withheld> {
    match task {
        Some(task) if task.mark().is_set() => withhold(task.birth.id, waker),
        _ => Ok(()),
    }
}

/// The poll of a task that is, or was just now, paused.
#[cold]
#[inline(never)]
fn withhold(task: u64, waker: &Waker) -> Result<(), Withheld> {
    let wakes = |kept: &Option<Waker>| kept.as_ref().is_some_and(|kept| kept.will_wake(waker));
    match with(|pauses| pauses.get(&task).map(|pause| wakes(&pause.waker))) {
        None => return Ok(()),
        Some(true) => return Err(Withheld),
        Some(false) => {}
    }
    // Nothing may unwind here. Whoever clones it in the poll sees the panic.
    let Ok(fresh) = catch_unwind(|| waker.clone()).map_err(std::mem::forget) else {
        return Ok(());
    };
    let mut fresh = Some(fresh);
    let is_paused = with(|pauses| {
        let pause = pauses.get_mut(&task);
        pause
            .map(|pause| std::mem::swap(&mut pause.waker, &mut fresh))
            .is_some()
    });
    let_go(fresh);
    // Resumed in between: nobody will wake what was kept.
    if is_paused { Err(Withheld) } else { Ok(()) }
}

/// Keeps a task from being polled, from its next poll on; who has paused it before has it no longer. Returns `false` while accounting is
/// off. Called under the lock of the task's row, so that a task that ends meanwhile takes its pause with it.
pub(crate) fn begin(live: &Arc<Live>, by: &str, lease: Option<u64>) -> bool {
    with(|pauses| {
        if !switch::is_armed() {
            return false;
        }
        let pause = pauses.entry(live.cell.birth.id).or_insert_with(|| Pause {
            live: live.clone(),
            by: String::new(),
            since: clock::ticks(),
            lease: None,
            waker: None,
        });
        pause.by = by.to_owned();
        pause.lease = lease.map(Lease::new);
        live.mark.set();
        true
    })
}

/// The lease begins anew of a pause that is by the same.
///
/// # Errors
/// There is no such pause.
pub(crate) fn renew(task: u64, by: &str, lease: Option<u64>) -> Result<(), Unrenewed> {
    with(|pauses| match pauses.get_mut(&task) {
        None => Err(Unrenewed::NotPaused),
        Some(pause) if pause.by != by => Err(Unrenewed::By(pause.by.clone())),
        Some(pause) => {
            pause.lease = lease.map(Lease::new);
            Ok(())
        }
    })
}

/// Lets a task go on. Returns whether it was paused.
pub(crate) fn resume(task: u64) -> bool {
    let pause = with(|pauses| take(pauses, task));
    pause.map(Pause::end).is_some()
}

/// Lets all go on.
pub(crate) fn resume_all() {
    let all = with(|pauses| {
        let all = std::mem::take(pauses);
        all.values().for_each(Pause::clear);
        all
    });
    all.into_values().for_each(Pause::end);
}

/// The task is over.
#[inline]
pub(crate) fn over(live: &Live) {
    if live.mark.is_set() {
        forget(live.cell.birth.id);
    }
}

#[cold]
fn forget(task: u64) {
    let pause = with(|pauses| take(pauses, task));
    let_go(pause);
}

/// Takes off the time since this was called last, or `most` of it if it is more, and lets those go on whose lease is over.
pub(crate) fn count(most: u64) {
    let now = clock::ticks();
    let over = with(|pauses| {
        let mut over = Vec::new();
        for (&task, pause) in pauses.iter_mut() {
            let Some(lease) = &mut pause.lease else {
                continue;
            };
            lease.left = lease.left(now, most);
            lease.counted = now;
            if lease.left == 0 {
                over.push(task);
            }
        }
        let ends = over.into_iter().filter_map(|task| take(pauses, task));
        ends.collect::<Vec<_>>()
    });
    over.into_iter().for_each(Pause::end);
}

/// What is paused, by task; `most` as in [`count`].
pub(crate) fn readings(most: u64) -> HashMap<u64, Reading> {
    let now = clock::ticks();
    with(|pauses| {
        let readings = pauses.iter().map(|(&task, pause)| {
            let reading = Reading {
                by: pause.by.clone(),
                since: pause.since,
                left: pause.lease.map(|lease| lease.left(now, most)),
                woken: pause.waker.is_some() || pause.live.is_woken(),
                address: pause.live.mark.address() as u64,
            };
            (task, reading)
        });
        readings.collect()
    })
}

fn take(pauses: &mut BTreeMap<u64, Pause>, task: u64) -> Option<Pause> {
    let pause = pauses.remove(&task);
    pause.inspect(Pause::clear)
}

impl Pause {
    /// Under the lock: else it could take back what another console has just set.
    fn clear(&self) {
        self.live.mark.clear();
    }

    /// The executor polls the task if it wanted to. Nothing of what it does may unwind here: this may be the monitor's thread.
    fn end(mut self) {
        // It could not be polled before: how long it was ready counts from now on.
        self.live.wake_again(clock::ticks());
        if let Some(waker) = self.waker.take()
            && let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake()))
        {
            // Its own drop may panic, too.
            std::mem::forget(payload);
            say(
                "a paused task was resumed, but its executor panicked when it was woken: it may never be polled again",
            );
        }
        // With the row may go a waker.
        let_go(Some(self));
    }
}
