//! Chrome's trace events: JSON with an event a line, for `chrome://tracing`, Perfetto, Speedscope
//! and others.
//!
//! Times are microseconds since the beginning of the timeline, with three places: a viewer reads
//! them as floating-point numbers, in which nanoseconds since 1970 have no room.

mod calls;

use std::fmt;
use std::io::{Read, Seek, Write};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_recording::{PollEvent, ThreadEvent, ThreadEventKind};

use super::recent::RecentPolls;
use super::timeline::{Step, Totals};
use super::{ExportError, Labels, Timeline};

/// Writes a timeline.
///
/// # Errors
/// The recording cannot be read, or the output takes no bytes.
pub(crate) fn write<R: Read + Seek>(
    timeline: &mut Timeline<R>,
    labels: &Labels,
    out: &mut dyn Write,
) -> Result<Totals, ExportError> {
    let begin = timeline.begin();
    let mut events = Events {
        out,
        labels,
        begin,
        pid: labels.pid().max(1),
        recent: RecentPolls::default(),
        flows: 0,
        spans: 0,
    };
    events.head(timeline)?;
    let mut totals = timeline.each(|step| events.step(&step))?;
    totals.calls = events.calls(timeline)?;
    events.out.write_all(b"\n]}\n")?;
    Ok(totals)
}

/// `12.345`: microseconds of nanoseconds.
struct Micros(u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

struct Events<'a> {
    out: &'a mut dyn Write,
    labels: &'a Labels,
    begin: u64,
    pid: u32,
    recent: RecentPolls,
    /// Number of flows so far.
    flows: u64,
    /// Number of waits and holds so far.
    spans: u64,
}

/// A thread as a viewer numbers it: 0 stands for an idle processor there.
const fn tid(thread: u32) -> u64 {
    thread as u64 + 1
}

