//! A child process with a time limit. When the limit is reached, and on Ctrl-C, it is killed with
//! all processes that it started.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The process group of the running step; at most one runs at a time.
static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);

/// The result of a step.
pub(super) struct Ended {
    /// `None` if it had to be killed.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ended {
    /// Whether it exited with success.
    pub(super) fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// The reason for a failure.
    pub(super) fn how(&self) -> String {
        match self.status {
            Some(status) => status.to_string(),
            None => "out of time".to_owned(),
        }
    }
}

/// Kills the running step on Ctrl-C and the other termination signals.
pub(super) fn end_with_us() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // The lock is kept, so that no other step starts.
            let running = running();
            if let Some(group) = *running {
                end(group);
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Runs `command` for at most `limit`. Its output goes to `log` with the endings `.out` and `.err`,
/// and stays there.
pub(super) fn run(command: &mut Command, limit: Duration, log: &Path) -> io::Result<Ended> {
    let (stdout, stderr) = (log.with_extension("out"), log.with_extension("err"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .process_group(0);
    let (child, group) = start(command)?;
    let status = wait(child, limit);
    // Child processes may outlive it.
    end(group);
    *running() = None;
    let text =
        |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Ended {
        status,
        stdout: text(&stdout)?,
        stderr: text(&stderr)?,
    })
}

fn start(command: &mut Command) -> io::Result<(Child, Pid)> {
    let mut running = running();
    let child = command.spawn()?;
    let group = Pid::from_child(&child);
    *running = Some(group);
    Ok((child, group))
}

fn wait(mut child: Child, limit: Duration) -> Option<ExitStatus> {
    let group = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    let waiting = thread::spawn(move || {
        let status = child.wait();
        // Nobody receives it if the step had to be killed.
        let _ = sender.send(status);
    });
    let status = receiver.recv_timeout(limit).ok().and_then(Result::ok);
    if status.is_none() {
        end(group);
    }
    // It waits for a process that has ended.
    let _ = waiting.join();
    status
}

fn end(group: Pid) {
    // An error means that the group no longer exists.
    let _ = kill_process_group(group, Signal::KILL);
}

fn running() -> MutexGuard<'static, Option<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
