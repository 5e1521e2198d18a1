//! Per-thread ledgers: found without a lock, enrolled once, read by the monitor until they are
//! folded.

mod call_log;

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread::JoinHandle;

use turbowish_model::account::call::Call as Account;
use turbowish_model::account::delays::DELAY_MIN_NS;
use turbowish_model::account::event_ring::EventRing;
use turbowish_model::account::ledger::Ledger;
use turbowish_model::account::metrics::Metrics;
use turbowish_model::account::paths::Paths;
use turbowish_model::account::poll_ring::{PollRing, PollWords, ring_places};
use turbowish_model::account::task::{ChainCache, FirstPollCell};
use turbowish_model::event::{EventClass, EventClasses};
use turbowish_unsafe::local::Local;
use turbowish_unsafe::own::Own;
use turbowish_unsafe::zeroed;

use self::call_log::CallLogs;
#[cfg(test)]
pub(crate) use self::call_log::pass_numbers;
pub(crate) use self::call_log::{
    CallLog, EpochEnd, ThreadCallLog, end_calls, is_numbered_now, number_calls_anew,
    take_call_ends, take_call_logs,
};
use crate::features;
use crate::hot::clock;
use crate::hot::origin::TaskOrigin;
use crate::hot::switch;
use crate::hot::task::PanicNote;
use crate::lock::lock;
use crate::os_thread;
use crate::runtimes;

/// A thread's ledger for one epoch.
pub(crate) struct ThreadLedger {
    pub(crate) ledger: Ledger,
    /// Number of the thread, in order of its first event; the same in every epoch.
    pub(crate) index: u32,
    pub(crate) name: Arc<str>,
    /// The operating system's thread ID.
    pub(crate) os_id: Option<u64>,
    pub(crate) first_poll: FirstPollCell,
    /// Origin of the task in its first poll, if it has one.
    pub(crate) origin: Mutex<Option<Arc<TaskOrigin>>>,
    /// The program's own metrics.
    pub(crate) metrics: Metrics,
    /// Whether it has polled a task. Other threads only run plain functions, which may take long
    /// there.
    pub(crate) polls: AtomicBool,
    /// Ready time from which a poll is late, in ticks.
    pub(crate) late: u64,
    /// Address of the waker given to the innermost poll. Of no use to other threads.
    pub(crate) lent: AtomicUsize,
    /// Start of the last root poll whose task used up its budget.
    pub(crate) forced: AtomicU64,
    /// What a recorder takes of the thread beside its polls.
    pub(crate) events: Arc<EventRing>,
    /// The events of its calls, in an epoch in which they are recorded.
    pub(crate) calls: Option<Arc<CallLog>>,
    /// The last panic in a task on this thread.
    pub(crate) panic: Mutex<Option<PanicNote>>,
    /// Chains of pending calls that it has published. Of no use to other threads.
    pub(crate) chains: ChainCache,
}

impl ThreadLedger {
    /// Sets or clears the origin of the task in its first poll.
    pub(crate) fn tell(&self, origin: Option<Arc<TaskOrigin>>) {
        *lock(&self.origin) = origin;
    }

    /// Origin of the task in its first poll.
    pub(crate) fn first_poll_origin(&self) -> Option<Arc<TaskOrigin>> {
        lock(&self.origin).clone()
    }
}

/// What a thread looks at in each poll.
struct ThreadWords {
    /// The word of calls that have nothing to do in this poll.
    straight: Cell<u32>,
    /// The last thing that happened here is that a call ended pending whose callers have no frames.
    settled: Cell<bool>,
    ledger: Own<ThreadLedger>,
}

thread_local! {
    /// Whether this is a TurboWish thread.
    static OURS: Cell<bool> = const { Cell::new(false) };
    static WORDS: ThreadWords = const {
        ThreadWords {
            straight: Cell::new(Account::NOT_STRAIGHT),
            settled: Cell::new(false),
            ledger: Own::new(),
        }
    };
    /// Dropped with the thread, so that the monitor can tell that the ledger has no writer any
    /// more.
    static EXIT: ThreadExit = const { ThreadExit };
    /// The runtime in which the thread was when it was enrolled. Dropped with the thread, not when
    /// its ledger is folded: dropping a runtime may run any code.
    static RUNTIME: RefCell<Option<Arc<runtimes::Seen>>> = const { RefCell::new(None) };
}

/// The thread refers to its ledger until this is dropped.
struct ThreadExit;

impl Drop for ThreadExit {
    fn drop(&mut self) {
        let _ = WORDS.with(|words| words.ledger.replace(None));
    }
}

