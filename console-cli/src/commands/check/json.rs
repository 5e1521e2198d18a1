//! The verdict as a JSON document, described in docs/json.md.

use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::column::Unit;
use turbowish_model::snapshot::json::{SCHEMA, Writer};

use super::Checks;
use super::limit::{Broken, Outcome};

pub(super) fn report(checks: &Checks, seen: &Snapshot) -> String {
    let mut out = Writer::default();
    out.object(|out| {
        out.number("schema", SCHEMA);
        out.key("process");
        out.object(|out| {
            out.text("name", &seen.process.name);
            out.number("pid", seen.process.pid.into());
        });
        out.number("at_unix_ns", seen.at_unix_ns);
        out.number("window_ns", seen.window_ns);
        out.flag("ok", checks.hold());
        out.key("limits");
        let outcomes: Vec<Outcome> = checks.limits.iter().map(|limit| limit.outcome()).collect();
        out.array(&outcomes, limit);
        out.key("alerts");
        match &checks.alerts {
            None => out.null(),
            Some(alerts) => {
                let found: Vec<_> = alerts.seen.values().collect();
                out.array(&found, |out, alert| {
                    out.object(|out| {
                        out.text("kind", alert.pitfall.id());
                        out.text("severity", alert.severity.word());
                        out.text("title", &alert.title);
                        out.number("since_ns", alert.held_ns);
                        out.text("docs", alert.pitfall.docs());
                    });
                });
            }
        }
    });
    out.into_line()
}

fn limit(out: &mut Writer, outcome: &Outcome) {
    out.object(|out| {
        out.text("limit", &outcome.text);
        out.flag("ok", outcome.holds());
        out.text("table", outcome.table);
        out.text("unit", unit(outcome.unit));
        out.number("limit_value", outcome.limit);
        out.number("rows", outcome.rows());
        out.number("within", outcome.within);
        out.number("no_sample", outcome.no_sample);
        out.number("unknown", outcome.unknown);
        out.number("left_out", outcome.left_out);
        out.key("broken");
        out.array(&outcome.broken, broken);
    });
}

fn broken(out: &mut Writer, broken: &Broken) {
    out.object(|out| {
        out.text("row", &broken.row);
        out.optional_text("at", broken.place.as_deref());
        integer(out, "value", Some(broken.value));
    });
}

/// An integer field, possibly negative, or `null`.
pub(crate) fn integer(out: &mut Writer, name: &str, n: Option<i128>) {
    out.key(name);
    match n.map(|n| (u64::try_from(n), i64::try_from(n))) {
        Some((Ok(n), _)) => out.number_value(n),
        Some((_, Ok(n))) => out.signed_value(n),
        _ => out.null(),
    }
}

/// The JSON name of a column's unit.
pub(crate) const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Duration => "ns",
        Unit::Share | Unit::Trend | Unit::Average => "ppb",
        Unit::Rate => "micro_per_s",
        Unit::Bytes => "bytes",
        Unit::Count | Unit::Text | Unit::Place => "count",
    }
}
