//! Encoding of the model's types as messages, without the message types in between: with those, and
//! prost's functions of each, every program was 165 KB larger.
//!
//! One function of each type writes its fields, and counts their bytes.

use crate::proto;

/// A type of the model that is a message.
pub trait Encode {
    /// Writes its fields.
    fn encode(&self, output: &mut Output);
}

/// Where fields are written.
#[derive(Debug)]
pub struct Output {
    length: usize,
    /// Longer ones are only counted.
    most: usize,
    /// `None`: the bytes are only counted.
    written: Option<Vec<u8>>,
}

/// Bytes of an encoded message.
#[must_use]
pub fn size(message: &dyn Encode) -> usize {
    let mut output = Output::new(None);
    message.encode(&mut output);
    output.length
}

/// Writes a message behind `head`, into memory that has room for both.
pub(crate) fn append(head: Vec<u8>, message: &dyn Encode) -> Vec<u8> {
    let mut output = Output::new(Some(head));
    message.encode(&mut output);
    output.written.unwrap_or_default()
}

/// A message by itself, which is probably about as long as `usual`; `None` if it is longer than
/// `most`. Its bytes are not counted before.
#[must_use]
pub fn message(message: &dyn Encode, usual: usize, most: usize) -> Option<Vec<u8>> {
    let mut output = Output {
        most,
        ..Output::new(Some(Vec::with_capacity(usual.min(most))))
    };
    message.encode(&mut output);
    output.written
}

/// Wire types.
const VARINT: u32 = 0;
const LENGTH_DELIMITED: u32 = 2;

/// The longest variable-length number, in bytes.
const VARINT_BYTES: usize = 10;

/// A variable-length number, and its length.
fn varint(mut value: u64) -> ([u8; VARINT_BYTES], usize) {
    let mut bytes = [0; VARINT_BYTES];
    let mut length = 0;
    while value >= 0x80 {
        bytes[length] = value as u8 | 0x80;
        value >>= 7;
        length += 1;
    }
    bytes[length] = value as u8;
    (bytes, length + 1)
}

impl Output {
    const fn new(written: Option<Vec<u8>>) -> Self {
        let length = match &written {
            Some(head) => head.len(),
            None => 0,
        };
        Self {
            length,
            most: usize::MAX,
            written,
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        if self.length > self.most {
            self.written = None;
        }
        if let Some(written) = &mut self.written {
            written.extend_from_slice(bytes);
        }
    }

    #[inline(never)]
    fn varint(&mut self, value: u64) {
        let (bytes, length) = varint(value);
        self.put(&bytes[..length]);
    }

    fn head(&mut self, field: u32, wire: u32) {
        self.varint((field << 3 | wire).into());
    }

    #[inline(never)]
    fn number(&mut self, field: u32, value: u64) {
        self.head(field, VARINT);
        self.varint(value);
    }

    #[inline(never)]
    fn number_unless_0(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.number(field, value);
        }
    }

    #[inline(never)]
    fn text_unless_empty(&mut self, field: u32, text: &str) {
        if !text.is_empty() {
            self.text(field, text);
        }
    }

    #[inline(never)]
    fn text(&mut self, field: u32, text: &str) {
        self.head(field, LENGTH_DELIMITED);
        self.varint(text.len() as u64);
        self.put(text.as_bytes());
    }

    /// Begins a nested message; returns where it begins, behind a byte for its length.
    #[inline(never)]
    fn open(&mut self, field: u32) -> usize {
        self.head(field, LENGTH_DELIMITED);
        self.put(&[0]);
        self.length
    }

    /// Ends the nested message that begins there: its length is known now, and goes in front. If
    /// that has more than a byte, the message moves.
    #[inline(never)]
    fn close(&mut self, begin: usize) {
        let end = self.length;
        let (bytes, length) = varint((end - begin) as u64);
        self.put(&bytes[1..length]);
        if let Some(written) = &mut self.written {
            if length > 1 {
                written.copy_within(begin..end, begin + length - 1);
            }
            written[begin - 1..][..length].copy_from_slice(&bytes[..length]);
        }
    }
}

/// What goes before the bytes of a field that is text, bytes or a message.
pub(crate) fn length_delimited(field: u32, bytes: usize) -> Vec<u8> {
    let mut output = Output::new(Some(Vec::new()));
    output.head(field, LENGTH_DELIMITED);
    output.varint(bytes as u64);
    output.written.unwrap_or_default()
}

/// The number of a message's field.
pub(crate) const fn number_of(fields: &[(&str, u32)], name: &str) -> u32 {
    let mut nth = 0;
    while nth < fields.len() {
        if is_same(fields[nth].0.as_bytes(), name.as_bytes()) {
            return fields[nth].1;
        }
        nth += 1;
    }
    panic!("the message has no such field")
}

const fn is_same(left: &[u8], right: &[u8]) -> bool {
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}

