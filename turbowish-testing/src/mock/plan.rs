//! What is decided next: by the executor when no poll is open, by the body that runs when one is,
//! by consoles at any time.

use turbowish_model::account::call::PollEnd;
use turbowish_model::account::resource::{Role, Strength};
use turbowish_model::event::IntentEvent;

use super::resources::lock_id;
use super::{Call, Intent, LOCKS, Mock, PROCS, QUEUES, ROOM, Step, Task, WORKERS};

/// More tasks than this are not live at a time.
const TASKS: usize = 5;
/// More calls than this have no end yet in a task.
const CALLS: usize = 6;

impl Mock {
    pub(super) fn decide(&mut self) {
        if self.left == 0 && self.stack.is_empty() {
            return self.clean_up();
        }
        self.left = self.left.saturating_sub(1);
        if self.dice.below(16) == 0 {
            return self.decide_console();
        }
        match self.stack.last().map(|frame| frame.call) {
            None => self.decide_outside(),
            Some(call) if self.left == 0 => self.end(call, PollEnd::Pending),
            Some(call) => self.decide_inside(call),
        }
    }

    /// Every task is dropped, every waker, and the consoles leave.
    fn clean_up(&mut self) {
        let live = self.live_tasks();
        if let Some(&task) = live.first() {
            return self.cancel(task);
        }
        if let Some(task) = self.kept_wakers().first().copied() {
            return self.todo.push_back(Step::Forget { task });
        }
        if let Some(step) = self.part() {
            return self.todo.push_back(step);
        }
        self.todo.push_back(Step::Over);
    }

    pub(super) fn live_tasks(&self) -> Vec<u64> {
        let live = |(at, task): (usize, &Task)| (!task.over).then_some(at as u64 + 1);
        self.tasks.iter().enumerate().filter_map(live).collect()
    }

    fn kept_wakers(&self) -> Vec<u64> {
        let kept = |(at, task): (usize, &Task)| (task.kept > 0).then_some(at as u64 + 1);
        self.tasks.iter().enumerate().filter_map(kept).collect()
    }

    fn decide_outside(&mut self) {
        let live = self.live_tasks();
        match self.dice.below(12) {
            0 | 1 if live.len() < TASKS => self.spawn(),
            2 => self.pass(),
            3 if self.dice.below(3) == 0 => {
                if let Some(task) = self.dice.one_of(&live) {
                    self.cancel(task);
                }
            }
            4 => self.decide_waker(),
            _ => self.run_one(&live),
        }
    }

    /// Time passes: mostly some, none now and then, and rarely much.
    fn pass(&mut self) {
        self.now += match self.dice.below(8) {
            0 => 0,
            7 => 1 << self.dice.below(30),
            _ => 1 + self.dice.below(200),
        };
    }

    fn spawn(&mut self) {
        let (task, call) = (self.tasks.len() as u64 + 1, self.calls.len() as u64 + 1);
        self.tasks.push(Task {
            root: call,
            over: false,
            begun: false,
            woken: true,
            paused: false,
            kept: 0,
        });
        self.create(task, None);
    }

    fn create(&mut self, task: u64, parent: Option<u64>) {
        let proc = self.dice.below(PROCS.len() as u64) as usize;
        self.calls.push(Call {
            proc,
            task,
            parent,
            over: false,
            epoch: None,
            waits: None,
            intent: None,
        });
        let call = self.calls.len() as u64;
        self.todo.push_back(Step::Create { call, proc });
    }

    /// One that was woken is polled, or another one for no reason.
    fn run_one(&mut self, live: &[u64]) {
        let spurious = self.dice.below(5) == 0;
        let runs = |&task: &u64| {
            let task = self.task(task);
            !task.paused && (task.woken || spurious)
        };
        let ready: Vec<u64> = live.iter().copied().filter(runs).collect();
        match self.dice.one_of(&ready) {
            None => self.pass(),
            Some(task) => {
                let worker = 1 + self.dice.below(WORKERS);
                let call = self.task(task).root;
                self.todo.push_back(Step::Run { task, call, worker });
            }
        }
    }

    /// Drops a task whose root is not over.
    fn cancel(&mut self, task: u64) {
        let root = self.task(task).root;
        self.drop_all(root);
        self.todo.push_back(Step::Finish { task });
    }

    /// Drops a call, and before it what it has.
    fn drop_all(&mut self, call: u64) {
        self.give_up(call);
        self.todo.push_back(Step::Drop { call });
    }

    /// All that a call has goes: children, its place in a line, guards, an intent.
    fn give_up(&mut self, call: u64) {
        for child in self.children(call) {
            self.drop_all(child);
        }
        if let Some((lock, ticket)) = self.call(call).waits {
            self.todo.push_back(Step::Leave { lock, ticket });
        }
        for (lock, ticket) in self.guards(call) {
            self.todo.push_back(Step::Unlock { lock, ticket });
        }
        if let Some(Intent { id: intent, .. }) = self.call(call).intent {
            let kind = IntentEvent::Gone;
            self.todo.push_back(Step::Intend { intent, kind });
        }
    }

