//! Snapshots of alerts: what was recorded from 10 s before an alert is raised to 2 s after. It is
//! kept when everything else of that time has given way.
//!
//! The chunks are those of the rings, not copies. An alert that is raised within 10 s of another
//! one has no snapshot of its own, unless it is more severe. Where there is no room, the oldest of
//! the least severe ones give way to the newest, unless that one is less severe. A snapshot takes
//! half of the room at most: its states come first, then its polls, and of both those that are
//! nearest to the alert.

use bytes::Bytes;
use turbowish_model::snapshot::alert::Severity;

use super::ring::{Kept, OVERHEAD};

const SECOND: u64 = 1_000_000_000;

/// What belongs to an alert, in nanoseconds.
const BEFORE: u64 = 10 * SECOND;
const AFTER: u64 = 2 * SECOND;

/// The snapshots of alerts, and those that are to be taken. Times are in nanoseconds since 1970.
#[derive(Default)]
pub(super) struct AlertSnapshots {
    budget: usize,
    due: Option<Raised>,
    /// The last alert that has a snapshot, or will have one.
    last: Option<Raised>,
    taken: Vec<AlertSnapshot>,
    /// Number of the next one.
    next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Raised {
    at_unix_ns: u64,
    severity: Severity,
}

struct AlertSnapshot {
    number: u64,
    severity: Severity,
    bytes: usize,
    states: Vec<Kept>,
    polls: Vec<Kept>,
}

/// The place of a chunk: the number of its snapshot, whether it has a state or a mark, and its
/// place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkPlace {
    number: u64,
    has_state: bool,
    at: usize,
}

impl AlertSnapshots {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// An alert is raised.
    pub(super) fn raise(&mut self, at_unix_ns: u64, severity: Severity) {
        let is_near = |last: &Raised| at_unix_ns < last.at_unix_ns.saturating_add(BEFORE);
        // The most severe comes first.
        let has_one = |last: &Raised| is_near(last) && last.severity <= severity;
        if self.last.as_ref().is_some_and(has_one) {
            return;
        }
        let raised = Raised {
            at_unix_ns,
            severity,
        };
        // Of two that are both to be taken, the later one has nearly all of the earlier one.
        (self.due, self.last) = (Some(raised), Some(raised));
    }

    /// The range of the snapshot that is to be taken by now.
    pub(super) fn due(&self, now_unix_ns: u64) -> Option<(u64, u64)> {
        let Raised { at_unix_ns, .. } = self.due?;
        let until = at_unix_ns.saturating_add(AFTER);
        (now_unix_ns >= until).then_some((at_unix_ns.saturating_sub(BEFORE), until))
    }

    /// Keeps what was recorded in that range.
    pub(super) fn take(&mut self, states: Vec<Kept>, polls: Vec<Kept>) {
        let Some(raised) = self.due.take() else {
            return;
        };
        let Raised {
            at_unix_ns,
            severity,
        } = raised;
        // More severe ones stay.
        let stay = self.taken.iter().filter(|taken| taken.severity < severity);
        let stay: usize = stay.map(|taken| taken.bytes).sum();
        let most = self.budget.saturating_sub(stay).min(self.budget / 2);
        let mut room = most;
        let states = nearest(states, at_unix_ns, &mut room);
        let polls = nearest(polls, at_unix_ns, &mut room);
        if states.is_empty() {
            return;
        }
        let bytes = most - room;
        while self.bytes() + bytes > self.budget {
            let oldest = (0..).zip(&self.taken);
            let least = oldest.max_by_key(|(at, taken)| (taken.severity, usize::MAX - at));
            let Some((at, _)) = least else { return };
            self.taken.remove(at);
        }
        self.taken.push(AlertSnapshot {
            number: self.next,
            severity,
            bytes,
            states,
            polls,
        });
        self.next += 1;
    }

    fn bytes(&self) -> usize {
        self.taken.iter().map(|taken| taken.bytes).sum()
    }