/// A value of the model that is a field of a message.
pub(crate) trait AsField {
    /// Writes it, unless it is the default of its type or absent.
    fn put(&self, field: u32, output: &mut Output);

    /// Writes it, whatever it is: an optional value that is there, or one of many.
    fn put_present(&self, field: u32, output: &mut Output);

    /// Writes a list.
    fn put_all(values: &[Self], field: u32, output: &mut Output)
    where
        Self: Sized,
    {
        for value in values {
            value.put_present(field, output);
        }
    }
}

impl AsField for u64 {
    fn put(&self, field: u32, output: &mut Output) {
        output.number_unless_0(field, *self);
    }

    fn put_present(&self, field: u32, output: &mut Output) {
        output.number(field, *self);
    }

    fn put_all(values: &[Self], field: u32, output: &mut Output) {
        Packed(values, |value| *value).put(field, output);
    }
}

/// A list of numbers: one of each element.
pub(crate) struct Packed<'v, T>(pub(crate) &'v [T], pub(crate) fn(&T) -> u64);

impl<T> AsField for Packed<'_, T> {
    fn put(&self, field: u32, output: &mut Output) {
        if !self.0.is_empty() {
            self.put_present(field, output);
        }
    }

    fn put_present(&self, field: u32, output: &mut Output) {
        let begin = output.open(field);
        for value in self.0 {
            output.varint(self.1(value));
        }
        output.close(begin);
    }
}

/// Values that are written as another one.
macro_rules! as_another {
    ($($type:ty: $value:ident => $other:expr;)+) => {$(
        impl $crate::encode::AsField for $type {
            fn put(&self, field: u32, output: &mut $crate::encode::Output) {
                let $value = self;
                $crate::encode::AsField::put(&$other, field, output);
            }

            fn put_present(&self, field: u32, output: &mut $crate::encode::Output) {
                let $value = self;
                $crate::encode::AsField::put_present(&$other, field, output);
            }
        }
    )+};
}

pub(crate) use as_another;

as_another! {
    bool: value => u64::from(*value);
    u32: value => u64::from(*value);
    // As `sint64`: small numbers are short, whatever their sign.
    i64: value => ((value << 1) ^ (value >> 63)).cast_unsigned();
    String: value => **value;
}

impl AsField for str {
    fn put(&self, field: u32, output: &mut Output) {
        output.text_unless_empty(field, self);
    }

    fn put_present(&self, field: u32, output: &mut Output) {
        output.text(field, self);
    }
}

impl<V: AsField> AsField for Option<V> {
    fn put(&self, field: u32, output: &mut Output) {
        if let Some(value) = self {
            value.put_present(field, output);
        }
    }

    /// One of many that may be absent: an end of a channel, and its last user.
    fn put_present(&self, field: u32, output: &mut Output) {
        let begin = output.open(field);
        self.put(const { number_of(proto::End::FIELDS, "task") }, output);
        output.close(begin);
    }
}

impl<V: AsField> AsField for Vec<V> {
    fn put(&self, field: u32, output: &mut Output) {
        V::put_all(self, field, output);
    }

    fn put_present(&self, field: u32, output: &mut Output) {
        V::put_all(self, field, output);
    }
}

/// A message is written even if all of its fields are defaults.
impl<M: Encode> AsField for M {
    fn put(&self, field: u32, output: &mut Output) {
        self.put_present(field, output);
    }

    fn put_present(&self, field: u32, output: &mut Output) {
        let begin = output.open(field);
        self.encode(output);
        output.close(begin);
    }
}

/// `put!(output, Spot { file line } and { column: &7 })`: writes variables of these names, and
/// other values, as fields of a message.
macro_rules! put {
    ($output:ident, $sent:ident { $($field:ident)+ } $(and { $($own:ident: $value:expr),+ })?) => {
        $($crate::encode::AsField::put(
            $field,
            const { $crate::encode::number_of($crate::proto::$sent::FIELDS, stringify!($field)) },
            $output,
        );)+
        $($($crate::encode::AsField::put(
            $value,
            const { $crate::encode::number_of($crate::proto::$sent::FIELDS, stringify!($own)) },
            $output,
        );)+)?
    };
}

pub(crate) use put;

#[cfg(test)]
mod tests {
    use super::{AsField, Output, Packed};

    /// The length of what is nested goes in front of it, in one byte or more.
    #[test]
    fn each_nested_message_has_its_length_in_front() {
        for (count, length) in [
            (1, &[1][..]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 1]),
            (2_097_152, &[0x80, 0x80, 0x80, 1]),
        ] {
            let values = vec![5; count];
            let mut output = Output::new(Some(vec![9]));
            Packed(&values, |value: &u64| *value).put(3, &mut output);
            let written = output.written.expect("no bound");
            assert_eq!(output.length, written.len());
            let (head, nested) = written.split_at(2 + length.len());
            assert_eq!(head, [&[9, 3 << 3 | 2], length].concat(), "{count}");
            assert_eq!(nested, vec![5; count], "{count}");
        }
    }
}
