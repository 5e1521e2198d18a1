//! The tables in README.md tell the truth: every file is there, and every case is in its file.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

/// What stands between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn every_case_is_in_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = 0;
    for line in include_str!("../README.md").lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [_, file, cases] = cells[..] else {
            continue;
        };
        let Some(file) = quoted(file).next() else {
            continue;
        };
        let here = [root.join(file), root.join("editions").join(file)];
        let text = here
            .iter()
            .find_map(|path| std::fs::read_to_string(path).ok());
        let text = text.unwrap_or_else(|| panic!("there is no {file}"));
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        for case in quoted(cases) {
            assert!(words.contains(&case), "{file} has no {case}");
        }
        rows += 1;
    }
    assert!(rows > 50, "{rows} rows were read");
}
