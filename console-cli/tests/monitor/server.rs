//! A mock monitor: it answers over a real Unix socket from a script, in good order or in one of
//! many bad ways.
#![allow(dead_code, reason = "each of the tests that include it takes its part")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::Frame;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, mpsc};
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Bytes, Service, http};
use tonic::{Request, Response, Status};
use turbowish_model::query::{Budget, Query, Selection};
use turbowish_model::snapshot::Snapshot;
use turbowish_wire::proto::turbowish_server::{Turbowish, TurbowishServer};
use turbowish_wire::proto::{self, HelloReply, HelloRequest, WatchRequest};
use turbowish_wire::{MESSAGE_LIMIT, PROTOCOL, VERSION};

/// How a monitor behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As ours do.
    Good,
    /// It does what it is told, as far as it is known to older ones.
    Obeys,
    /// It lists its tasks, and refuses everything else with its own name as the reason.
    Refuses,
    /// It speaks another protocol.
    Speaks(u32),
    /// It takes connections, and never says a word.
    Mute,
    /// It takes its time for each answer.
    Slow,
    /// It says what no monitor says.
    Garbage,
    /// It ends every connection at once.
    HangsUp,
    /// It ends every connection after so many bytes.
    Cuts(u64),
    /// Its answers are larger than a console takes.
    Oversize,
    /// Its answers hold what a later version may hold.
    Malformed,
    /// Its answers are so many rows, of two bytes each.
    Heavy(usize),
    /// It has these chunks of a recording, and obeys.
    Keeps(&'static [u8]),
}

/// What the next one who watches is sent; who watches meanwhile waits.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A snapshot, as it was asked for.
    Snapshot,
    /// One that says in how many nanoseconds the next one is due.
    Paced(u64),
    /// The stream ends in good order.
    End,
    /// The stream ends with an error.
    Fail(&'static str),
}

/// The ranges of a recording that were asked for, in nanoseconds since 1970.
type Ranges = Arc<std::sync::Mutex<Vec<(u64, u64)>>>;

/// A running monitor; dropped, it is gone with all its connections.
pub(crate) struct Server {
    socket: PathBuf,
    feed: mpsc::UnboundedSender<Reply>,
    asked: Ranges,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts one; it is reachable when this returns.
    pub(crate) fn start(socket: PathBuf, snapshot: Snapshot, manner: Manner) -> Self {
        // Of one that was killed.
        let _ = fs::remove_file(&socket);
        let (feed, told) = mpsc::unbounded_channel();
        let mut runtime = None;
        let asked = Ranges::default();
        let script = || Script::new(snapshot.clone(), manner, told, Arc::clone(&asked));
        match manner {
            Manner::Mute | Manner::Garbage | Manner::HangsUp => by_hand(&socket, manner),
            Manner::Cuts(after) => {
                let behind = socket.with_extension("behind");
                runtime = Some(script().serve(&behind));
                between(&socket, behind, after);
            }
            _ => runtime = Some(script().serve(&socket)),
        }
        Self {
            socket,
            feed,
            asked,
            runtime,
        }
    }

    /// Ends it as a process is killed: its socket stays behind.
    pub(crate) fn kill(mut self) {
        self.socket = PathBuf::new();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(10));
        }
    }

    /// The ranges of its recording that it was asked for.
    pub(crate) fn asked(&self) -> Vec<(u64, u64)> {
        self.asked.lock().unwrap().clone()
    }

    /// Says what one who watches is sent next.
    pub(crate) fn send(&self, reply: Reply) {
        let _ = self.feed.send(reply);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Takes connections without knowing the protocol, as long as the test runs.
fn by_hand(socket: &Path, manner: Manner) {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            match manner {
                Manner::Mute => held.push(stream),
                Manner::Garbage => drop(stream.write_all(&[0x5a; 4096])),
                _ => drop(stream),
            }
        }
    });
}

