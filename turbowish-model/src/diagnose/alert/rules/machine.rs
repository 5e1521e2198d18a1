//! Findings whose cause is the machine: it does not run a worker.

use alloc::string::String;

use crate::diagnose::alert::tense::marked;
use crate::snapshot::alert::{Alert, Severity};

/// Reason why a machine does not run a thread.
const FOR_WANT_OF_CORES: &str = ": more threads [want|wanted] to run than there [are|were] cores, or the process [is|was] at its CPU limit";

/// Fixes if the machine does not run a thread.
const FOR_THE_MACHINE: [&str; 2] = [
    "give the process more cores or a higher CPU limit, or take load off the machine",
    "find what uses the cores: top; a CPU limit: nr_throttled in cpu.stat of the cgroup",
];

/// Makes an alert a note about the machine: no change of the code is suggested. The last sentence
/// of its text, which tells the run delay, goes on.
pub(super) fn blame(alert: &mut Alert) {
    alert.severity = Severity::Note;
    alert.summary = marked("the machine [does|did] not run a worker");
    alert.why.push_str(&marked(FOR_WANT_OF_CORES));
    alert.fixes = FOR_THE_MACHINE.map(String::from).into();
}
