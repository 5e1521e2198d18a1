//! Connections to processes. A [`Connection`] belongs to one process, which has answered before it
//! is used. It never hangs on a stopped process, and never reconnects to another one.
//!
//! ```no_run
//! # async fn example() -> Result<(), turbowish_wire::client::ClientError> {
//! use turbowish_model::query::{Query, Rows};
//! use turbowish_wire::client::{Connection, Target};
//!
//! let connection = Connection::connect(&Target::Pid(4242)).await?;
//! let query = Query { procs: Some(Rows::default()), ..Query::default() };
//! let mut watch = connection.watch(query, std::time::Duration::from_secs(1)).await?;
//! while let Some(snapshot) = watch.next().await {
//!     println!("{} procs", snapshot?.procs.total);
//! }
//! # Ok(())
//! # }
//! ```

mod error;
mod list;
mod named;
mod target;

use std::sync::Arc;
use std::time::Duration;

pub use error::ClientError;
pub use list::{Found, Listing, list, list_in};
pub use target::Target;
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};
use turbowish_model::query::Query;
use turbowish_model::snapshot::{Process, Snapshot};

use crate::convert::Controlled;
use crate::proto::turbowish_client::TurbowishClient;
use crate::{Action, MESSAGE_LIMIT, PROTOCOL, VERSION, proto};

/// How long [`Connection::connect`] waits for the process to answer.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a single request may take, once the process has answered.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// An open connection to a process that speaks this protocol. Clones share it.
#[derive(Clone, Debug)]
pub struct Connection {
    client: TurbowishClient<Channel>,
    peer: Arc<Peer>,
    process: Process,
    read_only: bool,
}

/// Name of the process in errors.
#[derive(Debug)]
struct Peer {
    label: String,
}

impl Connection {
    /// Connects and greets, within [`CONNECT_TIMEOUT`].
    ///
    /// # Errors
    /// If there is no such process, or it cannot be reached, does not answer, has another token, or
    /// speaks another protocol.
    pub async fn connect(target: &Target) -> Result<Self, ClientError> {
        Self::connect_within(target, CONNECT_TIMEOUT).await
    }

