//! The debugger: its choice, whether it is installed, and its arguments for the task.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use turbowish_model::snapshot::TaskRow;
use turbowish_model::snapshot::sanitize::is_unprintable;

use crate::args::DebuggerArgs;
use crate::failure::{Failure, note};

/// A debugger that can be attached to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Debugger {
    Gdb,
    Lldb,
}

impl Debugger {
    pub(super) const fn of(args: DebuggerArgs) -> Self {
        if args.lldb { Self::Lldb } else { Self::Gdb }
    }

    /// The name of the executable.
    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Gdb => "gdb",
            Self::Lldb => "lldb",
        }
    }

    const fn other(self) -> &'static str {
        match self {
            Self::Gdb => "--lldb",
            Self::Lldb => "--gdb",
        }
    }

    /// Checks that the debugger is installed, before a task is paused.
    ///
    /// # Errors
    /// The debugger is in no folder of `PATH`.
    pub(super) fn look(self) -> Result<(), Failure> {
        let program = self.program();
        let folders = env::var_os("PATH").unwrap_or_default();
        let is_there = env::split_paths(&folders).any(|folder| {
            let known = fs::metadata(folder.join(program));
            known.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        });
        if is_there {
            return Ok(());
        }
        Err(Failure::Local(format!(
            "{program} is not installed or not in PATH: install the package {program}, or try {}",
            self.other()
        )))
    }

    /// The command that attaches the debugger to the process, with the task's future at hand.
    pub(super) fn command(self, pid: u32, row: &TaskRow) -> Command {
        let mut command = Command::new(self.program());
        match self {
            Self::Gdb => {
                command.args(["-q", "-p", &pid.to_string()]);
                for each in gdb(row).into_iter().chain(gdb_thread(row)) {
                    command.args(["-ex", &each]);
                }
            }
            Self::Lldb => {
                command.args(["-p", &pid.to_string()]);
                for each in lldb(row).into_iter().chain(lldb_thread(row)) {
                    command.args(["-o", &each]);
                }
            }
        }
        command
    }
}

/// The address of the task's future; 0 if not known.
fn address(row: &TaskRow) -> u64 {
    row.pause.as_ref().map_or(0, |pause| pause.address)
}

/// The type of the task's future: that of an instrumented `async fn` is its first `async` block.
/// For a generic function or a method, only the debug information knows the name.
fn type_of(row: &TaskRow) -> String {
    format!("{}::{{async_block_env#0}}", row.root)
}

/// The last segment of a path.
fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Text that a debugger prints literally: names come from the program.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| !is_unprintable(*c) && !matches!(c, '\\' | '"' | '\'' | '%' | ';');
    text.chars().filter(is_plain).collect()
}

/// Commands that select the thread that polls the task. gdb finds it automatically, and selects it
/// if it has Python.
fn gdb_thread(row: &TaskRow) -> Vec<String> {
    let Some(id) = row.os_thread_id else {
        return Vec::new();
    };
    vec![
        format!("thread find LWP {id})"),
        format!(
            "python [gdb.execute('thread %d' % thread.num) for thread in gdb.selected_inferior().threads() if thread.ptid[1] == {id}]"
        ),
    ]
}

/// The same in lldb.
fn lldb_thread(row: &TaskRow) -> Option<String> {
    let id = row.os_thread_id?;
    Some(format!(
        "script lldb.debugger.GetSelectedTarget().GetProcess().SetSelectedThreadByID({id})"
    ))
}

/// Commands that print an address without a type, which always exists; then with the type, if gdb
/// knows it.
fn gdb(row: &TaskRow) -> Vec<String> {
    let (at, ty) = (address(row), plain(&type_of(row)));
    let echo = |text: String| format!("echo {}\\n", plain(&text));
    if at == 0 {
        return vec![echo(format!("the address of {} is unknown", row.name))];
    }
    vec![
        echo(format!(
            "$task: {}, {at:#x}, {} bytes, {ty}. If gdb does not know the type, try: info types {}::.async_",
            row.name,
            row.future_bytes,
            last(&row.root)
        )),
        "set language c".to_owned(),
        format!("set $task = (void *) {at:#x}"),
        // A future may require a larger alignment than usual, and then begins at a higher address.
        format!("set $task = ('{ty}' *) (({at:#x} + _Alignof('{ty}') - 1) & -_Alignof('{ty}'))"),
        "set language auto".to_owned(),
    ]
}

