//! Round trips: every field survives the conversion in both directions, and messages without
//! meaning are refused.

use prost::Message;
use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::event::EventClasses;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::alert::{
    Alert, Behind, BehindWait, Occurrence, Party, PartyKind, Point, Severity, Step,
};
use turbowish_model::snapshot::combinator::Combinator;
use turbowish_model::snapshot::json::{Parsed, Record};
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::quantile::Distribution;
use turbowish_model::snapshot::{
    Accounting, Aim, AwaitRow, Caller, Claim, CounterRow, HolderRow, IntentRow, LongestRow, Lost,
    MetricKind, Overhead, Page, PauseRow, Place, PollRow, Polling, ProcRow, Process, ResourceRow,
    Snapshot, Spot, StackRow, Table, TableVisitor, TaskGroup, TaskRow, TaskState, TasksByState,
    WaiterRow, WakerRow, Worker,
};

use super::{Action, Hello, Malformed, Paced, PauseTask};
use crate::encode::{self, Encode};
use crate::proto;

const ROLES: [Role; 7] = Role::ALL;

const KINDS: [Kind; 11] = [
    Kind::Mutex,
    Kind::RwLock,
    Kind::Semaphore,
    Kind::Barrier,
    Kind::Notify,
    Kind::OnceCell,
    Kind::Mpsc,
    Kind::Oneshot,
    Kind::Broadcast,
    Kind::Watch,
    Kind::Timer,
];

const SEVERITIES: [Severity; 3] = [Severity::Alert, Severity::Warning, Severity::Note];

const PARTIES: [PartyKind; 4] = [
    PartyKind::Task,
    PartyKind::Resource,
    PartyKind::Worker,
    PartyKind::Proc,
];

