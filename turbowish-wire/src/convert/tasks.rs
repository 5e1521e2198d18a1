//! The table of tasks and their stacks.

use turbowish_model::snapshot as model;
use turbowish_model::snapshot::combinator::Combinator;

use super::{Malformed, required, rows};
use crate::proto;

impl From<model::TaskState> for proto::TaskState {
    fn from(state: model::TaskState) -> Self {
        match state {
            model::TaskState::Polling => Self::Polling,
            model::TaskState::Ready => Self::Ready,
            model::TaskState::Waiting => Self::Waiting,
            model::TaskState::Paused => Self::Paused,
        }
    }
}

fn state(value: i32) -> Result<model::TaskState, Malformed> {
    match proto::TaskState::try_from(value) {
        Ok(proto::TaskState::Polling) => Ok(model::TaskState::Polling),
        Ok(proto::TaskState::Ready) => Ok(model::TaskState::Ready),
        Ok(proto::TaskState::Waiting) => Ok(model::TaskState::Waiting),
        Ok(proto::TaskState::Paused) => Ok(model::TaskState::Paused),
        Ok(proto::TaskState::Unspecified) | Err(_) => {
            Err(Malformed::unknown("TaskRow.state", value))
        }
    }
}

impl From<model::TaskGroup> for proto::TaskGroup {
    fn from(group: model::TaskGroup) -> Self {
        let model::TaskGroup { key, tasks, row } = group;
        let row = Some(row.into());
        Self { key, tasks, row }
    }
}

impl TryFrom<proto::TaskGroup> for model::TaskGroup {
    type Error = Malformed;

    fn try_from(group: proto::TaskGroup) -> Result<Self, Malformed> {
        let proto::TaskGroup { key, tasks, row } = group;
        let row = required(row, "TaskGroup.row")?;
        Ok(Self { key, tasks, row })
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
            waker,
            pause,
            waits_on,
            waits_unknown,
            holds,
            will,
            may,
            parent,
            spawned_at,
            attributes,
            last_poll,
            os_thread_id,
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
            waker: waker.map(Into::into),
            pause: pause.map(Into::into),
            last_poll: last_poll.map(Into::into),
            os_thread_id,
            waits_on: waits_on.into_iter().map(Into::into).collect(),
            waits_unknown,
            holds: holds.into_iter().map(Into::into).collect(),
            will: will.into_iter().map(Into::into).collect(),
            may: may.into_iter().map(Into::into).collect(),
            parent,
            spawned_at: spawned_at.map(Into::into),
            attributes: attributes
                .into_iter()
                .map(|(name, value)| proto::Attribute { name, value })
                .collect(),
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
            waker: row.waker.map(model::WakerRow::try_from).transpose()?,
            pause: row.pause.map(Into::into),
            last_poll: row.last_poll.map(model::PollRow::try_from).transpose()?,
            os_thread_id: row.os_thread_id,
            waits_on: rows(row.waits_on)?,
            waits_unknown: row.waits_unknown,
            holds: rows(row.holds)?,
            will: rows(row.will)?,
            may: rows(row.may)?,
            parent: row.parent,
            spawned_at: row.spawned_at.map(model::Spot::try_from).transpose()?,
            attributes: row
                .attributes
                .into_iter()
                .map(|proto::Attribute { name, value }| (name, value))
                .collect(),
        })
    }
}

impl From<model::WakerRow> for proto::Waker {
    fn from(waker: model::WakerRow) -> Self {
        let model::WakerRow {
            woken_by,
            wakes,
            own_wakes,
            clones,
            live,
        } = waker;
        Self {
            woken_by,
            wakes,
            own_wakes,
            clones,
            live,
        }
    }
}

impl TryFrom<proto::Waker> for model::WakerRow {
    type Error = Malformed;

    fn try_from(waker: proto::Waker) -> Result<Self, Malformed> {
        let proto::Waker {
            woken_by,
            wakes,
            own_wakes,
            clones,
            live,
        } = waker;
        Ok(Self {
            woken_by,
            wakes,
            own_wakes,
            clones,
            live,
        })
    }
}

impl From<model::PauseRow> for proto::Pause {
    fn from(pause: model::PauseRow) -> Self {
        let model::PauseRow {
            by,
            left_ns,
            woken,
            address,
        } = pause;
        Self {
            by,
            left_ns,
            woken,
            address,
        }
    }
}

impl From<proto::Pause> for model::PauseRow {
    fn from(pause: proto::Pause) -> Self {
        let proto::Pause {
            by,
            left_ns,
            woken,
            address,
        } = pause;
        Self {
            by,
            left_ns,
            woken,
            address,
        }
    }
}

impl From<model::PollRow> for proto::LastPoll {
    fn from(poll: model::PollRow) -> Self {
        let model::PollRow {
            ago_ns,
            took_ns,
            thread,
            worker,
            ready_ns,
            ready_by,
        } = poll;
        Self {
            ago_ns,
            took_ns,
            thread,
            worker,
            ready_ns,
            ready_by,
        }
    }
}

impl TryFrom<proto::LastPoll> for model::PollRow {
    type Error = Malformed;

    fn try_from(poll: proto::LastPoll) -> Result<Self, Malformed> {
        let proto::LastPoll {
            ago_ns,
            took_ns,
            thread,
            worker,
            ready_ns,
            ready_by,
        } = poll;
        Ok(Self {
            ago_ns,
            took_ns,
            thread,
            worker,
            ready_ns,
            ready_by,
        })
    }
}

impl From<Combinator> for proto::Fork {
    fn from(fork: Combinator) -> Self {
        match fork {
            Combinator::Join => Self::Join,
            Combinator::TryJoin => Self::TryJoin,
            Combinator::Select => Self::Select,
            Combinator::Unordered => Self::Unordered,
            Combinator::Several => Self::Several,
        }
    }
}

fn fork(value: i32) -> Result<Combinator, Malformed> {
    match proto::Fork::try_from(value) {
        Ok(proto::Fork::Join) => Ok(Combinator::Join),
        Ok(proto::Fork::TryJoin) => Ok(Combinator::TryJoin),
        Ok(proto::Fork::Select) => Ok(Combinator::Select),
        Ok(proto::Fork::Unordered) => Ok(Combinator::Unordered),
        Ok(proto::Fork::Several) => Ok(Combinator::Several),
        Ok(proto::Fork::Unspecified) | Err(_) => Err(Malformed::unknown("StackRow.fork", value)),
    }
}

impl From<model::StackRow> for proto::StackRow {
    fn from(row: model::StackRow) -> Self {
        let model::StackRow {
            depth,
            proc,
            place,
            since_ns,
            fork,
            woken_ns,
            aside,
            cut,
        } = row;
        Self {
            depth,
            proc,
            place: place.map(Into::into),
            since_ns,
            fork: fork.map(|fork| proto::Fork::from(fork).into()),
            woken_ns,
            aside,
            cut,
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
            fork,
            woken_ns,
            aside,
            cut,
        } = row;
        let place = place.map(model::Place::try_from).transpose()?;
        Ok(Self {
            depth,
            proc,
            place,
            since_ns,
            fork: fork.map(self::fork).transpose()?,
            woken_ns,
            aside,
            cut,
        })
    }
}
