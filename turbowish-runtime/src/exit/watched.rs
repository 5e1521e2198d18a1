//! Work at process exit that may fail and must not block the exit: it runs on a thread of its own,
//! which is abandoned if it makes no progress.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::hot::thread;
use crate::lock::lock;
use crate::log::say;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread does such work. A panic hook of the application may end the process from
/// there.
pub(super) fn is_inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Interval at which progress is checked.
const LOOK: Duration = Duration::from_millis(100);

/// Current step of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Computing and writing to files.
    Work,
    /// Writing to stderr, whose reader may be stalled.
    Stderr,
}

impl Step {
    /// Maximum time without progress.
    const fn patience(self) -> Duration {
        match self {
            Self::Work => Duration::from_secs(60),
            Self::Stderr => Duration::from_secs(3),
        }
    }
}

/// Progress counter of the work; odd while it writes to stderr.
#[derive(Debug, Default)]
pub(super) struct Steps(AtomicU32);

impl Steps {
    /// Runs a part of the work as this step.
    pub(super) fn at(&self, step: Step, part: impl FnOnce()) {
        let odd = u32::from(step == Step::Stderr);
        self.0.fetch_add(odd, Ordering::Relaxed);
        part();
        self.0.fetch_add(odd, Ordering::Relaxed);
    }

    /// Records that a part of the work is done.
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

type Work = Box<dyn FnOnce(&Steps) + Send>;

/// What the exiting thread shares with that of the work. A channel of the standard library would
/// add 50 KB of code to every program.
#[derive(Default)]
struct Watched {
    steps: Steps,
    work: Mutex<Option<Work>>,
    is_over: Mutex<bool>,
    ended: Condvar,
}

impl Watched {
    fn work(&self) {
        let work = lock(&self.work).take();
        if let Some(work) = work {
            netted(work, &self.steps);
        }
    }

    fn end(&self) {
        *lock(&self.is_over) = true;
        self.ended.notify_one();
    }

    /// Waits for the end, for [`LOOK`].
    fn is_over_soon(&self) -> bool {
        let is_over = lock(&self.is_over);
        let waited = self.ended.wait_timeout_while(is_over, LOOK, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Runs the work, and waits for its end as long as it makes progress.
pub(super) fn run(work: impl FnOnce(&Steps) + Send + 'static) {
    let watched = Arc::new(Watched::default());
    *lock(&watched.work) = Some(Box::new(work));
    let there = watched.clone();
    // The thread has signals blocked, including those caused by its own errors: SIGPIPE, SIGXFSZ.
    let started = thread::start("turbowish-report", move || {
        there.work();
        there.end();
    });
    match started {
        Ok(_) => wait(&watched),
        // Without a thread the work runs here, and the exit waits for it without a limit.
        Err(_) => watched.work(),
    }
}

fn netted(work: Work, steps: &Steps) {
    let _ = INSIDE.try_with(|inside| inside.set(true));
    if catch_unwind(AssertUnwindSafe(|| work(steps))).is_err() {
        steps.at(Step::Stderr, || {
            say("writing the report panicked: it is incomplete; please report this bug");
        });
    }
    let _ = INSIDE.try_with(|inside| inside.set(false));
}

fn wait(watched: &Watched) {
    let (mut before, mut since) = (watched.steps.now(), Instant::now());
    while !watched.is_over_soon() {
        let now = watched.steps.now();
        if now != before {
            (before, since) = (now, Instant::now());
        } else if since.elapsed() >= now.1.patience() {
            // A line on stderr would block there as well.
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
        // Returns although the work never continues.
        run(move |steps| {
            steps.at(Step::Stderr, || {
                let _ = held.recv();
            })
        });
        drop(hold);
    }
}
