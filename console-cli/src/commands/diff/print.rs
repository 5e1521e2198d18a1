//! The differences as a table, a document of docs/json.md, or CSV.

use turbowish_model::snapshot::json::{SCHEMA, Writer};
use turbowish_model::snapshot::text_table::{Header, TextTable};
use turbowish_model::snapshot::units::{self, Micro};

use super::compare::{Change, Compared, Doubt, SAME, Verdict};
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
        for (rows, word) in one_sided(compared) {
            for row in rows {
                text_table.push(vec![row.clone(), word.to_owned()]);
            }
        }
        lines = text_table.lines();
    }
    lines.extend(sentences(compared));
    lines.extend(uncalled(compared));
    lines.extend(compared.allowed.machine.sentence(SAME));
    lines.extend(behind(compared));
    lines.push(summary(compared));
    lines.extend(elsewhere(compared));
    lines.push(String::new());
    printed(&lines)
}

/// That waits may be long because of one poll, if that may have kept one of them from failing.
fn behind(compared: &Compared) -> Option<String> {
    let share = (compared.behind * 100.0).round();
    let is_unsure = |change: &Change| change.includes_waits && change.is_unsure();
    (share >= 1.0 && compared.changes.iter().any(is_unsure)).then(|| {
        format!("up to {share} % of the calls of a window may have waited behind its longest poll")
    })
}

fn cells(change: &Change) -> Vec<String> {
    vec![
        change.row.clone(),
        change.title.clone(),
        change.before.text.clone(),
        change.after.text.clone(),
        percent(change),
        match change.verdict {
            Verdict::Fail => "FAIL",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Changed => changed(change),
            Verdict::Unsure(Doubt::Chance) => "chance",
            Verdict::Unsure(Doubt::TooFew) => "too few",
            Verdict::Unsure(Doubt::Single) => "single",
        }
        .to_owned(),
    ]
}

/// What one of the files does not tell.
const ONLY_AFTER: &str = "only after";
const ONLY_BEFORE: &str = "only before";

/// The rows that only one file has, with a word for them. A file with a part of its rows does not
/// tell that there are no others.
fn one_sided(compared: &Compared) -> [(&[String], &'static str); 2] {
    let [before, after] = compared.are_whole;
    let new = if before { "new" } else { ONLY_AFTER };
    let gone = if after { "gone" } else { ONLY_BEFORE };
    [(&compared.new, new), (&compared.gone, gone)]
}

/// `not called in the 10.0 s of after.json: kv::db::get`: functions of which the second file has no
/// poll.
fn uncalled(compared: &Compared) -> Option<String> {
    let is_polls = |change: &&Change| change.field == "poll_hold" && change.after.number.is_none();
    let changes = compared.changes.iter().filter(is_polls);
    let mut rows: Vec<&str> = changes.map(|change| change.row.as_str()).collect();
    rows.dedup();
    let (file, window) = &compared.second;
    (!rows.is_empty()).then(|| {
        let window = units::duration(*window, Micro::Unicode);
        format!("not called in the {window} of {file}: {}", rows.join(", "))
    })
}

/// What has changed, and is neither good nor bad.
fn changed(change: &Change) -> &'static str {
    match (change.before.number, change.after.number) {
        (None, _) => ONLY_AFTER,
        (_, None) => ONLY_BEFORE,
        (Some(before), Some(after)) if after > before => "more",
        _ => "less",
    }
}

/// A sentence for each row that fails, about its worst column:
/// `handle: p50 of a call 1.00ms -> 1.21ms (+21.0%, at least +18.0%; 5,310 and 5,280 calls)`
fn sentences(compared: &Compared) -> Vec<String> {
    let mut told: Vec<&str> = Vec::new();
    let mut sentences = Vec::new();
    for change in &compared.changes {
        if change.verdict != Verdict::Fail || told.contains(&change.row.as_str()) {
            continue;
        }
        told.push(&change.row);
        let (what, values) = noun(change);
        let mut known = vec![percent(change)];
        if let Some(ppm) = at_least_ppm(change).filter(|_| change.before.n.is_some()) {
            let ppb = (ppm * 1_000).saturating_sub(WHOLE);
            known.push(format!("at least +{}%", units::share(ppb)));
        }
        let mut figures = known.join(", ");
        if let (Some(before), Some(after)) = (change.before.n, change.after.n) {
            figures += &format!("; {} and {} {values}", grouped(before), grouped(after));
        }
        sentences.push(format!(
            "{}: {what} {} -> {} ({figures})",
            change.row, change.before.text, change.after.text
        ));
    }
    sentences
}

