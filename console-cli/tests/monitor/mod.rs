//! A scripted process: it answers over a real Unix socket, and its numbers never change.

mod alerts;
mod manners;
mod script;
mod server;
mod stuck;
pub(crate) mod taint;

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use turbowish_model::snapshot::Snapshot;
use turbowish_wire::{PROTOCOL, discovery};

pub(crate) use alerts::stall;
pub(crate) use script::{gate, kv};
pub(crate) use server::Manner;
pub(crate) use server::Reply;
use server::Server;
pub(crate) use stuck::stuck;

/// A folder of sockets with scripted processes behind them.
pub(crate) struct Host {
    folder: TempDir,
    servers: RefCell<Vec<Server>>,
}

impl Host {
    /// A host on which nothing runs.
    pub(crate) fn empty() -> Self {
        let closed = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new()
            .permissions(closed)
            .tempdir()
            .unwrap();
        Self {
            folder,
            servers: RefCell::default(),
        }
    }

    /// Ends all processes; their sockets stay behind.
    pub(crate) fn kill(&mut self) {
        self.servers.get_mut().drain(..).for_each(Server::kill);
    }

    /// A host on which the kv server runs.
    pub(crate) fn with_kv() -> Self {
        let host = Self::empty();
        host.start(kv(), PROTOCOL);
        host
    }

    /// Starts a process that speaks a protocol; it is reachable when this returns.
    pub(crate) fn start(&self, snapshot: Snapshot, protocol: u32) {
        self.start_with(snapshot, Manner::Speaks(protocol));
    }

    /// Starts a process that behaves so.
    pub(crate) fn start_with(&self, snapshot: Snapshot, manner: Manner) {
        let socket = discovery::socket(self.folder.path(), snapshot.process.pid);
        let server = Server::start(socket, snapshot, manner);
        self.servers.borrow_mut().push(server);
    }

    /// Says what the next one who watches is sent.
    pub(crate) fn send(&self, reply: Reply) {
        let servers = self.servers.borrow();
        servers.iter().for_each(|server| server.send(reply.clone()));
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
            .env("XDG_STATE_HOME", self.path())
            .env("TZ", "UTC");
        for name in [
            "COLUMNS",
            "TURBOWISH_TOKEN",
            "TURBOWISH_THEME",
            "TURBOWISH_NO_STATE",
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
