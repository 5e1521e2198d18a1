//! A workspace is what its manifest says: members by name or pattern, and what these depend on by path.

use std::fs;
use std::path::{Component, Path, PathBuf};

use toml_edit::Item;

use super::manifest::{CRATE, Manifest};
use super::package::{MANIFEST, read};
use super::pattern;
use crate::failure::Failure;

/// Whether the workspace that a package belongs to has the crate for its members.
pub(crate) fn inherits(folder: &Path, manifest: &Manifest) -> Result<bool, Failure> {
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
pub(crate) fn members(root: &Path, manifest: &Manifest) -> Result<Vec<PathBuf>, Failure> {
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
