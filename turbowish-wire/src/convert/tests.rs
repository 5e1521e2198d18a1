//! Every field survives the way there and back, and what means nothing is refused.

use prost::Message;
use turbowish_model::quantile::Distribution;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{
    Accounting, AwaitRow, Caller, Lost, Page, Place, Polling, ProcRow, Process, Snapshot, StackRow,
    TaskRow, TaskState, TasksByState, Worker,
};

use super::{Action, Malformed};
use crate::proto;

/// Gives every field a value of its own, so that two fields that change places are found.
struct Distinct(u32);

impl Distinct {
    fn small(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }

    fn number(&mut self) -> u64 {
        u64::from(self.small()) + (1 << 60)
    }

    fn text(&mut self) -> String {
        format!("text \u{b5} {}", self.small())
    }

    fn process(&mut self, accounting: Accounting) -> Process {
        Process {
            name: self.text(),
            pid: self.small(),
            command: self.text(),
            uptime_ns: self.number(),
            accounting,
            accounting_since_unix_ns: self.number(),
            procs_known: self.number(),
            runtime_tasks: Some(self.number()),
        }
    }

    fn worker(&mut self, polls: bool) -> Worker {
        let polling = polls.then(|| Polling {
            proc: self.text(),
            since_ns: self.number(),
            root_since_ns: self.number(),
        });
        Worker {
            name: self.text(),
            busy_ns: self.number(),
            polling,
        }
    }

    fn distribution(&mut self) -> Distribution {
        Distribution {
            n: self.number(),
            sum_ns: self.number(),
            max_ns: self.number(),
            buckets: (0..3).map(|_| (self.number(), self.number())).collect(),
        }
    }

    fn proc_row(&mut self) -> ProcRow {
        ProcRow {
            proc: self.text(),
            file: self.text(),
            line: self.small(),
            future_bytes: self.number(),
            running_ns: self.number(),
            inclusive_ns: self.number(),
            hold_ns: self.number(),
            yielded_ns: self.number(),
            unstarted_ns: self.number(),
            wall_ns: self.number(),
            max_poll_ns: self.number(),
            max_poll_open: true,
            calls: self.number(),
            polls: self.number(),
            live: self.number(),
            ready: self.number(),
            err: self.number(),
            cancelled: self.number(),
            panicked: self.number(),
            never_polled: self.number(),
            occupancy_ppm: self.number(),
            call_running: self.distribution(),
            call_inclusive: self.distribution(),
            poll_hold: self.distribution(),
            poll_running: self.distribution(),
            callers: (0..2)
                .map(|_| Caller {
                    proc: self.text(),
                    polls: self.number(),
                    hold_ns: self.number(),
                })
                .collect(),
        }
    }

    fn place(&mut self) -> Place {
        Place {
            file: self.text(),
            line: self.small(),
            column: self.small(),
            end_line: self.small(),
            end_column: self.small(),
            expr: self.text(),
        }
    }

    fn stack_row(&mut self, placed: bool) -> StackRow {
        StackRow {
            depth: self.small(),
            proc: self.text(),
            place: placed.then(|| self.place()),
            since_ns: self.number(),
        }
    }

    fn task_row(&mut self, state: TaskState) -> TaskRow {
        TaskRow {
            id: self.number(),
            name: self.text(),
            state,
            since_ns: self.number(),
            age_ns: self.number(),
            polls: self.number(),
            running_ns: self.number(),
            max_poll_ns: self.number(),
            root: self.text(),
            future_bytes: self.number(),
            stack: vec![self.stack_row(true), self.stack_row(false)],
            stack_truncated: true,
        }
    }

    fn await_row(&mut self) -> AwaitRow {
        AwaitRow {
            proc: self.text(),
            place: self.place(),
            waits: self.number(),
            now: self.number(),
            waited_ns: self.number(),
            max_wait_ns: self.number(),
            share_ppm: self.number(),
            cancelled: self.number(),
        }
    }

