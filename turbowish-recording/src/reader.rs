//! Reading: the list of states, and one state at a time.

use std::io::{Read, Seek};
use std::sync::Arc;

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use turbowish_model::collect::call_events::RecordedCalls;
use turbowish_model::snapshot::Snapshot;
use turbowish_wire::framing;
use turbowish_wire::proto;

use crate::last_calls::LastCalls;
use crate::skim::{Index, Input, begins, skim};
use crate::{
    BodyFault, CallBatch, Damage, EventBatch, EventsEntry, FILE_HEADER, HEADER_BYTES,
    LARGEST_BATCH, LARGEST_BODY, LONGEST_MARK, MOST_CALL_EVENTS, MarkEntry, Names, PollBatch,
    PollsEntry, RecordingError, StateEntry,
};

/// A recording that was opened. It keeps the list of states, and decodes one when it is asked for.
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    index: Arc<Index>,
}

impl<R: Read + Seek> Reader<R> {
    /// Opens a file, or the bytes of one.
    ///
    /// # Errors
    /// It cannot be read, is not a recording, or was written by a newer version. Damage is not an
    /// error: see [`Self::damage`].
    pub fn open(input: R) -> Result<Self, RecordingError> {
        let mut input = Input::new(input)?;
        begins(&mut input)?;
        let index = skim(&mut input, FILE_HEADER.len() as u64)?.into();
        Ok(Self { input, index })
    }