/// Gives every field a distinct value, so that swapped fields are detected.
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

    /// A row whose numbers, texts and flags are set.
    fn plain<R: Record>(&mut self) -> R {
        let mut row = R::default();
        for set in R::setters() {
            let values = [
                Parsed::Number(self.number().into()),
                Parsed::Number(self.small().into()),
                Parsed::Text(self.text()),
                Parsed::Flag(true),
            ];
            let _is_set = values.iter().find_map(|value| set(&mut row, value));
        }
        row
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
            own_cost: Some(Overhead {
                ppm: self.number(),
                monitor_ppm: Some(self.number()),
                poll_ps: self.number(),
                wake_ps: self.number(),
                counter_ps: self.number(),
                resource_ps: self.number(),
            }),
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
            trend_ppm: vec![self.number(), 0, self.number()],
            max_poll_open: true,
            max_poll_ago_ns: Some(self.number()),
            max_poll_on: Some(self.text()),
            max_poll_task: Some(self.text()),
            max_poll_after: Some(self.spot()),
            max_ever_ago_ns: Some(self.number()),
            max_ever_on: Some(self.text()),
            max_ever_task: Some(self.text()),
            max_ever_after: Some(self.spot()),
            call_running: self.distribution(),
            call_inclusive: self.distribution(),
            call_wall: self.distribution(),
            poll_hold: self.distribution(),
            poll_running: self.distribution(),
            ready_latency: self.distribution(),
            callers: (0..2)
                .map(|_| Caller {
                    proc: self.text(),
                    polls: self.number(),
                    hold_ns: self.number(),
                })
                .collect(),
            attributes: vec![(self.text(), self.text()), (self.text(), self.text())],
            ..self.plain()
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
            fork: placed.then_some(Combinator::Unordered),
            woken_ns: placed.then(|| self.number()),
            aside: placed,
            cut: !placed,
        }
    }

    fn task_row(&mut self, state: TaskState) -> TaskRow {
        TaskRow {
            state,
            stack: vec![self.stack_row(true), self.stack_row(false)],
            stack_truncated: true,
            waits_unknown: true,
            waker: Some(WakerRow {
                woken_by: Some(self.text()),
                woken_in: Some(self.text()),
                wakes: self.number(),
                own_wakes: self.number(),
                clones: self.number(),
                live: self.number(),
            }),
            pause: Some(PauseRow {
                by: self.text(),
                left_ns: Some(self.number()),
                woken: true,
                address: self.number(),
            }),
            last_poll: Some(PollRow {
                ago_ns: self.number(),
                took_ns: Some(self.number()),
                thread: Some(self.text()),
                worker: Some(self.small()),
                ready_ns: Some(self.number()),
                ready_by: Some(self.text()),
                ready_in: Some(self.text()),
            }),
            os_thread_id: Some(self.number()),
            waits_on: ROLES.map(|role| self.claim(role)).to_vec(),
            holds: vec![self.claim(Role::Write), self.claim(Role::Acquire)],
            will: ROLES.map(|role| self.aim(role)).to_vec(),
            may: vec![self.aim(Role::Receive)],
            parent: Some(self.text()),
            spawned_in: Some(self.text()),
            spawned_at: Some(self.spot()),
            attributes: vec![(self.text(), self.text()), (self.text(), self.text())],
            ..self.plain()
        }
    }

    fn spot(&mut self) -> Spot {
        Spot {
            file: self.text(),
            line: self.small(),
            column: self.small(),
        }
    }

    fn claim(&mut self, role: Role) -> Claim {
        Claim {
            resource_id: self.number(),
            resource: self.text(),
            role,
            amount: self.number(),
            since_ns: self.number(),
            at: self.spot(),
        }
    }

    fn aim(&mut self, role: Role) -> Aim {
        Aim {
            resource_id: self.number(),
            resource: self.text(),
            role,
            proc: self.text(),
        }
    }

    fn intent(&mut self, role: Role) -> IntentRow {
        IntentRow {
            task: (role != Role::Lock).then(|| self.text()),
            role,
            proc: self.text(),
        }
    }

    fn holder(&mut self, role: Role) -> HolderRow {
        HolderRow {
            task: Some(self.text()),
            role,
            amount: self.number(),
            since_ns: self.number(),
            at: self.spot(),
        }
    }

    fn waiter(&mut self, role: Role) -> WaiterRow {
        WaiterRow {
            task: Some(self.text()),
            role,
            amount: self.number(),
            since_ns: self.number(),
            at: self.spot(),
            woken_ns: Some(self.number()),
        }
    }

    fn longest(&mut self, role: Role) -> LongestRow {
        LongestRow {
            took_ns: self.number(),
            ago_ns: self.number(),
            role,
            task: Some(self.text()),
            proc: self.text(),
            at: (role == Role::Write).then(|| self.spot()),
            on: Some(self.text()),
            behind: (role == Role::Acquire).then(|| self.text()),
        }
    }

    fn resource_row(&mut self, kind: Kind) -> ResourceRow {
        ResourceRow {
            kind,
            made_at: self.spot(),
            capacity: Some(self.number()),
            level: Some(self.number()),
            closed: true,
            holders: ROLES.map(|role| self.holder(role)).to_vec(),
            waiters: ROLES.map(|role| self.waiter(role)).to_vec(),
            senders: vec![Some(self.text()), None],
            receivers: vec![None, Some(self.text()), Some(String::new())],
            will: ROLES.map(|role| self.intent(role)).to_vec(),
            may: vec![self.intent(Role::Send)],
            waited: self.distribution(),
            kept: self.distribution(),
            longest_wait: Some(self.longest(Role::Acquire)),
            longest_hold: Some(self.longest(Role::Write)),
            longest_queue: self.number(),
            longest_queue_ago_ns: self.number(),
            ..self.plain()
        }
    }

    fn await_row(&mut self) -> AwaitRow {
        AwaitRow {
            place: self.place(),
            max_wait_ago_ns: Some(self.number()),
            max_wait_task: Some(self.text()),
            await_wait: self.distribution(),
            wait_max_ns: Some(self.number()),
            wait_max_ago_ns: Some(self.number()),
            wait_max_task: Some(self.text()),
            ..self.plain()
        }
    }

    fn party(&mut self, kind: PartyKind) -> Party {
        Party {
            kind,
            id: self.number(),
            name: self.text(),
        }
    }

    fn point(&mut self, placed: bool) -> Point {
        Point {
            proc: self.text(),
            place: placed.then(|| self.place()),
        }
    }

    fn step(&mut self) -> Step {
        Step {
            task: self.party(PartyKind::Task),
            point: self.point(true),
            since: self.number(),
            on: self.party(PartyKind::Resource),
            how: self.text(),
        }
    }

    /// The `nth` kind of alert; together they have every severity.
    fn alert(&mut self, nth: usize) -> Alert {
        Alert {
            pitfall: Pitfall::ALL[nth],
            severity: SEVERITIES[nth % SEVERITIES.len()],
            since: self.number(),
            held_ns: self.number(),
            holds: nth.is_multiple_of(2),
            certain: nth.is_multiple_of(4),
            title: self.text(),
            summary: self.text(),
            parties: PARTIES.map(|kind| self.party(kind)).to_vec(),
            at: Some(self.point(nth.is_multiple_of(2))),
            steps: vec![self.step(), self.step()],
            behind: Behind {
                tasks: vec![self.party(PartyKind::Task)],
                unlisted: self.number(),
                waits: vec![BehindWait {
                    at: self.point(true),
                    tasks: self.number(),
                    longest_ns: self.number(),
                    asleep: nth.is_multiple_of(2),
                }],
            },
            why: self.text(),
            fixes: vec![self.text(), self.text()],
            began_unix_ns: self.number(),
            ended_unix_ns: nth.is_multiple_of(2).then(|| self.number()),
            times: self.number(),
            last_unix_ns: nth.is_multiple_of(2).then(|| self.number()),
            recent: vec![Occurrence {
                began_unix_ns: self.number(),
                held_ns: self.number(),
                behind_count: self.number(),
            }],
            unpolled_ns: self.number(),
            behind_unknown: nth.is_multiple_of(2),
            on_cpu_ns: nth.is_multiple_of(2).then(|| self.number()),
            on_cpu_of_ns: self.number(),
        }
    }

    fn counter(&mut self, kind: MetricKind) -> CounterRow {
        let signed = |n: u64| Some(-n.cast_signed());
        CounterRow {
            name: self.text(),
            kind,
            proc: Some(self.text()),
            at: self.spot(),
            updates: self.number(),
            added: Some(self.number()),
            total: Some(self.number()),
            value: signed(self.number()),
            min: signed(self.number()),
            max: signed(self.number()),
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
        use TaskState::{Paused, Polling, Ready, Waiting};
        let states = [Polling, Ready, Waiting, Paused];
        let tasks = states.map(|state| self.task_row(state)).to_vec();
        let awaits = vec![self.await_row(), self.await_row()];
        let resources = KINDS.map(|kind| self.resource_row(kind)).to_vec();
        let counters = [MetricKind::Counter, MetricKind::Gauge];
        let counters = counters.map(|kind| self.counter(kind)).to_vec();
        let alerts = (0..Pitfall::ALL.len()).map(|nth| self.alert(nth)).collect();
        #[allow(clippy::needless_update, reason = "a new table gets its rows below")]
        let mut snapshot = Snapshot {
            process: self.process(Accounting::Armed),
            at_unix_ns: self.number(),
            window_ns: self.number(),
            since_start: true,
            workers: vec![self.worker(true), self.worker(false)],
            tasks_by_state: TasksByState {
                polling: self.number(),
                ready: Some(self.number()),
                waiting: self.number(),
                paused: self.number(),
            },
            lost: Lost {
                tasks: self.number(),
                resources: self.number(),
                procs: self.number(),
                late_attach: self.number(),
                orphan_end: self.number(),
                forced_pop: self.number(),
                clock_backwards: self.number(),
                counters: self.number(),
                details: self.number(),
                last_ago_ns: Some(self.number()),
            },
            ready_latency: self.distribution(),
            procs: self.page(procs),
            tasks: self.page(tasks),
            awaits: self.page(awaits),
            resources: self.page(resources),
            alerts: self.page(alerts),
            counters: self.page(counters),
            task_groups: vec![TaskGroup {
                key: self.text(),
                tasks: self.number(),
                row: self.task_row(TaskState::Ready),
            }],
            ..Snapshot::default()
        };
        for table in Table::ALL {
            table.visit(PlainRows(self, &mut snapshot));
        }
        snapshot
    }

    fn rows(&mut self) -> Rows {
        Rows {
            filter: self.text(),
            sort: self.text(),
            invert: true,
            limit: self.small(),
            group: self.text(),
        }
    }
}

