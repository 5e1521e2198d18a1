//! Regular expression, matched by a lazy automaton in time linear in the text.

mod automaton;
mod class;
mod program;
mod syntax;

use alloc::format;
use alloc::string::String;
use core::cell::RefCell;
use core::fmt;

use self::automaton::{Automaton, States};

/// A compiled expression. Matches anywhere in a text unless `^` and `$` say otherwise.
pub(super) struct Regex {
    automaton: Automaton,
    states: RefCell<States>,
    exact_case: bool,
}

impl Regex {
    /// Parses an expression, without the surrounding slashes.
    ///
    /// # Errors
    ///
    /// The error in the expression, as text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parsed = syntax::parse(text);
        let (tree, classes) = parsed.map_err(|fault| format!("{fault} inside / /"))?;
        let steps = program::compile(&tree, &classes);
        let steps = steps.map_err(|program::TooLarge| "/regex/ is larger than 256 KiB")?;
        Ok(Self {
            automaton: Automaton::new(steps, classes),
            states: RefCell::default(),
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
        self.automaton.is_in(&mut self.states.borrow_mut(), text)
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
