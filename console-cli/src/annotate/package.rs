//! A path on the command line stands for packages and files, read from manifests and folders without asking cargo.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use toml_edit::Item;

use super::manifest::{CRATE, Manifest, Section};
use super::pattern;
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

const MANIFEST: &str = "Cargo.toml";

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

/// Whether the workspace that a package belongs to has the crate for its members.
fn inherits(folder: &Path, manifest: &Manifest) -> Result<bool, Failure> {
    let told = manifest.string(&["package", "workspace"]);
    let above: Vec<PathBuf> = match told {
        Some(path) => vec![folder.join(path)],
        None => folder.ancestors().map(Path::to_owned).collect(),
    };
    for folder in above {
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            continue;
        }
        let manifest = read(&path)?;
        if manifest.get(&["workspace"]).is_some() {
            return Ok(manifest
                .get(&["workspace", "dependencies", CRATE])
                .is_some());
        }
    }
    Ok(false)
}

/// The folders of a workspace's packages: members, and what they depend on by path.
fn members(root: &Path, manifest: &Manifest) -> Result<Vec<PathBuf>, Failure> {
    let excluded: Vec<PathBuf> = manifest
        .strings(&["workspace", "exclude"])
        .iter()
        .map(|path| root.join(path))
        .collect();
    let mut waiting = vec![root.to_owned()];
    for member in manifest.strings(&["workspace", "members"]) {
        expand(root, Path::new(member), &mut waiting);
    }
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(folder) = waiting.pop() {
        let Ok(folder) = folder.canonicalize() else {
            continue;
        };
        let path = folder.join(MANIFEST);
        let unwanted = excluded.iter().any(|outside| folder.starts_with(outside));
        if unwanted || found.contains(&folder) || !path.is_file() {
            continue;
        }
        let member = read(&path)?;
        for (name, dependency) in member.dependencies() {
            let (base, dependency) = match dependency.get("workspace").and_then(Item::as_bool) {
                Some(true) => (root, manifest.get(&["workspace", "dependencies", name])),
                _ => (folder.as_path(), Some(dependency)),
            };
            let path = dependency.and_then(|item| item.get("path")?.as_str());
            let inside = path
                .and_then(|path| base.join(path).canonicalize().ok())
                .filter(|path| path.starts_with(root));
            waiting.extend(inside);
        }
        found.push(folder);
    }
    found.sort();
    Ok(found)
}

/// The folders that `member` (`crates/*`) stands for.
fn expand(folder: &Path, member: &Path, found: &mut Vec<PathBuf>) {
    let mut parts = member.components();
    let Some(part) = parts.next() else {
        found.push(folder.to_owned());
        return;
    };
    let Component::Normal(name) = part else {
        return expand(&folder.join(part), parts.as_path(), found);
    };
    let name = name.to_string_lossy();
    if !name.contains(['*', '?']) {
        return expand(&folder.join(&*name), parts.as_path(), found);
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let matching = pattern::matches(&name, &entry.file_name().to_string_lossy());
        if matching && entry.path().is_dir() {
            expand(&entry.path(), parts.as_path(), found);
        }
    }
}

fn read(path: &Path) -> Result<Manifest, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|cause| Failure::local(&format!("cannot read {}", shown(path)), &cause))?;
    Manifest::parse(path, text)
        .map_err(|why| Failure::Local(format!("cannot read {}: {why}", shown(path))))
}

enum Entry {
    File(PathBuf),
    /// A folder with a manifest, which is not entered.
    Package(PathBuf),
}

/// Every file of Rust below a folder. Hidden folders and cargo's `target` are left out.
fn walk(folder: &Path, visit: &mut impl FnMut(Entry)) -> Result<(), Failure> {
    let failed = |cause| Failure::local(&format!("cannot read {}", shown(folder)), &cause);
    let mut entries = fs::read_dir(folder)
        .map_err(failed)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        // A link to a folder may lead round in a circle.
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        if hidden {
        } else if is_folder && path.join(MANIFEST).is_file() {
            visit(Entry::Package(path));
        } else if is_folder {
            if !is_target(&path) {
                walk(&path, visit)?;
            }
        } else if path.extension().is_some_and(|end| end == "rs") && path.is_file() {
            visit(Entry::File(path));
        }
    }
    Ok(())
}

/// Whether a folder is where cargo builds; a module may have the same name.
fn is_target(folder: &Path) -> bool {
    folder.ends_with("target")
        && (folder.join("CACHEDIR.TAG").is_file()
            || folder
                .parent()
                .is_some_and(|parent| parent.join(MANIFEST).is_file()))
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
        let parts: Vec<&str> = inner.trim_end_matches(".rs").split('/').collect();
        let (name, rest) = match &parts[..] {
            ["src", "bin", name, rest @ ..] => (name.replace('-', "_"), rest),
            ["src", rest @ ..] => (self.crate_name(), rest),
            [folder, name, rest @ ..] if DEVELOPMENT.contains(folder) => {
                (name.replace('-', "_"), rest)
            }
            rest => (self.crate_name(), rest),
        };
        // `a/mod.rs` is `a`; the roots are the crate itself.
        let rest = match rest {
            ["lib" | "main"] => &[],
            [outer @ .., "mod"] => outer,
            rest => rest,
        };
        std::iter::once(name)
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
