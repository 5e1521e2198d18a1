//! The table of tasks and their stacks.

use turbowish_model::snapshot as model;

use super::{Malformed, rows};
use crate::proto;

impl From<model::Page<model::TaskRow>> for proto::TaskPage {
    fn from(page: model::Page<model::TaskRow>) -> Self {
        let model::Page {
            rows,
            total,
            matched,
        } = page;
        Self {
            rows: rows.into_iter().map(Into::into).collect(),
            total,
            matched,
        }
    }
}

impl TryFrom<proto::TaskPage> for model::Page<model::TaskRow> {
    type Error = Malformed;

    fn try_from(page: proto::TaskPage) -> Result<Self, Malformed> {
        Ok(Self {
            rows: rows(page.rows)?,
            total: page.total,
            matched: page.matched,
        })
    }
}

impl From<model::TaskState> for proto::TaskState {
    fn from(state: model::TaskState) -> Self {
        match state {
            model::TaskState::Polling => Self::Polling,
            model::TaskState::Ready => Self::Ready,
            model::TaskState::Waiting => Self::Waiting,
        }
    }
}

fn state(value: i32) -> Result<model::TaskState, Malformed> {
    match proto::TaskState::try_from(value) {
        Ok(proto::TaskState::Polling) => Ok(model::TaskState::Polling),
        Ok(proto::TaskState::Ready) => Ok(model::TaskState::Ready),
        Ok(proto::TaskState::Waiting) => Ok(model::TaskState::Waiting),
        Ok(proto::TaskState::Unspecified) | Err(_) => {
            Err(Malformed::unknown("TaskRow.state", value))
        }
    }
}

impl From<model::TaskRow> for proto::TaskRow {
    fn from(row: model::TaskRow) -> Self {
        let model::TaskRow {
            id,
            name,
            state,
            since_ns,
            age_ns,
            polls,
            running_ns,
            max_poll_ns,
            root,
            future_bytes,
            stack,
            stack_truncated,
        } = row;
        Self {
            id,
            name,
            state: proto::TaskState::from(state).into(),
            since_ns,
            age_ns,
            polls,
            running_ns,
            max_poll_ns,
            root,
            future_bytes,
            stack: stack.into_iter().map(Into::into).collect(),
            stack_truncated,
        }
    }
}

impl TryFrom<proto::TaskRow> for model::TaskRow {
    type Error = Malformed;

    fn try_from(row: proto::TaskRow) -> Result<Self, Malformed> {
        Ok(Self {
            id: row.id,
            name: row.name,
            state: state(row.state)?,
            since_ns: row.since_ns,
            age_ns: row.age_ns,
            polls: row.polls,
            running_ns: row.running_ns,
            max_poll_ns: row.max_poll_ns,
            root: row.root,
            future_bytes: row.future_bytes,
            stack: rows(row.stack)?,
            stack_truncated: row.stack_truncated,
        })
    }
}

impl From<model::StackRow> for proto::StackRow {
    fn from(row: model::StackRow) -> Self {
        let model::StackRow {
            depth,
            proc,
            place,
            since_ns,
        } = row;
        Self {
            depth,
            proc,
            place: place.map(Into::into),
            since_ns,
        }
    }
}

impl TryFrom<proto::StackRow> for model::StackRow {
    type Error = Malformed;

    fn try_from(row: proto::StackRow) -> Result<Self, Malformed> {
        let proto::StackRow {
            depth,
            proc,
            place,
            since_ns,
        } = row;
        let place = place.map(model::Place::try_from).transpose()?;
        Ok(Self {
            depth,
            proc,
            place,
            since_ns,
        })
    }
}
