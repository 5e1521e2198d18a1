//! Regular expression, matched in time linear in the text.

use alloc::format;
use alloc::string::String;
use core::fmt;

use regex_lite::RegexBuilder;

/// Maximum depth of nested groups.
const MAX_DEPTH: u32 = 32;
/// Maximum size of a compiled expression in bytes: `a{1000}` is short, but expensive to match.
const MAX_SIZE: usize = 256 << 10;

/// A compiled expression. Matches anywhere in a text unless `^` and `$` say otherwise.
pub(super) struct Regex {
    expression: regex_lite::Regex,
    exact_case: bool,
}

impl Regex {
    /// Parses an expression, without the surrounding slashes.
    ///
    /// # Errors
    ///
    /// The error in the expression, as text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut builder = RegexBuilder::new(text);
        builder.dot_matches_new_line(true).nest_limit(MAX_DEPTH);
        let built = builder.size_limit(MAX_SIZE).build();
        Ok(Self {
            expression: built.map_err(|fault| format!("{fault} inside / /"))?,
            exact_case: has_capital(text),
        })
    }

    /// Whether the expression contains an uppercase letter and the match is case-sensitive.
    /// Otherwise texts must be passed in lowercase.
    pub(super) const fn is_exact(&self) -> bool {
        self.exact_case
    }

    /// Whether the expression matches in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.expression.is_match(text)
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Regex")
            .field("exact_case", &self.exact_case)
            .finish_non_exhaustive()
    }
}

/// Whether a literal letter is uppercase; those of `\D` and `\p{Greek}` are not literals.
fn has_capital(text: &str) -> bool {
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match c {
            '\\' => {
                let class = letters.next();
                let is_named = matches!(class, Some('p' | 'P' | 'x' | 'u' | 'U'));
                if is_named && letters.as_str().starts_with('{') {
                    letters.by_ref().take_while(|&c| c != '}').for_each(drop);
                }
            }
            c if c.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