/// Fills a table that has no rows of its own above.
struct PlainRows<'a>(&'a mut Distinct, &'a mut Snapshot);

impl TableVisitor for PlainRows<'_> {
    type Output = ();

    fn visit<R: Record>(self) {
        if R::page(self.1).rows.is_empty() {
            let rows = vec![self.0.plain(), self.0.plain()];
            *R::page_mut(self.1) = self.0.page::<R>(rows);
        }
    }
}

/// Converts to the message and its bytes, and back; and directly to bytes of the same message.
fn check<M, P>(value: M)
where
    M: Clone + PartialEq + std::fmt::Debug + TryFrom<P, Error = Malformed> + Encode,
    P: Message + Default + From<M> + PartialEq + std::fmt::Debug,
{
    let message = P::from(value.clone());
    let written = encode::append(Vec::new(), &value);
    assert_eq!(written.len(), message.encoded_len());
    let length = written.len();
    assert_eq!(encode::size(&value), length);
    assert_eq!(encode::message(&value, 0, length).as_ref(), Some(&written));
    if let Some(less) = length.checked_sub(1) {
        assert_eq!(encode::message(&value, length, less), None);
    }
    assert_eq!(P::decode(written.as_slice()).unwrap(), message);
    check_conversion(value);
}

/// Converts to the message and its bytes, and back.
fn check_conversion<M, P>(value: M)
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
fn replies_are_their_messages() {
    let mut d = Distinct(0);
    let (snapshot, pace_ns) = (d.snapshot(), d.number());
    let paced = Paced {
        snapshot: &snapshot,
        pace_ns,
    };
    let written = encode::append(Vec::new(), &paced);
    let mut expected = proto::Snapshot::from(snapshot);
    expected.pace_ns = pace_ns;
    assert_eq!(proto::Snapshot::decode(written.as_slice()), Ok(expected));
    let hello = Hello {
        protocol: d.small(),
        version: d.text(),
        process: d.process(Accounting::Disarmed),
        read_only: true,
    };
    let written = encode::append(Vec::new(), &hello);
    let expected = proto::HelloReply {
        protocol: hello.protocol,
        version: hello.version,
        process: Some(hello.process.into()),
        read_only: true,
    };
    assert_eq!(proto::HelloReply::decode(written.as_slice()), Ok(expected));
}

