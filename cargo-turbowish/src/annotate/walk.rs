//! Directory walk in the order of names. Nested packages and repositories, and directories of
//! generated files, are not entered.

use std::fs;
use std::path::{Path, PathBuf};

use super::package::{MANIFEST, shown};
use super::repository;
use crate::failure::Failure;

/// The entries found in a directory.
pub(crate) enum Entry {
    /// A file of Rust.
    File(PathBuf),
    /// The root of a repository, which is not entered.
    Repository(PathBuf),
}

/// Every file of Rust below a folder. Hidden folders, packages and cargo's `target` are left out.
pub(crate) fn walk(folder: &Path, visit: &mut impl FnMut(Entry)) -> Result<(), Failure> {
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
        } else if is_folder && repository::is_root(&path) {
            visit(Entry::Repository(path));
        } else if is_folder {
            if !path.join(MANIFEST).is_file() && !is_target(&path) {
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
