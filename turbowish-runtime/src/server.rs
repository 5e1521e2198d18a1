//! Server for consoles: it runs on the monitor's thread, queries on one beside it. Nothing that
//! consoles do runs on a thread of the application.
//!
//! [`serve`] listens on the Unix socket of this process and, when requested and only on loopback
//! with a token, on TCP. If one of them is unavailable, that costs one line on stderr and the rest
//! continues. Every reply is made from one [`Source`] when the client is ready to take it and there
//! is room for it, so that clients that do not read delay no others, and use no more bytes than
//! `quota` allows.

mod accept;
mod admit;
mod answer;
mod classes;
mod connection;
pub(crate) mod grid;
mod lobby;
mod making;
mod pace;
mod quota;
mod recorder;
mod service;
mod status;
mod tcp;
#[cfg(test)]
mod tests;
mod unix;
mod watch;
mod worker;

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use accept::{Incoming, Listen};
use admit::Slots;
use bytes::Bytes;
use quota::House;
use recorder::Recorder;
pub(crate) use recorder::{RecordConfig, RingFile, no_ring_file};
use service::Service;
use tokio::task::JoinHandle;
use turbowish_model::event::EventClasses;
use turbowish_model::query::{Budget, Query, QueryError};
use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::{Accounting, Process, Snapshot};
use turbowish_recording::{ChunkKind, ClockReading, encode};
use turbowish_wire::{PauseTask, discovery};

use crate::lock::lock;
use crate::log;

/// What is made again and again may have the counters of a tick that has ended so many nanoseconds
/// before: much of it is due at the same instants.
pub(crate) const SHARED_NS: u64 = 10_000_000;

/// Source of all replies: the monitor.
pub(crate) trait Source: Send + Sync + 'static {
    /// Takes a snapshot for the query.
    ///
    /// # Errors
    /// If the query is invalid, or exceeds its budget; the text goes to the client.
    fn snapshot(&self, query: &Query, budget: &Budget<'_>) -> Result<Snapshot, QueryError>;

    /// Current state of this process.
    fn process(&self) -> Process;

    /// Processor time used by this thread so far.
    fn used(&self) -> Duration;

    /// Records the processor time of the answer to a query.
    fn answered(&self, took: Duration);

    /// What has happened since the last call, the oldest first; `None` while accounting is
    /// disarmed.
    fn news(&self) -> Option<Vec<News>>;

    /// What the threads did since the last call.
    fn polls(&self) -> NewPolls;

    /// Names of what is new in them since the last call: the body of a chunk, empty if there are
    /// none.
    fn names(&self) -> Vec<u8>;

    /// Arms or disarms accounting.
    fn set_accounting(&self, accounting: Accounting);

    /// The classes of events that are recorded.
    fn recorded(&self) -> EventClasses {
        EventClasses::DEFAULT
    }

    /// Records these classes of events from now on.
    fn record_events(&self, _classes: EventClasses) {}

    /// Pauses a task.
    ///
    /// # Errors
    /// If the task cannot be paused.
    fn pause_task(&self, order: &PauseTask) -> Result<(), Refused>;

    /// Resumes a task, by its ID.
    ///
    /// # Errors
    /// If it is not paused.
    fn resume_task(&self, task: u64) -> Result<(), Refused>;
}

/// Polls and other events of all threads, and the names of what is new in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewPolls {
    /// Body of a chunk of names; empty if there are none.
    pub(crate) names: Vec<u8>,
    pub(crate) polls: Vec<ThreadChunk>,
    /// How full the fullest ring was. Beyond 100, polls were lost.
    pub(crate) fill_percent: u64,
    /// What time it was.
    pub(crate) clock: Option<ClockReading>,
}

/// A chunk of one thread's polls, events or calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadChunk {
    pub(crate) kind: ChunkKind,
    pub(crate) at_unix_ns: u64,
    /// The encoded chunk, with its header.
    pub(crate) bytes: Bytes,
    /// How much it has; `None` where a reader sees by itself what is missing.
    pub(crate) has: Option<ThreadPart>,
}

impl ThreadChunk {
    /// A chunk with a copy of this body. `None` if that is longer than a chunk may have; those of a
    /// thread's rings are much shorter.
    pub(crate) fn new(
        kind: ChunkKind,
        at_unix_ns: u64,
        body: &[u8],
        has: Option<ThreadPart>,
    ) -> Option<Self> {
        Some(Self {
            kind,
            at_unix_ns,
            bytes: encode(kind, at_unix_ns, 0, body)?.into(),
            has,
        })
    }

    #[cfg(test)]
    pub(crate) fn body(&self) -> &[u8] {
        &self.bytes[turbowish_recording::HEADER_BYTES..]
    }
}

