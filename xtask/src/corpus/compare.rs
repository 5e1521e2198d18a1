//! Comparison of a copy with the plain crate: the compiler must report nothing new, and every test
//! must end as before.

use super::build::Counts;
use super::suite::{Verdict, Verdicts};

/// The differences.
#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Differences {
    /// `file: message`, and the number of additional occurrences.
    pub(super) warnings: Vec<String>,
    /// Tests that no longer exist.
    pub(super) vanished: Vec<Test>,
    /// Tests that exist only in the annotated copy.
    pub(super) appeared: Vec<Test>,
    /// Tests with another outcome.
    pub(super) changed: Vec<Change>,
}

/// `(program, test)`
pub(super) type Test = (String, String);

/// A test that ended in another way.
#[derive(Debug, PartialEq, Eq, Clone)]
pub(super) struct Change {
    pub(super) test: Test,
    pub(super) plain: Verdict,
    pub(super) ours: Verdict,
}

impl Differences {
    /// Whether there are no differences.
    pub(super) fn none(&self) -> bool {
        *self == Self::default()
    }
}

/// Warnings that `ours` has more often than `plain`.
pub(super) fn new_warnings(plain: &Counts, ours: &Counts) -> Vec<String> {
    ours.iter()
        .filter_map(|(text, count)| {
            let more = count.saturating_sub(plain.get(text).copied().unwrap_or_default());
            (more > 0).then(|| format!("{text} ({more})"))
        })
        .collect()
}

/// Tests that are gone, new, or end in another way.
pub(super) fn tests(plain: &Verdicts, ours: &Verdicts) -> Differences {
    let only = |one: &Verdicts, other: &Verdicts| -> Vec<Test> {
        one.keys()
            .filter(|test| !other.contains_key(*test))
            .cloned()
            .collect()
    };
    let changed = plain.iter().filter_map(|(test, plain)| {
        let ours = ours.get(test)?;
        (plain != ours).then(|| Change {
            test: test.clone(),
            plain: *plain,
            ours: *ours,
        })
    });
    Differences {
        warnings: Vec::new(),
        vanished: only(plain, ours),
        appeared: only(ours, plain),
        changed: changed.collect(),
    }
}

/// Number of passed tests.
pub(super) fn passed(verdicts: &Verdicts) -> usize {
    verdicts
        .values()
        .filter(|verdict| **verdict == Verdict::Passed)
        .count()
}

#[cfg(test)]
mod tests {
    use super::super::suite::Verdict::{Failed, Passed};
    use super::super::suite::{Verdict, Verdicts};
    use super::{Change, Differences, new_warnings, tests};

    fn check_warnings(plain: &[(&str, usize)], ours: &[(&str, usize)], expected: &[&str]) {
        let counts = |all: &[(&str, usize)]| {
            all.iter()
                .map(|(text, count)| ((*text).to_owned(), *count))
                .collect()
        };
        assert_eq!(new_warnings(&counts(plain), &counts(ours)), expected);
    }

    #[test]
    fn a_warning_is_new_when_it_comes_more_often() {
        check_warnings(&[("a", 2)], &[("a", 2)], &[]);
        check_warnings(&[("a", 2)], &[("a", 3), ("b", 1)], &["a (1)", "b (1)"]);
        check_warnings(&[("a", 2)], &[("a", 1)], &[]);
    }

    fn verdicts(all: &[(&str, Verdict)]) -> Verdicts {
        all.iter()
            .map(|(name, verdict)| (test(name), *verdict))
            .collect()
    }

    fn test(name: &str) -> (String, String) {
        ("lib a".to_owned(), name.to_owned())
    }

    fn check_tests(plain: &[(&str, Verdict)], ours: &[(&str, Verdict)], expected: Differences) {
        assert_eq!(tests(&verdicts(plain), &verdicts(ours)), expected);
    }

    #[test]
    fn every_test_must_be_there_and_end_as_it_did() {
        check_tests(
            &[("a", Passed), ("b", Failed)],
            &[("a", Passed), ("b", Failed)],
            Differences::default(),
        );
        check_tests(
            &[("a", Passed), ("b", Passed)],
            &[("b", Failed), ("c", Passed)],
            Differences {
                warnings: Vec::new(),
                vanished: vec![test("a")],
                appeared: vec![test("c")],
                changed: vec![Change {
                    test: test("b"),
                    plain: Passed,
                    ours: Failed,
                }],
            },
        );
    }
}
