//! What a filter looks for: a part of the field, with wildcards the whole of it, or a regular expression.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::regex::Regex;

/// What is looked for, in smart case: small letters match any case, a capital makes it exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    text: String,
    wild: bool,
    exact_case: bool,
    regex: Option<Regex>,
}

impl Pattern {
    /// Text as it was typed, where `*` and `?` are wildcards.
    pub(super) fn typed(text: &str) -> Self {
        Self {
            wild: text.contains(['*', '?']),
            ..Self::literal(text)
        }
    }

    /// Text in quotes: no wildcards.
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text.to_string(),
            wild: false,
            exact_case: text.chars().any(char::is_uppercase),
            regex: None,
        }
    }

    /// A regular expression, without the slashes around it.
    pub(super) fn regex(text: &str) -> Result<Self, String> {
        Ok(Self {
            regex: Some(Regex::parse(text)?),
            ..Self::literal("")
        })
    }

    /// Whether the pattern occurs in `field` (or, with wildcards, is the whole of it).
    pub(super) fn is_in(&self, field: &str) -> bool {
        if let Some(regex) = &self.regex {
            return regex.is_in(field);
        }
        if self.wild {
            return self.is_all_of(field);
        }
        if self.exact_case {
            field.contains(&self.text)
        } else {
            field.to_lowercase().contains(&self.text)
        }
    }

    /// Whether the pattern is the whole of `field`.
    pub(super) fn is_all_of(&self, field: &str) -> bool {
        let field: Vec<char> = if self.exact_case {
            field.chars().collect()
        } else {
            field.to_lowercase().chars().collect()
        };
        let text: Vec<char> = self.text.chars().collect();
        if self.wild {
            glob(&text, &field)
        } else {
            text == field
        }
    }
}

/// `*` stands for any characters, `?` for one; time is at most pattern times text.
fn glob(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where the last star was, and up to where it has been stretched.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, reach)) => {
                    star = Some((at, reach + 1));
                    p = at + 1;
                    t = reach + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}
