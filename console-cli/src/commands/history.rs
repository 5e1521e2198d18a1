//! `turbowish history`: what the threads did, line by line: polls, long waits and holds, the
//! program's own events, marks and losses.

use std::time::Duration;

use serde_json::{Map, Value, json};
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::snapshot::text_table::{Header, TextTable};
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_recording::{PollEvent, ThreadEvent, ThreadEventKind};

use super::export::{overlapping, survey};
use crate::args::{Format, HistoryArgs, HistoryFilter, PastArgs};
use crate::detail::is_called;
use crate::export::{ExportRange, Labels, Step};
use crate::failure::{Failure, note, print, print_lines};
use crate::plain_text;
use crate::recording::{self, Moment};
use crate::{sheet, source};

/// Lines that are kept at least before the oldest ones are dropped.
const SPARE: usize = 10_000;

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
    let mut history = HistoryLines::new(args, labels);
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

/// A line of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// When it began, in nanoseconds since 1970.
    at: u64,
    thread: String,
    task: String,
    /// `poll`, `wait`, `hold`, `event`, `mark` or `lost`.
    what: &'static str,
    took_ns: Option<u64>,
    /// The function, the resource or the name.
    of: String,
    /// What is known beside.
    more: String,
    /// The same as `more`, in parts.
    facts: Map<String, Value>,
}

/// Lines that fit the filter.
struct HistoryLines {
    filter: HistoryFilter,
    limit: usize,
    labels: Labels,
    lines: Vec<Line>,
    dropped: usize,
}

/// What was found.
#[derive(Debug)]
struct FoundLines {
    lines: Vec<Line>,
    /// Number of earlier lines.
    dropped: usize,
}

impl HistoryLines {
    fn new(args: &HistoryArgs, labels: Labels) -> Self {
        Self {
            filter: args.of.clone(),
            limit: match args.limit {
                0 => usize::MAX,
                limit => limit,
            },
            labels,
            lines: Vec::new(),
            dropped: 0,
        }
    }

    fn add(&mut self, step: &Step) {
        let line = match step {
            Step::Poll { thread, poll } => self.poll(*thread, poll),
            Step::Event { thread, event } => self.event(*thread, event),
            Step::Lost {
                thread,
                polls,
                from,
                to,
            } => Line {
                took_ns: Some(to.saturating_sub(*from)),
                of: format!("{} polls", units::count(*polls)),
                facts: facts([("polls", json!(polls))]),
                ..self.line(*from, *thread, "lost")
            },
            Step::LostEvents {
                thread,
                events,
                from,
                to,
            } => Line {
                took_ns: Some(to.saturating_sub(*from)),
                of: format!("{} events", units::count(*events)),
                facts: facts([("events", json!(events))]),
                ..self.line(*from, *thread, "lost")
            },
            Step::Mark { at, text } => Line {
                at: *at,
                thread: String::new(),
                task: String::new(),
                what: "mark",
                took_ns: None,
                of: text.clone(),
                more: String::new(),
                facts: Map::new(),
            },
        };
        if !self.filter.keeps(&line) {
            return;
        }
        self.lines.push(line);
        if self.lines.len() > self.limit.saturating_mul(2).max(SPARE) {
            self.prune();
        }
    }

    /// Drops those beyond the limit that ended first: a hold that has just ended may have begun
    /// long ago.
    fn prune(&mut self) {
        let ended = |line: &Line| line.at.saturating_add(line.took_ns.unwrap_or(0));
        self.lines.sort_by_key(ended);
        let more = self.lines.len().saturating_sub(self.limit);
        self.lines.drain(..more);
        self.dropped += more;
    }

    fn end(mut self) -> FoundLines {
        self.prune();
        self.lines.sort_by_key(|line| line.at);
        FoundLines {
            lines: self.lines,
            dropped: self.dropped,
        }
    }

    fn line(&self, at: u64, thread: u32, what: &'static str) -> Line {
        Line {
            at,
            // Workers of a runtime have one name.
            thread: format!("{thread} {}", self.labels.thread(thread)),
            task: String::new(),
            what,
            took_ns: None,
            of: String::new(),
            more: String::new(),
            facts: Map::new(),
        }
    }

