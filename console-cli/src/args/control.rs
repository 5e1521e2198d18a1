//! The command line of what touches a process: `pause`, `resume` and `debug`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::ci::time;

pub(super) const PAUSE_EXAMPLES: &str = "\
Examples:
  turbowish pause 4242 serve-17           it is not polled for 60 s, or until resumed
  turbowish pause serve-17 --for 5m       in your only process
  turbowish pause serve-17 --keep         until it is resumed
  turbowish query tasks --filter state:paused
                                          list the paused tasks

A task that is being polled stops when that poll ends. Pausing a paused task
takes over the pause and restarts its time.";

pub(super) const RESUME_EXAMPLES: &str = "\
Examples:
  turbowish resume 4242 serve-17          no matter who paused it";

pub(super) const DEBUG_EXAMPLES: &str = "\
Examples:
  turbowish debug --gdb 4242 serve-17     $task is its future
  turbowish debug --gdb serve-17 -- -batch -ex bt
                                          what follows -- goes to the debugger
  turbowish debug --lldb serve-17

The task is paused as long as the debugger runs. While the debugger is attached and has
not continued the process, the whole process is stopped. The exit code is the debugger's.";

/// Which task.
#[derive(Args, Debug)]
pub(crate) struct TaskArgs {
    /// Process: ID, name, socket path or (except for debug) host:port; default: your only process.
    /// Task: its name, or its ID in JSON
    #[arg(value_name = "[PID|NAME|ADDR] TASK", required = true, num_args = 1..=2)]
    pub(crate) words: Vec<String>,
}

impl TaskArgs {
    /// The process, if it was named, and the task.
    pub(crate) fn split(&self) -> (Option<&str>, &str) {
        match &self.words[..] {
            [target, name, ..] => (Some(target), name),
            [name] => (None, name),
            [] => (None, ""),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    /// Resume it automatically after this long
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) during: Duration,
    /// Never resume it automatically
    #[arg(long, conflicts_with = "during")]
    pub(crate) keep: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DebugArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) debugger: DebuggerArgs,
    /// If this command dies, the task resumes automatically after this long; 1s or more
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = lease)]
    pub(crate) lease: Duration,
    /// Extra arguments for the debugger
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<OsString>,
}

/// Which debugger.
#[derive(Args, Clone, Copy, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct DebuggerArgs {
    /// GDB
    #[arg(long)]
    pub(crate) gdb: bool,
    /// LLDB
    #[arg(long)]
    pub(crate) lldb: bool,
}

/// Long enough to be renewed in time.
fn lease(text: &str) -> Result<Duration, String> {
    let lease = time(text)?;
    match lease >= Duration::from_secs(1) {
        true => Ok(lease),
        false => Err("a time of 1s or more".to_owned()),
    }
}
