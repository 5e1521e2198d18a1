//! Validation of tasks and their wakers: a task begins in a poll of its root, is woken through an
//! existing waker, and ends after its root.

use turbowish_model::event::TaskEvent;

use super::calls::Calls;
use super::known::{Ends, Known};
use super::report::{Reporter, Subject};
use super::rule::Rule;

#[derive(Debug, Default)]
pub(super) struct Tasks(Known<u64, KnownTask>);

#[derive(Debug)]
struct KnownTask {
    root: u64,
    over: bool,
    /// Number of clones of its waker; `None` if some may have been made unobserved.
    wakers: Option<u64>,
}

impl Ends for KnownTask {
    fn is_over(&self) -> bool {
        self.over && self.wakers.unwrap_or(0) == 0
    }
}

impl Tasks {
    pub(super) fn event(
        &mut self,
        id: u64,
        kind: TaskEvent,
        calls: &mut Calls,
        reporter: &mut Reporter<'_>,
    ) {
        if let TaskEvent::Begin { root } = kind {
            return self.begin(id, root, calls, reporter);
        }
        let subject = Subject::Task(id);
        let unsure = self.0.is_unsure();
        let Some(task) = self.0.get_mut(id) else {
            if !unsure {
                reporter.report(Rule::UnknownTask, subject);
            }
            return;
        };
        match kind {
            TaskEvent::Begin { .. } => {}
            TaskEvent::Cloned => task.wakers = task.wakers.map(|wakers| wakers.saturating_add(1)),
            TaskEvent::Dropped => match task.wakers {
                Some(0) => reporter.report(Rule::WakersBelowZero, subject),
                wakers => task.wakers = wakers.map(|wakers| wakers - 1),
            },
            TaskEvent::Woken => {
                if task.wakers == Some(0) && !calls.is_polled(task.root) {
                    reporter.report(Rule::WokenByNobody, subject);
                }
            }
            TaskEvent::End if task.over => reporter.report(Rule::EndedTask, subject),
            TaskEvent::End => {
                if calls.is_live(task.root) {
                    reporter.report_with(Rule::TaskOutlived, subject, Subject::Call(task.root));
                }
                task.over = true;
            }
        }
    }

    fn begin(&mut self, id: u64, root: u64, calls: &mut Calls, reporter: &mut Reporter<'_>) {
        let subject = Subject::Task(id);
        if self.0.get(id).is_some() {
            return reporter.report(Rule::TaskTwice, subject);
        }
        if !calls.make_root(root, id, reporter.thread) {
            reporter.report_with(Rule::NotARoot, subject, Subject::Call(root));
        }
        let task = KnownTask {
            root,
            over: false,
            wakers: (!self.0.is_unsure()).then_some(0),
        };
        self.0.enter(id, task);
    }

    /// Checks that the task may act on `other` now and on this thread; `id` 0 is a task that is not
    /// instrumented.
    pub(super) fn acts(&self, id: u64, other: Subject, calls: &Calls, reporter: &mut Reporter<'_>) {
        let subject = Subject::Task(id);
        if id == 0 || !self.is_known(id, other, reporter) {
            return;
        }
        let unsure = self.0.is_unsure() || calls.is_unsure();
        if self.0.get(id).is_some_and(|task| task.over) {
            reporter.report_with(Rule::EndedTask, subject, other);
        } else if !unsure && !calls.is_here(id, reporter.thread) {
            reporter.report_with(Rule::TaskElsewhere, subject, other);
        }
    }

    /// Whether a task that is referred to may exist.
    pub(super) fn is_known(&self, id: u64, other: Subject, reporter: &mut Reporter<'_>) -> bool {
        let known = self.0.get(id).is_some() || self.0.is_unsure();
        if !known {
            reporter.report_with(Rule::UnknownTask, Subject::Task(id), other);
        }
        known
    }

    pub(super) fn forget(&mut self) {
        self.0.forget_all();
    }
}
