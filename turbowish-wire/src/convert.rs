//! Conversions between the protocol's messages and the model's types. No value is invented in
//! between.
//!
//! Conversion into a message cannot fail (`From`). In conversion from a message (`TryFrom`), a
//! missing message, an unknown enum value or an invalid histogram is [`Malformed`]. Both directions
//! of a message are one line of `messages.rs`; a field that only one side has does not compile.

mod alert;
mod control;
mod messages;
mod mirror;
#[cfg(test)]
mod tests;

use std::fmt;

pub use control::{Action, PauseTask};
pub use messages::{Controlled, Hello, Paced};

/// Why a message has no meaning: the field at fault, as `message.field`, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    field: &'static str,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    Missing,
    Unknown(i32),
    Name(String),
    Lengths { upper: usize, count: usize },
    Unordered,
    Long(usize),
}

impl Malformed {
    fn missing(field: &'static str) -> Self {
        Self {
            field,
            fault: Fault::Missing,
        }
    }

    fn unknown(field: &'static str, value: i32) -> Self {
        Self {
            field,
            fault: Fault::Unknown(value),
        }
    }

    fn name(field: &'static str, name: String) -> Self {
        Self {
            field,
            fault: Fault::Name(name),
        }
    }

    fn long(field: &'static str, limit: usize) -> Self {
        Self {
            field,
            fault: Fault::Long(limit),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field;
        match &self.fault {
            Fault::Missing => write!(f, "`{field}` is missing"),
            Fault::Unknown(value) => write!(f, "`{field}` holds the unknown value {value}"),
            Fault::Name(name) => write!(f, "`{field}` holds the unknown name {name:?}"),
            Fault::Lengths { upper, count } => {
                write!(f, "`{field}` holds {upper} upper bounds and {count} counts")
            }
            Fault::Long(limit) => write!(f, "`{field}` has more than {limit} characters"),
            Fault::Unordered => write!(f, "`{field}` holds upper bounds that do not ascend"),
        }
    }
}

impl std::error::Error for Malformed {}
