//! The differences as a table, a document of docs/json.md, or CSV.

use turbowish_model::snapshot::json::{SCHEMA, Writer};
use turbowish_model::snapshot::text_table::{Header, TextTable};
use turbowish_model::snapshot::units;

use super::compare::{Change, Compared, SAME, Verdict};
use crate::args::Share;
use crate::commands::check::{integer, unit};
use crate::failure::Failure;
use crate::footer::counted;
use crate::report_file::Saved;
use crate::sheet;
use crate::text::printed;

/// Billionths of a whole.
const WHOLE: u64 = 1_000_000_000;

pub(super) fn table(compared: &Compared) -> String {
    let mut lines = Vec::new();
    if !(compared.changes.is_empty() && compared.new.is_empty() && compared.gone.is_empty()) {
        let one = compared.table.strip_suffix('s').unwrap_or(compared.table);
        let mut text_table = TextTable::new(vec![
            Header::words(one.to_uppercase(), 22),
            Header::words("WHAT", 9),
            Header::numbers("BEFORE", 6),
            Header::numbers("AFTER", 6),
            Header::numbers("CHANGE", 8),
            Header::words("", 0),
        ]);
        compared
            .changes
            .iter()
            .for_each(|change| text_table.push(cells(change)));
        for (rows, word) in [(&compared.new, "new"), (&compared.gone, "gone")] {
            for row in rows {
                text_table.push(vec![row.clone(), word.to_owned()]);
            }
        }
        lines = text_table.lines();
    }
    lines.push(summary(compared));
    lines.push(String::new());
    printed(&lines)
}

fn cells(change: &Change) -> Vec<String> {
    vec![
        change.row.clone(),
        change.column.clone(),
        change.before.text.clone(),
        change.after.text.clone(),
        percent(change),
        match change.verdict {
            Verdict::Fail => "FAIL",
            Verdict::Better => "better",
            Verdict::Worse | Verdict::Changed => "",
        }
        .to_owned(),
    ]
}

/// `+42.0%`; empty if there is nothing to divide by.
fn percent(change: &Change) -> String {
    match change.ratio() {
        None => String::new(),
        Some(u64::MAX) => "from 0".to_owned(),
        Some(ratio) if ratio >= WHOLE => format!("+{}%", units::share(ratio - WHOLE)),
        Some(ratio) => format!("-{}%", units::share(WHOLE - ratio)),
    }
}

/// `3 of 17 procs changed by more than 2 %; 1 over 10 %`
fn summary(compared: &Compared) -> String {
    let whole = |share: Share| {
        let text = units::share(share.0);
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    };
    let failed = compared.rows(|change| change.verdict == Verdict::Fail);
    let mut text = format!(
        "{} of {} {} changed by more than {} %; {} over {} %",
        compared.rows(|_| true),
        compared.both,
        counted(compared.table, compared.both as u64),
        whole(SAME),
        failed,
        whole(compared.fail_over),
    );
    for (rows, word) in [(&compared.new, "new"), (&compared.gone, "gone")] {
        if !rows.is_empty() {
            text += &format!("; {} {word}", rows.len());
        }
    }
    text
}

pub(super) fn json(compared: &Compared, before: &Saved, after: &Saved) -> String {
    let mut out = Writer::default();
    out.object(|out| {
        out.number("schema", SCHEMA);
        for (name, saved) in [("before", before), ("after", after)] {
            out.key(name);
            side(out, saved);
        }
        out.text("table", compared.table);
        out.flag("ok", !compared.has_failed());
        out.number("fail_over_ppm", compared.fail_over.0 / 1_000);
        out.number("both", compared.both as u64);
        out.key("changes");
        out.array(&compared.changes, change);
        out.key("new");
        out.array(&compared.new, |out, row| out.text_value(row));
        out.key("gone");
        out.array(&compared.gone, |out, row| out.text_value(row));
    });
    out.into_line()
}

fn side(out: &mut Writer, saved: &Saved) {
    let snapshot = &saved.snapshot;
    out.object(|out| {
        out.text("file", &saved.name);
        out.text("name", &snapshot.process.name);
        out.number("pid", snapshot.process.pid.into());
        out.number("at_unix_ns", snapshot.at_unix_ns);
        out.number("window_ns", snapshot.window_ns);
    });
}

fn change(out: &mut Writer, change: &Change) {
    out.object(|out| {
        out.text("row", &change.row);
        out.text("column", &change.column);
        out.text("unit", unit(change.unit));
        integer(out, "before", change.before.number);
        integer(out, "after", change.after.number);
        out.optional("ratio_ppm", ratio_ppm(change));
        out.text("verdict", word(change.verdict));
    });
}

/// `null` if there is nothing to divide by, including 0 before.
fn ratio_ppm(change: &Change) -> Option<u64> {
    let ratio = change.ratio().filter(|ratio| *ratio != u64::MAX)?;
    Some(ratio / 1_000)
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fail => "fail",
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::Changed => "changed",
    }
}

pub(super) fn csv(compared: &Compared) -> Result<String, Failure> {
    let number = |n: Option<i128>| n.map_or_else(String::new, |n| n.to_string());
    let mut lines = vec![
        [
            "row",
            "column",
            "unit",
            "before",
            "after",
            "ratio_ppm",
            "verdict",
        ]
        .map(str::to_owned),
    ];
    lines.extend(compared.changes.iter().map(|change| {
        [
            change.row.clone(),
            change.column.clone(),
            unit(change.unit).to_owned(),
            number(change.before.number),
            number(change.after.number),
            number(ratio_ppm(change).map(i128::from)),
            word(change.verdict).to_owned(),
        ]
    }));
    for (rows, word) in [(&compared.new, "new"), (&compared.gone, "gone")] {
        lines.extend(rows.iter().map(|row| {
            let mut line = <[String; 7]>::default();
            line[0].clone_from(row);
            line[6] = word.to_owned();
            line
        }));
    }
    sheet::csv(lines)
}
