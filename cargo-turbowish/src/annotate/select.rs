//! Selection of packages and files from the command line. Cargo defines the packages, and nothing
//! outside their repository is selected.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand};

use super::package::{DEVELOPMENT, Found, Kind, MANIFEST, Package, SourceFile};
use super::package::{is_development, shown};
use super::repository;
use super::walk::{Entry, walk};
use crate::failure::Failure;
use crate::program::Program;

/// Selects everything in `paths`; if empty, the package or workspace of the current folder.
///
/// # Errors
/// A path that does not exist or is in no package, a folder or manifest that cannot be read.
pub(crate) fn select(
    paths: &[PathBuf],
    all_targets: bool,
    program: &Program,
) -> Result<Found, Failure> {
    let mut selection = Selection {
        all_targets,
        typed: program.typed,
        found: Found::default(),
        seen: BTreeSet::new(),
    };
    if paths.is_empty() {
        let here = Path::new(".").canonicalize();
        let here =
            here.map_err(|cause| Failure::local("cannot determine the current folder", &cause))?;
        let manifest = manifest_around(&here).ok_or_else(|| no_package(&here, program.typed))?;
        selection.manifest(&manifest)?;
    }
    for path in paths {
        let full = path.canonicalize().map_err(|cause| {
            Failure::usage(format_args!("cannot find {}: {cause}", path.display()))
        })?;
        selection.path(&full)?;
    }
    let mut found = selection.found;
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    found.outside.sort();
    found.outside.dedup();
    Ok(found)
}

struct Selection {
    all_targets: bool,
    /// What a user types in front of a command's name.
    typed: &'static str,
    found: Found,
    /// Files by canonical path, so that none is processed twice.
    seen: BTreeSet<PathBuf>,
}

/// The area in which files may be.
struct Bounds {
    /// The root of the repository, if there is one.
    repository: Option<PathBuf>,
    /// The folder that contains all files, if there is no repository.
    tree: PathBuf,
}

impl Bounds {
    fn around(folder: &Path, tree: &Path) -> Self {
        Self {
            repository: repository::around(folder).map(Path::to_owned),
            tree: tree.to_owned(),
        }
    }

    /// Whether a folder is in the same repository; without one, in the same tree and in no
    /// repository.
    fn hold(&self, folder: &Path) -> bool {
        let inside = self.repository.is_some() || folder.starts_with(&self.tree);
        inside && repository::around(folder) == self.repository.as_deref()
    }

    /// Whether a manifest is inside, and also the target if it is a link.
    fn hold_manifest(&self, manifest: &Path) -> bool {
        let real = manifest.canonicalize();
        let both = [Some(manifest), real.as_deref().ok()];
        both.iter().all(|path| {
            path.and_then(Path::parent)
                .is_some_and(|folder| self.hold(folder))
        })
    }
}

impl Selection {
    fn path(&mut self, path: &Path) -> Result<(), Failure> {
        if path.ends_with(MANIFEST) && path.is_file() {
            self.manifest(path)
        } else if path.is_file() {
            self.single_file(path)
        } else if path.join(MANIFEST).is_file() {
            self.manifest(&path.join(MANIFEST))
        } else {
            self.folder(path)
        }
    }

    /// The package of a manifest; all packages if it is the manifest of a workspace.
    fn manifest(&mut self, manifest: &Path) -> Result<(), Failure> {
        let asked = Asked::about(manifest)?;
        let is_workspace = asked.root == asked.folder;
        let bounds = Bounds::around(&asked.folder, &asked.root);
        for (path, package) in asked.packages() {
            if is_workspace || path == manifest {
                self.package(&asked, &path, package, &bounds)?;
            }
        }
        Ok(())
    }

