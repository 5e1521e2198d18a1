//! `cargo xtask corpus`: compares published crates, annotated and not: same warnings, same tests,
//! same verdicts.

mod armed;
mod build;
mod child;
mod compare;
mod list;
mod options;
mod source;
mod suite;
mod table;
mod trial;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use build::clean;
use list::{CRATES, Crate};
use options::Options;
use trial::Trial;

const CLI_LIMIT: Duration = Duration::from_secs(1800);

/// Tries the crates that `arguments` name, or all; an error means that something differs.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<String, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut parts = words.splitn(2, |word| *word == "--");
    let (words, cargo) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let options = Options::read(words, cargo)?;
    if options.list {
        return Ok(listed());
    }
    child::end_with_us().map_err(|e| format!("cannot listen to signals: {e}"))?;
    let home = root.join("target").join("corpus");
    // Cargo's messages name packages by canonical paths.
    let home = std::fs::create_dir_all(&home)
        .and_then(|()| home.canonicalize())
        .map_err(|e| format!("cannot make {}: {e}", home.display()))?;
    let facade = if options.armed {
        armed::facade(root, &home).map_err(|e| format!("cannot write the facade: {e}"))?
    } else {
        root.to_path_buf()
    };
    let trial = Trial {
        annotate: command_line(root, &home)?,
        facade,
        home,
        options: &options,
    };
    let rows: Vec<table::Row> = options
        .crates
        .iter()
        .flat_map(|krate| trial.run(krate))
        .collect();
    let text = table::text(&rows);
    if rows.iter().all(table::Row::is_same) {
        Ok(text)
    } else {
        Err(text)
    }
}

fn listed() -> String {
    let line = |krate: &Crate<'_>| format!("{} {}  {}\n", krate.name, krate.version, krate.why);
    CRATES
        .iter()
        .map(line)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Builds `turbowish`, and says where it is.
fn command_line(root: &Path, home: &Path) -> Result<std::path::PathBuf, String> {
    eprintln!("building the command line");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    clean(&mut command);
    command
        .args([
            "build",
            "--package",
            "cargo-turbowish",
            "--message-format=json",
        ])
        .current_dir(root);
    let ended = child::run(&mut command, CLI_LIMIT, &home.join("cli.log"))
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    build::executable(&ended.stdout, "cargo-turbowish")
        .filter(|_| ended.succeeded())
        .ok_or_else(|| {
            format!(
                "the command line does not build: {}",
                source::last_lines(&ended.stderr)
            )
        })
}
