//! A package as cargo describes it: its targets, and the crate and module that each of its files
//! belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::TargetKind;

use super::manifest::{CRATE, Manifest, Section};
use super::walk::{Entry, walk};
use crate::failure::Failure;

/// The selected packages and files.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) packages: Vec<Package>,
    pub(crate) files: Vec<SourceFile>,
    /// Packages, folders and files that are left unchanged, because they belong to another
    /// repository or are outside this one.
    pub(crate) outside: Vec<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    /// The workspace's manifest declares the crate for its members.
    pub(crate) inherits: bool,
    pub(crate) targets: Vec<Target>,
}

/// A crate of a package.
#[derive(Debug)]
pub(crate) struct Target {
    /// The crate's name in code.
    pub(crate) name: String,
    /// The root file of the crate.
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Library,
    Binary,
    /// A test, example or benchmark.
    Development,
    BuildScript,
}

/// A file of Rust.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    /// Index into [`Found::packages`].
    pub(crate) package: Option<usize>,
    /// The path relative to its package, with `/`.
    pub(crate) inner: String,
}

/// The name of a manifest.
pub(crate) const MANIFEST: &str = "Cargo.toml";

/// The folders of a package whose files are built for development only.
pub(crate) const DEVELOPMENT: [&str; 3] = ["tests", "examples", "benches"];

/// All files of a package, of any target, without those of nested packages.
///
/// # Errors
/// A folder that cannot be read.
pub(crate) fn all_files(package: &Package) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    walk(&package.folder, &mut |entry| match entry {
        Entry::File(path) => files.push(path),
        Entry::Repository(_) => {}
    })?;
    Ok(files)
}

/// Reads a manifest.
///
/// # Errors
/// It cannot be read, or is no TOML.
pub(crate) fn read(path: &Path) -> Result<Manifest, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|cause| Failure::local(&format!("cannot read {}", shown(path)), &cause))?;
    Manifest::parse(path, text)
        .map_err(|why| Failure::Local(format!("cannot read {}: {why}", shown(path))))
}

pub(crate) fn is_development(inner: &Path) -> bool {
    DEVELOPMENT.iter().any(|folder| inner.starts_with(folder))
}

/// A path for printing: relative to the current folder, if it is inside.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let inner = here.ok().and_then(|here| path.strip_prefix(here).ok());
    match inner {
        Some(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
        inner => inner.unwrap_or(path).display().to_string(),
    }
}

impl Package {
    /// Reads the package of a manifest, for which cargo has reported the rest.
    ///
    /// # Errors
    /// Its manifest or that of its workspace cannot be read.
    pub(crate) fn read(
        manifest: &Path,
        told: &cargo_metadata::Package,
        workspace: &Path,
    ) -> Result<Self, Failure> {
        let manifest = read(manifest)?;
        let workspace = read(&workspace.join(MANIFEST))?;
        let targets = told.targets.iter().map(|target| Target {
            name: target.name.replace('-', "_"),
            path: canonical(target.src_path.as_std_path()),
            kind: Kind::of(target),
        });
        Ok(Self {
            name: told.name.to_string(),
            folder: manifest.path.parent().unwrap_or(Path::new("/")).to_owned(),
            inherits: workspace
                .get(&["workspace", "dependencies", CRATE])
                .is_some(),
            manifest,
            targets: targets.collect(),
        })
    }

    /// The crate and the module that a file (as seen from here) holds.
    fn module(&self, inner: &str) -> Vec<String> {
        let path = canonical(&self.folder.join(inner));
        let is_root = |target: &&Target| target.path == path;
        if let Some(target) = self.targets.iter().find(is_root) {
            return vec![target.name.clone()];
        }
        let is_library = |target: &&Target| target.kind == Kind::Library;
        let library = self.targets.iter().find(is_library);
        let package = self.name.replace('-', "_");
        let krate = library.map_or(&package, |library| &library.name);
        // The folder that modules of the library are in.
        let folder = library
            .and_then(|library| library.path.strip_prefix(&self.folder).ok()?.parent())
            .unwrap_or(Path::new("src"));
        let folder: Vec<_> = folder.iter().filter_map(|part| part.to_str()).collect();
        let parts: Vec<&str> = inner.trim_end_matches(".rs").split('/').collect();
        let name = |name: &str| name.replace('-', "_");
        let (krate, rest) = match &parts[..] {
            ["src", "bin", own, rest @ ..] => (name(own), rest),
            [kind, own, rest @ ..] if DEVELOPMENT.contains(kind) => (name(own), rest),
            rest if rest.starts_with(&folder) => (krate.clone(), &rest[folder.len()..]),
            ["src", rest @ ..] | rest => (krate.clone(), rest),
        };
        // `a/mod.rs` is `a`; the roots are the crate itself.
        let rest = match rest {
            ["lib" | "main"] => &[],
            [outer @ .., "mod"] => outer,
            rest => rest,
        };
        std::iter::once(krate)
            .chain(rest.iter().map(|&part| part.to_owned()))
            .collect()
    }
}

impl Kind {
    fn of(target: &cargo_metadata::Target) -> Self {
        match target.kind.first() {
            Some(TargetKind::Bin) => Self::Binary,
            Some(TargetKind::Test | TargetKind::Example | TargetKind::Bench) => Self::Development,
            Some(TargetKind::CustomBuild) => Self::BuildScript,
            _ => Self::Library,
        }
    }
}

/// A path without links, where there is something.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Found {
    /// The modules that enclose the contents of a file, from the crate on.
    pub(crate) fn module(&self, file: &SourceFile) -> Vec<String> {
        match file.package {
            Some(index) => self.packages[index].module(&file.inner),
            None => vec![file.inner.trim_end_matches(".rs").to_owned()],
        }
    }
}

impl SourceFile {
    /// The section in which a dependency must be declared for this file.
    pub(crate) fn section(&self) -> Section {
        if is_development(Path::new(&self.inner)) {
            Section::Dev
        } else {
            Section::Normal
        }
    }
}
