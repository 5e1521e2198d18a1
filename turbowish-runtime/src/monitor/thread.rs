//! The monitor's thread, with a runtime of its own, so that a hung application still answers.
//! Queries run on another thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use crate::hot::thread;
use crate::log::say;
use crate::monitor::Monitor;
use crate::monitor::overhead;
use crate::server::{self, Config, Source};

/// Interval of the history's ticks.
const TICK: Duration = Duration::from_millis(250);

/// Number of counts per tick while there are many polls.
const PARTS: u32 = 5;

static RUNNING: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>> = Mutex::new(None);

/// Starts the thread. If that fails, accounting continues and one line says what is missing.
pub(crate) fn start(monitor: Arc<Monitor>, config: Config) {
    let (stop, stopped) = oneshot::channel();
    match thread::start("turbowish-monitor", move || run(monitor, config, stopped)) {
        Ok(handle) => {
            *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some((stop, handle))
        }
        Err(error) => say(&format!(
            "no console can attach: the monitor's thread did not start: {error}"
        )),
    }
}

/// Stops the thread and removes the socket.
pub(crate) fn stop() {
    let running = RUNNING
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some((stop, handle)) = running {
        drop(stop);
        let _ = handle.join();
    }
}

fn run(monitor: Arc<Monitor>, config: Config, stopped: oneshot::Receiver<()>) {
    thread::disown();
    overhead::calibrate();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(live(monitor.clone(), monitor, config, stopped)),
        Err(error) => say(&format!(
            "no console can attach: the monitor's runtime did not start: {error}"
        )),
    }
}

/// Ticks the monitor and serves consoles from the source, until it is stopped.
pub(crate) async fn live(
    monitor: Arc<Monitor>,
    source: Arc<dyn Source>,
    config: Config,
    stopped: oneshot::Receiver<()>,
) {
    let beat = tokio::spawn(beat(monitor));
    let ended = async {
        let _ = stopped.await;
    };
    server::serve(source, config, ended).await;
    beat.abort();
}

async fn beat(monitor: Arc<Monitor>) {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut said = false;
    loop {
        ticks.tick().await;
        // The tick counts the leases of paused tasks: it must survive a panic in TurboWish.
        if catch_unwind(AssertUnwindSafe(|| monitor.tick())).is_err() && !said {
            said = true;
            say("the monitor panicked: some numbers or alerts are missing; please report this bug");
        }
        for _ in 1..PARTS {
            if !monitor.is_dense() {
                break;
            }
            tokio::time::sleep(TICK / PARTS).await;
            monitor.sample();
        }
    }
}
