//! A scripted process: it answers over a real Unix socket, and its numbers never change.

mod script;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::runtime::{Builder, Runtime};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::{Request, Response, Status};
use turbowish_model::query::{Query, Selection};
use turbowish_model::snapshot::Snapshot;
use turbowish_wire::discovery;
use turbowish_wire::proto::turbowish_server::{Turbowish, TurbowishServer};
use turbowish_wire::proto::{self, HelloReply, HelloRequest, WatchRequest};
use turbowish_wire::{PROTOCOL, VERSION};

pub(crate) use script::{gate, kv};

/// A folder of sockets with scripted processes behind them.
pub(crate) struct Host {
    folder: TempDir,
    runtime: Runtime,
}

impl Host {
    /// A host on which nothing runs.
    pub(crate) fn empty() -> Self {
        let closed = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new()
            .permissions(closed)
            .tempdir()
            .unwrap();
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        Self { folder, runtime }
    }

    /// A host on which the kv server runs.
    pub(crate) fn with_kv() -> Self {
        let host = Self::empty();
        host.start(kv(), PROTOCOL);
        host
    }

    /// Starts a process; it is reachable when this returns.
    pub(crate) fn start(&self, snapshot: Snapshot, protocol: u32) {
        let socket = discovery::socket(self.folder.path(), snapshot.process.pid);
        let _inside = self.runtime.enter();
        let incoming = UnixListenerStream::new(UnixListener::bind(socket).unwrap());
        let service = TurbowishServer::new(Script { snapshot, protocol });
        let server = tonic::transport::Server::builder().serve_with_incoming(service, incoming);
        self.runtime.spawn(server);
    }

    /// The folder of the sockets.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program, with nothing of this machine's environment that could change its output.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turbowish"));
        command
            .env("TURBOWISH_RUNTIME_DIR", self.path())
            .env("TZ", "UTC");
        for name in [
            "COLUMNS",
            "TURBOWISH_TOKEN",
            "TURBOWISH_THEME",
            "RUST_BACKTRACE",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program with these words.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    /// Standard output of a run that must succeed in silence.
    pub(crate) fn stdout(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Exit code and standard error of a run that must print nothing.
    pub(crate) fn failure(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.run(args);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{args:?}");
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

/// Answers every query from one snapshot, as a monitor does: filtered, sorted and limited.
struct Script {
    snapshot: Snapshot,
    protocol: u32,
}

#[tonic::async_trait]
impl Turbowish for Script {
    async fn hello(&self, _: Request<HelloRequest>) -> Result<Response<HelloReply>, Status> {
        Ok(Response::new(HelloReply {
            protocol: self.protocol,
            version: VERSION.to_owned(),
            process: Some(self.snapshot.process.clone().into()),
            read_only: false,
        }))
    }

    async fn read(
        &self,
        request: Request<proto::Query>,
    ) -> Result<Response<proto::Snapshot>, Status> {
        let bad = |error: String| Status::invalid_argument(error);
        let query = Query::try_from(request.into_inner()).map_err(|e| bad(e.to_string()))?;
        let selection = Selection::parse(&query).map_err(|e| bad(e.to_string()))?;
        let mut snapshot = self.snapshot.clone();
        selection.apply(&mut snapshot);
        Ok(Response::new(snapshot.into()))
    }

    type WatchStream = tokio_stream::Empty<Result<proto::Snapshot, Status>>;

    async fn watch(&self, _: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("the script has one snapshot"))
    }

    async fn control(
        &self,
        _: Request<proto::ControlRequest>,
    ) -> Result<Response<proto::ControlReply>, Status> {
        Err(Status::permission_denied("the script cannot be touched"))
    }
}
