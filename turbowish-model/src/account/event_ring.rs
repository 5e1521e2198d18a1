//! The last events of a thread that are no polls: what tasks waited for, what they held, and the
//! program's own events, in a ring that the thread overwrites.
//!
//! A wait or a hold is one event, written when it ends, with its duration. The thread takes no lock
//! for an event. A reader copies what it has not seen yet, looks again at how far the thread is by
//! then, drops what may have been overwritten meanwhile, and counts it.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::account::resource::Role;
use crate::account::sync::{AtomicU64, fence};

/// Words of an event.
pub const EVENT_WORDS: usize = 7;

/// Most numbers of a program's own event.
pub const EVENT_VALUES: usize = 4;

/// An event of a thread. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// When it happened; the end of a wait or a hold.
    pub at: u64,
    /// The task; 0 if it is not known.
    pub task: u64,
    /// What happened.
    pub fact: EventFact,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFact {
    /// A task has waited for a resource.
    Waited {
        /// The wait.
        of: ResourceUse,
        /// Whether it got what it waited for; else it gave up.
        served: bool,
    },
    /// A task has released a resource, or a part of it.
    Held(ResourceUse),
    /// An event of the program's own.
    User {
        /// Number of its place in the source.
        site: u32,
        /// Its numbers, of which the place has the first ones.
        values: [i64; EVENT_VALUES],
    },
}

/// A wait for a resource, or a hold of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceUse {
    /// Id of the resource.
    pub resource: u64,
    /// Its duration.
    pub ticks: u64,
    /// The kind of use.
    pub role: Role,
    /// Number of permits or items.
    pub amount: u32,
}

const WAITED: u64 = 1;
const GAVE_UP: u64 = 2;
const HELD: u64 = 3;
const USER: u64 = 4;

const KIND_BITS: u32 = 8;
const ROLE_BITS: u32 = 8;

impl RingRecord<EVENT_WORDS> for EventRecord {
    fn words(&self) -> [u64; EVENT_WORDS] {
        let used = |kind: u64, of: &ResourceUse| {
            let role = (of.role as u64) << KIND_BITS;
            let facts = u64::from(of.amount) << (KIND_BITS + ROLE_BITS) | role | kind;
            [self.at, facts, self.task, of.ticks, of.resource, 0, 0]
        };
        match &self.fact {
            EventFact::Waited { of, served: true } => used(WAITED, of),
            EventFact::Waited { of, served: false } => used(GAVE_UP, of),
            EventFact::Held(of) => used(HELD, of),
            EventFact::User { site, values } => {
                let facts = u64::from(*site) << KIND_BITS | USER;
                let [first, second, third, fourth] = values.map(i64::cast_unsigned);
                [self.at, facts, self.task, first, second, third, fourth]
            }
        }
    }

    fn of(words: [u64; EVENT_WORDS]) -> Option<Self> {
        let [at, facts, task, values @ ..] = words;
        let used = || {
            let role = facts >> KIND_BITS & ((1 << ROLE_BITS) - 1);
            Some(ResourceUse {
                resource: values[1],
                ticks: values[0],
                role: Role::ALL.get(role as usize).copied()?,
                amount: (facts >> (KIND_BITS + ROLE_BITS)) as u32,
            })
        };
        let fact = match facts & ((1 << KIND_BITS) - 1) {
            kind @ (WAITED | GAVE_UP) => EventFact::Waited {
                of: used()?,
                served: kind == WAITED,
            },
            HELD => EventFact::Held(used()?),
            USER => EventFact::User {
                site: (facts >> KIND_BITS) as u32,
                values: values.map(u64::cast_signed),
            },
            _ => return None,
        };
        Some(Self { at, task, fact })
    }
}

/// The ring of a thread's events.
pub type EventRing = RecordRing<EventRecord, EVENT_WORDS>;

/// What a ring keeps in `N` words each.
pub trait RingRecord<const N: usize>: Sized {
    /// The words that stand for it.
    fn words(&self) -> [u64; N];
    /// What these words stand for; `None` if for nothing.
    fn of(words: [u64; N]) -> Option<Self>;
}

/// The ring of one thread. Only that thread writes it. It takes no room before it is given some.
#[derive(Debug)]
pub struct RecordRing<R, const N: usize>(WordRing<N>, PhantomData<fn(R) -> R>);

impl<R, const N: usize> Default for RecordRing<R, N> {
    fn default() -> Self {
        Self(WordRing::new(Box::default()), PhantomData)
    }
}

impl<R: RingRecord<N>, const N: usize> RecordRing<R, N> {
    /// A ring in this memory. Memory that has no power of two of places keeps no record.
    #[must_use]
    pub fn new(places: Box<[[AtomicU64; N]]>) -> Self {
        let fits = places.len().is_power_of_two();
        let places = if fits { places } else { Box::default() };
        Self(WordRing::new(places), PhantomData)
    }

