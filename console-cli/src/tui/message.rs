//! What can happen to the console, and what it can ask the loop to do.

use turbowish_model::snapshot::{Accounting, Snapshot};

use super::clock::Now;
use super::keys::Key;
use super::record::Excerpt;
use super::state::{Fate, Hold, Listed};

/// Something happened.
#[derive(Debug)]
pub(crate) enum Message {
    /// A key was pressed.
    Key(Key),
    /// The mouse was used.
    Mouse(Mouse),
    /// The terminal has that many columns and rows.
    Resize(u16, u16),
    /// Time passed.
    Tick(Now),
    /// The process watched sent a snapshot.
    Snapshot(Box<Snapshot>),
    /// The process watched does not answer: the tries so far, and what became of it.
    Silent { tries: u32, fate: Fate },
    /// The processes that could be watched.
    Listed(Vec<Listed>),
    /// Lines of source that the open record asked for.
    Source(Excerpt, Vec<String>),
    /// The process switched its accounting, or says why not.
    Switched(Result<Accounting, String>),
    /// A task is paused, or the process says why not.
    Paused(Hold, Result<(), String>),
    /// A task that was paused goes on, or the process says why not.
    Resumed(Hold, Result<(), String>),
    /// A task that this console has paused is not any more, or by somebody else.
    Unheld(Hold, String),
    /// A debugger has ended, or did not start.
    Debugged(String),
}

/// What the mouse did; columns and lines from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mouse {
    Click(u16, u16),
    Right,
    WheelUp,
    WheelDown,
}

/// Something the loop has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Leave.
    Quit,
    /// Draw everything anew.
    Redraw,
    /// Give the terminal back and stop until continued.
    Suspend,
    /// Ask the process watched to switch its accounting.
    Switch(Accounting),
    /// Ask the process watched to keep a task from being polled.
    Pause(Hold),
    /// Ask it to let a task go on.
    Resume(Hold),
    /// Leave, and let the tasks that were paused here go on, or keep them paused.
    Leave { keep: bool },
    /// Lend the terminal to a debugger.
    Debug { hold: Hold, lldb: bool },
    /// Give a text to the terminal's clipboard.
    Copy(String),
    /// Take the mouse, or leave it to the terminal.
    Mouse(bool),
}