    /// Same as [`Self::connect`], with a timeout of `limit`.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub async fn connect_within(target: &Target, limit: Duration) -> Result<Self, ClientError> {
        let silent = |_| ClientError::Silent {
            target: target.to_string(),
            after: limit,
        };
        tokio::time::timeout(limit, Self::open(target))
            .await
            .map_err(silent)?
    }

    async fn open(target: &Target) -> Result<Self, ClientError> {
        let channel = target.open().await?;
        let client = TurbowishClient::new(channel)
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT);
        let peer = Peer {
            label: target.to_string(),
        };
        let hello = proto::HelloRequest {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
        };
        let greeting = client.clone().hello(hello).await;
        let reply = greeting.map_err(|status| error::of_greeting(&peer.label, &status))?;
        Self::greeted(client, peer, reply.into_inner())
    }

    fn greeted(
        client: TurbowishClient<Channel>,
        peer: Peer,
        reply: proto::HelloReply,
    ) -> Result<Self, ClientError> {
        let proto::HelloReply {
            protocol,
            version,
            process,
            read_only,
        } = reply;
        let process = process.unwrap_or_default();
        if protocol != PROTOCOL {
            let proto::Process { name, pid, .. } = process;
            return Err(ClientError::Mismatch {
                name,
                pid,
                protocol,
                version,
            });
        }
        let process = Process::try_from(process).map_err(|fault| ClientError::Malformed {
            target: peer.label.clone(),
            fault,
        })?;
        let label = format!("{} {}", process.name, process.pid);
        let peer = Arc::new(Peer { label });
        Ok(Self {
            client,
            peer,
            process,
            read_only,
        })
    }

    /// The process, as it was when it answered.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Whether [`Self::control`] will be refused.
    #[must_use]
    pub fn read_only(&self) -> bool {
        self.read_only
    }

    /// Takes one snapshot now.
    ///
    /// # Errors
    /// If the process rejects the query, or is gone.
    pub async fn snapshot(&self, query: &Query) -> Result<Snapshot, ClientError> {
        let request = proto::Query::from(query.clone());
        let mut client = self.client.clone();
        let message = self.within(client.read(request)).await?;
        self.peer.convert(message)
    }

    /// Subscribes to snapshots at an interval, which the process clamps to 100 ms to 10 s. The
    /// first comes at once.
    ///
    /// # Errors
    /// If the process rejects the query, or is gone.
    pub async fn watch(&self, query: Query, interval: Duration) -> Result<Watch, ClientError> {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let request = proto::WatchRequest {
            query: Some(query.into()),
            interval_ns,
        };
        let mut client = self.client.clone();
        let stream = self.within(client.watch(request)).await?;
        Ok(Watch {
            stream,
            peer: Arc::clone(&self.peer),
            ended: false,
            pace: Duration::ZERO,
        })
    }

    /// Requests what the process has recorded from one instant to another, both in nanoseconds
    /// since the Unix epoch, 0 for no bound. The chunks begin with the state that shows the first
    /// instant; there are none if the process records nothing.
    ///
    /// # Errors
    /// If the range ends before it begins, the process is of a version without a recorder, or gone.
    pub async fn past(
        &self,
        from_unix_ns: u64,
        to_unix_ns: u64,
    ) -> Result<PastChunks, ClientError> {
        let request = proto::PastRequest {
            from_unix_ns,
            to_unix_ns,
        };
        let mut client = self.client.clone();
        let stream = self.within(client.past(request)).await?;
        Ok(PastChunks {
            stream,
            peer: Arc::clone(&self.peer),
            ended: false,
        })
    }

    /// Sends a control request; returns the process as it is afterwards.
    ///
    /// # Errors
    /// If the process is read-only, or gone.
    pub async fn control(&self, action: Action) -> Result<Process, ClientError> {
        Ok(self.controlled(action).await?.process)
    }

    /// Same as [`Self::control`], with all that the process answers.
    ///
    /// # Errors
    /// If the process is read-only, gone, or too old for the action.
    pub async fn controlled(&self, action: Action) -> Result<Controlled, ClientError> {
        let request = proto::ControlRequest::from(action);
        let mut client = self.client.clone();
        let reply = self.within(client.control(request)).await?;
        self.peer.convert(reply)
    }

    /// Awaits the answer within the timeout. A process that was stopped meanwhile is reported as
    /// silent.
    async fn within<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, ClientError> {
        match tokio::time::timeout(REQUEST_TIMEOUT, call).await {
            Ok(answer) => answer
                .map(Response::into_inner)
                .map_err(|status| self.peer.error(&status)),
            Err(_) => Err(ClientError::Silent {
                target: self.peer.label.clone(),
                after: REQUEST_TIMEOUT,
            }),
        }
    }
}

impl Peer {
    fn convert<P, M>(&self, message: P) -> Result<M, ClientError>
    where
        M: TryFrom<P, Error = crate::convert::Malformed>,
    {
        M::try_from(message).map_err(|fault| ClientError::Malformed {
            target: self.label.clone(),
            fault,
        })
    }

    fn error(&self, status: &Status) -> ClientError {
        error::of_status(&self.label, status)
    }
}

/// A stream of snapshots; dropping it ends the subscription.
#[derive(Debug)]
pub struct Watch {
    stream: Streaming<proto::Snapshot>,
    peer: Arc<Peer>,
    ended: bool,
    pace: Duration,
}

impl Watch {
    /// The next snapshot; `None` after the process has ended the stream cleanly, and after an
    /// error. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Snapshot, ClientError>> {
        if self.ended {
            return None;
        }
        let item = match self.stream.message().await {
            Ok(message) => {
                let message = message?;
                self.pace = Duration::from_nanos(message.pace_ns);
                self.peer.convert(message)
            }
            Err(status) => Err(self.peer.error(&status)),
        };
        self.ended = item.is_err();
        Some(item)
    }

    /// Time between the last snapshot and the next: longer than requested if a snapshot takes long.
    /// Zero if the process does not report it.
    #[must_use]
    pub const fn pace(&self) -> Duration {
        self.pace
    }
}

/// Chunks of a process's recording; dropping it ends the request.
#[derive(Debug)]
pub struct PastChunks {
    stream: Streaming<proto::PastReply>,
    peer: Arc<Peer>,
    ended: bool,
}

impl PastChunks {
    /// The next chunks, one or several whole ones, the oldest first; `None` after the last one, and
    /// after an error. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, ClientError>> {
        if self.ended {
            return None;
        }
        let item = match self.stream.message().await {
            Ok(message) => Ok(message?.chunks),
            Err(status) => Err(self.peer.error(&status)),
        };
        self.ended = item.is_err();
        Some(item)
    }
}