fn lldb(row: &TaskRow) -> Vec<String> {
    let (at, ty) = (address(row), plain(&type_of(row)));
    let script = |text: String| format!("script print(\"{}\")", plain(&text));
    if at == 0 {
        return vec![script(format!("the address of {} is unknown", row.name))];
    }
    vec![
        script(format!(
            "$task: {}, {at:#x}, {} bytes, {ty}",
            row.name, row.future_bytes
        )),
        format!("expression -l c++ -- void *$task = (void *) {at:#x}"),
    ]
}

/// Warns in advance of errors that the debugger will report, with the remedy.
pub(super) fn warn_of_ptrace() {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let scope = scope.ok().and_then(|text| text.trim().parse().ok());
    if let Some(text) = ptrace_advice(scope.unwrap_or(0), rustix::process::geteuid().is_root()) {
        note(text);
    }
}

fn ptrace_advice(scope: u32, root: bool) -> Option<&'static str> {
    match (scope, root) {
        (0, _) | (1 | 2, true) => None,
        (1 | 2, false) => Some(
            "debuggers may not attach to a process here unless they run as root: sudo sysctl kernel.yama.ptrace_scope=0 allows it until \
             the next boot, or run this with sudo",
        ),
        _ => Some(
            "debuggers may not attach to a process here: kernel.yama.ptrace_scope is 3, which can be changed \
             only by a reboot with another setting",
        ),
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::{PauseRow, TaskRow};

    use super::{Debugger, ptrace_advice};

    fn task(address: u64) -> TaskRow {
        TaskRow {
            name: "conn;\"1\"\n".to_owned(),
            root: "kv::conn::serve".to_owned(),
            future_bytes: 512,
            pause: Some(PauseRow {
                address,
                ..PauseRow::default()
            }),
            ..TaskRow::default()
        }
    }

    fn check(debugger: Debugger, address: u64, expected: &[&str]) {
        let command = debugger.command(4242, &task(address));
        let args: Vec<&str> = command.get_args().filter_map(|arg| arg.to_str()).collect();
        assert_eq!(args, expected);
    }

    #[test]
    fn the_task_is_at_hand() {
        check(
            Debugger::Gdb,
            0x55_00,
            &[
                "-q",
                "-p",
                "4242",
                "-ex",
                "echo $task: conn1, 0x5500, 512 bytes, kv::conn::serve::{async_block_env#0}. If gdb does not know the type, try: info types serve::.async_\\n",
                "-ex",
                "set language c",
                "-ex",
                "set $task = (void *) 0x5500",
                "-ex",
                "set $task = ('kv::conn::serve::{async_block_env#0}' *) ((0x5500 + _Alignof('kv::conn::serve::{async_block_env#0}') - 1) & -_Alignof('kv::conn::serve::{async_block_env#0}'))",
                "-ex",
                "set language auto",
            ],
        );
        check(
            Debugger::Lldb,
            0x55_00,
            &[
                "-p",
                "4242",
                "-o",
                "script print(\"$task: conn1, 0x5500, 512 bytes, kv::conn::serve::{async_block_env#0}\")",
                "-o",
                "expression -l c++ -- void *$task = (void *) 0x5500",
            ],
        );
    }

    #[test]
    fn the_thread_that_polls_it_is_at_hand() {
        let polling = TaskRow {
            os_thread_id: Some(4711),
            ..task(0)
        };
        let last = |debugger: Debugger| {
            let command = debugger.command(4242, &polling);
            let last = command.get_args().last().and_then(|arg| arg.to_str());
            last.map(str::to_owned)
        };
        assert_eq!(
            last(Debugger::Gdb).as_deref(),
            Some(
                "python [gdb.execute('thread %d' % thread.num) for thread in gdb.selected_inferior().threads() if thread.ptid[1] == 4711]"
            )
        );
        assert_eq!(
            last(Debugger::Lldb).as_deref(),
            Some(
                "script lldb.debugger.GetSelectedTarget().GetProcess().SetSelectedThreadByID(4711)"
            )
        );
    }

    #[test]
    fn what_is_not_known_is_said() {
        check(
            Debugger::Gdb,
            0,
            &[
                "-q",
                "-p",
                "4242",
                "-ex",
                "echo the address of conn1 is unknown\\n",
            ],
        );
    }

    #[test]
    fn rights_that_are_lacking_are_told() {
        let told = |scope, root| ptrace_advice(scope, root).is_some();
        assert!(!told(0, false) && !told(1, true) && !told(2, true));
        assert!(told(1, false) && told(2, false) && told(3, true));
    }
}