/// Threads of this process that have accounted something.
struct Threads {
    /// Ledgers that the monitor has not taken yet.
    enrolled: Mutex<Vec<Arc<ThreadLedger>>>,
    count: AtomicU32,
    /// Ledger for threads whose thread-local storage is gone: drops in destructors at thread exit.
    stray: Mutex<Option<Arc<ThreadLedger>>>,
    /// Callback that folds the ledgers of ended threads.
    fold: OnceLock<fn()>,
    /// Paths of all calls.
    paths: LazyLock<Arc<Paths>>,
    polls: PollRings,
    calls: CallLogs,
}

/// The last polls of each thread, for a recorder.
struct PollRings {
    /// Number of polls that each thread keeps; 0 if nobody reads them.
    per_thread: AtomicUsize,
    /// Those that the recorder has not taken yet.
    rings: Mutex<Vec<ThreadPolls>>,
    memory: Mutex<RingMemory>,
    /// The classes of events that are recorded: [`EventClasses::bits`].
    classes: AtomicU8,
}

/// Memory of a ring. It is never given back to the system, only to other threads.
pub(crate) type LentRing = &'static [PollWords];

/// Memory for the rings of threads that begin.
struct RingMemory {
    /// That of threads that have ended, as soon as the recorder has read it to its end.
    free: Vec<LentRing>,
    /// Where more of it comes from, as long as there is some: it outlives the process.
    lasting: Option<Box<dyn FnMut() -> Option<LentRing> + Send>>,
}

impl RingMemory {
    fn take(&mut self, polls: usize) -> LentRing {
        let places = ring_places(polls);
        if let Some(free) = self.free.pop_if(|free| free.len() == places) {
            return free;
        }
        let lasting = self.lasting.as_mut().and_then(|more| more());
        // The system gives memory only for what is written.
        lasting.unwrap_or_else(|| Box::leak(zeroed::words(places)))
    }
}

/// The last polls and events of a thread. They outlive it as long as somebody refers to them.
#[derive(Clone, Debug)]
pub(crate) struct ThreadPolls {
    /// Number of the thread.
    pub(crate) index: u32,
    pub(crate) name: Arc<str>,
    pub(crate) ring: Arc<PollRing>,
    pub(crate) events: Arc<EventRing>,
}

impl ThreadPolls {
    /// Whether the thread has ended: it writes no more.
    pub(crate) fn is_over(&self) -> bool {
        let is_last = Arc::strong_count(&self.ring) == 1;
        // All that it wrote is seen from here on.
        fence(Ordering::Acquire);
        is_last
    }

    /// Another thread may have the memory. This thread writes no more, and nobody reads it.
    pub(crate) fn give_back(&self) {
        let memory = self.ring.loan().filter(|_| self.is_over());
        lock(&THREADS.polls.memory).free.extend(memory);
    }
}

static THREADS: Threads = Threads {
    enrolled: Mutex::new(Vec::new()),
    count: AtomicU32::new(0),
    stray: Mutex::new(None),
    fold: OnceLock::new(),
    paths: LazyLock::new(Arc::default),
    polls: PollRings {
        per_thread: AtomicUsize::new(0),
        rings: Mutex::new(Vec::new()),
        memory: Mutex::new(RingMemory {
            free: Vec::new(),
            lasting: None,
        }),
        classes: AtomicU8::new(EventClasses::DEFAULT.bits()),
    },
    calls: CallLogs::new(),
};

/// Starts a TurboWish thread. It has signals blocked: signals sent to the process go to threads of
/// the application.
#[cfg(unix)]
pub(crate) fn start(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    turbowish_unsafe::signal::apart(|| spawn(name, Box::new(work)))
}

/// Starts a TurboWish thread.
#[cfg(not(unix))]
pub(crate) fn start(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    spawn(name, Box::new(work))
}

/// Boxed, so that the code that starts a thread is compiled once.
fn spawn(name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(work)
}

/// Excludes this thread, which is the monitor's, from accounting.
pub(crate) fn disown() {
    OURS.set(true);
}

/// Whether this thread is the monitor's.
pub(crate) fn is_ours() -> bool {
    OURS.get()
}

/// This thread, as its polls find it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct ThisThread(Local<ThreadWords>);

/// Finds this thread.
#[inline(always)]
pub(crate) fn this() -> ThisThread {
    ThisThread(Local::of(&WORDS))
}

impl ThisThread {
    /// The word of calls that have nothing to do in this poll.
    #[inline(always)]
    pub(crate) fn straight(self) -> u32 {
        self.0.with(|words| words.straight.get())
    }

