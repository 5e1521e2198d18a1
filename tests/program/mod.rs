//! Runs the examples as programs of their own and reads what they leave.
#![allow(
    dead_code,
    reason = "each test file compiles this module for itself and uses a part of it"
)]

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;

/// A folder for one program's socket and report.
pub(crate) struct Program {
    pub(crate) folder: tempfile::TempDir,
    command: Command,
}

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
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(examples().join(name));
        command
            .args(arguments)
            .env_remove("TURBOWISH")
            .env_remove("TURBOWISH_LISTEN")
            .env("TURBOWISH_RUNTIME_DIR", folder.path().join("sockets"))
            .env("TURBOWISH_REPORT", folder.path().join("report.json"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { folder, command }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs to the end.
    pub(crate) fn run(mut self) -> Left {
        let child = self
            .command
            .spawn()
            .expect("cargo builds the examples before the tests");
        self.left(child, String::new())
    }

    /// Runs until it prints `ready`, then calls `then` with its process id.
    pub(crate) fn run_until_ready(mut self, then: impl FnOnce(u32, &Self)) -> Left {
        let mut child = self
            .command
            .spawn()
            .expect("cargo builds the examples before the tests");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut head = String::new();
        while !head.ends_with("ready\n") {
            assert_ne!(
                stdout.read_line(&mut head).expect("a line"),
                0,
                "it ended before it was ready"
            );
        }
        then(child.id(), &self);
        stdout.read_to_string(&mut head).expect("text");
        self.left(child, head)
    }

    fn left(self, child: Child, head: String) -> Left {
        let output = child.wait_with_output().expect("its end");
        let report = std::fs::read_to_string(self.folder.path().join("report.json")).ok();
        Left {
            status: output.status,
            stdout: head + &String::from_utf8_lossy(&output.stdout),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
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
