//! Answers: they leave as the connection takes them, and count on its account until then.
//!
//! Each snapshot of a stream is encoded when there is room for it, into memory of its own size.
//! Each chunk of a recording is taken from where it is kept, when there is room for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use turbowish_wire::convert::Paced;
use turbowish_wire::framing;

use super::quota::{Account, Held};
use super::recorder::KeptChunks;
use super::status::{Code, Status};
use super::watch::{Timed, Watch};

/// An answer: the part that is encoded, and the rest.
pub(super) struct Answer {
    account: Arc<Account>,
    held: VecDeque<Held>,
    rest: Rest,
}

/// The part that is not encoded yet.
enum Rest {
    Live(Box<Watch>),
    Past(KeptChunks),
    Nothing(Status),
}

impl Answer {
    /// An answer of one message.
    pub(super) fn whole(account: Arc<Account>, frame: Bytes) -> Self {
        Self {
            held: VecDeque::from([account.hold(frame)]),
            account,
            rest: Rest::Nothing(Status::ok()),
        }
    }

    /// A stream of snapshots. Encodes what is ready at once: its size is known only then.
    pub(super) async fn live(account: Arc<Account>, watch: Watch) -> Self {
        let mut answer = Self {
            account,
            held: VecDeque::new(),
            rest: Rest::Live(Box::new(watch)),
        };
        std::future::poll_fn(|context| {
            // The rest is made on request.
            let _ = answer.poll_make(context);
            Poll::Ready(())
        })
        .await;
        answer
    }

    /// Chunks of a recording, each in a message of its own.
    pub(super) const fn past(account: Arc<Account>, chunks: KeptChunks) -> Self {
        Self {
            account,
            held: VecDeque::new(),
            rest: Rest::Past(chunks),
        }
    }

    /// Makes the next message of a stream.
    fn poll_make(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let next = match &mut self.rest {
            Rest::Live(watch) => {
                let next = ready!(watch.poll_next(context));
                let next = next.and_then(|next| Ok((frame(&next)?, next.made.unsent)));
                // Counted as a message from here on, and no more as a snapshot.
                next.map(|(frame, _unsent)| self.held.push_back(self.account.hold(frame)))
            }
            Rest::Past(chunks) => chunks.next().ok_or_else(Status::ok).and_then(|chunk| {
                let head = framing::head_of_past(chunk.len()).ok_or_else(too_large)?;
                for part in [head.into(), chunk] {
                    self.held.push_back(self.account.hold(part));
                }
                Ok(())
            }),
            Rest::Nothing(_) => Ok(()),
        };
        if let Err(status) = next {
            self.rest = Rest::Nothing(status);
        }
        Poll::Ready(())
    }

    /// The next piece, or the status behind the last one.
    pub(super) fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Bytes, Status>> {
        loop {
            if let Some(piece) = self.piece() {
                return Poll::Ready(Ok(piece));
            }
            if let Rest::Nothing(status) = &self.rest {
                return Poll::Ready(Err(status.clone()));
            }
            ready!(self.account.poll_room(context));
            ready!(self.poll_make(context));
        }
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
fn frame(next: &Timed) -> Result<Bytes, Status> {
    let paced = Paced {
        snapshot: &*next.made.snapshot,
        pace_ns: u64::try_from(next.pace.as_nanos()).unwrap_or(u64::MAX),
    };
    let frame = framing::frame(&paced).ok_or_else(too_large)?;
    Ok(frame.into())
}

pub(super) fn too_large() -> Status {
    let text = "the snapshot is larger than a console accepts";
    Status::new(Code::OutOfRange, text)
}