    fn poll(&self, thread: u32, poll: &PollEvent) -> Line {
        let labels = &self.labels;
        let (mut more, mut known) = (Vec::new(), Map::new());
        if let Some(wakeup) = poll.wakeup {
            let by = labels.woken_by(wakeup.by);
            let ready = time(wakeup.latency_ns);
            more.push(format!("ready {ready}, woken by {by}"));
            known.insert("ready_ns".to_owned(), json!(wakeup.latency_ns));
            known.insert("woken_by".to_owned(), json!(by));
        }
        let outcome = match poll.outcome {
            PollOutcome::Pending => {
                let wait = labels.wait(poll.chain);
                known.insert("waits_at".to_owned(), json!(wait));
                more.push(format!("then waits in {wait}"));
                "pending"
            }
            PollOutcome::Ready => "returned",
            PollOutcome::Err => "returned an Err",
            PollOutcome::Panicked => "panicked",
            PollOutcome::Unknown => "unknown",
        };
        known.insert("outcome".to_owned(), json!(outcome));
        if !matches!(poll.outcome, PollOutcome::Pending | PollOutcome::Unknown) {
            more.push(outcome.to_owned());
        }
        Line {
            task: labels.task(poll.task),
            took_ns: Some(poll.hold_ns),
            of: labels.poll(poll),
            more: more.join("; "),
            facts: known,
            ..self.line(poll.start_unix_ns, thread, "poll")
        }
    }

    fn event(&self, thread: u32, event: &ThreadEvent) -> Line {
        let (what, more, span) = match event.kind {
            ThreadEventKind::Waited(span) => ("wait", "", span),
            ThreadEventKind::GaveUp(span) => ("wait", "gave up", span),
            ThreadEventKind::Held(span) => ("hold", "", span),
            ThreadEventKind::User { site, values } => {
                let (name, pairs) = self.labels.event(site, &values);
                let told = pairs.iter().map(|(key, value)| format!("{key}={value}"));
                return Line {
                    task: self.task_of(event),
                    of: name,
                    more: told.collect::<Vec<_>>().join(" "),
                    facts: pairs
                        .iter()
                        .map(|(key, value)| (key.clone(), json!(value)))
                        .collect(),
                    ..self.line(event.at_unix_ns, thread, "event")
                };
            }
        };
        let mut told = span.role.word().to_owned();
        if span.amount > 1 {
            told += &format!(" {}", span.amount);
        }
        if !more.is_empty() {
            told += &format!(", {more}");
        }
        Line {
            task: self.task_of(event),
            took_ns: Some(span.duration_ns),
            of: self.labels.resource(span.resource),
            more: told,
            facts: facts([
                ("role", json!(span.role.word())),
                ("amount", json!(span.amount)),
                ("gave_up", json!(!more.is_empty())),
            ]),
            ..self.line(
                event.at_unix_ns.saturating_sub(span.duration_ns),
                thread,
                what,
            )
        }
    }

    fn task_of(&self, event: &ThreadEvent) -> String {
        match event.task {
            0 => String::new(),
            task => self.labels.task(task),
        }
    }
}

impl HistoryFilter {
    fn keeps(&self, line: &Line) -> bool {
        let is =
            |asked: &Option<String>, name: &str| asked.as_deref().is_none_or(|asked| asked == name);
        let is_thread = |asked: &str| {
            let (number, name) = line.thread.split_once(' ').unwrap_or_default();
            [number, name, &line.thread].contains(&asked)
        };
        let used = |asked: &str| matches!(line.what, "wait" | "hold") && is_called(&line.of, asked);
        let least = self.longer.map_or(0, |least: Duration| {
            u64::try_from(least.as_nanos()).unwrap_or(u64::MAX)
        });
        // Whose polls and events are lost is not known: they may be those that are asked for.
        let is_lost = line.what == "lost";
        (is_lost || is(&self.task, &line.task))
            && self.thread.as_deref().is_none_or(is_thread)
            && (is_lost || self.resource.as_deref().is_none_or(used))
            && (is_lost || least == 0 || line.took_ns.is_some_and(|took| took >= least))
    }
}

fn facts<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    let pairs = pairs.into_iter();
    pairs.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn time(ns: u64) -> String {
    units::duration(ns, Micro::Unicode)
}

/// `14:03:22.118204`
fn instant(unix_ns: u64) -> String {
    let micros = unix_ns / 1_000 % 1_000_000;
    format!("{}.{micros:06}", plain_text::clock(unix_ns))
}

fn table(lines: &[Line]) -> Vec<String> {
    let mut table = TextTable::new(vec![
        Header::words("AT", 15),
        Header::words("THREAD", 6),
        Header::words("TASK", 8),
        Header::words("WHAT", 5),
        Header::numbers("TOOK", 6),
        Header::words("OF", 0),
    ]);
    for line in lines {
        let of = match line.more.is_empty() {
            true => line.of.clone(),
            false => format!("{}  {}", line.of, line.more),
        };
        table.push(vec![
            instant(line.at),
            line.thread.clone(),
            line.task.clone(),
            line.what.to_owned(),
            line.took_ns.map(time).unwrap_or_default(),
            of,
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

fn sheet(lines: &[Line]) -> Result<String, Failure> {
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
