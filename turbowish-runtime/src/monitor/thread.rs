//! The monitor's thread, with a runtime of its own, so that a hung application still answers.
//! Queries run on another thread.

mod beat;

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tokio::sync::oneshot;
use turbowish_model::account::time::Scale;
use turbowish_model::event::EventClass;
use turbowish_recording::RING_POLLS;
use turbowish_wire::discovery;

use self::beat::{TickPace, beat};
use super::Monitor;
use super::alerts::AlertWatch;
use super::cpu_time::CpuTime;
use super::heartbeat::HeartbeatTask;
use super::served::{self, PollReader};
use crate::hot::thread::LentRing;
use crate::hot::{pause, thread};
use crate::lock::lock;
use crate::log::say;
use crate::server::{self, Config, RecordConfig, RingFile, Source};
use crate::settings::{RecordIn, Settings, with_pid};

/// State of the monitor's thread.
#[derive(Debug, Default)]
pub(super) struct MonitorThread {
    /// The thread, and what stops it.
    running: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
    pub(super) watch: Mutex<AlertWatch>,
    pace: Mutex<TickPace>,
    pub(super) heartbeat: HeartbeatTask,
    pub(super) cpu_time: CpuTime,
    pub(super) polls: Mutex<PollReader>,
}

/// Starts the thread and the heartbeat. If that fails, accounting continues and one line says what
/// is missing.
pub(crate) fn start(monitor: &Arc<Monitor>, settings: &Settings) {
    for line in monitor.limit(settings.limits, &settings.limit_texts) {
        say(&line);
    }
    let config = Config {
        listen: settings.listen.clone(),
        token: settings.token.clone(),
        read_only: settings.read_only,
        max_clients: settings.max_clients,
        max_rows: settings.max_rows,
        ..Config::default()
    };
    let record = record(settings, &config.folder, monitor.scale);
    if let Some(record) = &record {
        // Before any thread of the program has a poll: 320 KiB each.
        thread::keep_polls(RING_POLLS, record.rings.clone().map(lasting));
        monitor.record_events(settings.record.classes);
    }
    let config = Config { record, ..config };
    let (stop, stopped) = oneshot::channel();
    let own = monitor.clone();
    match thread::start("turbowish-monitor", move || run(own, config, stopped)) {
        Ok(handle) => *lock(&monitor.thread.running) = Some((stop, handle)),
        Err(error) => say(&format!(
            "no console can attach: the monitor's thread did not start: {error}"
        )),
    }
    if settings.heartbeat {
        monitor.thread.heartbeat.start();
    }
}

/// What is recorded. The program may change its working folder, so a path is made absolute at once.
fn record(settings: &Settings, folder: &Path, scale: Scale) -> Option<RecordConfig> {
    let record = &settings.record;
    let (path, rings) = match &record.to {
        RecordIn::Nothing => return None,
        // That file would have polls.
        RecordIn::Memory if !record.classes.has(EventClass::Polls) => (None, None),
        RecordIn::Memory => (None, rings(folder, scale)),
        RecordIn::File(path) => {
            let path = with_pid(path);
            let path = std::env::current_dir().unwrap_or_default().join(path);
            (Some(path), None)
        }
    };
    Some(RecordConfig {
        budget: record.bytes,
        path,
        rings,
    })
}

/// The file in which the threads have their rings.
fn rings(folder: &Path, scale: Scale) -> Option<Arc<RingFile>> {
    let pid = std::process::id();
    match RingFile::create(folder, pid, &served::now(scale)) {
        Ok(rings) => rings.map(Arc::new),
        Err(error) => {
            say(&server::no_ring_file(&discovery::ring(folder, pid), &error));
            None
        }
    }
}

/// Memory in the file. Threads that find none there have memory that ends with the process.
fn lasting(rings: Arc<RingFile>) -> Box<dyn FnMut() -> Option<LentRing> + Send> {
    let mut is_over = false;
    Box::new(move || {
        if is_over {
            return None;
        }
        let ring = rings.ring().unwrap_or_else(|error| {
            say(&rings.reason(&error));
            None
        });
        is_over = ring.is_none();
        ring
    })
}

/// Stops the heartbeat and the thread, and removes the socket.
pub(crate) fn stop(monitor: &Monitor) {
    monitor.thread.heartbeat.stop();
    let running = lock(&monitor.thread.running).take();
    if let Some((stop, handle)) = running {
        drop(stop);
        let _ = handle.join();
    }
    // No console is left that could resume them.
    pause::resume_all();
}

impl Monitor {
    /// Tasks of the application's runtimes that are the heartbeat.
    pub(super) fn heartbeat_tasks(&self) -> u64 {
        self.thread.heartbeat.tasks()
    }
}

fn run(monitor: Arc<Monitor>, config: Config, stopped: oneshot::Receiver<()>) {
    thread::disown();
    monitor.calibrate();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    match runtime {
        // In a box: the runtime's code is compiled for each type of a future, several times.
        Ok(runtime) => {
            let live: Pin<Box<dyn Future<Output = ()>>> =
                Box::pin(live(monitor.clone(), monitor, config, stopped));
            runtime.block_on(live);
        }
        Err(error) => say(&format!(
            "no console can attach: the monitor's runtime did not start: {error}"
        )),
    }
}

/// Lets the monitor beat and serves consoles from the source, until it is stopped.
pub(crate) async fn live(
    monitor: Arc<Monitor>,
    source: Arc<dyn Source>,
    config: Config,
    stopped: oneshot::Receiver<()>,
) {
    let beat = server::spawn(Box::pin(beat(monitor)));
    let ended = async {
        let _ = stopped.await;
    };
    server::serve(source, config, ended).await;
    beat.abort();
}
