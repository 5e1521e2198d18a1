//! Decoded size of a message, computed before decoding: a row of two bytes on the wire takes a
//! thousand in memory.
//!
//! The generated code describes the [`Shape`] of each message. [`weigh`] walks over the bytes along
//! it, allocates nothing, and adds up what decoding would allocate, including vectors that double
//! as they grow.

use std::error::Error;
use std::fmt;

use crate::DECODED_LIMIT;

/// Memory layout of a decoded message.
#[derive(Debug)]
pub struct Shape {
    /// Size of the message itself, in bytes.
    pub bytes: usize,
    /// Its fields that hold more than a number or a single string, by field number.
    pub fields: &'static [(u32, Field)],
}

/// A field that holds messages, or many values.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// One message, inside its parent.
    One(fn() -> &'static Shape),
    /// A vector of messages.
    Many(fn() -> &'static Shape),
    /// A vector of numbers.
    Numbers,
    /// A vector of strings.
    Texts,
}

/// A message with a known shape.
pub trait Weighed {
    /// The shape of the message.
    fn shape() -> &'static Shape;
}

/// Error: decoding would take more than [`DECODED_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overweight;

impl fmt::Display for Overweight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} MiB once decoded", DECODED_LIMIT >> 20)
    }
}

impl Error for Overweight {}

/// Smallest block of the allocator, in bytes.
const BLOCK_BYTES: usize = 32;

/// Maximum nesting depth of messages in this protocol.
const DEPTH: u32 = 64;

/// Subtracts the decoded size of a message from a budget of bytes and returns the rest. Bytes that
/// are not a message count nothing: the decoder stops where they begin.
///
/// # Errors
/// If the budget is exceeded.
pub fn weigh(message: &[u8], shape: &Shape, budget: usize) -> Result<usize, Overweight> {
    let mut scale = Scale { left: budget };
    scale.put(message, shape, DEPTH)?;
    Ok(scale.left)
}

struct Scale {
    left: usize,
}

impl Scale {
    fn take(&mut self, bytes: usize) -> Result<(), Overweight> {
        self.left = self.left.checked_sub(bytes).ok_or(Overweight)?;
        Ok(())
    }

    fn put(&mut self, mut rest: &[u8], shape: &Shape, depth: u32) -> Result<(), Overweight> {
        let depth = depth.checked_sub(1).ok_or(Overweight)?;
        let mut before = 0;
        while let Some((number, value)) = field(&mut rest) {
            let known = shape.fields.iter().find(|(known, _)| *known == number);
            match (known.map(|(_, field)| field), value) {
                (_, Value::Group) => return Err(Overweight),
                (Some(Field::One(shape)), Value::Bytes(bytes)) => {
                    self.put(bytes, shape(), depth)?
                }
                (Some(Field::Many(shape)), Value::Bytes(bytes)) => {
                    self.take(in_vector(shape().bytes, number == before))?;
                    self.put(bytes, shape(), depth)?;
                }
                (Some(Field::Numbers), Value::Bytes(bytes)) => {
                    let ends = bytes.iter().filter(|byte| **byte < 0x80).count();
                    self.take(BLOCK_BYTES + ends.saturating_mul(2 * size_of::<u64>()))?;
                }
                (Some(Field::Numbers), Value::Number) => {
                    self.take(in_vector(size_of::<u64>(), number == before))?;
                }
                (Some(Field::Texts), Value::Bytes(bytes)) => {
                    self.take(in_vector(size_of::<String>(), number == before))?;
                    self.take(BLOCK_BYTES + bytes.len())?;
                }
                (None, Value::Bytes(bytes)) => self.take(BLOCK_BYTES + bytes.len())?,
                (_, Value::Number) => {}
            }
            before = number;
        }
        Ok(())
    }
}

/// Memory of one more element of a vector: up to twice its elements, and four elements as soon as
/// it holds one.
fn in_vector(element: usize, has_others: bool) -> usize {
    if has_others {
        2 * element
    } else {
        4 * element + BLOCK_BYTES
    }
}

enum Value<'m> {
    Number,
    Bytes(&'m [u8]),
    /// Not in messages of proto3.
    Group,
}

