//! Which fields of docs/json.md are read into which rows: one table for each kind of row.

use turbowish_model::alert::{Alert, Severity, TABLE};
use turbowish_model::resource::Kind;
use turbowish_model::snapshot::{
    AwaitRow, CounterRow, MeterKind, ProcRow, ResourceRow, TaskRow, TaskState,
};

use super::read::{named, put};
use super::tables::Reads;

pub(super) static PROCS: Reads<ProcRow> = &[
    ("proc", |row, value| put(&mut row.proc, value)),
    ("file", |row, value| put(&mut row.file, value)),
    ("line", |row, value| put(&mut row.line, value)),
    ("running_ns", |row, value| put(&mut row.running_ns, value)),
    ("occupancy_ppm", |row, value| {
        put(&mut row.occupancy_ppm, value)
    }),
    ("trend_ppm", |row, value| put(&mut row.trend_ppm, value)),
    ("inclusive_ns", |row, value| {
        put(&mut row.inclusive_ns, value)
    }),
    ("hold_ns", |row, value| put(&mut row.hold_ns, value)),
    ("yielded_ns", |row, value| put(&mut row.yielded_ns, value)),
    ("unstarted_ns", |row, value| {
        put(&mut row.unstarted_ns, value)
    }),
    ("wall_ns", |row, value| put(&mut row.wall_ns, value)),
    ("max_poll_ns", |row, value| put(&mut row.max_poll_ns, value)),
    ("max_poll_open", |row, value| {
        put(&mut row.max_poll_open, value)
    }),
    ("calls", |row, value| put(&mut row.calls, value)),
    ("polls", |row, value| put(&mut row.polls, value)),
    ("live", |row, value| put(&mut row.live, value)),
    ("ready", |row, value| put(&mut row.ready, value)),
    ("err", |row, value| put(&mut row.err, value)),
    ("cancelled", |row, value| put(&mut row.cancelled, value)),
    ("panicked", |row, value| put(&mut row.panicked, value)),
    ("never_polled", |row, value| {
        put(&mut row.never_polled, value)
    }),
    ("future_bytes", |row, value| {
        put(&mut row.future_bytes, value)
    }),
    ("call_running", |row, value| {
        put(&mut row.call_running, value)
    }),
    ("call_inclusive", |row, value| {
        put(&mut row.call_inclusive, value)
    }),
    ("poll_hold", |row, value| put(&mut row.poll_hold, value)),
    ("poll_running", |row, value| {
        put(&mut row.poll_running, value)
    }),
    ("ready_latency", |row, value| {
        put(&mut row.ready_latency, value)
    }),
    ("callers", |row, value| put(&mut row.callers, value)),
    ("attributes", |row, value| put(&mut row.attributes, value)),
];

pub(super) static TASKS: Reads<TaskRow> = &[
    ("id", |row, value| put(&mut row.id, value)),
    ("name", |row, value| put(&mut row.name, value)),
    ("state", |row, value| {
        use TaskState::{Paused, Polling, Ready, Waiting};
        let all = [Polling, Ready, Waiting, Paused];
        named(&all, TaskState::word, value).map(|state| row.state = state)
    }),
    ("since_ns", |row, value| put(&mut row.since_ns, value)),
    ("age_ns", |row, value| put(&mut row.age_ns, value)),
    ("polls", |row, value| put(&mut row.polls, value)),
    ("running_ns", |row, value| put(&mut row.running_ns, value)),
    ("max_poll_ns", |row, value| put(&mut row.max_poll_ns, value)),
    ("root", |row, value| put(&mut row.root, value)),
    ("future_bytes", |row, value| {
        put(&mut row.future_bytes, value)
    }),
    ("stack", |row, value| put(&mut row.stack, value)),
    ("stack_truncated", |row, value| {
        put(&mut row.stack_truncated, value)
    }),
    ("waker", |row, value| put(&mut row.waker, value)),
    ("pause", |row, value| put(&mut row.pause, value)),
    ("last_poll", |row, value| put(&mut row.last_poll, value)),
    ("waits_on", |row, value| put(&mut row.waits_on, value)),
    ("holds", |row, value| put(&mut row.holds, value)),
    ("will", |row, value| put(&mut row.will, value)),
    ("may", |row, value| put(&mut row.may, value)),
    ("parent", |row, value| put(&mut row.parent, value)),
    ("spawned_at", |row, value| put(&mut row.spawned_at, value)),
    ("attributes", |row, value| put(&mut row.attributes, value)),
];

