//! Alerts: pitfalls that are present now, found in situations, each with its reason and what to do
//! about it.
//!
//! A rule is a pure function of one situation and of the memory of earlier ones. It returns
//! findings; the [`Detector`] decides. An alert is raised when its finding has held for the
//! required time, and cleared when the finding has been gone for some time, so that no alert
//! flickers. A cleared alert is kept for ten minutes, as it was at its worst; its texts are then in
//! the past tense (`tense`). A finding that follows from another one is folded under it: for
//! example, tasks behind a deadlock that hold their locks for long. A rule never reports what it
//! would have to guess.

mod asleep;
mod detector;
mod finding;
mod fold;
mod limits;
mod memory;
mod past;
mod quantity;
mod rules;
mod table;
mod tense;
mod words;

pub use self::asleep::SLEEPERS_KEPT;
pub use self::detector::Detector;
pub use self::limits::{AlertLimit, LIMITS, Limit, LimitError, LimitRow, Limits, Measure};
pub use self::past::{PAST_KEPT, PAST_NS};
pub use self::quantity::{Bytes, Percent};
pub use self::table::{PitfallRule, TABLE, row};
