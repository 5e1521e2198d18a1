//! Children of `fork` neither hang nor claim to be accounted, and a program that becomes a daemon
//! reports what it lacks.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use turbowish_model::query::Query;
use turbowish_wire::client::{Connection, Target};

/// A child takes some milliseconds. One that takes so long hangs.
const PATIENCE_S: &str = "60";

fn folder() -> tempfile::TempDir {
    let own = std::fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(own).tempdir();
    folder.expect("a folder")
}

fn program(path: &str, folder: &Path) -> Command {
    let mut command = Command::new(path);
    command
        .env_remove("TURBOWISH")
        .env_remove("TURBOWISH_LISTEN")
        .env_remove("TURBOWISH_REPORT")
        .env("TURBOWISH_RUNTIME_DIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn no_child_hangs_while_other_threads_poll() {
    let folder = folder();
    let report = folder.path().join("report.json");
    let mut storm = program(env!("CARGO_BIN_EXE_storm"), folder.path());
    let left = storm
        .args(["200", PATIENCE_S])
        .env("TURBOWISH_REPORT", &report)
        .output();
    let left = left.expect("it runs");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&left.stdout),
        String::from_utf8_lossy(&left.stderr),
    );
    assert_eq!(stdout, "0 of 200 children failed\n", "{stderr}");
    assert_eq!(left.status.code(), Some(0));
    // Each says once what it is, and the report is the parent's alone.
    assert_eq!(
        stderr.matches("is a fork of process").count(),
        200,
        "{stderr}"
    );
    assert_eq!(stderr.matches("in polls").count(), 2, "{stderr}");
    assert!(report.exists());
    // A child records nothing, and leaves what its parent has recorded to the parent.
    let recordings = turbowish_wire::discovery::recordings(folder.path());
    assert_eq!(recordings.expect("its folder"), []);
}

/// Becomes a daemon. Returns its first process, which has exited, and the process that stays.
fn daemon(when: &str, folder: &Path) -> (Child, BufReader<std::process::ChildStdout>, u32) {
    let mut first = program(env!("CARGO_BIN_EXE_daemon"), folder)
        .arg(when)
        .spawn()
        .expect("it starts");
    let mut stdout = BufReader::new(first.stdout.take().expect("a pipe"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let pid = line.trim().parse().expect("a process id");
    assert_ne!(pid, first.id());
    (first, stdout, pid)
}

/// Its last process ends with its input, and closes its output.
fn end(mut first: Child, mut stdout: BufReader<std::process::ChildStdout>) -> String {
    drop(first.stdin.take());
    let mut stderr = String::new();
    let mut pipe = first.stderr.take().expect("a pipe");
    pipe.read_to_string(&mut stderr).expect("text");
    stdout.read_to_string(&mut String::new()).expect("text");
    assert!(first.wait().expect("its end").success());
    stderr
}

#[test]
fn a_daemon_that_called_init_too_early_says_so_once() {
    let folder = folder();
    let (first, stdout, pid) = daemon("before", folder.path());
    let parent = first.id();
    let recordings = turbowish_wire::discovery::recordings(folder.path());
    let recordings = recordings.expect("its folder");
    assert!(recordings.iter().all(|recording| recording.pid == parent));
    assert_eq!(
        end(first, stdout),
        format!(
            "turbowish: process {pid} is a fork of process {parent}, which called init: \
             it is not measured, and no console can attach; call init after the fork instead\n"
        )
    );
}

#[tokio::test]
async fn a_daemon_that_calls_init_after_the_fork_has_a_console() {
    let folder = folder();
    let (first, stdout, pid) = daemon("after", folder.path());
    let target = Target::Socket(turbowish_wire::discovery::socket(folder.path(), pid));
    let connection = loop {
        if let Ok(connection) = Connection::connect(&target).await {
            break connection;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let query = Query {
        procs: Some(turbowish_model::query::Rows::default()),
        ..Query::default()
    };
    let snapshot = connection.snapshot(&query).await.expect("a snapshot");
    assert_eq!(snapshot.process.pid, pid);
    let work = snapshot
        .procs
        .rows
        .iter()
        .find(|row| row.proc == "daemon::work");
    assert_eq!(work.map(|row| row.calls), Some(3));
    assert_eq!(end(first, stdout), "");
}
