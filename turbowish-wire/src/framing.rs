//! Framing of messages, as gRPC has it: a length prefix and the message, in memory of exactly
//! their size.

use std::fmt;

use prost::Message;

use crate::encode::{self, Encode};
use crate::proto::PastReply;
use crate::weight::{Overweight, Weighed, weigh};
use crate::{DECODED_LIMIT, MESSAGE_LIMIT};

/// Bytes in front of a message: the compression flag and the length.
pub const HEAD_BYTES: usize = 5;

/// Encodes a message with its prefix; `None` if it is larger than a console accepts.
#[must_use]
pub fn frame(message: &dyn Encode) -> Option<Vec<u8>> {
    let length = encode::size(message);
    let head = u32::try_from(length)
        .ok()
        .filter(|_| length <= MESSAGE_LIMIT)?;
    let mut frame = Vec::with_capacity(HEAD_BYTES + length);
    frame.push(0);
    frame.extend(head.to_be_bytes());
    Some(encode::append(frame, message))
}

/// What goes before chunks of a recording, so that both together are the frame of a
/// `turbowish.v1.PastReply`; `None` if that is larger than a console accepts. The chunks are not
/// copied.
#[must_use]
pub fn head_of_past(chunks: usize) -> Option<Vec<u8>> {
    let fields = encode::length_delimited(
        const { encode::number_of(PastReply::FIELDS, "chunks") },
        chunks,
    );
    let length = fields.len() + chunks;
    let length = u32::try_from(length)
        .ok()
        .filter(|_| length <= MESSAGE_LIMIT)?;
    let mut head = Vec::with_capacity(HEAD_BYTES + fields.len());
    head.push(0);
    head.extend(length.to_be_bytes());
    head.extend(fields);
    Some(head)
}

/// Why a frame contains no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It ends before its message, or goes on behind it.
    Length,
    /// Its message is compressed, or begins with an unknown flag.
    Flag(u8),
    /// Its message would take too much memory.
    Heavy(Overweight),
    /// Its message is none of this kind.
    Message(prost::DecodeError),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("one message is expected, with its length"),
            Self::Flag(flag) => write!(f, "compression flag {flag} is not supported"),
            Self::Heavy(fault) => fault.fmt(f),
            Self::Message(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Unreadable {}

/// Decodes the only message of a frame.
///
/// # Errors
/// If it is not exactly one message of this kind, or too large once decoded.
pub fn message<M: Message + Weighed + Default>(frame: &[u8]) -> Result<M, Unreadable> {
    let (&[flag, ref length @ ..], message) = frame
        .split_first_chunk::<HEAD_BYTES>()
        .ok_or(Unreadable::Length)?;
    if flag != 0 {
        return Err(Unreadable::Flag(flag));
    }
    let length = usize::try_from(u32::from_be_bytes(*length));
    if length != Ok(message.len()) {
        return Err(Unreadable::Length);
    }
    decode(message)
}

/// Decodes a message that has no prefix, as a recording has it.
///
/// # Errors
/// If it is not a message of this kind, or too large once decoded.
pub fn decode<M: Message + Weighed + Default>(message: &[u8]) -> Result<M, Unreadable> {
    weigh(message, M::shape(), DECODED_LIMIT).map_err(Unreadable::Heavy)?;
    M::decode(message).map_err(Unreadable::Message)
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use turbowish_model::event::EventClasses;
    use turbowish_model::snapshot::Process;

    use super::{HEAD_BYTES, Unreadable, frame, head_of_past, message};
    use crate::convert::Controlled;
    use crate::{MESSAGE_LIMIT, proto};

    fn with_command(bytes: usize) -> Controlled {
        let process = Process {
            command: "x".repeat(bytes),
            ..Process::default()
        };
        Controlled {
            process,
            recorded_before: Some(EventClasses::DEFAULT),
        }
    }

    fn as_message(reply: Controlled) -> proto::ControlReply {
        proto::ControlReply {
            process: Some(reply.process.into()),
            recorded_before: reply.recorded_before.map(|classes| classes.bits().into()),
        }
    }

    #[test]
    fn a_frame_is_a_length_and_a_message() {
        let reply = with_command(300);
        let frame = frame(&reply).unwrap();
        let (head, message) = frame.split_at(HEAD_BYTES);
        assert_eq!(head, [0, 0, 0, 1, 54]);
        let decoded = proto::ControlReply::decode(message).unwrap();
        assert_eq!(decoded, as_message(reply));
        assert_eq!(frame.capacity(), frame.len());
    }

    #[test]
    fn a_frame_holds_exactly_one_message() {
        let reply = with_command(300);
        let whole = frame(&reply).unwrap();
        let read = |frame: &[u8]| message::<proto::ControlReply>(frame);
        assert_eq!(read(&whole), Ok(as_message(reply)));
        let head = [0, 0, 0, 0];
        for cut in [&whole[..4], &whole[..whole.len() - 1], &head, &[]] {
            assert_eq!(read(cut), Err(Unreadable::Length), "{} bytes", cut.len());
        }
        let more = [whole.as_slice(), &[0]].concat();
        assert_eq!(read(&more), Err(Unreadable::Length));
        let flagged = [&[1], &whole[1..]].concat();
        assert_eq!(read(&flagged), Err(Unreadable::Flag(1)));
        let junk = [0, 0, 0, 0, 1, 0xff];
        assert!(matches!(read(&junk), Err(Unreadable::Message(_))));
    }

    #[test]
    fn chunks_behind_their_head_are_a_reply() {
        for length in [0, 1, 127, 128, 70_000] {
            let chunks = vec![0x5a; length];
            let whole = [head_of_past(length).unwrap(), chunks.clone()].concat();
            assert_eq!(message(&whole), Ok(proto::PastReply { chunks }));
        }
    }

    #[test]
    fn what_no_console_takes_has_no_frame() {
        assert_eq!(frame(&with_command(MESSAGE_LIMIT)), None);
        assert_eq!(head_of_past(MESSAGE_LIMIT), None);
    }
}
