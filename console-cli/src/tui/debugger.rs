//! `D` runs `turbowish debug` on the terminal, as one would oneself.

use std::io::{self, Write as _};
use std::process::{Command, ExitStatus};

use tokio::sync::oneshot;

use super::state::Hold;

/// Runs a debugger until it has ended.
///
/// # Errors
/// It did not start, or has failed: whether the task goes on then its row says.
pub(super) async fn run(hold: &Hold, lldb: bool) -> Result<(), String> {
    let command = command(hold, lldb);
    let (sender, ended) = oneshot::channel();
    // A thread of its own: a console that is ended by a signal does not wait for the debugger.
    std::thread::spawn(move || sender.send(self::ended(command)));
    match ended.await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("the debugger has failed: {status}")),
        Ok(Err(cause)) => Err(format!("the debugger did not start: {cause}")),
        Err(_) => Err("the debugger was lost".to_owned()),
    }
}

fn command(hold: &Hold, lldb: bool) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let debugger = if lldb { "--lldb" } else { "--gdb" };
    command.args(["debug", debugger]);
    command.arg(hold.peer.word());
    command.arg(hold.task.to_string());
    Ok(command)
}

/// What it says of a failure stays on the screen until it was read.
fn ended(command: io::Result<Command>) -> io::Result<ExitStatus> {
    let status = command?.status()?;
    if !status.success() {
        let mut out = io::stdout();
        write!(out, "turbowish: Enter goes back to the console ")?;
        out.flush()?;
        io::stdin().read_line(&mut String::new())?;
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use turbowish_wire::client::Target;

    use super::command;
    use crate::tui::state::{Hold, Peer};

    fn check(pid: Option<u32>, target: Target, lldb: bool, expected: &[&str]) {
        let hold = Hold {
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
