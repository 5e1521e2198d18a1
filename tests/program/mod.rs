//! Runs the examples as programs of their own and reads what they leave.
#![allow(
    dead_code,
    reason = "each test file compiles this module for itself and uses a part of it"
)]

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// A folder for one program's socket and report.
pub(crate) struct Program {
    pub(crate) folder: tempfile::TempDir,
    command: Command,
}

/// A program that runs, and is ended by force if it does not end.
pub(crate) struct Running {
    folder: tempfile::TempDir,
    child: Child,
    stdout: BufReader<ChildStdout>,
    head: String,
    _ended: mpsc::Sender<()>,
}

/// No program of a test needs longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a program left.
pub(crate) struct Left {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) report: Option<Value>,
    /// Kept until the test has looked.
    pub(crate) folder: tempfile::TempDir,
}

impl Program {
    /// An example, with its report going to a file and its socket to a folder of its own.
    pub(crate) fn example(name: &str, arguments: &[&str]) -> Self {
        Self::example_under(&[], name, arguments)
    }

    /// An example that another program starts, such as `prlimit`.
    pub(crate) fn example_under(under: &[&str], name: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let example = examples().join(name);
        let mut words = under.iter().map(OsStr::new).chain([example.as_os_str()]);
        let mut command = Command::new(words.next().expect("the example at least"));
        command
            .args(words)
            .args(arguments)
            .env_remove("TURBOWISH")
            .env_remove("TURBOWISH_LISTEN")
            .env("TURBOWISH_RUNTIME_DIR", folder.path().join("sockets"))
            .env("TURBOWISH_REPORT", folder.path().join("report.json"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { folder, command }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// With its stderr there.
    pub(crate) fn stderr(mut self, to: impl Into<Stdio>) -> Self {
        self.command.stderr(to);
        self
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Running {
        let mut child = self
            .command
            .spawn()
            .expect("cargo builds the examples before the tests");
        let stdout = child.stdout.take().expect("a pipe");
        let (ended, told) = mpsc::channel::<()>();
        let pid = child.id();
        std::thread::spawn(move || {
            if told.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                send(SIGKILL, pid);
            }
        });
        Running {
            folder: self.folder,
            child,
            stdout: BufReader::new(stdout),
            head: String::new(),
            _ended: ended,
        }
    }

    /// Runs to the end.
    pub(crate) fn run(self) -> Left {
        self.start().left()
    }

    /// Runs until it prints `ready`, then calls `then` with its process id.
    pub(crate) fn run_until_ready(self, then: impl FnOnce(u32, &Path)) -> Left {
        let mut running = self.start();
        running.until("ready");
        then(running.pid(), running.folder.path());
        running.left()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for this line; `false` if the program ends before.
    pub(crate) fn until(&mut self, line: &str) -> bool {
        loop {
            let from = self.head.len();
            match self.stdout.read_line(&mut self.head) {
                Ok(0) | Err(_) => return false,
                Ok(_) if self.head[from..].trim_end() == line => return true,
                Ok(_) => {}
            }
        }
    }

    /// Waits for its end.
    pub(crate) fn left(mut self) -> Left {
        // Closed, or a program that reads it would wait.
        drop(self.child.stdin.take());
        let mut stderr = self.child.stderr.take();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(stderr) = &mut stderr {
                stderr.read_to_end(&mut text).expect("it can be read");
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut stdout = Vec::new();
        self.stdout.read_to_end(&mut stdout).expect("readable");
        let status = self.child.wait().expect("its end");
        let report = std::fs::read_to_string(self.folder.path().join("report.json")).ok();
        Left {
            status,
            stdout: self.head + &String::from_utf8_lossy(&stdout),
            stderr: errors.join().expect("it does not panic"),
            report: report.map(|text| serde_json::from_str(&text).expect("a report is JSON")),
            folder: self.folder,
        }
    }
}

impl Left {
    /// A proc of the report.
    pub(crate) fn proc(&self, path: &str) -> &Value {
        let procs = self.report.as_ref().expect("a report")["procs"]
            .as_array()
            .expect("procs");
        procs
            .iter()
            .find(|proc| proc["proc"] == path)
            .unwrap_or_else(|| panic!("no proc {path} in {procs:?}"))
    }
}

fn examples() -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let profile = own
        .parent()
        .and_then(|deps| deps.parent())
        .expect("target/PROFILE/deps/TEST");
    profile.join("examples")
}

pub(crate) const SIGINT: i32 = 2;
pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGTERM: i32 = 15;

pub(crate) fn send(signal: i32, pid: u32) {
    let status = Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status();
    assert!(status.expect("kill").success());
}

pub(crate) fn terminate(pid: u32) {
    send(SIGTERM, pid);
}
