//! The server: one task per client and two for the store, all of which have ended when [`Server::run`] returns.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};
use turbowish::JoinSet;
use turbowish::sync::oneshot;

use crate::clock::Clock;
use crate::conn::{self, Broken};
use crate::db::Db;
use crate::resp::Limits;
use crate::{expiry, snapshot};

/// Bytes of an inline command.
const INLINE_BYTES: usize = 16 * 1024;

/// How long to wait when the system has no more files or memory for another client.
const BREATH: Duration = Duration::from_millis(50);

/// What a server is to be like.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on. Whoever reaches it can read and change everything.
    pub address: IpAddr,
    /// The TCP port; 0 takes a free one.
    pub port: u16,
    /// The folder of the snapshot. It is made if it does not exist.
    pub dir: PathBuf,
    /// How often the snapshot is written, if something has changed.
    pub snapshot_every: Duration,
    /// Clients at one time. One more is told so and sent away.
    pub max_clients: usize,
    /// Bytes of all arguments of one request together.
    pub max_request_bytes: usize,
    /// Arguments of one request, with the command.
    pub max_arguments: usize,
    /// Where the store reads the time.
    pub clock: Clock,
    /// Percent by which a reply takes more processor time: a slower release, to be found.
    pub slower_replies: u32,
}

impl Config {
    /// Loopback, a free port, and the snapshot in `dir`.
    pub fn new(dir: impl Into<PathBuf>) -> Config {
        Config {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            dir: dir.into(),
            snapshot_every: Duration::from_secs(10),
            max_clients: 1_024,
            max_request_bytes: 8 * 1024 * 1024,
            max_arguments: 65_536,
            clock: Clock::System,
            slower_replies: 0,
        }
    }
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) db: Arc<Db>,
    pub(crate) config: Config,
    /// The port that was bound.
    pub(crate) port: u16,
    /// Clients that are connected.
    pub(crate) clients: AtomicUsize,
    pub(crate) started: Instant,
}

impl Shared {
    /// How much a client may send.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            request_bytes: self.config.max_request_bytes,
            arguments: self.config.max_arguments,
            inline_bytes: INLINE_BYTES,
        }
    }
}

/// A server that is bound to its port and has loaded its snapshot, but does not answer yet.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    shared: Arc<Shared>,
    /// The state of the store that the snapshot on disk holds.
    saved: u64,
}

#[turbowish::instrument]
impl Server {
    /// Loads the snapshot and binds the port.
    ///
    /// # Errors
    /// If the snapshot exists and cannot be read (nothing is overwritten then), or the port cannot be bound.
    pub async fn bind(config: Config) -> io::Result<Server> {
        tokio::fs::create_dir_all(&config.dir).await?;
        let db = Db::new(config.clock.clone());
        snapshot::load(&db, &snapshot::path(&config.dir)).await?;
        let saved = db.changes().await;
        let listener = TcpListener::bind((config.address, config.port)).await?;
        let local_addr = listener.local_addr()?;
        let shared = Shared {
            db: Arc::new(db),
            config,
            port: local_addr.port(),
            clients: AtomicUsize::new(0),
            started: Instant::now(),
        };
        Ok(Server {
            listener,
            local_addr,
            shared: Arc::new(shared),
            saved,
        })
    }

    /// The address that was bound.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves clients until `shutdown` is ready, then closes all connections and writes the last snapshot.
    ///
    /// # Errors
    /// If the last snapshot could not be written.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let db = &self.shared.db;
        let mut sweeping = JoinSet::new();
        sweeping.spawn(expiry::run(Arc::clone(db)));
        let (finish, finished) = oneshot::channel();
        let path = snapshot::path(&self.shared.config.dir);
        let every = self.shared.config.snapshot_every;
        let saving = snapshot::run(Arc::clone(db), path, every, self.saved, finished);
        let saving = turbowish::TaskBuilder::new().name("snapshot").spawn(saving);

        accept(self.listener, &self.shared, shutdown).await;

        sweeping.shutdown().await;
        // The snapshot comes last and sees every change that a client was told of.
        drop(finish);
        saving.await.unwrap_or_else(|panic| Err(panic.into()))
    }
}

/// Takes clients in until `shutdown` is ready; all of them are gone when this returns.
#[turbowish::instrument]
async fn accept(listener: TcpListener, shared: &Arc<Shared>, shutdown: impl Future<Output = ()>) {
    let mut shutdown = pin!(shutdown);
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => admit(stream, shared, &mut clients),
                Err(error) => {
                    eprintln!("kv: cannot accept a client: {error}");
                    tokio::time::sleep(BREATH).await;
                }
            },
            Some(left) = clients.join_next() => {
                if let Err(panic) = left {
                    eprintln!("kv: a connection failed: {panic}");
                }
            }
        }
        shared.clients.store(clients.len(), Ordering::Relaxed);
        turbowish::gauge!("clients", clients.len());
    }
    drop(listener);
    clients.shutdown().await;
}

fn admit(stream: TcpStream, shared: &Arc<Shared>, clients: &mut JoinSet<Result<(), Broken>>) {
    if clients.len() < shared.config.max_clients {
        let port = stream.peer_addr().map_or(0, |peer| peer.port());
        let task = turbowish::TaskBuilder::new().name(format!("conn:{port}"));
        task.spawn_in(conn::serve(stream, Arc::clone(shared)), clients);
    } else {
        // Nobody waits for a client that is sent away: what does not fit into its socket is lost.
        let text = b"-ERR max number of clients reached\r\n";
        let _ = stream
            .into_std()
            .and_then(|mut socket| socket.write_all(text));
    }
}
