//! Values that the completions of shells suggest. Other texts are accepted, too, or refused later
//! with a better message.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use turbowish_model::snapshot::column::Row;
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::{Table, TableVisitor};

/// Any text, with suggestions for the completions of shells.
#[derive(Clone, Copy)]
pub(super) struct Suggested(fn() -> Vec<PossibleValue>);

/// A column of a table: `--sort`. Percentiles are more than can be listed.
pub(super) const SORT: Suggested = Suggested(sorts);
/// An alert by the name of its page.
pub(super) const ALERT: Suggested = Suggested(alerts);
/// A page of `turbowish explain`.
pub(super) const PAGE: Suggested = Suggested(pages);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}

fn alerts() -> Vec<PossibleValue> {
    let all = Pitfall::ALL.iter();
    all.map(|pitfall| PossibleValue::new(pitfall.page()).help(pitfall.meaning()))
        .collect()
}

fn pages() -> Vec<PossibleValue> {
    let others = [
        ("limits", "the thresholds of all alerts"),
        ("json", "the fields of JSON and CSV"),
    ];
    let others = others.map(|(name, help)| PossibleValue::new(name).help(help));
    alerts().into_iter().chain(others).collect()
}

fn sorts() -> Vec<PossibleValue> {
    let mut keys = vec![("worst", "what matters most first")];
    for table in Table::ALL {
        for (key, meaning) in table.visit(Keys) {
            if !keys.iter().any(|(known, _)| *known == key) {
                keys.push((key, meaning));
            }
        }
    }
    let keys = keys.into_iter();
    keys.map(|(key, meaning)| PossibleValue::new(key).help(meaning))
        .collect()
}

/// The columns of a table, and their meanings.
struct Keys;

impl TableVisitor for Keys {
    type Output = Vec<(&'static str, &'static str)>;

    fn visit<R: Record>(self) -> Self::Output {
        let columns = <R as Row>::columns().iter();
        columns
            .map(|column| (&*column.key, column.meaning))
            .collect()
    }
}
