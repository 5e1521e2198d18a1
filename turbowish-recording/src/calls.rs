//! Events of calls: their creations, polls, await points and drops. A chunk has those of one
//! thread in one epoch, in their order.

use turbowish_model::account::call::PollEnd;
use turbowish_model::collect::call_events::CallRun;
use turbowish_model::event::CallEvent;
use turbowish_model::event::call_ring::CallRecord;

use crate::varint::{Bytes, fold, put, put_change, unfold};

/// Events of calls on one thread, in one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallBatch {
    /// Number of the thread: see [`Names::thread`](crate::Names::thread).
    pub thread: u32,
    /// Number of such events of this thread that came before these, were not recorded before, and
    /// are lost: they were overwritten before they could be copied.
    pub lost: u64,
    /// Where these events belong. Older recordings do not have it.
    pub place: Option<CallPlace>,
    /// The events in their order. Their times are in nanoseconds since 1970, as the wall clock was
    /// set when they were copied; those of polls that were copied then are, too.
    pub events: Vec<CallRecord>,
}

/// Where the events of a chunk belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallPlace {
    /// Number of the epoch, which rises.
    pub epoch: u32,
    /// Number of the first event among those of the thread in the epoch, from 0. If there is none,
    /// that of the next one.
    pub first: u64,
    /// What to add to a time of this chunk to get it on a clock that nobody sets: the same one for
    /// all events of calls of the process.
    pub steady_ns: i64,
    /// When the epoch ended, if it is known to have ended: calls and polls that were open then are
    /// over.
    pub ended_unix_ns: Option<u64>,
}

impl From<CallBatch> for CallRun {
    fn from(batch: CallBatch) -> Self {
        let place = batch.place.unwrap_or_default();
        Self {
            thread: batch.thread.into(),
            epoch: place.epoch,
            first: batch.place.map(|place| place.first),
            lost: batch.lost,
            ended: place.ended_unix_ns,
            steady: place.steady_ns,
            events: batch.events,
        }
    }
}

const CREATE: u8 = 1;
const START: u8 = 2;
const END: u8 = 3;
const DROP: u8 = 4;
const AWAIT: u8 = 5;
const UNACCOUNTED: u8 = 6;
/// No event: where those that follow belong.
const PLACE: u8 = 7;

/// Bits of the first byte of an event, above its kind.
const FLAG: u8 = 1 << 3;
const END_AT: u32 = 4;
const KIND: u8 = FLAG - 1;

/// Writes the body of a chunk of events of calls.
#[derive(Debug)]
pub struct CallEncoder {
    body: Vec<u8>,
    /// Time of the event before, or of the chunk.
    clock: u64,
    /// Number of the call before.
    number: u64,
}

impl CallEncoder {
    /// Begins the body of a chunk of this time.
    #[must_use]
    pub fn begin(at_unix_ns: u64, thread: u32, lost: u64, place: &CallPlace) -> Self {
        let mut body = Vec::new();
        put(&mut body, thread.into());
        put(&mut body, lost);
        body.push(PLACE | flag(place.ended_unix_ns.is_some()));
        let ended = place.ended_unix_ns.unwrap_or(at_unix_ns);
        put(
            &mut body,
            fold(ended.wrapping_sub(at_unix_ns).cast_signed()),
        );
        put(&mut body, place.epoch.into());
        put(&mut body, place.first);
        put(&mut body, fold(place.steady_ns));
        Self {
            body,
            clock: at_unix_ns,
            number: 0,
        }
    }

    /// Adds an event. A wake is none of these.
    pub fn push(&mut self, event: &CallRecord) {
        let (code, proc, site) = match event.event {
            CallEvent::Create { proc } => (CREATE, Some(proc), None),
            CallEvent::PollStart { proc, root } => {
                (START | flag(root), Some(proc.unwrap_or_default()), None)
            }
            CallEvent::PollEnd(end) => (END | (end as u8) << END_AT, None, None),
            CallEvent::Drop => (DROP, None, None),
            CallEvent::Await { proc, site, direct } => {
                (AWAIT | flag(direct), Some(proc), Some(site))
            }
            CallEvent::Unaccounted => (UNACCOUNTED, None, None),
            CallEvent::Wake => return,
        };
        self.body.push(code);
        put_change(&mut self.body, &mut self.clock, event.at);
        if names_call(code & KIND) {
            put_change(&mut self.body, &mut self.number, event.number.into());
        }
        for number in [proc, site].into_iter().flatten() {
            put(&mut self.body, number.into());
        }
    }

    /// The body.
    #[must_use]
    pub fn end(self) -> Vec<u8> {
        self.body
    }
}

const fn flag(is_set: bool) -> u8 {
    if is_set { FLAG } else { 0 }
}

/// Whether an event has the number of its call; the others are of the innermost poll.
const fn names_call(kind: u8) -> bool {
    matches!(kind, CREATE | START | END | DROP)
}

