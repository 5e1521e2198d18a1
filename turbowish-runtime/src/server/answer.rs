//! Answers: they leave as the connection takes them, and count on its account until then.
//!
//! tonic keeps the buffer of a stream's largest message for as long as the stream is open. So a
//! stream of snapshots does not go through tonic's encoder: the service hands it over beside an
//! empty one ([`Live`]), and each snapshot is encoded here, when there is room for it, into memory
//! of its own size.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame};
use tokio_stream::Stream;
use tonic::Status;
use tonic::codegen::{BoxFuture, Bytes, Service, http};
use turbowish_wire::framing;

use super::admit::Pass;
use super::lock;
use super::making::{Made, Unsent};
use super::quota::{Account, Held, House};
use super::watch::Watch;

/// A stream of snapshots on its way from the service to the answer.
#[derive(Clone)]
pub(super) struct Live(Arc<Mutex<Option<Watch>>>);

impl Live {
    pub(super) fn new(watch: Watch) -> Self {
        Self(Arc::new(Mutex::new(Some(watch))))
    }

    fn take(&self) -> Option<Watch> {
        lock(&self.0).take()
    }
}

/// Charges the service's answers to the account of the connection.
#[derive(Clone)]
pub(super) struct ByteMeter<S> {
    pub(super) service: S,
    pub(super) house: Arc<House>,
}

impl<S> Service<http::Request<tonic::body::Body>> for ByteMeter<S>
where
    S: Service<http::Request<tonic::body::Body>, Response = http::Response<tonic::body::Body>>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Answer>;
    type Error = S::Error;
    type Future = BoxFuture<Self::Response, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        let pass = request.extensions().get::<Arc<Pass>>();
        let account = pass.map_or_else(
            || Account::new(&self.house),
            |pass| Arc::clone(pass.account()),
        );
        let answer = self.service.call(request);
        Box::pin(async move {
            let (mut parts, body) = answer.await?.into_parts();
            let live = parts.extensions.remove().and_then(|live: Live| live.take());
            let rest = live.map_or_else(|| Rest::Plain(body), |watch| Rest::Live(Box::new(watch)));
            let unsent: Option<Unsent> = parts.extensions.remove();
            let answer = Answer::new(account, rest).await;
            // Encoded by now, and counted as such.
            drop(unsent);
            Ok(http::Response::from_parts(parts, answer))
        })
    }
}

/// An answer: the part that is encoded, and the rest.
pub(super) struct Answer {
    account: Arc<Account>,
    held: VecDeque<Held>,
    trailers: Option<http::HeaderMap>,
    rest: Rest,
}

/// The part that is not encoded yet.
enum Rest {
    Live(Box<Watch>),
    Plain(tonic::body::Body),
    Nothing,
}

impl Answer {
    /// Encodes what is ready at once: its size is known only then.
    async fn new(account: Arc<Account>, rest: Rest) -> Self {
        let mut answer = Self {
            account,
            held: VecDeque::new(),
            trailers: None,
            rest,
        };
        std::future::poll_fn(|context| {
            // The rest is made on request.
            let _ = answer.poll_make(context);
            Poll::Ready(())
        })
        .await;
        answer
    }

    /// Makes the next snapshot of a stream, or the whole of any other answer.
    fn poll_make(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        match &mut self.rest {
            Rest::Live(watch) => {
                let next = ready!(Pin::new(&mut **watch).poll_next(context));
                match next
                    .unwrap_or_else(|| Err(Status::ok("")))
                    .and_then(|made| frame(&made).map(|frame| (frame, made.unsent)))
                {
                    Ok((frame, _unsent)) => self.held.push_back(self.account.hold(frame)),
                    Err(status) => {
                        self.rest = Rest::Nothing;
                        let mut trailers = http::HeaderMap::new();
                        status.add_header(&mut trailers)?;
                        self.trailers = Some(trailers);
                    }
                }
            }
            Rest::Plain(body) => {
                while let Some(frame) = ready!(Pin::new(&mut *body).poll_frame(context)) {
                    match frame?.into_data() {
                        // Copied, because the original buffer may be larger.
                        Ok(bytes) => {
                            let bytes = Bytes::copy_from_slice(&bytes);
                            self.held.push_back(self.account.hold(bytes));
                        }
                        Err(frame) => self.trailers = frame.into_trailers().ok(),
                    }
                }
                self.rest = Rest::Nothing;
            }
            Rest::Nothing => {}
        }
        Poll::Ready(Ok(()))
    }

    fn piece(&mut self) -> Option<Bytes> {
        let held = self.held.front_mut()?;
        let piece = held.piece();
        if held.is_empty() {
            self.held.pop_front();
        }
        Some(piece)
    }
}

/// Encodes a snapshot for sending.
fn frame(made: &Made) -> Result<Bytes, Status> {
    let too_large = || Status::out_of_range("the snapshot is larger than a console accepts");
    let frame = framing::frame(&made.snapshot).ok_or_else(too_large)?;
    Ok(frame.into())
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        loop {
            if let Some(piece) = this.piece() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if matches!(this.rest, Rest::Nothing) {
                let trailers = this.trailers.take();
                return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
            }
            ready!(this.account.poll_room(context));
            ready!(this.poll_make(context))?;
        }
    }
}
