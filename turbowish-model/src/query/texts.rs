//! Searchable texts of a row, joined once per row however many words a filter has.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

/// Texts, and their lowercase form once it is needed.
#[derive(Debug, Default)]
pub(super) struct Texts {
    exact: Joined,
    folded: OnceCell<Joined>,
}

/// Texts joined in one string, so that a word is searched in all of them at once.
#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    /// The end of each text; a [`SEPARATOR`] follows.
    ends: Vec<usize>,
}

/// A character that texts rarely contain. A word that contains it is searched in each text
/// separately.
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

    /// The texts as they are, or in lowercase.
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

    /// Whether one of the texts contains the word.
    pub(super) fn contain(&self, word: &str) -> bool {
        if word.contains(SEPARATOR) {
            self.each().any(|text| text.contains(word))
        } else {
            !self.ends.is_empty() && self.text.contains(word)
        }
    }

    /// Length of all texts, in bytes.
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
