//! The table of results, followed by the details of each failure.

use std::fmt::Write as _;

use super::compare::{Change, Differences, Test};
use super::list::Crate;
use super::source::Written;

const HEAD: [&str; 10] = [
    "crate",
    "mode",
    "async fns",
    "attributes",
    "compiles",
    "new warnings",
    "passed plain",
    "passed ours",
    "vanished",
    "other verdict",
];

/// Maximal number of errors printed for a row.
const SHOWN: usize = 3;

/// One crate in one mode.
pub(super) struct Row {
    pub(super) krate: String,
    pub(super) mode: &'static str,
    pub(super) outcome: Outcome,
}

/// What came of it.
pub(super) enum Outcome {
    /// The trial could not be run.
    Fault(String),
    Compared {
        written: Written,
        errors: Vec<String>,
        /// Numbers of passed tests, plain and annotated.
        passed: (usize, usize),
        differences: Differences,
        /// Tests that had another outcome once, and the original one when repeated.
        unsteady: Vec<Change>,
    },
}

impl Row {
    /// Of a crate that could not be tried.
    pub(super) fn fault(krate: &Crate<'_>, mode: &'static str, fault: String) -> Self {
        Self {
            krate: format!("{} {}", krate.name, krate.version),
            mode,
            outcome: Outcome::Fault(fault),
        }
    }

    /// Whether the annotated crate behaves like the plain one.
    pub(super) fn is_same(&self) -> bool {
        match &self.outcome {
            Outcome::Fault(_) => false,
            Outcome::Compared {
                errors,
                differences,
                ..
            } => errors.is_empty() && differences.none(),
        }
    }

    fn cells(&self) -> [String; 10] {
        let number = |number: usize| number.to_string();
        let (krate, mode) = (self.krate.clone(), self.mode.to_owned());
        match &self.outcome {
            Outcome::Fault(_) => {
                let mut cells = [const { String::new() }; 10].map(|_: String| "–".to_owned());
                (cells[0], cells[1], cells[4]) = (krate, mode, "not tried".to_owned());
                cells
            }
            Outcome::Compared {
                written,
                errors,
                passed,
                differences,
                unsteady,
            } => [
                krate,
                mode,
                number(written.functions),
                number(written.attributes),
                if errors.is_empty() {
                    "yes".to_owned()
                } else {
                    format!("{} errors", errors.len())
                },
                number(differences.warnings.len()),
                number(passed.0),
                number(passed.1),
                number(differences.vanished.len()),
                match unsteady.len() {
                    0 => number(differences.changed.len() + differences.appeared.len()),
                    unsteady => format!(
                        "{} (unsteady: {unsteady})",
                        differences.changed.len() + differences.appeared.len()
                    ),
                },
            ],
        }
    }

    /// What differs, in words.
    pub(super) fn details(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str| {
            let _ = writeln!(text, "{} {}: {what}", self.krate, self.mode);
        };
        let name = |(program, test): &Test| format!("{program}: {test}");
        match &self.outcome {
            Outcome::Fault(fault) => line(fault),
            Outcome::Compared {
                errors,
                differences,
                unsteady,
                ..
            } => {
                errors.iter().take(SHOWN).for_each(|error| line(error));
                if let Some(more) = errors.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                    line(&format!("and {more} errors more"));
                }
                differences
                    .warnings
                    .iter()
                    .for_each(|warning| line(&format!("new warning: {warning}")));
                if errors.is_empty() {
                    differences
                        .vanished
                        .iter()
                        .for_each(|test| line(&format!("vanished: {}", name(test))));
                }
                differences
                    .appeared
                    .iter()
                    .for_each(|test| line(&format!("appeared: {}", name(test))));
                for (change, word) in differences
                    .changed
                    .iter()
                    .map(|change| (change, ""))
                    .chain(unsteady.iter().map(|change| (change, "unsteady, ")))
                {
                    line(&format!(
                        "{word}{:?} before, {:?} now: {}",
                        change.plain,
                        change.ours,
                        name(&change.test)
                    ));
                }
            }
        }
        text
    }
}

/// All rows, and below them what differs.
pub(super) fn text(rows: &[Row]) -> String {
    let mut cells: Vec<[String; 10]> = vec![HEAD.map(str::to_owned)];
    cells.extend(rows.iter().map(Row::cells));
    let width = |column: usize| {
        cells
            .iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    for (index, row) in cells.iter().enumerate() {
        for (column, cell) in row.iter().enumerate() {
            let fill = " ".repeat(widths[column] - cell.chars().count());
            let (before, after) = if column < 2 {
                ("", fill.as_str())
            } else {
                (fill.as_str(), "")
            };
            let _ = write!(text, "| {before}{cell}{after} ");
        }
        text.push_str("|\n");
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let end = if column < 2 { "-" } else { ":" };
                let _ = write!(text, "|{}{end}", "-".repeat(width + 1));
            }
            text.push_str("|\n");
        }
    }
    let details: String = rows.iter().map(Row::details).collect();
    if !details.is_empty() {
        let _ = write!(text, "\n{details}");
    }
    let same = rows.iter().filter(|row| row.is_same()).count();
    let _ = write!(text, "\n{same} of {} are the same", rows.len());
    text
}

#[cfg(test)]
mod tests {
    use super::super::list::Crate;
    use super::super::source::Written;
    use super::{Differences, Outcome, Row, text};

    fn compared(errors: &[&str], vanished: &[(&str, &str)]) -> Row {
        Row {
            krate: "a 1.0.0".into(),
            mode: "fn",
            outcome: Outcome::Compared {
                written: Written {
                    functions: 3,
                    attributes: 3,
                },
                errors: errors.iter().map(|error| (*error).to_owned()).collect(),
                passed: (5, 5 - vanished.len()),
                differences: Differences {
                    vanished: vanished
                        .iter()
                        .map(|(program, test)| ((*program).to_owned(), (*test).to_owned()))
                        .collect(),
                    ..Differences::default()
                },
                unsteady: Vec::new(),
            },
        }
    }

    fn check(row: Row, same: bool, cells: &str, details: &str) {
        assert_eq!(row.is_same(), same);
        assert_eq!(row.cells().join(" "), cells);
        assert_eq!(row.details(), details);
    }

    #[test]
    fn a_row_says_what_differs() {
        check(compared(&[], &[]), true, "a 1.0.0 fn 3 3 yes 0 5 5 0 0", "");
        check(
            compared(&[], &[("lib a", "t")]),
            false,
            "a 1.0.0 fn 3 3 yes 0 5 4 1 0",
            "a 1.0.0 fn: vanished: lib a: t\n",
        );
        check(
            compared(&["no"], &[]),
            false,
            "a 1.0.0 fn 3 3 1 errors 0 5 5 0 0",
            "a 1.0.0 fn: no\n",
        );
        check(
            Row::fault(
                &Crate::new("b", "2.0.0", ""),
                "plain",
                "cannot fetch".into(),
            ),
            false,
            "b 2.0.0 plain – – not tried – – – – –",
            "b 2.0.0 plain: cannot fetch\n",
        );
    }

    #[test]
    fn columns_are_aligned() {
        let text = text(&[compared(&[], &[])]);
        let lines: Vec<usize> = text
            .lines()
            .take(3)
            .map(|line| line.chars().count())
            .collect();
        assert!(lines.iter().all(|length| *length == lines[0]), "{text}");
        assert!(text.ends_with("\n1 of 1 are the same"), "{text}");
    }
}