#[test]
fn what_is_unknown_stays_unknown() {
    let mut snapshot = Distinct(0).snapshot();
    snapshot.process.runtime_tasks = Some(0);
    snapshot.tasks_by_state.ready = Some(0);
    check::<_, proto::Snapshot>(snapshot.clone());
    snapshot.process.runtime_tasks = None;
    snapshot.tasks_by_state.ready = None;
    let resource = &mut snapshot.resources.rows[0];
    resource.capacity = Some(0);
    resource.level = Some(0);
    resource.waiters[0].woken_ns = Some(0);
    check::<_, proto::Snapshot>(snapshot.clone());
    let resource = &mut snapshot.resources.rows[0];
    resource.capacity = None;
    resource.level = None;
    resource.waiters[0].woken_ns = None;
    resource.waiters[0].task = None;
    resource.holders[0].task = None;
    let task = &mut snapshot.tasks.rows[0];
    task.parent = None;
    task.spawned_at = None;
    task.waker = Some(WakerRow::default());
    snapshot.alerts.rows[0].at = None;
    snapshot.alerts.rows[1].steps[0].point.place = None;
    snapshot.tasks.rows[1].waker = None;
    snapshot.counters.rows[0] = CounterRow {
        total: Some(0),
        value: Some(0),
        ..CounterRow::default()
    };
    snapshot.process.own_cost = Some(Overhead::default());
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
    let mut query = Query {
        window_ns: Some(d.number()),
        ..Query::default()
    };
    for table in Table::ALL {
        *query.rows_mut(*table) = Some(d.rows());
    }
    check::<_, proto::Query>(query);
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
        check_conversion::<_, proto::ControlRequest>(Action::SetAccounting(accounting));
    }
    for lease_ns in [None, Some(1), Some(u64::MAX)] {
        check_conversion::<_, proto::ControlRequest>(Action::PauseTask(PauseTask {
            task: 7,
            by: "console pid 9".into(),
            lease_ns,
            renew: lease_ns.is_some(),
        }));
    }
    check_conversion::<_, proto::ControlRequest>(Action::ResumeTask(u64::MAX));
    for classes in [
        EventClasses::NONE,
        EventClasses::DEFAULT,
        EventClasses::of_bits(!0),
    ] {
        check_conversion::<_, proto::ControlRequest>(Action::RecordEvents(classes));
    }
}

