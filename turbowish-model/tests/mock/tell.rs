//! What is told: what a process sees that accounts, and nothing of the program while it does not.

use turbowish_model::account::call::PollEnd;
use turbowish_model::replay::Kind;
use turbowish_model::validate::{
    ConsoleEvent, Event, EventKind, IntentEvent, ResourceEvent, TaskEvent, UserEvent,
};

use super::{Frame, Mock, PROCS, Step};

impl Mock {
    fn push(&mut self, act: EventKind) {
        let (t, thread) = (self.now, self.thread);
        self.events.push(Event { t, thread, act });
    }

    fn see(&mut self, act: EventKind) {
        if self.armed {
            self.push(act);
        }
    }

    fn see_call(&mut self, id: u64, kind: Kind) {
        self.see(EventKind::Call { id, kind });
    }

    pub(super) fn tell_task(&mut self, id: u64, kind: TaskEvent) {
        self.see(EventKind::Task { id, kind });
    }

    pub(super) fn tell_resource(&mut self, id: u64, kind: ResourceEvent) {
        self.see(EventKind::Resource { id, kind });
    }

    pub(super) fn tell_console(&mut self, client: u64, kind: ConsoleEvent) {
        self.push(EventKind::Console { client, kind });
    }

    /// A poll begins: of a call that is not registered now, it says what it is.
    pub(super) fn tell_start(&mut self, call: u64) {
        if !self.armed {
            return;
        }
        let epoch = Some(self.epoch);
        let known = self.call_mut(call);
        let is_late = std::mem::replace(&mut known.epoch, epoch) != epoch;
        let proc = is_late.then(|| PROCS[known.proc].to_owned());
        self.see_call(call, Kind::PollStart { proc, root: false });
    }

    pub(super) fn tell_end(&mut self, call: u64, end: PollEnd, frame: Option<Frame>) {
        if frame.is_some_and(|frame| frame.epoch == Some(self.epoch)) {
            self.see_call(call, Kind::PollEnd(end));
        }
        self.call_mut(call).over |= end != PollEnd::Pending;
    }

    pub(super) fn tell(&mut self, step: Step) {
        match step {
            Step::Create { call, proc } => {
                self.call_mut(call).epoch = self.armed.then_some(self.epoch);
                self.see_call(call, Kind::Create(PROCS[proc].to_owned()));
            }
            Step::Drop { call } => {
                self.call_mut(call).over = true;
                if self.call(call).epoch == Some(self.epoch) {
                    self.see_call(call, Kind::Drop);
                }
            }
            Step::Finish { task } => {
                self.task_mut(task).over = true;
                if self.task(task).begun {
                    self.tell_task(task, TaskEvent::End);
                }
            }
            Step::WakeSelf { task } | Step::Wake { task } => {
                self.task_mut(task).woken = true;
                self.tell_task(task, TaskEvent::Woken);
            }
            Step::Keep { task } => {
                self.task_mut(task).kept += 1;
                self.tell_task(task, TaskEvent::Cloned);
            }
            Step::Forget { task } => {
                self.task_mut(task).kept -= 1;
                self.tell_task(task, TaskEvent::Dropped);
            }
            Step::Intend { intent, kind } => self.tell_intent(intent, kind),
            Step::Say { name } => {
                let (name, kind) = match name {
                    0 => ("requests", UserEvent::Count { by: 1 }),
                    1 => ("depth", UserEvent::Gauge { value: -3 }),
                    _ => {
                        let value = "acme \"7\"".to_owned();
                        ("tenant", UserEvent::Attribute { value })
                    }
                };
                let name = name.to_owned();
                self.see(EventKind::User { name, kind });
            }
            _ => {}
        }
    }

    fn tell_intent(&mut self, id: u64, kind: IntentEvent) {
        let mut owners = self.calls.iter_mut();
        let of = |intent: &super::Intent| intent.id == id;
        let owner = owners.find(|call| call.intent.as_ref().is_some_and(of));
        if let (IntentEvent::Done | IntentEvent::Gone, Some(call)) = (kind, owner) {
            call.intent = None;
        }
        self.see(EventKind::Intent { id, kind });
    }
}
