//! Rule for futures that are polled although they are over.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject, proc_party};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::words::{self, last, many};
use crate::diagnose::situation::PollsAfterEnd;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;

pub(in crate::diagnose::alert) const POLLED_AFTER_END: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    lingers: true,
    why: "{proc} had returned or panicked, and {by} polled it again{task}. A future that is over may do anything then: an `async fn` panics, others may never end.",
    fixes: &[
        "{at}: in a loop around select!, disable the branch when its future is over: `result = &mut future, if !is_over => ..`",
        "or make a new future then: `future.set(..)`; or use FutureExt::fuse with futures::select!",
        "a future that is written by hand must not poll an inner one again after Poll::Ready: keep it in an Option, and take it out",
    ],
    limits: &[Limit::Linger],
    ..PitfallRule::new(Pitfall::PolledAfterEnd)
};

/// Futures that were polled again since the last situation.
pub(in crate::diagnose::alert) fn polled(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for polls in &scan.situation.polled_after_end {
        if polls.times > scan.memory.polls_after_end(polls) {
            found.push(finding(scan, polls));
        }
    }
}

fn finding(scan: &Scan<'_>, polls: &PollsAfterEnd) -> Finding {
    let place = polls.place.as_ref();
    let at = match (place, &polls.by) {
        (Some(_), _) => words::place(place),
        (None, Some(by)) => format!("in {by}"),
        (None, None) => String::from("an unknown place"),
    };
    let title = format!(
        "polled after end: {} was over, and polled {} more at {at}",
        last(&polls.proc),
        many(polls.times, "time"),
    );
    let by = polls.by.as_deref();
    let task = polls.task.as_ref();
    let task = task.map_or_else(String::new, |task| format!(", last in {task}"));
    let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
    let polled_at = by.unwrap_or(&polls.proc);
    let mut finding = Finding::undated(Pitfall::PolledAfterEnd, scan.now())
        .of_proc(&polls.proc)
        .about(Subject::At(polled_at.into(), line, column))
        .at(polled_at, place)
        .titled(title)
        .summed("a future was polled after its end")
        .explained(&[
            ("proc", &polls.proc),
            ("by", by.unwrap_or("a future that is not instrumented")),
            ("task", &task),
            ("at", &at),
        ]);
    finding.alert.parties.extend(by.map(proc_party));
    finding
}
