//! Validation of calls and thread stacks, by the same rules as a replay: both produce the same
//! stacks.

use std::collections::BTreeMap;

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::CallEvent;

use super::known::{Ends, Known};
use super::report::{Reporter, Subject};
use super::rule::Rule;

/// Maximum number of threads that are followed; events of further threads are ignored.
const THREADS: usize = 1 << 12;

#[derive(Debug, Default)]
pub(super) struct Calls {
    known: Known<u64, KnownCall>,
    threads: BTreeMap<u64, KnownThread>,
    live: u64,
}

#[derive(Debug, Default)]
struct KnownThread {
    latest: u64,
    /// Open polls, outermost first; each call is at most once on one stack.
    stack: Vec<u64>,
}

#[derive(Debug, Default)]
struct KnownCall {
    proc: Option<u32>,
    /// The thread on which the call is being polled.
    on: Option<u64>,
    over: bool,
    /// The task whose root the call is.
    task: Option<u64>,
}

impl Ends for KnownCall {
    fn is_over(&self) -> bool {
        self.over
    }
}

impl Calls {
    /// Advances a thread's time to `t`. Returns `false` if there are too many threads to follow
    /// this one.
    pub(super) fn reach(&mut self, t: u64, reporter: &mut Reporter<'_>) -> bool {
        let room = self.threads.len() < THREADS;
        if !room && !self.threads.contains_key(&reporter.thread) {
            return false;
        }
        let thread = self.threads.entry(reporter.thread).or_default();
        if t < thread.latest {
            reporter.report(Rule::TimeBack, Subject::Thread(reporter.thread));
        }
        thread.latest = t.max(thread.latest);
        true
    }

    pub(super) fn event(&mut self, id: u64, kind: CallEvent, reporter: &mut Reporter<'_>) {
        match kind {
            CallEvent::Create { proc } => self.create(id, proc, reporter),
            CallEvent::PollStart { proc, .. } => self.poll_start(id, proc, reporter),
            CallEvent::PollEnd(end) => self.poll_end(id, end, reporter),
            CallEvent::Drop => self.drop_call(id, reporter),
            CallEvent::Wake | CallEvent::Await { .. } | CallEvent::Unaccounted => {
                if self.known.get(id).is_none() && !self.known.is_unsure() {
                    reporter.report(Rule::UnknownCall, Subject::Call(id));
                }
            }
        }
    }

    fn create(&mut self, id: u64, proc: u32, reporter: &mut Reporter<'_>) {
        if self.known.get(id).is_some_and(|call| !call.over) {
            return reporter.report(Rule::CallTwice, Subject::Call(id));
        }
        self.enter(id, Some(proc));
    }

    fn enter(&mut self, id: u64, proc: Option<u32>) {
        self.live += 1;
        let call = KnownCall {
            proc,
            ..KnownCall::default()
        };
        self.known.enter(id, call);
    }

    fn poll_start(&mut self, id: u64, proc: Option<u32>, reporter: &mut Reporter<'_>) {
        if self.known.get(id).is_none() {
            if !self.known.is_unsure() {
                reporter.report(Rule::UnknownCall, Subject::Call(id));
            }
            self.enter(id, proc);
        }
        // Too many calls to know this one.
        let Some(call) = self.known.get_mut(id) else {
            return;
        };
        if call.over {
            return reporter.report(Rule::EndedCall, Subject::Call(id));
        }
        if let Some(thread) = call.on {
            let on = Subject::Thread(thread);
            return reporter.report_with(Rule::OverlappingPoll, Subject::Call(id), on);
        }
        if proc.is_some() && call.proc.is_some() && proc != call.proc {
            reporter.report(Rule::ProcChanged, Subject::Call(id));
        }
        call.on = Some(reporter.thread);
        self.stack(reporter.thread).push(id);
    }

    fn stack(&mut self, thread: u64) -> &mut Vec<u64> {
        &mut self.threads.entry(thread).or_default().stack
    }

    fn poll_end(&mut self, id: u64, end: PollEnd, reporter: &mut Reporter<'_>) {
        let on = self.known.get(id).and_then(|call| call.on);
        if on != Some(reporter.thread) {
            if self.known.get(id).is_some() || !self.known.has_lost() {
                let subject = Subject::Call(id);
                match on {
                    Some(thread) => {
                        reporter.report_with(Rule::OrphanEnd, subject, Subject::Thread(thread));
                    }
                    None => reporter.report(Rule::OrphanEnd, subject),
                }
            }
            return;
        }
        while let Some(above) = self.stack(reporter.thread).pop() {
            let Some(call) = self.known.get_mut(above) else {
                continue;
            };
            call.on = None;
            if above == id {
                if end != PollEnd::Pending {
                    call.over = true;
                    self.live -= 1;
                }
                return;
            }
            reporter.report_with(Rule::ForcedEnd, Subject::Call(above), Subject::Call(id));
        }
    }

    fn drop_call(&mut self, id: u64, reporter: &mut Reporter<'_>) {
        let Some(call) = self.known.get_mut(id) else {
            if !self.known.is_unsure() {
                reporter.report(Rule::UnknownCall, Subject::Call(id));
            }
            return;
        };
        if call.over {
            return;
        }
        let Some(thread) = call.on else {
            call.over = true;
            self.live -= 1;
            return;
        };
        reporter.report_with(
            Rule::DroppedInPoll,
            Subject::Call(id),
            Subject::Thread(thread),
        );
        if thread == reporter.thread {
            self.poll_end(id, PollEnd::Torn, reporter);
        }
    }

    /// Returns the task whose root a call is.
    pub(super) fn task_of(&self, id: u64) -> Option<u64> {
        self.known.get(id).and_then(|call| call.task)
    }

    /// Makes a call the root of a task. Returns `false` if that is impossible.
    pub(super) fn make_root(&mut self, id: u64, task: u64, thread: u64) -> bool {
        let unsure = self.known.is_unsure();
        match self.known.get_mut(id) {
            None => unsure,
            Some(call) => {
                let fits = call.on == Some(thread) && call.task.is_none();
                call.task.get_or_insert(task);
                fits
            }
        }
    }

    /// Whether a call has not ended; `false` for an unknown one.
    pub(super) fn is_live(&self, id: u64) -> bool {
        self.known.get(id).is_some_and(|call| !call.over)
    }

    /// Whether a call is being polled.
    pub(super) fn is_polled(&self, id: u64) -> bool {
        self.known.get(id).is_some_and(|call| call.on.is_some())
    }

    /// Whether a root of the task is being polled on the thread.
    pub(super) fn is_here(&self, task: u64, thread: u64) -> bool {
        let stack = self.threads.get(&thread).map(|thread| &thread.stack);
        let mut open = stack.into_iter().flatten();
        open.any(|&call| self.task_of(call) == Some(task))
    }

    /// Whether calls may exist that are not known.
    pub(super) const fn is_unsure(&self) -> bool {
        self.known.is_unsure()
    }

    /// Number of calls that have not ended; `None` if too many to know.
    pub(super) fn live(&self) -> Option<u64> {
        (!self.known.has_lost()).then_some(self.live)
    }

    /// Forgets open polls and live calls after arming or disarming.
    pub(super) fn forget(&mut self) {
        self.known.forget_all();
        self.live = 0;
        self.threads
            .values_mut()
            .for_each(|thread| thread.stack.clear());
    }
}