/// Checks that a snapshot's message with one fault is refused with the expected error.
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

fn resource(message: &mut proto::Snapshot) -> &mut proto::ResourceRow {
    &mut message.resources.as_mut().unwrap().rows[1]
}

fn alert(message: &mut proto::Snapshot) -> &mut proto::Alert {
    &mut message.alerts.as_mut().unwrap().rows[2]
}

/// Fields that a process of an earlier version does not send are empty, not a fault.
#[test]
fn what_came_later_may_be_missing() {
    let mut message = proto::Snapshot::from(Distinct(0).snapshot());
    message.resources = None;
    message.alerts = None;
    message.counters = None;
    message.delays = None;
    message.slowest = None;
    message.process.as_mut().unwrap().own_cost = None;
    proc(&mut message).ready_latency = None;
    proc(&mut message).call_wall = None;
    message.awaits.as_mut().unwrap().rows[0].await_wait = None;
    let snapshot = Snapshot::try_from(message).unwrap();
    assert_eq!(snapshot.resources, Page::default());
    assert_eq!(snapshot.alerts, Page::default());
    assert_eq!(snapshot.counters, Page::default());
    assert_eq!(snapshot.delays, Page::default());
    assert_eq!(snapshot.slowest, Page::default());
    assert_eq!(snapshot.process.own_cost, None);
    let proc = &snapshot.procs.rows[1];
    assert_eq!(proc.ready_latency, Distribution::default());
    assert_eq!(proc.call_wall, Distribution::default());
    let point = &snapshot.awaits.rows[0];
    assert_eq!(point.await_wait, Distribution::default());
}

/// Every field and enum value of the protocol as `Message.field = number type`, parsed from the
/// `.proto` file.
fn fields() -> Vec<String> {
    let mut scope: Vec<&str> = Vec::new();
    let mut fields = Vec::new();
    for line in include_str!("../../proto/turbowish/v1/turbowish.proto").lines() {
        let words: Vec<&str> = line.trim().trim_end_matches(';').split(' ').collect();
        match &words[..] {
            ["//", ..] => {}
            ["message" | "enum" | "oneof" | "service", name, "{"] => scope.push(name),
            ["}"] => {
                scope.pop();
            }
            [kind @ .., name, "=", number] if !scope.is_empty() => {
                let kind = kind.join(" ");
                let field = format!("{}.{name} = {number} {kind}", scope.join("."));
                fields.push(field.trim_end().to_owned());
            }
            _ => {}
        }
    }
    fields
}

