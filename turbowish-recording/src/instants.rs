//! Instants: ticks of a process's clock as nanoseconds since 1970.

use turbowish_model::account::poll_ring::{PollRecord, Wakeup};
use turbowish_model::account::time::Scale;

use crate::{PollEvent, WakeupEvent, WokenBy};

/// One instant on both clocks, and the conversion between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Conversion of ticks to nanoseconds.
    pub scale: Scale,
    /// The instant, in ticks.
    pub ticks: u64,
    /// The same instant, in nanoseconds since 1970.
    pub unix_ns: u64,
}

impl ClockReading {
    /// Another instant, before or after this one, in nanoseconds since 1970.
    #[inline]
    #[must_use]
    pub fn unix_ns(&self, ticks: u64) -> u64 {
        match ticks.checked_sub(self.ticks) {
            Some(after) => self.unix_ns.saturating_add(self.scale.ns(after)),
            None => self
                .unix_ns
                .saturating_sub(self.scale.ns(self.ticks - ticks)),
        }
    }

    /// A poll as it is recorded.
    #[inline]
    #[must_use]
    pub fn event(&self, poll: &PollRecord) -> PollEvent {
        let start_unix_ns = self.unix_ns(poll.start());
        PollEvent {
            start_unix_ns,
            hold_ns: self.unix_ns(poll.end).saturating_sub(start_unix_ns),
            task: poll.task,
            path: poll.path,
            chain: poll.chain,
            outcome: poll.outcome,
            wakeup: poll.wakeup.map(|wakeup| self.wakeup(wakeup)),
        }
    }

    fn wakeup(&self, Wakeup { latency, by }: Wakeup) -> WakeupEvent {
        WakeupEvent {
            latency_ns: self.scale.ns(latency),
            by: match (by.thread(), by.task()) {
                (Some(thread), _) => WokenBy::Thread(thread),
                (None, 0) => WokenBy::Unknown,
                (None, id) => WokenBy::Task {
                    id,
                    path: by.path(),
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::account::time::Scale;

    use super::ClockReading;

    #[test]
    fn instants_are_before_and_after_the_reading() {
        let clock = ClockReading {
            // A tick is three nanoseconds.
            scale: Scale::new(6, 1),
            ticks: 1_000,
            unix_ns: 50_000,
        };
        for (ticks, expected) in [
            (1_000, 50_000),
            (1_010, 50_030),
            (990, 49_970),
            (0, 47_000),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(clock.unix_ns(ticks), expected, "{ticks}");
        }
        let late = ClockReading {
            unix_ns: 10,
            ..clock
        };
        assert_eq!(late.unix_ns(0), 0);
    }
}
