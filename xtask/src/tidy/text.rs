//! Rules on the text of a file, checked without parsing it as Rust.

use super::tree::{Fault, Tree};

/// Prefixes of machine-specific paths, written so that this file does not contain them.
const MACHINE_PATHS: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
    concat!("C:", "\\\\"),
];

/// Line 1 of a module is its purpose.
pub(super) fn purpose(tree: &Tree) -> Vec<Fault> {
    tree.sources()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| {
            Fault::new(
                file,
                1,
                "a module begins with `//!` and its invariant or purpose",
            )
        })
        .collect()
}

/// No file speaks of the machine that it was written on.
pub(super) fn machine_paths(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.files() {
        for (index, line) in file.text.lines().enumerate() {
            for path in MACHINE_PATHS.iter().filter(|path| begins_in(line, path)) {
                faults.push(Fault::new(
                    file,
                    index + 1,
                    format!("names a path below {path}"),
                ));
            }
        }
    }
    faults
}

/// Whether the path begins there, rather than in the middle of a longer one.
fn begins_in(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~*}".contains(c))
    })
}

/// Tests must not be ignored.
pub(super) fn ignored_tests(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.sources() {
        for (index, line) in file.text.lines().enumerate() {
            if line.trim_start().starts_with("#[ignore") {
                faults.push(Fault::new(file, index + 1, "an ignored test"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::{Fault, Tree, ignored_tests, machine_paths, purpose};

    fn check(rule: fn(&Tree) -> Vec<Fault>, text: &str, expected: &[usize]) {
        let path = "a/src/b.rs";
        let lines: Vec<String> = rule(&Tree::of(&[(path, text)]))
            .iter()
            .map(ToString::to_string)
            .collect();
        let wanted: Vec<String> = expected
            .iter()
            .map(|line| format!("{path}:{line}: "))
            .collect();
        assert_eq!(lines.len(), wanted.len(), "{lines:?}");
        assert!(
            lines
                .iter()
                .zip(&wanted)
                .all(|(line, start)| line.starts_with(start)),
            "{lines:?}"
        );
    }

    #[test]
    fn modules_say_their_purpose() {
        check(purpose, "//! Words.\n", &[]);
        check(purpose, "// Words.\n", &[1]);
        check(purpose, "\n//! Words.\n", &[1]);
        check(purpose, "", &[1]);
    }

    #[test]
    fn generated_code_and_cases_are_left_out() {
        let tree = Tree::of(&[
            ("a/src/generated/b.rs", ""),
            ("ui-tests/pass/c.rs", ""),
            ("a/README", ""),
        ]);
        assert_eq!(purpose(&tree), []);
    }

    #[test]
    fn paths_of_machines_are_found() {
        check(
            machine_paths,
            concat!("x\nsee /ho", "me/ann/x and \"/ro", "ot/y\"\n"),
            &[2, 2],
        );
        check(
            machine_paths,
            concat!(
                "https://example.org/wo",
                "rk/ and ~/ho",
                "me/ and a/ro",
                "ot/\n"
            ),
            &[],
        );
    }

    #[test]
    fn ignored_tests_are_found() {
        check(
            ignored_tests,
            "#[test]\n    #[ignore = \"slow\"]\n#[ignore]\nfn f() {}\n",
            &[2, 3],
        );
        check(ignored_tests, "#[test]\nfn ignore() {}\n", &[]);
    }
}
