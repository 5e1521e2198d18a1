//! Rule for tasks that are always made to yield by tokio.

use alloc::format;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::quantity::is_more;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::words;
use crate::snapshot::alert::Severity;
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;

pub(in crate::diagnose::alert) const BUDGET_EXHAUSTED: PitfallRule = PitfallRule {
    severity: Severity::Note,
    why: "In one poll a task may use tokio's resources 128 times. {proc} [does|did] so, and tokio [makes|made] it yield although it could go on: there [is|was] always more to do than a poll [gets|got] done, and its worker [serves|served] no other task meanwhile.",
    fixes: &[
        "{at}: do more at a time, such as recv_many, ready_chunks or a larger buffer: that counts once",
        "or spread the work: several tasks, or a runtime of its own",
    ],
    limits: &[
        Limit::BudgetExhaustedShare,
        Limit::BudgetExhaustedPolls,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::BudgetExhausted)
};

/// Procs whose tasks use up their budget in many polls.
pub(in crate::diagnose::alert) fn exhausted(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let (polls, share) = (
        scan.limit(Limit::BudgetExhaustedPolls),
        scan.limit(Limit::BudgetExhaustedShare),
    );
    for proc in &scan.situation.procs {
        let counts = scan.memory.proc(proc);
        if counts.forced < polls.max(1) || !is_more(counts.forced, counts.polls, share) {
            continue;
        }
        let place = proc.forced.place.as_ref();
        let at = words::place(place);
        let title = format!(
            "budget exhausted: {}% of {} polls of {}, at {at}",
            units::share(units::ppb(counts.forced.min(counts.polls), counts.polls)),
            units::count(counts.polls),
            proc.path,
        );
        found.push(
            Finding::undated(Pitfall::BudgetExhausted, scan.now())
                .of_proc(&proc.path)
                .at(&proc.forced.proc, place)
                .titled(title)
                .summed("tokio [makes|made] a task yield all the time")
                .explained(&[("proc", &proc.path), ("at", &at)]),
        );
    }
}
