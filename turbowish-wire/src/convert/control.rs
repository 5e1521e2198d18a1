//! What a console may do to a process.

use turbowish_model::snapshot::Accounting;

use super::{Malformed, process};
use crate::proto;

/// One touch of a process; refused by one that is read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Switch accounting.
    SetAccounting(Accounting),
}

impl From<Action> for proto::ControlRequest {
    fn from(action: Action) -> Self {
        let action = match action {
            Action::SetAccounting(to) => {
                proto::control_request::Action::SetAccounting(proto::Accounting::from(to).into())
            }
        };
        Self {
            action: Some(action),
        }
    }
}

impl TryFrom<proto::ControlRequest> for Action {
    type Error = Malformed;

    fn try_from(request: proto::ControlRequest) -> Result<Self, Malformed> {
        let field = "ControlRequest.action";
        match request.action.ok_or(Malformed::missing(field))? {
            proto::control_request::Action::SetAccounting(to) => {
                Ok(Self::SetAccounting(process::accounting(to, field)?))
            }
        }
    }
}
