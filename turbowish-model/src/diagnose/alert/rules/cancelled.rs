//! Rules for cancellation: futures that were dropped after they had already taken or given
//! something.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::words::{self, brief, many};
use crate::diagnose::situation::{Proc, Site};
use crate::snapshot::pitfall::Pitfall;

pub(in crate::diagnose::alert) const CANCEL_UNSAFE_SELECT: PitfallRule = PitfallRule {
    lingers: true,
    why: "Another branch was ready first. Anything that {cut} had received, locked or sent before it was dropped is lost or only half done.",
    fixes: &[
        "{at}: create the future before the loop and poll `&mut future`, so that the next iteration resumes it",
        "or do one cancel-safe step in each branch (recv, read of one message), and the rest after select!",
        "or spawn {cut} and select on its handle",
    ],
    limits: &[Limit::Linger],
    ..PitfallRule::new(Pitfall::CancelUnsafeSelect)
};

pub(in crate::diagnose::alert) const TIMEOUT_HALF_DONE: PitfallRule = PitfallRule {
    lingers: true,
    why: "The timeout expired while {cut} was in progress. Anything that it had received, locked or sent is lost or only half done.",
    fixes: &[
        "{at}: put the timeout around the step that may wait, not around all of {cut}",
        "or spawn {cut} and put the timeout on its handle: it then runs to completion",
    ],
    limits: &[Limit::Linger],
    ..PitfallRule::new(Pitfall::TimeoutHalfDone)
};

/// Await points at which more futures were interrupted than at the last situation.
pub(in crate::diagnose::alert) fn cut(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for proc in &scan.situation.procs {
        for site in &proc.sites {
            let (select, timeout) = scan.memory.cuts(proc, (site.place.line, site.place.column));
            let pitfalls = [
                (Pitfall::CancelUnsafeSelect, site.cut_in_select, select),
                (Pitfall::TimeoutHalfDone, site.cut_in_timeout, timeout),
            ];
            for (pitfall, now, before) in pitfalls {
                if let Some(times) = now.filter(|now| *now > before) {
                    found.push(finding(scan, pitfall, proc, site, times));
                }
            }
        }
    }
}

fn finding(scan: &Scan<'_>, pitfall: Pitfall, proc: &Proc, site: &Site, times: u64) -> Finding {
    let cut = site.cut.clone().unwrap_or_default();
    let name = if cut.proc.is_empty() {
        brief(&site.place.expr)
    } else {
        cut.proc.clone()
    };
    let at = words::place(Some(&site.place));
    let stood = cut
        .place
        .as_ref()
        .map_or_else(|| at.clone(), |place| words::place(Some(place)));
    let did = if cut.did.is_empty() {
        String::new()
    } else {
        format!(" after {} on {}", cut.did, cut.resource)
    };
    let title = format!(
        "{}: {name} was dropped at {stood}{did}, {}",
        pitfall.title(),
        many(times, "time")
    );
    let mut finding = Finding::undated(pitfall, scan.now());
    let used = scan.situation.resources.iter();
    for resource in used.filter(|resource| resource.id == cut.resource_id) {
        finding = finding.with_resource(resource);
    }
    finding
        .of_proc(&proc.path)
        .about(Subject::At(
            proc.path.clone(),
            site.place.line,
            site.place.column,
        ))
        .at(&proc.path, Some(&site.place))
        .titled(title)
        .summed("a future was dropped midway")
        .explained(&[("cut", &name), ("at", &at)])
}