    fn children(&self, of: u64) -> Vec<u64> {
        let is_child = |(at, call): (usize, &Call)| {
            (call.parent == Some(of) && !call.over).then_some(at as u64 + 1)
        };
        self.calls.iter().enumerate().filter_map(is_child).collect()
    }

    fn decide_inside(&mut self, call: u64) {
        if let Some((lock, ticket)) = self.call(call).waits {
            let asked = self.stack.last_mut().map(|frame| &mut frame.asked);
            if asked.is_none_or(|asked| std::mem::replace(asked, true)) {
                return self.end(call, PollEnd::Pending);
            }
            let ready = self.locks[lock].is_next(ticket);
            return self.todo.push_back(Step::Lock {
                lock,
                ticket,
                ready,
            });
        }
        let children = self.children(call);
        match self.dice.below(20) {
            0..=3 => self.pass(),
            4..=6 => self.have_child(call),
            7..=9 => {
                if let Some(call) = self.dice.one_of(&children) {
                    self.todo.push_back(Step::Poll { call });
                }
            }
            10 if self.dice.below(2) == 0 => {
                if let Some(call) = self.dice.one_of(&children) {
                    self.drop_all(call);
                }
            }
            10 | 11 => self.ask(call),
            12 => {
                let guards = self.guards(call);
                if let Some((lock, ticket)) = self.dice.one_of(&guards) {
                    self.todo.push_back(Step::Unlock { lock, ticket });
                }
            }
            13 => self.decide_waker(),
            14 => self.decide_intent(call),
            15 => self.decide_item(),
            16 | 17 => self.end(call, PollEnd::Pending),
            18 => self.end(call, PollEnd::Ready),
            _ if self.dice.below(3) == 0 => self.end(call, PollEnd::Panic),
            _ => self.end(call, PollEnd::Pending),
        }
    }

    fn have_child(&mut self, of: u64) {
        let task = self.call(of).task;
        let live = |call: &&Call| call.task == task && !call.over;
        if self.calls.iter().filter(live).count() < CALLS {
            self.create(task, Some(of));
        }
    }

    fn end(&mut self, call: u64, end: PollEnd) {
        if end != PollEnd::Pending {
            self.give_up(call);
        }
        self.todo.push_back(Step::End { call, end });
        let (task, is_root) = self.of(call);
        if is_root && end != PollEnd::Pending {
            self.todo.push_back(Step::Finish { task });
        }
    }

    /// Asks for a lock, under a new ticket.
    fn ask(&mut self, call: u64) {
        let lock = self.dice.below(LOCKS as u64) as usize;
        self.tickets += 1;
        let ticket = self.tickets;
        self.claim(lock, ticket, call);
        let ready = self.locks[lock].is_free();
        if let Some(frame) = self.stack.last_mut() {
            frame.asked = true;
        }
        self.todo.push_back(Step::Lock {
            lock,
            ticket,
            ready,
        });
        if ready
            && let Some(intent) = self.call(call).intent
            && intent.lock == lock
        {
            let intent = intent.id;
            let kind = IntentEvent::Done;
            self.todo.push_back(Step::Intend { intent, kind });
        }
    }

    /// In a body, of its own waker as well.
    fn decide_waker(&mut self) {
        let kept = self.kept_wakers();
        let own = self.stack.last().map(|frame| self.call(frame.call).task);
        let step = match (self.dice.below(4), own, self.dice.one_of(&kept)) {
            (0, Some(task), _) => Step::WakeSelf { task },
            (1, Some(task), _) => Step::Keep { task },
            (2, _, Some(task)) => Step::Forget { task },
            (_, _, Some(task)) => Step::Wake { task },
            _ => return,
        };
        self.todo.push_back(step);
    }

    fn decide_intent(&mut self, call: u64) {
        let depends = self.dice.below(2) == 0;
        if let Some(intent) = &mut self.call_mut(call).intent {
            let (intent, sure) = (intent.id, std::mem::replace(&mut intent.sure, true));
            if !sure {
                let kind = IntentEvent::Sure;
                self.todo.push_back(Step::Intend { intent, kind });
            }
            return;
        }
        self.intents += 1;
        let intent = self.intents;
        let lock = self.dice.below(LOCKS as u64) as usize;
        self.call_mut(call).intent = Some(Intent {
            id: intent,
            lock,
            sure: !depends,
        });
        // What nobody has asked for is not known yet.
        if !self.locks[lock].is_told() {
            return self.call_mut(call).intent = None;
        }
        let kind = IntentEvent::Made {
            task: self.call(call).task,
            resource: lock_id(lock),
            role: Role::Lock,
            strength: if depends {
                Strength::May
            } else {
                Strength::Will
            },
        };
        self.todo.push_back(Step::Intend { intent, kind });
    }

    fn decide_item(&mut self) {
        let queue = self.dice.below(QUEUES as u64) as usize;
        let inside = self.queues[queue].inside;
        let step = match self.dice.below(3) {
            0 if inside < ROOM => Step::Put { queue },
            1 if inside > 0 => Step::Take { queue },
            _ => Step::Say {
                name: self.dice.below(3) as usize,
            },
        };
        self.todo.push_back(step);
    }
}
