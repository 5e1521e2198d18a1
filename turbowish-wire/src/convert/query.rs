//! Queries.

use turbowish_model::query as model;

use super::Malformed;
use crate::proto;

impl From<model::Query> for proto::Query {
    fn from(query: model::Query) -> Self {
        let model::Query {
            window_ns,
            procs,
            tasks,
            awaits,
            resources,
            alerts,
            counters,
        } = query;
        Self {
            window_ns,
            procs: procs.map(Into::into),
            tasks: tasks.map(Into::into),
            awaits: awaits.map(Into::into),
            resources: resources.map(Into::into),
            alerts: alerts.map(Into::into),
            counters: counters.map(Into::into),
        }
    }
}

impl TryFrom<proto::Query> for model::Query {
    type Error = Malformed;

    fn try_from(query: proto::Query) -> Result<Self, Malformed> {
        let proto::Query {
            window_ns,
            procs,
            tasks,
            awaits,
            resources,
            alerts,
            counters,
        } = query;
        Ok(Self {
            window_ns,
            procs: procs.map(model::Rows::try_from).transpose()?,
            tasks: tasks.map(model::Rows::try_from).transpose()?,
            awaits: awaits.map(model::Rows::try_from).transpose()?,
            resources: resources.map(model::Rows::try_from).transpose()?,
            alerts: alerts.map(model::Rows::try_from).transpose()?,
            counters: counters.map(model::Rows::try_from).transpose()?,
        })
    }
}

impl From<model::Rows> for proto::Rows {
    fn from(rows: model::Rows) -> Self {
        let model::Rows {
            filter,
            sort,
            invert,
            limit,
            group,
        } = rows;
        Self {
            filter,
            sort,
            invert,
            limit,
            group,
        }
    }
}

impl TryFrom<proto::Rows> for model::Rows {
    type Error = Malformed;

    fn try_from(rows: proto::Rows) -> Result<Self, Malformed> {
        let proto::Rows {
            filter,
            sort,
            invert,
            limit,
            group,
        } = rows;
        Ok(Self {
            filter,
            sort,
            invert,
            limit,
            group,
        })
    }
}
