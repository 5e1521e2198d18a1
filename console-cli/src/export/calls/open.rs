//! The open polls of a thread.

use std::collections::HashMap;

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::CallEvent;
use turbowish_recording::CallName;

use super::super::ExportRange;
use super::{CallEdge, CallEdgeKind, CallPollEnd};

/// The most polls that are told inside one another. What is deeper is counted.
pub(super) const DEEPEST: usize = 255;

/// The most calls whose await points are remembered between their polls.
const STANDING: usize = 1 << 20;

/// The await points at which calls stand between their polls, by the numbers of the calls.
#[derive(Debug, Default)]
pub(super) struct StandingCalls(HashMap<u64, CallName>);

impl StandingCalls {
    fn stands(&mut self, call: u64, at: CallName) {
        if self.0.len() < STANDING || self.0.contains_key(&call) {
            self.0.insert(call, at);
        } else {
            // An older place would be wrong.
            self.0.remove(&call);
        }
    }

    /// Forgets all: arrivals may have been missed.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A poll that has not ended.
#[derive(Debug)]
struct OpenPoll {
    call: u64,
    proc: u32,
    begin: u64,
    /// Whether its begin was told.
    told: bool,
    /// The last await point at which the call arrived in this poll.
    arrived: Option<CallName>,
    deeper: u64,
}

/// The open polls of a thread, outermost first.
#[derive(Debug)]
pub(super) struct OpenPolls {
    thread: u32,
    polls: Vec<OpenPoll>,
    /// Open polls that are too deep.
    hidden: u64,
    /// Time of the last event.
    pub(super) until: u64,
}

impl OpenPolls {
    pub(super) const fn new(thread: u32, begin: u64) -> Self {
        Self {
            thread,
            polls: Vec::new(),
            hidden: 0,
            until: begin,
        }
    }

    /// Whether none is open.
    pub(super) const fn is_empty(&self) -> bool {
        self.polls.is_empty()
    }

    /// Takes the next event of the thread, at `at`. Edges within the range go to `told`.
    pub(super) fn event(
        &mut self,
        (at, call, event): (u64, u64, CallEvent),
        standing: &mut StandingCalls,
        range: ExportRange,
        told: &mut Vec<CallEdge>,
    ) {
        self.until = self.until.max(at);
        self.tell_begins(range, told);
        match event {
            CallEvent::Create { .. } => {
                standing.0.remove(&call);
            }
            CallEvent::PollStart { proc, .. } => self.begin(call, proc.unwrap_or(u32::MAX)),
            CallEvent::Await { proc, site, .. } => self.arrive(proc, site),
            CallEvent::PollEnd(end) => self.end(call, end, standing, told),
            CallEvent::Drop => {
                standing.0.remove(&call);
                if self.polls.iter().any(|poll| poll.call == call) {
                    self.end(call, PollEnd::Torn, standing, told);
                }
            }
            CallEvent::Unaccounted | CallEvent::Wake => {}
        }
        self.tell_begins(range, told);
    }

    fn begin(&mut self, call: u64, proc: u32) {
        if self.polls.len() == DEEPEST {
            self.hidden += 1;
            if let Some(last) = self.polls.last_mut() {
                last.deeper += 1;
            }
            return;
        }
        self.polls.push(OpenPoll {
            call,
            proc,
            begin: self.until,
            told: false,
            arrived: None,
            deeper: 0,
        });
    }

    /// Tells the begins of the polls that reach into the range.
    fn tell_begins(&mut self, range: ExportRange, told: &mut Vec<CallEdge>) {
        if self.until < range.from {
            return;
        }
        let thread = self.thread;
        let untold = self.polls.iter().rposition(|poll| poll.told);
        let untold = untold.map_or(0, |last| last + 1);
        for poll in &mut self.polls[untold..] {
            poll.told = true;
            let (at, proc) = (poll.begin, poll.proc);
            let kind = CallEdgeKind::Begin { proc };
            told.push(CallEdge { thread, at, kind });
        }
    }

    fn arrive(&mut self, proc: u32, site: u32) {
        if self.hidden == 0
            && let Some(poll) = self.polls.last_mut()
        {
            // An unknown await point is one, too: the call has left the one before.
            let site = site.checked_sub(1);
            poll.arrived = Some(CallName { proc, site });
        }
    }

    fn end(
        &mut self,
        call: u64,
        end: PollEnd,
        standing: &mut StandingCalls,
        told: &mut Vec<CallEdge>,
    ) {
        let Some(at) = self.polls.iter().rposition(|poll| poll.call == call) else {
            match self.hidden.checked_sub(1) {
                Some(fewer) => self.hidden = fewer,
                // Its begin was not recorded, so others may be missing, too.
                None if !self.polls.is_empty() => self.break_off(standing, told),
                None => {}
            }
            return;
        };
        self.hidden = 0;
        while self.polls.len() > at + 1 {
            self.pop(None, None, told);
        }
        let arrived = self.polls[at].arrived;
        let stands = match end {
            PollEnd::Pending => {
                if let Some(place) = arrived {
                    standing.stands(call, place);
                }
                arrived.or_else(|| standing.0.get(&call).copied())
            }
            _ => {
                standing.0.remove(&call);
                None
            }
        };
        self.pop(Some(end), stands, told);
    }

    /// Ends all: what comes next does not belong to what was before.
    pub(super) fn break_off(&mut self, standing: &mut StandingCalls, told: &mut Vec<CallEdge>) {
        standing.clear();
        self.close(told);
    }

    fn close(&mut self, told: &mut Vec<CallEdge>) {
        self.hidden = 0;
        while !self.polls.is_empty() {
            self.pop(None, None, told);
        }
    }

    fn pop(&mut self, end: Option<PollEnd>, stands: Option<CallName>, told: &mut Vec<CallEdge>) {
        let Some(poll) = self.polls.pop() else {
            return;
        };
        if poll.told {
            let deeper = poll.deeper;
            let end = CallPollEnd {
                end,
                stands,
                deeper,
            };
            told.push(CallEdge {
                thread: self.thread,
                at: self.until,
                kind: CallEdgeKind::End(end),
            });
        }
    }
}
