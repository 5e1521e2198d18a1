//! Texts in which something is looked for: put together once a row, however many words a filter has.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

/// Some texts, and the same in small letters once somebody asks for them.
#[derive(Debug, Default)]
pub(super) struct Texts {
    exact: Joined,
    folded: OnceCell<Joined>,
}

/// Texts one behind the other in one string, so that a word is looked for in all of them at once.
#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    /// Where each of them ends; a [`SEPARATOR`] follows.
    ends: Vec<usize>,
}

/// What hardly any text contains; a word with it is looked for in each of them.
const SEPARATOR: char = '\0';

impl Texts {
    pub(super) fn push(&mut self, text: &str) {
        self.exact.push(text);
    }

    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        let mut texts = Self::default();
        texts.push(text);
        texts
    }

    /// As they are, or in small letters.
    pub(super) fn get(&self, exact_case: bool) -> &Joined {
        if exact_case {
            return &self.exact;
        }
        self.folded.get_or_init(|| {
            let mut folded = Joined::default();
            for text in self.exact.each() {
                folded.push(&text.to_lowercase());
            }
            folded
        })
    }
}

impl Joined {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.text.push(SEPARATOR);
    }

    pub(super) fn each(&self) -> impl Iterator<Item = &str> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.text[begin..end];
            begin = end + SEPARATOR.len_utf8();
            text
        })
    }

    /// Whether one of them contains the word.
    pub(super) fn contain(&self, word: &str) -> bool {
        if word.contains(SEPARATOR) {
            self.each().any(|text| text.contains(word))
        } else {
            !self.ends.is_empty() && self.text.contains(word)
        }
    }

    /// Bytes of all of them.
    pub(super) const fn len(&self) -> usize {
        self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn a_word_is_in_one_of_them() {
        let mut texts = Texts::default();
        assert!(!texts.get(true).contain(""));
        for text in ["Abc", "", "d\0e"] {
            texts.push(text);
        }
        for (word, exact_case, expected) in [
            ("", true, true),
            ("bc", true, true),
            ("abc", true, false),
            ("abc", false, true),
            ("cd", true, false),
            ("c\0", true, false),
            ("c\0\0d", true, false),
            ("d\0e", true, true),
        ] {
            let found = texts.get(exact_case).contain(word);
            assert_eq!(found, expected, "{word:?}");
        }
        assert!(texts.get(false).each().eq(["abc", "", "d\0e"]));
    }
}