/// `p50 of a call` and `calls`
fn noun(change: &Change) -> (String, &'static str) {
    let (one, values) = match change.field {
        "call_running" => ("call", "calls"),
        "call_inclusive" => ("call with what it called", "calls"),
        "call_wall" => ("call from creation to end", "calls"),
        "poll_hold" => ("poll", "polls"),
        "poll_running" => ("poll without what it polled", "polls"),
        "ready_latency" => ("wake-up", "wake-ups"),
        "waited" | "await_wait" => ("wait", "waits"),
        "kept" => ("hold", "holds"),
        _ => return (change.column.clone(), "events"),
    };
    match change.column.rsplit_once('_') {
        Some((_, percentile)) => (format!("{percentile} of a {one}"), values),
        None => (change.column.clone(), values),
    }
}

/// `5,310`
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// `10`, and `2.5`
fn whole(share: Share) -> String {
    let text = units::share(share.0);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// `elsewhere: 3 awaits over 10 % (--table awaits)`
fn elsewhere(compared: &Compared) -> Option<String> {
    let over = whole(compared.allowed.share);
    let tables = compared.elsewhere.iter().map(|&(table, rows)| {
        let noun = counted(table, rows as u64);
        format!("{rows} {noun} over {over} % (--table {table})")
    });
    let tables: Vec<String> = tables.collect();
    (!tables.is_empty()).then(|| format!("elsewhere: {}", tables.join(", ")))
}

/// `3 of 17 procs changed by more than 2 %; 1 over 10 %, 2 not certain`
fn summary(compared: &Compared) -> String {
    // A row with a certain change is no longer one with an uncertain one.
    let certain = |change: &Change| !matches!(change.verdict, Verdict::Unsure(_));
    let changed = compared.rows(certain);
    let mut text = format!(
        "{} of {} {} changed by more than {} %; {} over {} %",
        changed,
        compared.both,
        counted(compared.table, compared.both as u64),
        whole(SAME),
        compared.failed(),
        whole(compared.allowed.share),
    );
    let unsure = compared.rows(|_| true) - changed;
    if unsure > 0 {
        text += &format!(", {unsure} not certain");
    }
    for (rows, word) in one_sided(compared) {
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
        out.number("fail_over_ppm", compared.allowed.share.0 / 1_000);
        out.number("min_change_ns", compared.allowed.time_ns);
        let machine = compared.allowed.machine;
        out.number("machine_ppm", (machine.excused * 1e6).round() as u64);
        out.number("machine_functions", machine.functions as u64);
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
        out.optional_text("why", why(change.verdict));
        out.optional("at_least_ppm", at_least_ppm(change));
        out.optional("before_n", change.before.n);
        out.optional("after_n", change.after.n);
    });
}

/// `null` if there is nothing to divide by, including 0 before.
fn ratio_ppm(change: &Change) -> Option<u64> {
    let ratio = change.ratio().filter(|ratio| *ratio != u64::MAX)?;
    Some(ratio / 1_000)
}

/// The smallest ratio that chance leaves possible; `null` if it is not bounded, or only upwards.
fn at_least_ppm(change: &Change) -> Option<u64> {
    let at_least = change.growth.at_least;
    (at_least > 0.0 && at_least.is_finite()).then_some((at_least * 1e6) as u64)
}

const fn why(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Unsure(Doubt::Chance) => Some("chance"),
        Verdict::Unsure(Doubt::TooFew) => Some("too_few"),
        Verdict::Unsure(Doubt::Single) => Some("single"),
        _ => None,
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fail => "fail",
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::Changed => "changed",
        Verdict::Unsure(_) => "unsure",
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
            "why",
            "at_least_ppm",
            "before_n",
            "after_n",
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
            why(change.verdict).unwrap_or_default().to_owned(),
            number(at_least_ppm(change).map(i128::from)),
            number(change.before.n.map(i128::from)),
            number(change.after.n.map(i128::from)),
        ]
    }));
    for (rows, word) in one_sided(compared) {
        lines.extend(rows.iter().map(|row| {
            let mut line = <[String; 11]>::default();
            line[0].clone_from(row);
            line[6] = word.to_owned();
            line
        }));
    }
    sheet::csv(lines)
}
