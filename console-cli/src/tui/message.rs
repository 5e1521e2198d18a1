//! Messages to the console, and requests from the console to the loop.

use turbowish_model::query::Query;
use turbowish_model::snapshot::{Accounting, Snapshot, Spot};

use super::clock::Now;
use super::keys::Key;
use super::record::Excerpt;
use super::state::{Listed, PausedTask, PeerState};
use crate::theme::{Palette, Theme};

/// An event.
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
    /// The worst rows of its tables, while a record is open.
    Survey(Box<Snapshot>),
    /// The process's interval between two snapshots, in nanoseconds; it may exceed the requested
    /// one.
    Pace(u64),
    /// The watched process does not answer: the number of attempts, and its state.
    Silent { tries: u32, fate: PeerState },
    /// The processes that could be watched.
    Listed(Vec<Listed>),
    /// Lines of source that the open record asked for.
    Source(Excerpt, Vec<String>),
    /// The process switched its accounting, or says why not.
    Switched(Result<Accounting, String>),
    /// A task is paused, or the process says why not.
    Paused(PausedTask, Result<(), String>),
    /// A task that was paused goes on, or the process says why not.
    Resumed(PausedTask, Result<(), String>),
    /// A task that this console has paused is not any more, or by somebody else.
    Unheld(PausedTask, String),
    /// A debugger that was to have a task has ended, or has failed.
    Debugged(PausedTask, Result<(), String>),
    /// The whole snapshot that was asked for, to be written to a file; or why it did not come.
    Fetched(Result<Box<Snapshot>, String>, Option<String>),
    /// A file was written, or why not.
    Written(Result<String, String>),
    /// What came of something that the loop did.
    Noted(String),
    /// How things are drawn from now on.
    Palette(Palette),
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
#[derive(Clone, Debug, PartialEq)]
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
    Pause(PausedTask),
    /// Ask it to let a task go on.
    Resume(PausedTask),
    /// Leave, and let the tasks that were paused here go on, or keep them paused.
    Leave { keep: bool },
    /// Lend the terminal to a debugger.
    Debug { hold: PausedTask, lldb: bool },
    /// Give a text to the terminal's clipboard.
    Copy(String),
    /// Take the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Ask the process watched for a snapshot, to be written to a file.
    Fetch {
        query: Box<Query>,
        file: Option<String>,
    },
    /// Write a file.
    Write(Box<File>),
    /// Open the first of these places that is found in the user's editor.
    Edit(Vec<Spot>),
    /// Look up the colours of a theme; none is what the environment says.
    Theme(Option<Theme>),
}

/// A file to be written; what is there already is never overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// As it was typed, or a name for the folder in which the console runs.
    pub(crate) name: String,
    /// Where there is such a file, a number makes it another one.
    pub(crate) numbered: bool,
    pub(crate) text: String,
}