    #[inline(always)]
    pub(crate) fn set_straight(self, word: u32) {
        self.0.with(|words| words.straight.set(word));
    }

    /// Whether the last thing that happened here is that a call ended pending whose callers have no
    /// frames.
    #[inline(always)]
    pub(crate) fn is_settled(self) -> bool {
        self.0.with(|words| words.settled.get())
    }

    /// Says whether what happens now is that.
    #[inline(always)]
    pub(crate) fn settle(self, is_settled: bool) {
        self.0.with(|words| words.settled.set(is_settled));
    }

    /// Runs `f` with this thread's ledger if it is of `epoch`: for the ends of events that began
    /// there.
    #[inline(always)]
    pub(crate) fn with_current<R>(
        self,
        epoch: u32,
        f: impl FnOnce(&ThreadLedger) -> R,
    ) -> Option<R> {
        let of_epoch = |thread: &ThreadLedger| (thread.ledger.epoch() == epoch).then(|| f(thread));
        self.0.with(|words| words.ledger.with(of_epoch)).flatten()
    }
}

/// Runs `f` with this thread's ledger of `epoch`; `None` while the thread's storage is being torn
/// down. `f` must not run user code.
#[inline(always)]
pub(crate) fn with<R>(epoch: u32, f: impl FnOnce(&ThreadLedger) -> R) -> Option<R> {
    let is_current = |thread: &ThreadLedger| thread.ledger.epoch() == epoch;
    let with = |words: &ThreadWords| words.ledger.with_fitting(is_current, || enroll(epoch), f);
    this().0.with(with)
}

/// Runs `f` with the ledger for threads whose thread-local storage is gone; `None` if the epoch has
/// ended.
#[cold]
pub(crate) fn with_stray<R>(epoch: u32, f: impl FnOnce(&ThreadLedger) -> R) -> Option<R> {
    stray(epoch, &mut lock(&THREADS.stray)).map(f)
}

/// Runs `f` with this thread's ledger if it is of `epoch`: see [`ThisThread::with_current`].
#[inline(always)]
pub(crate) fn with_current<R>(epoch: u32, f: impl FnOnce(&ThreadLedger) -> R) -> Option<R> {
    this().with_current(epoch, f)
}

/// The paths that all threads share.
pub(crate) fn paths() -> &'static Paths {
    &THREADS.paths
}

#[cold]
#[inline(never)]
fn enroll(epoch: u32) -> Option<()> {
    // From its end on, a thread has no ledger.
    if is_ours() || EXIT.try_with(|_| ()).is_err() {
        return None;
    }
    let known = |before: &ThreadLedger| ThreadPolls {
        index: before.index,
        name: before.name.clone(),
        ring: before.ledger.last_polls().clone(),
        events: before.events.clone(),
    };
    let known = WORDS.with(|words| words.ledger.with(known));
    let ThreadPolls {
        index,
        name,
        ring,
        events,
    } = known.unwrap_or_else(new_thread);
    let ledger = Ledger::new(epoch, &THREADS.paths).on_thread(index);
    let fresh = Arc::new(ThreadLedger {
        ledger: ledger.with_polls(ring),
        index,
        name,
        os_id: os_thread::id(),
        first_poll: FirstPollCell::default(),
        origin: Mutex::default(),
        metrics: Metrics::default(),
        polls: AtomicBool::new(false),
        late: late(),
        lent: AtomicUsize::new(0),
        forced: AtomicU64::new(0),
        events,
        calls: THREADS.calls.begin(epoch, index),
        panic: Mutex::default(),
        chains: ChainCache::default(),
    });
    let enrolled = list(&fresh)?;
    let before = WORDS.with(|words| words.ledger.replace(Some(fresh))).ok()?;
    drop(before);
    see_runtime();
    if enrolled >= FOLD_AT
        && let Some(fold) = THREADS.fold.get()
    {
        fold();
    }
    Some(())
}

/// Numbers this thread, at its first event.
fn new_thread() -> ThreadPolls {
    let index = THREADS.count.fetch_add(1, Ordering::Relaxed);
    let thread = std::thread::current();
    let name = thread.name().map(Into::into);
    let name = name.unwrap_or_else(|| format!("thread-{index}").into());
    let per_thread = THREADS.polls.per_thread.load(Ordering::Relaxed);
    let (ring, events) = match per_thread {
        0 => Default::default(),
        _ => {
            let memory = lock(&THREADS.polls.memory).take(per_thread);
            // The system gives memory only for what is written.
            let events = EventRing::new(zeroed::words(per_thread / EVENT_SHARE));
            (Arc::new(PollRing::lent(memory, index)), Arc::new(events))
        }
    };
    let polls = ThreadPolls {
        index,
        name,
        ring,
        events,
    };
    if features::SERVER && per_thread > 0 {
        let mut rings = lock(&THREADS.polls.rings);
        if rings.len() >= FOLD_AT {
            // Nobody takes them.
            let over = rings.extract_if(.., |ring| ring.is_over());
            over.for_each(|ring| ring.give_back());
        }
        rings.push(polls.clone());
    }
    polls
}

