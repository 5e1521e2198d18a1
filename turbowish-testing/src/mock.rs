//! A mock executor: what tasks, calls, wakers, resources and consoles do is drawn from a seed, on a
//! clock set by hand.
//!
//! The mock decides and emits events; its driver lets each [`Step`] happen, with futures that are
//! really there or with nothing at all. The same seed makes the same stream, byte by byte, in
//! either case: nothing that happens flows back into a decision.
//!
//! What it tells is what a process sees: nothing while accounting is off, no end of a poll that
//! began then, and of what was made then only what comes later.

mod consoles;
mod dice;
mod plan;
mod resources;
mod step;
mod tell;

use std::collections::VecDeque;

use turbowish_model::event::{Event, TaskEvent};

use self::dice::Dice;
use self::resources::{Lock, Queue};
pub use self::step::Step;
use crate::names::{NameTable, Names};

/// Names of the procs, by the id that events have.
pub const PROCS: [&str; 4] = ["accept", "serve", "read", "write"];
/// Names and values of the program's own data, by the id that events have.
const TEXTS: [&str; 4] = ["requests", "depth", "tenant", "acme \"7\""];
/// Number of threads that poll; what is not in a poll happens on thread 0.
pub const WORKERS: u64 = 2;
/// Number of locks.
pub const LOCKS: usize = 2;
/// Number of queues.
pub const QUEUES: usize = 2;
/// Number of items that fit into a queue.
pub const ROOM: u64 = 3;

/// The names that the events of a mock refer to.
#[must_use]
pub fn names() -> Names {
    Names {
        procs: NameTable::new(&PROCS),
        texts: NameTable::new(&TEXTS),
    }
}

#[derive(Debug)]
struct Call {
    proc: usize,
    task: u64,
    parent: Option<u64>,
    over: bool,
    /// The epoch that it is registered with.
    epoch: Option<u32>,
    /// The lock, and its ticket there, that it waits for.
    waits: Option<(usize, u64)>,
    intent: Option<Intent>,
}

/// What a call means to do with a lock.
#[derive(Clone, Copy, Debug)]
struct Intent {
    id: u64,
    lock: usize,
    sure: bool,
}

#[derive(Debug)]
struct Task {
    root: u64,
    over: bool,
    begun: bool,
    woken: bool,
    paused: bool,
    /// Clones of its waker that bodies kept.
    kept: u64,
}

/// An open poll.
#[derive(Debug)]
struct Frame {
    call: u64,
    epoch: Option<u32>,
    /// The lock was asked for in this poll.
    asked: bool,
}

/// Whether the process accounts.
#[derive(Debug)]
struct Accounting {
    armed: bool,
    /// Number of times that it was armed.
    epoch: u32,
    /// Whether consoles switch it.
    switches: bool,
}

/// Consoles by the numbers of their connections.
#[derive(Debug, Default)]
struct Consoles {
    connected: Vec<u64>,
    /// Number of the last connection.
    last: u64,
}

/// The state of a run.
#[derive(Debug)]
pub struct Mock {
    dice: Dice,
    now: u64,
    thread: u64,
    events: Vec<Event>,
    /// Steps that are left before it is cleaned up.
    left: u32,
    /// What follows from the last decision.
    todo: VecDeque<Step>,
    calls: Vec<Call>,
    tasks: Vec<Task>,
    stack: Vec<Frame>,
    locks: Vec<Lock>,
    queues: Vec<Queue>,
    tickets: u64,
    intents: u64,
    accounting: Accounting,
    consoles: Consoles,
}

impl Mock {
    /// A run of so many decisions; with `switches`, consoles switch accounting at any moment.
    #[must_use]
    pub fn new(seed: u64, decisions: u32, switches: bool) -> Self {
        let mut dice = Dice::new(seed);
        let armed = !switches || dice.below(2) == 0;
        Self {
            now: dice.below(1000),
            dice,
            thread: 0,
            events: Vec::new(),
            left: decisions,
            todo: VecDeque::new(),
            calls: Vec::new(),
            tasks: Vec::new(),
            stack: Vec::new(),
            locks: (0..LOCKS).map(|_| Lock::default()).collect(),
            queues: (0..QUEUES).map(|_| Queue::default()).collect(),
            tickets: 0,
            intents: 0,
            accounting: Accounting {
                armed,
                epoch: u32::from(armed),
                switches,
            },
            consoles: Consoles::default(),
        }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Whether accounting is on.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.accounting.armed
    }

