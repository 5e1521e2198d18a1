//! The command line of `annotate`.

use std::path::PathBuf;

use clap::Args;

use crate::pattern::Pattern;
use crate::program::Program;

/// Arguments, and what that run does, in lines.
const EXAMPLES: [(&str, &[&str]); 7] = [
    (
        "",
        &[
            "every async fn of the package or workspace",
            "here, and the dependency",
        ],
    ),
    ("--dry-run", &["what that would change"]),
    ("--blocks", &["the same by attributes on impl, trait, mod"]),
    (
        "--exclude tests --exclude 'db::Db::get'",
        &["not in modules and folders named tests,", "not this method"],
    ),
    (
        "--include src/net --include '**::handle_*'",
        &["only this folder, and functions of that name"],
    ),
    ("--check", &["a lint: exit code 1 if it finds something"]),
    ("--remove", &["remove what it has added"]),
];

/// Columns of the arguments in the examples; longer ones have a line of their own.
const ARGUMENTS: usize = 21;

const PATTERNS: &str = "\
Patterns:
  src/net, **/conn.rs   with /, a file, or a folder and all in it, as seen from
                        its package
  db::Db, **::read_*    with ::, a function, or a module or type and all in it;
                        the name of the crate may be left out
  tests, read_*         a single name: each folder, file, module, type or
                        function of that name
  In a name * is any text and ? any character; ** is any number of names.";

const LONG_EXAMPLES: [&str; 6] = [
    "--dry-run",
    "--exclude tests --exclude 'db::Db::get'",
    "--include src/net --include '**::handle_*'",
    "crates/server crates/client --all-targets",
    "src/main.rs",
    "--check",
];

const EXIT_CODES: &str = "\
Exit codes: 0 done, or --check found nothing; 1 --check found something, version
control could not undo the change, or a file could not be parsed or written;
2 wrong usage, or no package here.";

/// The examples below `-h`.
#[must_use]
pub fn examples(program: &Program) -> String {
    let typed = program.typed;
    let mut lines = vec!["Examples:".to_owned()];
    let indent = " ".repeat(typed.len() + " annotate ".len() + 2 + ARGUMENTS);
    for (arguments, explained) in EXAMPLES {
        let mut first = format!("  {typed} annotate {arguments:ARGUMENTS$}");
        let mut explained = explained.iter();
        if arguments.len() < ARGUMENTS {
            first.extend(explained.next().copied());
        }
        lines.push(first.trim_end().to_owned());
        lines.extend(explained.map(|line| format!("{indent}{line}")));
    }
    lines.join("\n")
}

/// Patterns, examples and exit codes below `--help`.
#[must_use]
pub fn long_help(program: &Program) -> String {
    let typed = program.typed;
    let line = |arguments| format!("  {typed} annotate {arguments}\n");
    let examples: String = LONG_EXAMPLES.iter().map(line).collect();
    format!("{PATTERNS}\n\nExamples:\n{examples}\n{EXIT_CODES}")
}

/// The arguments of `annotate`.
#[derive(Args, Debug)]
pub struct AnnotateArgs {
    /// A package, a workspace, or a folder or file of one; by default that of the current folder
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Change nothing; list async fns that are not covered, and tokio's types that TurboWish wraps
    #[arg(long, conflicts_with_all = ["remove", "blocks", "dry_run"])]
    pub check: bool,
    /// Remove what this command has added: attributes, and the dependency if nothing needs it
    #[arg(long, conflicts_with = "blocks")]
    pub remove: bool,
    /// Annotate impl, trait and mod blocks rather than single functions
    #[arg(long)]
    pub blocks: bool,
    /// Also in tests, examples and benches of a package
    #[arg(long)]
    pub all_targets: bool,
    /// Only files or functions that match a pattern
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub include: Vec<Pattern>,
    /// Skip files or functions that match a pattern
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub exclude: Vec<Pattern>,
    /// Write nothing; print what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Writing what version control could not undo.
    #[command(flatten)]
    pub permission: Permission,
    /// The origin of the dependency.
    #[command(flatten)]
    pub origin: OriginArgs,
}

/// What is written even though version control could not undo it.
#[derive(Args, Clone, Copy, Debug)]
pub struct Permission {
    /// Write although the repository has uncommitted changes
    #[arg(long)]
    pub allow_dirty: bool,
    /// Write although the repository has staged changes
    #[arg(long)]
    pub allow_staged: bool,
    /// Write files that are under no version control
    #[arg(long)]
    pub allow_no_vcs: bool,
}

/// Where the dependency comes from.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub struct OriginArgs {
    /// Depend on the clone of TurboWish in this folder; by default the one that built this program
    #[arg(long, value_name = "FOLDER")]
    pub clone: Option<PathBuf>,
    /// Depend on TurboWish in this git repository
    #[arg(long, value_name = "URL")]
    pub git: Option<String>,
    /// Depend on this version in the registry
    #[arg(long, value_name = "REQ")]
    pub version: Option<String>,
}
