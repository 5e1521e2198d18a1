//! Classes of what a recorder records. Each can be switched on and off while the process runs.

use alloc::string::String;
use alloc::vec::Vec;

/// A class of what a recorder records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventClass {
    /// The tables of the process, once a second, and marks about alerts.
    States,
    /// Polls of tasks.
    Polls,
    /// Waits for resources and holds of them, when they end.
    Waits,
    /// The program's own events.
    User,
    /// Creations, polls, await points and drops of all calls.
    Calls,
}

impl EventClass {
    /// All classes.
    pub const ALL: [Self; 5] = [
        Self::States,
        Self::Polls,
        Self::Waits,
        Self::User,
        Self::Calls,
    ];

    /// The word for it in settings.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::Polls => "polls",
            Self::Waits => "waits",
            Self::User => "user",
            Self::Calls => "calls",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventClasses(u8);

/// All classes but the one that makes polls slower.
impl Default for EventClasses {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl EventClasses {
    /// What is recorded if nothing else is asked for: all but [`EventClass::Calls`], which makes
    /// polls slower.
    pub const DEFAULT: Self = Self::NONE
        .with(EventClass::States)
        .with(EventClass::Polls)
        .with(EventClass::Waits)
        .with(EventClass::User);

    /// No class.
    pub const NONE: Self = Self(0);

    /// These and another one.
    #[must_use]
    pub const fn with(self, class: EventClass) -> Self {
        Self(self.0 | class.bit())
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether a class is one of these.
    #[must_use]
    pub const fn has(self, class: EventClass) -> bool {
        self.0 & class.bit() != 0
    }

    /// A number that stands for these.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The classes for which the number stands. Bits without a class are left out.
    #[must_use]
    pub fn of_bits(bits: u8) -> Self {
        let all = EventClass::ALL.into_iter();
        all.filter(|class| bits & class.bit() != 0)
            .fold(Self::NONE, Self::with)
    }

    /// Reads a list such as `polls,waits`.
    ///
    /// # Errors
    /// The first word that is no class.
    pub fn parse(text: &str) -> Result<Self, UnknownClass> {
        let words = text.split(',').map(str::trim);
        words
            .filter(|word| !word.is_empty())
            .try_fold(Self::NONE, |classes, word| {
                let known = EventClass::ALL.into_iter();
                let class = known.into_iter().find(|class| class.word() == word);
                class
                    .map(|class| classes.with(class))
                    .ok_or_else(|| UnknownClass(word.into()))
            })
    }

    /// The list that [`parse`](Self::parse) reads.
    #[must_use]
    pub fn text(self) -> String {
        let all = EventClass::ALL.into_iter();
        let own = all.filter(|class| self.has(*class));
        own.map(EventClass::word).collect::<Vec<_>>().join(",")
    }
}

/// A word that is no class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownClass(String);

impl core::fmt::Display for UnknownClass {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let all = EventClass::ALL.map(EventClass::word).join(", ");
        write!(f, "{:?} is no class of events; they are {all}", self.0)
    }
}

impl core::error::Error for UnknownClass {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{EventClass, EventClasses};

    #[test]
    fn lists_are_read_and_written() {
        for (text, written) in [
            ("polls,waits", "polls,waits"),
            (" waits , polls,polls", "polls,waits"),
            ("", ""),
            ("calls,user,states", "states,user,calls"),
        ] {
            let classes = EventClasses::parse(text).expect("known words");
            assert_eq!(classes.text(), written);
            assert_eq!(EventClasses::of_bits(classes.bits()), classes);
        }
        assert_eq!(EventClasses::DEFAULT.text(), "states,polls,waits,user");
        assert!(!EventClasses::of_bits(!0).text().is_empty());
        assert!(!EventClasses::NONE.has(EventClass::States));
        assert_eq!(
            EventClasses::parse("polls,plls").unwrap_err().to_string(),
            "\"plls\" is no class of events; they are states, polls, waits, user, calls"
        );
    }
}
