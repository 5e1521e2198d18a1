//! The table of resources: holders, waiters and flow.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::snapshot as model;

use super::{Malformed, required, rows};
use crate::proto;

impl From<Kind> for proto::ResourceKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Mutex => Self::Mutex,
            Kind::RwLock => Self::RwLock,
            Kind::Semaphore => Self::Semaphore,
            Kind::Barrier => Self::Barrier,
            Kind::Notify => Self::Notify,
            Kind::OnceCell => Self::OnceCell,
            Kind::Mpsc => Self::Mpsc,
            Kind::Oneshot => Self::Oneshot,
            Kind::Broadcast => Self::Broadcast,
            Kind::Watch => Self::Watch,
            Kind::Timer => Self::Timer,
        }
    }
}

fn kind(value: i32) -> Result<Kind, Malformed> {
    use proto::ResourceKind as Sent;
    Ok(match Sent::try_from(value) {
        Ok(Sent::Mutex) => Kind::Mutex,
        Ok(Sent::RwLock) => Kind::RwLock,
        Ok(Sent::Semaphore) => Kind::Semaphore,
        Ok(Sent::Barrier) => Kind::Barrier,
        Ok(Sent::Notify) => Kind::Notify,
        Ok(Sent::OnceCell) => Kind::OnceCell,
        Ok(Sent::Mpsc) => Kind::Mpsc,
        Ok(Sent::Oneshot) => Kind::Oneshot,
        Ok(Sent::Broadcast) => Kind::Broadcast,
        Ok(Sent::Watch) => Kind::Watch,
        Ok(Sent::Timer) => Kind::Timer,
        Ok(Sent::Unspecified) | Err(_) => {
            return Err(Malformed::unknown("ResourceRow.kind", value));
        }
    })
}

impl From<Role> for proto::ResourceRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Lock => Self::Lock,
            Role::Read => Self::Read,
            Role::Write => Self::Write,
            Role::Acquire => Self::Acquire,
            Role::Send => Self::Send,
            Role::Receive => Self::Receive,
            Role::Wait => Self::Wait,
        }
    }
}

fn role(value: i32, field: &'static str) -> Result<Role, Malformed> {
    use proto::ResourceRole as Sent;
    Ok(match Sent::try_from(value) {
        Ok(Sent::Lock) => Role::Lock,
        Ok(Sent::Read) => Role::Read,
        Ok(Sent::Write) => Role::Write,
        Ok(Sent::Acquire) => Role::Acquire,
        Ok(Sent::Send) => Role::Send,
        Ok(Sent::Receive) => Role::Receive,
        Ok(Sent::Wait) => Role::Wait,
        Ok(Sent::Unspecified) | Err(_) => return Err(Malformed::unknown(field, value)),
    })
}

impl From<model::ResourceRow> for proto::ResourceRow {
    fn from(row: model::ResourceRow) -> Self {
        let model::ResourceRow {
            id,
            kind,
            name,
            made_at,
            age_ns,
            capacity,
            level,
            closed,
            holders,
            holder_count,
            waiters,
            waiter_count,
            senders,
            receivers,
            will,
            will_count,
            may,
            may_count,
            put,
            took,
            waits,
            waited,
            kept,
        } = row;
        let ends = |tasks: Vec<Option<String>>| {
            let tasks = tasks.into_iter();
            tasks.map(|task| proto::End { task }).collect()
        };
        Self {
            id,
            kind: proto::ResourceKind::from(kind).into(),
            name,
            made_at: Some(made_at.into()),
            age_ns,
            capacity,
            level,
            closed,
            holders: holders.into_iter().map(Into::into).collect(),
            holder_count,
            waiters: waiters.into_iter().map(Into::into).collect(),
            waiter_count,
            senders: ends(senders),
            receivers: ends(receivers),
            put,
            took,
            waits,
            waited: Some(waited.into()),
            kept: Some(kept.into()),
            will: will.into_iter().map(Into::into).collect(),
            will_count,
            may: may.into_iter().map(Into::into).collect(),
            may_count,
        }
    }
}

impl TryFrom<proto::ResourceRow> for model::ResourceRow {
    type Error = Malformed;

