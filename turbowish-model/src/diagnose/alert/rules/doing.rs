//! What a thread does in a poll that does not return, by its time on the processor: it computes, or
//! it sleeps in a blocking call.

use alloc::format;
use alloc::string::String;

use crate::diagnose::alert::memory::ProcessorTime;
use crate::diagnose::alert::quantity::is_part;
use crate::diagnose::alert::words::time;

/// Fix of code that computes.
pub(super) const IF_COMPUTING: &str = "{computing}: a long computation or a loop? split it with yield_now().await every few ms, or move it to spawn_blocking";

/// Fix of code that sleeps.
pub(super) const IF_ASLEEP: &str = "{asleep}: a blocking call? thread::sleep, file or network I/O, a lock or channel of std, join: use the async one, or spawn_blocking";

/// What a thread does in its poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Computing,
    Asleep,
    /// Both, or unknown.
    Something,
}

impl Doing {
    /// Time counts as the one or the other if at least this part of it is.
    pub(super) const MOST_PERCENT: u64 = 80;

    /// `run_delay`: the part of that time in which the machine did not run the thread. `sleeps`:
    /// the thread sleeps now. If it does not, it may also have waited for a processor all the time.
    pub(super) fn of(time: ProcessorTime, run_delay: u64, sleeps: bool) -> Self {
        let chosen = time.of_ns.saturating_sub(run_delay);
        let slept = chosen.saturating_sub(time.ns);
        if is_part(time.ns, chosen, Self::MOST_PERCENT) {
            Self::Computing
        } else if sleeps && is_part(slept, chosen, Self::MOST_PERCENT) {
            Self::Asleep
        } else {
            Self::Something
        }
    }

    /// Name of the place in the templates of fixes.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Computing => "computing",
            Self::Asleep => "asleep",
            Self::Something => "code",
        }
    }

    /// ` w0 was on the processor for 12.0ms of the last 1.50 s: it slept or waited in a call of the
    /// system.`
    pub(super) fn told(self, worker: &str, on: ProcessorTime) -> String {
        let so = match self {
            Self::Computing => ": it computed",
            Self::Asleep => ": it slept or waited in a call of the system",
            Self::Something => "",
        };
        let of = time(on.of_ns);
        match on.ns {
            0 => format!(" {worker} was not on the processor in the last {of}{so}."),
            ns => {
                let ns = time(ns);
                format!(" {worker} was on the processor for {ns} of the last {of}{so}.")
            }
        }
    }
}
