//! A client connection: requests run in order; those that arrived together are answered in one
//! write.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::command::{self, Command};
use crate::resp::{ProtocolError, Reply, Request, Requests};
use crate::server::Shared;

/// Room made for one read.
const READ: usize = 16 * 1024;

/// Replies are sent when there are so many bytes of them, also in the middle of a pipeline.
const FLUSH: usize = 64 * 1024;

/// How long, and for how many bytes, a client that broke the protocol is still listened to.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 1024 * 1024;

/// Why a connection ended before its client was done.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The network, or a client that left in the middle of a request.
    Io(io::Error),
    /// The client does not speak RESP2.
    Protocol(ProtocolError),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Io(error) => error.fmt(f),
            Broken::Protocol(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Broken {}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Io(error)
    }
}

impl From<ProtocolError> for Broken {
    fn from(error: ProtocolError) -> Broken {
        Broken::Protocol(error)
    }
}

/// A client's stream and what is on its way in and out.
pub(crate) struct Connection {
    stream: TcpStream,
    requests: Requests,
    /// Encoded replies that have not been sent.
    replies: Vec<u8>,
    /// Percent by which sending them takes longer.
    slower: u32,
}

/// Serves a client until it leaves or says `QUIT`. A protocol error is told to the client before it is returned.
#[turbowish::instrument]
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>) -> Result<(), Broken> {
    stream.set_nodelay(true)?;
    let mut connection = Connection {
        stream,
        requests: Requests::new(shared.limits()),
        replies: Vec::new(),
        slower: shared.config.slower_replies,
    };
    loop {
        let mut next = match read_frame(&mut connection).await {
            Ok(None) => return Ok(()),
            Ok(request) => request,
            Err(broken) => return part(connection, broken).await,
        };
        while let Some(request) = next {
            let command = command::parse(request);
            turbowish::counter!("commands");
            let quits = command == Ok(Command::Quit);
            let reply = match command {
                Ok(command) => command::apply(command, &shared).await,
                Err(refusal) => Err(refusal),
            };
            reply
                .unwrap_or_else(|refusal| Reply::Error(refusal.to_string()))
                .encode(&mut connection.replies);
            if quits {
                return Ok(write_reply(&mut connection).await?);
            }
            if connection.replies.len() >= FLUSH {
                write_reply(&mut connection).await?;
            }
            // An error comes again from the next read, when the replies before it have been sent.
            next = connection.requests.next().unwrap_or(None);
        }
        write_reply(&mut connection).await?;
    }
}

/// The next request; `None`: the client has left, between two requests.
#[turbowish::instrument]
pub(crate) async fn read_frame(connection: &mut Connection) -> Result<Option<Request>, Broken> {
    loop {
        if let Some(request) = connection.requests.next()? {
            return Ok(Some(request));
        }
        let buffer = connection.requests.buffer(READ);
        if connection.stream.read_buf(buffer).await? == 0 {
            return match connection.requests.is_between() {
                true => Ok(None),
                false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            };
        }
    }
}

/// Sends all replies that wait.
#[turbowish::instrument]
pub(crate) async fn write_reply(connection: &mut Connection) -> io::Result<()> {
    let begin = Instant::now();
    connection.stream.write_all(&connection.replies).await?;
    take_longer(begin, connection.slower);
    turbowish::counter!("bytes sent", connection.replies.len());
    connection.replies.clear();
    connection.replies.shrink_to(2 * FLUSH);
    Ok(())
}

/// Computes until so many percent more time have passed since `begin`.
fn take_longer(begin: Instant, percent: u32) {
    let end = begin + begin.elapsed() * (100 + percent) / 100;
    while percent > 0 && Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Tells a client why it is left, and hands the reason back.
///
/// What the client still sends is thrown away for a moment: closing with unread bytes would reset the
/// connection and take the reply with it.
#[turbowish::instrument]
async fn part(mut connection: Connection, broken: Broken) -> Result<(), Broken> {
    if let Broken::Protocol(error) = &broken {
        Reply::Error(format!("ERR {error}")).encode(&mut connection.replies);
        write_reply(&mut connection).await?;
        connection.stream.shutdown().await?;
        let mut rest = connection.stream.take(LINGER_BYTES);
        let mut nowhere = tokio::io::sink();
        let discarded = tokio::io::copy(&mut rest, &mut nowhere);
        // Neither the time that runs out nor a client that is gone changes the reason.
        let _ = tokio::time::timeout(LINGER, discarded).await;
    }
    Err(broken)
}
