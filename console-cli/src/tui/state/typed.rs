//! The command line as it is being typed, the list of processes, and the pages of help.

use turbowish_model::snapshot::Snapshot;

use super::{Listed, Peer};

/// The command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) text: String,
    /// Why it does not do.
    pub(crate) fault: Option<String>,
    /// How many lines one has gone back among those typed before.
    pub(crate) back: usize,
    /// What was being typed before one went back.
    pub(crate) draft: String,
}

/// The list of processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picker {
    /// Nothing is the first one.
    pub(crate) selected: Option<Peer>,
    /// Words of which each is part of a process's name, id or command line.
    pub(crate) filter: String,
    /// Letters are text of the filter.
    pub(crate) typing: bool,
}

impl Picker {
    /// Whether a process is in the list. Small letters match any case, as in the filters of tables.
    pub(crate) fn keeps(&self, listed: &Listed) -> bool {
        let pid = listed.peer.pid.map(|pid| pid.to_string());
        let mut text = pid.unwrap_or_default();
        if let Ok(Snapshot { process, .. }) = &listed.answer {
            text += &format!(" {} {}", process.name, process.command);
        }
        let lower = text.to_lowercase();
        let is_part = |word: &str| match word.chars().any(char::is_uppercase) {
            true => text.contains(word),
            false => lower.contains(word),
        };
        self.filter.split_whitespace().all(is_part)
    }
}

/// A page of help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelpPage {
    Keys,
    Columns,
    Filter,
    Commands,
}

impl HelpPage {
    /// In the order in which `?` turns them.
    pub(crate) const ALL: [Self; 4] = [Self::Keys, Self::Columns, Self::Filter, Self::Commands];

    /// What it is called.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Columns => "columns",
            Self::Filter => "filter",
            Self::Commands => "commands",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.word() == word)
    }

    /// The page behind it; behind the last one the first.
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::Keys => Self::Columns,
            Self::Columns => Self::Filter,
            Self::Filter => Self::Commands,
            Self::Commands => Self::Keys,
        }
    }
}
