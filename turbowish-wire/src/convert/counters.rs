//! The table of counters and gauges, and the overhead of TurboWish itself.

use turbowish_model::snapshot as model;

use super::{Malformed, required};
use crate::proto;

impl From<model::MetricKind> for proto::MeterKind {
    fn from(kind: model::MetricKind) -> Self {
        match kind {
            model::MetricKind::Counter => Self::Counter,
            model::MetricKind::Gauge => Self::Gauge,
        }
    }
}

fn kind(value: i32) -> Result<model::MetricKind, Malformed> {
    match proto::MeterKind::try_from(value) {
        Ok(proto::MeterKind::Counter) => Ok(model::MetricKind::Counter),
        Ok(proto::MeterKind::Gauge) => Ok(model::MetricKind::Gauge),
        Ok(proto::MeterKind::Unspecified) | Err(_) => {
            Err(Malformed::unknown("CounterRow.kind", value))
        }
    }
}

impl From<model::CounterRow> for proto::CounterRow {
    fn from(row: model::CounterRow) -> Self {
        let model::CounterRow {
            name,
            kind,
            proc,
            at,
            updates,
            added,
            total,
            value,
            min,
            max,
        } = row;
        Self {
            name,
            kind: proto::MeterKind::from(kind).into(),
            proc,
            at: Some(at.into()),
            updates,
            added,
            total,
            value,
            min,
            max,
        }
    }
}

impl TryFrom<proto::CounterRow> for model::CounterRow {
    type Error = Malformed;

    fn try_from(row: proto::CounterRow) -> Result<Self, Malformed> {
        Ok(Self {
            name: row.name,
            kind: kind(row.kind)?,
            proc: row.proc,
            at: required(row.at, "CounterRow.at")?,
            updates: row.updates,
            added: row.added,
            total: row.total,
            value: row.value,
            min: row.min,
            max: row.max,
        })
    }
}

impl From<model::Overhead> for proto::OwnCost {
    fn from(cost: model::Overhead) -> Self {
        let model::Overhead {
            ppm,
            monitor_ppm,
            poll_ps,
            wake_ps,
            counter_ps,
            resource_ps,
        } = cost;
        Self {
            ppm,
            monitor_ppm,
            poll_ps,
            wake_ps,
            counter_ps,
            resource_ps,
        }
    }
}

impl From<proto::OwnCost> for model::Overhead {
    fn from(cost: proto::OwnCost) -> Self {
        let proto::OwnCost {
            ppm,
            monitor_ppm,
            poll_ps,
            wake_ps,
            counter_ps,
            resource_ps,
        } = cost;
        Self {
            ppm,
            monitor_ppm,
            poll_ps,
            wake_ps,
            counter_ps,
            resource_ps,
        }
    }
}