    fn try_from(row: proto::ResourceRow) -> Result<Self, Malformed> {
        let tasks = |ends: Vec<proto::End>| ends.into_iter().map(|end| end.task).collect();
        Ok(Self {
            id: row.id,
            kind: kind(row.kind)?,
            name: row.name,
            made_at: required(row.made_at, "ResourceRow.made_at")?,
            age_ns: row.age_ns,
            capacity: row.capacity,
            level: row.level,
            closed: row.closed,
            holders: rows(row.holders)?,
            holder_count: row.holder_count,
            waiters: rows(row.waiters)?,
            waiter_count: row.waiter_count,
            senders: tasks(row.senders),
            receivers: tasks(row.receivers),
            will: rows(row.will)?,
            will_count: row.will_count,
            may: rows(row.may)?,
            may_count: row.may_count,
            put: row.put,
            took: row.took,
            waits: row.waits,
            waited: required(row.waited, "ResourceRow.waited")?,
            kept: required(row.kept, "ResourceRow.kept")?,
        })
    }
}

impl From<model::HolderRow> for proto::Holder {
    fn from(row: model::HolderRow) -> Self {
        let model::HolderRow {
            task,
            role,
            amount,
            since_ns,
            at,
        } = row;
        Self {
            task,
            role: proto::ResourceRole::from(role).into(),
            amount,
            since_ns,
            at: Some(at.into()),
        }
    }
}

impl TryFrom<proto::Holder> for model::HolderRow {
    type Error = Malformed;

    fn try_from(row: proto::Holder) -> Result<Self, Malformed> {
        Ok(Self {
            task: row.task,
            role: role(row.role, "Holder.role")?,
            amount: row.amount,
            since_ns: row.since_ns,
            at: required(row.at, "Holder.at")?,
        })
    }
}

impl From<model::WaiterRow> for proto::Waiter {
    fn from(row: model::WaiterRow) -> Self {
        let model::WaiterRow {
            task,
            role,
            amount,
            since_ns,
            at,
            woken_ns,
        } = row;
        Self {
            task,
            role: proto::ResourceRole::from(role).into(),
            amount,
            since_ns,
            at: Some(at.into()),
            woken_ns,
        }
    }
}

impl TryFrom<proto::Waiter> for model::WaiterRow {
    type Error = Malformed;

    fn try_from(row: proto::Waiter) -> Result<Self, Malformed> {
        Ok(Self {
            task: row.task,
            role: role(row.role, "Waiter.role")?,
            amount: row.amount,
            since_ns: row.since_ns,
            at: required(row.at, "Waiter.at")?,
            woken_ns: row.woken_ns,
        })
    }
}

impl From<model::Claim> for proto::Claim {
    fn from(claim: model::Claim) -> Self {
        let model::Claim {
            resource_id,
            resource,
            role,
            amount,
            since_ns,
            at,
        } = claim;
        Self {
            resource_id,
            resource,
            role: proto::ResourceRole::from(role).into(),
            amount,
            since_ns,
            at: Some(at.into()),
        }
    }
}

impl TryFrom<proto::Claim> for model::Claim {
    type Error = Malformed;

    fn try_from(claim: proto::Claim) -> Result<Self, Malformed> {
        Ok(Self {
            resource_id: claim.resource_id,
            resource: claim.resource,
            role: role(claim.role, "Claim.role")?,
            amount: claim.amount,
            since_ns: claim.since_ns,
            at: required(claim.at, "Claim.at")?,
        })
    }
}

impl From<model::IntentRow> for proto::Intent {
    fn from(row: model::IntentRow) -> Self {
        let model::IntentRow { task, role, proc } = row;
        Self {
            task,
            role: proto::ResourceRole::from(role).into(),
            proc,
        }
    }
}

impl TryFrom<proto::Intent> for model::IntentRow {
    type Error = Malformed;

    fn try_from(row: proto::Intent) -> Result<Self, Malformed> {
        Ok(Self {
            task: row.task,
            role: role(row.role, "Intent.role")?,
            proc: row.proc,
        })
    }
}

impl From<model::Aim> for proto::Aim {
    fn from(aim: model::Aim) -> Self {
        let model::Aim {
            resource_id,
            resource,
            role,
            proc,
        } = aim;
        Self {
            resource_id,
            resource,
            role: proto::ResourceRole::from(role).into(),
            proc,
        }
    }
}

impl TryFrom<proto::Aim> for model::Aim {
    type Error = Malformed;

    fn try_from(aim: proto::Aim) -> Result<Self, Malformed> {
        Ok(Self {
            resource_id: aim.resource_id,
            resource: aim.resource,
            role: role(aim.role, "Aim.role")?,
            proc: aim.proc,
        })
    }
}

impl From<model::Spot> for proto::Spot {
    fn from(spot: model::Spot) -> Self {
        let model::Spot { file, line, column } = spot;
        Self { file, line, column }
    }
}

impl TryFrom<proto::Spot> for model::Spot {
    type Error = Malformed;

    fn try_from(spot: proto::Spot) -> Result<Self, Malformed> {
        let proto::Spot { file, line, column } = spot;
        Ok(Self { file, line, column })
    }
}
