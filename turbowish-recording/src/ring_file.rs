//! File of the rings: memory in which the threads of a process keep their last polls, and which is
//! there when the process is not.
//!
//! The file is written and read on one machine, by stores to memory: the words of the rings have
//! its byte order. All places have the same size, a multiple of every size of a page. The first one
//! is for the header:
//!
//! | bytes | |
//! |--:|---|
//! | 0 to 7 | `TWRING`, a zero byte, and the version: 2. In version 1, no call of a waker is known |
//! | 8 to 15 | an instant in ticks |
//! | 16 to 23 | the same instant, in nanoseconds since 1970 |
//! | 24 to 31 | nanoseconds of `2^shift` ticks |
//! | 32 to 35 | that shift, below 64 |
//! | 36 to 39 | CRC-32 of bytes 0 to 35 |
//!
//! Numbers in it have their low byte first. Each of the others is for the ring of one thread.

use turbowish_model::account::poll_ring::{PollWords, ring_places};

use crate::ClockReading;

/// Polls of each ring.
pub const RING_POLLS: usize = 8_192;
/// Rings of a file, at most.
pub const MOST_RINGS: u64 = 64;
/// Bytes of the header.
pub const RING_HEADER_BYTES: usize = 40;

/// Bytes from one place to the next.
const PLACE_BYTES: u64 = (RING_BYTES as u64).next_multiple_of(1 << 16);
/// Bytes of a ring.
const RING_BYTES: usize = ring_places(RING_POLLS) * size_of::<PollWords>();

const MAGIC: [u8; 8] = *b"TWRING\0\x02";
/// Of the version before, which is read in the same way.
#[cfg(feature = "read")]
const MAGIC_BEFORE: [u8; 8] = *b"TWRING\0\x01";

/// Where a ring is in the file, by its number from 0: its first byte, and the one after the last.
#[must_use]
pub const fn ring_span(number: u64) -> (u64, u64) {
    let begin = (number + 1) * PLACE_BYTES;
    (begin, begin + RING_BYTES as u64)
}

/// The header of the file.
#[must_use]
pub fn ring_header(clock: &ClockReading) -> [u8; RING_HEADER_BYTES] {
    let (multiplier, shift) = clock.scale.parts();
    let mut header = [0; RING_HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&clock.ticks.to_le_bytes());
    header[16..24].copy_from_slice(&clock.unix_ns.to_le_bytes());
    header[24..32].copy_from_slice(&multiplier.to_le_bytes());
    header[32..36].copy_from_slice(&shift.to_le_bytes());
    let crc = crc32fast::hash(&header[..36]);
    header[36..].copy_from_slice(&crc.to_le_bytes());
    header
}

#[cfg(feature = "read")]
pub(crate) mod left {
    use std::io::Read;

    use turbowish_model::account::poll_ring::{PollRing, PollWords, ring_places};
    use turbowish_model::account::time::Scale;

    use super::{MAGIC, MAGIC_BEFORE, MOST_RINGS, RING_HEADER_BYTES, RING_POLLS, ring_span};
    use crate::{ClockReading, PollBatch, RecordingError};

    /// The rings of a process that has died.
    #[derive(Debug)]
    pub struct LeftRings {
        clock: ClockReading,
        rings: Vec<PollRing>,
    }

