//! A mock executor: what tasks, calls, wakers, resources and consoles do is drawn from a seed, on a clock set by hand.
//!
//! The mock decides and tells; whoever drives it lets each [`Step`] happen, with futures that are really there or with nothing at
//! all. The same seed makes the same stream, byte by byte, in either case: nothing that happens flows back into a decision.
//!
//! What it tells is what a process sees: nothing while accounting is off, no end of a poll that began then, and of what was made
//! then only what comes later.
#![allow(dead_code, reason = "each of the tests that include it takes its part")]

mod consoles;
mod dice;
mod plan;
mod resources;
mod tell;

use std::collections::VecDeque;

use turbowish_model::account::call::PollEnd;
use turbowish_model::validate::{ConsoleEvent, Event, IntentEvent, TaskEvent};

use self::dice::Dice;
use self::resources::{Lock, Queue};

/// Procs by number.
pub(crate) const PROCS: [&str; 4] = ["accept", "serve", "read", "write"];
/// Threads that poll; what is not in a poll happens on thread 0.
pub(crate) const WORKERS: u64 = 2;
pub(crate) const LOCKS: usize = 2;
pub(crate) const QUEUES: usize = 2;
/// Items that fit into a queue.
pub(crate) const ROOM: u64 = 3;

/// What happens next. Where it happens on no thread but the current one, that is not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Polls the root of a task on a worker; what its body does, the mock says between [`Mock::enter`] and [`Step::End`].
    Run { task: u64, call: u64, worker: u64 },
    /// The same for a child, in the body that runs.
    Poll { call: u64 },
    /// Calls the function of a proc; the call is the root of a task, or a child of the one that runs.
    Create { call: u64, proc: usize },
    /// Drops a call.
    Drop { call: u64 },
    /// A task is over: its root has ended, or was dropped.
    Finish { task: u64 },
    /// Polls the future that waits for a lock; a new one under a new ticket. It is ready, or not.
    Lock {
        lock: usize,
        ticket: u64,
        ready: bool,
    },
    /// Drops that future.
    Leave { lock: usize, ticket: u64 },
    /// Drops the guard.
    Unlock { lock: usize, ticket: u64 },
    /// Puts an item into a queue, which has room.
    Put { queue: usize },
    /// Takes an item out of a queue, which has one.
    Take { queue: usize },
    /// The body that runs wakes its own task.
    WakeSelf { task: u64 },
    /// The body that runs keeps a clone of its waker.
    Keep { task: u64 },
    /// A kept waker wakes its task.
    Wake { task: u64 },
    /// A kept waker is dropped.
    Forget { task: u64 },
    /// An intent begins or changes.
    Intend { intent: u64, kind: IntentEvent },
    /// Data of the program.
    Say { name: usize },
    /// A console does something.
    Console { client: u64, kind: ConsoleEvent },
    /// The body that runs returns from its poll.
    End { call: u64, end: PollEnd },
    /// Nothing is left, and nothing happens any more.
    Over,
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

#[derive(Debug)]
pub(crate) struct Mock {
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
    armed: bool,
    epoch: u32,
    clients: Vec<u64>,
    connected: u64,
    switches: bool,
}

impl Mock {
    /// One that makes so many decisions; accounting is never switched, or at any moment.
    pub(crate) fn new(seed: u64, decisions: u32, switches: bool) -> Self {
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
            armed,
            epoch: u32::from(armed),
            clients: Vec::new(),
            connected: 0,
            switches,
        }
    }

    /// The time by hand.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.armed
    }

    /// Whether a task was woken since its last poll began.
    pub(crate) fn is_woken(&self, task: u64) -> bool {
        self.task(task).woken
    }

    /// What was told so far.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// What happens next on the current thread; it has been told.
    pub(crate) fn next(&mut self) -> Step {
        while self.todo.is_empty() {
            self.decide();
        }
        let step = self.todo.pop_front().unwrap_or(Step::Over);
        self.happens(step);
        step
    }

    /// A body begins to run.
    pub(crate) fn enter(&mut self, call: u64) {
        let epoch = self.armed.then_some(self.epoch);
        self.tell_start(call);
        self.stack.push(Frame {
            call,
            epoch,
            asked: false,
        });
        let (task, is_root) = self.of(call);
        if is_root && self.armed && !self.task(task).begun {
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
                    // What comes after it is told on the worker all the same, and happens there.
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

    /// Tasks that have begun and are not over: polled, ready, waiting; nobody can tell where accounting is switched.
    pub(crate) fn tasks(&self) -> Option<[usize; 3]> {
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
        (!self.switches).then_some(states)
    }

    fn live_calls(&self) -> u64 {
        let known = |call: &&Call| !call.over && call.epoch == Some(self.epoch);
        self.calls.iter().filter(known).count() as u64
    }
}

/// Lets everything happen that the mock decides, with nothing there.
pub(crate) fn run(mock: &mut Mock) -> Vec<Event> {
    loop {
        match mock.next() {
            Step::Over => return std::mem::take(&mut mock.events),
            Step::Run { call, .. } | Step::Poll { call } => mock.enter(call),
            _ => {}
        }
    }
}
