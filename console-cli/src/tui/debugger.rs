//! The key `D`: runs `turbowish debug` on the terminal, as a user would.

use std::io::{self, Write as _};
use std::process::{Command, ExitStatus};

use super::state::PausedTask;

/// The command that runs the debugger with the task.
///
/// # Errors
/// The path of this program is unknown.
pub(super) fn command(hold: &PausedTask, lldb: bool) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let debugger = if lldb { "--lldb" } else { "--gdb" };
    command.args(["debug", debugger]);
    command.arg(hold.peer.word());
    command.arg(hold.task.to_string());
    Ok(command)
}

/// Keeps the message of a failure on the screen until the user has read it.
pub(super) fn wait(status: &ExitStatus) {
    if status.success() {
        return;
    }
    let mut out = io::stdout();
    // Without a terminal nobody reads it.
    let _ = write!(out, "turbowish: Enter goes back to the console ");
    let _ = out.flush();
    let _ = io::stdin().read_line(&mut String::new());
}

/// The message after the debugger's end.
///
/// # Errors
/// It did not start, or has failed; whether the task is resumed then is shown in its row.
pub(super) fn outcome(ended: io::Result<ExitStatus>) -> Result<(), String> {
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the debugger has failed: {status}")),
        Err(cause) => Err(format!("the debugger did not start: {cause}")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use turbowish_wire::client::Target;

    use super::command;
    use crate::tui::state::{PausedTask, Peer};

    fn check(pid: Option<u32>, target: Target, lldb: bool, expected: &[&str]) {
        let hold = PausedTask {
            peer: Peer { pid, target },
            task: 17,
            name: "--serve".to_owned(),
        };
        let command = command(&hold, lldb).expect("this program has a path");
        let args: Vec<&str> = command.get_args().filter_map(|arg| arg.to_str()).collect();
        assert_eq!(args, expected);
    }

    #[test]
    fn it_names_process_and_task_by_number() {
        let socket = || Target::Socket(PathBuf::from("/run/t/7.sock"));
        check(Some(7), socket(), false, &["debug", "--gdb", "7", "17"]);
        check(
            None,
            socket(),
            true,
            &["debug", "--lldb", "/run/t/7.sock", "17"],
        );
    }
}
