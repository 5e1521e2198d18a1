//! Control requests of consoles.

use turbowish_model::event::EventClasses;
use turbowish_model::snapshot::Accounting;

use super::Malformed;
use super::messages::Controlled;
use super::mirror::Mirror as _;
use crate::proto;

/// A control request; a read-only process refuses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Arms or disarms accounting.
    SetAccounting(Accounting),
    /// Pauses a task.
    PauseTask(PauseTask),
    /// Resumes the task with this ID, whichever console has paused it.
    ResumeTask(u64),
    /// Records these classes of events from now on, and no others.
    RecordEvents(EventClasses),
    /// Records these classes, too, until the connection ends or asks for others.
    HoldEvents(EventClasses),
}

/// Request to pause a task. A poll in progress ends first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseTask {
    /// ID of the task.
    pub task: u64,
    /// Name of the console, as shown to others: 1 to [`PauseTask::NAME_LIMIT`] characters.
    pub by: String,
    /// The pause ends after this many nanoseconds, which must not be 0; `None`: no limit. Time in
    /// which the process is stopped does not count.
    pub lease_ns: Option<u64>,
    /// If set, only renews the lease of an existing pause with the same name. Otherwise the last
    /// request replaces earlier ones.
    pub renew: bool,
}

impl PauseTask {
    /// Maximum number of characters of a name.
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
            Action::RecordEvents(classes) => Message::RecordEvents(classes.bits().into()),
            Action::HoldEvents(classes) => Message::HoldEvents(classes.bits().into()),
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
            Message::SetAccounting(to) => Ok(Self::SetAccounting(Accounting::receive(to, field)?)),
            Message::PauseTask(order) => Ok(Self::PauseTask(order.try_into()?)),
            Message::ResumeTask(task) => Ok(Self::ResumeTask(task)),
            Message::RecordEvents(bits) => Ok(Self::RecordEvents(classes(bits, field)?)),
            Message::HoldEvents(bits) => Ok(Self::HoldEvents(classes(bits, field)?)),
        }
    }
}

/// The classes of a sum, all of which this version knows.
fn classes(bits: u32, field: &'static str) -> Result<EventClasses, Malformed> {
    let known = u8::try_from(bits).map(EventClasses::of_bits);
    let known = known.ok().filter(|known| u32::from(known.bits()) == bits);
    known.ok_or(Malformed::unknown(field, bits.cast_signed()))
}

impl TryFrom<proto::ControlReply> for Controlled {
    type Error = Malformed;

    fn try_from(reply: proto::ControlReply) -> Result<Self, Malformed> {
        // Classes that only the process knows are none of this version.
        let known = |bits: u32| EventClasses::of_bits(bits as u8);
        Ok(Self {
            process: reply.process.unwrap_or_default().try_into()?,
            recorded_before: reply.recorded_before.map(known),
        })
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
