//! The table of delays, its row and its columns: what ran while tasks were ready.

use alloc::borrow::Cow;
use alloc::string::String;

use super::alert::PartyKind;
use super::column::Unit::{Count, Duration, Share, Text};
use super::column::{Column, Heading, Row, Value};
use super::row::row;

/// `behind` where the worker polled nothing that is accounted.
pub const IDLE: &str = "idle or external";
/// `behind` where it is unknown, since the worker does not keep it for so long.
pub const EARLIER: &str = "earlier polls";
/// `behind` where there was no room for the root function.
pub const OTHER: &str = "other functions";

/// Precedes `behind` in the table if that is the victim's own function.
const OTHERS: &str = "others of ";

row! {
    $ delay_row

    /// The part of the ready time of one root function's tasks in which another one was polled on
    /// the worker.
    DelayRow {
        /// Path of the root proc of the delayed tasks.
        victim: String [first];
        /// Path of the root proc that was polled meanwhile, or [`IDLE`], [`EARLIER`] or [`OTHER`].
        behind: String [first];
        /// Ready time of the victim that `behind` covers, in the window.
        time_ns: u64 [sum];
        /// Whole ready time of the victim in the window.
        ready_ns: u64 [max];
        /// `time_ns` as a share of `ready_ns`, in millionths.
        share_ppm: u64 [sum];
        /// Polls of the victim that were delayed so, in the window.
        polls: u64 [sum];
    }
}

static COLUMNS: [Column<DelayRow>; 6] = [
    Heading::new("victim", "VICTIM", Text)
        .width(24)
        .rank(0)
        .meaning("path of the root proc of the delayed tasks")
        .fields(&["victim"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.victim))),
    Heading::new("behind", "BEHIND", Text)
        .width(24)
        .rank(0)
        .meaning("path of the root proc that the worker polled meanwhile; others of: other tasks of the victim's function")
        .fields(&["behind"])
        .read(|row, _| {
            Value::Text(match row.is_own() {
                true => Cow::Owned(alloc::format!("{OTHERS}{}", row.behind)),
                false => Cow::Borrowed(&row.behind),
            })
        }),
    Heading::new("time", "TIME", Duration)
        .width(7)
        .rank(0)
        .meaning("ready time that it covers, in the window")
        .fields(&["time_ns"])
        .read(|row, _| Value::Duration(row.time_ns)),
    Heading::new("share", "%", Share)
        .width(5)
        .rank(0)
        .meaning("that time / all ready time of the victim")
        .fields(&["share_ppm"])
        .read(|row, _| Value::Share(row.share_ppm.saturating_mul(1_000))),
    Heading::new("polls", "POLLS", Count)
        .width(5)
        .rank(0)
        .meaning("polls of the victim that were delayed so, in the window")
        .fields(&["polls"])
        .read(|row, _| Value::Count(row.polls)),
    Heading::new("ready", "READY", Duration)
        .width(7)
        .rank(1)
        .meaning("all ready time of the victim in the window")
        .fields(&["ready_ns"])
        .read(|row, _| Value::Duration(row.ready_ns)),
];

impl DelayRow {
    /// Whether the tasks were delayed by others of the same function.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.victim == self.behind && self.victim != OTHER
    }
}

impl Row for DelayRow {
    const OWN_ORDER: &'static str = "time";
    const PRINTED: &'static [&'static str] =
        &["victim", "behind", "time", "share", "polls", "ready"];
    const NEEDED: &'static [&'static str] = &["victim", "behind"];
    const PLACE: &'static str = "victim";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    /// `kv::serve behind kv::compact`
    fn label(&self) -> String {
        alloc::format!("{} behind {}", self.victim, self.behind)
    }

    fn name(&self) -> (&str, u64) {
        (&self.victim, 0)
    }

    fn worst(&self) -> (u8, u64) {
        (0, self.time_ns)
    }

    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        Some((PartyKind::Proc, 0, &self.victim))
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.victim) || found(&self.behind)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::{DelayRow, OTHER};
    use crate::snapshot::column::cell;

    #[test]
    fn a_function_is_behind_others_of_it_and_not_behind_itself() {
        let check = |victim: &str, behind: &str, expected: &str| {
            let row = DelayRow {
                victim: String::from(victim),
                behind: String::from(behind),
                ..DelayRow::default()
            };
            assert_eq!(cell(&row, "behind"), expected);
        };
        check("kv::serve", "kv::serve", "others of kv::serve");
        check("kv::serve", "kv::compact", "kv::compact");
        check(OTHER, OTHER, OTHER);
    }
}
