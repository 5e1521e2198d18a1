//! The messages: each type of the model, the message that mirrors it, and their fields.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::event::EventClasses;
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::alert::{
    BehindWait, Occurrence, Party, PartyKind, Point, Severity, Step,
};
use turbowish_model::snapshot::combinator::Combinator;
use turbowish_model::snapshot::minute::LastMinute;
use turbowish_model::snapshot::{
    Accounting, Aim, AwaitRow, Caller, Claim, CounterRow, DelayRow, HolderRow, IntentRow,
    LongestRow, Lost, MetricKind, Overhead, PauseRow, Place, PollRow, Polling, ProcRow, Process,
    ResourceRow, SlowestRow, Snapshot, Spot, StackRow, TaskGroup, TaskRow, TaskState, TasksByState,
    WaiterRow, WakerRow, Worker,
};

use super::mirror::{mirror, mirror_enum};
use crate::encode::{Encode, Output, put};

mirror_enum!(Kind = ResourceKind {
    Mutex RwLock Semaphore Barrier Notify OnceCell Mpsc Oneshot Broadcast Watch Timer
});
mirror_enum!(Role = ResourceRole { Lock Read Write Acquire Send Receive Wait });
mirror_enum!(TaskState = TaskState { Polling Ready Waiting Paused });
mirror_enum!(Combinator = Fork { Join TryJoin Select Unordered Several });
mirror_enum!(MetricKind = MeterKind { Counter Gauge });
mirror_enum!(Severity = Severity { Alert Warning Note });
mirror_enum!(PartyKind = PartyKind { Task Resource Worker Proc });
mirror_enum!(Accounting = Accounting { Armed Disarmed });

turbowish_model::proc_row!(mirror);
turbowish_model::task_row!(mirror);
turbowish_model::resource_row!(mirror);
turbowish_model::await_row!(mirror);
turbowish_model::counter_row!(mirror);
turbowish_model::delay_row!(mirror);
turbowish_model::slowest_row!(mirror);

mirror!(Caller = Caller { proc polls hold_ns });
mirror!(Place = Place { file line column end_line end_column expr });
mirror!(Spot = Spot { file line column });
mirror!(TaskGroup = TaskGroup { key tasks row });
mirror!(WakerRow = Waker { woken_by wakes own_wakes clones live woken_in });
mirror!(PauseRow = Pause { by left_ns woken address });
mirror!(PollRow = LastPoll { ago_ns took_ns thread worker ready_ns ready_by ready_in });
mirror!(StackRow = StackRow { depth proc place since_ns fork woken_ns aside cut });
mirror!(HolderRow = Holder { task role amount since_ns at });
mirror!(LongestRow = LongestUse { took_ns ago_ns role task proc at on behind });
mirror!(WaiterRow = Waiter { task role amount since_ns at woken_ns });
mirror!(IntentRow = Intent { task role proc });
mirror!(Aim = Aim { resource_id resource role proc });
mirror!(Claim = Claim { resource_id resource role amount since_ns at });
mirror!(Party = Party { kind id name });
mirror!(Point = AlertPoint { proc place });
mirror!(Step = AlertStep { task point since on how });
mirror!(BehindWait = BehindWait { at tasks longest_ns asleep });
mirror!(Occurrence = Occurrence { began_unix_ns held_ns behind_count });
mirror!(Overhead = OwnCost { ppm monitor_ppm poll_ps wake_ps counter_ps resource_ps });
mirror!(Process = Process {
    name pid command uptime_ns accounting accounting_since_unix_ns procs_known runtime_tasks
    own_cost
});
mirror!(Worker = Worker { name busy_ns polling });
mirror!(Polling = Polling { proc since_ns root_since_ns });
mirror!(LastMinute = LastMinute { newest busy tasks ready wakes unknown });
mirror!(TasksByState = TasksByState { polling ready waiting paused });
mirror!(Lost = Lost {
    tasks resources procs late_attach orphan_end forced_pop clock_backwards counters details
    last_ago_ns
});
mirror!(Rows = Rows { filter sort invert limit group });

/// The messages that have a field for each table.
macro_rules! tabled {
    ($($(#[doc = $about:literal])+ $field:ident: $table:ident, $row:ty, $page:ident;)+) => {
        mirror!(Query = Query { window_ns $($field)+ });
        mirror!(Snapshot = Snapshot {
            process at_unix_ns window_ns since_start workers tasks_by_state lost ready_latency
            task_groups alerts_forgotten minute $($field)+
        // The pace belongs to the stream, which sets it.
        } and { pace_ns: 0 });
    };
}

turbowish_model::tables!(tabled);

/// The next snapshot of a stream.
pub struct Paced<'s> {
    /// The snapshot.
    pub snapshot: &'s dyn Encode,
    /// Time from this snapshot to the next one.
    pub pace_ns: u64,
}

impl Encode for Paced<'_> {
    fn encode(&self, output: &mut Output) {
        let Self { snapshot, pace_ns } = self;
        snapshot.encode(output);
        put!(output, Snapshot { pace_ns });
    }
}

/// What a process speaks, and who it is.
#[derive(Debug)]
pub struct Hello {
    /// Number of the protocol.
    pub protocol: u32,
    /// Version of the crate inside the process.
    pub version: String,
    /// The process itself.
    pub process: Process,
    /// Control is refused.
    pub read_only: bool,
}

impl Encode for Hello {
    fn encode(&self, output: &mut Output) {
        let Self {
            protocol,
            version,
            process,
            read_only,
        } = self;
        put!(output, HelloReply { protocol version process read_only });
    }
}

/// The process after a control request.
#[derive(Debug)]
pub struct Controlled {
    /// The process.
    pub process: Process,
    /// After [`Action::RecordEvents`](crate::Action::RecordEvents): the classes that were set
    /// before. After [`Action::HoldEvents`](crate::Action::HoldEvents): those that are recorded
    /// without this connection. Older processes do not say it.
    pub recorded_before: Option<EventClasses>,
}

impl Encode for Controlled {
    fn encode(&self, output: &mut Output) {
        let process = &self.process;
        let recorded_before = &self
            .recorded_before
            .map(|classes| u32::from(classes.bits()));
        put!(
            output,
            ControlReply {
                process
                recorded_before
            }
        );
    }
}
