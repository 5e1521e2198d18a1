//! Snapshots are made on threads of their own, one for short filters and one for long ones:
//! however long a query takes, leases, alerts and other requests continue.
//!
//! Each thread makes one snapshot at a time. Each query has a budget, and stops when nothing waits
//! for its answer any more. A snapshot counts on the account of its connection from the moment it
//! is made, so none is made that is not taken.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use turbowish_model::query::{Budget, MAX_STEPS, Overrun, Query};
use turbowish_wire::encode::{self, Encode};

use super::Source;
use super::quota::{Account, Load};
use super::status::{Code, Status};
use super::worker::Worker;

/// Maximum processor time of a query whose filters take long: half of the time for which a console
/// waits.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Maximum time from the start of a query to the end of its filters: a console waits two seconds
/// longer. On a busy machine it passes before [`MAX_TIME`].
const MAX_WAIT: Duration = Duration::from_secs(8);

/// A snapshot in the making. Dropping this abandons it.
pub(super) type Making = Pin<Box<dyn Future<Output = Result<Made, Status>> + Send>>;

/// A snapshot, and its processor time.
pub(super) struct Made {
    pub(super) snapshot: Box<dyn Encode + Send>,
    pub(super) took: Duration,
    pub(super) unsent: Unsent,
}

/// Charge of a snapshot on an account, until it is encoded.
pub(super) struct Unsent {
    _load: Arc<Load>,
}

/// A query and its origin.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) source: Arc<dyn Source>,
    pub(super) query: Arc<Query>,
    pub(super) account: Arc<Account>,
    /// How old its counters may be, in nanoseconds.
    pub(super) age_ns: u64,
}

/// Set when nothing waits for the answer any more.
#[derive(Default)]
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Asked {
    /// Makes the snapshot once there is room for it.
    pub(super) async fn answer(self, worker: Worker) -> Result<Made, Status> {
        let abandoned = Abandoned::default();
        loop {
            self.account.room().await;
            let (tell, told) = oneshot::channel();
            let (asked, is_abandoned) = (self.clone(), abandoned.0.clone());
            let job = move || {
                // Fails if the client has gone in the meantime.
                drop(tell.send(asked.make(&is_abandoned)));
            };
            worker.push(Box::new(job)).map_err(|fault| {
                let text = format!("no thread is available to answer: {fault}");
                Status::new(Code::ResourceExhausted, text)
            })?;
            match told.await {
                Ok(Some(made)) => return made,
                // Earlier jobs have used the room.
                Ok(None) => {}
                Err(_) => return Err(Status::new(Code::Internal, "the query panicked")),
            }
        }
    }

    /// `None` if there is no room for it now.
    fn make(&self, abandoned: &AtomicBool) -> Option<Result<Made, Status>> {
        let is_abandoned = || abandoned.load(Ordering::Relaxed);
        if is_abandoned() {
            return Some(Err(Status::new(Code::Cancelled, "nobody waits for it")));
        }
        if !self.account.has_room() {
            return None;
        }
        let (begun, started) = (self.source.used(), Instant::now());
        let took = || self.source.used().saturating_sub(begun);
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let look = || match () {
            () if is_abandoned() => Some(Overrun::Abandoned),
            () if took() > MAX_TIME => Some(Overrun::Time(ns(MAX_TIME))),
            () if started.elapsed() > MAX_WAIT => Some(Overrun::Late(ns(MAX_WAIT))),
            () => None,
        };
        let budget = Budget::new(MAX_STEPS, &look).with_age(self.age_ns);
        let snapshot = self.source.snapshot(&self.query, &budget);
        let took = took();
        self.source.answered(took);
        Some(match snapshot {
            Ok(snapshot) => Ok(Made {
                took,
                unsent: Unsent {
                    _load: self.account.load(encode::size(&snapshot)),
                },
                snapshot: Box::new(snapshot),
            }),
            Err(fault) => Err(Status::new(Code::InvalidArgument, fault.to_string())),
        })
    }
}
