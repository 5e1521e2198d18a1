//! Streams of calls' events from random moves: such as a program can make, and such as only a torn
//! recording holds.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use serde_json::{Value, json};
use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{CallEvent, Event, EventKind};

/// One move: what its numbers mean depends on the events so far.
pub type Move = (u8, u8, u8, u8);

/// Any event of a call of one of `procs` procs, possible or not.
pub fn call_event(procs: u32) -> impl Strategy<Value = CallEvent> {
    prop_oneof![
        (0..procs).prop_map(|proc| CallEvent::Create { proc }),
        (any::<bool>(), any::<bool>()).prop_map(|(named, root)| CallEvent::PollStart {
            proc: named.then_some(0),
            root,
        }),
        prop_oneof![
            Just(PollEnd::Pending),
            Just(PollEnd::Ready),
            Just(PollEnd::Panic),
            Just(PollEnd::Torn)
        ]
        .prop_map(CallEvent::PollEnd),
        Just(CallEvent::Drop),
        Just(CallEvent::Wake),
    ]
}

/// Lists of moves.
pub fn moves() -> impl Strategy<Value = Vec<Move>> {
    vec(any::<Move>(), 1..120)
}

/// What may happen in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Only what a program can do, on several threads.
    Program,
    /// Each call stays on its thread, and the threads' events come one thread after the other.
    Apart,
    /// Ends and beginnings are lost, clocks go back, calls are polled twice, ended, or unknown.
    Torn,
}

/// Names of the procs, by the id that events have.
pub const PROCS: [&str; 4] = ["a", "b", "c", "d"];
const THREADS: u64 = 3;
/// The proc that torn recordings name.
const D: u32 = 3;
/// Maximum number of live calls.
const LIVE: usize = 6;

struct StreamCall {
    id: u64,
    thread: u64,
    open: bool,
    over: bool,
}

struct StreamBuilder {
    manner: Manner,
    now: u64,
    events: Vec<Event>,
    calls: Vec<StreamCall>,
    stacks: [Vec<u64>; THREADS as usize],
}

/// The stream that the moves make, from time `start` on.
#[must_use]
pub fn stream(moves: &[Move], manner: Manner, start: u64) -> Vec<Event> {
    let mut stage = StreamBuilder {
        manner,
        now: start,
        events: Vec::new(),
        calls: Vec::new(),
        stacks: Default::default(),
    };
    moves.iter().for_each(|&step| stage.step(step));
    if manner == Manner::Apart {
        stage.events.sort_by_key(|event| event.thread);
    }
    stage.events
}

impl StreamBuilder {
    fn step(&mut self, (what, which, how, wait): Move) {
        // Mostly short waits, none at all among them, and now and then a long one.
        self.now += match wait {
            0..=63 => 0,
            64..=239 => u64::from(wait) - 60,
            _ => 1 << (wait % 40),
        };
        let thread = u64::from(how) % THREADS;
        match what % 16 {
            0..=2 => self.create(which, thread),
            3..=7 => self.start(which, thread, how >> 5 == 0),
            8..=12 => self.end(thread, which),
            13 => self.drop_call(which),
            14 => self.wake(which, thread),
            _ if self.manner == Manner::Torn => self.tear(which, how, thread),
            _ => self.end(thread, which),
        }
    }

    fn push(&mut self, thread: u64, id: u64, kind: CallEvent) {
        let t = self.now;
        self.events.push(Event {
            t,
            thread,
            kind: EventKind::Call { id, kind },
        });
    }

    fn create(&mut self, which: u8, thread: u64) {
        if self.calls.iter().filter(|call| !call.over).count() >= LIVE {
            return;
        }
        let id = self.calls.len() as u64;
        self.calls.push(StreamCall {
            id,
            thread,
            open: false,
            over: false,
        });
        let proc = u32::from(which) % PROCS.len() as u32;
        self.push(thread, id, CallEvent::Create { proc });
    }

    /// One of the calls that are live and not being polled, on which thread it may be touched.
    fn idle(&self, which: u8, thread: u64) -> Option<(u64, u64)> {
        let idle: Vec<&StreamCall> = self
            .calls
            .iter()
            .filter(|call| !call.over && !call.open)
            .collect();
        let call = *idle.get(usize::from(which) % idle.len().max(1))?;
        let apart = self.manner == Manner::Apart;
        Some((call.id, if apart { call.thread } else { thread }))
    }

    fn start(&mut self, which: u8, thread: u64, root: bool) {
        let Some((id, thread)) = self.idle(which, thread) else {
            return;
        };
        self.calls[id as usize].open = true;
        self.stacks[thread as usize].push(id);
        self.push(thread, id, CallEvent::PollStart { proc: None, root });
    }

    fn end(&mut self, thread: u64, which: u8) {
        let Some(id) = self.stacks[thread as usize].pop() else {
            return;
        };
        let end = match which % 8 {
            0..=4 => PollEnd::Pending,
            5 => PollEnd::Ready,
            6 => PollEnd::Panic,
            _ if which > 200 => PollEnd::Torn,
            _ => PollEnd::Ready,
        };
        let call = &mut self.calls[id as usize];
        (call.open, call.over) = (false, end != PollEnd::Pending);
        self.push(thread, id, CallEvent::PollEnd(end));
    }

