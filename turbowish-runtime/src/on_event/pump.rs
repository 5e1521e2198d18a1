//! The thread that calls callbacks, and its queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use turbowish_model::account::event_ring::EVENT_VALUES;
use turbowish_model::account::resource::Role;
use turbowish_model::account::task::TaskMeta;

use super::{RecordedEvent, RecordedKind};
use crate::discard::discard;
use crate::features;
use crate::hot::proc::{self, Registered};
use crate::hot::{clock, switch, thread};
use crate::lock::lock;
use crate::log::say;
use crate::metrics::{self, EventWords};

pub(super) type Callback = Box<dyn FnMut(&RecordedEvent<'_>) + Send>;

/// Batches that wait at most.
const BATCHES: usize = 64;

/// Events that wait at most.
const EVENTS: usize = 256 << 10;

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
    /// Whether the program's guard was dropped: nothing is recorded any more.
    is_over: AtomicBool,
    queue: Mutex<Option<Queue>>,
}

/// The way to the thread.
struct Queue {
    sender: SyncSender<Vec<HeardEvent>>,
    backlog: Arc<Backlog>,
    /// Ends when the thread has called the callbacks with all that was sent, and has dropped them.
    ended: Receiver<()>,
}

/// What the thread and those that pass events on share.
#[derive(Default)]
struct Backlog {
    /// Callbacks that the thread has not taken yet.
    new: Mutex<Vec<Callback>>,
    /// Events in the queue, and in the hands of the thread.
    waiting: AtomicUsize,
    /// Events that found no room in the queue since the last batch.
    lost: AtomicU64,
}

static CALLBACKS: Callbacks = Callbacks {
    is_any: AtomicBool::new(false),
    is_over: AtomicBool::new(false),
    queue: Mutex::new(None),
};

/// Adds a callback. One that nothing will call is dropped.
pub(super) fn add(callback: Callback) {
    // A child of `fork` has no thread that calls it.
    if !features::SERVER || switch::is_child() {
        return discard(callback);
    }
    let mut queue = lock(&CALLBACKS.queue);
    if CALLBACKS.is_over.load(Ordering::Relaxed) {
        // Whatever its drop does, it finds no lock.
        drop(queue);
        return discard(callback);
    }
    if let Some(queue) = &*queue {
        return lock(&queue.backlog.new).push(callback);
    }
    let (sender, batches) = sync_channel(BATCHES);
    let (end, ended) = channel();
    let backlog = Arc::new(Backlog::default());
    let own = Arc::clone(&backlog);
    let work = move || {
        thread::disown();
        run(&batches, &own);
        drop(end);
    };
    if let Err(error) = thread::start("turbowish-events", work) {
        drop(queue);
        say(&format!("on_event calls nothing: no thread: {error}"));
        return discard(callback);
    }
    lock(&backlog.new).push(callback);
    *queue = Some(Queue {
        sender,
        backlog,
        ended,
    });
    CALLBACKS.is_any.store(true, Ordering::Relaxed);
}

/// Whether anybody wants to hear of events.
pub(crate) fn is_heard() -> bool {
    CALLBACKS.is_any.load(Ordering::Relaxed)
}

/// Passes events to the callbacks. Never waits for them.
pub(crate) fn pass(batch: Vec<HeardEvent>) {
    let mut queue = lock(&CALLBACKS.queue);
    if queue.as_ref().is_none_or(|queue| queue.pass(batch)) {
        return;
    }
    let ended = queue.take();
    CALLBACKS.is_any.store(false, Ordering::Relaxed);
    drop(queue);
    say("on_event calls nothing any more: its thread has ended");
    if let Some(queue) = ended {
        discard_new(&queue.backlog);
    }
}

/// The same as [`end`], for good: the program's guard was dropped.
pub(crate) fn close() {
    CALLBACKS.is_over.store(true, Ordering::Relaxed);
    end();
}

/// Lets callbacks get what was passed to them, and waits for that for a moment.
pub(crate) fn end() {
    let queue = {
        let mut queue = lock(&CALLBACKS.queue);
        CALLBACKS.is_any.store(false, Ordering::Relaxed);
        queue.take()
    };
    if let Some(queue) = queue {
        queue.end();
    }
}

impl Queue {
    /// Passes events on, or counts them. Returns whether the thread is still there.
    fn pass(&self, mut batch: Vec<HeardEvent>) -> bool {
        let lost = self.backlog.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            batch.insert(0, HeardEvent::lost(lost));
        }
        let room = EVENTS.saturating_sub(self.backlog.waiting.load(Ordering::Relaxed));
        if batch.len() > room {
            self.lose(batch.get(room..).unwrap_or_default());
            batch.truncate(room);
            batch.shrink_to_fit();
        }
        if batch.is_empty() {
            return true;
        }
        let events = batch.len();
        self.backlog.waiting.fetch_add(events, Ordering::Relaxed);
        let sent = self.sender.try_send(batch);
        let Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) = &sent else {
            return true;
        };
        self.backlog.waiting.fetch_sub(events, Ordering::Relaxed);
        self.lose(batch);
        matches!(sent, Err(TrySendError::Full(_)))
    }

    /// Counts events that the callbacks do not get.
    fn lose(&self, events: &[HeardEvent]) {
        let count = |event: &HeardEvent| match event.what {
            Heard::Lost(count) => count,
            _ => 1,
        };
        let lost = events.iter().map(count).sum();
        self.backlog.lost.fetch_add(lost, Ordering::Relaxed);
    }

    fn end(self) {
        drop(self.sender);
        // It fails as soon as the other end is dropped.
        let _ = self.ended.recv_timeout(PATIENCE);
        discard_new(&self.backlog);
    }
}

impl HeardEvent {
    /// Events that found no room, on any threads and at any time up to now.
    fn lost(count: u64) -> Self {
        Self {
            thread: 0,
            at_unix_ns: clock::unix_ns(),
            took_ns: 0,
            task: 0,
            what: Heard::Lost(count),
        }
    }
}

fn run(batches: &Receiver<Vec<HeardEvent>>, backlog: &Backlog) {
    let (mut callbacks, mut words) = (Vec::new(), Words::default());
    let mut tell = |callbacks: &mut Vec<Callback>, event: &HeardEvent| {
        words.tell(event, |event| {
            callbacks.retain_mut(|callback| call(callback, event));
        });
    };
    while let Ok(batch) = batches.recv() {
        callbacks.append(&mut *lock(&backlog.new));
        for event in &batch {
            tell(&mut callbacks, event);
        }
        backlog.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
    }
    let lost = backlog.lost.swap(0, Ordering::Relaxed);
    if lost > 0 {
        tell(&mut callbacks, &HeardEvent::lost(lost));
    }
    callbacks.into_iter().for_each(discard);
    discard_new(backlog);
}

/// Drops callbacks that were not called yet.
fn discard_new(backlog: &Backlog) {
    let new = std::mem::take(&mut *lock(&backlog.new));
    new.into_iter().for_each(discard);
}

/// Calls a callback. Returns whether it is to be called again.
fn call(callback: &mut Callback, event: &RecordedEvent<'_>) -> bool {
    let called = catch_unwind(AssertUnwindSafe(|| callback(event)));
    let Err(payload) = called else { return true };
    say("a callback of turbowish::on_event panicked; it is not called any more");
    discard(payload);
    discard(std::mem::replace(callback, Box::new(|_| {})));
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
        let root = TaskMeta::of(id).root() as usize;
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
