//! What a console may do to a process.

use turbowish_model::snapshot::Accounting;

use super::{Malformed, process};
use crate::proto;

/// One touch of a process; refused by one that is read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Switch accounting.
    SetAccounting(Accounting),
    /// Keep a task from being polled.
    PauseTask(PauseTask),
    /// Let the task with this id go on, whoever has paused it.
    ResumeTask(u64),
}

/// A task is not to be polled; where it is polled now, not after that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseTask {
    /// Id of the task.
    pub task: u64,
    /// Who asks, as it is shown to others: 1 to [`PauseTask::NAME_LIMIT`] characters.
    pub by: String,
    /// The pause ends by itself after so many nanoseconds, which are not 0; `None`: it does not. Time in which the process is stopped
    /// does not count.
    pub lease_ns: Option<u64>,
    /// Only if it is paused already, and by the same: the lease begins anew. Else whoever asks last has it.
    pub renew: bool,
}

impl PauseTask {
    /// Characters of a name.
    pub const NAME_LIMIT: usize = 64;
}

impl From<Action> for proto::ControlRequest {
    fn from(action: Action) -> Self {
        use proto::control_request::Action as Message;
        let action = match action {
            Action::SetAccounting(to) => Message::SetAccounting(proto::Accounting::from(to).into()),
            Action::PauseTask(PauseTask {
                task,
                by,
                lease_ns,
                renew,
            }) => Message::PauseTask(proto::PauseTask {
                task,
                by,
                lease_ns,
                renew,
            }),
            Action::ResumeTask(task) => Message::ResumeTask(task),
        };
        Self {
            action: Some(action),
        }
    }
}

impl TryFrom<proto::ControlRequest> for Action {
    type Error = Malformed;

    fn try_from(request: proto::ControlRequest) -> Result<Self, Malformed> {
        use proto::control_request::Action as Message;
        let field = "ControlRequest.action";
        match request.action.ok_or(Malformed::missing(field))? {
            Message::SetAccounting(to) => Ok(Self::SetAccounting(process::accounting(to, field)?)),
            Message::PauseTask(order) => Ok(Self::PauseTask(order.try_into()?)),
            Message::ResumeTask(task) => Ok(Self::ResumeTask(task)),
        }
    }
}

impl TryFrom<proto::PauseTask> for PauseTask {
    type Error = Malformed;

    fn try_from(message: proto::PauseTask) -> Result<Self, Malformed> {
        let proto::PauseTask {
            task,
            by,
            lease_ns,
            renew,
        } = message;
        match by.chars().count() {
            0 => return Err(Malformed::missing("PauseTask.by")),
            n if n > Self::NAME_LIMIT => {
                return Err(Malformed::long("PauseTask.by", Self::NAME_LIMIT));
            }
            _ => {}
        }
        if lease_ns == Some(0) {
            return Err(Malformed::unknown("PauseTask.lease_ns", 0));
        }
        Ok(Self {
            task,
            by,
            lease_ns,
            renew,
        })
    }
}
