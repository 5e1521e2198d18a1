//! What a filter looks for: a part of the field, with wildcards the whole of it, or a regular expression.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::regex::Regex;
use super::texts::Texts;

/// What is looked for, in smart case: small letters match any case, a capital makes it exact.
#[derive(Debug)]
pub(super) struct Pattern {
    exact_case: bool,
    kind: PatternPart,
}

#[derive(Debug)]
enum PatternPart {
    Literal(String),
    /// The texts between the stars: `a*b` is `a` and `b`.
    Wild(Vec<String>),
    Regex(Box<Regex>),
}

impl Pattern {
    /// Text as it was typed, where `*` and `?` are wildcards.
    pub(super) fn typed(text: &str) -> Self {
        let literal = Self::literal(text);
        if !text.contains(['*', '?']) {
            return literal;
        }
        Self {
            kind: PatternPart::Wild(text.split('*').map(str::to_string).collect()),
            ..literal
        }
    }

    /// Text in quotes: no wildcards.
    pub(super) fn literal(text: &str) -> Self {
        Self {
            exact_case: text.chars().any(char::is_uppercase),
            kind: PatternPart::Literal(text.to_string()),
        }
    }

    /// A regular expression, without the slashes around it.
    pub(super) fn regex(text: &str) -> Result<Self, String> {
        let regex = Regex::parse(text)?;
        Ok(Self {
            exact_case: regex.is_exact(),
            kind: PatternPart::Regex(Box::new(regex)),
        })
    }

    /// Whether the pattern occurs in one of these (or, with wildcards, is the whole of it).
    pub(super) fn is_in(&self, texts: &Texts) -> bool {
        let texts = texts.get(self.exact_case);
        match &self.kind {
            PatternPart::Literal(word) => texts.contain(word),
            PatternPart::Wild(parts) => texts.each().any(|text| is_wild(text, parts)),
            PatternPart::Regex(regex) => texts.each().any(|text| regex.is_in(text)),
        }
    }

    /// Whether the pattern is the whole of one of these.
    pub(super) fn is_all_of(&self, texts: &Texts) -> bool {
        match &self.kind {
            PatternPart::Literal(word) => {
                texts.get(self.exact_case).each().any(|text| text == word)
            }
            PatternPart::Wild(_) | PatternPart::Regex(_) => self.is_in(texts),
        }
    }

    /// Steps of a search.
    pub(super) fn steps(&self, texts: &Texts) -> u64 {
        let length = texts.get(self.exact_case).len();
        let steps = match &self.kind {
            PatternPart::Literal(_) => length / 16,
            PatternPart::Wild(parts) => {
                let marks = parts.iter().filter(|part| part.contains('?'));
                length * (1 + marks.map(String::len).sum::<usize>())
            }
            PatternPart::Regex(_) => length,
        };
        1 + steps as u64
    }
}

/// Whether a text is these parts with any characters between them; `?` stands for one character.
///
/// The first place of each part leaves the most for those behind it, so nothing is tried twice.
fn is_wild(text: &str, parts: &[String]) -> bool {
    let [first, rest @ ..] = parts else {
        return false;
    };
    let Some(mut text) = begins(text, first) else {
        return false;
    };
    let Some((last, middle)) = rest.split_last() else {
        return text.is_empty();
    };
    for part in middle {
        match behind(text, part) {
            Some(rest) => text = rest,
            None => return false,
        }
    }
    ends(text, last)
}

/// What follows a part at the beginning of a text.
fn begins<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    let mut letters = text.chars();
    let fits = |wanted| {
        let found = letters.next();
        found.is_some_and(|found| wanted == '?' || wanted == found)
    };
    part.chars().all(fits).then_some(letters.as_str())
}

fn ends(text: &str, part: &str) -> bool {
    let mut letters = text.chars().rev();
    part.chars().rev().all(|wanted| {
        let found = letters.next();
        found.is_some_and(|found| wanted == '?' || wanted == found)
    })
}

/// What follows the first place of a part in a text.
fn behind<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    if !part.contains('?') {
        let at = text.find(part)?;
        return text.get(at + part.len()..);
    }
    let mut letters = text.chars();
    loop {
        if let Some(rest) = begins(letters.as_str(), part) {
            return Some(rest);
        }
        letters.next()?;
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Pattern, Texts};

    fn is_in(pattern: &str, text: &str) -> bool {
        Pattern::typed(pattern).is_in(&Texts::of(text))
    }

    #[test]
    fn wildcards_stand_for_characters() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("?", "", false),
            ("?", "ä", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("*b*", "abc", true),
            ("a*c", "abcab", false),
            ("a*b*c", "abbcc", true),
            ("a*a", "a", false),
            ("*ab?d", "abcabxd", true),
            ("*?b*?d", "abcd", true),
            ("*?b*", "b", false),
            ("kv::*::s*", "kv::db::set", true),
            ("KV*", "kv::db", false),
            ("kv*", "KV::db", true),
        ] {
            assert_eq!(is_in(pattern, text), expected, "{pattern} {text}");
        }
    }

    /// What it takes is told before, and is a small number.
    #[test]
    fn hostile_wildcards_take_no_time() {
        let text = "a".repeat(60_000);
        let stars = format!("{}b", "*a".repeat(2_000));
        assert!(!is_in(&stars, &text));
        assert_eq!(Pattern::typed(&stars).steps(&Texts::of(&text)), 60_002);
    }

    proptest! {
        #[test]
        fn wildcards_are_what_backtracking_finds(pattern in "[ab?*]{0,6}[*?]", text in "[ab]{0,8}") {
            fn naive(pattern: &[char], text: &[char]) -> bool {
                match pattern {
                    [] => text.is_empty(),
                    ['*', rest @ ..] => (0..=text.len()).any(|at| naive(rest, &text[at..])),
                    [c, rest @ ..] => match text {
                        [t, after @ ..] => (*c == '?' || c == t) && naive(rest, after),
                        [] => false,
                    },
                }
            }
            let chars = |text: &String| text.chars().collect::<Vec<char>>();
            let expected = naive(&chars(&pattern), &chars(&text));
            prop_assert_eq!(is_in(&pattern, &text), expected);
        }
    }
}
