//! Polls of calls: each inside of its caller's, on a row of their own below that of the thread. On
//! the thread's row are the polls of tasks, which have other clocks and losses.

use std::collections::BTreeSet;
use std::io::{Read, Seek};

use serde_json::{Map, Value, json};

use super::super::calls::{CallEdge, CallEdgeKind, CallPollEnd, CallTotals};
use super::super::{ExportError, Timeline};
use super::{Events, Micros, tid};

/// Numbers of the rows: those of threads are lower.
const FIRST_ROW: u64 = 1 << 30;

const fn row(thread: u32) -> u64 {
    FIRST_ROW + thread as u64
}

impl Events<'_> {
    /// Writes all of them.
    pub(super) fn calls<R: Read + Seek>(
        &mut self,
        timeline: &mut Timeline<R>,
    ) -> Result<CallTotals, ExportError> {
        let mut named = BTreeSet::new();
        timeline.each_call(|edge| {
            if named.insert(edge.thread) {
                self.call_row(edge.thread)?;
            }
            self.edge(edge)
        })
    }

    /// Names the row of a thread's calls, and puts it after that of the thread.
    fn call_row(&mut self, thread: u32) -> Result<(), ExportError> {
        let (pid, row) = (self.pid, row(thread));
        let name = json!(format!("{}: calls", self.labels.thread(thread)));
        let index = tid(thread);
        write!(
            self.out,
            ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{pid},\"tid\":{row},\"args\":{{\"name\":{name}}}}},\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{pid},\"tid\":{row},\"args\":{{\"sort_index\":{index}}}}}"
        )?;
        Ok(())
    }

    fn edge(&mut self, edge: CallEdge) -> Result<(), ExportError> {
        let (pid, row, ts) = (self.pid, row(edge.thread), self.ts(edge.at));
        match edge.kind {
            CallEdgeKind::Begin { proc } => {
                let name = json!(self.labels.proc(proc));
                write!(
                    self.out,
                    ",\n{{\"ph\":\"B\",\"cat\":\"call\",\"name\":{name},\"pid\":{pid},\"tid\":{row},\"ts\":{ts}}}"
                )?;
            }
            CallEdgeKind::End(end) => {
                let args = Value::Object(self.about_end(end));
                write!(
                    self.out,
                    ",\n{{\"ph\":\"E\",\"pid\":{pid},\"tid\":{row},\"ts\":{ts},\"args\":{args}}}"
                )?;
            }
            CallEdgeKind::Lost { events, to } => {
                let dur = Micros(to - edge.at);
                let name = format!("lost {events} events of calls");
                write!(
                    self.out,
                    ",\n{{\"ph\":\"X\",\"cat\":\"lost calls\",\"name\":\"{name}\",\"pid\":{pid},\"tid\":{row},\"ts\":{ts},\"dur\":{dur},\"args\":{{\"events\":{events}}}}}"
                )?;
            }
        }
        Ok(())
    }

    fn about_end(&self, end: CallPollEnd) -> Map<String, Value> {
        let mut args = Map::new();
        args.insert("outcome".to_owned(), json!(end.word()));
        if let Some(place) = end.stands.and_then(|stands| self.labels.place(stands)) {
            args.insert("waits_at".to_owned(), json!(place));
        }
        if end.deeper > 0 {
            args.insert("deeper_polls_left_out".to_owned(), json!(end.deeper));
        }
        args
    }
}
