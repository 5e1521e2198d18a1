//! Results of a test suite. A test has one verdict, identified by its program and its name; a test
//! that a program lists and never reports did not end.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::build::{Cargo, Program, clean};
use super::child;
use super::list::Crate;
use super::source::last_lines;

const LIST_LIMIT: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(600);
const DOC_LIMIT: Duration = Duration::from_secs(1800);

/// The name used for a program that is not libtest, and for one that could not list its tests.
const WHOLE: &str = "(the whole program)";

/// The outcome of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Passed,
    Failed,
    Ignored,
    /// Listed without an outcome: its program was killed, or crashed.
    Lost,
}

/// Outcomes by `(program, test)`.
pub(super) type Verdicts = BTreeMap<(String, String), Verdict>;

/// The environment of a crate's tests.
pub(super) struct Suite<'a> {
    pub(super) krate: &'a Crate<'a>,
    /// The folder of the copy.
    pub(super) folder: &'a Path,
    /// The folder for logs.
    pub(super) logs: &'a Path,
}

impl Suite<'_> {
    /// All tests of a program.
    pub(super) fn run(&self, program: &Program) -> Result<Verdicts, String> {
        let log = self.logs.join(program.name.replace([' ', '/'], "-"));
        let listed = self.command(program, &["--list", "--format", "terse"]);
        let listed = step(listed, LIST_LIMIT, &log)?;
        let Some(names) = names(&listed.stdout).filter(|_| listed.succeeded()) else {
            let ended = step(self.command(program, &[]), LIMIT, &log)?;
            let verdict = if ended.succeeded() {
                Verdict::Passed
            } else {
                Verdict::Failed
            };
            return Ok([((program.name.clone(), WHOLE.to_owned()), verdict)].into());
        };
        let skipped = |name: &str| self.krate.skip.iter().any(|skip| name.contains(skip));
        let mut verdicts: Verdicts = names
            .into_iter()
            .filter(|name| !skipped(name))
            .map(|name| ((program.name.clone(), name.to_owned()), Verdict::Lost))
            .collect();
        if verdicts.is_empty() {
            return Ok(verdicts);
        }
        let skip: Vec<&str> = self
            .krate
            .skip
            .iter()
            .flat_map(|skip| ["--skip", *skip])
            .collect();
        let ended = step(self.command(program, &skip), LIMIT, &log)?;
        for (name, verdict) in reported(&ended.stdout) {
            verdicts.insert((program.name.clone(), name), verdict);
        }
        Ok(verdicts)
    }

    /// Runs one test again.
    pub(super) fn again(&self, program: &Program, test: &str) -> Result<Verdict, String> {
        let arguments: &[&str] = if test == WHOLE {
            &[]
        } else {
            &["--exact", test]
        };
        let log = self.logs.join("again");
        let ended = step(self.command(program, arguments), LIMIT, &log)?;
        if test == WHOLE {
            return Ok(if ended.succeeded() {
                Verdict::Passed
            } else {
                Verdict::Failed
            });
        }
        let verdict = reported(&ended.stdout)
            .into_iter()
            .find(|(name, _)| name == test);
        Ok(verdict.map_or(Verdict::Lost, |(_, verdict)| verdict))
    }

    /// The examples in the documentation. The line numbers in their names change with the
    /// attributes, so they are numbered per item.
    pub(super) fn documentation(&self, cargo: &Cargo) -> Result<Verdicts, String> {
        let mut command = cargo.command("test", self.folder);
        command
            .args(["--doc", "--no-fail-fast"])
            .args(self.krate.features);
        command.arg("--");
        command.args(self.krate.skip.iter().flat_map(|skip| ["--skip", *skip]));
        let ended = cargo.run(&mut command, DOC_LIMIT, &self.logs.join("doc"))?;
        let verdicts = numbered(reported(&ended.stdout));
        if verdicts.is_empty() && !ended.succeeded() {
            return Err(format!(
                "documentation tests: {}: {}",
                ended.how(),
                last_lines(&ended.stderr)
            ));
        }
        Ok(verdicts)
    }

    /// As cargo would run it.
    fn command(&self, program: &Program, arguments: &[&str]) -> Command {
        let mut command = Command::new(&program.path);
        clean(&mut command);
        command
            .args(arguments)
            .current_dir(self.folder)
            .env("CARGO_MANIFEST_DIR", self.folder)
            .env("CARGO_PKG_NAME", self.krate.name)
            .env("CARGO_PKG_VERSION", self.krate.version);
        command
    }
}

