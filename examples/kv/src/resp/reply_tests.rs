//! Replies as bytes, and bytes as replies.

use super::{Received, Reply, parse_reply};
use crate::db::Blob;
use crate::resp::ProtocolError;

/// What is written is what is expected, and is read back as one whole reply wherever it is cut.
fn check(reply: &Reply, expected: &str) {
    let mut out = b"before".to_vec();
    reply.encode(&mut out);
    let bytes = &out["before".len()..];
    assert_eq!(
        bytes.escape_ascii().to_string(),
        expected.escape_default().to_string()
    );
    let received = Received {
        bytes: bytes.len(),
        is_error: matches!(reply, Reply::Error(_)),
    };
    assert_eq!(parse_reply(bytes), Ok(Some(received)));
    assert_eq!(
        parse_reply(&[bytes, b"+next\r\n"].concat()),
        Ok(Some(received))
    );
    for cut in 0..bytes.len() {
        assert_eq!(
            parse_reply(&bytes[..cut]),
            Ok(None),
            "{expected} cut at {cut}"
        );
    }
}

#[test]
fn replies_on_the_wire() {
    check(&Reply::OK, "+OK\r\n");
    check(&Reply::Error("ERR no".to_owned()), "-ERR no\r\n");
    check(&Reply::Error("ERR a\r\n+b".to_owned()), "-ERR a  +b\r\n");
    check(&Reply::Integer(0), ":0\r\n");
    check(&Reply::Integer(-12), ":-12\r\n");
    check(&Reply::Integer(i64::MAX), ":9223372036854775807\r\n");
    check(&Reply::Integer(i64::MIN), ":-9223372036854775808\r\n");
    check(&Reply::count(1_234_567), ":1234567\r\n");
    check(&Reply::text("text"), "$4\r\ntext\r\n");
    check(&Reply::text(""), "$0\r\n\r\n");
    check(&Reply::text("a\r\nb"), "$4\r\na\r\nb\r\n");
    check(&Reply::Null, "$-1\r\n");
    check(&Reply::NullArray, "*-1\r\n");
    check(&Reply::bulks(Vec::new()), "*0\r\n");
    check(
        &Reply::bulks(vec![Blob::from(*b"a"), Blob::from(*b"")]),
        "*2\r\n$1\r\na\r\n$0\r\n\r\n",
    );
    check(
        &Reply::Array(vec![
            Reply::optional(None),
            Reply::Array(vec![Reply::Integer(7)]),
        ]),
        "*2\r\n$-1\r\n*1\r\n:7\r\n",
    );
}

#[test]
fn bytes_that_are_no_reply() {
    let check =
        |bytes: &str, error| assert_eq!(parse_reply(bytes.as_bytes()), Err(error), "{bytes}");
    check("hello", ProtocolError::UnknownType(b'h'));
    check(":x\r\n", ProtocolError::Number);
    check("$x\r\n", ProtocolError::Number);
    check("$-2\r\n", ProtocolError::Number);
    check("$9223372036854775807\r\n", ProtocolError::Number);
    check("*1\r\n!\r\n", ProtocolError::UnknownType(b'!'));
    check(&"*1\r\n".repeat(9), ProtocolError::TooDeep);
    check(
        &format!("+{}", "x".repeat(70_000)),
        ProtocolError::LineTooLong,
    );
}
