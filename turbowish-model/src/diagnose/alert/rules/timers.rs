//! Rule for timers whose waits end long after the deadline.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::memory::LatestTimer;
use crate::diagnose::alert::quantity::is_more;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::words::{self, time};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;

pub(in crate::diagnose::alert) const LATE_TIMERS: PitfallRule = PitfallRule {
    why: "A timer only wakes its task, which runs when a worker comes to it. {worst}{poll}",
    fixes: &[
        "find what the workers [do|did] instead: sort Functions by run, then by the longest poll",
        "if many timers expire at the same moment, spread them: add a random part to each period",
        "{at}: if it must be exact, run it on a runtime of its own",
    ],
    limits: &[
        Limit::LateTimersLate,
        Limit::LateTimersShare,
        Limit::LateTimersCount,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::LateTimers)
};

/// Await points at which many timers are late.
pub(in crate::diagnose::alert) fn late(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let (count, share) = (
        scan.limit(Limit::LateTimersCount),
        scan.limit(Limit::LateTimersShare),
    );
    for timers in &scan.situation.timers {
        let Some((counts, latest)) = scan.memory.timers.long(timers, scan.now()) else {
            continue;
        };
        if counts.late < count.max(1) || !is_more(counts.late, counts.completed, share) {
            continue;
        }
        let place = timers.place.as_ref();
        let at = words::place(place);
        let title = format!(
            "late timers {}: {} of {} at {at} > {} late",
            time(latest.ns),
            units::count(counts.late),
            units::count(counts.completed),
            words::threshold(scan.limit(Limit::LateTimersLate)),
        );
        let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
        found.push(
            Finding::undated(Pitfall::LateTimers, scan.now())
                .of_proc(&timers.proc)
                .about(Subject::At(timers.proc.clone(), line, column))
                .at(&timers.proc, place)
                .titled(title)
                .summed("timers [are|were] late")
                .explained(&[
                    ("at", &at),
                    ("worst", &when(latest)),
                    ("poll", &longest(scan, latest)),
                ]),
        );
    }
}

/// When the latest timer was delayed.
fn when(latest: LatestTimer) -> String {
    let before = latest.ns.saturating_sub(latest.polling_ns);
    match before >= latest.polling_ns {
        true => format!(
            "Of the worst {}, {} passed before its task was polled.",
            time(latest.ns),
            time(before)
        ),
        false => format!(
            "Of the worst {}, its task was in a poll for {} before it came to the timer.",
            time(latest.ns),
            time(latest.polling_ns)
        ),
    }
}

/// The longest recent poll, if it may have delayed the latest timer.
fn longest(scan: &Scan<'_>, latest: LatestTimer) -> String {
    let procs = scan.situation.procs.iter();
    let longest = procs.max_by_key(|proc| (proc.longest_ns, &proc.path));
    match longest.filter(|proc| proc.longest_ns >= latest.ns / 2) {
        Some(proc) => format!(
            " A recent poll of {} took {}.",
            proc.path,
            time(proc.longest_ns)
        ),
        None => String::from(
            " No recent poll of a known function was that long: many tasks were ready at once, or code without the attribute has blocked the workers.",
        ),
    }
}
