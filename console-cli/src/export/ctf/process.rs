//! The stream of what belongs to no thread: names of tasks, wakes, marks and the number of tasks.

use std::collections::HashSet;
use std::io;

use turbowish_recording::{PollEvent, WokenBy};

use super::super::Labels;
use super::super::ordered::Ordered;
use super::folder::{PROCESS, TraceFolder};
use super::metadata::{MARK, OF_PROCESS, READY, TASK, TASKS};
use super::packets::{PacketStream, StreamId};
use super::put_text;

/// Events that wait for their turn. A wake is known at the poll that it led to, when many later
/// wakes have been seen.
pub(super) const PENDING: usize = 1 << 20;

/// An event: its number, and its fields.
type ProcessEvent = (u32, Vec<u8>);

/// The stream.
#[derive(Debug)]
pub(super) struct ProcessStream {
    pending: Ordered<ProcessEvent>,
    stream: PacketStream,
    tasks: HashSet<u64>,
    /// The last instant that was written.
    until: u64,
    left_out: u64,
}

impl ProcessStream {
    pub(super) fn new(trace: [u8; 16]) -> Self {
        Self {
            pending: Ordered::default(),
            stream: PacketStream::new(StreamId {
                file: PROCESS.to_owned(),
                trace,
                class: OF_PROCESS,
                instance: 0,
                context: Vec::new(),
            }),
            tasks: HashSet::new(),
            until: 0,
            left_out: 0,
        }
    }

    /// Number of tasks at an instant.
    pub(super) fn tasks(&mut self, at: u64, tasks: u64) {
        self.push(at, TASKS, tasks.to_le_bytes().to_vec());
    }

    pub(super) fn mark(&mut self, at: u64, text: &str) {
        let mut fields = Vec::new();
        put_text(&mut fields, text);
        self.push(at, MARK, fields);
    }

    /// Names a task, the first time. A name is of use at any time: none is left out.
    pub(super) fn meets(&mut self, labels: &Labels, at: u64, task: u64) {
        if task != 0 && self.tasks.insert(task) {
            let mut fields = task.to_le_bytes().to_vec();
            put_text(&mut fields, &labels.task(task));
            self.push(at.max(self.until), TASK, fields);
        }
    }

    /// Names the poll's task, and has what made it ready.
    pub(super) fn poll(
        &mut self,
        folder: &TraceFolder,
        labels: &Labels,
        poll: &PollEvent,
    ) -> io::Result<()> {
        self.meets(labels, poll.start_unix_ns, poll.task);
        if let Some(wakeup) = poll.wakeup {
            let at = poll.start_unix_ns.saturating_sub(wakeup.latency_ns);
            let (by, waker) = match wakeup.by {
                WokenBy::Unknown => (0, 0),
                WokenBy::Task { id, .. } => (1, id),
                WokenBy::Thread(thread) => (2, thread.into()),
            };
            let mut fields = poll.task.to_le_bytes().to_vec();
            fields.push(by);
            fields.extend(waker.to_le_bytes());
            self.push(at, READY, fields);
        }
        while self.pending.len() > PENDING {
            self.write(folder)?;
        }
        Ok(())
    }

    fn push(&mut self, at: u64, id: u32, fields: Vec<u8>) {
        if at < self.until {
            self.left_out += 1;
        } else {
            self.pending.push(at, (id, fields));
        }
    }

    /// Writes the next one.
    fn write(&mut self, folder: &TraceFolder) -> io::Result<()> {
        if let Some((at, (id, fields))) = self.pending.pop() {
            self.until = at;
            self.stream.event(folder, (at, id), &fields)?;
        }
        Ok(())
    }

    /// Writes the rest. Returns how many events were written, and how many were left out.
    pub(super) fn end(&mut self, folder: &TraceFolder) -> io::Result<(u64, u64)> {
        while self.pending.len() > 0 {
            self.write(folder)?;
        }
        self.stream.end(folder, self.left_out)?;
        Ok((self.stream.events(), self.left_out))
    }
}
