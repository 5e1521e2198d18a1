//! Framing of messages: a length prefix and the message, in memory of exactly their size.

use prost::Message;

use crate::{MESSAGE_LIMIT, proto};

/// Bytes in front of a message: the compression flag and the length.
const HEAD_BYTES: usize = 5;

/// Encodes a snapshot with its prefix; `None` if it is larger than a console accepts.
#[must_use]
pub fn frame(snapshot: &proto::Snapshot) -> Option<Vec<u8>> {
    let length = snapshot.encoded_len();
    let head = u32::try_from(length)
        .ok()
        .filter(|_| length <= MESSAGE_LIMIT)?;
    let mut frame = Vec::with_capacity(HEAD_BYTES + length);
    frame.push(0);
    frame.extend(head.to_be_bytes());
    // A vector grows, so there is always room.
    snapshot.encode_raw(&mut frame);
    Some(frame)
}

/// Bytes of an encoded snapshot.
#[must_use]
pub fn size(snapshot: &proto::Snapshot) -> usize {
    snapshot.encoded_len()
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::{HEAD_BYTES, frame};
    use crate::{MESSAGE_LIMIT, proto};

    fn with_command(bytes: usize) -> proto::Snapshot {
        let process = proto::Process {
            command: "x".repeat(bytes),
            ..proto::Process::default()
        };
        proto::Snapshot {
            process: Some(process),
            ..proto::Snapshot::default()
        }
    }

    #[test]
    fn a_frame_is_a_length_and_a_message() {
        let snapshot = with_command(300);
        let frame = frame(&snapshot).unwrap();
        let (head, message) = frame.split_at(HEAD_BYTES);
        assert_eq!(head, [0, 0, 0, 1, 50]);
        assert_eq!(proto::Snapshot::decode(message).unwrap(), snapshot);
        assert_eq!(frame.capacity(), frame.len());
    }

    #[test]
    fn what_no_console_takes_has_no_frame() {
        assert_eq!(frame(&with_command(MESSAGE_LIMIT)), None);
    }
}
