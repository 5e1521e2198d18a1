//! Messages to the console, and requests from the console to the loop.

use turbowish_model::query::Query;
use turbowish_model::snapshot::{Accounting, Snapshot, Spot};

use super::clock::Now;
use super::keys::Key;
use super::record::{Excerpt, HistoryQuery};
use super::state::{Leap, Listed, Past, PausedTask, Peer, PeerState};
use crate::history::SubjectHistory;
use crate::theme::{Palette, Theme};

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
    /// The requested state of the recording cannot be read, and why.
    Unread(String),
    /// The states that the watched process keeps, requested by this way back; or why there are
    /// none.
    Kept(Leap, Result<Past, String>),
    /// The history of the open record, as it was requested; or why there is none.
    History(Box<HistoryQuery>, Result<Box<SubjectHistory>, String>),
    /// The worst rows of its tables, while a record is open.
    Survey(Box<Snapshot>),
    /// The process's interval between two snapshots, in nanoseconds; it may exceed the requested
    /// one.
    Pace(u64),
    /// The watched process does not answer: the number of attempts, and its state.
    Silent { tries: u32, fate: PeerState },
    /// The processes that can be watched.
    Listed(Vec<Listed>),
    /// Source lines that the open record requested.
    Source(Excerpt, Vec<String>),
    /// The process was armed or disarmed, or the reason why not.
    Switched(Result<Accounting, String>),
    /// A task is paused, or the reason why not.
    Paused(PausedTask, Result<(), String>),
    /// A paused task was resumed, or the reason why not.
    Resumed(PausedTask, Result<(), String>),
    /// A task that this console had paused is no longer paused, or is paused by another console.
    Unheld(PausedTask, String),
    /// A debugger for a task has ended, or has failed.
    Debugged(PausedTask, Result<(), String>),
    /// The requested full snapshot, to be written to a file; or the reason why it did not arrive.
    Fetched(Result<Box<Snapshot>, String>, Option<String>),
    /// A file was written, or the reason why not.
    Written(Result<String, String>),
    /// The result of an action of the loop.
    Noted(String),
    /// A file of what the process keeps was written, or the reason why not.
    Copied(Result<String, String>),
    /// So many bytes are in the recording that this console writes.
    Taped(u64),
    /// It has ended: what is in the file, or why it was not written to its end.
    TapeEnded(Result<String, String>),
    /// The palette to use from now on.
    Palette(Palette),
}

/// A mouse event; columns and lines from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mouse {
    Click(u16, u16),
    Right,
    WheelUp,
    WheelDown,
}

/// An effect for the loop to perform.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Exits the console.
    Quit,
    /// Redraws the whole screen.
    Redraw,
    /// Restores the terminal and stops until continued.
    Suspend,
    /// Arms or disarms the watched process.
    Switch(Accounting),
    /// Requests the states that the watched process keeps, to go back this way.
    Rewind(Leap),
    /// Pauses a task of the watched process.
    Pause(PausedTask),
    /// Resumes a task of the watched process.
    Resume(PausedTask),
    /// Exits, and resumes the tasks that were paused here or keeps them paused.
    Leave { keep: bool },
    /// Runs a debugger on the terminal.
    Debug { hold: PausedTask, lldb: bool },
    /// Copies a text to the terminal's clipboard.
    Copy(String),
    /// Captures the mouse, or leaves it to the terminal.
    Mouse(bool),
    /// Requests a snapshot from the watched process, to be written to a file.
    Fetch {
        query: Box<Query>,
        file: Option<String>,
    },
    /// Writes what the process keeps to a new file of about that name.
    Snapshot(Peer, String),
    /// Records the states of the process to a new file of about that name.
    Record(Peer, String),
    /// Ends the recording.
    EndRecord,
    /// Writes a file.
    Write(Box<File>),
    /// Opens the first of these locations that is found in the user's editor.
    Edit(Vec<Spot>),
    /// Selects the colours of a theme; `None` follows the environment.
    Theme(Option<Theme>),
}

/// A file to be written; an existing file is never overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// The name as typed, or a name relative to the folder in which the console runs.
    pub(crate) name: String,
    /// Whether a number is added to the name of an existing file.
    pub(crate) numbered: bool,
    pub(crate) text: String,
}
