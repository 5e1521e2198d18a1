//! One connection, over HTTP/2: its requests are answered beside each other, and it is pinged while
//! it is silent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Ping, PingPong, RecvStream, SendStream};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::time::{Instant, Sleep};
use turbowish_wire::framing::HEAD_BYTES;

use super::admit::{Admitted, Gate, Pass};
use super::answer::Answer;
use super::service::{Method, Service};
use super::spawn;
use super::status::{Code, Status};

/// Maximum size of a request, in bytes: it contains one query.
const REQUEST_LIMIT: usize = 64 << 10;

/// Maximum number of open requests per client.
const STREAMS_PER_CLIENT: u32 = 16;

/// Windows in bytes: of one request, and of all requests of a connection.
const REQUEST_WINDOW: u32 = 64 << 10;
const REQUESTS_WINDOW: u32 = 256 << 10;

/// Maximum size of a request's headers, in bytes.
const HEADERS_LIMIT: u32 = 8 << 10;

/// A client that is silent for this long is pinged.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(20);

/// A client that does not answer a ping for this long is dropped: longer than a short stop of a
/// console.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(60);

/// Serves a connection until it ends.
pub(super) async fn serve(stream: Admitted, gate: Gate, service: Service) {
    let pass = Arc::clone(stream.pass());
    let connection = Builder::new()
        .max_concurrent_streams(STREAMS_PER_CLIENT)
        .initial_window_size(REQUEST_WINDOW)
        .initial_connection_window_size(REQUESTS_WINDOW)
        .max_header_list_size(HEADERS_LIMIT)
        .handshake::<_, Bytes>(stream);
    let Ok(mut connection) = connection.await else {
        return;
    };
    let mut keepalive = connection.ping_pong().map(Keepalive::new);
    loop {
        let next = std::future::poll_fn(|context| {
            let keepalive = keepalive.as_mut().map(|keepalive| keepalive.poll(context));
            match keepalive {
                Some(Poll::Ready(())) => Poll::Ready(None),
                _ => connection.poll_accept(context),
            }
        });
        let Some(Ok((request, respond))) = next.await else {
            return;
        };
        keepalive.iter_mut().for_each(Keepalive::heard);
        let reply = reply(request, gate.clone(), service.clone(), Arc::clone(&pass));
        spawn(Box::pin(respond_with(respond, Box::pin(reply))));
    }
}

/// Answers a request.
async fn reply(
    request: Request<RecvStream>,
    gate: Gate,
    service: Service,
    pass: Arc<Pass>,
) -> Result<Answer, Status> {
    gate.check(&pass)?;
    let method = Method::of(request.uri().path())
        .ok_or_else(|| Status::new(Code::Unimplemented, "there is no such method"))?;
    let frame = read(request.into_body()).await?;
    service.answer(method, frame, pass).await
}

/// Reads a request's body.
async fn read(mut body: RecvStream) -> Result<Vec<u8>, Status> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.map_err(|fault| Status::new(Code::Cancelled, fault.to_string()))?;
        if bytes.len() + chunk.len() > HEAD_BYTES + REQUEST_LIMIT {
            let text = format!("the request is larger than {REQUEST_LIMIT} bytes");
            return Err(Status::new(Code::OutOfRange, text));
        }
        bytes.extend_from_slice(&chunk);
        // Fails if the stream has ended in the meantime, which the next piece tells.
        let _ = body.flow_control().release_capacity(chunk.len());
    }
    Ok(bytes)
}

type Reply = Pin<Box<dyn Future<Output = Result<Answer, Status>> + Send>>;

/// Sends the answer to a request, unless the client gives the request up.
async fn respond_with(mut respond: SendResponse<Bytes>, mut reply: Reply) {
    let made = std::future::poll_fn(|context| match reply.as_mut().poll(context) {
        Poll::Ready(made) => Poll::Ready(Some(made)),
        Poll::Pending => respond.poll_reset(context).map(|_| None),
    });
    let Some(made) = made.await else {
        return;
    };
    drop(reply);
    // An error means that the connection or the request is gone.
    match made {
        Ok(answer) => {
            if let Ok(stream) = respond.send_response(head(HeaderMap::new()), false) {
                send(answer, stream).await;
            }
        }
        Err(status) => {
            let _ = respond.send_response(head(status.headers()), true);
        }
    }
}

fn head(mut headers: HeaderMap) -> Response<()> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    let mut response = Response::new(());
    *response.headers_mut() = headers;
    response
}

/// Sends an answer as the client takes it, until it ends or the client gives it up.
async fn send(mut answer: Answer, mut stream: SendStream<Bytes>) {
    let mut waiting: Option<Bytes> = None;
    std::future::poll_fn(|context| {
        loop {
            if stream.poll_reset(context).is_ready() {
                return Poll::Ready(());
            }
            let piece = match waiting.take() {
                Some(piece) => piece,
                None => match ready!(answer.poll_piece(context)) {
                    Ok(piece) => {
                        // No more than a claim: `send_data` asks for the rest.
                        stream.reserve_capacity(1);
                        piece
                    }
                    Err(status) => {
                        stream.reserve_capacity(0);
                        let _ = stream.send_trailers(status.headers());
                        return Poll::Ready(());
                    }
                },
            };
            while stream.capacity() == 0 {
                match stream.poll_capacity(context) {
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => {
                        waiting = Some(piece);
                        return Poll::Pending;
                    }
                }
            }
            if stream.send_data(piece, false).is_err() {
                return Poll::Ready(());
            }
        }
    })
    .await;
}

/// Finds out whether a silent client is still there.
struct Keepalive {
    ping: PingPong,
    /// When to ping, or when to give up.
    due: Pin<Box<Sleep>>,
    is_asked: bool,
}

impl Keepalive {
    fn new(ping: PingPong) -> Self {
        Self {
            ping,
            due: Box::pin(tokio::time::sleep(KEEPALIVE_INTERVAL)),
            is_asked: false,
        }
    }

    fn set(&mut self, is_asked: bool) {
        self.is_asked = is_asked;
        let time = match is_asked {
            true => KEEPALIVE_TIMEOUT,
            false => KEEPALIVE_INTERVAL,
        };
        self.due.as_mut().reset(Instant::now() + time);
    }

    /// Records that the client has sent something.
    fn heard(&mut self) {
        if !self.is_asked {
            self.set(false);
        }
    }

    /// Ready if the client does not answer.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            // An error means that the connection ends, which it tells itself.
            if self.is_asked && self.ping.poll_pong(context).is_ready() {
                self.set(false);
            }
            ready!(self.due.as_mut().poll(context));
            if self.is_asked {
                return Poll::Ready(());
            }
            let is_sent = self.ping.send_ping(Ping::opaque()).is_ok();
            self.set(is_sent);
        }
    }
}
