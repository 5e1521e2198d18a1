//! Consoles connect late, ask, switch, pause and leave, between any two events of the program.

use turbowish_model::event::ConsoleEvent;

use super::{Mock, Step};

/// More consoles than this are not connected at a time.
const CLIENTS: usize = 2;

impl Mock {
    pub(super) fn decide_console(&mut self) {
        let client = self.dice.one_of(&self.consoles.connected);
        let connects =
            client.is_none() || self.consoles.connected.len() < CLIENTS && self.dice.below(6) == 0;
        let Some(client) = client.filter(|_| !connects) else {
            let client = self.consoles.last + 1;
            let kind = ConsoleEvent::Connect;
            return self.todo.push_back(Step::Console { client, kind });
        };
        let kind = match self.dice.below(8) {
            0 => ConsoleEvent::Disconnect,
            1 | 2 if self.accounting.switches && self.accounting.armed => ConsoleEvent::Disarm,
            1..=4 if self.accounting.switches && !self.accounting.armed => ConsoleEvent::Arm,
            3 | 4 => match self.decide_pause() {
                Some(kind) => kind,
                None => return,
            },
            _ => ConsoleEvent::Query,
        };
        self.todo.push_back(Step::Console { client, kind });
        if kind == ConsoleEvent::Query {
            let calls = if self.accounting.armed {
                self.live_calls()
            } else {
                0
            };
            let kind = ConsoleEvent::Reply { calls };
            self.todo.push_back(Step::Console { client, kind });
        }
    }

    /// A task that has begun is paused, or goes on.
    fn decide_pause(&mut self) -> Option<ConsoleEvent> {
        let mut live = self.live_tasks();
        live.retain(|&task| self.task(task).begun);
        let task = self.dice.one_of(&live)?;
        Some(match self.task(task).paused {
            true => ConsoleEvent::Resume { task },
            false => ConsoleEvent::Pause { task },
        })
    }

    /// The next one that leaves, if there is one.
    pub(super) fn part(&self) -> Option<Step> {
        let kind = ConsoleEvent::Disconnect;
        self.consoles
            .connected
            .first()
            .map(|&client| Step::Console { client, kind })
    }

    pub(super) fn console(&mut self, client: u64, kind: ConsoleEvent) {
        self.tell_console(client, kind);
        match kind {
            ConsoleEvent::Connect => {
                self.consoles.last = client;
                self.consoles.connected.push(client);
            }
            ConsoleEvent::Disconnect => self.consoles.connected.retain(|&known| known != client),
            ConsoleEvent::Arm => {
                self.accounting.armed = true;
                self.accounting.epoch += 1;
            }
            ConsoleEvent::Disarm => self.accounting.armed = false,
            ConsoleEvent::Pause { task } => self.task_mut(task).paused = true,
            ConsoleEvent::Resume { task } => self.task_mut(task).paused = false,
            ConsoleEvent::Query | ConsoleEvent::Reply { .. } => {}
        }
    }
}
