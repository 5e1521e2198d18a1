//! `fork`, and a wait for the child with a timeout.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

#[allow(unsafe_code, reason = "no safe binding of `fork` exists")]
mod system {
    unsafe extern "C" {
        // SAFETY: `fork` takes no arguments. What a child may do is up to the C library, whose
        // locks work in children.
        #[link_name = "fork"]
        safe fn system_fork() -> i32;
    }

    /// The child's process id; 0 in the child.
    pub(super) fn fork() -> i32 {
        system_fork()
    }
}

/// Forks. Returns the child, or `None` in the child.
///
/// # Panics
/// The system refuses.
#[must_use]
pub fn fork() -> Option<Pid> {
    let pid = system::fork();
    assert!(pid >= 0, "fork failed");
    Pid::from_raw(pid)
}

/// Waits for a child to exit. Returns its exit code, or `None` if it had to be killed at the
/// deadline or died of a signal.
#[must_use]
pub fn wait(child: Pid, patience: Duration) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Ok(Some((_, status))) = waitpid(Some(child), WaitOptions::NOHANG) {
            return status.exit_status();
        }
        if begun.elapsed() > patience {
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::empty());
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
