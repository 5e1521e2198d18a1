//! What was made for consoles and has not been taken by them is counted in bytes, and limited.
//!
//! A message counts from the moment in which it is encoded until its last byte has left for the socket, or its stream
//! has ended. The next one is made when there is room for it: for this connection, and for all of them together. A console
//! that holds bytes and takes none for some time is hung up on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;
use tonic::Status;
use tonic::codegen::Bytes;

use super::Say;

/// A connection that holds so many bytes gets no further message.
const BYTES_EACH: usize = 8 << 20;

/// Nor does any while all of them hold so many. From half of that on only those get one that hold nothing.
const BYTES_OF_ALL: usize = 64 << 20;

/// A message leaves in pieces of this size: each that is taken is a sign of life.
const PIECE_BYTES: usize = 16 << 10;

/// Streams of snapshots that one connection may have open.
const WATCHES: usize = 4;

/// What all connections of a process hold.
pub(super) struct House {
    stall_time: Duration,
    say: Say,
    held: Mutex<Sum>,
}

#[derive(Default)]
struct Sum {
    bytes: usize,
    /// Those that wait for room.
    waiting: Vec<Waker>,
    /// Connections that took nothing, and were hung up on.
    dropped: u64,
}

impl Sum {
    /// For a connection that holds so many bytes.
    const fn has_room(&self, own: usize) -> bool {
        match own {
            0 => self.bytes < BYTES_OF_ALL,
            own => own < BYTES_EACH && self.bytes < BYTES_OF_ALL / 2,
        }
    }
}

impl House {
    pub(super) fn new(stall_time: Duration, say: Say) -> Arc<Self> {
        Arc::new(Self {
            stall_time,
            say,
            held: Mutex::default(),
        })
    }

    fn held(&self) -> MutexGuard<'_, Sum> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection that is hung up on.
    pub(super) fn count_dropped(&self) {
        let dropped = {
            let mut held = self.held();
            held.dropped += 1;
            held.dropped
        };
        if dropped.is_power_of_two() {
            (self.say)(&format!(
                "disconnected a console that read nothing for {:?} ({dropped} so far)",
                self.stall_time
            ));
        }
    }
}

/// What one connection holds.
pub(super) struct Account {
    house: Arc<House>,
    watches: AtomicUsize,
    own: Mutex<Own>,
}

struct Own {
    bytes: usize,
    /// When it took something last, or came to hold something.
    moved: Instant,
}

impl Account {
    pub(super) fn new(house: &Arc<House>) -> Arc<Self> {
        Arc::new(Self {
            house: Arc::clone(house),
            watches: AtomicUsize::new(0),
            own: Mutex::new(Own {
                bytes: 0,
                moved: Instant::now(),
            }),
        })
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn house(&self) -> &House {
        &self.house
    }

    /// When to hang up, unless something is taken before.
    pub(super) fn stalls_at(&self) -> Option<Instant> {
        let own = self.own();
        (own.bytes > 0).then(|| own.moved + self.house.stall_time)
    }

    /// Whether there is room for one more message now.
    pub(super) fn has_room(&self) -> bool {
        let own = self.own().bytes;
        self.house.held().has_room(own)
    }

    /// Until there is room for one more message.
    pub(super) async fn room(&self) {
        std::future::poll_fn(|context| self.poll_room(context)).await;
    }

    pub(super) fn poll_room(&self, context: &mut Context<'_>) -> Poll<()> {
        let own = self.own().bytes;
        let mut held = self.house.held();
        if held.has_room(own) {
            return Poll::Ready(());
        }
        let waker = context.waker();
        if !held.waiting.iter().any(|known| known.will_wake(waker)) {
            held.waiting.push(waker.clone());
        }
        Poll::Pending
    }

    /// Puts a message on the account.
    pub(super) fn hold(self: &Arc<Self>, message: Bytes) -> Held {
        let load = self.load(message.len());
        Held {
            left: message,
            load,
        }
    }

    /// Puts so many bytes on the account.
    pub(super) fn load(self: &Arc<Self>, bytes: usize) -> Arc<Load> {
        let mut own = self.own();
        if own.bytes == 0 {
            own.moved = Instant::now();
        }
        own.bytes += bytes;
        drop(own);
        self.house.held().bytes += bytes;
        Arc::new(Load {
            account: Arc::clone(self),
            bytes,
        })
    }

    /// One more stream of snapshots, if there may be one.
    pub(super) fn watch(self: &Arc<Self>) -> Result<Watching, Status> {
        let watching = Watching(Arc::clone(self));
        if self.watches.fetch_add(1, Ordering::Relaxed) < WATCHES {
            return Ok(watching);
        }
        Err(Status::resource_exhausted(format!(
            "this connection has {WATCHES} watches open, which is its limit: close one of them"
        )))
    }
}

/// An open stream of snapshots.
pub(super) struct Watching(Arc<Account>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.watches.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is left of a message that has not been taken as a whole.
pub(super) struct Held {
    left: Bytes,
    load: Arc<Load>,
}

impl Held {
    /// The next piece.
    pub(super) fn piece(&mut self) -> Bytes {
        Bytes::from_owner(Piece {
            bytes: self.left.split_to(self.left.len().min(PIECE_BYTES)),
            load: Arc::clone(&self.load),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }
}

/// The bytes of a message, on the account until none of it is left.
pub(super) struct Load {
    account: Arc<Account>,
    bytes: usize,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.account.own().bytes -= self.bytes;
        let waiting = {
            let mut held = self.account.house.held();
            held.bytes -= self.bytes;
            std::mem::take(&mut held.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// A part of it on its way.
struct Piece {
    bytes: Bytes,
    load: Arc<Load>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.load.account.own().moved = Instant::now();
    }
}
