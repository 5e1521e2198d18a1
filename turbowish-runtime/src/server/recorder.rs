//! Recorder: the states of this process in the last minutes, and its polls, as chunks of a
//! recording, in memory and in a file that outlives the process.
//!
//! The states are made on the thread that answers queries, at a pace that keeps to a small part of
//! a core. Nothing is recorded while accounting is disarmed.

mod alert_snapshots;
mod file;
mod polls;
mod ring;
mod ring_file;
mod schedule;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;
use turbowish_model::event::EventClass;
use turbowish_model::query::{Budget, Query};
use turbowish_model::snapshot::Accounting;
use turbowish_model::snapshot::alert::Severity;
use turbowish_recording::ChunkKind;
use turbowish_wire::encode;

use self::alert_snapshots::{AlertSnapshots, ChunkPlace};
use self::file::{RecordFile, RecordTo};
use self::polls::KeptPolls;
use self::ring::Ring;
pub(crate) use self::ring_file::{RingFile, reason as no_ring_file};
use self::schedule::{LOOK, Schedule};
use super::worker::Worker;
use super::{Config, News, SHARED_NS, Source, grid, lock};

/// Polls are sent from so long before the first state on.
const POLLS_BEFORE: Duration = Duration::from_secs(1);

/// Maximum time for which the end of the process waits for a write.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is recorded, and where.
#[derive(Clone, Debug)]
pub(crate) struct RecordConfig {
    /// Bytes of all chunks in memory, at most.
    pub(crate) budget: usize,
    /// The file of the user's choice, instead of those beside the socket.
    pub(crate) path: Option<PathBuf>,
    /// The file beside the socket in which the threads have their rings.
    pub(crate) rings: Option<Arc<RingFile>>,
}

/// The recording of this process.
pub(super) struct Recorder {
    is_on: bool,
    ring: Mutex<Ring>,
    /// Bytes of the last state.
    state_bytes: AtomicUsize,
    polls: KeptPolls,
    alerts: Mutex<AlertSnapshots>,
    file: Mutex<RecordFile>,
    rings: Option<Arc<RingFile>>,
}

impl Recorder {
    /// `folder` has the socket of this process, if there is one.
    pub(super) fn new(config: &Config, folder: Option<&Path>) -> Arc<Self> {
        let budget = config.record.as_ref().map_or(0, |record| record.budget);
        let record = config.record.as_ref();
        let path = record.and_then(|record| record.path.clone());
        let rings = record.and_then(|record| record.rings.clone());
        if folder.is_none()
            && let Some(rings) = &rings
        {
            rings.remove();
        }
        let to = match (path, folder) {
            _ if budget == 0 => RecordTo::Nothing,
            (Some(path), _) => RecordTo::Named(path),
            (None, Some(folder)) => RecordTo::Segments {
                folder: folder.to_owned(),
                pid: std::process::id(),
            },
            (None, None) => RecordTo::Nothing,
        };
        Arc::new(Self {
            is_on: budget > 0,
            // Half of it for the states, half for the polls; an eighth of both for alerts.
            ring: Mutex::new(Ring::new(budget.div_ceil(2) - budget / 16)),
            state_bytes: AtomicUsize::new(0),
            polls: KeptPolls::new(budget / 2 - budget / 16),
            alerts: Mutex::new(AlertSnapshots::new(budget / 8)),
            file: Mutex::new(RecordFile::new(to, Arc::clone(&config.say))),
            rings: rings.filter(|_| folder.is_some()),
        })
    }

    /// Whether anything is recorded.
    pub(super) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Records until it is dropped.
    pub(super) async fn run(self: Arc<Self>, source: Arc<dyn Source>, worker: Worker) {
        if self.is_on {
            let states = Arc::clone(&self).follow_states(Arc::clone(&source), worker);
            tokio::join!(states, self.follow_polls(source));
        }
    }

    async fn follow_states(self: Arc<Self>, source: Arc<dyn Source>, worker: Worker) {
        let mut schedule = Schedule::default();
        loop {
            let due = schedule.next_look(Instant::now());
            tokio::time::sleep_until(grid::from(due, LOOK)).await;
            // A tick of the history may end now: the counters of its end are used, then.
            tokio::task::yield_now().await;
            // It may be a little early.
            let now = due.max(Instant::now());
            let is_recorded = source.recorded().has(EventClass::States);
            let Some(news) = source.news().filter(|_| is_recorded) else {
                schedule.rest();
                continue;
            };
            if !news.is_empty() {
                let is_alert = |news: &News| news.raised == Some(Severity::Alert);
                schedule.tell(news.iter().any(is_alert));
            }
            let lost = schedule.begin(now);
            if lost.is_none() && news.is_empty() {
                continue;
            }
            lock(&self.ring).lose(lost.unwrap_or(0));
            let (tell, told) = oneshot::channel();
            let (own, own_source) = (Arc::clone(&self), Arc::clone(&source));
            let job = move || {
                // Fails if the server has ended in the meantime.
                let _ = tell.send(own.record(&*own_source, &news, lost.is_some()));
            };
            let made = match worker.push(Box::new(job)) {
                Ok(()) => told.await.ok(),
                Err(_) => None,
            };
            match (lost, made) {
                (Some(_), Some(took)) => schedule.took(took),
                // There was no thread for it, or it panicked.
                (Some(_), None) => lock(&self.ring).lose(1),
                (None, _) => {}
            }
        }
    }