pub(super) static AWAITS: Reads<AwaitRow> = &[
    ("proc", |row, value| put(&mut row.proc, value)),
    ("file", |row, value| put(&mut row.place.file, value)),
    ("line", |row, value| put(&mut row.place.line, value)),
    ("column", |row, value| put(&mut row.place.column, value)),
    ("end_line", |row, value| put(&mut row.place.end_line, value)),
    ("end_column", |row, value| {
        put(&mut row.place.end_column, value)
    }),
    ("expr", |row, value| put(&mut row.place.expr, value)),
    ("waits", |row, value| put(&mut row.waits, value)),
    ("now", |row, value| put(&mut row.now, value)),
    ("waited_ns", |row, value| put(&mut row.waited_ns, value)),
    ("max_wait_ns", |row, value| put(&mut row.max_wait_ns, value)),
    ("share_ppm", |row, value| put(&mut row.share_ppm, value)),
    ("cancelled", |row, value| put(&mut row.cancelled, value)),
];

pub(super) static RESOURCES: Reads<ResourceRow> = &[
    ("id", |row, value| put(&mut row.id, value)),
    ("kind", |row, value| {
        named(&KINDS, Kind::word, value).map(|kind| row.kind = kind)
    }),
    ("name", |row, value| put(&mut row.name, value)),
    ("made_at", |row, value| put(&mut row.made_at, value)),
    ("age_ns", |row, value| put(&mut row.age_ns, value)),
    ("capacity", |row, value| put(&mut row.capacity, value)),
    ("level", |row, value| put(&mut row.level, value)),
    ("closed", |row, value| put(&mut row.closed, value)),
    ("holders", |row, value| put(&mut row.holders, value)),
    ("holder_count", |row, value| {
        put(&mut row.holder_count, value)
    }),
    ("waiters", |row, value| put(&mut row.waiters, value)),
    ("waiter_count", |row, value| {
        put(&mut row.waiter_count, value)
    }),
    // The longest wait of `waiters`, which are read.
    ("oldest_wait_ns", |_, _| Some(())),
    ("senders", |row, value| put(&mut row.senders, value)),
    ("receivers", |row, value| put(&mut row.receivers, value)),
    ("will", |row, value| put(&mut row.will, value)),
    ("will_count", |row, value| put(&mut row.will_count, value)),
    ("may", |row, value| put(&mut row.may, value)),
    ("may_count", |row, value| put(&mut row.may_count, value)),
    ("put", |row, value| put(&mut row.put, value)),
    ("took", |row, value| put(&mut row.took, value)),
    ("waits", |row, value| put(&mut row.waits, value)),
    ("waited", |row, value| put(&mut row.waited, value)),
    ("kept", |row, value| put(&mut row.kept, value)),
];

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

pub(super) static ALERTS: Reads<Alert> = &[
    ("kind", |row, value| {
        let id = value.as_str()?;
        let known = TABLE.iter().find(|known| known.id == id)?;
        row.pitfall = known.pitfall;
        Some(())
    }),
    ("severity", |row, value| {
        let all = [Severity::Alert, Severity::Warning, Severity::Note];
        named(&all, Severity::word, value).map(|severity| row.severity = severity)
    }),
    ("title", |row, value| put(&mut row.title, value)),
    ("summary", |row, value| put(&mut row.summary, value)),
    ("since_ns", |row, value| put(&mut row.held_ns, value)),
    ("began_ns", |row, value| put(&mut row.since, value)),
    ("holds", |row, value| put(&mut row.holds, value)),
    ("certain", |row, value| put(&mut row.certain, value)),
    ("parties", |row, value| put(&mut row.parties, value)),
    ("at", |row, value| put(&mut row.at, value)),
    ("behind", |row, value| put(&mut row.behind.tasks, value)),
    ("behind_count", |row, value| {
        let known = row.behind.tasks.len() as u64;
        row.behind.unlisted = value.as_u64()?.saturating_sub(known);
        Some(())
    }),
    ("why", |row, value| put(&mut row.why, value)),
    ("fixes", |row, value| put(&mut row.fixes, value)),
    // What follows from the kind.
    ("docs", |_, _| Some(())),
];

pub(super) static COUNTERS: Reads<CounterRow> = &[
    ("name", |row, value| put(&mut row.name, value)),
    ("kind", |row, value| {
        let all = [MeterKind::Counter, MeterKind::Gauge];
        named(&all, MeterKind::word, value).map(|kind| row.kind = kind)
    }),
    ("proc", |row, value| put(&mut row.proc, value)),
    ("at", |row, value| put(&mut row.at, value)),
    ("updates", |row, value| put(&mut row.updates, value)),
    ("added", |row, value| put(&mut row.added, value)),
    ("total", |row, value| put(&mut row.total, value)),
    ("value", |row, value| put(&mut row.value, value)),
    ("min", |row, value| put(&mut row.min, value)),
    ("max", |row, value| put(&mut row.max, value)),
];
