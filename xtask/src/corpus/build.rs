//! The result of a build: cargo's messages about one package, with its warnings, errors and test
//! programs.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::child::{self, Ended};

/// The number of occurrences of each.
pub(super) type Counts = BTreeMap<String, usize>;

/// Cargo's configuration for all copies: one target folder, so that dependencies are built once.
pub(super) struct Cargo {
    pub(super) target: PathBuf,
    /// The number of codegen units in a separate profile for this copy. Cargo treats all copies of
    /// a package as one, and considers files older than its last build as built; the profile keeps
    /// this copy apart.
    pub(super) apart: (String, u32),
}

/// The result of a build.
#[derive(Default)]
pub(super) struct Build {
    /// `file: message`
    pub(super) warnings: Counts,
    /// As the compiler shows them.
    pub(super) errors: Vec<String>,
    pub(super) programs: Vec<Program>,
    /// Whether cargo named the package at all.
    named: bool,
}

/// An executable that holds tests.
#[derive(Clone)]
pub(super) struct Program {
    /// `kind NAME`, the same in all copies.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl Cargo {
    /// `cargo SUBCOMMAND` in `folder`.
    pub(super) fn command(&self, subcommand: &str, folder: &Path) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.arg(subcommand).current_dir(folder);
        let (package, units) = &self.apart;
        let profile = format!("profile.dev.package.{package:?}.codegen-units={units}");
        command.arg("--config").arg(profile);
        clean(&mut command);
        command
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_TERM_COLOR", "never");
        command
    }

    /// Runs it as a step.
    pub(super) fn run(
        &self,
        command: &mut Command,
        limit: Duration,
        log: &Path,
    ) -> Result<Ended, String> {
        child::run(command, limit, log).map_err(|e| format!("cannot run cargo: {e}"))
    }

    /// Builds the package in `folder`: `arguments` begin with cargo's subcommand.
    pub(super) fn build(
        &self,
        arguments: &[&str],
        folder: &Path,
        limit: Duration,
        log: &Path,
    ) -> Result<Build, String> {
        let (subcommand, arguments) = arguments.split_first().ok_or("no subcommand")?;
        let mut command = self.command(subcommand, folder);
        command.args(arguments).arg("--message-format=json");
        let ended = self.run(&mut command, limit, log)?;
        let mut build = read(&ended.stdout, &folder.join("Cargo.toml"));
        if !ended.succeeded() && build.errors.is_empty() {
            build.errors.push(format!(
                "{}: {}",
                ended.how(),
                super::source::last_lines(&ended.stderr)
            ));
        }
        if build.errors.is_empty() && !build.named {
            build
                .errors
                .push("nothing of the package was built".to_owned());
        }
        Ok(build)
    }
}

/// Removes variables that cargo set for this program and that are not meant for its child
/// processes.
pub(super) fn clean(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"]
            .iter()
            .any(|prefix| text.starts_with(prefix));
        if package || text == "RUSTFLAGS" || text == "LD_LIBRARY_PATH" {
            command.env_remove(&name);
        }
    }
}

fn read(stdout: &str, manifest: &Path) -> Build {
    let mut build = Build::default();
    let ours = |message: &Value| {
        message["manifest_path"]
            .as_str()
            .is_some_and(|path| Path::new(path) == manifest)
    };
    for message in stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        match message["reason"].as_str() {
            Some("compiler-message") => said(&mut build, &message, ours(&message)),
            Some("compiler-artifact") if ours(&message) => {
                build.named = true;
                build.programs.extend(program(&message));
            }
            _ => {}
        }
    }
    build.programs.sort_by(|a, b| a.name.cmp(&b.name));
    build
}

/// The path of the executable `name` in cargo's messages.
pub(super) fn executable(stdout: &str, name: &str) -> Option<PathBuf> {
    stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|message| message["target"]["name"] == name && message["executable"].is_string())
        .and_then(|message| message["executable"].as_str().map(PathBuf::from))
}

fn said(build: &mut Build, message: &Value, ours: bool) {
    let message = &message["message"];
    let text = message["message"].as_str().unwrap_or_default();
    match message["level"].as_str() {
        Some("error") => {
            let rendered = message["rendered"].as_str().unwrap_or(text);
            build.errors.push(rendered.trim_end().to_owned());
        }
        // The last warning only counts the others.
        Some("warning") if ours && !text.ends_with(" emitted") => {
            let file = message["spans"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|span| span["is_primary"] == true)
                .and_then(|span| span["file_name"].as_str())
                .unwrap_or("the crate");
            *build.warnings.entry(format!("{file}: {text}")).or_default() += 1;
        }
        _ => {}
    }
}

fn program(message: &Value) -> Option<Program> {
    let path = message["executable"].as_str()?;
    let target = &message["target"];
    (message["profile"]["test"] == true).then(|| Program {
        name: format!(
            "{} {}",
            target["kind"][0].as_str().unwrap_or_default(),
            target["name"].as_str().unwrap_or_default()
        ),
        path: path.into(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::read;

    const MANIFEST: &str = "a/Cargo.toml";

    fn check(lines: &[&str], warnings: &[(&str, usize)], errors: usize, programs: &[&str]) {
        let build = read(&lines.join("\n"), Path::new(MANIFEST));
        let found: Vec<(&str, usize)> = build
            .warnings
            .iter()
            .map(|(text, count)| (text.as_str(), *count))
            .collect();
        let names: Vec<&str> = build
            .programs
            .iter()
            .map(|program| program.name.as_str())
            .collect();
        assert_eq!(
            (found.as_slice(), build.errors.len(), names.as_slice()),
            (warnings, errors, programs)
        );
        assert_eq!(build.named, !programs.is_empty());
    }

    #[test]
    fn warnings_of_the_package_are_counted_by_file_and_message() {
        let warning = r#"{"reason":"compiler-message","manifest_path":"a/Cargo.toml","message":{"level":"warning","message":"unused","spans":[{"is_primary":false,"file_name":"x.rs"},{"is_primary":true,"file_name":"src/b.rs"}]}}"#;
        let count = r#"{"reason":"compiler-message","manifest_path":"a/Cargo.toml","message":{"level":"warning","message":"2 warnings emitted","spans":[]}}"#;
        let another = r#"{"reason":"compiler-message","manifest_path":"z/Cargo.toml","message":{"level":"warning","message":"unused","spans":[]}}"#;
        check(
            &[warning, "not JSON", warning, count, another],
            &[("src/b.rs: unused", 2)],
            0,
            &[],
        );
    }

    #[test]
    fn errors_are_counted_wherever_they_are() {
        let error = r#"{"reason":"compiler-message","manifest_path":"z/Cargo.toml","message":{"level":"error","message":"no","spans":[]}}"#;
        check(&[error], &[], 1, &[]);
    }

    #[test]
    fn test_programs_are_those_that_cargo_would_run() {
        let artifact = |kind: &str, test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"a/Cargo.toml","target":{{"kind":["{kind}"],"name":"n"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let lines = [
            artifact("test", true, "\"t\""),
            artifact("lib", true, "\"l\""),
            artifact("lib", false, "null"),
            artifact("example", false, "\"e\""),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&lines, &[], 0, &["lib n", "test n"]);
    }
}
