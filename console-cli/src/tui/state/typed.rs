//! State of text input, of the list of processes, and of the help pages.

use turbowish_model::snapshot::Snapshot;

use super::{Listed, Peer};

/// Maximal number of lines in the history.
const KEPT: usize = 100;

/// The command line, or the filter line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) text: String,
    /// Number of characters after the cursor.
    pub(crate) behind: usize,
    /// The error in the line.
    pub(crate) fault: Option<String>,
    /// Number of lines that the user has gone back in the history.
    pub(crate) back: usize,
    /// The line being typed before the user went back.
    pub(crate) draft: String,
}

/// The list of processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picker {
    /// `None` is the first one.
    pub(crate) selected: Option<Peer>,
    /// Words that must all occur in a process's name, ID or command line.
    pub(crate) filter: String,
    /// Whether letters are added to the filter.
    pub(crate) typing: bool,
}

impl Picker {
    /// Whether a process matches. Lowercase letters match any case, as in the filters of tables.
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

impl Typed {
    /// A line with the cursor at its end.
    pub(crate) fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// The text before the cursor, and the text after it.
    pub(crate) fn parts(&self) -> (&str, &str) {
        let at = match self.behind {
            0 => self.text.len(),
            behind => {
                let mut letters = self.text.char_indices().rev();
                letters.nth(behind - 1).map_or(0, |(at, _)| at)
            }
        };
        self.text.split_at(at)
    }

    /// Replaces the text before the cursor.
    fn put(&mut self, before: &str) {
        let (_, behind) = self.parts();
        self.text = format!("{before}{behind}");
        self.fault = None;
    }

    pub(crate) fn insert(&mut self, letter: char) {
        let (before, _) = self.parts();
        self.put(&format!("{before}{letter}"));
    }

    pub(crate) fn erase(&mut self) {
        let (before, _) = self.parts();
        let mut letters = before.chars();
        letters.next_back();
        let rest = letters.as_str().to_owned();
        self.put(&rest);
    }

    /// Erases the word before the cursor, and the blanks after it.
    pub(crate) fn erase_word(&mut self) {
        let (before, _) = self.parts();
        let word = before.trim_end();
        let at = word.rfind(char::is_whitespace).map_or(0, |at| {
            at + word[at..].chars().next().map_or(0, char::len_utf8)
        });
        let rest = before[..at].to_owned();
        self.put(&rest);
    }

    /// Moves the cursor by `by` characters, within the line.
    pub(crate) fn step(&mut self, by: isize) {
        let behind = self.behind.saturating_add_signed(by.saturating_neg());
        self.behind = behind.min(self.text.chars().count());
    }

    /// Moves through the history; beyond the last line is the line being typed.
    pub(crate) fn earlier(&mut self, past: &[String], by: isize) {
        let back = self.back.saturating_add_signed(by).min(past.len());
        if self.back == 0 {
            self.draft = std::mem::take(&mut self.text);
        }
        let text = match back {
            0 => self.draft.clone(),
            back => past[past.len() - back].clone(),
        };
        *self = Self {
            back,
            draft: std::mem::take(&mut self.draft),
            ..Self::of(&text)
        };
    }
}

/// Appends a line to the history.
pub(crate) fn remember(past: &mut Vec<String>, line: String) {
    past.retain(|other| *other != line);
    past.push(line);
    let beyond = past.len().saturating_sub(KEPT);
    past.drain(..beyond);
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
    /// In the order in which `?` shows them.
    pub(crate) const ALL: [Self; 4] = [Self::Keys, Self::Columns, Self::Filter, Self::Commands];

    /// The name of the page.
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

    /// The next page; after the last one, the first.
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::Keys => Self::Columns,
            Self::Columns => Self::Filter,
            Self::Filter => Self::Commands,
            Self::Commands => Self::Keys,
        }
    }
}
