//! `turbowish debug`: pauses a task while a debugger is attached to its process, and resumes it
//! when the debugger ends.

mod debugger;

use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::SignalKind;
use tokio::time::{MissedTickBehavior, interval};
use turbowish_model::snapshot::TaskState;
use turbowish_wire::client::Target;

use self::debugger::Debugger;
use crate::args::{DebugArgs, DebuggerArgs};
use crate::commands::pause::{FoundTask, LEASE_NS};
use crate::failure::{Failure, note};
use crate::signals::Signals;
use crate::{detail, source};

/// Runs `debug`.
///
/// # Errors
/// The debugger or the task does not exist, or the process cannot be reached; the debugger's exit
/// code, if that is not 0.
pub(crate) fn run(args: &DebugArgs, token: Option<&str>) -> Result<(), Failure> {
    let (target, name) = args.task.split();
    let target = source::target(target, token)?;
    if let Some(Target::Tcp { addr, .. }) = &target {
        return Err(Failure::usage(format!(
            "{addr} is reached over TCP, and debuggers attach only to processes of their own host: run this there, with the process ID"
        )));
    }
    let debugger = Debugger::of(args.debugger);
    debugger.look()?;
    source::runtime()?.block_on(session(debugger, args, target, name))
}

/// Checks that a debugger is installed.
///
/// # Errors
/// It is not: the message names the remedy.
pub(crate) fn look(lldb: bool) -> Result<(), String> {
    let debugger = Debugger::of(DebuggerArgs { gdb: !lldb, lldb });
    match debugger.look() {
        Err(Failure::Local(reason)) => Err(reason),
        _ => Ok(()),
    }
}

async fn session(
    debugger: Debugger,
    args: &DebugArgs,
    target: Option<Target>,
    name: &str,
) -> Result<(), Failure> {
    let refused = |cause| Failure::local("cannot start", &cause);
    // Before the task is paused: from here on Ctrl-C is for the debugger, and ends only that.
    let mut signals = Signals::new().map_err(refused)?;
    let mut found = FoundTask::find(target, name).await?;
    let by = format!("turbowish debug pid {}", std::process::id());
    let lease_ns = u64::try_from(args.lease.as_nanos()).unwrap_or(u64::MAX);
    let is_paused = match found.pause(&by, Some(lease_ns), false).await {
        Ok(()) => true,
        // A task in its first poll cannot be paused yet, and a debugger can inspect that poll.
        Err(Failure::Local(reason)) if found.row.state == TaskState::Polling => {
            note(&format!("{reason}; the debugger attaches without a pause"));
            false
        }
        Err(failure) => return Err(failure),
    };
    let ended = async {
        found.again().await?;
        note(&detail::task::heading(&found.row));
        let pid = found.connection.process().pid;
        debugger::warn_of_ptrace();
        let mut command = debugger.command(pid, &found.row);
        let child = command.args(&args.rest).spawn();
        let child = child.map_err(|cause| Failure::local(debugger.program(), &cause))?;
        let hold = PauseLease {
            found: &found,
            by: &by,
            lease_ns: is_paused.then_some(lease_ns),
        };
        hold.attend(child, &mut signals).await
    }
    .await;
    if !is_paused {
        return ended;
    }
    // The task may have ended, or may have been resumed by someone else: neither is an error.
    match found.resume().await {
        Err(failure @ Failure::Target(_)) => failure_first(ended, failure),
        _ => ended,
    }
}

/// Of two failures, returns the first.
fn failure_first(ended: Result<(), Failure>, other: Failure) -> Result<(), Failure> {
    match ended {
        Err(first @ (Failure::Ended(_) | Failure::Signal(_))) => {
            other.report();
            Err(first)
        }
        Err(first) => Err(first),
        Ok(()) => Err(other),
    }
}

/// The paused task, and its lease.
struct PauseLease<'a> {
    found: &'a FoundTask,
    by: &'a str,
    lease_ns: Option<u64>,
}

impl PauseLease<'_> {
    /// Renews the lease until the debugger has ended.
    async fn attend(&self, mut child: Child, signals: &mut Signals) -> Result<(), Failure> {
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let mut ended = tokio::task::spawn_blocking(move || child.wait());
        // Before half of the lease has passed.
        let lease_ns = self.lease_ns.unwrap_or(LEASE_NS);
        let mut renewals = interval(Duration::from_nanos(lease_ns / 3));
        renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut signalled = None;
        loop {
            tokio::select! {
                status = &mut ended => {
                    let status = status.map_err(|fault| Failure::Local(fault.to_string()))?;
                    let status = status.map_err(|cause| Failure::local("the debugger", &cause))?;
                    return outcome(signalled, status);
                }
                signal = signals.first() => {
                    // Ctrl-C on the terminal has reached the debugger as well.
                    if signal != SignalKind::interrupt() {
                        signalled = Some(signal);
                        let _ = id.map(|id| kill_process(id, Signal::TERM));
                    }
                }
                _ = renewals.tick() => self.renew().await,
            }
        }
    }

    /// Renews the lease. While the debugger has stopped the process there is no answer, and none is
    /// needed: the lease does not run either.
    async fn renew(&self) {
        const PATIENCE: Duration = Duration::from_millis(500);
        if self.lease_ns.is_none() {
            return;
        }
        let renewed = self.found.pause(self.by, self.lease_ns, true);
        let _ = tokio::time::timeout(PATIENCE, renewed).await;
    }
}

/// The result of the command, from the end of the debugger.
fn outcome(signalled: Option<SignalKind>, status: ExitStatus) -> Result<(), Failure> {
    use std::os::unix::process::ExitStatusExt;
    if let Some(signal) = signalled {
        return Err(Failure::signal(signal));
    }
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(Failure::Ended(u8::try_from(code).unwrap_or(1))),
        (None, signal) => {
            Err(Failure::Ended(signal.map_or(1, |signal| {
                u8::try_from(128 + signal).unwrap_or(1)
            })))
        }
    }
}
