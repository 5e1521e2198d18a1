//! Paused tasks: tasks that a console keeps from being polled.
//!
//! A task's call checks one flag of its row before a poll. If it is set, the poll is *withheld*:
//! the future is not polled, no frame is opened, nothing is counted, and the executor's waker of
//! that poll is kept here. When the pause ends that waker is woken, once, and the executor polls
//! the task as it wanted to before. If no poll was withheld, nothing is woken: the task keeps
//! waiting.
//!
//! A pause ends when a console resumes the task, when its lease expires, when the task ends, and
//! when accounting is disarmed, since calls then do not check the flag. The monitor counts leases
//! down at its own ticks, by a limited amount each time, instead of comparing an expiry time with
//! the clock: a process stopped by a debugger uses up no lease, and its tasks are still paused when
//! it continues.
//!
//! The lock of the table is held for a few instructions. No waker is cloned, woken or dropped under
//! it: that runs code of the executor, which may lead back here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use turbowish_model::account::task::Pause as Reading;
use turbowish_model::ordered::Map;

use crate::hot::task::{Covered, TaskRow};
use crate::hot::waker_state::let_go;
use crate::hot::{clock, switch};
use crate::lock::lock;
use crate::log::say;

/// Paused tasks by task ID.
static PAUSES: Mutex<Map<u64, Pause>> = Mutex::new(Map::new());

/// Pause state in a task's row.
///
/// The address of the root future, 0 until it is known. The lowest bit, which is 0 in every such
/// address, says whether polls are to be withheld.
#[derive(Debug, Default)]
pub(crate) struct PauseFlag(AtomicUsize);

/// Bit that says that polls are to be withheld.
const PAUSED: usize = 1;

impl PauseFlag {
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) & PAUSED != 0
    }

    /// Stores the address at which the root future is pinned. The row is not shown yet, so that
    /// nobody can have paused the task.
    pub(crate) fn lies_at(&self, address: usize) {
        self.0.store(address & !PAUSED, Ordering::Relaxed);
    }

    pub(crate) fn address(&self) -> usize {
        self.0.load(Ordering::Relaxed) & !PAUSED
    }

    /// Clears the flag and the address: the task is over. Returns whether the flag was set.
    fn take(&self) -> bool {
        self.0.swap(0, Ordering::AcqRel) & PAUSED != 0
    }

    /// Starts over, for another task.
    pub(crate) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(crate) fn set(&self) {
        self.0.fetch_or(PAUSED, Ordering::AcqRel);
    }

    fn clear(&self) {
        self.0.fetch_and(!PAUSED, Ordering::Relaxed);
    }
}

/// The poll is withheld.
#[derive(Debug)]
pub(crate) struct PausedPoll;

/// A task that a console has paused.
struct Pause {
    live: TaskRow,
    by: String,
    /// Start of the pause, in ticks.
    since: u64,
    lease: Option<Lease>,
    /// The executor's waker, from the last poll that was withheld.
    waker: Option<Waker>,
}

/// Time until a pause ends unless it is renewed, in ticks.
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

    /// Time left; at most `most` of the time since the last count is subtracted.
    fn left(self, now: u64, most: u64) -> u64 {
        let passed = now.saturating_sub(self.counted).min(most);
        self.left.saturating_sub(passed)
    }
}

/// Why a lease is not renewed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unrenewed {
    /// The task is not paused.
    NotPaused,
    /// Another console has paused the task.
    By(String),
}

fn with<R>(change: impl FnOnce(&mut Map<u64, Pause>) -> R) -> R {
    change(&mut lock(&PAUSES))
}

/// Whether the call may be polled now, if it is the root of a task. Costs two loads from memory
/// that the poll needs anyway.
#[inline]
pub(crate) fn look(task: Option<Covered>, waker: &Waker) -> Result<(), PausedPoll> {
    match task {
        Some(task) if task.pause_flag().is_set() => withhold(task.id(), waker),
        _ => Ok(()),
    }
}

