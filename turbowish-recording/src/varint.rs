//! Numbers of variable length: seven bits a byte, the lowest ones first, as in Protobuf.

/// Appends a number.
pub(crate) fn put(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Appends a text with its length.
pub(crate) fn put_text(into: &mut Vec<u8>, text: &str) {
    put(into, text.len() as u64);
    into.extend_from_slice(text.as_bytes());
}

/// A difference as a number that is small if the difference is small, whatever its sign.
pub(crate) const fn fold(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// Appends the difference to the value before.
pub(crate) fn put_change(into: &mut Vec<u8>, before: &mut u64, now: u64) {
    put(into, fold(now.wrapping_sub(*before).cast_signed()));
    *before = now;
}

/// The difference for such a number.
pub(crate) const fn unfold(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Bytes that are read from the front. Each method returns `None` if they do not begin with what
/// is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first byte, which stays.
    pub(crate) fn first(&self) -> Option<u8> {
        self.0.first().copied()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << shift;
            if shifted >> shift != bits {
                return None;
            }
            value |= shifted;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub(crate) fn part(&mut self) -> Option<Self> {
        let len = usize::try_from(self.number()?).ok()?;
        let (part, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(Self(part))
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.part()?.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, fold, put, unfold};

    #[test]
    fn numbers_and_differences_read_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), 1 << 63, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(Bytes(&bytes).number(), Some(value));
            assert_eq!(Bytes(&bytes[..bytes.len() - 1]).number(), None);
            let difference = value.cast_signed();
            assert_eq!(unfold(fold(difference)), difference);
        }
        assert_eq!([0, -1, 1, -2].map(fold), [0, 1, 2, 3]);
    }

    #[test]
    fn a_number_that_does_not_fit_is_none() {
        assert_eq!(Bytes(&[0xff; 11]).number(), None);
        let too_large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(Bytes(&too_large).number(), None);
        let mut bytes = Vec::new();
        put(&mut bytes, 1 << 32);
        assert_eq!(Bytes(&bytes).small(), None);
    }
}