    /// Selects a folder without a manifest, inside a package or a workspace: the members in it, and
    /// the files of the enclosing package.
    fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let manifest = manifest_around(folder).ok_or_else(|| no_package(folder, self.typed))?;
        let asked = Asked::about(&manifest)?;
        let bounds = Bounds::around(folder, &asked.root);
        let mut is_empty = true;
        for (path, package) in asked.packages() {
            if path.starts_with(folder) {
                self.package(&asked, &path, package, &bounds)?;
                is_empty = false;
            } else if path == manifest {
                is_empty = false;
                if !bounds.hold_manifest(&path) {
                    self.found.outside.push(path);
                    continue;
                }
                let index = self.load(&asked, &path, package)?;
                let files = self.files_in(folder, |_| true)?;
                for file in files {
                    self.file(&file, Some(index), &bounds);
                }
            }
        }
        if is_empty {
            let (folder, manifest) = (shown(folder), shown(&manifest));
            return Err(Failure::usage(format_args!(
                "{folder} holds no package of the workspace {manifest}"
            )));
        }
        Ok(())
    }

    /// Selects a file given by name; it need not belong to a package.
    fn single_file(&mut self, file: &Path) -> Result<(), Failure> {
        let folder = file.parent().unwrap_or(file);
        let bounds = Bounds::around(folder, folder);
        let mut index = None;
        if let Some(manifest) = manifest_around(folder) {
            let asked = Asked::about(&manifest)?;
            for (path, package) in asked.packages() {
                let same = Bounds::around(folder, &asked.root);
                if path == manifest && same.hold_manifest(&path) {
                    index = Some(self.load(&asked, &path, package)?);
                }
            }
        }
        self.file(file, index, &bounds);
        Ok(())
    }

    /// The sources of a package.
    fn package(
        &mut self,
        asked: &Asked,
        manifest: &Path,
        package: &cargo_metadata::Package,
        bounds: &Bounds,
    ) -> Result<(), Failure> {
        let folder = manifest.parent().unwrap_or(manifest);
        if !bounds.hold_manifest(manifest) {
            self.found.outside.push(folder.to_owned());
            return Ok(());
        }
        let index = self.load(asked, manifest, package)?;
        for root in self.roots(&self.found.packages[index]) {
            let files = if root.is_file() {
                vec![root]
            } else if bounds.hold(&root) {
                let all = self.all_targets;
                let is_wanted = |file: &Path| {
                    let inner = file.strip_prefix(folder).unwrap_or(file);
                    all || root != folder || !is_development(inner)
                };
                self.files_in(&root, is_wanted)?
            } else {
                self.found.outside.push(root);
                continue;
            };
            for file in files {
                self.file(&file, Some(index), bounds);
            }
        }
        Ok(())
    }

    /// The folders of a package's sources; a single file if its folder contains the package.
    fn roots(&self, package: &Package) -> Vec<PathBuf> {
        let mut roots = vec![package.folder.join("src")];
        if self.all_targets {
            roots.extend(DEVELOPMENT.map(|folder| package.folder.join(folder)));
        }
        let wanted = package.targets.iter().filter(|target| match target.kind {
            Kind::Library | Kind::Binary => true,
            Kind::Development => self.all_targets,
            Kind::BuildScript => false,
        });
        for target in wanted {
            let folder = target.path.parent().unwrap_or(&target.path);
            let is_above = package.folder.starts_with(folder) && folder != package.folder;
            roots.push(if is_above { &target.path } else { folder }.to_owned());
        }
        roots.sort();
        roots.dedup();
        roots.retain(|root| root.exists());
        roots
    }

    /// The Rust files in a folder; repositories in it are recorded.
    fn files_in(
        &mut self,
        folder: &Path,
        is_wanted: impl Fn(&Path) -> bool,
    ) -> Result<Vec<PathBuf>, Failure> {
        let mut files = Vec::new();
        walk(folder, &mut |entry| match entry {
            Entry::File(path) if is_wanted(&path) => files.push(path),
            Entry::File(_) => {}
            Entry::Repository(path) => self.found.outside.push(path),
        })?;
        Ok(files)
    }

    fn file(&mut self, path: &Path, package: Option<usize>, bounds: &Bounds) {
        let Ok(file) = path.canonicalize() else {
            return;
        };
        if !file.parent().is_some_and(|folder| bounds.hold(folder)) {
            self.found.outside.push(path.to_owned());
            return;
        }
        let package_of = package.map(|index| &self.found.packages[index]);
        // A build script has separate dependencies, and no event loop.
        let is_script = |package: &Package| {
            let scripts = package.targets.iter();
            let mut scripts = scripts.filter(|target| target.kind == Kind::BuildScript);
            scripts.any(|script| script.path == file)
        };
        if package_of.is_some_and(is_script) {
            return;
        }
        let inner = package_of
            .and_then(|package| file.strip_prefix(&package.folder).ok())
            .unwrap_or_else(|| Path::new(file.file_name().unwrap_or_default()));
        let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
        let inner = parts.join("/");
        if self.seen.insert(file.clone()) {
            self.found.files.push(SourceFile {
                path: file,
                package,
                inner,
            });
        }
    }

    /// The index of a package.
    fn load(
        &mut self,
        asked: &Asked,
        manifest: &Path,
        package: &cargo_metadata::Package,
    ) -> Result<usize, Failure> {
        let mut known = self.found.packages.iter();
        if let Some(index) = known.position(|known| known.manifest.path == manifest) {
            return Ok(index);
        }
        let package = Package::read(manifest, package, &asked.root)?;
        self.found.packages.push(package);
        Ok(self.found.packages.len() - 1)
    }
}

