//! What can happen to the console, and what it can ask the loop to do.

use turbowish_model::snapshot::{Accounting, Snapshot};

use super::clock::Now;
use super::keys::Key;
use super::state::{Fate, Listed};

/// Something happened.
#[derive(Debug)]
pub(crate) enum Message {
    /// A key was pressed.
    Key(Key),
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
    /// The process switched its accounting, or says why not.
    Switched(Result<Accounting, String>),
}

/// Something the loop has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Leave.
    Quit,
    /// Draw everything anew.
    Redraw,
    /// Give the terminal back and stop until continued.
    Suspend,
    /// Ask the process watched to switch its accounting.
    Switch(Accounting),
}
