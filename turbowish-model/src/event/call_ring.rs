//! The last events of a thread's calls: their creations, polls, await points and drops, in a ring
//! that the thread overwrites. Two words for each event, without a lock.
//!
//! A reader copies what it has not seen yet, drops what may have been overwritten meanwhile, and
//! counts it: see [`event_ring`](crate::account::event_ring).

use crate::account::call::{CALL_NUMBERS, PollEnd, SITE};
use crate::account::counters::PROC_LIMIT;
use crate::account::event_ring::{RecordRing, RingRecord};
use crate::event::CallEvent;

/// Words of an event.
pub const CALL_WORDS: usize = 2;

/// An event of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// When it happened, in ticks.
    pub at: u64,
    /// Number of the call, below [`CALL_NUMBERS`]; 0 for an event that names none, which is of the
    /// innermost poll of the thread.
    pub number: u32,
    /// What happened.
    pub event: CallEvent,
}

const CREATE: u64 = 1;
const START: u64 = 2;
const END: u64 = 3;
const DROP: u64 = 4;
const AWAIT: u64 = 5;
const UNACCOUNTED: u64 = 6;

/// Bits of the second word: the kind, a flag, the end of a poll, the proc, the await point, and the
/// number.
const FLAG_AT: u32 = 4;
const END_AT: u32 = FLAG_AT + 1;
const PROC_AT: u32 = END_AT + 3;
const SITE_AT: u32 = PROC_AT + PROC_LIMIT.trailing_zeros();
const NUMBER_AT: u32 = SITE_AT + SITE.trailing_ones();

const _: () = assert!(NUMBER_AT + CALL_NUMBERS.trailing_zeros() <= u64::BITS);
const _: () = assert!(PROC_LIMIT.is_power_of_two() && CALL_NUMBERS.is_power_of_two());

impl RingRecord<CALL_WORDS> for CallRecord {
    fn words(&self) -> [u64; CALL_WORDS] {
        let proc = |proc: u32| u64::from(proc % PROC_LIMIT) << PROC_AT;
        let flag = |flag: bool| u64::from(flag) << FLAG_AT;
        let what = match self.event {
            CallEvent::Create { proc: id } => CREATE | proc(id),
            CallEvent::PollStart { proc: id, root } => {
                START | flag(root) | proc(id.unwrap_or_default())
            }
            CallEvent::PollEnd(end) => END | (end as u64) << END_AT,
            CallEvent::Drop => DROP,
            CallEvent::Await {
                proc: id,
                site,
                direct,
            } => {
                // One that is beyond has no number of its own.
                let site = if site <= SITE { site } else { 0 };
                AWAIT | flag(direct) | proc(id) | u64::from(site) << SITE_AT
            }
            CallEvent::Unaccounted => UNACCOUNTED,
            // A wake is one of the task.
            CallEvent::Wake => 0,
        };
        let number = u64::from(self.number % CALL_NUMBERS) << NUMBER_AT;
        [self.at, number | what]
    }

    fn of([at, word]: [u64; CALL_WORDS]) -> Option<Self> {
        let bits = |at: u32, count: u32| (word >> at) as u32 & ((1 << count) - 1);
        let flag = bits(FLAG_AT, 1) != 0;
        let proc = bits(PROC_AT, SITE_AT - PROC_AT);
        let event = match u64::from(bits(0, FLAG_AT)) {
            CREATE => CallEvent::Create { proc },
            START => CallEvent::PollStart {
                proc: Some(proc),
                root: flag,
            },
            END => CallEvent::PollEnd(*PollEnd::ALL.get(bits(END_AT, PROC_AT - END_AT) as usize)?),
            DROP => CallEvent::Drop,
            AWAIT => CallEvent::Await {
                proc,
                site: bits(SITE_AT, NUMBER_AT - SITE_AT),
                direct: flag,
            },
            UNACCOUNTED => CallEvent::Unaccounted,
            _ => return None,
        };
        Some(Self {
            at,
            number: bits(NUMBER_AT, CALL_NUMBERS.trailing_zeros()),
            event,
        })
    }
}

/// The ring of the events of a thread's calls.
pub type CallRing = RecordRing<CallRecord, CALL_WORDS>;

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;
    use core::array;

    use super::{CALL_NUMBERS, CallRecord, CallRing, PROC_LIMIT, PollEnd, SITE};
    use crate::account::sync::AtomicU64;
    use crate::event::CallEvent;

    fn ring(places: usize) -> CallRing {
        let place = |_| array::from_fn(|_| AtomicU64::new(0));
        CallRing::new((0..places).map(place).collect::<Box<[_]>>())
    }

    fn read(ring: &CallRing, from: u64) -> (Vec<CallRecord>, u64) {
        let mut records = Vec::new();
        let (_, lost) = ring.read(from, |record| records.push(record));
        (records, lost)
    }

    #[test]
    fn each_event_is_read_as_it_was_written() {
        let mut events = alloc::vec![CallEvent::Drop, CallEvent::Unaccounted];
        events.extend(PollEnd::ALL.map(CallEvent::PollEnd));
        for proc in [0, 1, PROC_LIMIT - 1] {
            events.push(CallEvent::Create { proc });
            for flag in [false, true] {
                events.push(CallEvent::PollStart {
                    proc: Some(proc),
                    root: flag,
                });
                events.extend([0, 1, SITE].map(|site| CallEvent::Await {
                    proc,
                    site,
                    direct: flag,
                }));
            }
        }
        let ring = ring(64);
        let numbers = [0, 1, CALL_NUMBERS - 1];
        let written: Vec<CallRecord> = (0..)
            .zip(events)
            .map(|(nth, event)| CallRecord {
                at: u64::MAX - nth,
                number: numbers[nth as usize % 3],
                event,
            })
            .collect();
        written.iter().for_each(|record| ring.push(record));
        assert_eq!(read(&ring, 0), (written, 0));
    }

    #[test]
    fn what_is_overwritten_is_counted() {
        let ring = ring(8);
        let record = |at| CallRecord {
            at,
            number: 7,
            event: CallEvent::Drop,
        };
        (0..20).for_each(|at| ring.push(&record(at)));
        let (records, lost) = read(&ring, 3);
        assert_eq!((records.len() as u64 + lost, ring.written()), (17, 20));
        assert_eq!(records.last(), Some(&record(19)));
        assert_eq!(records[0], record(3 + lost));
        // Memory of another length keeps nothing.
        let none = super::CallRing::new(Box::new([]));
        none.push(&record(1));
        assert_eq!((none.written(), none.capacity()), (0, 0));
    }
}
