//! The command line of what touches a process: `pause`, `resume` and `debug`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::ci::time;

pub(super) const PAUSE_EXAMPLES: &str = "\
Examples:
  turbowish pause 4242 serve-17           it is not polled for 60 s, or until resumed
  turbowish pause serve-17 --for 5m       in the only process of yours
  turbowish pause serve-17 --keep         until it is resumed
  turbowish query tasks --filter state:paused
                                          which ones are

A task that is polled now stops when that poll has ended. Whoever pauses a task that
is paused has it from then on, and its time begins anew.";

pub(super) const RESUME_EXAMPLES: &str = "\
Examples:
  turbowish resume 4242 serve-17          whoever has paused it";

pub(super) const DEBUG_EXAMPLES: &str = "\
Examples:
  turbowish debug --gdb 4242 serve-17     $task is its future
  turbowish debug --gdb serve-17 -- -batch -ex bt
                                          what follows -- goes to the debugger
  turbowish debug --lldb serve-17

The task is paused as long as the debugger runs. While it is attached, and has not let
it continue, the whole process stands still. The exit code is the debugger's.";

/// Which task.
#[derive(Args, Debug)]
pub(crate) struct TaskArgs {
    /// The process, unless it is the only one of yours: its id or socket path (host:port but for
    /// debug); and the task: its name, or its id in JSON
    #[arg(value_name = "[PID|ADDR] TASK", required = true, num_args = 1..=2)]
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
    /// It goes on by itself after so long
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) during: Duration,
    /// It does not go on by itself
    #[arg(long, conflicts_with = "during")]
    pub(crate) keep: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DebugArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) debugger: DebuggerArgs,
    /// If this command dies, the task goes on by itself after so long; 1s or more
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = lease)]
    pub(crate) lease: Duration,
    /// What the debugger is given behind its own arguments
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
