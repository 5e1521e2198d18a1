//! `turbowish history`: what the threads did, line by line: polls, long waits and holds, the
//! program's own events, marks and losses.

use serde_json::{Value, json};
use turbowish_model::snapshot::text_table::{Header, TextTable};

use super::export::survey;
use crate::args::{Format, HistoryArgs, PastArgs};
use crate::export::{ExportRange, overlapping};
use crate::failure::{Failure, note, print, print_lines};
use crate::history::{FoundLines, HistoryLine, HistoryLines, HistoryScope, facts, instant};
use crate::plain_text;
use crate::recording::{self, Moment};
use crate::{sheet, source};

/// Runs the command.
///
/// # Errors
/// The target cannot be reached, or has nothing of that kind.
pub(crate) fn run(args: &HistoryArgs, token: Option<&str>) -> Result<(), Failure> {
    let origin = source::origin(args.target.as_deref(), &PastArgs::default(), token)?;
    let since = args.at.is_none().then_some(args.last);
    let recording = source::whole(origin, source::since(since))?;
    let (name, survey) = survey(recording)?;
    let range = range(args, survey.span(), &name)?;
    let unreadable = |fault| recording::failed(&name, fault);
    let (mut timeline, labels) = survey.timeline(range).map_err(unreadable)?;
    let limit = match args.limit {
        0 => usize::MAX,
        limit => limit,
    };
    let mut history = HistoryLines::new(HistoryScope::Kept(args.of.clone()), limit, labels);
    let read = timeline.each(|step| {
        history.add(&step);
        Ok(())
    });
    let totals = read.map_err(|fault| Failure::Local(format!("{name}: {fault}")))?;
    if totals.overlaps > 0 {
        note(&overlapping(totals.overlaps));
    }
    let found = history.end();
    if found.lines.is_empty() {
        return Err(Failure::usage(format!(
            "{name} has nothing of that kind from {} to {}{}",
            plain_text::local(range.from),
            plain_text::local(range.to),
            match args.at {
                Some(_) => "",
                None => "; --last 60s looks further back",
            }
        )));
    }
    if found.dropped > 0 {
        note(&format!(
            "the last {} of {} lines; -n 0 prints all",
            found.lines.len(),
            found.lines.len() + found.dropped
        ));
    }
    match args.format {
        Format::Table => print_lines(&table(&found.lines)),
        Format::Json => print(&document(&name, &found)),
        Format::Csv => print(&sheet(&found.lines)?),
    }
}

/// The range that was asked for, within what there is.
fn range(
    args: &HistoryArgs,
    span: Option<ExportRange>,
    name: &str,
) -> Result<ExportRange, Failure> {
    let Some(ExportRange { from, to }) = span else {
        return Err(Failure::usage(format!("{name} has no state and no poll")));
    };
    let last = u64::try_from(args.last.as_nanos()).unwrap_or(u64::MAX);
    let end = args.at.unwrap_or(Moment::END).unix_ns(from, to);
    match end {
        Some(end) if end >= from => Ok(ExportRange {
            from: end.min(to).saturating_sub(last).max(from),
            to: end.min(to),
        }),
        _ => Err(Failure::usage(format!(
            "{name} has nothing so early: it begins at {} and ends at {}",
            plain_text::local(from),
            plain_text::local(to)
        ))),
    }
}

fn table(lines: &[HistoryLine]) -> Vec<String> {
    let mut table = TextTable::new(vec![
        Header::words("AT", 15),
        Header::words("THREAD", 6),
        Header::words("TASK", 8),
        Header::words("WHAT", 5),
        Header::numbers("TOOK", 6),
        Header::words("OF", 0),
    ]);
    for line in lines {
        table.push(vec![
            instant(&plain_text::clock(line.at), line.at),
            line.thread.clone(),
            line.task.clone(),
            line.what.to_owned(),
            line.took(),
            line.text(),
        ]);
    }
    table.lines()
}

fn document(name: &str, found: &FoundLines) -> String {
    let rows = found.lines.iter().map(|line| {
        let mut row = facts([
            ("at_unix_ns", json!(line.at)),
            ("thread", json!(line.thread)),
            ("task", json!(line.task)),
            ("what", json!(line.what)),
            ("took_ns", json!(line.took_ns)),
            ("of", json!(line.of)),
        ]);
        row.insert("facts".to_owned(), Value::Object(line.facts.clone()));
        Value::Object(row)
    });
    let rows: Vec<Value> = rows.collect();
    let document = json!({
        "schema": 1,
        "source": name,
        "left_out": found.dropped,
        "history": rows,
    });
    format!("{document}\n")
}

fn sheet(lines: &[HistoryLine]) -> Result<String, Failure> {
    let heads = [
        "at_unix_ns",
        "thread",
        "task",
        "what",
        "took_ns",
        "of",
        "more",
    ];
    let rows = lines.iter().map(|line| {
        [
            line.at.to_string(),
            line.thread.clone(),
            line.task.clone(),
            line.what.to_owned(),
            line.took_ns
                .map(|took| took.to_string())
                .unwrap_or_default(),
            line.of.clone(),
            line.more.clone(),
        ]
    });
    sheet::csv(std::iter::once(heads.map(str::to_owned)).chain(rows))
}

#[cfg(test)]
mod tests;
