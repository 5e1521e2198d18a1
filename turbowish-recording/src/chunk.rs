//! Chunks: the unit that is written, kept, dropped, sent and checked.

/// First bytes of a file.
pub const FILE_MAGIC: [u8; 6] = *b"TWREC\0";
/// Version of the format that this crate writes. It rises when an older reader would misread it.
pub const FORMAT_VERSION: u16 = 1;
/// What a file begins with: [`FILE_MAGIC`], and [`FORMAT_VERSION`] with its low byte first.
pub const FILE_HEADER: [u8; 8] = {
    let [m0, m1, m2, m3, m4, m5] = FILE_MAGIC;
    let [low, high] = FORMAT_VERSION.to_le_bytes();
    [m0, m1, m2, m3, m4, m5, low, high]
};
/// First bytes of a chunk. A reader that has lost its place looks for them.
pub const MARKER: [u8; 4] = *b"\xf5TWc";
/// Bytes of a chunk before its body.
pub const HEADER_BYTES: usize = 32;
/// Bytes of the largest body: that of the largest message of the protocol.
pub const LARGEST_BODY: usize = 64 << 20;
/// Bytes of the largest body of polls or events: more than all that a thread keeps.
pub const LARGEST_BATCH: usize = 1 << 20;
/// Bytes of the longest mark.
pub const LONGEST_MARK: usize = 64 << 10;

/// The body is compressed with deflate.
const DEFLATED: u8 = 1;

/// What the body of a chunk is. A reader skips a kind that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkKind {
    /// The process at one instant: a `turbowish.v1.Snapshot` message.
    State,
    /// A text in UTF-8: why this instant was recorded.
    Mark,
    /// What the numbers in polls stand for: see [`Names`](crate::Names).
    Names,
    /// Polls of a thread: a [`PollBatch`](crate::PollBatch).
    Polls,
    /// Other events of a thread: an [`EventBatch`](crate::EventBatch).
    Events,
    /// Events of calls on a thread: a [`CallBatch`](crate::CallBatch).
    Calls,
    /// A kind of a later version.
    Other(u8),
}

impl ChunkKind {
    const fn code(self) -> u8 {
        match self {
            Self::State => 1,
            Self::Mark => 2,
            Self::Names => 3,
            Self::Polls => 8,
            Self::Events => 5,
            Self::Calls => 6,
            Self::Other(code) => code,
        }
    }

    const fn of(code: u8) -> Self {
        match code {
            1 => Self::State,
            2 => Self::Mark,
            3 => Self::Names,
            // 4 and 7 were written until 2026-11-29. The first number of the body says how it is
            // encoded.
            4 | 7 | 8 => Self::Polls,
            5 => Self::Events,
            6 => Self::Calls,
            _ => Self::Other(code),
        }
    }
}

/// The first [`HEADER_BYTES`] of a chunk.
///
/// | bytes | |
/// |--:|---|
/// | 0 to 3 | [`MARKER`] |
/// | 4 | kind |
/// | 5 | flags: 1 if the body is compressed with deflate |
/// | 6, 7 | 0 |
/// | 8 to 11 | length of the body, as it is stored |
/// | 12 to 15 | states that were due since the chunk before and were not recorded |
/// | 16 to 23 | time, in nanoseconds since 1970 |
/// | 24 to 27 | CRC-32 of the body, as it is stored |
/// | 28 to 31 | CRC-32 of bytes 0 to 27 |
///
/// Numbers have their low byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// What the body is.
    pub kind: ChunkKind,
    /// Whether the body is compressed with deflate.
    pub deflated: bool,
    /// Bytes of the body, as it is stored.
    pub len: u32,
    /// Number of states that were due since the chunk before and were not recorded.
    pub lost: u32,
    /// Time of the chunk, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// Checksum of the body, as it is stored.
    pub crc: u32,
}

impl ChunkHeader {
    /// The header of the chunk that begins there, the whole chunk, and what follows it. `None` if
    /// the header is damaged, or a part is missing.
    #[must_use]
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8], &[u8])> {
        let header = Self::read(bytes.first_chunk()?)?;
        let len = HEADER_BYTES.saturating_add(header.len as usize);
        let (chunk, rest) = bytes.split_at_checked(len)?;
        Some((header, chunk, rest))
    }

    /// The header as it is stored.
    #[must_use]
    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MARKER);
        bytes[4] = self.kind.code();
        bytes[5] = if self.deflated { DEFLATED } else { 0 };
        bytes[8..12].copy_from_slice(&self.len.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.lost.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.at_unix_ns.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header. `None` if these bytes are not one, or are damaged.
    #[must_use]
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let word = |at: usize| {
            let word: [u8; 4] = bytes[at..at + 4].try_into().ok()?;
            Some(u32::from_le_bytes(word))
        };
        let intact = bytes[..4] == MARKER && word(28)? == crc32fast::hash(&bytes[..28]);
        intact.then_some(())?;
        Some(Self {
            kind: ChunkKind::of(bytes[4]),
            deflated: bytes[5] & DEFLATED != 0,
            len: word(8)?,
            lost: word(12)?,
            at_unix_ns: u64::from(word(16)?) | u64::from(word(20)?) << 32,
            crc: word(24)?,
        })
    }
}

/// A whole chunk with this body, which is stored as it is. `None` if the body is longer than
/// [`LARGEST_BODY`].
#[must_use]
pub fn encode(kind: ChunkKind, at_unix_ns: u64, lost: u32, body: &[u8]) -> Option<Vec<u8>> {
    whole(kind, false, at_unix_ns, lost, body)
}

/// A whole chunk with this body, as it is stored. `None` if the body is longer than
/// [`LARGEST_BODY`].
pub(crate) fn whole(
    kind: ChunkKind,
    deflated: bool,
    at_unix_ns: u64,
    lost: u32,
    stored: &[u8],
) -> Option<Vec<u8>> {
    let len = u32::try_from(stored.len()).ok();
    let header = ChunkHeader {
        kind,
        deflated,
        len: len.filter(|_| stored.len() <= LARGEST_BODY)?,
        lost,
        at_unix_ns,
        crc: crc32fast::hash(stored),
    };
    let mut chunk = Vec::with_capacity(HEADER_BYTES + stored.len());
    chunk.extend_from_slice(&header.bytes());
    chunk.extend_from_slice(stored);
    Some(chunk)
}

#[cfg(test)]
mod tests {
    use super::{ChunkHeader, ChunkKind, HEADER_BYTES, encode};

    #[test]
    fn a_header_reads_back_and_a_flipped_bit_is_noticed() {
        for kind in [ChunkKind::State, ChunkKind::Mark, ChunkKind::Other(200)] {
            let header = ChunkHeader {
                kind,
                deflated: true,
                len: 0x0102_0304,
                lost: 7,
                at_unix_ns: 0x0102_0304_0506_0708,
                crc: 0xdead_beef,
            };
            let bytes = header.bytes();
            assert_eq!(ChunkHeader::read(&bytes), Some(header));
            for bit in 0..HEADER_BYTES * 8 {
                let mut damaged = bytes;
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(ChunkHeader::read(&damaged), None, "bit {bit}");
            }
        }
    }

    #[test]
    fn a_chunk_is_its_header_and_its_body() {
        let chunk = encode(ChunkKind::Mark, 5, 0, b"why").expect("a short body");
        assert_eq!(&chunk[HEADER_BYTES..], b"why");
        assert_eq!(chunk[8], 3);
    }
}
