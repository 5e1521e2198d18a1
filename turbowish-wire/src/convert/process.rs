//! The process, its threads and its totals.

use turbowish_model::snapshot as model;

use super::Malformed;
use crate::proto;

impl From<model::Accounting> for proto::Accounting {
    fn from(accounting: model::Accounting) -> Self {
        match accounting {
            model::Accounting::Armed => Self::Armed,
            model::Accounting::Disarmed => Self::Disarmed,
        }
    }
}

/// Converts a raw enum value.
///
/// # Errors
/// If the value is unspecified, or unknown to this version.
pub(super) fn accounting(value: i32, field: &'static str) -> Result<model::Accounting, Malformed> {
    match proto::Accounting::try_from(value) {
        Ok(proto::Accounting::Armed) => Ok(model::Accounting::Armed),
        Ok(proto::Accounting::Disarmed) => Ok(model::Accounting::Disarmed),
        Ok(proto::Accounting::Unspecified) | Err(_) => Err(Malformed::unknown(field, value)),
    }
}

impl From<model::Process> for proto::Process {
    fn from(process: model::Process) -> Self {
        let model::Process {
            name,
            pid,
            command,
            uptime_ns,
            accounting,
            accounting_since_unix_ns,
            procs_known,
            runtime_tasks,
            own_cost,
        } = process;
        Self {
            name,
            pid,
            command,
            uptime_ns,
            accounting: proto::Accounting::from(accounting).into(),
            accounting_since_unix_ns,
            procs_known,
            runtime_tasks,
            own_cost: own_cost.map(Into::into),
        }
    }
}

impl TryFrom<proto::Process> for model::Process {
    type Error = Malformed;

    fn try_from(process: proto::Process) -> Result<Self, Malformed> {
        Ok(Self {
            name: process.name,
            pid: process.pid,
            command: process.command,
            uptime_ns: process.uptime_ns,
            accounting: accounting(process.accounting, "Process.accounting")?,
            accounting_since_unix_ns: process.accounting_since_unix_ns,
            procs_known: process.procs_known,
            runtime_tasks: process.runtime_tasks,
            own_cost: process.own_cost.map(Into::into),
        })
    }
}

impl From<model::Worker> for proto::Worker {
    fn from(worker: model::Worker) -> Self {
        let model::Worker {
            name,
            busy_ns,
            polling,
        } = worker;
        Self {
            name,
            busy_ns,
            polling: polling.map(Into::into),
        }
    }
}

impl TryFrom<proto::Worker> for model::Worker {
    type Error = Malformed;

    fn try_from(worker: proto::Worker) -> Result<Self, Malformed> {
        let proto::Worker {
            name,
            busy_ns,
            polling,
        } = worker;
        Ok(Self {
            name,
            busy_ns,
            polling: polling.map(Into::into),
        })
    }
}

impl From<model::Polling> for proto::Polling {
    fn from(polling: model::Polling) -> Self {
        let model::Polling {
            proc,
            since_ns,
            root_since_ns,
        } = polling;
        Self {
            proc,
            since_ns,
            root_since_ns,
        }
    }
}

impl From<proto::Polling> for model::Polling {
    fn from(polling: proto::Polling) -> Self {
        let proto::Polling {
            proc,
            since_ns,
            root_since_ns,
        } = polling;
        Self {
            proc,
            since_ns,
            root_since_ns,
        }
    }
}

impl From<model::TasksByState> for proto::TasksByState {
    fn from(counts: model::TasksByState) -> Self {
        let model::TasksByState {
            polling,
            ready,
            waiting,
            paused,
        } = counts;
        Self {
            polling,
            ready,
            waiting,
            paused,
        }
    }
}

impl TryFrom<proto::TasksByState> for model::TasksByState {
    type Error = Malformed;

    fn try_from(counts: proto::TasksByState) -> Result<Self, Malformed> {
        let proto::TasksByState {
            polling,
            ready,
            waiting,
            paused,
        } = counts;
        Ok(Self {
            polling,
            ready,
            waiting,
            paused,
        })
    }
}

impl From<model::Lost> for proto::Lost {
    fn from(lost: model::Lost) -> Self {
        let model::Lost {
            tasks,
            resources,
            procs,
            late_attach,
            orphan_end,
            forced_pop,
            clock_backwards,
            counters,
            details,
            last_ago_ns,
        } = lost;
        Self {
            tasks,
            resources,
            procs,
            late_attach,
            orphan_end,
            forced_pop,
            clock_backwards,
            counters,
            details,
            last_ago_ns,
        }
    }
}

impl TryFrom<proto::Lost> for model::Lost {
    type Error = Malformed;

    fn try_from(lost: proto::Lost) -> Result<Self, Malformed> {
        let proto::Lost {
            tasks,
            resources,
            procs,
            late_attach,
            orphan_end,
            forced_pop,
            clock_backwards,
            counters,
            details,
            last_ago_ns,
        } = lost;
        Ok(Self {
            tasks,
            resources,
            procs,
            late_attach,
            orphan_end,
            forced_pop,
            clock_backwards,
            counters,
            details,
            last_ago_ns,
        })
    }
}