    fn drop_call(&mut self, which: u8) {
        // Also those that have ended: a future is often kept a while.
        let closed: Vec<&StreamCall> = self.calls.iter().filter(|call| !call.open).collect();
        let Some(call) = closed.get(usize::from(which) % closed.len().max(1)) else {
            return;
        };
        let (id, thread) = (call.id, call.thread);
        self.calls[id as usize].over = true;
        self.push(thread, id, CallEvent::Drop);
    }

    fn wake(&mut self, which: u8, thread: u64) {
        if let Some((id, thread)) = self.idle(which, thread) {
            self.push(thread, id, CallEvent::Wake);
        }
    }

    /// What no program does. The builder keeps its idea of the stacks, which is wrong from here on:
    /// so much the better.
    fn tear(&mut self, which: u8, how: u8, thread: u64) {
        let id = u64::from(which) % (self.calls.len() as u64 + 2);
        match how >> 4 {
            0..=2 => self.push(thread, id, CallEvent::PollEnd(PollEnd::Pending)),
            3..=4 => self.push(thread, id, CallEvent::PollEnd(PollEnd::Ready)),
            5..=7 => {
                let proc = (which > 99).then_some(D);
                self.push(
                    thread,
                    1000 + id,
                    CallEvent::PollStart { proc, root: false },
                );
            }
            8..=9 => self.push(
                thread,
                id,
                CallEvent::PollStart {
                    proc: None,
                    root: how.is_multiple_of(2),
                },
            ),
            10 => self.push(thread, id, CallEvent::Drop),
            11 => self.push(thread, id, CallEvent::Create { proc: D }),
            // An end is lost.
            12..=13 => _ = self.stacks[thread as usize].pop(),
            // A clock goes back: the thread's, if it was the last to see the time.
            _ => {
                if let Some(last) = self.events.last() {
                    let kind = CallEvent::Wake;
                    self.events.push(Event {
                        t: last.t.saturating_sub(u64::from(which)),
                        thread: last.thread,
                        kind: EventKind::Call { id, kind },
                    });
                }
            }
        }
    }
}

/// The stream of a task whose calls await one another where they are made: time passes only in the
/// innermost one, and between polls, each of which may be on another thread.
#[must_use]
pub fn awaits(moves: &[Move], start: u64) -> Vec<Event> {
    let mut chain = Chain {
        now: start,
        thread: 0,
        made: 0,
        events: Vec::new(),
        open: Vec::new(),
    };
    for &(what, which, how, wait) in moves {
        let time = u64::from(wait % 16);
        match what % 8 {
            0 | 1 => chain.now += time,
            2 | 3 if chain.open.len() < DEEPEST => chain.call(which),
            4..=6 => chain.child_pending(time, u64::from(how) % THREADS),
            _ => chain.over(),
        }
    }
    chain.events
}

/// Calls in a chain are at most this many.
const DEEPEST: usize = 6;

struct Chain {
    now: u64,
    thread: u64,
    made: u64,
    events: Vec<Event>,
    open: Vec<u64>,
}

impl Chain {
    fn push(&mut self, id: u64, kind: CallEvent) {
        let (t, thread) = (self.now, self.thread);
        self.events.push(Event {
            t,
            thread,
            kind: EventKind::Call { id, kind },
        });
    }

    fn start(&mut self, id: u64) {
        let (proc, root) = (None, false);
        self.push(id, CallEvent::PollStart { proc, root });
    }

    fn call(&mut self, which: u8) {
        let id = self.made;
        self.made += 1;
        let proc = u32::from(which) % PROCS.len() as u32;
        self.push(id, CallEvent::Create { proc });
        self.start(id);
        self.open.push(id);
    }

    fn child_pending(&mut self, time: u64, thread: u64) {
        for id in self.open.clone().into_iter().rev() {
            self.push(id, CallEvent::PollEnd(PollEnd::Pending));
        }
        self.now += time;
        self.thread = thread;
        self.open.clone().into_iter().for_each(|id| self.start(id));
    }

    fn over(&mut self) {
        if let Some(id) = self.open.pop() {
            self.push(id, CallEvent::PollEnd(PollEnd::Ready));
        }
    }
}

/// A stream as a file of vectors has it.
///
/// # Panics
///
/// If an event is not of a call.
#[must_use]
pub fn written(events: &[Event]) -> Value {
    events
        .iter()
        .map(|event| {
            let (id, kind) = event.call().expect("an event of a call");
            let mut value = json!({"t": event.t, "th": event.thread, "id": id});
            let word = match kind {
                CallEvent::Create { proc } => {
                    value["proc"] = json!(PROCS[proc as usize]);
                    "create"
                }
                CallEvent::PollStart { proc, root } => {
                    value["proc"] = json!(proc.map(|proc| PROCS[proc as usize]));
                    value["root"] = json!(root);
                    "poll_start"
                }
                CallEvent::PollEnd(end) => {
                    value["r"] = json!(match end {
                        PollEnd::Pending => "pending",
                        PollEnd::Ready | PollEnd::Err => "ready",
                        PollEnd::Panic => "panic",
                        PollEnd::Torn => "drop",
                    });
                    "poll_end"
                }
                CallEvent::Drop => "drop",
                CallEvent::Wake => "wake",
                // These streams have none of them.
                CallEvent::Await { .. } => "await",
                CallEvent::Unaccounted => "unaccounted",
            };
            value["k"] = json!(word);
            value
        })
        .collect()
}
