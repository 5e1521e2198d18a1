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

/// The widest line of prose, in characters.
const WIDTH: usize = 100;

/// Programs of which tests and pages quote line numbers.
const QUOTED: [&str; 2] = ["examples/", "ui-tests/"];

/// Comments and Markdown end at column 100, except tables, code and what has no space.
pub(super) fn width(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.files() {
        let markdown = file.path.ends_with(".md");
        let rust = file.path.ends_with(".rs") && !file.path.contains("/generated/");
        let quoted = QUOTED.iter().any(|folder| file.path.starts_with(folder));
        if quoted || (!markdown && !rust) {
            continue;
        }
        let mut fenced = false;
        for (index, line) in file.text.lines().enumerate() {
            let line_of_text = line.trim_start();
            let text = line_of_text.trim_start_matches(['/', '!']).trim_start();
            let prose = markdown || line_of_text.starts_with("//");
            if prose && text.starts_with("```") {
                fenced = !fenced;
            }
            let bound = text.starts_with('|') || text.starts_with('[') || !text.contains(' ');
            if prose && !fenced && !bound && line.chars().count() > WIDTH {
                let text = format!("a line of prose is wider than {WIDTH} columns");
                faults.push(Fault::new(file, index + 1, text));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::{Fault, Tree, ignored_tests, machine_paths, purpose, width};

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
    fn wide_prose_is_found() {
        let wide = "word ".repeat(20) + "a";
        check(
            width,
            &format!("//! {wide}\n// {wide}\nlet a; // x\n"),
            &[1, 2],
        );
        check(
            width,
            &format!("/// ```\n/// {wide}\n/// ```\n/// | {wide}\n"),
            &[],
        );
        check(
            width,
            &format!("/// {}\nlet a = \"{wide}\";\n", "a".repeat(120)),
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
