//! `turbowish annotate`.

use std::path::PathBuf;

use clap::Args;

use crate::pattern::Pattern;

pub(crate) const EXAMPLES: &str = "\
Examples:
  turbowish annotate                      every async fn of the package or workspace
                                          here, and the dependency
  turbowish annotate --dry-run            what that would change
  turbowish annotate --blocks             the same by attributes on impl, trait, mod
  turbowish annotate --exclude tests --exclude 'db::Db::get'
                                          not in modules and folders named tests,
                                          not this method
  turbowish annotate --include src/net --include '**::handle_*'
                                          only this folder, and functions of that name
  turbowish annotate --check              a lint: exit code 1 if it finds something
  turbowish annotate --remove             remove what it has added";

pub(crate) const LONG_HELP: &str = "\
Patterns:
  src/net, **/conn.rs   with /, a file, or a folder and all in it, as seen from
                        its package
  db::Db, **::read_*    with ::, a function, or a module or type and all in it;
                        the name of the crate may be left out
  tests, read_*         a single name: each folder, file, module, type or
                        function of that name
  In a name * is any text and ? any character; ** is any number of names.

Examples:
  turbowish annotate --dry-run
  turbowish annotate --exclude tests --exclude 'db::Db::get'
  turbowish annotate --include src/net --include '**::handle_*'
  turbowish annotate crates/server crates/client --all-targets
  turbowish annotate src/main.rs
  turbowish annotate --check

Exit codes: 0 done, or --check found nothing; 1 --check found something, version
control could not undo the change, or a file could not be parsed or written;
2 wrong usage, or no package here.";

#[derive(Args, Debug)]
pub(crate) struct AnnotateArgs {
    /// A package, a workspace, or a folder or file of one; by default that of the current folder
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Change nothing; list async fns that are not covered, and tokio's types that TurboWish wraps
    #[arg(long, conflicts_with_all = ["remove", "blocks", "dry_run"])]
    pub(crate) check: bool,
    /// Remove what this command has added: attributes, and the dependency if nothing needs it
    #[arg(long, conflicts_with = "blocks")]
    pub(crate) remove: bool,
    /// Annotate impl, trait and mod blocks rather than single functions
    #[arg(long)]
    pub(crate) blocks: bool,
    /// Also in tests, examples and benches of a package
    #[arg(long)]
    pub(crate) all_targets: bool,
    /// Only files or functions that match a pattern
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(crate) include: Vec<Pattern>,
    /// Skip files or functions that match a pattern
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(crate) exclude: Vec<Pattern>,
    /// Write nothing; print what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) permission: Permission,
    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

/// What is written even though version control could not undo it.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Permission {
    /// Write although the repository has uncommitted changes
    #[arg(long)]
    pub(crate) allow_dirty: bool,
    /// Write although the repository has staged changes
    #[arg(long)]
    pub(crate) allow_staged: bool,
    /// Write files that are under no version control
    #[arg(long)]
    pub(crate) allow_no_vcs: bool,
}

/// Where the dependency comes from.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct OriginArgs {
    /// Depend on the clone of TurboWish in this folder; by default the one that built this program
    #[arg(long, value_name = "FOLDER")]
    pub(crate) clone: Option<PathBuf>,
    /// Depend on TurboWish in this git repository
    #[arg(long, value_name = "URL")]
    pub(crate) git: Option<String>,
    /// Depend on this version in the registry
    #[arg(long, value_name = "REQ")]
    pub(crate) version: Option<String>,
}