    /// Places of the chunks from one instant to another, 0 for no bound, that are older than the
    /// oldest ones elsewhere: those with states and marks, and the others.
    pub(super) fn between(
        &self,
        (from, to): (u64, u64),
        oldest: [Option<u64>; 2],
    ) -> [Vec<ChunkPlace>; 2] {
        let places = |has_state: bool, oldest: Option<u64>| {
            let mut last = 0;
            let mut places = Vec::new();
            for taken in &self.taken {
                for (at, kept) in taken.chunks(has_state).iter().enumerate() {
                    let is_in = kept.at_unix_ns >= from && (to == 0 || kept.at_unix_ns <= to);
                    let is_gone = oldest.is_none_or(|oldest| kept.number < oldest);
                    // Two snapshots may have the same chunk.
                    if is_in && is_gone && kept.number >= last {
                        last = kept.number + 1;
                        let number = taken.number;
                        places.push(ChunkPlace {
                            number,
                            has_state,
                            at,
                        });
                    }
                }
            }
            places
        };
        [places(true, oldest[0]), places(false, oldest[1])]
    }

    /// The chunk at a place, if its snapshot is still here.
    pub(super) fn chunk(&self, place: ChunkPlace) -> Option<Bytes> {
        let mut taken = self.taken.iter();
        let taken = taken.find(|taken| taken.number == place.number)?;
        let kept = taken.chunks(place.has_state).get(place.at)?;
        Some(kept.chunk.clone())
    }
}

/// The chunks that are nearest to an instant and have room, in their order.
fn nearest(mut chunks: Vec<Kept>, at_unix_ns: u64, room: &mut usize) -> Vec<Kept> {
    chunks.sort_by_key(|kept| kept.at_unix_ns.abs_diff(at_unix_ns));
    let fit = chunks.iter().position(|kept| {
        let rest = room.checked_sub(kept.chunk.len() + OVERHEAD);
        *room = rest.unwrap_or(*room);
        rest.is_none()
    });
    chunks.truncate(fit.unwrap_or(chunks.len()));
    chunks.shrink_to_fit();
    chunks.sort_by_key(|kept| kept.number);
    chunks
}