/// Polls that a thread keeps for each event.
const EVENT_SHARE: usize = 4;

/// From now on, each new thread keeps so many polls, a power of two, until [`take_polls`] returns
/// them: in memory that `lasting` returns, as long as it returns some.
pub(crate) fn keep_polls(
    per_thread: usize,
    lasting: Option<Box<dyn FnMut() -> Option<LentRing> + Send>>,
) {
    lock(&THREADS.polls.memory).lasting = lasting;
    THREADS
        .polls
        .per_thread
        .store(per_thread, Ordering::Relaxed);
}

/// The classes of events that are recorded.
pub(crate) fn recorded_classes() -> EventClasses {
    EventClasses::of_bits(THREADS.polls.classes.load(Ordering::Relaxed))
}

/// Lets these classes be recorded from now on.
pub(crate) fn record_classes(classes: EventClasses) {
    let bits = classes.bits();
    THREADS.polls.classes.store(bits, Ordering::Relaxed);
}

/// Whether events of a class are recorded.
pub(crate) fn records(class: EventClass) -> bool {
    recorded_classes().has(class)
}

/// Takes the polls of the threads that have begun since the last call.
pub(crate) fn take_polls() -> Vec<ThreadPolls> {
    std::mem::take(&mut *lock(&THREADS.polls.rings))
}

/// Ready time from which a poll is late, in ticks; a recorder gets waits and holds of that length.
pub(crate) fn late() -> u64 {
    clock::scale().ticks(DELAY_MIN_NS)
}

/// Records the runtime that this thread is in. Dropping the previous one may run any code, so
/// nothing is borrowed here.
fn see_runtime() {
    let seen = runtimes::current();
    let before = RUNTIME.try_with(|own| {
        own.try_borrow_mut()
            .ok()
            .map(|mut own| std::mem::replace(&mut *own, seen))
    });
    drop(before);
}

/// Adds a ledger to the list and returns the list's length. `None` if its epoch has ended: the
/// thread that ended it has then taken the list, or takes it after this, and knows all of its
/// ledgers.
fn list(fresh: &Arc<ThreadLedger>) -> Option<usize> {
    let mut all = lock(&THREADS.enrolled);
    if switch::epoch() != Some(fresh.ledger.epoch()) {
        return None;
    }
    all.push(fresh.clone());
    Some(all.len())
}

/// Number of enrolled ledgers at which the enrolling thread folds those of ended threads: there may
/// be no monitor thread.
const FOLD_AT: usize = 64;

/// Sets the callback that folds the ledgers of ended threads. The first one stays.
pub(crate) fn on_crowd(fold: fn()) {
    let _ = THREADS.fold.set(fold);
}

/// Thread name of the ledger that stands in for ended threads.
pub(crate) const ENDED: &str = "ended threads";

fn stray(epoch: u32, slot: &mut Option<Arc<ThreadLedger>>) -> Option<&ThreadLedger> {
    let fits = slot
        .as_ref()
        .is_some_and(|thread| thread.ledger.epoch() == epoch);
    if !fits {
        let index = THREADS.count.fetch_add(1, Ordering::Relaxed);
        let fresh = Arc::new(ThreadLedger {
            ledger: Ledger::new(epoch, &THREADS.paths).on_thread(index),
            index,
            name: ENDED.into(),
            os_id: None,
            first_poll: FirstPollCell::default(),
            origin: Mutex::default(),
            metrics: Metrics::default(),
            polls: AtomicBool::new(false),
            late: late(),
            lent: AtomicUsize::new(0),
            forced: AtomicU64::new(0),
            events: Arc::default(),
            calls: THREADS.calls.begin(epoch, index),
            panic: Mutex::default(),
            chains: ChainCache::default(),
        });
        list(&fresh)?;
        *slot = Some(fresh);
    }
    slot.as_deref()
}

/// Takes the ledgers enrolled since the last call.
pub(crate) fn take_enrolled() -> Vec<Arc<ThreadLedger>> {
    std::mem::take(&mut *lock(&THREADS.enrolled))
}