impl CallBatch {
    /// Reads the body of a chunk of this time. `None` if it is no such body.
    #[must_use]
    pub fn read(at_unix_ns: u64, body: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(body);
        let mut batch = Self {
            thread: bytes.small()?,
            lost: bytes.number()?,
            place: None,
            events: Vec::new(),
        };
        if bytes.first().is_some_and(|code| code & KIND == PLACE) {
            batch.place = Some(CallPlace::read(at_unix_ns, &mut bytes)?);
        }
        let (mut clock, mut last) = (at_unix_ns, 0_u32);
        while !bytes.is_empty() {
            let code = bytes.byte()?;
            clock = clock.wrapping_add_signed(unfold(bytes.number()?));
            let number = match names_call(code & KIND) {
                true => {
                    let after = unfold(bytes.number()?);
                    last = u32::try_from(i64::from(last).checked_add(after)?).ok()?;
                    last
                }
                false => 0,
            };
            let flag = code & FLAG != 0;
            let event = match code & KIND {
                CREATE => CallEvent::Create {
                    proc: bytes.small()?,
                },
                START => CallEvent::PollStart {
                    proc: Some(bytes.small()?),
                    root: flag,
                },
                END => CallEvent::PollEnd(*PollEnd::ALL.get(usize::from(code >> END_AT))?),
                DROP => CallEvent::Drop,
                AWAIT => CallEvent::Await {
                    proc: bytes.small()?,
                    site: bytes.small()?,
                    direct: flag,
                },
                UNACCOUNTED => CallEvent::Unaccounted,
                _ => return None,
            };
            let at = clock;
            batch.events.push(CallRecord { at, number, event });
        }
        Some(batch)
    }
}

impl CallPlace {
    fn read(at_unix_ns: u64, bytes: &mut Bytes<'_>) -> Option<Self> {
        let has_ended = bytes.byte()? & FLAG != 0;
        let ended = at_unix_ns.wrapping_add_signed(unfold(bytes.number()?));
        Some(Self {
            ended_unix_ns: has_ended.then_some(ended),
            epoch: bytes.small()?,
            first: bytes.number()?,
            steady_ns: unfold(bytes.number()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turbowish_model::event::call_ring::CallRecord;

    use super::{CallBatch, CallEncoder, CallEvent, CallPlace, PollEnd};

    fn record() -> impl Strategy<Value = CallRecord> {
        let event = prop_oneof![
            any::<u32>().prop_map(|proc| CallEvent::Create { proc }),
            (any::<u32>(), any::<bool>()).prop_map(|(proc, root)| CallEvent::PollStart {
                proc: Some(proc),
                root
            }),
            proptest::sample::select(&PollEnd::ALL[..]).prop_map(CallEvent::PollEnd),
            Just(CallEvent::Drop),
        ];
        let named = (any::<u64>(), any::<u32>(), event)
            .prop_map(|(at, number, event)| CallRecord { at, number, event });
        let event = prop_oneof![
            (any::<u32>(), any::<u32>(), any::<bool>())
                .prop_map(|(proc, site, direct)| CallEvent::Await { proc, site, direct }),
            Just(CallEvent::Unaccounted),
        ];
        let number = 0;
        let others =
            (any::<u64>(), event).prop_map(move |(at, event)| CallRecord { at, number, event });
        prop_oneof![3 => named, 1 => others]
    }

    fn place() -> impl Strategy<Value = CallPlace> {
        let place = |(epoch, first, steady_ns, ended_unix_ns)| CallPlace {
            epoch,
            first,
            steady_ns,
            ended_unix_ns,
        };
        any::<(u32, u64, i64, Option<u64>)>().prop_map(place)
    }

    /// A body of a version that had no places, as it was written.
    #[test]
    fn a_chunk_without_a_place_is_read() {
        let body = [9, 5, 0b0000_0001, 4, 14, 3, 0b0000_0100, 2, 0];
        let records = [
            (102, 7, CallEvent::Create { proc: 3 }),
            (103, 7, CallEvent::Drop),
        ];
        let expected = CallBatch {
            thread: 9,
            lost: 5,
            place: None,
            events: records
                .map(|(at, number, event)| CallRecord { at, number, event })
                .into(),
        };
        assert_eq!(CallBatch::read(100, &body), Some(expected));
        // A place is the first thing, or none.
        let late = [&body[..], &[7, 0, 1, 1, 0]].concat();
        assert_eq!(CallBatch::read(100, &late), None);
    }

    proptest! {
        #[test]
        fn events_read_back(
            at in any::<u64>(),
            thread in any::<u32>(),
            lost in any::<u64>(),
            place in place(),
            events in proptest::collection::vec(record(), 0..20),
        ) {
            let mut encoder = CallEncoder::begin(at, thread, lost, &place);
            events.iter().for_each(|event| encoder.push(event));
            let expected = CallBatch { thread, lost, place: Some(place), events };
            prop_assert_eq!(CallBatch::read(at, &encoder.end()), Some(expected));
        }

        #[test]
        fn any_bytes_are_read_or_refused(at in any::<u64>(), body in any::<Vec<u8>>()) {
            let _ = CallBatch::read(at, &body);
        }
    }
}
