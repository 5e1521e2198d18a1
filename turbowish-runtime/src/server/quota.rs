//! Quota: bytes made for consoles and not yet taken by them are counted and limited.
//!
//! A message counts from its encoding until its last byte has left for the socket, or its stream
//! has ended. The next one is made when there is room for it: for this connection, and for all of
//! them together. A console that holds bytes and takes none for some time is disconnected.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::Say;
use super::lock;
use super::status::{Code, Status};

/// A connection that holds this many bytes gets no further message.
const BYTES_EACH: usize = 8 << 20;

/// No connection gets a message while all together hold this many bytes. From half of that on, only
/// connections that hold nothing get one.
const BYTES_OF_ALL: usize = 64 << 20;

/// Messages leave in pieces of this size: each piece taken counts as progress.
const PIECE_BYTES: usize = 16 << 10;

/// Maximum number of open snapshot streams per connection.
const WATCHES: usize = 4;

/// Bytes held by all connections of a process.
pub(super) struct House {
    stall_time: Duration,
    say: Say,
    held: Mutex<Sum>,
}

#[derive(Default)]
struct Sum {
    bytes: usize,
    /// Connections that wait for room.
    waiting: Vec<Waker>,
    /// Number of connections that took nothing, and were disconnected.
    dropped: u64,
}

impl Sum {
    /// Whether there is room for a connection that holds `own` bytes.
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
        lock(&self.held)
    }

    /// Counts a connection that is disconnected.
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

/// Bytes held by one connection.
pub(super) struct Account {
    house: Arc<House>,
    watches: AtomicUsize,
    own: Mutex<Own>,
}

struct Own {
    bytes: usize,
    /// When it last took something, or began to hold something.
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
        lock(&self.own)
    }

    pub(super) fn house(&self) -> &House {
        &self.house
    }

    /// Time of the disconnection, unless something is taken before.
    pub(super) fn stalls_at(&self) -> Option<Instant> {
        let own = self.own();
        (own.bytes > 0).then(|| own.moved + self.house.stall_time)
    }

    /// Whether there is room for one more message now.
    pub(super) fn has_room(&self) -> bool {
        let own = self.own().bytes;
        self.house.held().has_room(own)
    }

    /// Waits until there is room for one more message.
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

    /// Charges a message to the account.
    pub(super) fn hold(self: &Arc<Self>, message: Bytes) -> Held {
        let load = self.load(message.len());
        Held {
            left: message,
            load,
        }
    }

    /// Charges bytes to the account.
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

    /// Opens one more snapshot stream, if the limit permits.
    pub(super) fn watch(self: &Arc<Self>) -> Result<Watching, Status> {
        let watching = Watching(Arc::clone(self));
        if self.watches.fetch_add(1, Ordering::Relaxed) < WATCHES {
            return Ok(watching);
        }
        let text = format!(
            "this connection has {WATCHES} watches open, which is its limit: close one of them"
        );
        Err(Status::new(Code::ResourceExhausted, text))
    }
}

/// An open snapshot stream.
pub(super) struct Watching(Arc<Account>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.watches.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The remainder of a message that has not been taken completely.
pub(super) struct Held {
    left: Bytes,
    load: Arc<Load>,
}

impl Held {
    /// Splits off the next piece.
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

/// A part of a message in transit.
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
