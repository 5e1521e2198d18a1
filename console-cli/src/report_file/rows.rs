//! Mapping from the fields of docs/json.md to rows: one table for each kind of row.

use turbowish_model::account::resource::Kind;
use turbowish_model::snapshot::alert::{Alert, Severity};
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::{
    AwaitRow, CounterRow, MetricKind, ProcRow, ResourceRow, TaskRow, TaskState,
};

use super::read::{named, put};
use super::tables::Reads;

/// Fields by name: read into the row's field of the same name, into another one, or by a function.
macro_rules! fields {
    ($($name:ident $(: $($path:ident).+)? $(= $read:expr)?),* $(,)?) => {
        &[$((stringify!($name), fields!(@ $name $(: $($path).+)? $(= $read)?))),*]
    };
    (@ $name:ident) => {
        |row, value| put(&mut row.$name, value)
    };
    (@ $name:ident : $($path:ident).+) => {
        |row, value| put(&mut row.$($path).+, value)
    };
    (@ $name:ident = $read:expr) => {
        $read
    };
}

pub(super) static PROCS: Reads<ProcRow> = fields! {
    proc,
    file,
    line,
    running_ns,
    occupancy_ppm,
    trend_ppm,
    inclusive_ns,
    hold_ns,
    yielded_ns,
    unstarted_ns,
    wall_ns,
    max_poll_ns,
    max_poll_open,
    calls,
    polls,
    live,
    ready,
    err,
    cancelled,
    panicked,
    never_polled,
    future_bytes,
    call_running,
    call_inclusive,
    poll_hold,
    poll_running,
    ready_latency,
    callers,
    attributes,
};

pub(super) static TASKS: Reads<TaskRow> = fields! {
    id,
    name,
    state = |row, value| {
        use TaskState::{Paused, Polling, Ready, Waiting};
        let all = [Polling, Ready, Waiting, Paused];
        named(&all, TaskState::word, value).map(|state| row.state = state)
    },
    since_ns,
    age_ns,
    polls,
    running_ns,
    max_poll_ns,
    root,
    future_bytes,
    stack,
    stack_truncated,
    waker,
    pause,
    last_poll,
    os_thread_id,
    waits_on,
    waits_unknown,
    holds,
    will,
    may,
    parent,
    spawned_at,
    attributes,
};

pub(super) static AWAITS: Reads<AwaitRow> = fields! {
    proc,
    file: place.file,
    line: place.line,
    column: place.column,
    end_line: place.end_line,
    end_column: place.end_column,
    expr: place.expr,
    waits,
    now,
    waited_ns,
    max_wait_ns,
    share_ppm,
    cancelled,
};

pub(super) static RESOURCES: Reads<ResourceRow> = fields! {
    id,
    kind = |row, value| {
        named(&KINDS, Kind::word, value).map(|kind| row.kind = kind)
    },
    name,
    made_at,
    age_ns,
    capacity,
    level,
    closed,
    holders,
    holder_count,
    waiters,
    waiter_count,
    // The longest wait of `waiters`, which are read.
    oldest_wait_ns = |_, _| Some(()),
    senders,
    receivers,
    will,
    will_count,
    may,
    may_count,
    put,
    took,
    waits,
    waited,
    kept,
};

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

pub(super) static ALERTS: Reads<Alert> = fields! {
    kind = |row, value| {
        let id = value.as_str()?;
        row.pitfall = Pitfall::from_id(id)?;
        Some(())
    },
    severity = |row, value| {
        let all = [Severity::Alert, Severity::Warning, Severity::Note];
        named(&all, Severity::word, value).map(|severity| row.severity = severity)
    },
    title,
    summary,
    since_ns: held_ns,
    began_ns: since,
    holds,
    certain,
    parties,
    at,
    behind: behind.tasks,
    behind_count = |row, value| {
        let known = row.behind.tasks.len() as u64;
        row.behind.unlisted = value.as_u64()?.saturating_sub(known);
        Some(())
    },
    why,
    fixes,
    // What follows from the kind.
    docs = |_, _| Some(()),
};

pub(super) static COUNTERS: Reads<CounterRow> = fields! {
    name,
    kind = |row, value| {
        let all = [MetricKind::Counter, MetricKind::Gauge];
        named(&all, MetricKind::word, value).map(|kind| row.kind = kind)
    },
    proc,
    at,
    updates,
    added,
    total,
    value,
    min,
    max,
};