/// Withholds a poll of a task that is, or was just now, paused.
#[cold]
#[inline(never)]
fn withhold(task: u64, waker: &Waker) -> Result<(), PausedPoll> {
    let wakes = |kept: &Option<Waker>| kept.as_ref().is_some_and(|kept| kept.will_wake(waker));
    match with(|pauses| pauses.get(&task).map(|pause| wakes(&pause.waker))) {
        None => return Ok(()),
        Some(true) => return Err(PausedPoll),
        Some(false) => {}
    }
    // Nothing may unwind here. If the clone panics, the poll goes ahead, and its own clone shows
    // the panic.
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
    // If the task was resumed in between, nothing would wake the kept waker.
    if is_paused { Err(PausedPoll) } else { Ok(()) }
}

/// Pauses a task from its next poll on, replacing an earlier pause by another console. Returns
/// `Some(false)` while accounting is disarmed, and `None` if the task is over.
pub(crate) fn begin(live: TaskRow, by: &str, lease: Option<u64>) -> Option<bool> {
    with(|pauses| {
        if !switch::is_armed() {
            return Some(false);
        }
        live.pause_flag().set();
        if !live.is_live() {
            // The flag may be that of another task now, which asks the table before it is withheld.
            live.pause_flag().clear();
            return None;
        }
        // A task that ends from here on finds the flag, and takes its pause with it.
        let pause = pauses.entry(live.id()).or_insert_with(|| Pause {
            live,
            by: String::new(),
            since: clock::ticks(),
            lease: None,
            waker: None,
        });
        pause.by = by.to_owned();
        pause.lease = lease.map(Lease::new);
        Some(true)
    })
}

/// Renews the lease of a pause that has the same owner.
///
/// # Errors
/// If there is no such pause.
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

/// Resumes a task. Returns whether it was paused.
pub(crate) fn resume(task: u64) -> bool {
    let pause = with(|pauses| take(pauses, task));
    pause.map(Pause::end).is_some()
}

/// Resumes all tasks.
pub(crate) fn resume_all() {
    let all = with(|pauses| {
        let all = std::mem::take(pauses);
        all.values().for_each(Pause::clear);
        all
    });
    all.into_values().for_each(Pause::end);
}

/// Removes the pause of a task that is over.
#[inline]
pub(crate) fn over(flag: &PauseFlag, task: u64) {
    if flag.take() {
        forget(task);
    }
}

#[cold]
fn forget(task: u64) {
    let pause = with(|pauses| take(pauses, task));
    let_go(pause);
}

/// Subtracts the time since the last call, but at most `most`, from all leases, and resumes the
/// tasks whose lease has expired.
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

/// All pauses by task; `most` as in [`count`].
pub(crate) fn readings(most: u64) -> Map<u64, Reading> {
    let now = clock::ticks();
    with(|pauses| {
        let readings = pauses.iter().map(|(&task, pause)| {
            let reading = Reading {
                by: pause.by.clone(),
                since: pause.since,
                left: pause.lease.map(|lease| lease.left(now, most)),
                woken: pause.waker.is_some() || pause.live.is_woken(),
                address: pause.live.pause_flag().address() as u64,
            };
            (task, reading)
        });
        readings.collect()
    })
}

fn take(pauses: &mut Map<u64, Pause>, task: u64) -> Option<Pause> {
    let pause = pauses.remove(&task);
    pause.inspect(Pause::clear)
}

impl Pause {
    /// Called under the lock: otherwise it could clear a flag that another console has just set.
    fn clear(&self) {
        self.live.pause_flag().clear();
    }

    /// Wakes the executor's waker if a poll was withheld. Nothing may unwind here: this may be the
    /// monitor's thread.
    fn end(mut self) {
        // The task could not be polled before: its ready time starts now.
        self.live.wake_again(clock::ticks());
        if let Some(waker) = self.waker.take()
            && let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake()))
        {
            // The payload's drop may panic, too.
            std::mem::forget(payload);
            say(
                "a paused task was resumed, but its executor panicked when it was woken: it may never be polled again",
            );
        }
    }
}
