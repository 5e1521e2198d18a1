//! Work at the end of a process that may fail, and must not keep the process: on a thread of its own, which is left behind if it does
//! not move.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::hot::thread;
use crate::log::say;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread does such work: a panic hook of the application may end the process from there.
pub(super) fn is_inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// How often is looked whether the work moves.
const LOOK: Duration = Duration::from_millis(100);

/// What the work is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Computing, and writing to files.
    Work,
    /// Writing to stderr, whose reader may not read.
    Stderr,
}

impl Step {
    /// How long nothing may move.
    const fn patience(self) -> Duration {
        match self {
            Self::Work => Duration::from_secs(60),
            Self::Stderr => Duration::from_secs(3),
        }
    }
}

/// Counts the steps of the work; the odd ones are at stderr.
#[derive(Debug, Default)]
pub(super) struct Steps(AtomicU32);

impl Steps {
    /// Does a part of the work at this step.
    pub(super) fn at(&self, step: Step, part: impl FnOnce()) {
        let odd = u32::from(step == Step::Stderr);
        self.0.fetch_add(odd, Ordering::Relaxed);
        part();
        self.0.fetch_add(odd, Ordering::Relaxed);
    }

    /// A part of the work is done.
    pub(super) fn moved(&self) {
        self.0.fetch_add(2, Ordering::Relaxed);
    }

    fn now(&self) -> (u32, Step) {
        let count = self.0.load(Ordering::Relaxed);
        let step = if count % 2 == 1 {
            Step::Stderr
        } else {
            Step::Work
        };
        (count, step)
    }
}

/// Does the work, and waits for its end as long as something moves.
pub(super) fn run(work: impl FnOnce(&Steps) + Send + 'static) {
    let steps = Arc::new(Steps::default());
    let (give, take) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let there = steps.clone();
    // It has signals blocked, also those that come with an error of its own: SIGPIPE, SIGXFSZ.
    let started = thread::start("turbowish-report", move || {
        if let Ok(work) = take.recv() {
            netted(work, &there);
        }
        // Nobody may wait any more.
        let _ = end.send(());
    });
    match started {
        Ok(_) => {
            let _ = give.send(work);
            wait(&ended, &steps);
        }
        // Without a thread of its own it is done here, and nobody can stop waiting for it.
        Err(_) => netted(work, &steps),
    }
}

fn netted(work: impl FnOnce(&Steps), steps: &Steps) {
    let _ = INSIDE.try_with(|inside| inside.set(true));
    if catch_unwind(AssertUnwindSafe(|| work(steps))).is_err() {
        steps.at(Step::Stderr, || {
            say("writing the report panicked: it is incomplete; please report this bug");
        });
    }
    let _ = INSIDE.try_with(|inside| inside.set(false));
}

fn wait(ended: &Receiver<()>, steps: &Steps) {
    let (mut before, mut since) = (steps.now(), Instant::now());
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let now = steps.now();
        if now != before {
            (before, since) = (now, Instant::now());
        } else if since.elapsed() >= now.1.patience() {
            // A word on stderr would wait there as well.
            if now.1 != Step::Stderr {
                say("the report was abandoned: writing made no progress");
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{Step, is_inside, run};

    #[test]
    fn what_panics_ends_all_the_same() {
        let (tell, told) = mpsc::channel();
        run(move |_| {
            tell.send(is_inside()).expect("it is received");
            panic!("as announced");
        });
        assert!(told.recv().expect("it was sent before the panic"));
        assert!(!is_inside());
    }

    #[test]
    fn what_does_not_move_is_left_behind() {
        let (hold, held) = mpsc::channel::<()>();
        // Returns although nobody lets the work go on.
        run(move |steps| {
            steps.at(Step::Stderr, || {
                let _ = held.recv();
            })
        });
        drop(hold);
    }
}