    /// Number of records so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.0.written()
    }

    /// Number of records that it holds.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    /// Adds a record. Only the thread itself calls this.
    #[inline]
    pub fn push(&self, record: &R) {
        self.0.push(record.words());
    }

    /// Passes the records from number `from` on to `each`, in their order. Any thread may call
    /// this. Returns the number of the next record, and how many were overwritten before they could
    /// be read.
    pub fn read(&self, from: u64, mut each: impl FnMut(R)) -> (u64, u64) {
        self.0.read(from, |words| {
            if let Some(record) = R::of(words) {
                each(record);
            }
        })
    }
}

/// Places of `N` words, which one thread overwrites.
#[derive(Debug, Default)]
pub(crate) struct WordRing<const N: usize> {
    /// Number of places that were written so far.
    written: AtomicU64,
    /// A power of two of them, or none.
    places: Box<[[AtomicU64; N]]>,
}

impl<const N: usize> WordRing<N> {
    pub(crate) fn new(places: Box<[[AtomicU64; N]]>) -> Self {
        Self {
            written: AtomicU64::new(0),
            places,
        }
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.load(Acquire)
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.places.len() as u64
    }

    fn place(&self, number: u64) -> Option<&[AtomicU64; N]> {
        let mask = self.places.len().wrapping_sub(1);
        self.places.get(number as usize & mask)
    }

    #[inline]
    pub(crate) fn push(&self, words: [u64; N]) {
        let number = self.written.load(Relaxed);
        let Some(place) = self.place(number) else {
            return;
        };
        // A reader that sees a word of this place sees the number of the one before, too.
        fence(Release);
        for (word, value) in place.iter().zip(words) {
            word.store(value, Relaxed);
        }
        self.written.store(number.wrapping_add(1), Release);
    }

    /// See [`RecordRing::read`].
    pub(crate) fn read(&self, from: u64, mut each: impl FnMut([u64; N])) -> (u64, u64) {
        let until = self.written();
        let oldest = |written: u64| written.saturating_sub(self.capacity());
        let (mut next, mut lost) = (from.min(until), 0);
        let mut skip = |next: &mut u64, to: u64| {
            lost += to.saturating_sub(*next);
            *next = to.max(*next);
        };
        while next < until {
            skip(&mut next, oldest(until));
            let Some(place) = self.place(next) else { break };
            let words = core::array::from_fn(|nth| place[nth].load(Relaxed));
            fence(Acquire);
            // The next place may be half written: it is that of the oldest one.
            let written = self.written.load(Relaxed).saturating_add(1);
            if oldest(written) > next {
                skip(&mut next, oldest(written).min(until));
                continue;
            }
            each(words);
            next += 1;
        }
        (next, lost)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;
    use core::array::from_fn;

    use proptest::prelude::*;

    use super::{AtomicU64, EventFact, EventRecord, EventRing, ResourceUse, Role};

    fn ring(events: usize) -> EventRing {
        let zero = || from_fn(|_| AtomicU64::new(0));
        EventRing::new((0..events).map(|_| zero()).collect())
    }

    fn fact() -> impl Strategy<Value = EventFact> {
        let role = proptest::sample::select(&Role::ALL[..]);
        let used = (any::<u64>(), any::<u64>(), role, any::<u32>());
        let used = used.prop_map(|(resource, ticks, role, amount)| ResourceUse {
            resource,
            ticks,
            role,
            amount,
        });
        prop_oneof![
            (used.clone(), any::<bool>()).prop_map(|(of, served)| EventFact::Waited { of, served }),
            used.prop_map(EventFact::Held),
            (any::<u32>(), any::<[i64; 4]>())
                .prop_map(|(site, values)| EventFact::User { site, values }),
        ]
    }

    proptest! {
        #[test]
        fn each_event_is_read_once_and_whole_or_counted(
            rounds in proptest::collection::vec(
                proptest::collection::vec((any::<u64>(), any::<u64>(), fact()), 0..40), 1..8,
            ),
        ) {
            let ring = ring(16);
            let (mut all, mut next, mut lost) = (Vec::new(), 0, 0);
            for events in rounds {
                for (at, task, fact) in events {
                    let event = EventRecord { at, task, fact };
                    ring.push(&event);
                    all.push(event);
                }
                let mut read = Vec::new();
                let from = next;
                let (to, missed) = ring.read(from, |event| read.push(event));
                prop_assert_eq!(to as usize, all.len());
                prop_assert_eq!(&all[(from + missed) as usize..], &read[..]);
                // The oldest one of a full ring may be about to be overwritten.
                prop_assert_eq!(missed, (to - from).saturating_sub(15).min(to - from));
                (next, lost) = (to, lost + missed);
            }
            prop_assert!(lost <= next);
        }
    }

    #[test]
    fn a_ring_without_room_keeps_nothing() {
        for events in [0, 3, 12] {
            let ring = ring(events);
            ring.push(&EventRecord {
                at: 1,
                task: 2,
                fact: EventFact::User {
                    site: 3,
                    values: [4; 4],
                },
            });
            assert_eq!((ring.capacity(), ring.written()), (0, 0));
            assert_eq!(ring.read(0, |_| panic!("no event")), (0, 0));
        }
    }
}