    /// The last polls of a thread.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct LeftPolls {
        /// The polls. Those that were overwritten before anybody copied them are its lost ones.
        pub batch: PollBatch,
        /// Number of places without a possible poll: something else has written to the file.
        pub damaged: u64,
    }

    impl LeftRings {
        /// Reads a file of rings. What is behind the last whole ring is left out.
        ///
        /// # Errors
        /// It cannot be read, or is no such file.
        pub fn read(input: impl Read) -> Result<Self, RecordingError> {
            let (_, longest) = ring_span(MOST_RINGS - 1);
            let mut bytes = Vec::new();
            input.take(longest).read_to_end(&mut bytes)?;
            let clock = bytes.first_chunk().and_then(clock);
            let clock = clock.ok_or(RecordingError::NoRings)?;
            let rings = (0..MOST_RINGS).map_while(|number| ring(&bytes, number));
            Ok(Self {
                clock,
                // Places that no thread has used.
                rings: rings.filter(|ring| ring.written() > 0).collect(),
            })
        }

        /// Numbers of the threads that have left polls.
        pub fn threads(&self) -> impl Iterator<Item = u32> + '_ {
            self.rings.iter().map(|ring| ring.thread() as u32)
        }

        /// The polls that a thread has left from the one with the number `from` on, if it has left
        /// any. Without such a number they are all that are there, and none is lost.
        #[must_use]
        pub fn polls(&self, thread: u32, from: Option<u64>) -> LeftPolls {
            let mut left = LeftPolls::default();
            left.batch.thread = thread;
            let Some(ring) = self.of(thread) else {
                return left;
            };
            let mut latest = 1;
            let read = ring.read(from.unwrap_or(0), true, |_, poll| {
                // Polls of a thread follow one another, and none is as old as the clock.
                if poll.end < latest || poll.hold > poll.end {
                    left.damaged += 1;
                    return;
                }
                latest = poll.end;
                left.batch.polls.push(self.clock.event(&poll));
            });
            let count = left.batch.polls.len() as u64 + left.damaged;
            left.batch.first = read.next.saturating_sub(count);
            left.batch.lost = from.map_or(0, |_| read.lost);
            left
        }

        fn of(&self, thread: u32) -> Option<&PollRing> {
            let is_its = |ring: &&PollRing| ring.thread() as u32 == thread;
            self.rings.iter().find(is_its)
        }
    }

    fn clock(header: &[u8; RING_HEADER_BYTES]) -> Option<ClockReading> {
        let word = |at: usize| {
            let word: [u8; 8] = header[at..at + 8].try_into().ok()?;
            Some(u64::from_le_bytes(word))
        };
        let last = word(32)?;
        let (shift, crc) = (last as u32, (last >> 32) as u32);
        let is_known = [MAGIC, MAGIC_BEFORE]
            .iter()
            .any(|magic| header[..8] == *magic);
        let intact = is_known && crc == crc32fast::hash(&header[..36]);
        (intact && shift < u64::BITS).then_some(())?;
        Some(ClockReading {
            scale: Scale::new(word(24)?, shift),
            ticks: word(8)?,
            unix_ns: word(16)?,
        })
    }

    fn ring(bytes: &[u8], number: u64) -> Option<PollRing> {
        let (begin, end) = ring_span(number);
        let bytes = bytes.get(usize::try_from(begin).ok()?..usize::try_from(end).ok()?)?;
        let mut words = bytes.chunks_exact(size_of::<u64>()).map(|word| {
            let word = word.try_into().unwrap_or_default();
            u64::from_ne_bytes(word).into()
        });
        let place = |_| -> PollWords { std::array::from_fn(|_| words.next().unwrap_or_default()) };
        PollRing::left((0..ring_places(RING_POLLS)).map(place).collect())
    }
}

#[cfg(all(test, feature = "read"))]
mod tests {
    use std::array::from_fn;
    use std::sync::atomic::Ordering::Relaxed;

    use proptest::prelude::*;
    use turbowish_model::account::poll_ring::PollOutcome;
    use turbowish_model::account::time::Scale;

    use super::left::LeftRings;
    use super::{MOST_RINGS, RING_BYTES, RING_HEADER_BYTES, RING_POLLS, ring_header, ring_span};
    use crate::{ClockReading, PollBatch, PollEncoder, RecordingError};

    const CLOCK: ClockReading = ClockReading {
        scale: Scale::new(2, 0),
        ticks: 1_000_000,
        unix_ns: 1 << 60,
    };