    fn page<R>(&mut self, rows: Vec<R>) -> Page<R> {
        Page {
            rows,
            total: self.number(),
            matched: self.number(),
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        let procs = vec![self.proc_row(), self.proc_row()];
        let states = [TaskState::Polling, TaskState::Ready, TaskState::Waiting];
        let tasks = states.map(|state| self.task_row(state)).to_vec();
        let awaits = vec![self.await_row(), self.await_row()];
        Snapshot {
            process: self.process(Accounting::Armed),
            at_unix_ns: self.number(),
            window_ns: self.number(),
            since_start: true,
            workers: vec![self.worker(true), self.worker(false)],
            tasks_by_state: TasksByState {
                polling: self.number(),
                ready: Some(self.number()),
                waiting: self.number(),
            },
            lost: Lost {
                tasks: self.number(),
                procs: self.number(),
                late_attach: self.number(),
                orphan_end: self.number(),
                forced_pop: self.number(),
                clock_backwards: self.number(),
            },
            procs: self.page(procs),
            tasks: self.page(tasks),
            awaits: self.page(awaits),
        }
    }

    fn rows(&mut self) -> Rows {
        Rows {
            filter: self.text(),
            sort: self.text(),
            invert: true,
            limit: self.small(),
        }
    }
}

/// Through the message and its bytes, and back.
fn check<M, P>(value: M)
where
    M: Clone + PartialEq + std::fmt::Debug + TryFrom<P, Error = Malformed>,
    P: Message + Default + From<M>,
{
    let bytes = P::from(value.clone()).encode_to_vec();
    let message = P::decode(bytes.as_slice()).unwrap();
    assert_eq!(M::try_from(message), Ok(value));
}

#[test]
fn snapshots_survive() {
    check::<_, proto::Snapshot>(Distinct(0).snapshot());
    check::<_, proto::Snapshot>(Snapshot::default());
}

#[test]
fn what_is_unknown_stays_unknown() {
    let mut snapshot = Distinct(0).snapshot();
    snapshot.process.runtime_tasks = Some(0);
    snapshot.tasks_by_state.ready = Some(0);
    check::<_, proto::Snapshot>(snapshot.clone());
    snapshot.process.runtime_tasks = None;
    snapshot.tasks_by_state.ready = None;
    check::<_, proto::Snapshot>(snapshot);
}

#[test]
fn processes_survive() {
    for accounting in [Accounting::Armed, Accounting::Disarmed] {
        check::<_, proto::Process>(Distinct(0).process(accounting));
    }
}

#[test]
fn queries_survive() {
    let mut d = Distinct(0);
    check::<_, proto::Query>(Query {
        window_ns: Some(d.number()),
        procs: Some(d.rows()),
        tasks: Some(d.rows()),
        awaits: Some(d.rows()),
    });
    check::<_, proto::Query>(Query::default());
    check::<_, proto::Query>(Query {
        window_ns: Some(0),
        tasks: Some(Rows::default()),
        ..Query::default()
    });
}

#[test]
fn actions_survive() {
    for accounting in [Accounting::Armed, Accounting::Disarmed] {
        check::<_, proto::ControlRequest>(Action::SetAccounting(accounting));
    }
}

/// A snapshot's message with one thing spoilt, and the fault that it must give.
fn refused(spoil: fn(&mut proto::Snapshot), expected: &str) {
    let mut message = proto::Snapshot::from(Distinct(0).snapshot());
    spoil(&mut message);
    assert_eq!(
        Snapshot::try_from(message).unwrap_err().to_string(),
        expected
    );
}

fn proc(message: &mut proto::Snapshot) -> &mut proto::ProcRow {
    &mut message.procs.as_mut().unwrap().rows[1]
}

fn task(message: &mut proto::Snapshot) -> &mut proto::TaskRow {
    &mut message.tasks.as_mut().unwrap().rows[2]
}

#[test]
fn what_is_missing_is_refused() {
    refused(|m| m.process = None, "`Snapshot.process` is missing");
    refused(
        |m| m.tasks_by_state = None,
        "`Snapshot.tasks_by_state` is missing",
    );
    refused(|m| m.lost = None, "`Snapshot.lost` is missing");
    refused(|m| m.procs = None, "`Snapshot.procs` is missing");
    refused(|m| m.tasks = None, "`Snapshot.tasks` is missing");
    refused(|m| m.awaits = None, "`Snapshot.awaits` is missing");
    refused(
        |m| proc(m).call_running = None,
        "`ProcRow.call_running` is missing",
    );
    refused(
        |m| proc(m).call_inclusive = None,
        "`ProcRow.call_inclusive` is missing",
    );
    refused(
        |m| proc(m).poll_hold = None,
        "`ProcRow.poll_hold` is missing",
    );
    refused(
        |m| proc(m).poll_running = None,
        "`ProcRow.poll_running` is missing",
    );
    refused(
        |m| m.awaits.as_mut().unwrap().rows[0].place = None,
        "`AwaitRow.place` is missing",
    );
}

#[test]
fn unknown_values_are_refused() {
    refused(
        |m| task(m).state = 0,
        "`TaskRow.state` holds the unknown value 0",
    );
    refused(
        |m| task(m).state = 77,
        "`TaskRow.state` holds the unknown value 77",
    );
    refused(
        |m| m.process.as_mut().unwrap().accounting = 0,
        "`Process.accounting` holds the unknown value 0",
    );
    refused(
        |m| m.process.as_mut().unwrap().accounting = -3,
        "`Process.accounting` holds the unknown value -3",
    );
    let raw = |to| proto::ControlRequest {
        action: Some(proto::control_request::Action::SetAccounting(to)),
    };
    let fault = |message: proto::ControlRequest| Action::try_from(message).unwrap_err().to_string();
    assert_eq!(
        fault(raw(9)),
        "`ControlRequest.action` holds the unknown value 9"
    );
    assert_eq!(
        fault(proto::ControlRequest { action: None }),
        "`ControlRequest.action` is missing"
    );
}

#[test]
fn histograms_that_are_none_are_refused() {
    refused(
        |m| {
            proc(m).poll_hold.as_mut().unwrap().count.pop();
        },
        "`Distribution.upper_ns` holds 3 upper bounds and 2 counts",
    );
    refused(
        |m| proc(m).poll_hold.as_mut().unwrap().upper_ns.swap(0, 1),
        "`Distribution.upper_ns` holds upper bounds that do not ascend",
    );
    refused(
        |m| {
            let upper = &mut proc(m).poll_hold.as_mut().unwrap().upper_ns;
            upper[1] = upper[0];
        },
        "`Distribution.upper_ns` holds upper bounds that do not ascend",
    );
}