/// How much a chunk of polls or events has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadPart {
    /// Number of the thread.
    pub(crate) thread: u32,
    /// Number of the poll or event behind the last one.
    pub(crate) next: u64,
    /// How many it has, with those that were lost before them.
    pub(crate) count: u64,
}

/// Something that has happened: why the recording has a state there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    /// When, in nanoseconds since the Unix epoch.
    pub(crate) at_unix_ns: u64,
    /// What, in one line.
    pub(crate) text: String,
    /// The severity of an alert that is raised.
    pub(crate) raised: Option<Severity>,
}

/// Why a task cannot be paused or resumed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is no task with this ID, or not any more.
    NoTask,
    /// The task is in its first poll.
    FirstPoll,
    /// Accounting is disarmed, so calls do not check for pauses.
    Off,
    /// The task is not paused, or not any more.
    NotPaused,
    /// Another console has paused it since.
    PausedBy(String),
    /// Nothing is recorded.
    NoRecorder,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTask => {
                f.write_str("no such task, or it has ended; turbowish query tasks lists the live ones")
            }
            Self::FirstPoll => f.write_str(
                "the task is in its first poll and can be paused only after its first wait: try again then",
            ),
            Self::Off => {
                f.write_str("accounting is off, but a pause needs it: arm it (a in turbowish top)")
            }
            Self::NoRecorder => f.write_str(
                "nothing is recorded: the process runs with TURBOWISH_RECORD=off, or without memory for it",
            ),
            Self::NotPaused => f.write_str("the task is not paused (any more)"),
            Self::PausedBy(by) => write!(f, "the task is now paused by {by}"),
        }
    }
}

/// Prints one line for the user.
pub(crate) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Configuration of the server.
#[derive(Clone)]
pub(crate) struct Config {
    /// Folder of the Unix socket.
    pub(crate) folder: PathBuf,
    /// `host:port` for TCP; without it, TCP is off.
    pub(crate) listen: Option<String>,
    /// Token that TCP clients must know.
    pub(crate) token: Option<String>,
    /// Requests to arm, disarm, pause or resume are refused.
    pub(crate) read_only: bool,
    /// Maximum number of concurrent clients, for each of the two listeners.
    pub(crate) max_clients: usize,
    /// Maximum number of rows of each table in a snapshot.
    pub(crate) max_rows: u32,
    /// Time in which a TCP client must complete the handshake.
    pub(crate) hello_time: Duration,
    /// Maximum time in which a client takes none of the bytes made for it.
    pub(crate) stall_time: Duration,
    /// What is recorded; without it, nothing is.
    pub(crate) record: Option<RecordConfig>,
    /// Receives the lines about what is unavailable.
    pub(crate) say: Say,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            folder: discovery::folder(),
            listen: None,
            token: None,
            read_only: false,
            max_clients: 16,
            max_rows: 10_000,
            hello_time: Duration::from_secs(2),
            stall_time: Duration::from_secs(5),
            record: None,
            say: Arc::new(log::say),
        }
    }
}

/// Serves consoles and records until `stop` is ready; then the socket is removed, and the recording
/// beside it. Connections that are still open end with the runtime.
pub(crate) async fn serve(source: Arc<dyn Source>, config: Config, stop: impl Future<Output = ()>) {
    let unix = match unix::bind(&config.folder, std::process::id()).await {
        Ok(listener) => Some(listener),
        Err(fault) => {
            (config.say)(&format!("no console can attach by process id: {fault}"));
            None
        }
    };
    let tcp = match &config.listen {
        Some(listen) => tcp::bind(listen, &config).await,
        None => None,
    };
    let recorder = Recorder::new(&config, unix.as_ref().map(|_| &*config.folder));
    let service = Service::new(source, &config, Arc::clone(&recorder));
    let recording = spawn(Box::pin(service.record()));
    let house = House::new(config.stall_time, Arc::clone(&config.say));
    let over_unix = listen_on(unix, &service, &house, &config);
    let over_tcp = listen_on(tcp, &service, &house, &config);
    tokio::select! {
        () = stop => {}
        () = async { tokio::join!(over_unix, over_tcp); } => {}
    }
    recording.abort();
    service.record_last();
    recorder.end().await;
}

/// Serves one listener forever; without one, waits forever.
async fn listen_on<L: Listen>(
    listener: Option<L>,
    service: &Service,
    house: &Arc<House>,
    config: &Config,
) {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    let gate = service.gate(config.max_clients);
    let slots = Slots::new(config.max_clients, Arc::clone(house));
    let mut incoming = Incoming::new(listener, slots);
    loop {
        let stream = incoming.next().await;
        let serving = connection::serve(stream, gate.clone(), service.clone());
        spawn(Box::pin(serving));
    }
}

/// Spawns a task on the monitor's runtime. One type of future for all of them: tokio is compiled
/// anew for each, into 10 KB.
pub(crate) fn spawn(task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
    tokio::spawn(task)
}