/// The next field; `None` at the end, and where the remaining bytes are not a field.
fn field<'m>(rest: &mut &'m [u8]) -> Option<(u32, Value<'m>)> {
    let key = varint(rest)?;
    let number = u32::try_from(key >> 3).ok()?;
    let value = match key & 7 {
        0 => varint(rest).map(|_| Value::Number),
        1 => skip(rest, 8).map(|_| Value::Number),
        2 => {
            let length = varint(rest)?;
            skip(rest, usize::try_from(length).ok()?).map(Value::Bytes)
        }
        5 => skip(rest, 4).map(|_| Value::Number),
        _ => Some(Value::Group),
    }?;
    Some((number, value))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..10 {
        let byte = skip(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn skip<'m>(rest: &mut &'m [u8], bytes: usize) -> Option<&'m [u8]> {
    let (skipped, left) = rest.split_at_checked(bytes)?;
    *rest = left;
    Some(skipped)
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::{Overweight, Weighed, weigh};
    use crate::DECODED_LIMIT;
    use crate::proto::{Distribution, ProcRow, Snapshot, StackRow, TaskPage, TaskRow};

    fn weight(message: &[u8]) -> Result<usize, Overweight> {
        let left = weigh(message, Snapshot::shape(), DECODED_LIMIT)?;
        Ok(DECODED_LIMIT - left)
    }

    /// A field of bytes, `number` below 16.
    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        let mut field = vec![number << 3 | 2];
        prost::encode_length_delimiter(content.len(), &mut field).unwrap();
        field.extend(content);
        field
    }

    #[test]
    fn rows_of_two_bytes_weigh_what_they_take() {
        const ROWS: usize = 1_000;
        let page = bytes(1, &[]).repeat(ROWS);
        let message = bytes(9, &page);
        assert!(message.len() < 2 * ROWS + 10);
        let decoded = Snapshot::decode(&*message).unwrap();
        let rows = decoded.tasks.unwrap().rows;
        assert_eq!(rows.len(), ROWS);
        let taken = rows.capacity() * size_of::<TaskRow>();
        let weight = weight(&message).unwrap();
        assert!((taken..3 * taken).contains(&weight), "{weight} for {taken}");
        let many = bytes(9, &bytes(1, &[]).repeat(1_000_000));
        assert_eq!(
            super::weigh(&many, Snapshot::shape(), DECODED_LIMIT),
            Err(Overweight)
        );
    }

    #[test]
    fn numbers_of_one_byte_weigh_what_they_take() {
        let packed = bytes(4, &vec![1; 30 << 20]);
        assert_eq!(weight(&bytes(14, &packed)), Err(Overweight));
        let single = [4 << 3, 1].repeat(20 << 20);
        assert_eq!(weight(&bytes(14, &single)), Err(Overweight));
    }

    #[test]
    fn what_is_no_message_is_left_to_the_decoder() {
        for broken in [&[0x80][..], &[0x4a, 0x05], &[0xff; 30], &[0x4a]] {
            assert_eq!(weight(broken), Ok(0), "{broken:?}");
            assert!(Snapshot::decode(broken).is_err());
        }
        assert_eq!(weight(&[0x4b]), Err(Overweight), "a group");
    }

    /// The rows that a process sends by default, each longer than any seen in practice.
    #[test]
    fn the_largest_page_is_light() {
        let text = || "x".repeat(120);
        let call = StackRow {
            proc: text(),
            ..StackRow::default()
        };
        let task = TaskRow {
            name: text(),
            root: text(),
            stack: vec![call; 12],
            ..TaskRow::default()
        };
        let histogram = Distribution {
            upper_ns: (1..100).collect(),
            count: vec![1 << 20; 99],
            ..Distribution::default()
        };
        let proc = ProcRow {
            proc: text(),
            file: text(),
            call_running: Some(histogram.clone()),
            call_inclusive: Some(histogram.clone()),
            call_wall: Some(histogram.clone()),
            poll_hold: Some(histogram.clone()),
            poll_running: Some(histogram),
            ..ProcRow::default()
        };
        let snapshot = Snapshot {
            tasks: Some(TaskPage {
                rows: vec![task; 10_000],
                ..TaskPage::default()
            }),
            procs: Some(crate::proto::ProcPage {
                rows: vec![proc; 2_000],
                ..crate::proto::ProcPage::default()
            }),
            ..Snapshot::default()
        };
        let message = snapshot.encode_to_vec();
        assert!(
            message.len() < crate::MESSAGE_LIMIT / 2,
            "{}",
            message.len()
        );
        let weight = weight(&message).unwrap();
        assert!(weight < DECODED_LIMIT * 3 / 4, "{} MiB", weight >> 20);
    }
}
