//! Polls of the threads: copied before their rings are overwritten, and kept as chunks.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use tokio::time::Instant;
use turbowish_model::event::EventClass;
use turbowish_recording::{ChunkKind, HEADER_BYTES};

use super::super::{NewPolls, Source, ThreadChunk, grid};
use super::ring::{Ring, chunk};
use super::{Recorder, lock};

/// Time between two looks at most.
pub(super) const SLOWEST: Duration = Duration::from_millis(250);
/// At least.
const FASTEST: Duration = Duration::from_millis(10);
/// Time between two looks for names, while much goes on and new ones come.
const NAMING: Duration = Duration::from_millis(25);
/// The same while none come: at the instants at which the workers are looked at, too, so that one
/// wake serves both.
const NAMING_KNOWN: Duration = Duration::from_millis(50);
/// How full a ring may be at the next look, in percent, if the threads go on as they did. A look is
/// up to half later than asked.
const FILL: u64 = 50;

/// The polls that are kept.
pub(super) struct KeptPolls {
    /// Bytes of all polls and names, at most.
    budget: usize,
    pub(super) ring: Mutex<Ring>,
    names: Mutex<Names>,
}

/// What was new at a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct TakenPolls {
    /// Number of polls and events, with lost ones; a chunk of events of calls counts as one.
    pub(in super::super) count: u64,
    /// How full the fullest ring was.
    pub(in super::super) fill_percent: u64,
    /// Whether some of it had no name before.
    has_names: bool,
}

/// All names that were defined: the body of a chunk, and its time.
#[derive(Default)]
struct Names {
    at_unix_ns: u64,
    body: Vec<u8>,
    /// The chunk, once it was asked for; until another name comes.
    chunk: Option<Bytes>,
}

impl KeptPolls {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            budget,
            ring: Mutex::new(Ring::new(budget)),
            names: Mutex::default(),
        }
    }

    /// All names, as a chunk; `None` if there are none.
    pub(super) fn names(&self) -> Option<Bytes> {
        let mut names = lock(&self.names);
        if names.chunk.is_none() && !names.body.is_empty() {
            names.chunk = chunk(ChunkKind::Names, names.at_unix_ns, 0, &names.body);
        }
        names.chunk.clone()
    }
}

impl Recorder {
    /// Records polls until it is dropped.
    pub(super) async fn follow_polls(self: Arc<Self>, source: Arc<dyn Source>) {
        let (mut pause, mut naming) = (SLOWEST, NAMING);
        let (mut step, mut taken_at) = (NAMING, Instant::now());
        loop {
            let due = grid::about(pause);
            loop {
                // With a step of 50 ms, too, the next look may be only 25 ms away.
                let names = grid::from(Instant::now() + naming, step);
                if names >= due {
                    break;
                }
                tokio::time::sleep_until(names).await;
                step = naming_step(self.take_names(&*source));
            }
            tokio::time::sleep_until(due).await;
            let passed = taken_at.elapsed();
            taken_at = Instant::now();
            let taken = self.take_polls(&*source);
            self.take_alert(unix_ns());
            pause = next_pause(passed, taken.fill_percent);
            naming = next_naming(pause, taken.count);
            step = naming_step(taken.has_names);
        }
    }

    /// Records the names of what is new, so that the polls that a crash leaves in the rings have
    /// some. Returns whether there were any.
    fn take_names(&self, source: &dyn Source) -> bool {
        let names = source.names();
        let has_names = !names.is_empty();
        if has_names {
            self.add_names(None, &names);
        }
        has_names
    }

    /// Records what is new.
    pub(in super::super) fn take_polls(&self, source: &dyn Source) -> TakenPolls {
        if !self.is_on {
            return TakenPolls::default();
        }
        let NewPolls {
            names,
            polls,
            fill_percent,
            clock,
        } = source.polls();
        if !names.is_empty() {
            self.add_names(polls.first(), &names);
        }
        let mut count = 0;
        for ThreadChunk {
            kind,
            at_unix_ns,
            bytes,
            has,
        } in polls
        {
            count += has.map_or(1, |has| has.count);
            // Where it has no room, it is as if it had given way at once, and all before it.
            lock(&self.polls.ring).push_part(kind, at_unix_ns, bytes.clone(), has);
            lock(&self.file).append(&bytes);
        }
        if let Some(rings) = &self.rings
            && !source.recorded().has(EventClass::Polls)
        {
            // It would still get polls.
            rings.remove();
        }
        if let (Some(rings), Some(clock)) = (&self.rings, clock) {
            // If it fails, the reading before is a little less exact.
            let _ = rings.note(&clock);
        }
        TakenPolls {
            count,
            fill_percent,
            has_names: !names.is_empty(),
        }
    }

    fn add_names(&self, first: Option<&ThreadChunk>, new: &[u8]) {
        let (at_unix_ns, len) = {
            let mut names = lock(&self.polls.names);
            names.body.extend_from_slice(new);
            names.chunk = None;
            names.at_unix_ns = first.map_or_else(unix_ns, |first| first.at_unix_ns);
            (names.at_unix_ns, names.body.len() + HEADER_BYTES)
        };
        let left = self.polls.budget.saturating_sub(len);
        lock(&self.polls.ring).set_budget(left);
        let mut file = lock(&self.file);
        if let Some(chunk) = chunk(ChunkKind::Names, at_unix_ns, 0, new) {
            file.append(&chunk);
        }
        if let Some(all) = self.polls.names() {
            file.begin_with(all);
        }
    }
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

/// The time until the next look, if a ring was so full after a `pause`.
fn next_pause(pause: Duration, fill_percent: u64) -> Duration {
    let micros = u64::try_from(pause.as_micros()).unwrap_or(u64::MAX);
    let next = micros.saturating_mul(FILL) / fill_percent.max(1);
    // Not much longer at once: what comes next may be a burst.
    Duration::from_micros(next.min(micros.saturating_mul(2))).clamp(FASTEST, SLOWEST)
}

/// The time between two looks for names in a pause of this length, if so many polls and events came
/// before it: fewer looks than there were of these, because few of them bring a name.
fn next_naming(pause: Duration, count: u64) -> Duration {
    let parts = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    // Rounded up: there is none at the end of the pause.
    (pause / parts + Duration::from_nanos(1)).max(NAMING)
}

/// Distance of the instants for looks for names, after one that has found some or not.
const fn naming_step(has_names: bool) -> Duration {
    if has_names { NAMING } else { NAMING_KNOWN }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{next_naming, next_pause};

    #[test]
    fn names_are_looked_for_no_more_often_than_something_happens() {
        for (pause, count, next) in [
            (250, 0, 250),
            (250, 1, 250),
            (250, 3, 83),
            (250, 10, 25),
            (250, u64::MAX, 25),
            (10, 1, 25),
        ] {
            let naming = next_naming(Duration::from_millis(pause), count);
            assert_eq!(naming.as_millis(), next, "{count} of them");
        }
    }

    #[test]
    fn the_fuller_a_ring_is_the_sooner_is_the_next_look() {
        for (pause, fill, next) in [
            (250, 0, 250),
            (250, 50, 250),
            (250, 100, 125),
            (250, 500, 25),
            (25, 50, 25),
            (25, 10, 50),
            (25, 0, 50),
            (200, 1, 250),
            (10, 5_000, 10),
        ] {
            let pause = next_pause(Duration::from_millis(pause), fill);
            assert_eq!(pause, Duration::from_millis(next), "{fill} %");
        }
    }
}
