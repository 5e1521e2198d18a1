//! A path on the command line stands for packages and files, read from manifests and folders without asking cargo.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{Manifest, Section};
use super::walk::{Entry, walk};
use super::workspace::{inherits, members};
use crate::failure::Failure;

/// What is to be worked on.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) packages: Vec<Package>,
    pub(crate) files: Vec<SourceFile>,
}

/// A folder with a manifest that has a `[package]`.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    /// The manifest of the workspace has the crate for its members.
    pub(crate) inherits: bool,
}

/// A file of Rust.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    /// Index into [`Found::packages`].
    pub(crate) package: Option<usize>,
    /// As seen from its package, with `/`.
    pub(crate) inner: String,
}

/// The name of a manifest.
pub(crate) const MANIFEST: &str = "Cargo.toml";

/// The folders of a package whose files are built for development only.
const DEVELOPMENT: [&str; 3] = ["tests", "examples", "benches"];

/// Finds everything that `paths` stand for.
///
/// # Errors
/// A path that is not there, a folder or manifest that cannot be read.
pub(crate) fn find(paths: &[PathBuf], all_targets: bool) -> Result<Found, Failure> {
    let mut search = Search {
        all_targets,
        found: Found::default(),
        seen: BTreeSet::new(),
    };
    for path in paths {
        let full = path.canonicalize().map_err(|cause| {
            Failure::usage(format_args!("cannot find {}: {cause}", path.display()))
        })?;
        search.path(&full)?;
    }
    search.found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(search.found)
}

/// All files of a package, of whatever target, that are not another package's.
///
/// # Errors
/// A folder that cannot be read.
pub(crate) fn all_files(package: &Package) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    walk(&package.folder, &mut |entry| match entry {
        Entry::File(path) => files.push(path),
        Entry::Package(_) => {}
    })?;
    Ok(files)
}

struct Search {
    all_targets: bool,
    found: Found,
    /// Files by their own path, so that none is worked on twice.
    seen: BTreeSet<PathBuf>,
}