/// Cargo's metadata for a manifest.
struct Asked {
    metadata: Metadata,
    /// The folder of the manifest.
    folder: PathBuf,
    /// The folder of the workspace, or of the package if it is in none.
    root: PathBuf,
}

impl Asked {
    fn about(manifest: &Path) -> Result<Self, Failure> {
        let mut command = MetadataCommand::new();
        let metadata = command.manifest_path(manifest).no_deps().exec();
        let metadata = metadata.map_err(|error| {
            let why = match error {
                cargo_metadata::Error::CargoMetadata { stderr } => stderr.trim_end().to_owned(),
                error => error.to_string(),
            };
            let what = format!("cargo cannot read {}", shown(manifest));
            Failure::Several(what, why.lines().map(str::to_owned).collect())
        })?;
        let root = metadata.workspace_root.as_std_path().canonicalize();
        let root = root.map_err(|cause| {
            Failure::local(&format!("cannot find {}", metadata.workspace_root), &cause)
        })?;
        Ok(Self {
            folder: manifest.parent().unwrap_or(manifest).to_owned(),
            root,
            metadata,
        })
    }

    /// The members of the workspace, each with its manifest.
    fn packages(&self) -> Vec<(PathBuf, &cargo_metadata::Package)> {
        let members = self.metadata.workspace_packages().into_iter();
        let with_manifest = members.filter_map(|package| {
            let folder = package.manifest_path.as_std_path().parent()?;
            Some((folder.canonicalize().ok()?.join(MANIFEST), package))
        });
        with_manifest.collect()
    }
}

/// The manifest that cargo would find from a folder, if it is in the same repository.
fn manifest_around(folder: &Path) -> Option<PathBuf> {
    let top = repository::around(folder);
    let inside = |folder: &&Path| top.is_none_or(|top| folder.starts_with(top));
    let manifests = folder.ancestors().take_while(inside);
    manifests
        .map(|folder| folder.join(MANIFEST))
        .find(|manifest| manifest.is_file())
}

fn no_package(folder: &Path, typed: &str) -> Failure {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let packages = entries.map(|entry| entry.path());
    let mut packages: Vec<String> = packages
        .filter(|path| path.join(MANIFEST).is_file())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    packages.sort();
    let more = packages.len().saturating_sub(NAMED);
    packages.truncate(NAMED);
    let named = match (&packages[..], more) {
        ([], _) => String::new(),
        (_, 0) => format!("; in it: {}", packages.join(", ")),
        (_, more) => format!("; in it: {} and {more} more", packages.join(", ")),
    };
    Failure::usage(format_args!(
        "no cargo package or workspace: {}; go to one, or name one: {typed} annotate PATH{named}",
        folder.display()
    ))
}

/// Maximal number of packages in a message.
const NAMED: usize = 6;