/// Passes bytes on, and ends each connection after so many of the monitor's.
fn between(socket: &Path, behind: PathBuf, after: u64) {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        for console in listener.incoming() {
            let (Ok(console), Ok(monitor)) = (console, UnixStream::connect(&behind)) else {
                return;
            };
            let (mut from, mut to) = (console.try_clone().unwrap(), monitor.try_clone().unwrap());
            std::thread::spawn(move || io::copy(&mut from, &mut to));
            std::thread::spawn(move || {
                let _ = io::copy(&mut (&monitor).take(after), &mut &console);
                let _ = console.shutdown(Shutdown::Both);
                let _ = monitor.shutdown(Shutdown::Both);
            });
        }
    });
}

/// Answers every query from one snapshot, as a monitor does: filtered, sorted and limited.
struct Script {
    snapshot: Snapshot,
    manner: Manner,
    told: Arc<Mutex<mpsc::UnboundedReceiver<Reply>>>,
    asked: Ranges,
}

impl Script {
    fn new(
        snapshot: Snapshot,
        manner: Manner,
        told: mpsc::UnboundedReceiver<Reply>,
        asked: Ranges,
    ) -> Self {
        Self {
            snapshot,
            manner,
            told: Arc::new(Mutex::new(told)),
            asked,
        }
    }

    fn serve(self, socket: &Path) -> Runtime {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let inside = runtime.enter();
        let listener = tokio::net::UnixListener::bind(socket).unwrap();
        let incoming = UnixListenerStream::new(listener);
        let service = Behind {
            manner: self.manner,
            script: TurbowishServer::new(self),
        };
        runtime.spawn(tonic::transport::Server::builder().serve_with_incoming(service, incoming));
        drop(inside);
        runtime
    }

    fn answer(&self, query: Option<proto::Query>) -> Result<proto::Snapshot, Status> {
        let bad = |error: String| Status::invalid_argument(error);
        let query = query.unwrap_or_default();
        let query = Query::try_from(query).map_err(|e| bad(e.to_string()))?;
        let selection = Selection::parse(&query).map_err(|e| bad(e.to_string()))?;
        let mut snapshot = self.snapshot.clone();
        let applied = selection.apply(&mut snapshot, &Budget::unlimited());
        applied.map_err(|fault| Status::invalid_argument(fault.to_string()))?;
        match self.manner {
            Manner::Oversize => snapshot.process.command = "x".repeat(MESSAGE_LIMIT),
            // More than a greeting, whatever was asked for.
            Manner::Cuts(after) => snapshot.process.command = "x".repeat(after as usize),
            _ => {}
        }
        let mut snapshot = proto::Snapshot::from(snapshot);
        if self.manner == Manner::Malformed
            && let Some(process) = &mut snapshot.process
        {
            process.accounting = 99;
        }
        Ok(snapshot)
    }
}

/// Answers in bytes where no message would do.
#[derive(Clone)]
struct Behind {
    manner: Manner,
    script: TurbowishServer<Script>,
}

impl Service<http::Request<Body>> for Behind {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match self.manner {
            Manner::Heavy(rows) if request.uri().path().ends_with("/Read") => {
                let response = http::Response::builder()
                    .header("content-type", "application/grpc")
                    .body(Body::new(Heavy::new(rows)))
                    .unwrap();
                Box::pin(std::future::ready(Ok(response)))
            }
            _ => self.script.call(request),
        }
    }
}

/// A snapshot of many empty tasks, and that it was all.
struct Heavy(VecDeque<Frame<Bytes>>);

impl Heavy {
    fn new(rows: usize) -> Self {
        // `Snapshot.tasks`, the length of the page, and `TaskPage.rows` again and again.
        let page = [0x0a, 0].repeat(rows);
        let mut message = vec![0x4a];
        let mut length = page.len();
        while length >= 0x80 {
            message.push(length as u8 | 0x80);
            length >>= 7;
        }
        message.push(length as u8);
        message.extend(page);
        let mut head = vec![0];
        head.extend((message.len() as u32).to_be_bytes());
        let mut trailers = http::HeaderMap::new();
        trailers.insert("grpc-status", http::HeaderValue::from_static("0"));
        let frames = [head, message].map(|bytes| Frame::data(bytes.into()));
        Self(
            frames
                .into_iter()
                .chain([Frame::trailers(trailers)])
                .collect(),
        )
    }
}

