//! Options of the command. An unknown option is an error, so a misspelt crate does not yield a
//! clean table.

use super::list::{CRATES, Crate};

/// The arguments after `cargo xtask corpus`.
const USAGE: &str = "usage: cargo xtask corpus [--list] [--mode fn|block] [--check] [--armed] [--no-doc] [--keep] [NAME | NAME@VERSION]... [-- CARGO_OPTION...]
  --list     print the crates, and why they are there
  --mode     only functions, or only blocks (impl, trait, mod); else both
  --check    compare what `cargo check --all-targets` says, and run no tests
  --armed    with accounting on, as in a program that calls `turbowish::init`
  --no-doc   leave out the examples of the documentation
  --keep     leave copies and test programs in target/corpus
  NAME       only these of the list; NAME@VERSION is any other published crate, built with the options behind `--`";

/// How annotations are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// On each `async fn`.
    Fn,
    /// On `impl`, `trait` and inline `mod` where they hold any.
    Block,
}

impl Mode {
    /// As it is written on the command line, and as its folder is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fn => "fn",
            Self::Block => "block",
        }
    }
}

/// The parsed command line.
pub(super) struct Options<'a> {
    pub(super) list: bool,
    pub(super) modes: Vec<Mode>,
    pub(super) check: bool,
    pub(super) armed: bool,
    pub(super) doc: bool,
    pub(super) keep: bool,
    pub(super) crates: Vec<Crate<'a>>,
}

impl<'a> Options<'a> {
    /// `words` stand before `--`, and `cargo` behind it. The error says what is wrong, and how it
    /// is written.
    pub(super) fn read(words: &[&'a str], cargo: &'a [&'a str]) -> Result<Self, String> {
        let mut options = Self {
            list: false,
            modes: vec![Mode::Fn, Mode::Block],
            check: false,
            armed: false,
            doc: true,
            keep: false,
            crates: Vec::new(),
        };
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--list" => options.list = true,
                "--check" => options.check = true,
                "--armed" => options.armed = true,
                "--no-doc" => options.doc = false,
                "--keep" => options.keep = true,
                "--mode" => options.modes = vec![mode(words.next())?],
                word if word.starts_with('-') => {
                    return Err(wrong(&format!("`{word}` is no option")));
                }
                name => options.crates.push(krate(name, cargo)?),
            }
        }
        if options.crates.is_empty() {
            options.crates = CRATES.to_vec();
        }
        Ok(options)
    }
}

fn mode(word: Option<&str>) -> Result<Mode, String> {
    [Mode::Fn, Mode::Block]
        .into_iter()
        .find(|mode| Some(mode.name()) == word)
        .ok_or_else(|| wrong("`--mode` is `fn` or `block`"))
}

fn krate<'a>(word: &'a str, cargo: &'a [&'a str]) -> Result<Crate<'a>, String> {
    if let Some((name, version)) = word.split_once('@') {
        return Ok(Crate::new(name, version, "named on the command line").with(cargo));
    }
    CRATES
        .iter()
        .find(|krate| krate.name == word)
        .copied()
        .ok_or_else(|| {
            wrong(&format!(
                "`{word}` is not in the list; write `{word}@VERSION`"
            ))
        })
}

fn wrong(text: &str) -> String {
    format!("{text}\n{USAGE}")
}

#[cfg(test)]
mod tests {
    use super::super::list::CRATES;
    use super::{Mode, Options};

    fn check(words: &[&str], names: &[(&str, &str)], modes: &[Mode]) {
        let options = Options::read(words, &["--all-features"]).unwrap();
        let found: Vec<(&str, &str)> = options
            .crates
            .iter()
            .map(|krate| (krate.name, krate.version))
            .collect();
        assert_eq!((found.as_slice(), options.modes.as_slice()), (names, modes));
    }

    #[test]
    fn crates_are_those_of_the_list_or_any_other_at_a_version() {
        let both = [Mode::Fn, Mode::Block];
        check(&["bb8"], &[("bb8", "0.9.1")], &both);
        check(
            &["--mode", "block", "other@1.2.3"],
            &[("other", "1.2.3")],
            &[Mode::Block],
        );
        let all: Vec<(&str, &str)> = CRATES
            .iter()
            .map(|krate| (krate.name, krate.version))
            .collect();
        check(&[], &all, &both);
    }

    #[test]
    fn options_behind_the_dashes_are_for_other_crates() {
        let cargo = ["--all-features"];
        let options = Options::read(&["other@1.2.3"], &cargo).unwrap();
        assert_eq!(options.crates[0].features, cargo);
    }

    fn check_wrong(words: &[&str], expected: &str) {
        let error = Options::read(words, &[]).err().unwrap();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn what_is_not_known_is_refused() {
        check_wrong(&["--moed"], "`--moed` is no option");
        check_wrong(&["bb9"], "`bb9` is not in the list");
        check_wrong(&["--mode", "mod"], "`--mode` is");
        check_wrong(&["--mode"], "`--mode` is");
    }
}
