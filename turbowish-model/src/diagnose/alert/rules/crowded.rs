//! Rule for tasks that poll too many futures on their own.

use alloc::format;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, is_judged};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::memory::LONG;
use crate::diagnose::alert::quantity::is_more;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::tense;
use crate::diagnose::alert::words::{self, time};
use crate::diagnose::situation::{StreamFutures, Task};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;

pub(in crate::diagnose::alert) const CROWDED_TASK: PitfallRule = PitfallRule {
    why: "{task} [polls|polled] all futures of the stream itself, one after the other, on one worker: {woken} [are|were] ready, the first of them for {ready}.",
    fixes: &[
        "{at}: spawn the futures (JoinSet), so that all workers poll them",
        "or poll fewer of them at once: buffer_unordered(n)",
        "or move what they compute to spawn_blocking",
    ],
    limits: &[
        Limit::CrowdedTaskFutures,
        Limit::CrowdedTaskBusy,
        Limit::CrowdedTaskReady,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::CrowdedTask)
};

/// Tasks that are always busy, and have many futures of a stream to poll.
pub(in crate::diagnose::alert) fn crowded(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for stream in &scan.situation.streams {
        let late = stream.woken_at.map_or(0, |woken| scan.age(woken));
        let is_late = late >= scan.limit(Limit::CrowdedTaskReady).max(1);
        let task = scan.task(Some(stream.task)).filter(|task| is_judged(task));
        let Some(task) = task.filter(|_| is_late) else {
            continue;
        };
        let (passed, counts) = scan.memory.long(task, scan.now());
        let is_busy = passed >= LONG * scan.limit(Limit::Window)
            && is_more(counts.busy_ns, passed, scan.limit(Limit::CrowdedTaskBusy));
        if is_busy && stream.live >= scan.limit(Limit::CrowdedTaskFutures) {
            let busy = units::ppb(counts.busy_ns, passed);
            found.push(finding(scan, task, stream, (busy, late)));
        }
    }
}

/// `busy`: the share of time in polls, in ppb; `late`: since when a future is ready, in ns.
fn finding(
    scan: &Scan<'_>,
    task: &Task,
    stream: &StreamFutures,
    (busy, late): (u64, u64),
) -> Finding {
    let woken = units::count(stream.woken);
    let title = format!(
        "crowded task {}+: {} {} {} futures, {woken} of them ready, {}% busy",
        time(late),
        task.name,
        tense("polls", "polled"),
        units::count(stream.live),
        units::share(busy),
    );
    let at = words::place(stream.place.as_ref());
    Finding::undated(Pitfall::CrowdedTask, scan.now())
        .of_task(task)
        .at(&stream.proc, stream.place.as_ref())
        .titled(title)
        .summed("one task [polls|polled] many futures, and [is|was] always busy")
        .explained(&[
            ("task", &task.name),
            ("woken", &woken),
            ("ready", &time(late)),
            ("at", &at),
        ])
}