    /// Number of a thread, polls so far, and those of them that are there, by number and end.
    type Ring<'a> = (u32, u64, &'a [(u64, u64)]);

    /// A file with these rings.
    fn file(rings: &[Ring<'_>]) -> Vec<u8> {
        let mut bytes = ring_header(&CLOCK).to_vec();
        for (nth, (thread, written, polls)) in rings.iter().enumerate() {
            let (begin, end) = ring_span(nth as u64);
            let begin = usize::try_from(begin).expect("a small file");
            bytes.resize(usize::try_from(end).expect("a small file"), 0);
            let mut put = |place: usize, word: usize, value: u64| {
                let at = begin + place * 40 + word * 8;
                bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
            };
            put(0, 0, *written);
            put(0, 1, (*thread).into());
            for (number, end) in *polls {
                let place = 1 + usize::try_from(*number).expect("a small file") % RING_POLLS;
                let of = [*end, 5 << 17 | 3, 77, 1 << 17, 0];
                (0..5).for_each(|word| put(place, word, of[word]));
            }
        }
        bytes
    }

    /// Numbers and ends of the polls of a thread, lost ones, and damaged places.
    fn left(file: &[u8], thread: u32, from: Option<u64>) -> (u64, Vec<u64>, u64, u64) {
        let rings = LeftRings::read(file).expect("a file of rings");
        let left = rings.polls(thread, from);
        let ends = left.batch.polls.iter().map(|poll| poll.end_unix_ns());
        let ends = ends.map(|end| (end - CLOCK.unix_ns) / 2 + CLOCK.ticks);
        let ends = ends.collect();
        (left.batch.first, ends, left.batch.lost, left.damaged)
    }

    #[test]
    fn the_last_polls_of_each_thread_are_read_from_any_number_on() {
        let later = |number| (number, 2_000_000 + 10 * number);
        let few: Vec<_> = (0..3).map(later).collect();
        let capacity = RING_POLLS as u64;
        let many: Vec<_> = (100..capacity + 100).map(later).collect();
        let file = file(&[(4, 3, &few), (9, capacity + 100, &many), (5, 0, &[])]);
        let rings = LeftRings::read(&*file).expect("a file of rings");
        assert_eq!(rings.threads().collect::<Vec<_>>(), [4, 9]);
        let ends = |polls: &[(u64, u64)]| polls.iter().map(|poll| poll.1).collect::<Vec<_>>();
        assert_eq!(left(&file, 4, Some(0)), (0, ends(&few), 0, 0));
        assert_eq!(left(&file, 4, Some(2)), (2, ends(&few[2..]), 0, 0));
        assert_eq!(left(&file, 4, Some(3)), (3, vec![], 0, 0));
        assert_eq!(left(&file, 4, Some(70)), (3, vec![], 0, 0));
        // The oldest one may be damaged by one that is not counted.
        assert_eq!(left(&file, 9, Some(0)), (101, ends(&many[1..]), 101, 0));
        assert_eq!(left(&file, 9, None), (101, ends(&many[1..]), 0, 0));
        assert_eq!(
            left(&file, 9, Some(8_000)),
            (8_000, ends(&many[7_900..]), 0, 0)
        );
        assert_eq!(left(&file, 1, None), (0, vec![], 0, 0));
        let poll = rings.polls(4, None).batch.polls[0];
        assert_eq!((poll.hold_ns, poll.path, poll.task), (10, 3, 77));
        assert_eq!(poll.outcome, PollOutcome::Pending);
        // A file that is cut has the rings before.
        let cut = &file[..file.len() - 1 - RING_BYTES];
        assert_eq!(left(cut, 4, None), (0, ends(&few), 0, 0));
    }

    #[test]
    fn a_place_without_a_possible_poll_is_counted_and_left_out() {
        let polls = [(0, 2_000_000), (1, 3), (2, 0), (3, 2_000_001)];
        let file = file(&[(4, 4, &polls)]);
        assert_eq!(
            left(&file, 4, Some(0)),
            (0, vec![2_000_000, 2_000_001], 0, 2)
        );
    }

    #[test]
    fn what_is_no_file_of_rings_is_refused() {
        let good = file(&[]);
        assert_eq!(good.len(), RING_HEADER_BYTES);
        for len in 0..good.len() {
            let read = LeftRings::read(&good[..len]);
            assert!(matches!(read, Err(RecordingError::NoRings)), "{len}");
        }
        for bit in 0..good.len() * 8 {
            let mut damaged = good.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let read = LeftRings::read(&*damaged);
            assert!(matches!(read, Err(RecordingError::NoRings)), "bit {bit}");
        }
        let wide = ClockReading {
            scale: Scale::new(1, 64),
            ..CLOCK
        };
        LeftRings::read(&ring_header(&wide)[..]).expect_err("no such scale");
    }

    #[test]
    fn places_are_apart_and_begin_with_a_page() {
        let mut before = RING_HEADER_BYTES as u64;
        for number in 0..MOST_RINGS {
            let (begin, end) = ring_span(number);
            assert!(begin >= before && begin.is_multiple_of(1 << 16), "{number}");
            assert_eq!(end - begin, RING_BYTES as u64);
            before = end;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever the rings have in them, what is read can be written, and reads back.
        #[test]
        fn any_rings_are_read(
            words in proptest::collection::vec(
                prop_oneof![any::<u64>(), 0..1_u64 << 24, Just(u64::MAX)], 1..40,
            ),
            (ticks, unix_ns, multiplier) in any::<(u64, u64, u64)>(),
            (shift, step, len) in (0..64_u32, 1..50_usize, 0..3 * RING_BYTES),
            (thread, from) in (0..3_u32, proptest::option::of(any::<u64>())),
        ) {
            let clock = ClockReading { scale: Scale::new(multiplier, shift), ticks, unix_ns };
            let mut bytes = ring_header(&clock).to_vec();
            let (begin, _) = ring_span(0);
            let begin = usize::try_from(begin).expect("a small file");
            bytes.resize(begin + len, 0);
            let places = bytes[begin..].chunks_exact_mut(8).step_by(step);
            for (place, word) in places.zip(words.iter().cycle()) {
                place.copy_from_slice(&word.to_ne_bytes());
            }
            if let Some(number) = bytes.get_mut(begin + 8..begin + 16) {
                number.copy_from_slice(&u64::from(thread).to_ne_bytes());
            }
            let rings = LeftRings::read(&*bytes).expect("its header is intact");
            let left = rings.polls(thread, from);
            prop_assert!(left.batch.polls.len() as u64 + left.damaged <= RING_POLLS as u64);
            let PollBatch { thread, first, lost, polls } = left.batch;
            let at = polls.first().map_or(0, |poll| poll.start_unix_ns);
            let mut encoder = PollEncoder::begin(at, thread, first, lost);
            polls.iter().for_each(|poll| encoder.push(poll));
            let read = PollBatch::read(at, &encoder.end()).expect("a body of ours");
            prop_assert_eq!((read.first, read.lost, read.polls.len()), (first, lost, polls.len()));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
            let _ = LeftRings::read(&*bytes);
        }
    }

    #[test]
    fn a_ring_in_memory_is_that_in_the_file() {
        use turbowish_model::account::poll_ring::{PollRing, PollWords, ring_places};
        let zero = |_| -> PollWords { from_fn(|_| 0.into()) };
        let memory: Box<[PollWords]> = (0..ring_places(RING_POLLS)).map(zero).collect();
        let memory: &'static [PollWords] = Box::leak(memory);
        let ring = PollRing::lent(memory, 12);
        assert_eq!(ring.capacity(), RING_POLLS as u64);
        let bytes = memory.iter().flatten();
        let bytes: Vec<u8> = bytes
            .flat_map(|word| word.load(Relaxed).to_ne_bytes())
            .collect();
        assert_eq!(bytes.len(), RING_BYTES);
        let (begin, _) = ring_span(0);
        let mut file = ring_header(&CLOCK).to_vec();
        file.resize(usize::try_from(begin).expect("a small file"), 0);
        // A poll so far, of zeros.
        let mut ring = bytes;
        ring[0] = 1;
        file.extend(ring);
        let rings = LeftRings::read(&*file).expect("a file of rings");
        assert_eq!(rings.threads().collect::<Vec<_>>(), [12]);
    }
}
