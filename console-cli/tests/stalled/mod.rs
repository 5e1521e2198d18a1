//! A terminal that takes nothing holds the console back no longer than it must.

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Action, LocalModes, Winsize, tcflow, tcgetattr, tcsetwinsize};

use super::monitor::Host;
use super::terminal;

/// Longer than anything takes on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// Our end of a terminal, that of the console, and the console itself, which has made it its own.
struct Console {
    ours: File,
    theirs: File,
    child: Child,
}

impl Console {
    fn start(host: &Host, before: impl Fn(&File)) -> Self {
        let (ours, theirs) = terminal();
        let size = Winsize {
            ws_col: 200,
            ws_row: 60,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&theirs, size).unwrap();
        before(&theirs);
        let child = host
            .command()
            .args(["top", "4242"])
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs.try_clone().unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut console = Self {
            ours,
            theirs,
            child,
        };
        console.until("the terminal is the console's", Self::is_raw);
        console
    }

    /// Lines are not collected: somebody reads keys.
    fn is_raw(&mut self) -> bool {
        let modes = tcgetattr(&self.theirs).unwrap().local_modes;
        !modes.contains(LocalModes::ICANON)
    }

    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < PATIENCE, "not so: {what}");
            std::thread::yield_now();
        }
    }

    /// The exit code, and whether the terminal is as it was.
    fn end(mut self) -> (Option<i32>, bool) {
        let mut code = None;
        self.until("the console ends", |console| {
            let ended = console.child.try_wait().unwrap();
            code = ended.map(|status| status.code());
            ended.is_some()
        });
        (code.flatten(), !self.is_raw())
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // It has ended, if the test has not failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_stopped_terminal_does_not_keep_a_signal_from_ending_it() {
    let host = Host::with_kv();
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        // As after ^S: not a byte is taken.
        let console = Console::start(&host, |theirs| tcflow(theirs, Action::OOff).unwrap());
        kill_process(Pid::from_child(&console.child), signal).unwrap();
        assert_eq!(console.end(), (Some(code), true), "{signal:?}");
    }
}

#[test]
fn nor_does_one_that_nobody_reads() {
    let host = Host::with_kv();
    let mut console = Console::start(&host, |_| ());
    // Each key is a new picture, until there is room for none.
    for _ in 0..500 {
        console.ours.write_all(b"12").unwrap();
    }
    kill_process(Pid::from_child(&console.child), Signal::TERM).unwrap();
    assert_eq!(console.end(), (Some(143), true));
}

#[test]
fn keys_are_heard_though_nothing_is_drawn() {
    let host = Host::with_kv();
    let mut console = Console::start(&host, |theirs| tcflow(theirs, Action::OOff).unwrap());
    console.ours.write_all(b"q").unwrap();
    assert_eq!(console.end(), (Some(0), true));
}
