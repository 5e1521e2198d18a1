//! A child process that has the terminal until it ends, or until a signal ends both the console and
//! the child.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::SignalKind;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Console;
use super::state::State;

/// Maximal wait for a child that was asked to end.
const FAREWELL: Duration = Duration::from_secs(3);

/// Maximal delay of an interrupt for a program that had the terminal.
const LATE: Duration = Duration::from_millis(200);

impl Console {
    /// Runs a program on the terminal until the user has read its output; returns its exit status,
    /// or the signal that arrived meanwhile.
    pub(super) async fn run_child(
        &mut self,
        command: Command,
        read: fn(&ExitStatus),
        state: &mut State,
    ) -> io::Result<Result<io::Result<ExitStatus>, SignalKind>> {
        self.input.pause();
        self.screen.leave();
        let signal = self.signals.but_interrupt();
        let ended = run(command, read, signal).await;
        if ended.is_err() {
            self.found.restore();
            return Ok(ended);
        }
        self.screen.enter(state.look.mouse)?;
        // The Ctrl-C that has ended the program may still be on its way, and no other can come from
        // the keyboard.
        self.signals.ignore_interrupts(Instant::now() + LATE);
        self.input.resume();
        self.source.renew();
        state.size = self.screen.size()?;
        Ok(ended)
    }
}

/// Runs a program until it has ended and the user has read its output. If a signal arrives before,
/// the program is asked to end as well, so no process is left that owns the terminal or stops
/// another process.
///
/// # Errors
/// The signal that arrived.
pub(super) async fn run(
    mut command: Command,
    read: fn(&ExitStatus),
    signal: impl Future<Output = SignalKind>,
) -> Result<io::Result<ExitStatus>, SignalKind> {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(fault) => return Ok(Err(fault)),
    };
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, mut end) = oneshot::channel();
    // A separate thread: a console that is ended by a signal does not wait for ever.
    let runs = Arc::new(AtomicBool::new(true));
    let still = Arc::clone(&runs);
    std::thread::spawn(move || {
        let status = child.wait();
        // From here on its process ID may belong to another process.
        still.store(false, Ordering::Release);
        ended.send(status.inspect(read))
    });
    let lost = |_| Err(io::Error::other("it was lost"));
    tokio::select! {
        end = &mut end => Ok(end.unwrap_or_else(lost)),
        signal = signal => {
            if runs.load(Ordering::Acquire) {
                let _ = id.map(|id| kill_process(id, Signal::TERM));
                let _ = timeout(FAREWELL, end).await;
            }
            Err(signal)
        }
    }
}

/// The terminal modes found at the start.
#[derive(Clone, Debug)]
pub(super) struct TerminalModes(Option<Termios>);

impl TerminalModes {
    /// The current modes.
    pub(super) fn now() -> Self {
        Self(tcgetattr(io::stdin()).ok())
    }

    /// Restores the modes, whatever a program that did not exit cleanly has left behind.
    pub(super) fn restore(&self) {
        if let Some(modes) = &self.0 {
            // A failure can be reported to nobody.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn a_program_ends_with_the_console() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let (begun, told) = (file("begun"), file("told"));
        let mut command = Command::new("sh");
        let script =
            r#"trap 'echo TERM > "$2"; exit 0' TERM; : > "$1"; while :; do sleep 0.01; done"#;
        command.args(["-c", script, "sh"]).args([&begun, &told]);
        let signal = async {
            while !begun.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            SignalKind::hangup()
        };
        let ended = run(command, |_| (), signal).await;
        assert_eq!(ended.unwrap_err(), SignalKind::hangup());
        assert_eq!(fs::read_to_string(told).unwrap(), "TERM\n");
    }

    #[tokio::test]
    async fn how_it_ended_is_told() {
        let run = async |program: &str| {
            let mut command = Command::new(program);
            command.args(["-c", "exit 3"]);
            run(command, |_| (), std::future::pending()).await.unwrap()
        };
        assert_eq!(run("sh").await.unwrap().code(), Some(3));
        assert!(run("no-such-program-at-all").await.is_err());
    }
}
