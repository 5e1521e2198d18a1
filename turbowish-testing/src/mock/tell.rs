//! The events emitted: those seen by an accounting process; none while accounting is off.

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{
    CallEvent, ConsoleEvent, Event, EventKind, IntentEvent, ResourceEvent, TaskEvent, UserEvent,
};

use super::{Frame, Mock, Step};

impl Mock {
    fn push(&mut self, kind: EventKind) {
        let (t, thread) = (self.now, self.thread);
        self.events.push(Event { t, thread, kind });
    }

    fn see(&mut self, kind: EventKind) {
        if self.accounting.armed {
            self.push(kind);
        }
    }

    fn see_call(&mut self, id: u64, kind: CallEvent) {
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
        if !self.accounting.armed {
            return;
        }
        let epoch = Some(self.accounting.epoch);
        let known = self.call_mut(call);
        let is_late = std::mem::replace(&mut known.epoch, epoch) != epoch;
        let proc = is_late.then_some(known.proc as u32);
        self.see_call(call, CallEvent::PollStart { proc, root: false });
    }

    pub(super) fn tell_end(&mut self, call: u64, end: PollEnd, frame: Option<Frame>) {
        if frame.is_some_and(|frame| frame.epoch == Some(self.accounting.epoch)) {
            self.see_call(call, CallEvent::PollEnd(end));
        }
        self.call_mut(call).over |= end != PollEnd::Pending;
    }

    pub(super) fn tell(&mut self, step: Step) {
        match step {
            Step::Create { call, proc } => {
                self.call_mut(call).epoch = self.accounting.armed.then_some(self.accounting.epoch);
                let proc = proc as u32;
                self.see_call(call, CallEvent::Create { proc });
            }
            Step::Drop { call } => {
                self.call_mut(call).over = true;
                if self.call(call).epoch == Some(self.accounting.epoch) {
                    self.see_call(call, CallEvent::Drop);
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
                let kind = match name {
                    0 => UserEvent::Count { by: 1 },
                    1 => UserEvent::Gauge { value: -3 },
                    _ => UserEvent::Attribute { value: 3 },
                };
                let name = name as u32;
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
