//! History: what the threads did, line by line: polls, long waits and holds, the program's own
//! events, marks and losses. `turbowish history` and the records of the console have the same.

mod subject;

use std::time::Duration;

use serde_json::{Map, Value, json};
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_recording::{PollEvent, ThreadEvent, ThreadEventKind};

pub(crate) use self::subject::SubjectHistory;
use crate::args::HistoryFilter;
use crate::detail::is_called;
use crate::export::{Labels, Step};

/// The word of a loss.
const LOST: &str = "lost";

/// Lines that are kept at least before the oldest ones are dropped.
const SPARE: usize = 10_000;

/// A line of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryLine {
    /// When it began, in nanoseconds since 1970.
    pub(crate) at: u64,
    pub(crate) thread: String,
    pub(crate) task: String,
    /// `poll`, `wait`, `hold`, `event`, `mark` or `lost`.
    pub(crate) what: &'static str,
    pub(crate) took_ns: Option<u64>,
    /// The function, the resource or the name.
    pub(crate) of: String,
    /// What is known beside.
    pub(crate) more: String,
    /// The same as `more`, in parts.
    pub(crate) facts: Map<String, Value>,
}

impl HistoryLine {
    /// A line of that kind of which nothing is known.
    pub(crate) fn empty(what: &'static str) -> Self {
        Self {
            at: 0,
            thread: String::new(),
            task: String::new(),
            what,
            took_ns: None,
            of: String::new(),
            more: String::new(),
            facts: Map::new(),
        }
    }

    /// When it ended, in nanoseconds since 1970.
    pub(crate) fn end(&self) -> u64 {
        self.at.saturating_add(self.took_ns.unwrap_or(0))
    }

    /// Whether polls or events were lost there.
    pub(crate) fn is_loss(&self) -> bool {
        self.what == LOST
    }

    /// `2.00µs`; empty where nothing was measured.
    pub(crate) fn took(&self) -> String {
        self.took_ns.map(time).unwrap_or_default()
    }

    /// `mutex db  lock`: what it is of, and what is known beside.
    pub(crate) fn text(&self) -> String {
        match self.more.is_empty() {
            true => self.of.clone(),
            false => format!("{}  {}", self.of, self.more),
        }
    }
}

/// What the lines are of.
#[derive(Clone, Debug)]
pub(crate) enum HistoryScope {
    /// What the filter of the command keeps.
    Kept(HistoryFilter),
    /// A task or a resource.
    Subject(HistorySubject),
}

/// A task or a resource, by its ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistorySubject {
    /// Its polls, waits, holds and events, and all losses: they may be of that task.
    Task(u64),
    /// Waits for it and holds of it, and lost events.
    Resource(u64),
}

/// The lines of a scope, those that ended last.
pub(crate) struct HistoryLines {
    scope: HistoryScope,
    limit: usize,
    /// What ended later is left out.
    until: u64,
    labels: Labels,
    lines: Vec<HistoryLine>,
    dropped: usize,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FoundLines {
    /// In the order of their beginnings.
    pub(crate) lines: Vec<HistoryLine>,
    /// Number of lines that ended before these.
    pub(crate) dropped: usize,
}

impl HistorySubject {
    fn keeps(self, step: &Step) -> bool {
        match (self, step) {
            (Self::Task(id), Step::Poll { poll, .. }) => poll.task == id,
            (Self::Task(id), Step::Event { event, .. }) => event.task == id,
            (Self::Task(_), Step::Lost { .. }) | (_, Step::LostEvents { .. }) => true,
            (Self::Resource(id), Step::Event { event, .. }) => match event.kind {
                ThreadEventKind::Waited(span)
                | ThreadEventKind::GaveUp(span)
                | ThreadEventKind::Held(span) => span.resource == id,
                ThreadEventKind::User { .. } => false,
            },
            (Self::Resource(_), Step::Poll { .. } | Step::Lost { .. }) => false,
            (_, Step::Mark { .. }) => false,
        }
    }
}

impl HistoryLines {
    /// At most `limit` lines; tasks, threads and resources have the names of `labels`.
    pub(crate) fn new(scope: HistoryScope, limit: usize, labels: Labels) -> Self {
        Self {
            scope,
            limit,
            until: u64::MAX,
            labels,
            lines: Vec::new(),
            dropped: 0,
        }
    }

    /// Without what ended after an instant. Losses stay: they may have been before it.
    pub(crate) fn until(self, unix_ns: u64) -> Self {
        Self {
            until: unix_ns,
            ..self
        }
    }

