//! The fields of a counter or gauge, and what TurboWish itself costs.

use super::fields::{Fact, Field, Record};
use super::writer::Writer;
use crate::snapshot::{CounterRow, OwnCost};

static COUNTERS: [Field<CounterRow>; 10] = [
    Field::new("name", "name, as the program gives it", |row| {
        Fact::Text(&row.name)
    }),
    Field::new("kind", "counter or gauge", |row| {
        Fact::Text(row.kind.word())
    }),
    Field::new(
        "proc",
        "path of the proc that was innermost; null outside of every one",
        |row| Fact::OptionalText(row.proc.as_deref()),
    ),
    Field::new("at", "where it stands: file, line, column", |row| {
        Fact::Spot(Some(&row.at))
    }),
    Field::new(
        "updates",
        "how often it was counted or set in the window",
        |row| Fact::Number(row.updates),
    ),
    Field::new("added", "what a counter grew by in the window", |row| {
        Fact::Optional(row.added)
    }),
    Field::new(
        "total",
        "what a counter grew by since the start of accounting",
        |row| Fact::Optional(row.total),
    ),
    Field::new("value", "what a gauge was set to last", |row| {
        Fact::Signed(row.value)
    }),
    Field::new(
        "min",
        "the least that a gauge was set to since the start of accounting",
        |row| Fact::Signed(row.min),
    ),
    Field::new("max", "the most", |row| Fact::Signed(row.max)),
];

impl Record for CounterRow {
    fn fields() -> &'static [Field<Self>] {
        &COUNTERS
    }
}

pub(super) fn own_cost(out: &mut Writer, cost: Option<&OwnCost>) {
    let Some(cost) = cost else { return out.null() };
    out.object(|out| {
        out.number("ppm", cost.ppm);
        out.optional("monitor_ppm", cost.monitor_ppm);
        out.number("poll_ps", cost.poll_ps);
        out.number("wake_ps", cost.wake_ps);
        out.number("counter_ps", cost.counter_ps);
        out.number("resource_ps", cost.resource_ps);
    });
}