    /// Records the news and, if one is due, a state. Returns the processor time of both.
    fn record(&self, source: &dyn Source, news: &[News], is_due: bool) -> Duration {
        let begun = source.used();
        for News {
            at_unix_ns,
            text,
            raised,
        } in news
        {
            self.add(ChunkKind::Mark, *at_unix_ns, text.as_bytes());
            if let Some(severity) = raised {
                lock(&self.alerts).raise(*at_unix_ns, *severity);
            }
        }
        if is_due {
            // A state that shows news is no older than they are.
            let age_ns = if news.is_empty() { SHARED_NS } else { 0 };
            self.add_state(source, age_ns);
        }
        let took = source.used().saturating_sub(begun);
        source.answered(took);
        took
    }

    fn add_state(&self, source: &dyn Source, age_ns: u64) {
        let budget = Budget::unlimited().with_age(age_ns);
        let Ok(snapshot) = source.snapshot(&Query::recorded(), &budget) else {
            return lock(&self.ring).lose(1);
        };
        if snapshot.process.accounting == Accounting::Disarmed {
            return;
        }
        let largest = lock(&self.ring).largest_body();
        let usual = self.state_bytes.load(Ordering::Relaxed);
        let Some(body) = encode::message(&snapshot, usual + usual / 8, largest) else {
            return lock(&self.ring).lose(1);
        };
        self.state_bytes.store(body.len(), Ordering::Relaxed);
        self.add(ChunkKind::State, snapshot.at_unix_ns, &body);
    }

    /// Adds a chunk to the ring, and to the file.
    fn add(&self, kind: ChunkKind, at_unix_ns: u64, body: &[u8]) {
        let (largest, lost) = {
            let mut ring = lock(&self.ring);
            // States count what was lost since the one before; marks do not.
            let lost = if kind == ChunkKind::State {
                ring.take_lost()
            } else {
                0
            };
            (ring.largest_body(), lost)
        };
        let chunk = ring::chunk(kind, at_unix_ns, lost, body);
        let Some(chunk) = chunk.filter(|_| body.len() <= largest) else {
            return lock(&self.ring).lose(lost);
        };
        lock(&self.ring).push(kind, at_unix_ns, chunk.clone());
        lock(&self.file).append(&chunk);
    }

    /// Takes the snapshot of an alert if it is due.
    pub(super) fn take_alert(&self, now_unix_ns: u64) {
        let mut alerts = lock(&self.alerts);
        let Some((from, to)) = alerts.due(now_unix_ns) else {
            return;
        };
        let kept = |ring: &Ring, range| ring.kept(range);
        let ring = lock(&self.ring);
        let states = kept(&ring, ring.between(from, to));
        drop(ring);
        let ring = lock(&self.polls.ring);
        let polls = kept(&ring, ring.reaching(from, to));
        drop(ring);
        alerts.take(states, polls);
    }

    /// What was recorded from one instant to another; 0 is no bound.
    pub(super) fn past(self: &Arc<Self>, from_unix_ns: u64, to_unix_ns: u64) -> KeptChunks {
        // A chunk has polls of the last quarter of a second, as a rule.
        let polls_from = from_unix_ns.saturating_sub(POLLS_BEFORE.as_nanos() as u64);
        let oldest = [lock(&self.ring).oldest(), lock(&self.polls.ring).oldest()];
        let alerts = lock(&self.alerts);
        let [states, polls] = alerts.between((from_unix_ns, to_unix_ns), oldest);
        drop(alerts);
        KeptChunks {
            names: self.polls.names(),
            of_alerts: states.into_iter().chain(polls).collect(),
            states: lock(&self.ring).between(from_unix_ns, to_unix_ns),
            polls: lock(&self.polls.ring).reaching(polls_from, to_unix_ns),
            recorder: Arc::clone(self),
        }
    }

    /// Ends the recording. The files beside the socket are removed, unless a write to them takes
    /// longer than [`PATIENCE`]: the end of the process waits for this.
    pub(super) async fn end(&self) {
        if let Some(rings) = &self.rings {
            rings.remove();
        }
        let until = Instant::now() + PATIENCE;
        loop {
            match self.file.try_lock() {
                Ok(mut file) => return file.end(),
                Err(TryLockError::Poisoned(file)) => return file.into_inner().end(),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return,
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PATIENCE / 100).await,
            }
        }
    }
}

/// Chunks to be sent. Each is looked up when there is room for it: those that are overwritten
/// before are left out.
pub(super) struct KeptChunks {
    recorder: Arc<Recorder>,
    names: Option<Bytes>,
    /// Those that are in the snapshots of alerts only.
    of_alerts: VecDeque<ChunkPlace>,
    states: Range<u64>,
    polls: Range<u64>,
}

impl KeptChunks {
    /// The next chunk. It is not copied.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        let names = self.names.take();
        let alerts = || {
            let alerts = lock(&self.recorder.alerts);
            std::iter::from_fn(|| self.of_alerts.pop_front()).find_map(|place| alerts.chunk(place))
        };
        let names = names.or_else(alerts);
        let states = || lock(&self.recorder.ring).next(&mut self.states);
        let polls = || lock(&self.recorder.polls.ring).next(&mut self.polls);
        names.or_else(states).or_else(polls)
    }
}
