//! Status of an answer, as gRPC has it: a code and a text, in the headers after the answer or in
//! its stead.

use http::{HeaderMap, HeaderValue};

/// The codes that this server uses, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Ok = 0,
    Cancelled = 1,
    InvalidArgument = 3,
    NotFound = 5,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    code: Code,
    text: String,
}

impl Status {
    pub(super) fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
        }
    }

    /// The end of an answer that is complete.
    pub(super) fn ok() -> Self {
        Self::new(Code::Ok, "")
    }

    /// Its headers.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-status", HeaderValue::from(self.code as u16));
        // An escaped text contains no character that a header must not have.
        if let Ok(text) = HeaderValue::from_maybe_shared(escaped(&self.text))
            && !text.is_empty()
        {
            headers.insert("grpc-message", text);
        }
        headers
    }
}

/// The text with `%` escapes, as the protocol wants it.
fn escaped(text: &str) -> bytes::Bytes {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' | ..=0x1f | 0x7f.. => {
                let digits = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
                escaped.push(b'%');
                escaped.extend(digits);
            }
            byte => escaped.push(byte),
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::{Code, Status};

    #[test]
    fn a_text_becomes_a_header() {
        for (text, expected) in [
            ("", None),
            ("no field `x`, {y}", Some("no field `x`, {y}")),
            ("100 %", Some("100 %25")),
            ("größer\nals\u{7f}", Some("gr%C3%B6%C3%9Fer%0Aals%7F")),
        ] {
            let headers = Status::new(Code::NotFound, text).headers();
            assert_eq!(headers["grpc-status"], "5");
            let header = headers.get("grpc-message");
            let header = header.map(|header| header.to_str().expect("it is ASCII"));
            assert_eq!(header, expected);
        }
    }
}