    /// Adds a step, if it is of the scope.
    pub(crate) fn add(&mut self, step: &Step) {
        if let HistoryScope::Subject(subject) = self.scope
            && !subject.keeps(step)
        {
            return;
        }
        let line = self.line_of(step);
        if let HistoryScope::Kept(filter) = &self.scope
            && !filter.keeps(&line)
        {
            return;
        }
        if line.end() > self.until && !line.is_loss() {
            return;
        }
        self.lines.push(line);
        if self.lines.len() > self.limit.saturating_mul(2).max(SPARE) {
            self.prune();
        }
    }

    fn line_of(&self, step: &Step) -> HistoryLine {
        match step {
            Step::Poll { thread, poll } => self.poll(*thread, poll),
            Step::Event { thread, event } => self.event(*thread, event),
            Step::Lost {
                thread,
                polls,
                from,
                to,
            } => HistoryLine {
                took_ns: Some(to.saturating_sub(*from)),
                of: format!("{} polls", units::count(*polls)),
                facts: facts([("polls", json!(polls))]),
                ..self.line(*from, *thread, LOST)
            },
            Step::LostEvents {
                thread,
                events,
                from,
                to,
            } => HistoryLine {
                took_ns: Some(to.saturating_sub(*from)),
                of: format!("{} events", units::count(*events)),
                facts: facts([("events", json!(events))]),
                ..self.line(*from, *thread, LOST)
            },
            Step::Mark { at, text } => HistoryLine {
                at: *at,
                of: text.clone(),
                ..HistoryLine::empty("mark")
            },
        }
    }

    /// Drops those beyond the limit that ended first: a hold that has just ended may have begun
    /// long ago.
    fn prune(&mut self) {
        self.lines.sort_by_key(HistoryLine::end);
        let more = self.lines.len().saturating_sub(self.limit);
        self.lines.drain(..more);
        self.dropped += more;
    }

    /// All of them.
    pub(crate) fn end(mut self) -> FoundLines {
        self.prune();
        self.lines.sort_by_key(|line| line.at);
        FoundLines {
            lines: self.lines,
            dropped: self.dropped,
        }
    }

    fn line(&self, at: u64, thread: u32, what: &'static str) -> HistoryLine {
        HistoryLine {
            at,
            // Workers of a runtime have one name.
            thread: format!("{thread} {}", self.labels.thread(thread)),
            ..HistoryLine::empty(what)
        }
    }

    fn poll(&self, thread: u32, poll: &PollEvent) -> HistoryLine {
        let labels = &self.labels;
        let (mut more, mut known) = (Vec::new(), Map::new());
        if let Some(wakeup) = poll.wakeup {
            let by = labels.woken_by(wakeup.by);
            let ready = time(wakeup.latency_ns);
            let calls = labels.woken_in(wakeup.by);
            let within = calls.as_ref().map(|calls| format!(" in {calls}"));
            let within = within.unwrap_or_default();
            more.push(format!("ready {ready}, woken by {by}{within}"));
            if let Some(calls) = calls {
                known.insert("woken_in".to_owned(), json!(calls));
            }
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
        HistoryLine {
            task: labels.task(poll.task),
            took_ns: Some(poll.hold_ns),
            of: labels.poll(poll),
            more: more.join("; "),
            facts: known,
            ..self.line(poll.start_unix_ns, thread, "poll")
        }
    }

    fn event(&self, thread: u32, event: &ThreadEvent) -> HistoryLine {
        let (what, more, span) = match event.kind {
            ThreadEventKind::Waited(span) => ("wait", "", span),
            ThreadEventKind::GaveUp(span) => ("wait", "gave up", span),
            ThreadEventKind::Held(span) => ("hold", "", span),
            ThreadEventKind::User { site, values } => {
                let (name, pairs) = self.labels.event(site, &values);
                let told = pairs.iter().map(|(key, value)| format!("{key}={value}"));
                return HistoryLine {
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
        HistoryLine {
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
    fn keeps(&self, line: &HistoryLine) -> bool {
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
        let is_lost = line.is_loss();
        (is_lost || is(&self.task, &line.task))
            && self.thread.as_deref().is_none_or(is_thread)
            && (is_lost || self.resource.as_deref().is_none_or(used))
            && (is_lost || least == 0 || line.took_ns.is_some_and(|took| took >= least))
    }
}

pub(crate) fn facts<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    let pairs = pairs.into_iter();
    pairs.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn time(ns: u64) -> String {
    units::duration(ns, Micro::Unicode)
}

/// `14:03:22.118204`, of the time of the day in whole seconds.
pub(crate) fn instant(clock: &str, unix_ns: u64) -> String {
    let micros = unix_ns / 1_000 % 1_000_000;
    format!("{clock}.{micros:06}")
}

#[cfg(test)]
pub(crate) mod tests;
