//! Events of calls: their creations, polls, await points and drops. A chunk has those of one
//! thread, in their order.

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::CallEvent;
use turbowish_model::event::call_ring::CallRecord;

use crate::varint::{Bytes, put, put_change, unfold};

/// Events of calls on one thread, in one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallBatch {
    /// Number of the thread: see [`Names::thread`](crate::Names::thread).
    pub thread: u32,
    /// Number of such events of this thread that came before these, were not recorded before, and
    /// are lost: they were overwritten before they could be copied.
    pub lost: u64,
    /// The events in their order. Their times are in nanoseconds since 1970.
    pub events: Vec<CallRecord>,
}

const CREATE: u8 = 1;
const START: u8 = 2;
const END: u8 = 3;
const DROP: u8 = 4;
const AWAIT: u8 = 5;
const UNACCOUNTED: u8 = 6;

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
    pub fn begin(at_unix_ns: u64, thread: u32, lost: u64) -> Self {
        let mut body = Vec::new();
        put(&mut body, thread.into());
        put(&mut body, lost);
        Self {
            body,
            clock: at_unix_ns,
            number: 0,
        }
    }

    /// Adds an event. A wake is none of these.
    pub fn push(&mut self, event: &CallRecord) {
        let flag = |is_set: bool| if is_set { FLAG } else { 0 };
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
            events: Vec::new(),
        };
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turbowish_model::event::call_ring::CallRecord;

    use super::{CallBatch, CallEncoder, CallEvent, PollEnd};

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

    proptest! {
        #[test]
        fn events_read_back(
            at in any::<u64>(),
            thread in any::<u32>(),
            lost in any::<u64>(),
            events in proptest::collection::vec(record(), 0..20),
        ) {
            let mut encoder = CallEncoder::begin(at, thread, lost);
            events.iter().for_each(|event| encoder.push(event));
            let expected = CallBatch { thread, lost, events };
            prop_assert_eq!(CallBatch::read(at, &encoder.end()), Some(expected));
        }

        #[test]
        fn any_bytes_are_read_or_refused(at in any::<u64>(), body in any::<Vec<u8>>()) {
            let _ = CallBatch::read(at, &body);
        }
    }
}