/// A released field keeps its number and type: processes and consoles of different versions depend
/// on them. The first line of the list is the version that is being made; fields that are new in
/// it are free until its release. The next version begins with a complete list.
#[test]
fn fields_keep_their_numbers() {
    let mut golden = include_str!("fields.txt").lines();
    let version = golden.next().unwrap();
    let golden: Vec<&str> = golden.collect();
    let now = fields();
    let gone: Vec<_> = golden
        .iter()
        .filter(|field| !now.iter().any(|known| known == *field))
        .collect();
    assert!(gone.is_empty(), "changed or gone: {gone:#?}");
    let mut unlisted = now.iter().filter(|field| !golden.contains(&field.as_str()));
    assert!(
        version == env!("CARGO_PKG_VERSION") || unlisted.next().is_none(),
        "fields.txt is of {version}: list all fields, and write the new version in its first line"
    );
    assert_eq!(
        version,
        env!("CARGO_PKG_VERSION"),
        "the first line of fields.txt"
    );
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
    refused(
        |m| resource(m).made_at = None,
        "`ResourceRow.made_at` is missing",
    );
    refused(
        |m| resource(m).waited = None,
        "`ResourceRow.waited` is missing",
    );
    refused(|m| resource(m).kept = None, "`ResourceRow.kept` is missing");
    refused(
        |m| resource(m).holders[1].at = None,
        "`Holder.at` is missing",
    );
    refused(
        |m| resource(m).waiters[1].at = None,
        "`Waiter.at` is missing",
    );
    refused(|m| task(m).waits_on[0].at = None, "`Claim.at` is missing");
    refused(
        |m| alert(m).steps[1].task = None,
        "`AlertStep.task` is missing",
    );
    refused(
        |m| alert(m).steps[1].point = None,
        "`AlertStep.point` is missing",
    );
    refused(|m| alert(m).steps[1].on = None, "`AlertStep.on` is missing");
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
        |m| resource(m).kind = 0,
        "`ResourceRow.kind` holds the unknown value 0",
    );
    refused(
        |m| resource(m).kind = 12,
        "`ResourceRow.kind` holds the unknown value 12",
    );
    refused(
        |m| resource(m).holders[0].role = 0,
        "`Holder.role` holds the unknown value 0",
    );
    refused(
        |m| resource(m).waiters[0].role = 8,
        "`Waiter.role` holds the unknown value 8",
    );
    refused(
        |m| resource(m).will[0].role = 0,
        "`Intent.role` holds the unknown value 0",
    );
    refused(
        |m| task(m).may[0].role = 8,
        "`Aim.role` holds the unknown value 8",
    );
    refused(
        |m| task(m).holds[1].role = -1,
        "`Claim.role` holds the unknown value -1",
    );
    refused(
        |m| alert(m).pitfall = "gridlock".to_owned(),
        "`Alert.pitfall` holds the unknown name \"gridlock\"",
    );
    refused(
        |m| alert(m).severity = 0,
        "`Alert.severity` holds the unknown value 0",
    );
    refused(
        |m| alert(m).severity = 4,
        "`Alert.severity` holds the unknown value 4",
    );
    refused(
        |m| alert(m).parties[3].kind = 0,
        "`Party.kind` holds the unknown value 0",
    );
    refused(
        |m| alert(m).steps[0].on.as_mut().unwrap().kind = 5,
        "`Party.kind` holds the unknown value 5",
    );
    refused(
        |m| alert(m).behind[0].kind = -1,
        "`Party.kind` holds the unknown value -1",
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
fn pauses_that_make_no_sense_are_refused() {
    let pause = |by: &str, lease_ns| {
        let fault = Action::try_from(proto::ControlRequest {
            action: Some(proto::control_request::Action::PauseTask(
                proto::PauseTask {
                    task: 1,
                    by: by.into(),
                    lease_ns,
                    renew: false,
                },
            )),
        });
        fault.unwrap_err().to_string()
    };
    assert_eq!(pause("", None), "`PauseTask.by` is missing");
    assert_eq!(
        pause(&"ä".repeat(65), None),
        "`PauseTask.by` has more than 64 characters"
    );
    assert_eq!(
        pause("me", Some(0)),
        "`PauseTask.lease_ns` holds the unknown value 0"
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