    /// Whether a task was woken since its last poll began.
    #[must_use]
    pub fn is_woken(&self, task: u64) -> bool {
        self.task(task).woken
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What happens next on the current thread. Its event has been emitted.
    pub fn next_step(&mut self) -> Step {
        while self.todo.is_empty() {
            self.decide();
        }
        let step = self.todo.pop_front().unwrap_or(Step::Over);
        self.happens(step);
        step
    }

    /// A body begins to run.
    pub fn enter(&mut self, call: u64) {
        let epoch = self.accounting.armed.then_some(self.accounting.epoch);
        self.tell_start(call);
        self.stack.push(Frame {
            call,
            epoch,
            asked: false,
        });
        let (task, is_root) = self.of(call);
        if is_root && self.accounting.armed && !self.task(task).begun {
            self.task_mut(task).begun = true;
            self.tell_task(task, TaskEvent::Begin { root: call });
        }
    }

    /// What the step does to what the mock knows.
    fn happens(&mut self, step: Step) {
        match step {
            Step::Run { task, worker, .. } => {
                self.thread = worker;
                self.task_mut(task).woken = false;
            }
            Step::End { call, end } => {
                let frame = self.stack.pop();
                if self.stack.is_empty() {
                    // What follows is emitted on the worker all the same, and happens there.
                    self.tell_end(call, end, frame);
                    self.thread = 0;
                } else {
                    self.tell_end(call, end, frame);
                }
            }
            Step::Lock {
                lock,
                ticket,
                ready,
            } => self.lock(lock, ticket, ready),
            Step::Leave { lock, ticket } => self.leave(lock, ticket),
            Step::Unlock { lock, ticket } => self.unlock(lock, ticket),
            Step::Put { queue } => self.put(queue),
            Step::Take { queue } => self.take(queue),
            Step::Console { client, kind } => self.console(client, kind),
            step => self.tell(step),
        }
    }

    fn call(&self, call: u64) -> &Call {
        &self.calls[call as usize - 1]
    }

    fn call_mut(&mut self, call: u64) -> &mut Call {
        &mut self.calls[call as usize - 1]
    }

    fn task(&self, task: u64) -> &Task {
        &self.tasks[task as usize - 1]
    }

    fn task_mut(&mut self, task: u64) -> &mut Task {
        &mut self.tasks[task as usize - 1]
    }

    /// A call's task, and whether it is its root.
    fn of(&self, call: u64) -> (u64, bool) {
        let call = self.call(call);
        (call.task, call.parent.is_none())
    }

    /// Number of tasks that have begun and are not over: polled, ready, waiting. `None` if
    /// accounting is switched.
    #[must_use]
    pub fn tasks(&self) -> Option<[usize; 3]> {
        let polled = self.stack.first().map(|frame| self.call(frame.call).task);
        let mut states = [0; 3];
        for task in self.live_tasks() {
            let known = self.task(task);
            let ended = self.call(known.root).over;
            if known.begun && !ended {
                let state = match (polled == Some(task), known.woken) {
                    (true, _) => 0,
                    (false, true) => 1,
                    (false, false) => 2,
                };
                states[state] += 1;
            }
        }
        (!self.accounting.switches).then_some(states)
    }

    fn live_calls(&self) -> u64 {
        let known = |call: &&Call| !call.over && call.epoch == Some(self.accounting.epoch);
        self.calls.iter().filter(known).count() as u64
    }
}

/// Lets everything happen that the mock decides, without futures. Returns the events.
pub fn run(mock: &mut Mock) -> Vec<Event> {
    loop {
        match mock.next_step() {
            Step::Over => return std::mem::take(&mut mock.events),
            Step::Run { call, .. } | Step::Poll { call } => mock.enter(call),
            _ => {}
        }
    }
}
