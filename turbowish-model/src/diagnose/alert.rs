//! Alerts: pitfalls that hold now, found in scenes, each with its reason and what to do about it.
//!
//! A rule is a pure function of one scene and of what is remembered of earlier ones. It finds; the [`Detector`] decides: an alert is
//! raised when what was found has held for its time, and goes when it has been gone for some time, so that none flickers. What
//! follows from something else that was found (tasks behind a deadlock that hold their locks for long) is folded under it. What a rule
//! would have to guess, it does not say.

mod detector;
mod finding;
mod fold;
mod limits;
mod memory;
mod rules;
mod table;
mod words;

pub use self::detector::Detector;
pub use self::limits::{LIMITS, Limit, LimitError, LimitRow, Limits, Measure};
pub use self::table::{RuleRow, TABLE, row};
