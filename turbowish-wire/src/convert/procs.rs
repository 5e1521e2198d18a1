//! The table of procs and its histograms.

use turbowish_model::snapshot as model;
use turbowish_model::snapshot::quantile::Distribution;

use super::{Fault, Malformed, required, rows};
use crate::proto;

impl From<model::ProcRow> for proto::ProcRow {
    fn from(row: model::ProcRow) -> Self {
        let model::ProcRow {
            proc,
            file,
            line,
            future_bytes,
            running_ns,
            trend_ppm,
            inclusive_ns,
            hold_ns,
            yielded_ns,
            unstarted_ns,
            wall_ns,
            max_poll_ns,
            max_poll_open,
            calls,
            polls,
            live,
            ready,
            err,
            cancelled,
            panicked,
            never_polled,
            occupancy_ppm,
            call_running,
            call_inclusive,
            poll_hold,
            poll_running,
            ready_latency,
            callers,
            attributes,
        } = row;
        Self {
            proc,
            file,
            line,
            future_bytes,
            running_ns,
            trend_ppm,
            inclusive_ns,
            hold_ns,
            yielded_ns,
            unstarted_ns,
            wall_ns,
            max_poll_ns,
            max_poll_open,
            calls,
            polls,
            live,
            ready,
            err,
            cancelled,
            panicked,
            never_polled,
            occupancy_ppm,
            call_running: Some(call_running.into()),
            call_inclusive: Some(call_inclusive.into()),
            poll_hold: Some(poll_hold.into()),
            poll_running: Some(poll_running.into()),
            ready_latency: Some(ready_latency.into()),
            callers: callers.into_iter().map(Into::into).collect(),
            attributes: attributes
                .into_iter()
                .map(|(name, value)| proto::Attribute { name, value })
                .collect(),
        }
    }
}

impl TryFrom<proto::ProcRow> for model::ProcRow {
    type Error = Malformed;

    fn try_from(row: proto::ProcRow) -> Result<Self, Malformed> {
        Ok(Self {
            proc: row.proc,
            file: row.file,
            line: row.line,
            future_bytes: row.future_bytes,
            running_ns: row.running_ns,
            trend_ppm: row.trend_ppm,
            inclusive_ns: row.inclusive_ns,
            hold_ns: row.hold_ns,
            yielded_ns: row.yielded_ns,
            unstarted_ns: row.unstarted_ns,
            wall_ns: row.wall_ns,
            max_poll_ns: row.max_poll_ns,
            max_poll_open: row.max_poll_open,
            calls: row.calls,
            polls: row.polls,
            live: row.live,
            ready: row.ready,
            err: row.err,
            cancelled: row.cancelled,
            panicked: row.panicked,
            never_polled: row.never_polled,
            occupancy_ppm: row.occupancy_ppm,
            call_running: required(row.call_running, "ProcRow.call_running")?,
            call_inclusive: required(row.call_inclusive, "ProcRow.call_inclusive")?,
            poll_hold: required(row.poll_hold, "ProcRow.poll_hold")?,
            poll_running: required(row.poll_running, "ProcRow.poll_running")?,
            // Added to the protocol later: absent means not observed, so it is empty.
            ready_latency: match row.ready_latency {
                Some(population) => population.try_into()?,
                None => Distribution::default(),
            },
            callers: rows(row.callers)?,
            attributes: row
                .attributes
                .into_iter()
                .map(|proto::Attribute { name, value }| (name, value))
                .collect(),
        })
    }
}

impl From<model::Caller> for proto::Caller {
    fn from(caller: model::Caller) -> Self {
        let model::Caller {
            proc,
            polls,
            hold_ns,
        } = caller;
        Self {
            proc,
            polls,
            hold_ns,
        }
    }
}

impl TryFrom<proto::Caller> for model::Caller {
    type Error = Malformed;

    fn try_from(caller: proto::Caller) -> Result<Self, Malformed> {
        let proto::Caller {
            proc,
            polls,
            hold_ns,
        } = caller;
        Ok(Self {
            proc,
            polls,
            hold_ns,
        })
    }
}

impl From<Distribution> for proto::Distribution {
    fn from(distribution: Distribution) -> Self {
        let Distribution {
            n,
            sum_ns,
            max_ns,
            buckets,
        } = distribution;
        let (upper_ns, count) = buckets.into_iter().unzip();
        Self {
            n,
            sum_ns,
            max_ns,
            upper_ns,
            count,
        }
    }
}

impl TryFrom<proto::Distribution> for Distribution {
    type Error = Malformed;

    fn try_from(distribution: proto::Distribution) -> Result<Self, Malformed> {
        let proto::Distribution {
            n,
            sum_ns,
            max_ns,
            upper_ns,
            count,
        } = distribution;
        let field = "Distribution.upper_ns";
        if upper_ns.len() != count.len() {
            let fault = Fault::Lengths {
                upper: upper_ns.len(),
                count: count.len(),
            };
            return Err(Malformed { field, fault });
        }
        if !upper_ns.is_sorted_by(|a, b| a < b) {
            return Err(Malformed {
                field,
                fault: Fault::Unordered,
            });
        }
        Ok(Self {
            n,
            sum_ns,
            max_ns,
            buckets: upper_ns.into_iter().zip(count).collect(),
        })
    }
}
