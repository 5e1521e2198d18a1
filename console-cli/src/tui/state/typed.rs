//! The command line as it is being typed, and the pages of help.

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