impl Events<'_> {
    fn head<R: Read + Seek>(&mut self, timeline: &Timeline<R>) -> Result<(), ExportError> {
        let begin = i128::from(self.begin);
        let begin = Timestamp::from_nanosecond(begin).map_or_else(
            |_| format!("{begin} ns since 1970"),
            |begin| begin.to_string(),
        );
        let about = json!({"recorded by": "TurboWish", "time 0": begin});
        writeln!(
            self.out,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":["
        )?;
        let name = json!(self.labels.process());
        write!(
            self.out,
            r#"{{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{name}}}}}"#,
            self.pid
        )?;
        for thread in timeline.threads() {
            let (pid, tid) = (self.pid, tid(thread));
            let name = json!(self.labels.thread(thread));
            write!(
                self.out,
                ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":{name}}}}},\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"sort_index\":{tid}}}}}"
            )?;
        }
        for (at, tasks) in timeline.tasks() {
            write!(
                self.out,
                ",\n{{\"ph\":\"C\",\"name\":\"tasks\",\"pid\":{},\"ts\":{},\"args\":{{\"tasks\":{tasks}}}}}",
                self.pid,
                self.ts(*at)
            )?;
        }
        Ok(())
    }

    const fn ts(&self, unix_ns: u64) -> Micros {
        Micros(unix_ns.saturating_sub(self.begin))
    }

    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        match step {
            Step::Poll { thread, poll } => {
                self.recent.add(*thread, poll);
                self.flow(*thread, poll)?;
                let (name, args) = (self.labels.poll(poll), self.about(poll));
                let span = (poll.start_unix_ns, poll.hold_ns);
                self.slice("poll", *thread, span, &name, &Value::Object(args))
            }
            Step::Lost {
                thread,
                polls,
                from,
                to,
            } => {
                let name = format!("lost {polls} polls");
                let args = json!({"polls": polls});
                self.slice("lost", *thread, (*from, to - from), &name, &args)
            }
            Step::Event { thread, event } => self.event(*thread, event),
            Step::LostEvents {
                thread, events, to, ..
            } => {
                let name = format!("lost {events} events");
                self.instant("lost", *thread, *to, &name, &json!({"events": events}))
            }
            Step::Mark { at, text } => {
                let (pid, ts, name) = (self.pid, self.ts(*at), json!(text));
                write!(
                    self.out,
                    ",\n{{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"mark\",\"name\":{name},\"pid\":{pid},\"tid\":0,\"ts\":{ts}}}"
                )?;
                Ok(())
            }
        }
    }

    fn instant(
        &mut self,
        category: &str,
        thread: u32,
        at: u64,
        name: &str,
        args: &Value,
    ) -> Result<(), ExportError> {
        let (pid, tid, ts, name) = (self.pid, tid(thread), self.ts(at), json!(name));
        write!(
            self.out,
            ",\n{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"{category}\",\"name\":{name},\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},\"args\":{args}}}"
        )?;
        Ok(())
    }

    /// A span beside the threads for a wait or a hold, by resource; else an instant of the thread.
    fn event(&mut self, thread: u32, event: &ThreadEvent) -> Result<(), ExportError> {
        let (category, span) = match event.kind {
            ThreadEventKind::Waited(span) => ("wait", span),
            ThreadEventKind::GaveUp(span) => ("gave up", span),
            ThreadEventKind::Held(span) => ("hold", span),
            ThreadEventKind::User { site, values } => {
                let (name, pairs) = self.labels.event(site, &values);
                let numbers: Map<String, Value> = pairs
                    .into_iter()
                    .map(|(key, value)| (key, json!(value)))
                    .collect();
                let args = json!({"task": self.labels.task(event.task), "numbers": numbers});
                return self.instant("event", thread, event.at_unix_ns, &name, &args);
            }
        };
        self.spans += 1;
        let (id, pid) = (self.spans, self.pid);
        let task = self.labels.task(event.task);
        let resource = self.labels.resource(span.resource);
        let name = json!(format!("{category} {resource}"));
        let args = json!({
            "task": task,
            "thread": self.labels.thread(thread),
            "role": span.role.word(),
            "amount": span.amount,
        });
        let begin = event.at_unix_ns.saturating_sub(span.duration_ns);
        for (phase, at) in [("b", begin), ("e", event.at_unix_ns)] {
            let ts = self.ts(at);
            write!(
                self.out,
                ",\n{{\"ph\":\"{phase}\",\"cat\":\"{category}\",\"id\":{id},\"name\":{name},\"pid\":{pid},\"tid\":0,\"ts\":{ts},\"args\":{args}}}"
            )?;
        }
        Ok(())
    }

    fn slice(
        &mut self,
        category: &str,
        thread: u32,
        (start, hold): (u64, u64),
        name: &str,
        args: &Value,
    ) -> Result<(), ExportError> {
        let (pid, tid, ts, name) = (self.pid, tid(thread), self.ts(start), json!(name));
        let dur = Micros(hold);
        write!(
            self.out,
            ",\n{{\"ph\":\"X\",\"cat\":\"{category}\",\"name\":{name},\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\"args\":{args}}}"
        )?;
        Ok(())
    }

    /// An arrow from the poll in which the task was woken.
    fn flow(&mut self, thread: u32, poll: &PollEvent) -> Result<(), ExportError> {
        let Some(wake) = self.recent.waker(poll) else {
            return Ok(());
        };
        self.flows += 1;
        let (id, pid) = (self.flows, self.pid);
        let ends = [
            ("\"s\"", tid(wake.thread), self.ts(wake.at)),
            (
                "\"f\",\"bp\":\"e\"",
                tid(thread),
                self.ts(poll.start_unix_ns),
            ),
        ];
        for (end, tid, ts) in ends {
            write!(
                self.out,
                ",\n{{\"ph\":{end},\"cat\":\"wake\",\"name\":\"wake\",\"id\":{id},\"pid\":{pid},\"tid\":{tid},\"ts\":{ts}}}"
            )?;
        }
        Ok(())
    }

    /// What a viewer shows of a poll that is selected.
    fn about(&self, poll: &PollEvent) -> Map<String, Value> {
        let mut args = Map::new();
        args.insert("task".to_owned(), json!(self.labels.task(poll.task)));
        args.insert("outcome".to_owned(), json!(outcome(poll.outcome)));
        if let Some(wakeup) = poll.wakeup {
            args.insert("ready_ns".to_owned(), json!(wakeup.latency_ns));
            let by = self.labels.woken_by(wakeup.by);
            args.insert("woken_by".to_owned(), json!(by));
            if let Some(calls) = self.labels.woken_in(wakeup.by) {
                args.insert("woken_in".to_owned(), json!(calls));
            }
        }
        if poll.outcome == PollOutcome::Pending {
            args.insert("waits_at".to_owned(), json!(self.labels.wait(poll.chain)));
        }
        args
    }
}

/// The word for it.
pub(super) const fn outcome(outcome: PollOutcome) -> &'static str {
    match outcome {
        PollOutcome::Unknown => "unknown",
        PollOutcome::Pending => "pending",
        PollOutcome::Ready => "ready",
        PollOutcome::Err => "error",
        PollOutcome::Panicked => "panicked",
    }
}
