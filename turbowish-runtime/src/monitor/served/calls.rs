//! The events of calls, and the ends of the epochs in which they were recorded, since the last time
//! that the recorder asked.

use turbowish_model::ordered::Map;
use turbowish_recording::{CallEncoder, CallPlace, ChunkKind, ClockReading};

use super::polls::RingPosition;
use crate::hot::thread::{self, EpochEnd, ThreadCallLog};
use crate::server::ThreadChunk;

/// How far the logs of all threads were read.
#[derive(Debug, Default)]
pub(super) struct CallsReader {
    logs: Vec<LogReader>,
    /// The first reading of the clock, by which the events have one order: on whichever threads and
    /// whenever they are read, and if the wall clock is set meanwhile.
    steady: Option<ClockReading>,
    /// Epochs of which something was recorded and that are not known to have ended: a thread that
    /// has recorded events, and the number of its next one.
    epochs: Map<u32, (u32, u64)>,
}

/// How far a log was read.
#[derive(Debug)]
struct LogReader {
    log: ThreadCallLog,
    position: RingPosition,
}

impl CallsReader {
    /// Adds what is new, by the clock of this look. Returns how full the fullest ring was, in
    /// percent.
    pub(super) fn read(&mut self, clock: ClockReading, into: &mut Vec<ThreadChunk>) -> u64 {
        // Asked for first: the logs then have all of these epochs.
        let ended = thread::take_call_ends();
        let new = thread::take_call_logs().into_iter();
        self.logs.extend(new.map(LogReader::new));
        if self.logs.is_empty() && ended.is_empty() {
            return 0;
        }
        let times = Times {
            clock,
            steady: *self.steady.get_or_insert(clock),
        };
        let (epochs, mut fullest) = (&mut self.epochs, 0);
        self.logs.retain_mut(|log| {
            // Looked at first: what it wrote before is then all there is.
            let is_over = log.log.is_over();
            if let Some(fill) = log.read(times, into) {
                fullest = fill.max(fullest);
                let next = (log.log.index, log.position.next);
                epochs.insert(log.log.epoch, next);
            }
            !is_over
        });
        for EpochEnd { epoch, at } in ended {
            if let Some(next) = self.epochs.get(&epoch) {
                into.extend(times.end(epoch, at, *next));
            }
            self.epochs.retain(|other, _| *other > epoch);
        }
        fullest
    }
}

impl LogReader {
    const fn new(log: ThreadCallLog) -> Self {
        Self {
            log,
            position: RingPosition::START,
        }
    }

    /// Reads what is new. Returns how full the ring was, in percent; `None` if nothing is new.
    fn read(&mut self, times: Times, into: &mut Vec<ThreadChunk>) -> Option<u64> {
        // Not a further reference, which would say that the thread goes on.
        let (mut records, fill) = self.position.read(&self.log.log.ring);
        let place = times.place(self.log.epoch, records.first()?.at);
        for record in &mut records {
            record.at = times.unix_ns(record.at, &place);
        }
        let at_unix_ns = records[0].at;
        let lost = std::mem::take(&mut self.position.lost);
        let place = CallPlace {
            first: self.position.next.saturating_sub(records.len() as u64),
            ..place
        };
        let mut encoder = CallEncoder::begin(at_unix_ns, self.log.index, lost, &place);
        records.iter().for_each(|record| encoder.push(record));
        let body = encoder.end();
        into.extend(ThreadChunk::new(ChunkKind::Calls, at_unix_ns, &body, None));
        Some(fill)
    }
}

/// The clock of a look, which is that of the polls of the same look, and the one of all looks.
#[derive(Clone, Copy)]
struct Times {
    clock: ClockReading,
    steady: ClockReading,
}

impl Times {
    /// Where events of an epoch belong, the first of which was at this time.
    fn place(self, epoch: u32, ticks: u64) -> CallPlace {
        let [clock, steady] = [self.clock, self.steady].map(|clock| clock.unix_ns(ticks));
        CallPlace {
            epoch,
            steady_ns: steady.wrapping_sub(clock).cast_signed(),
            ..CallPlace::default()
        }
    }

    /// An instant, in nanoseconds since 1970 by the clock of this look. Taken from the one of all
    /// looks, so that events that share a reading, and are read in two looks, are at one instant
    /// of that: two conversions may be a nanosecond apart.
    fn unix_ns(self, ticks: u64, place: &CallPlace) -> u64 {
        let steady = self.steady.unix_ns(ticks);
        steady.wrapping_add_signed(place.steady_ns.wrapping_neg())
    }

    /// The chunk that tells the end of an epoch, after the last event of a thread.
    fn end(self, epoch: u32, ticks: u64, (thread, first): (u32, u64)) -> Option<ThreadChunk> {
        let at_unix_ns = self.clock.unix_ns(ticks);
        let place = CallPlace {
            first,
            ended_unix_ns: Some(at_unix_ns),
            ..self.place(epoch, ticks)
        };
        let body = CallEncoder::begin(at_unix_ns, thread, 0, &place).end();
        ThreadChunk::new(ChunkKind::Calls, at_unix_ns, &body, None)
    }
}