impl http_body::Body for Heavy {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

/// What a slow one takes for an answer, below what a console has patience for.
const LONG: Duration = Duration::from_millis(300);

#[tonic::async_trait]
impl Turbowish for Script {
    async fn hello(&self, _: Request<HelloRequest>) -> Result<Response<HelloReply>, Status> {
        let protocol = match self.manner {
            Manner::Speaks(protocol) => protocol,
            _ => PROTOCOL,
        };
        Ok(Response::new(HelloReply {
            protocol,
            version: VERSION.to_owned(),
            process: Some(self.snapshot.process.clone().into()),
            read_only: false,
        }))
    }

    async fn read(
        &self,
        request: Request<proto::Query>,
    ) -> Result<Response<proto::Snapshot>, Status> {
        if self.manner == Manner::Slow {
            tokio::time::sleep(LONG).await;
        }
        let query = request.into_inner();
        if self.manner == Manner::Refuses && query.tasks.is_none() {
            return Err(Status::internal(&self.snapshot.process.name));
        }
        self.answer(Some(query)).map(Response::new)
    }

    type WatchStream = ReceiverStream<Result<proto::Snapshot, Status>>;

    async fn watch(
        &self,
        request: Request<WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let snapshot = self.answer(request.into_inner().query)?;
        let (send, stream) = mpsc::channel(1);
        let told = self.told.clone();
        tokio::spawn(async move {
            let mut told = told.lock().await;
            loop {
                let reply = tokio::select! {
                    reply = told.recv() => reply,
                    () = send.closed() => return,
                };
                let item = match reply {
                    Some(Reply::Snapshot) => Ok(snapshot.clone()),
                    Some(Reply::Paced(pace_ns)) => Ok(proto::Snapshot {
                        pace_ns,
                        ..snapshot.clone()
                    }),
                    Some(Reply::Fail(why)) => Err(Status::internal(why)),
                    Some(Reply::End) | None => return,
                };
                let is_over = item.is_err();
                if send.send(item).await.is_err() || is_over {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(stream)))
    }

    type PastStream = tokio_stream::Once<Result<proto::PastReply, Status>>;

    async fn past(
        &self,
        request: Request<proto::PastRequest>,
    ) -> Result<Response<Self::PastStream>, Status> {
        if let Manner::Keeps(chunks) = self.manner {
            let proto::PastRequest {
                from_unix_ns,
                to_unix_ns,
            } = request.into_inner();
            self.asked.lock().unwrap().push((from_unix_ns, to_unix_ns));
            let chunks = chunks.to_vec();
            let reply = proto::PastReply { chunks };
            return Ok(Response::new(tokio_stream::once(Ok(reply))));
        }
        Err(Status::unimplemented("the script has no recording"))
    }

    async fn control(
        &self,
        request: Request<proto::ControlRequest>,
    ) -> Result<Response<proto::ControlReply>, Status> {
        use proto::control_request::Action;
        let process = &self.snapshot.process;
        match self.manner {
            Manner::Obeys | Manner::Keeps(_) => {
                if let Some(Action::HoldEvents(_)) = request.into_inner().action {
                    let text = "invalid request: ControlRequest.action is missing";
                    return Err(Status::invalid_argument(text));
                }
                return Ok(Response::new(proto::ControlReply {
                    process: Some(process.clone().into()),
                    recorded_before: None,
                }));
            }
            Manner::Refuses => return Err(Status::failed_precondition(&process.name)),
            _ => {}
        }
        Err(Status::permission_denied("the script cannot be touched"))
    }
}
