//! Set of characters, and the alphabet of an expression: characters that no set tells apart.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Set of characters, as written.
#[derive(Clone)]
pub(super) enum Class {
    /// From one character to another, both included.
    Range(u32, u32),
    Kind(LetterKind),
    Not(Box<Class>),
    Union(Vec<Class>),
    Both(Box<(Class, Class)>),
}

/// What Unicode says about a character: `\d` `\s` `\w`. A digit is also in `\w`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterKind {
    Other,
    Word,
    Digit,
    Space,
}

/// Number of kinds.
const KINDS: usize = 4;

impl Class {
    pub(super) const fn of(letter: char) -> Self {
        Self::Range(letter as u32, letter as u32)
    }

    pub(super) fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self::Both(Box::new((self, other)))
    }

    /// What either of two sets contains, and not both of them.
    pub(super) fn either(self, other: Self) -> Self {
        let both = self.clone().and(other.clone());
        Self::Union([self, other].into()).and(both.not())
    }

    /// Number of its parts.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Range(..) => 1,
            // Each range of characters has a number for each kind.
            Self::Kind(_) => KINDS,
            Self::Not(class) => 1 + class.size(),
            Self::Union(all) => 1 + all.iter().map(Self::size).sum::<usize>(),
            Self::Both(both) => 1 + both.0.size() + both.1.size(),
        }
    }

    fn has(&self, letter: u32, kind: LetterKind) -> bool {
        match self {
            Self::Range(first, last) => (*first..=*last).contains(&letter),
            Self::Kind(wanted) => {
                kind == *wanted || (*wanted, kind) == (LetterKind::Word, LetterKind::Digit)
            }
            Self::Not(class) => !class.has(letter, kind),
            Self::Union(all) => all.iter().any(|class| class.has(letter, kind)),
            Self::Both(both) => both.0.has(letter, kind) && both.1.has(letter, kind),
        }
    }

    /// Adds where its ranges begin, and where the characters after them begin.
    fn edges(&self, edges: &mut Vec<u32>) -> bool {
        match self {
            Self::Range(first, last) => {
                edges.extend([*first, last + 1]);
                false
            }
            Self::Kind(_) => true,
            Self::Not(class) => class.edges(edges),
            Self::Union(all) => {
                let mut kinds = false;
                for class in all {
                    kinds |= class.edges(edges);
                }
                kinds
            }
            Self::Both(both) => both.0.edges(edges) | both.1.edges(edges),
        }
    }
}

impl LetterKind {
    fn of(letter: char) -> Self {
        if letter.is_numeric() {
            Self::Digit
        } else if letter.is_alphabetic() || letter == '_' {
            Self::Word
        } else if letter.is_whitespace() {
            Self::Space
        } else {
            Self::Other
        }
    }
}

/// The characters of an expression by number: the same number for those that no class tells apart.
pub(super) struct Alphabet {
    /// Where a range of characters begins, in order; the first is 0.
    edges: Vec<u32>,
    /// Whether a class asks for a kind: then each range has a number for each kind.
    kinds: bool,
    ascii: [u16; 128],
}

impl Alphabet {
    pub(super) fn of(classes: &[Class]) -> Self {
        let mut edges = [0].to_vec();
        let mut kinds = false;
        for class in classes {
            kinds |= class.edges(&mut edges);
        }
        crate::sorting::ascending(&mut edges);
        edges.dedup();
        let mut this = Self {
            edges,
            kinds,
            ascii: [0; 128],
        };
        for letter in 0..128_u8 {
            this.ascii[usize::from(letter)] = this.search(char::from(letter)) as u16;
        }
        this
    }

    /// How many numbers there are.
    pub(super) const fn len(&self) -> usize {
        self.edges.len() * if self.kinds { KINDS } else { 1 }
    }

    /// The number of a character.
    pub(super) fn number(&self, letter: char) -> usize {
        match self.ascii.get(letter as usize) {
            Some(&number) => usize::from(number),
            None => self.search(letter),
        }
    }

    fn search(&self, letter: char) -> usize {
        let range = self.edges.partition_point(|edge| *edge <= letter as u32) - 1;
        match self.kinds {
            true => range * KINDS + LetterKind::of(letter) as usize,
            false => range,
        }
    }

    /// Whether a class contains the characters with a number.
    pub(super) fn is_in(&self, number: usize, class: &Class) -> bool {
        let kinds = [
            LetterKind::Other,
            LetterKind::Word,
            LetterKind::Digit,
            LetterKind::Space,
        ];
        let (range, kind) = match self.kinds {
            true => (number / KINDS, kinds[number % KINDS]),
            false => (number, LetterKind::Other),
        };
        self.edges
            .get(range)
            .is_some_and(|first| class.has(*first, kind))
    }
}
