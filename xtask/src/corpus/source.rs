//! The sources of a crate, as in the registry: its folder is copied, never built in place.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use syn::visit::{self, Visit};

use super::build::Cargo;
use super::list::Crate;

const LIMIT: Duration = Duration::from_secs(900);

/// Files that are left out of a copy: those that carry no information about the package, and its
/// lock file. All copies of a crate get the same lock file, newly resolved, so that crates share
/// build results.
const LEFT_OUT: &[&str] = &[
    ".cargo-ok",
    ".cargo_vcs_info.json",
    "Cargo.toml.orig",
    "Cargo.lock",
];

/// What cargo writes into a copy.
const KEPT: &[&str] = &["Cargo.lock"];

/// The folder of a crate in cargo's home, downloaded if necessary.
pub(super) fn fetched(krate: &Crate, folder: &Path, cargo: &Cargo) -> Result<PathBuf, String> {
    let stub = folder.join("fetch");
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{} = {{ version = \"={}\", default-features = false }}\n",
        krate.name, krate.version
    );
    written(&stub.join("Cargo.toml"), &manifest)
        .and_then(|()| written(&stub.join("src/lib.rs"), ""))
        .map_err(|e| format!("cannot write {}: {e}", stub.display()))?;
    let mut command = cargo.command("metadata", &stub);
    command.args(["--format-version", "1"]);
    let ended = cargo.run(&mut command, LIMIT, &folder.join("fetch.log"))?;
    if !ended.succeeded() {
        return Err(format!("cannot fetch: {}", last_lines(&ended.stderr)));
    }
    let all: Value =
        serde_json::from_str(&ended.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    all["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == krate.name && package["version"] == krate.version)
        .and_then(|package| Path::new(package["manifest_path"].as_str()?).parent())
        .map(Path::to_path_buf)
        .ok_or_else(|| "cargo metadata does not name it".to_owned())
}

/// The end of what a program printed.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

fn written(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// A copy of `source` to change and to mirror from: a separate workspace, as it is outside this
/// one.
pub(super) fn aside(source: &Path, folder: &Path) -> io::Result<PathBuf> {
    let aside = folder.join("aside");
    mirror(source, &aside)?;
    let manifest = aside.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    if !text.lines().any(|line| line.starts_with("[workspace")) {
        fs::write(&manifest, text + "\n[workspace]\n")?;
    }
    Ok(aside)
}

/// Makes `to` the same as `from`. An unchanged file keeps its time, so that cargo does not build it
/// again.
pub(super) fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let (source, copy) = (entry.path(), to.join(&name));
        if source.is_dir() {
            mirror(&source, &copy)?;
        } else {
            let bytes = fs::read(&source)?;
            if fs::read(&copy).ok().as_ref() != Some(&bytes) {
                fs::write(&copy, bytes)?;
            }
        }
        names.insert(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        let name = entry.file_name();
        if names.contains(&name) || KEPT.iter().any(|kept| name == *kept) {
            continue;
        }
        if entry.path().is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Numbers of items in a crate's sources, tests and examples.
#[derive(Clone, Copy, Default)]
pub(super) struct Written {
    /// `async fn` with a body.
    pub(super) functions: usize,
    /// `#[turbowish::instrument]`
    pub(super) attributes: usize,
}

/// Counts over all files that parse.
pub(super) fn count(folder: &Path) -> io::Result<Written> {
    let mut counted = Written::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            let inside = count(&path)?;
            counted.functions += inside.functions;
            counted.attributes += inside.attributes;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            counted.attributes += text.matches("turbowish::instrument").count();
            if let Ok(file) = syn::parse_file(&text) {
                let mut found = Functions(0);
                found.visit_file(&file);
                counted.functions += found.0;
            }
        }
    }
    Ok(counted)
}

struct Functions(usize);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.0 += usize::from(item.sig.asyncness.is_some());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.0 += usize::from(item.sig.asyncness.is_some());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.0 += usize::from(item.sig.asyncness.is_some() && item.default.is_some());
        visit::visit_trait_item_fn(self, item);
    }
}
