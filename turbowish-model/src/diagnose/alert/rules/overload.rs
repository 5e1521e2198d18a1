//! Rule for overload of the instrumentation itself: more events than accounting is worth.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject, proc_party};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::snapshot::alert::{Party, PartyKind};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;

pub(in crate::diagnose::alert) const OVERLOAD: PitfallRule = PitfallRule {
    why: "Each event costs some tens of nanoseconds: at this rate accounting [is|was] itself a load, and it [measures|measured] in part its own overhead.",
    fixes: &[
        "remove the attribute from {proc}: its time is then charged to its caller",
        "find out what wakes the tasks of {woken} so often: each wake-up is a poll",
        "sum up in {counting}, and count once for many events",
        "use {resource} less often, in larger batches, or use tokio's own type instead",
        "or disarm accounting while nobody looks at it (key a, TURBOWISH=disarmed)",
    ],
    limits: &[Limit::Overload],
    scans: 2,
    ..PitfallRule::new(Pitfall::Overload)
};

/// Sources with more events than the limit.
pub(in crate::diagnose::alert) fn overload(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for source in &scan.situation.sources {
        if source.events <= scan.limit(Limit::Overload) {
            continue;
        }
        let noisiest = source.noisiest.as_deref();
        let most = match (noisiest, &source.resource) {
            (Some(proc), _) => format!(", most of them from {proc}"),
            (None, Some((_, resource))) => format!(", most of them from {resource}"),
            (None, None) => String::new(),
        };
        let title = format!(
            "overload: {} produced {} events in 100 ms{most}",
            source.name,
            units::count(source.events)
        );
        let mut finding = Finding::undated(Pitfall::Overload, scan.now())
            .about(Subject::Named(source.name.clone()));
        let mut values = Vec::new();
        if let Some(proc) = noisiest {
            finding.alert.parties.push(proc_party(proc));
            finding = finding.at(proc, None);
            values.push((of(&source.name), proc));
        }
        if let Some((id, name)) = &source.resource {
            finding.alert.parties.push(Party {
                kind: PartyKind::Resource,
                id: *id,
                name: name.clone(),
            });
            values.push(("resource", name));
        }
        found.push(
            finding
                .titled(title)
                .summed("there [are|were] more events than accounting is designed for")
                .explained(&values),
        );
    }
}

/// Name that the templates of the fixes use for a proc with events of this source.
fn of(source: &str) -> &'static str {
    match source {
        "wake-ups" => "woken",
        "counters" => "counting",
        _ => "proc",
    }
}
