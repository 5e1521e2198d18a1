//! Snapshots of alerts: what was recorded from 10 s before an alert is raised to 2 s after. It is
//! kept when everything else of that time has given way.
//!
//! The chunks are those of the rings, not copies. An alert that is raised within 10 s of another
//! one has no snapshot of its own, unless it is more severe. Where there is no room, the oldest of
//! the least severe ones give way to the newest, unless that one is less severe. A snapshot takes
//! half of the room at most: its states come first, then its polls, and of both those that are
//! nearest to the alert. What has no room is counted where readers look for losses.

use bytes::Bytes;
use turbowish_model::snapshot::alert::Severity;
use turbowish_recording::HEADER_BYTES;

use super::ring::{Kept, OVERHEAD};

const SECOND: u64 = 1_000_000_000;

/// Bytes of a chunk that says what is left out, at most.
const LOSS_BYTES: usize = HEADER_BYTES + 32 + OVERHEAD;

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
        let states = nearest_states(states, at_unix_ns, &mut room);
        let polls = nearest_polls(polls, at_unix_ns, &mut room);
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

/// The states that are nearest to an instant and have room, in their order. The first one says how
/// many are left out before it.
fn nearest_states(states: Vec<Kept>, at_unix_ns: u64, room: &mut usize) -> Vec<Kept> {
    let (mut states, left_out) = nearest(states, at_unix_ns, room);
    if let Some(first) = states.iter_mut().find(|kept| kept.is_state) {
        let before = |kept: &&Kept| kept.is_state && kept.number < first.number;
        match left_out.iter().filter(before).count() {
            0 => {}
            lost => *first = first.clone().after_lost(lost),
        }
    }
    states
}

/// The chunks of polls and events that are nearest to an instant and have room, in their order. In
/// the places of the others there are some that count what is left out.
fn nearest_polls(polls: Vec<Kept>, at_unix_ns: u64, room: &mut usize) -> Vec<Kept> {
    let all: usize = polls.iter().map(Kept::bytes).sum();
    let counted = polls.iter().filter(|kept| kept.has.is_some()).count();
    let for_losses = match all <= *room {
        true => 0,
        false => (counted * LOSS_BYTES).min(*room),
    };
    *room -= for_losses;
    let (mut polls, left_out) = nearest(polls, at_unix_ns, room);
    *room += for_losses;
    let losses = left_out.iter().filter_map(Kept::loss).collect();
    polls.extend(nearest(losses, at_unix_ns, room).0);
    polls.sort_by_key(|kept| kept.number);
    polls
}

/// The chunks that are nearest to an instant and have room, in their order, and the others.
fn nearest(mut chunks: Vec<Kept>, at_unix_ns: u64, room: &mut usize) -> (Vec<Kept>, Vec<Kept>) {
    chunks.sort_by_key(|kept| kept.at_unix_ns.abs_diff(at_unix_ns));
    let fit = chunks.iter().position(|kept| {
        let rest = room.checked_sub(kept.bytes());
        *room = rest.unwrap_or(*room);
        rest.is_none()
    });
    let left_out = chunks.split_off(fit.unwrap_or(chunks.len()));
    chunks.shrink_to_fit();
    chunks.sort_by_key(|kept| kept.number);
    (chunks, left_out)
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

    use turbowish_recording::{
        ChunkHeader, ChunkKind, EventBatch, HEADER_BYTES, PollBatch, encode,
    };

    use super::super::super::ThreadPart;
    use super::{AlertSnapshots, Kept, OVERHEAD, SECOND};

    fn kept(number: u64, bytes: usize) -> Kept {
        Kept {
            number,
            is_state: true,
            at_unix_ns: number * SECOND,
            chunk: Bytes::from(vec![number as u8; bytes]),
            has: None,
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

    /// A chunk of 20 polls of thread 5, or of 3 events and 4 lost ones.
    fn part(number: u64, kind: ChunkKind) -> Kept {
        let at = number * SECOND;
        let count = if kind == ChunkKind::Polls { 20 } else { 7 };
        let chunk = encode(kind, at, 0, &[0; 1_000]).expect("it is short");
        let has = ThreadPart {
            thread: 5,
            next: number * count,
            count,
        };
        Kept {
            chunk: chunk.into(),
            has: Some((kind, has)),
            is_state: false,
            ..kept(number, 0)
        }
    }

    /// What is left out is lost, chunk by chunk: those that are in the ring still are not sent.
    #[test]
    fn what_has_no_room_is_counted() {
        let mut snapshots = AlertSnapshots::new(2 * 10_000);
        snapshots.raise(50 * SECOND, Warning);
        let parts = (40..53).flat_map(|at| {
            let kinds = [ChunkKind::Polls, ChunkKind::Events];
            kinds.map(|kind| Kept {
                number: 2 * at + u64::from(kind == ChunkKind::Events),
                ..part(at, kind)
            })
        });
        snapshots.take(vec![kept(50, 100)], parts.collect());
        let read = |oldest: u64| {
            let [_, places] = snapshots.between((0, 0), [None, Some(oldest)]);
            let (mut whole, mut polls, mut events) = (0, 0, 0);
            for place in places {
                let chunk = snapshots.chunk(place).expect("it is there");
                let (header, ..) = ChunkHeader::split(&chunk).expect("a chunk");
                let body = &chunk[HEADER_BYTES..];
                if body.len() == 1_000 {
                    whole += 1;
                } else if header.kind == ChunkKind::Polls {
                    let batch = PollBatch::read(header.at_unix_ns, body).expect("polls");
                    assert!(batch.polls.is_empty() && batch.thread == 5);
                    assert_eq!(batch.first, header.at_unix_ns / SECOND * 20);
                    polls += batch.lost;
                } else {
                    let batch = EventBatch::read(header.at_unix_ns, body).expect("events");
                    assert!(batch.events.is_empty() && batch.thread == 5);
                    events += batch.lost;
                }
            }
            (whole, polls, events)
        };
        let (whole, polls, events) = read(u64::MAX);
        let left_out = 26 - whole;
        assert!((2..10).contains(&whole), "{whole}");
        assert_eq!(
            (polls / 20 + events / 7, polls % 20, events % 7),
            (left_out, 0, 0)
        );
        // Those of the first three seconds have given way elsewhere, too.
        assert_eq!(read(2 * 43), (0, 3 * 20, 3 * 7));
        assert!(snapshots.bytes() <= 10_000);
    }

    #[test]
    fn the_first_state_says_how_many_are_left_out_before_it() {
        let state = |number: u64| Kept {
            chunk: encode(ChunkKind::State, number * SECOND, 1, &[7; 1_000])
                .expect("it is short")
                .into(),
            ..kept(number, 0)
        };
        let mut snapshots = AlertSnapshots::new(2 * 5_000);
        snapshots.raise(50 * SECOND, Warning);
        snapshots.take((40..53).map(state).collect(), Vec::new());
        let [places, _] = snapshots.between((0, 0), [None; 2]);
        let lost = |place: &_| {
            let chunk = snapshots.chunk(*place).expect("it is there");
            let (header, ..) = ChunkHeader::split(&chunk).expect("a chunk");
            (header.at_unix_ns / SECOND, header.lost)
        };
        let lost: Vec<_> = places.iter().map(lost).collect();
        assert_eq!(lost, [(48, 1 + 8), (49, 1), (50, 1), (51, 1)]);
    }
}
