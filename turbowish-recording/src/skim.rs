//! Finding the chunks: their headers are read and their checksums compared, but no body is decoded.
//!
//! Where a chunk should begin and none does, or where its checksum is wrong, the next one is looked
//! for from there: behind bytes that are missing, it begins inside of what the header announced.

use std::io::{Read, Seek, SeekFrom};

use crate::{
    ChunkHeader, ChunkKind, FILE_HEADER, FILE_MAGIC, FORMAT_VERSION, HEADER_BYTES, LARGEST_BODY,
    MARKER, RecordingError,
};

/// The most chunks that are listed: a state a second for two weeks. Later ones are counted in
/// [`Damage::unlisted`].
pub const LARGEST_INDEX: usize = 1_200_000;

/// Bytes that are read at once.
const BLOCK: usize = 64 << 10;

/// Bytes of chunks with a wrong checksum that are read, for each byte of the input. Only an input
/// that was made for this purpose has more: chunks in chunks.
const PATIENCE: u64 = 4;

/// A recorded state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateEntry {
    /// When it was, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// States that were due since the one before and were not recorded.
    pub lost: u32,
    /// Where its chunk begins, in bytes from the beginning.
    pub offset: u64,
}

/// A recorded mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkEntry {
    /// The instant that it is about, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// Where its chunk begins, in bytes from the beginning.
    pub offset: u64,
}

/// Recorded polls of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollsEntry {
    /// No poll began before this, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// Where its chunk begins, in bytes from the beginning.
    pub offset: u64,
}

/// Recorded events of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsEntry {
    /// When its first event happened, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// Where its chunk begins, in bytes from the beginning.
    pub offset: u64,
}

/// What of a recording cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Chunks that are damaged or cut off. Bytes without any header count as one.
    pub chunks: u64,
    /// Those of them that are known to be states: their headers are intact.
    pub states: u64,
    /// Bytes that were skipped.
    pub bytes: u64,
    /// Intact chunks beyond [`LARGEST_INDEX`].
    pub unlisted: u64,
}

impl Damage {
    /// Whether anything is missing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The chunks of a recording, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) states: Vec<StateEntry>,
    pub(crate) marks: Vec<MarkEntry>,
    pub(crate) polls: Vec<PollsEntry>,
    pub(crate) events: Vec<EventsEntry>,
    pub(crate) calls: Vec<EventsEntry>,
    /// Where the chunks of names begin.
    pub(crate) names: Vec<u64>,
    pub(crate) damage: Damage,
}

/// Whether the input begins as a recording of this version.
pub(crate) fn begins<R: Read + Seek>(input: &mut Input<R>) -> Result<(), RecordingError> {
    let begin = input.at(0, FILE_HEADER.len())?;
    let begin: Option<[u8; FILE_HEADER.len()]> = begin.try_into().ok();
    let begin = begin.filter(|begin| begin.starts_with(&FILE_MAGIC));
    let [.., low, high] = begin.ok_or(RecordingError::NoRecording)?;
    match u16::from_le_bytes([low, high]) {
        0 => Err(RecordingError::NoRecording),
        version if version > FORMAT_VERSION => Err(RecordingError::Newer { version }),
        _ => Ok(()),
    }
}

/// Lists the chunks from there on.
pub(crate) fn skim<R: Read + Seek>(
    input: &mut Input<R>,
    from: u64,
) -> Result<Index, RecordingError> {
    let mut index = Index::default();
    let mut at = from;
    let mut waste = input.len.saturating_mul(PATIENCE);
    while at < input.len {
        match look(input, at, &mut waste)? {
            Place::Whole(header, end) => {
                index.list(header, at);
                at = end;
            }
            // Files that were joined.
            Place::FileHeader => at += FILE_HEADER.len() as u64,
            Place::Damaged => at = recover(input, at, &mut waste, &mut index.damage)?,
        }
    }
    Ok(index)
}

/// What is at a place of the input.
enum Place {
    /// A chunk that ends there.
    Whole(ChunkHeader, u64),
    FileHeader,
    Damaged,
}

fn look<R: Read + Seek>(
    input: &mut Input<R>,
    at: u64,
    waste: &mut u64,
) -> Result<Place, RecordingError> {
    let Some(header) = header(input, at)? else {
        let begin = input.at(at, FILE_HEADER.len())?;
        return Ok(match begin == FILE_HEADER {
            true => Place::FileHeader,
            false => Place::Damaged,
        });
    };
    let body = at + HEADER_BYTES as u64;
    let end = body + u64::from(header.len);
    let fits = header.len as usize <= LARGEST_BODY && end <= input.len;
    if !fits || u64::from(header.len) > *waste {
        return Ok(Place::Damaged);
    }
    if input.checksum(body, end)? == header.crc {
        return Ok(Place::Whole(header, end));
    }
    *waste -= u64::from(header.len);
    Ok(Place::Damaged)
}

/// Counts what is damaged from a place on, and returns where the next intact chunk begins.
fn recover<R: Read + Seek>(
    input: &mut Input<R>,
    from: u64,
    waste: &mut u64,
    damage: &mut Damage,
) -> Result<u64, RecordingError> {
    let mut dropped = 0;
    let mut at = from;
    loop {
        if let Some(header) = header(input, at)? {
            dropped += 1;
            damage.states += u64::from(header.kind == ChunkKind::State);
        }
        let Some(next) = input.find(at + 1)? else {
            at = input.len;
            break;
        };
        at = next;
        if !matches!(look(input, at, waste)?, Place::Damaged) {
            break;
        }
    }
    damage.chunks += dropped.max(1);
    damage.bytes += at - from;
    Ok(at)
}