impl Search {
    fn path(&mut self, path: &Path) -> Result<(), Failure> {
        if path.ends_with(MANIFEST) && path.is_file() {
            return self.path(path.parent().unwrap_or(path));
        }
        if path.is_file() {
            let package = self.owner(path)?;
            self.file(path.to_owned(), package);
            return Ok(());
        }
        if path.join(MANIFEST).is_file() {
            return self.manifest_folder(path);
        }
        let package = self.owner(path)?;
        let mut packages = Vec::new();
        let mut files = Vec::new();
        walk(path, &mut |entry| match entry {
            Entry::File(path) => files.push(path),
            Entry::Package(folder) => packages.push(folder),
        })?;
        for file in files {
            self.file(file, package);
        }
        // A folder above packages stands for them; inside a package they are somebody's test material.
        if package.is_none() {
            for folder in packages {
                self.manifest_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// A folder with a manifest: of a package, of a workspace, or of both.
    fn manifest_folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let manifest = read(&folder.join(MANIFEST))?;
        if manifest.get(&["workspace"]).is_none() {
            return self.package(folder);
        }
        for member in members(folder, &manifest)? {
            self.package(&member)?;
        }
        Ok(())
    }

    /// The sources of a package.
    fn package(&mut self, folder: &Path) -> Result<(), Failure> {
        let Some(index) = self.load(folder)? else {
            return Ok(());
        };
        let manifest = &self.found.packages[index].manifest;
        let mut roots = vec![folder.join("src")];
        let targets = manifest.each("bin", "path").into_iter();
        let library = manifest.string(&["lib", "path"]);
        for path in targets.map(|(_, path)| path).chain(library) {
            if let Some(parent) = folder.join(path).parent() {
                roots.push(parent.to_owned());
            }
        }
        if self.all_targets {
            for (kind, folder_name) in [("test", 0), ("example", 1), ("bench", 2)] {
                roots.push(folder.join(DEVELOPMENT[folder_name]));
                let paths = manifest.each(kind, "path").into_iter();
                roots.extend(paths.map(|(_, path)| folder.join(path)));
            }
        }
        let mut files = Vec::new();
        for root in roots {
            if root.is_file() {
                files.push(root);
            } else if root.is_dir() {
                let aside = |path: &Path| {
                    let inner = path.strip_prefix(folder).unwrap_or(path);
                    !self.all_targets && root == folder && is_development(inner)
                };
                walk(&root, &mut |entry| match entry {
                    Entry::File(path) if !aside(&path) => files.push(path),
                    Entry::File(_) | Entry::Package(_) => {}
                })?;
            }
        }
        for file in files {
            self.file(file, Some(index));
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf, package: Option<usize>) {
        let Ok(path) = path.canonicalize() else {
            return;
        };
        let folder = package.map(|index| self.found.packages[index].folder.as_path());
        let inner = folder
            .and_then(|folder| path.strip_prefix(folder).ok())
            .unwrap_or_else(|| Path::new(path.file_name().unwrap_or_default()));
        // A build script has dependencies of its own, and no event loop.
        if package.is_some() && inner == Path::new("build.rs") {
            return;
        }
        let inner = inner
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/");
        if self.seen.insert(path.clone()) {
            self.found.files.push(SourceFile {
                path,
                package,
                inner,
            });
        }
    }

    /// The package that a path lies in.
    fn owner(&mut self, path: &Path) -> Result<Option<usize>, Failure> {
        for folder in path.ancestors().skip(1) {
            if folder.join(MANIFEST).is_file() {
                return self.load(folder);
            }
        }
        Ok(None)
    }

    /// The package of a folder, `None` if its manifest is of a workspace only.
    fn load(&mut self, folder: &Path) -> Result<Option<usize>, Failure> {
        let known = self.found.packages.iter();
        if let Some(index) = known.clone().position(|known| known.folder == folder) {
            return Ok(Some(index));
        }
        let manifest = read(&folder.join(MANIFEST))?;
        if manifest.get(&["package"]).is_none() {
            return Ok(None);
        }
        let inherits = inherits(folder, &manifest)?;
        self.found.packages.push(Package {
            folder: folder.to_owned(),
            manifest,
            inherits,
        });
        Ok(Some(self.found.packages.len() - 1))
    }
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

fn is_development(inner: &Path) -> bool {
    DEVELOPMENT.iter().any(|folder| inner.starts_with(folder))
}

/// A path as it is printed: from the current folder on, if it lies there.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let inner = here.ok().and_then(|here| path.strip_prefix(here).ok());
    inner.unwrap_or(path).display().to_string()
}

impl Package {
    /// The name of the library and of `src/main.rs`, as code spells it.
    fn crate_name(&self) -> String {
        let name = self
            .manifest
            .string(&["lib", "name"])
            .or_else(|| self.manifest.string(&["package", "name"]));
        name.unwrap_or_default().replace('-', "_")
    }

    /// The crate and the module that a file (as seen from here) holds.
    fn module(&self, inner: &str) -> Vec<String> {
        let told = ["bin", "test", "example", "bench"]
            .into_iter()
            .flat_map(|kind| self.manifest.each(kind, "path"))
            .find(|(_, path)| path.trim_start_matches("./") == inner);
        if let Some((Some(name), _)) = told {
            return vec![name.replace('-', "_")];
        }
        let library = self.manifest.string(&["lib", "path"]);
        let library = library.unwrap_or("src/lib.rs").trim_start_matches("./");
        if inner == library {
            return vec![self.crate_name()];
        }
        let name = |name: &str| name.replace('-', "_");
        let parts: Vec<&str> = inner.trim_end_matches(".rs").split('/').collect();
        // Below which folder modules of the library are.
        let folder = library.rsplit('/').skip(1).count();
        let (krate, rest) = match &parts[..] {
            ["src", "bin", own, rest @ ..] => (name(own), rest),
            [kind, own, rest @ ..] if DEVELOPMENT.contains(kind) => (name(own), rest),
            rest if library
                .split('/')
                .take(folder)
                .eq(rest.iter().copied().take(folder)) =>
            {
                (self.crate_name(), &rest[folder..])
            }
            ["src", rest @ ..] | rest => (self.crate_name(), rest),
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

impl Found {
    /// The modules around what a file holds, from the crate on.
    pub(crate) fn module(&self, file: &SourceFile) -> Vec<String> {
        match file.package {
            Some(index) => self.packages[index].module(&file.inner),
            None => vec![file.inner.trim_end_matches(".rs").to_owned()],
        }
    }
}

impl SourceFile {
    /// Where a dependency has to stand for this file to see it.
    pub(crate) fn section(&self) -> Section {
        if is_development(Path::new(&self.inner)) {
            Section::Dev
        } else {
            Section::Normal
        }
    }
}
