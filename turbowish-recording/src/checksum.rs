//! CRC-32 of IEEE 802.3, four bytes at a time. Its tables take 4 KiB: every program that records
//! has them.

/// The checksum of bytes.
pub(crate) fn of(bytes: &[u8]) -> u32 {
    let mut sum = Checksum::default();
    sum.add(bytes);
    sum.get()
}

/// The checksum of bytes that come in parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u32);

impl Checksum {
    /// Adds the next bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<4>();
        let mut sum = !self.0;
        for word in words {
            let [a, b, c, d] = (sum ^ u32::from_le_bytes(*word)).to_le_bytes();
            sum = TABLES[3][usize::from(a)]
                ^ TABLES[2][usize::from(b)]
                ^ TABLES[1][usize::from(c)]
                ^ TABLES[0][usize::from(d)];
        }
        for byte in rest {
            let [low, ..] = sum.to_le_bytes();
            sum = TABLES[0][usize::from(low ^ byte)] ^ (sum >> 8);
        }
        self.0 = !sum;
    }

    /// The checksum of all of them.
    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

/// What each byte adds, if so many bytes of the same word follow.
static TABLES: [[u32; 256]; 4] = tables();

const fn tables() -> [[u32; 256]; 4] {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ POLYNOMIAL
            } else {
                sum >> 1
            };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut nth = 1;
    while nth < 4 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[nth - 1][byte];
            tables[nth][byte] = tables[0][(before & 255) as usize] ^ (before >> 8);
            byte += 1;
        }
        nth += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::{Checksum, of};

    /// Bit by bit, as the standard has it.
    fn slow(bytes: &[u8]) -> u32 {
        let mut sum = u32::MAX;
        for byte in bytes {
            sum ^= u32::from(*byte);
            for _ in 0..8 {
                let low = sum & 1;
                sum = (sum >> 1) ^ (low * 0xedb8_8320);
            }
        }
        !sum
    }

    #[test]
    fn it_is_that_of_the_standard_however_the_bytes_come() {
        assert_eq!(of(b"123456789"), 0xcbf4_3926);
        assert_eq!(of(b""), 0);
        let bytes: Vec<u8> = (0..1_000_u32).map(|nth| ((nth * nth) >> 3) as u8).collect();
        for length in (0..40).chain([999, 1_000]) {
            let bytes = &bytes[..length];
            assert_eq!(of(bytes), slow(bytes), "{length}");
            for cut in 0..=length.min(9) {
                let mut sum = Checksum::default();
                sum.add(&bytes[..cut]);
                sum.add(&bytes[cut..]);
                assert_eq!(sum.get(), of(bytes), "{cut} of {length}");
            }
        }
    }
}
