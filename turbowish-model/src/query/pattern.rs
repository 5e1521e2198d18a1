//! Pattern of a filter: a part of a text, with wildcards the whole text, or a regular expression.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[cfg(not(feature = "regex"))]
use super::no_regex::NoRegex as Regex;
#[cfg(feature = "regex")]
use super::regex::Regex;
use super::texts::Texts;

/// A pattern in smart case: lowercase letters match any case, an uppercase letter makes the match
/// exact.
#[derive(Debug)]
pub(super) struct Pattern {
    exact_case: bool,
    kind: PatternPart,
}

#[derive(Debug)]
enum PatternPart {
    Literal(String),
    /// The texts between the stars: `a*b` gives `a` and `b`.
    Wild(Vec<String>),
    Regex(Box<Regex>),
}

impl Pattern {
    /// Pattern of text as typed, where `*` and `?` are wildcards.
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

    /// Pattern of text in quotes, without wildcards.
    pub(super) fn literal(text: &str) -> Self {
        Self {
            exact_case: text.chars().any(char::is_uppercase),
            kind: PatternPart::Literal(text.to_string()),
        }
    }

    /// Pattern of a regular expression, without the surrounding slashes.
    pub(super) fn regex(text: &str) -> Result<Self, String> {
        let regex = Regex::parse(text)?;
        Ok(Self {
            exact_case: regex.is_exact(),
            kind: PatternPart::Regex(Box::new(regex)),
        })
    }

    /// Whether the pattern occurs in one of the texts; with wildcards, whether it matches one as a
    /// whole.
    pub(super) fn is_in(&self, texts: &Texts) -> bool {
        let texts = texts.get(self.exact_case);
        match &self.kind {
            PatternPart::Literal(word) => texts.contain(word),
            PatternPart::Wild(parts) => texts.each().any(|text| is_wild(text, parts)),
            PatternPart::Regex(regex) => texts.each().any(|text| regex.is_in(text)),
        }
    }

    /// Whether the pattern matches one of the texts as a whole.
    pub(super) fn is_all_of(&self, texts: &Texts) -> bool {
        match &self.kind {
            PatternPart::Literal(word) => {
                texts.get(self.exact_case).each().any(|text| text == word)
            }
            PatternPart::Wild(_) | PatternPart::Regex(_) => self.is_in(texts),
        }
    }

    /// Cost of a search, in steps.
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

/// Whether a text consists of these parts with any characters in between; `?` matches one
/// character.
///
/// The first occurrence of each part leaves the most text for the parts after it, so no
/// backtracking is needed.
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

/// The rest of a text that begins with a part.
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

/// The rest of a text after the first occurrence of a part.
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

    /// The cost is known in advance, and is a small number.
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
