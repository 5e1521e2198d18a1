//! The trial of one crate: the plain copy is built and tested first, then each annotated copy in
//! the same way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::build::{Build, Cargo, clean};
use super::child;
use super::compare::{self, Change, Differences};
use super::list::Crate;
use super::options::{Mode, Options};
use super::source::{self, Written, last_lines};
use super::suite::{Suite, Verdict, Verdicts};
use super::table::{Outcome, Row};

const BUILD_LIMIT: Duration = Duration::from_secs(3600);
const ANNOTATE_LIMIT: Duration = Duration::from_secs(300);
/// Number of times that a test with another outcome is repeated, in both copies.
const AGAIN: usize = 2;

/// What all crates share.
pub(super) struct Trial<'a> {
    /// `turbowish`
    pub(super) annotate: PathBuf,
    /// The crate that is depended on.
    pub(super) facade: PathBuf,
    /// Where copies and builds are.
    pub(super) home: PathBuf,
    pub(super) options: &'a Options<'a>,
}

/// A copy that was built, and its tests.
struct Copy {
    folder: PathBuf,
    build: Build,
    verdicts: Verdicts,
}

impl Trial<'_> {
    /// A row for each mode; a single row if the crate cannot be tried at all.
    pub(super) fn run(&self, krate: &Crate<'_>) -> Vec<Row> {
        let folder = self.home.join(format!("{}-{}", krate.name, krate.version));
        let tried = self.plain(krate, &folder).map(|(source, plain)| {
            let modes = self.options.modes.iter();
            let rows =
                modes.map(
                    |mode| match self.annotated(krate, *mode, &source, &folder, &plain) {
                        Ok(row) => row,
                        Err(fault) => Row::fault(krate, mode.name(), fault),
                    },
                );
            let rows: Vec<Row> = rows.collect();
            if !self.options.keep && rows.iter().all(Row::is_same) {
                let programs = plain.build.programs.iter().map(|program| &program.path);
                programs.for_each(|path| drop(fs::remove_file(path)));
                let _ = fs::remove_dir_all(&folder);
            }
            rows
        });
        tried.unwrap_or_else(|fault| {
            let row = Row::fault(krate, "plain", fault);
            eprint!("{}", row.details());
            vec![row]
        })
    }

    fn plain(&self, krate: &Crate<'_>, folder: &Path) -> Result<(PathBuf, Copy), String> {
        let cargo = self.cargo(krate, None);
        let copy = folder.join("plain");
        self.say(krate, "plain", "fetch");
        fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
        let source = source::fetched(krate, folder, &cargo)?;
        source::aside(&source, folder)
            .and_then(|aside| source::mirror(&aside, &copy))
            .map_err(|e| format!("cannot copy: {e}"))?;
        let plain = self.tested(krate, "plain", &cargo, copy)?;
        match plain.build.errors.first() {
            Some(error) => Err(format!("does not build without attributes: {error}")),
            None => Ok((source, plain)),
        }
    }

    fn annotated(
        &self,
        krate: &Crate<'_>,
        mode: Mode,
        source: &Path,
        folder: &Path,
        plain: &Copy,
    ) -> Result<Row, String> {
        let copy = folder.join(mode.name());
        let written = self.annotate(krate, mode, source, folder)?;
        lock(&plain.folder, &copy)?;
        let cargo = self.cargo(krate, Some(mode));
        let ours = self.tested(krate, mode.name(), &cargo, copy)?;
        let mut differences = compare::tests(&plain.verdicts, &ours.verdicts);
        differences.warnings = compare::new_warnings(&plain.build.warnings, &ours.build.warnings);
        let unsteady = self.settle(krate, folder, plain, &ours, &mut differences)?;
        let row = Row {
            krate: format!("{} {}", krate.name, krate.version),
            mode: mode.name(),
            outcome: Outcome::Compared {
                written,
                errors: ours.build.errors,
                passed: (
                    compare::passed(&plain.verdicts),
                    compare::passed(&ours.verdicts),
                ),
                differences,
                unsteady,
            },
        };
        eprint!("{}", row.details());
        Ok(row)
    }

    /// Annotates a separate copy, and mirrors it: unchanged files are not built again.
    fn annotate(
        &self,
        krate: &Crate<'_>,
        mode: Mode,
        source: &Path,
        folder: &Path,
    ) -> Result<Written, String> {
        self.say(krate, mode.name(), "annotate");
        let fault = |e: std::io::Error| format!("cannot copy: {e}");
        let aside = source::aside(source, folder).map_err(fault)?;
        let before = source::count(&aside).map_err(fault)?;
        let mut command = Command::new(&self.annotate);
        clean(&mut command);
        command.args(["turbowish", "annotate", "--all-targets", "--allow-no-vcs"]);
        command.arg("--clone");
        command.arg(&self.facade);
        if mode == Mode::Block {
            command.arg("--blocks");
        }
        command.arg(&aside);
        let log = folder.join("annotate.log");
        let ended = child::run(&mut command, ANNOTATE_LIMIT, &log)
            .map_err(|e| format!("cannot annotate: {e}"))?;
        if !ended.succeeded() {
            return Err(format!("cannot annotate: {}", last_lines(&ended.stderr)));
        }
        let mut written = source::count(&aside).map_err(fault)?;
        written.attributes -= before.attributes.min(written.attributes);
        source::mirror(&aside, &folder.join(mode.name())).map_err(fault)?;
        Ok(written)
    }

    /// Builds a copy and runs its tests, or only checks it.
    fn tested(
        &self,
        krate: &Crate<'_>,
        what: &str,
        cargo: &Cargo,
        folder: PathBuf,
    ) -> Result<Copy, String> {
        let log = folder.with_extension("build.log");
        let mut arguments: Vec<&str> = if self.options.check {
            let all = (!krate.features.contains(&"--lib")).then_some("--all-targets");
            ["check", "--keep-going"].into_iter().chain(all).collect()
        } else {
            vec!["test", "--no-run", "--no-fail-fast"]
        };
        arguments.extend(krate.features);
        self.say(krate, what, arguments[0]);
        let began = Instant::now();
        let build = cargo.build(&arguments, &folder, BUILD_LIMIT, &log)?;
        self.say(
            krate,
            what,
            &format!("built in {} s", began.elapsed().as_secs()),
        );
        let mut copy = Copy {
            folder,
            build,
            verdicts: Verdicts::new(),
        };
        if self.options.check || !copy.build.errors.is_empty() {
            return Ok(copy);
        }
        let logs = copy.folder.with_extension("logs");
        fs::create_dir_all(&logs).map_err(|e| format!("cannot make {}: {e}", logs.display()))?;
        let suite = Suite {
            krate,
            folder: &copy.folder,
            logs: &logs,
        };
        for program in &copy.build.programs {
            self.say(krate, what, &program.name);
            copy.verdicts.append(&mut suite.run(program)?);
        }
        if krate.doc && self.options.doc {
            self.say(krate, what, "examples of the documentation");
            copy.verdicts.append(&mut suite.documentation(cargo)?);
        }
        Ok(copy)
    }

    /// Repeats tests with another outcome. A test that then has both outcomes in one copy is
    /// unsteady, and not a difference.
    fn settle(
        &self,
        krate: &Crate<'_>,
        folder: &Path,
        plain: &Copy,
        ours: &Copy,
        differences: &mut Differences,
    ) -> Result<Vec<Change>, String> {
        let again = |copy: &Copy,
                     change: &Change,
                     before: Verdict,
                     wanted: Verdict|
         -> Result<bool, String> {
            let (program, test) = &change.test;
            let Some(program) = copy
                .build
                .programs
                .iter()
                .find(|known| known.name == *program)
            else {
                return Ok(false);
            };
            let suite = Suite {
                krate,
                folder: &copy.folder,
                logs: folder,
            };
            for _ in 0..AGAIN {
                let verdict = suite.again(program, test)?;
                if verdict != before {
                    return Ok(verdict == wanted);
                }
            }
            Ok(false)
        };
        let (mut unsteady, mut changed) = (Vec::new(), Vec::new());
        for change in std::mem::take(&mut differences.changed) {
            self.say(
                krate,
                "again",
                &format!("{} {}", change.test.0, change.test.1),
            );
            let steady = !again(ours, &change, change.ours, change.plain)?
                && !again(plain, &change, change.plain, change.ours)?;
            if steady { &mut changed } else { &mut unsteady }.push(change);
        }
        differences.changed = changed;
        Ok(unsteady)
    }

    fn cargo(&self, krate: &Crate<'_>, mode: Option<Mode>) -> Cargo {
        let units = match mode {
            None => 16,
            Some(Mode::Fn) => 17,
            Some(Mode::Block) => 18,
        };
        Cargo {
            target: self.home.join("target"),
            apart: (krate.name.to_owned(), units),
        }
    }

    fn say(&self, krate: &Crate<'_>, what: &str, step: &str) {
        eprintln!("{} {} {what}: {step}", krate.name, krate.version);
    }
}

/// The annotated copy gets the versions of the plain one; cargo adds this project's crates.
fn lock(plain: &Path, copy: &Path) -> Result<(), String> {
    let (from, to) = (plain.join("Cargo.lock"), copy.join("Cargo.lock"));
    if to.exists() {
        return Ok(());
    }
    fs::copy(&from, &to)
        .map(drop)
        .map_err(|e| format!("cannot copy {}: {e}", from.display()))
}
