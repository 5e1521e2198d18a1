//! Regular expression, matched by a lazy automaton in time linear in the text.

use alloc::format;
use alloc::string::{String, ToString};
use core::cell::RefCell;
use core::fmt;

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Compiler, Config, WhichCaptures};
use regex_syntax::{Error, ParserBuilder};

/// Maximum depth of nested groups.
const MAX_DEPTH: u32 = 32;
/// Maximum size of a compiled expression in bytes: `a{1000}` is short, but expensive to match.
const MAX_SIZE: usize = 256 << 10;
/// Size of the cache of automaton states, in bytes; evicted states are computed again.
const CACHE: usize = 1 << 20;

/// A compiled expression. Matches anywhere in a text unless `^` and `$` say otherwise.
pub(super) struct Regex {
    automaton: DFA,
    cache: RefCell<Cache>,
    exact_case: bool,
}

impl Regex {
    /// Parses an expression, without the surrounding slashes.
    ///
    /// # Errors
    ///
    /// The error in the expression, as text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = ParserBuilder::new();
        let parser = parser.nest_limit(MAX_DEPTH).dot_matches_new_line(true);
        let expression = parser.build().parse(text).map_err(|error| match error {
            Error::Parse(error) => format!("{} inside / /", error.kind()),
            Error::Translate(error) => format!("{} inside / /", error.kind()),
            other => other.to_string(),
        })?;
        let size = Config::new()
            .nfa_size_limit(Some(MAX_SIZE))
            .which_captures(WhichCaptures::None);
        let nfa = Compiler::new().configure(size).build_from_hir(&expression);
        let nfa = nfa.map_err(|_| format!("/regex/ is larger than {} KiB", MAX_SIZE >> 10))?;
        let cache = DFA::config()
            .cache_capacity(CACHE)
            .skip_cache_capacity_check(true);
        let automaton = DFA::builder().configure(cache).build_from_nfa(nfa);
        // The size has been checked: what remains is what an automaton does not support.
        let automaton = automaton.map_err(|_| "\\b and \\B are not supported inside / /")?;
        Ok(Self {
            cache: RefCell::new(automaton.create_cache()),
            automaton,
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
        let input = Input::new(text).earliest(true);
        let cache = &mut *self.cache.borrow_mut();
        // The search gives up only if configured to do so.
        let found = self.automaton.try_search_fwd(cache, &input);
        found.is_ok_and(|found| found.is_some())
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
mod tests {
    use alloc::format;

    use super::Regex;

    fn check(pattern: &str, found: &[&str], not: &[&str]) {
        let regex = Regex::parse(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault}"));
        let is_in = |text: &str| match regex.is_exact() {
            true => regex.is_in(text),
            false => regex.is_in(&text.to_lowercase()),
        };
        for text in found {
            assert!(is_in(text), "{pattern} is in {text:?}");
        }
        for text in not {
            assert!(!is_in(text), "{pattern} is not in {text:?}");
        }
    }

    #[test]
    fn it_finds_what_it_says() {
        check("", &["", "a"], &[]);
        check("ab", &["ab", "xaby", "XAB"], &["", "a", "ba"]);
        check(
            "^kv::(db|wal)::",
            &["kv::db::get", "kv::wal::x"],
            &["xkv::db::", "kv::conn::"],
        );
        check("get$", &["db::get", "get"], &["get_all", ""]);
        check("^$", &[""], &["a"]);
        check("a*b", &["b", "aaab"], &["", "aaa"]);
        check("^a+$", &["a", "aaa"], &["", "ab"]);
        check("^colou?r$", &["color", "colour"], &["colouur"]);
        check("^(ab|c)*$", &["", "ab", "cab", "ccc"], &["a", "abb"]);
        check("^(a|)b$", &["b", "ab"], &["cb"]);
        check("^(a*)*$", &["", "aaa"], &["b"]);
        check(
            "conn:5\\d\\d$",
            &["conn:510", "conn:599"],
            &["conn:5", "conn:5100"],
        );
        check("^[a-c_]+$", &["abc", "_"], &["d", ""]);
        check("^[^a-c]$", &["d"], &["a", "B"]);
        check("^[]x-]$", &["]", "x", "-"], &["y"]);
        check("^[\\d.]+$", &["1.5"], &["a"]);
        check("^\\w+$", &["a_1"], &["a b", "-"]);
        check("\\s", &["a b"], &["ab"]);
        check("^\\S+$", &["ab"], &["a b"]);
        check("a.c", &["abc", "aéc"], &["ac"]);
        check("\\.lock\\(\\)", &["db.lock()"], &["db_lock()"]);
        check("(?:a|b)c", &["bc"], &["c"]);
        check("größe", &["GRÖSSE größe"], &["grosse"]);
        check("x??y", &["y"], &["x"]);
        check("^a**$", &["", "aa"], &["b"]);
        check("^a{2}$", &["aa"], &["a", "aaa"]);
        check("^[\\W]$", &["-"], &["a"]);
    }

    #[test]
    fn a_capital_makes_it_exact_and_classes_are_no_capitals() {
        check("Get", &["Get"], &["get"]);
        check("[A-Z]et", &["Get"], &["get"]);
        check("\\D", &["a"], &["1"]);
        check("\\W", &["-"], &["A"]);
    }

    #[test]
    fn what_it_does_not_know_it_refuses() {
        let fault = |pattern: &str| Regex::parse(pattern).expect_err(pattern);
        for pattern in [
            "(",
            ")",
            "a)",
            "[",
            "[a",
            "[z-a]",
            "[a-",
            "*",
            "+a",
            "\\",
            "\\b",
            "a|*",
            "\\q",
            "\\p{Klingon}",
        ] {
            assert!(!fault(pattern).is_empty());
        }
        let nested = format!("{}{}", "(".repeat(40), ")".repeat(40));
        assert!(fault(&nested).contains("32"));
        let too_large = "/regex/ is larger than 256 KiB";
        for pattern in ["a{2000}{2000}", "(\\w{50}){50}"] {
            assert_eq!(fault(pattern), too_large);
        }
    }

    #[test]
    fn what_takes_others_for_ever_takes_no_time() {
        let text = "a".repeat(2_000);
        check("^(a*)*b$", &[], &[&text]);
        check(
            &format!("^{}{}$", "a?".repeat(100), "a".repeat(100)),
            &[&"a".repeat(150)],
            &[&text],
        );
    }
}
