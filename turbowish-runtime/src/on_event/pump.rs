//! The thread that calls callbacks, and its queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use turbowish_model::account::event_ring::EVENT_VALUES;
use turbowish_model::account::resource::Role;
use turbowish_model::account::task::TaskMeta;

use super::{RecordedEvent, RecordedKind};
use crate::features;
use crate::hot::proc::{self, Registered};
use crate::hot::thread;
use crate::lock::lock;
use crate::log::say;
use crate::metrics::{self, EventWords};

pub(super) type Callback = Box<dyn FnMut(&RecordedEvent<'_>) + Send>;

/// Batches that wait at most.
const BATCHES: usize = 64;

/// The longest time for which the end of the program waits for callbacks.
const PATIENCE: Duration = Duration::from_secs(1);

/// An event for the callbacks. Times are in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeardEvent {
    pub(crate) thread: u32,
    pub(crate) at_unix_ns: u64,
    pub(crate) took_ns: u64,
    pub(crate) task: u64,
    pub(crate) what: Heard,
}

/// What has happened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Heard {
    Poll,
    Used(RecordedKind, Role),
    User {
        /// Number of its place in the source.
        site: u32,
        values: [i64; EVENT_VALUES],
    },
    /// So many events are lost.
    Lost(u64),
}

/// The callbacks of this process.
struct Callbacks {
    is_any: AtomicBool,
    /// Those that the thread has not taken yet.
    new: Mutex<Vec<Callback>>,
    queue: Mutex<Option<Queue>>,
    /// Events that found no room in the queue since the last batch.
    lost: AtomicU64,
}

struct Queue {
    sender: SyncSender<Vec<HeardEvent>>,
    /// Ends when the thread has called the callbacks with all that was sent.
    ended: Receiver<()>,
}

static CALLBACKS: Callbacks = Callbacks {
    is_any: AtomicBool::new(false),
    new: Mutex::new(Vec::new()),
    queue: Mutex::new(None),
    lost: AtomicU64::new(0),
};

/// Adds a callback.
pub(super) fn add(callback: Callback) {
    if !features::SERVER {
        return;
    }
    lock(&CALLBACKS.new).push(callback);
    let mut queue = lock(&CALLBACKS.queue);
    if CALLBACKS.is_any.swap(true, Ordering::Relaxed) {
        return;
    }
    let (sender, batches) = sync_channel(BATCHES);
    let (end, ended) = channel();
    let run = move || {
        thread::disown();
        run(&batches);
        drop(end);
    };
    match thread::start("turbowish-events", run) {
        Ok(_) => *queue = Some(Queue { sender, ended }),
        Err(error) => say(&format!("on_event calls nothing: no thread: {error}")),
    }
}

/// Whether anybody wants to hear of events.
pub(crate) fn is_heard() -> bool {
    CALLBACKS.is_any.load(Ordering::Relaxed)
}

/// Passes events to the callbacks. Never waits for them.
pub(crate) fn pass(mut batch: Vec<HeardEvent>) {
    let queue = lock(&CALLBACKS.queue);
    let (Some(queue), Some(first)) = (&*queue, batch.first().copied()) else {
        return;
    };
    let lost = CALLBACKS.lost.swap(0, Ordering::Relaxed);
    if lost > 0 {
        let (task, took_ns) = (0, 0);
        let what = Heard::Lost(lost);
        batch.insert(
            0,
            HeardEvent {
                task,
                took_ns,
                what,
                ..first
            },
        );
    }
    if let Err(TrySendError::Full(batch)) = queue.sender.try_send(batch) {
        let count = |event: &HeardEvent| match event.what {
            Heard::Lost(count) => count,
            _ => 1,
        };
        let lost = batch.iter().map(count).sum();
        CALLBACKS.lost.fetch_add(lost, Ordering::Relaxed);
    }
}

/// Lets callbacks get what was passed to them, and waits for that for a moment.
pub(crate) fn end() {
    let queue = lock(&CALLBACKS.queue).take();
    CALLBACKS.is_any.store(false, Ordering::Relaxed);
    if let Some(Queue { sender, ended }) = queue {
        drop(sender);
        // It fails as soon as the other end is dropped.
        let _ = ended.recv_timeout(PATIENCE);
    }
}

fn run(batches: &Receiver<Vec<HeardEvent>>) {
    let (mut callbacks, mut words) = (Vec::new(), Words::default());
    while let Ok(batch) = batches.recv() {
        callbacks.append(&mut *lock(&CALLBACKS.new));
        for event in &batch {
            words.tell(event, |event| {
                callbacks.retain_mut(|callback| call(callback, event));
            });
        }
    }
}

/// Calls a callback. Returns whether it is to be called again.
fn call(callback: &mut Callback, event: &RecordedEvent<'_>) -> bool {
    let called = catch_unwind(AssertUnwindSafe(|| callback(event)));
    let Err(payload) = called else { return true };
    // Its drop may panic, too.
    std::mem::forget(payload);
    say("a callback of turbowish::on_event panicked; it is not called any more");
    false
}

/// Names of functions and of the program's own events.
#[derive(Default)]
struct Words {
    procs: Vec<Registered>,
    events: Vec<(u32, EventWords)>,
    /// Number of places of events that were looked at.
    places: usize,
}

impl Words {
    /// Passes an event on with its names.
    fn tell(&mut self, event: &HeardEvent, each: impl FnOnce(&RecordedEvent<'_>)) {
        let mut numbers = Vec::new();
        let (kind, name, count) = match event.what {
            Heard::Poll => (RecordedKind::Poll, self.root(event.task), 1),
            Heard::Used(kind, role) => (kind, role.word(), 1),
            Heard::User { site, values } => {
                let (name, keys) = self.event(site);
                numbers.extend(keys.iter().copied().zip(values));
                (RecordedKind::User, name, 1)
            }
            Heard::Lost(count) => (RecordedKind::Lost, "", count),
        };
        each(&RecordedEvent {
            kind,
            at: UNIX_EPOCH
                .checked_add(Duration::from_nanos(event.at_unix_ns))
                .unwrap_or_else(SystemTime::now),
            took: Duration::from_nanos(event.took_ns),
            name,
            task: event.task,
            thread: event.thread,
            values: &numbers,
            count,
        });
    }

    /// The root function of a task.
    fn root(&mut self, id: u64) -> &str {
        if id == 0 {
            return "";
        }
        let meta = TaskMeta {
            id,
            created: 0,
            future_bytes: 0,
        };
        let root = meta.root() as usize;
        if root >= self.procs.len() {
            self.procs = proc::all();
        }
        self.procs.get(root).map_or("", |proc| &proc.path)
    }

    /// Name of an event of the program's own, and those of its numbers.
    fn event(&mut self, site: u32) -> (&'static str, &'static [&'static str]) {
        let place = |events: &[(u32, EventWords)]| {
            let known = events.iter().find(|(number, _)| *number == site);
            known.map(|(_, words)| (words.name, words.keys))
        };
        place(&self.events).unwrap_or_else(|| {
            self.events.extend(metrics::new_events(&mut self.places));
            place(&self.events).unwrap_or(("", &[]))
        })
    }
}