fn step(mut command: Command, limit: Duration, log: &Path) -> Result<child::Ended, String> {
    let program = command.get_program().to_owned();
    child::run(&mut command, limit, log)
        .map_err(|e| format!("cannot run {}: {e}", program.display()))
}

/// The tests that a libtest program lists; `None` if it is not libtest.
fn names(stdout: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    for line in stdout.lines().filter(|line| !line.trim().is_empty()) {
        match line.rsplit_once(": ")? {
            (name, "test") => names.push(name),
            (_, "benchmark") => {}
            _ => return None,
        }
    }
    Some(names)
}

/// Finds `test NAME ... VERDICT` on any line: tests may print in between.
fn reported(stdout: &str) -> Vec<(String, Verdict)> {
    stdout.lines().filter_map(verdict).collect()
}

fn verdict(line: &str) -> Option<(String, Verdict)> {
    let (name, said) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // A test's own output may precede its verdict, on the same line.
    let verdict = if said == "ok" || said.ends_with("ok") {
        Verdict::Passed
    } else if said.ends_with("FAILED") {
        Verdict::Failed
    } else if said.starts_with("ignored") {
        Verdict::Ignored
    } else {
        return None;
    };
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    Some((name.to_owned(), verdict))
}

/// `src/lib.rs - item (line 12)` becomes `src/lib.rs - item #1`, in the order of the lines.
fn numbered(reported: Vec<(String, Verdict)>) -> Verdicts {
    let mut lines: Vec<(String, usize, String, Verdict)> = reported
        .into_iter()
        .map(|(name, verdict)| match name.split_once(" (line ") {
            Some((item, rest)) => {
                let (line, kind) = rest.split_once(')').unwrap_or((rest, ""));
                (
                    item.to_owned(),
                    line.parse().unwrap_or(0),
                    kind.to_owned(),
                    verdict,
                )
            }
            None => (name, 0, String::new(), verdict),
        })
        .collect();
    lines.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let mut verdicts = Verdicts::new();
    let (mut before, mut number) = (String::new(), 0);
    for (item, _, kind, verdict) in lines {
        number = if item == before { number + 1 } else { 1 };
        verdicts.insert(
            ("doc".to_owned(), format!("{item} #{number}{kind}")),
            verdict,
        );
        before = item;
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Failed, Ignored, Passed};
    use super::{Verdict, names, numbered, reported};

    fn check_names(stdout: &str, expected: Option<&[&str]>) {
        assert_eq!(names(stdout).as_deref(), expected, "{stdout}");
    }

    #[test]
    fn a_program_of_libtest_is_known_by_its_list() {
        check_names("a::b: test\nc: benchmark\n", Some(&["a::b"]));
        check_names("\n", Some(&[]));
        check_names(
            "a::b - should panic: test\n",
            Some(&["a::b - should panic"]),
        );
        check_names("hello\n", None);
        check_names("a: test\nratio: 3\n", None);
    }

    fn check_verdicts(stdout: &str, expected: &[(&str, Verdict)]) {
        let found = reported(stdout);
        let found: Vec<(&str, Verdict)> = found
            .iter()
            .map(|(name, verdict)| (name.as_str(), *verdict))
            .collect();
        assert_eq!(found, expected, "{stdout}");
    }

    #[test]
    fn a_verdict_is_read_from_its_line() {
        check_verdicts(
            "running 2 tests\ntest a::b ... ok\ntest c ... FAILED\n",
            &[("a::b", Passed), ("c", Failed)],
        );
        check_verdicts("test a ... ignored, needs a server\n", &[("a", Ignored)]);
        check_verdicts("test a - should panic ... ok\n", &[("a", Passed)]);
        check_verdicts("test a ... hello ok\n", &[("a", Passed)]);
        check_verdicts("test result: ok. 3 passed; 0 failed\n", &[]);
        check_verdicts("test a has been running for over 60 seconds\n", &[]);
    }

    #[test]
    fn examples_are_numbered_per_item_in_the_order_of_lines() {
        let reported = reported(
            "test src/a.rs - f (line 20) - compile ... ok\ntest src/a.rs - f (line 9) ... FAILED\ntest src/b.rs - (line 3) ... ok\n",
        );
        let found = numbered(reported);
        let names: Vec<(&str, Verdict)> = found
            .iter()
            .map(|((_, name), verdict)| (name.as_str(), *verdict))
            .collect();
        assert_eq!(
            names,
            [
                ("src/a.rs - f #1", Failed),
                ("src/a.rs - f #2 - compile", Passed),
                ("src/b.rs - #1", Passed)
            ]
        );
    }
}