impl AlertSnapshot {
    fn chunks(&self, has_state: bool) -> &[Kept] {
        if has_state { &self.states } else { &self.polls }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use turbowish_model::snapshot::alert::Severity::{self, Alert, Note, Warning};

    use super::{AlertSnapshots, Kept, OVERHEAD, SECOND};

    fn kept(number: u64, bytes: usize) -> Kept {
        Kept {
            number,
            is_state: true,
            at_unix_ns: number * SECOND,
            chunk: Bytes::from(vec![number as u8; bytes]),
        }
    }

    /// Takes a snapshot of an alert at this second: of one chunk of states and one of polls.
    fn take(snapshots: &mut AlertSnapshots, at: u64, severity: Severity, bytes: usize) -> bool {
        snapshots.raise(at * SECOND, severity);
        let is_due = snapshots.due((at + 2) * SECOND).is_some();
        snapshots.take(vec![kept(at, bytes)], vec![kept(at, bytes)]);
        is_due
    }

    /// Seconds of the states that are kept.
    fn seconds(snapshots: &AlertSnapshots) -> Vec<u64> {
        let [states, polls] = snapshots.between((0, 0), [None; 2]);
        assert_eq!(states.len(), polls.len());
        let chunk = |place: &_| snapshots.chunk(*place).expect("it is there");
        states
            .iter()
            .map(|place| u64::from(chunk(place)[0]))
            .collect()
    }

    #[test]
    fn an_alert_has_its_ten_seconds_before_and_two_after() {
        let mut snapshots = AlertSnapshots::new(1 << 20);
        assert_eq!(snapshots.due(u64::MAX), None);
        snapshots.raise(50 * SECOND, Warning);
        assert_eq!(snapshots.due(52 * SECOND - 1), None);
        assert_eq!(snapshots.due(52 * SECOND), Some((40 * SECOND, 52 * SECOND)));
        snapshots.take(vec![kept(45, 9)], Vec::new());
        assert_eq!(snapshots.due(u64::MAX), None);
        let [states, polls] = snapshots.between((0, 0), [None; 2]);
        assert_eq!((states.len(), polls.len()), (1, 0));
        // What is still in the ring comes from there.
        let is_empty = |range, oldest| {
            let [states, _] = snapshots.between(range, [oldest, None]);
            states.is_empty()
        };
        assert!(is_empty((0, 0), Some(45)) && !is_empty((0, 0), Some(46)));
        let at = 45 * SECOND;
        assert!(!is_empty((at, at), None) && is_empty((at + 1, 0), None));
        assert!(is_empty((0, at - 1), None));
    }

    #[test]
    fn alerts_in_a_row_have_one_snapshot_unless_a_worse_one_comes() {
        let mut snapshots = AlertSnapshots::new(1 << 20);
        assert!(take(&mut snapshots, 50, Warning, 9));
        assert!(!take(&mut snapshots, 55, Warning, 9));
        assert!(!take(&mut snapshots, 56, Note, 9));
        assert!(take(&mut snapshots, 57, Alert, 9));
        assert!(!take(&mut snapshots, 66, Alert, 9));
        assert!(take(&mut snapshots, 67, Alert, 9));
        assert_eq!(seconds(&snapshots), [50, 57, 67]);
    }

    #[test]
    fn the_newest_and_the_worst_stay_within_the_budget() {
        const BYTES: usize = 100;
        let mut snapshots = AlertSnapshots::new(3 * 2 * (BYTES + OVERHEAD));
        for (at, severity) in [(10, Warning), (30, Alert), (50, Note), (70, Warning)] {
            assert!(take(&mut snapshots, at, severity, BYTES));
        }
        assert_eq!(seconds(&snapshots), [10, 30, 70]);
        // A note takes the place of no worse one, however old that is.
        assert!(take(&mut snapshots, 90, Note, BYTES));
        assert_eq!(seconds(&snapshots), [10, 30, 70]);
        assert!(take(&mut snapshots, 110, Warning, BYTES));
        assert_eq!(seconds(&snapshots), [30, 70, 110]);
        // One that has no room at all makes none.
        assert!(take(&mut snapshots, 130, Alert, 10 * BYTES));
        assert_eq!(seconds(&snapshots), [30, 70, 110]);
        let [places, _] = snapshots.between((0, 0), [None; 2]);
        assert!(take(&mut snapshots, 150, Alert, BYTES));
        // A snapshot that has given way since is left out.
        assert_eq!(snapshots.chunk(places[1]), None);
        assert!(snapshots.chunk(places[0]).is_some());
    }

    /// A busy process: the polls of the whole time have no room. States come first, then the polls
    /// nearest to the alert.
    #[test]
    fn a_snapshot_without_room_for_all_has_what_is_nearest_to_the_alert() {
        const BYTES: usize = 100;
        // One snapshot may have half of it: six chunks.
        let mut snapshots = AlertSnapshots::new(2 * 6 * (BYTES + OVERHEAD));
        let chunks = |seconds: std::ops::Range<u64>| seconds.map(|at| kept(at, BYTES)).collect();
        let numbers = |snapshots: &AlertSnapshots| {
            snapshots.between((0, 0), [None; 2]).map(|places| {
                let first = |place: &_| snapshots.chunk(*place).expect("it is there")[0];
                places.iter().map(first).collect::<Vec<_>>()
            })
        };
        snapshots.raise(50 * SECOND, Warning);
        snapshots.take(chunks(49..51), chunks(40..53));
        assert_eq!(numbers(&snapshots), [vec![49, 50], vec![48, 49, 50, 51]]);
        // The states alone may be too many.
        snapshots.raise(80 * SECOND, Warning);
        snapshots.take(chunks(70..83), chunks(70..83));
        let all = [vec![49, 50, 77, 78, 79, 80, 81, 82], vec![48, 49, 50, 51]];
        assert_eq!(numbers(&snapshots), all);
        // The next one takes the place of the oldest.
        snapshots.raise(99 * SECOND, Alert);
        snapshots.take(chunks(99..100), chunks(99..100));
        let all = [vec![77, 78, 79, 80, 81, 82, 99], vec![99]];
        assert_eq!(numbers(&snapshots), all);
    }
}