/// The header at a place, if one is there.
fn header<R: Read + Seek>(
    input: &mut Input<R>,
    at: u64,
) -> Result<Option<ChunkHeader>, RecordingError> {
    let bytes = input.at(at, HEADER_BYTES)?;
    Ok(bytes.try_into().ok().and_then(ChunkHeader::read))
}

impl Index {
    const fn count(&self) -> usize {
        let batches = self.polls.len() + self.events.len() + self.calls.len();
        self.states.len() + self.marks.len() + batches + self.names.len()
    }

    fn list(&mut self, header: ChunkHeader, offset: u64) {
        let ChunkHeader {
            kind,
            lost,
            at_unix_ns,
            ..
        } = header;
        if self.count() >= LARGEST_INDEX {
            self.damage.unlisted += 1;
            return;
        }
        match kind {
            ChunkKind::State => self.states.push(StateEntry {
                at_unix_ns,
                lost,
                offset,
            }),
            ChunkKind::Mark => self.marks.push(MarkEntry { at_unix_ns, offset }),
            ChunkKind::Polls => self.polls.push(PollsEntry { at_unix_ns, offset }),
            ChunkKind::Events => self.events.push(EventsEntry { at_unix_ns, offset }),
            ChunkKind::Calls => self.calls.push(EventsEntry { at_unix_ns, offset }),
            ChunkKind::Names => self.names.push(offset),
            // A later version has written it, and an older reader does not need it.
            ChunkKind::Other(_) => {}
        }
    }
}

/// Seekable bytes, of which one block is kept.
#[derive(Debug)]
pub(crate) struct Input<R> {
    inner: R,
    pub(crate) len: u64,
    block: Vec<u8>,
    /// Where the block begins.
    begin: u64,
}

impl<R: Read + Seek> Input<R> {
    pub(crate) fn new(mut inner: R) -> Result<Self, RecordingError> {
        let len = inner.seek(SeekFrom::End(0))?;
        Ok(Self {
            inner,
            len,
            block: Vec::new(),
            begin: 0,
        })
    }

    /// The same input, as long as it is borrowed.
    pub(crate) const fn by_ref(&mut self) -> Input<&mut R> {
        Input {
            inner: &mut self.inner,
            len: self.len,
            block: Vec::new(),
            begin: 0,
        }
    }

    /// The next bytes at a place, at most `count`; fewer at the end.
    fn at(&mut self, at: u64, count: usize) -> Result<&[u8], RecordingError> {
        let end = self.begin + self.block.len() as u64;
        let wanted = (at + count as u64).min(self.len);
        if at < self.begin || wanted > end {
            self.block.clear();
            self.begin = at;
            self.inner.seek(SeekFrom::Start(at))?;
            let room = self.len.saturating_sub(at).min(BLOCK as u64);
            (&mut self.inner).take(room).read_to_end(&mut self.block)?;
        }
        let from = usize::try_from(at - self.begin).unwrap_or(usize::MAX);
        let bytes = self.block.get(from..).unwrap_or(&[]);
        Ok(&bytes[..bytes.len().min(count)])
    }

    fn checksum(&mut self, from: u64, end: u64) -> Result<u32, RecordingError> {
        let mut hasher = crc32fast::Hasher::new();
        let mut at = from;
        while at < end {
            let left = usize::try_from(end - at).unwrap_or(BLOCK).min(BLOCK);
            let bytes = self.at(at, left)?;
            if bytes.is_empty() {
                // It has become shorter.
                break;
            }
            hasher.update(bytes);
            at += bytes.len() as u64;
        }
        Ok(hasher.finalize())
    }

    /// Where the next header or file header may begin.
    fn find(&mut self, from: u64) -> Result<Option<u64>, RecordingError> {
        let mut at = from;
        while at < self.len {
            let bytes = self.at(at, BLOCK)?;
            let found = bytes
                .windows(MARKER.len())
                .position(|four| four == MARKER || four == &FILE_MAGIC[..MARKER.len()]);
            if let Some(found) = found {
                return Ok(Some(at + found as u64));
            }
            if bytes.len() < MARKER.len() {
                return Ok(None);
            }
            // The first bytes of a marker may be the last ones of the block.
            at += (bytes.len() - (MARKER.len() - 1)) as u64;
        }
        Ok(None)
    }

    /// All bytes between two places, at most [`LARGEST_BODY`].
    pub(crate) fn body(&mut self, from: u64, len: u32) -> Result<Vec<u8>, RecordingError> {
        self.inner.seek(SeekFrom::Start(from))?;
        let left = self.len.saturating_sub(from).min(LARGEST_BODY as u64);
        let mut body = Vec::new();
        let room = left.min(u64::from(len));
        (&mut self.inner).take(room).read_to_end(&mut body)?;
        Ok(body)
    }

    /// The header at a place, which was intact before.
    pub(crate) fn header(&mut self, at: u64) -> Result<Option<ChunkHeader>, RecordingError> {
        header(self, at)
    }
}