    /// Opens chunks without a file header, as a process sends them.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn of_chunks(input: R) -> Result<Self, RecordingError> {
        let mut input = Input::new(input)?;
        let index = skim(&mut input, 0)?.into();
        Ok(Self { input, index })
    }

    /// A reader of the same recording, without listing its chunks again.
    #[must_use]
    pub fn by_ref(&mut self) -> Reader<&mut R> {
        Reader {
            input: self.input.by_ref(),
            index: Arc::clone(&self.index),
        }
    }

    /// The states, in the order in which they were recorded.
    #[must_use]
    pub fn states(&self) -> &[StateEntry] {
        &self.index.states
    }

    /// The marks, in the order in which they were recorded.
    #[must_use]
    pub fn marks(&self) -> &[MarkEntry] {
        &self.index.marks
    }

    /// What cannot be read.
    #[must_use]
    pub fn damage(&self) -> Damage {
        self.index.damage
    }

    /// The number of states that were due and were not recorded.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.states()
            .iter()
            .map(|state| u64::from(state.lost))
            .sum()
    }

    /// The state that shows an instant: the last one at or before it. `None` before the first one.
    #[must_use]
    pub fn at(&self, unix_ns: u64) -> Option<usize> {
        let mut states = self.states().iter();
        states.rposition(|state| state.at_unix_ns <= unix_ns)
    }

    /// Decodes a state, by its number in [`Self::states`].
    ///
    /// # Errors
    /// There is none of that number, it cannot be read, or it is not a state that this version
    /// knows.
    pub fn snapshot(&mut self, nth: usize) -> Result<Snapshot, RecordingError> {
        let state = self.states().get(nth);
        let offset = state.ok_or(RecordingError::NoChunk { nth })?.offset;
        let body = self.body(offset, LARGEST_BODY)?;
        let fault = |fault| RecordingError::Body { offset, fault };
        let message: proto::Snapshot =
            framing::decode(&body).map_err(|why| fault(BodyFault::Message(why)))?;
        Snapshot::try_from(message).map_err(|why| fault(BodyFault::Meaning(why)))
    }

    /// The text of a mark, by its number in [`Self::marks`].
    ///
    /// # Errors
    /// There is none of that number, it cannot be read, or it is not text.
    pub fn mark(&mut self, nth: usize) -> Result<String, RecordingError> {
        let mark = self.marks().get(nth);
        let offset = mark.ok_or(RecordingError::NoChunk { nth })?.offset;
        let body = self.body(offset, LONGEST_MARK)?;
        String::from_utf8(body).map_err(|_| RecordingError::Body {
            offset,
            fault: BodyFault::Text,
        })
    }

    /// The chunks of polls, in the order in which they were recorded. Those of one thread are in
    /// the order of their polls.
    #[must_use]
    pub fn polls(&self) -> &[PollsEntry] {
        &self.index.polls
    }

    /// Decodes a chunk of polls, by its number in [`Self::polls`].
    ///
    /// # Errors
    /// There is none of that number, it cannot be read, or it has something else.
    pub fn batch(&mut self, nth: usize) -> Result<PollBatch, RecordingError> {
        let polls = self.polls().get(nth);
        let PollsEntry { at_unix_ns, offset } = *polls.ok_or(RecordingError::NoChunk { nth })?;
        let body = self.body(offset, LARGEST_BATCH)?;
        let fault = BodyFault::Polls;
        PollBatch::read(at_unix_ns, &body).ok_or(RecordingError::Body { offset, fault })
    }

    /// The chunks of other events, in the order in which they were recorded.
    #[must_use]
    pub fn events(&self) -> &[EventsEntry] {
        &self.index.events
    }

    /// Decodes a chunk of events, by its number in [`Self::events`].
    ///
    /// # Errors
    /// There is none of that number, it cannot be read, or it has something else.
    pub fn event_batch(&mut self, nth: usize) -> Result<EventBatch, RecordingError> {
        let events = self.events().get(nth);
        let EventsEntry { at_unix_ns, offset } = *events.ok_or(RecordingError::NoChunk { nth })?;
        let body = self.body(offset, LARGEST_BATCH)?;
        let fault = BodyFault::Events;
        EventBatch::read(at_unix_ns, &body).ok_or(RecordingError::Body { offset, fault })
    }

    /// The chunks of events of calls, in the order in which they were recorded.
    #[must_use]
    pub fn calls(&self) -> &[EventsEntry] {
        &self.index.calls
    }

    /// The events of calls of the recording, with the ends of epochs and the gaps between them: of
    /// a long one the last [`MOST_CALL_EVENTS`]. All of them are in memory at once, 32 to 64 bytes
    /// for each. Chunks that cannot be read are gaps, and are counted.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn recorded_calls(&mut self) -> Result<(RecordedCalls, u64), RecordingError> {
        let (mut last, mut faults) = (LastCalls::new(MOST_CALL_EVENTS), 0);
        for EventsEntry { at_unix_ns, offset } in self.index.calls.clone() {
            match self.body(offset, LARGEST_BATCH) {
                Ok(body) => match CallBatch::read(at_unix_ns, &body) {
                    Some(batch) => last.add(batch.into()),
                    None => faults += 1,
                },
                Err(RecordingError::Body { .. }) => faults += 1,
                Err(other) => return Err(other),
            }
        }
        Ok((last.end(), faults))
    }

    /// Where the chunks of names begin, in bytes from the beginning.
    #[must_use]
    pub fn name_offsets(&self) -> &[u64] {
        &self.index.names
    }

    /// What the numbers in polls and events stand for: the names of the whole recording, wherever
    /// they are in it. Chunks that cannot be read define nothing, and are counted.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn names(&mut self) -> Result<(Names, u64), RecordingError> {
        let (mut names, mut faults) = (Names::default(), 0);
        for offset in self.index.names.clone() {
            match self.body(offset, LARGEST_BODY) {
                Ok(body) => faults += u64::from(!names.read(&body)),
                Err(RecordingError::Body { .. }) => faults += 1,
                Err(other) => return Err(other),
            }
        }
        Ok((names, faults))
    }

    /// The body of the chunk at this place, as it was before it was compressed, at most `limit`
    /// bytes.
    fn body(&mut self, offset: u64, limit: usize) -> Result<Vec<u8>, RecordingError> {
        let fault = |fault| RecordingError::Body { offset, fault };
        let header = self.input.header(offset)?;
        let header = header.ok_or_else(|| fault(BodyFault::Changed))?;
        if header.len as usize > limit {
            return Err(fault(BodyFault::TooLong { limit }));
        }
        let body = self.input.body(offset + HEADER_BYTES as u64, header.len)?;
        if body.len() != header.len as usize || crc32fast::hash(&body) != header.crc {
            return Err(fault(BodyFault::Changed));
        }
        match header.deflated {
            true => decompress_to_vec_with_limit(&body, limit).map_err(|why| {
                fault(match why.status {
                    TINFLStatus::HasMoreOutput => BodyFault::TooLong { limit },
                    _ => BodyFault::Deflate,
                })
            }),
            false => Ok(body),
        }
    }
}
