//! Numbers of calls, while their events are recorded.
//!
//! Between its polls, such a call has its number where others have their epoch. So it takes no
//! room, and no poll finds the call to be one of the present epoch without looking for the number.

use super::{Call, FLAG_BITS, FUSED, Origin};

/// Numbers of calls are below this.
pub const CALL_NUMBERS: u32 = 1 << 28;

/// Added to a number. No epoch has the lower one of these bits.
const NUMBERED: u32 = 3 * CALL_NUMBERS;

const _: () =
    assert!((NUMBERED | (CALL_NUMBERS - 1)) << FLAG_BITS >> FLAG_BITS == u32::MAX >> FLAG_BITS);

/// The bits of a word below the epoch.
const FLAGS: u32 = (1 << FLAG_BITS) - 1;

const fn word(number: u32, flags: u32) -> u32 {
    (NUMBERED | (number % CALL_NUMBERS)) << FLAG_BITS | flags
}

impl Origin {
    /// Gives a new call a number.
    #[must_use]
    pub const fn numbered(self, number: u32) -> Self {
        let above = self.word >> u32::BITS << u32::BITS;
        let flags = self.word as u32 & FLAGS;
        Self {
            word: above | word(number, flags) as u64,
            ..self
        }
    }
}

impl Call {
    /// The number that the call has between its polls.
    #[must_use]
    pub const fn number(&self) -> Option<u32> {
        let epoch = self.epoch();
        if epoch & NUMBERED == NUMBERED {
            Some(epoch % CALL_NUMBERS)
        } else {
            None
        }
    }

    /// Gives the call its number, after a poll. Its next poll opens a frame, whatever it awaits.
    pub const fn set_number(&mut self, number: u32) {
        self.word = word(number, self.word & FUSED);
    }

    /// Registers the call with its epoch, for a poll or its drop.
    pub const fn take_number(&mut self, epoch: u32) {
        self.word = epoch << FLAG_BITS | self.word & FUSED;
    }

    /// Lets the next poll of the call open a frame, whatever it awaits.
    pub const fn open_next(&mut self) {
        self.set_passes(false);
    }
}

#[cfg(test)]
mod tests {
    use super::{CALL_NUMBERS, Call, Origin};

    #[test]
    fn a_number_stands_for_the_epoch_between_polls() {
        const EPOCH: u32 = 1 << 29 | 6;
        let mut call = Call::new(Origin::new(EPOCH, 77, 5).numbered(CALL_NUMBERS - 1));
        assert_eq!(call.number(), Some(CALL_NUMBERS - 1));
        assert!(!call.is_live(EPOCH) && call.is_open());
        call.take_number(EPOCH);
        assert!(call.is_live(EPOCH));
        assert_eq!((call.number(), call.unit()), (None, 77));
        call.fuse();
        call.set_passes(true);
        call.set_number(6);
        assert_eq!((call.number(), call.is_fused()), (Some(6), true));
        assert!(!call.passes() && !call.is_live(EPOCH) && !call.is_live(6));
        call.take_number(EPOCH);
        assert!(call.is_live(EPOCH) && call.is_fused());
        // An epoch is no number.
        let call = Call::new(Origin::new(CALL_NUMBERS - 1, 0, 0));
        assert_eq!(call.number(), None);
    }
}
