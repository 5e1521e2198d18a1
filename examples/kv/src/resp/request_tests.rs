//! Streams of bytes and the requests in them, whole and cut at every place.

use super::{Limits, Request, Requests};
use crate::resp::ProtocolError;

const LIMITS: Limits = Limits {
    request_bytes: 1_000,
    arguments: 8,
    inline_bytes: 100,
};

/// The requests of a stream that arrives in these pieces, words joined by `|`, and what it ends with.
fn read(pieces: &[&[u8]]) -> (Vec<String>, Result<bool, ProtocolError>) {
    let mut requests = Requests::new(LIMITS);
    let mut found = Vec::new();
    for piece in pieces {
        requests.buffer(piece.len()).extend_from_slice(piece);
        loop {
            match requests.next() {
                Ok(Some(request)) => found.push(show(&request)),
                Ok(None) => break,
                Err(error) => {
                    requests.buffer(6).extend_from_slice(b"PING\r\n");
                    assert_eq!(requests.next(), Err(error.clone()), "errors are final");
                    return (found, Err(error));
                }
            }
        }
    }
    (found, Ok(requests.is_between()))
}

fn show(request: &Request) -> String {
    let words: Vec<String> = request
        .iter()
        .map(|word| word.escape_ascii().to_string())
        .collect();
    words.join("|")
}

/// The same requests come out of the whole stream, of two pieces cut anywhere, and of single bytes.
fn check(stream: &[u8], requests: &[&str], end: Result<bool, ProtocolError>) {
    let expected = (requests.iter().map(|&text| text.to_owned()).collect(), end);
    let name = stream.escape_ascii();
    assert_eq!(read(&[stream]), expected, "{name}");
    for cut in 0..=stream.len() {
        let (head, tail) = stream.split_at(cut);
        assert_eq!(read(&[head, tail]), expected, "{name} cut at {cut}");
    }
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(read(&bytes), expected, "{name} in single bytes");
}

#[test]
fn requests_in_arrays() {
    check(b"", &[], Ok(true));
    check(b"*1\r\n$4\r\nPING\r\n", &["PING"], Ok(true));
    check(b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", &["ECHO|"], Ok(true));
    check(
        b"*2\r\n$3\r\nGET\r\n$4\r\n\r\n*1\r\n",
        &["GET|\\r\\n*1"],
        Ok(true),
    );
    check(
        b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\nPING\r\n*1\r\n$4\r\nQUIT\r\n",
        &["GET|a", "PING", "PING", "QUIT"],
        Ok(true),
    );
    check(b"*0\r\n*1\r\n$4\r\nPING\r\n", &["PING"], Ok(true));
    check(b"*-1\r\n*1\r\n$4\r\nPING\r\n", &["PING"], Ok(true));
}

#[test]
fn a_request_that_is_not_all_there() {
    check(b"*", &[], Ok(false));
    check(b"*2\r\n", &[], Ok(false));
    check(b"*2\r\n$3\r\nGET\r\n", &[], Ok(false));
    check(b"*1\r\n$4\r\nPING\r", &[], Ok(false));
    check(b"*1\r\n$4\r\nPING\r\n*1\r\n$", &["PING"], Ok(false));
    check(b"PIN", &[], Ok(false));
}

#[test]
fn inline_requests() {
    check(b"PING\r\n", &["PING"], Ok(true));
    check(b"PING\n", &["PING"], Ok(true));
    check(b"\r\n\n  \r\nPING\r\n", &["PING"], Ok(true));
    check(b"  set  a\t1  \r\n", &["set|a|1"], Ok(true));
    check(b"set a \"two words\"\r\n", &["set|a|two words"], Ok(true));
    check(
        b"set a \"\\\"\\n\\x41\\\\\"\r\n",
        &["set|a|\\\"\\nA\\\\"],
        Ok(true),
    );
    check(b"set a 'it\\'s \\n'\r\n", &["set|a|it\\'s \\\\n"], Ok(true));
    check(b"set a \"\" ''\r\n", &["set|a||"], Ok(true));
    check(b"set a \"open\r\n", &[], Err(ProtocolError::Quotes));
    check(b"set a 'open\r\n", &[], Err(ProtocolError::Quotes));
    check(b"set a \"b\"c\r\n", &[], Err(ProtocolError::Quotes));
}

#[test]
fn errors_come_after_the_requests_before_them() {
    check(
        b"*1\r\n$4\r\nPING\r\n*x\r\n",
        &["PING"],
        Err(ProtocolError::ArgumentCount),
    );
    check(b"*1\r\n:1\r\n", &[], Err(ProtocolError::ExpectedBulk(b':')));
    check(b"*1\r\n*1\r\n", &[], Err(ProtocolError::ExpectedBulk(b'*')));
    check(b"*\r\n", &[], Err(ProtocolError::ArgumentCount));
    check(b"*1 \r\n", &[], Err(ProtocolError::ArgumentCount));
    check(b"*1\r\n$-1\r\n", &[], Err(ProtocolError::BulkLength));
    check(b"*1\r\n$x\r\n", &[], Err(ProtocolError::BulkLength));
    check(
        b"*1\r\n$4\r\nPINGPONG",
        &[],
        Err(ProtocolError::Unterminated),
    );
}

#[test]
fn limits_hold_before_the_bytes_arrive() {
    check(b"*8\r\n", &[], Ok(false));
    check(b"*9\r\n", &[], Err(ProtocolError::ArgumentCount));
    check(
        b"*9223372036854775807\r\n",
        &[],
        Err(ProtocolError::ArgumentCount),
    );
    check(b"*1\r\n$1000\r\n", &[], Ok(false));
    check(b"*1\r\n$1001\r\n", &[], Err(ProtocolError::TooLarge(1_000)));
    check(
        b"*2\r\n$1\r\na\r\n$1000\r\n",
        &[],
        Err(ProtocolError::TooLarge(1_000)),
    );
    check(
        b"*1\r\n$9223372036854775807\r\n",
        &[],
        Err(ProtocolError::TooLarge(1_000)),
    );
    check(&[b'*'; 64], &[], Err(ProtocolError::LineTooLong));
    check(&[b'a'; 99], &[], Ok(false));
    check(&[b'a'; 100], &[], Err(ProtocolError::LineTooLong));
}

#[test]
fn every_request_has_the_whole_limit() {
    let mut stream = b"*1\r\n$900\r\n".to_vec();
    stream.extend_from_slice(&[b'x'; 900]);
    stream.extend_from_slice(b"\r\n");
    let twice = stream.repeat(2);
    let expected = vec!["x".repeat(900); 2];
    assert_eq!(read(&[&twice]), (expected, Ok(true)));
}

#[test]
fn an_empty_buffer_gives_back_what_one_large_request_needed() {
    let limits = Limits {
        request_bytes: 1 << 20,
        ..LIMITS
    };
    let mut requests = Requests::new(limits);
    let mut stream = b"*1\r\n$1000000\r\n".to_vec();
    stream.resize(stream.len() + 1_000_000, b'x');
    stream.extend_from_slice(b"\r\n");
    requests.buffer(stream.len()).extend_from_slice(&stream);
    let request = requests.next().expect("no error").expect("all there");
    assert_eq!(request[0].len(), 1_000_000);
    assert!(requests.buffer(100).capacity() < 100_000);
}
