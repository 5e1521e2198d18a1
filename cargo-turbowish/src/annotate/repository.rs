//! Check for version control, which can undo an unwanted change: files are written only inside a
//! repository, as `cargo fix` does.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::package::shown;
use crate::args::Permission;
use crate::failure::Failure;

/// Entries in the root of a repository. In a submodule and a linked worktree, `.git` is a file.
const MARKERS: [&str; 7] = [GIT, ".hg", ".jj", ".pijul", ".svn", ".fslckout", "_FOSSIL_"];
const GIT: &str = ".git";

/// Maximal number of files in a message.
const SHOWN: usize = 10;

/// Whether a folder is the root of a repository.
pub(crate) fn is_root(folder: &Path) -> bool {
    let mut paths = MARKERS.iter().map(|marker| folder.join(marker));
    paths.any(|path| path.symlink_metadata().is_ok())
}

/// The root of the innermost repository that a folder lies in.
pub(crate) fn around(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| is_root(folder))
}

/// Refuses to change `files` that version control could not restore.
///
/// # Errors
/// A file that is in no repository, or that git ignores; uncommitted changes in a repository; git
/// cannot be run.
pub(crate) fn check(files: &[&Path], permission: &Permission) -> Result<(), Failure> {
    let root_of = |file: &Path| file.parent().and_then(around).map(Path::to_owned);
    let mut roots: Vec<Option<PathBuf>> = files.iter().map(|file| root_of(file)).collect();
    roots.sort();
    roots.dedup();
    for root in roots {
        let inside = files.iter().filter(|file| root_of(file) == root);
        let mut inside: Vec<&Path> = inside.copied().collect();
        let is_git = root.as_ref().is_some_and(|root| root.join(GIT).exists());
        let Some(root) = root else {
            permission.without_control(&inside, "under no version control")?;
            continue;
        };
        if !is_git || (permission.allow_dirty && permission.allow_no_vcs) {
            continue;
        }
        let ignored = ignored(&root, &inside)?;
        permission.without_control(&ignored, "ignored by git")?;
        inside.retain(|file| !ignored.contains(file));
        if !inside.is_empty() && !permission.allow_dirty {
            clean(&root, permission.allow_staged)?;
        }
    }
    Ok(())
}

impl Permission {
    fn without_control(&self, files: &[&Path], what: &str) -> Result<(), Failure> {
        let Some(first) = files.first() else {
            return Ok(());
        };
        if self.allow_no_vcs {
            return Ok(());
        }
        let (first, more) = (shown(first), files.len() - 1);
        let files = match more {
            0 => format!("{first} is"),
            more => format!("{first} and {more} more are"),
        };
        Err(Failure::Local(format!(
            "nothing is written: {files} {what}, so the change could not be undone; commit first, or pass --allow-no-vcs"
        )))
    }
}

/// Refuses uncommitted changes.
fn clean(root: &Path, allow_staged: bool) -> Result<(), Failure> {
    let output = git(root, &["status", "--porcelain=v1", "-z"], &[])?;
    let all = changed(&output.stdout);
    let found = all
        .iter()
        .filter(|(_, state)| !(allow_staged && *state == STAGED));
    let mut found: Vec<String> = found
        .map(|(path, state)| format!("{path} ({state})"))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    if let more @ 1.. = found.len().saturating_sub(SHOWN) {
        found.truncate(SHOWN);
        found.push(format!("and {more} more"));
    }
    let only_staged = all.iter().all(|(_, state)| *state == STAGED);
    let option = if only_staged {
        "--allow-staged"
    } else {
        "--allow-dirty"
    };
    let what = format!(
        "nothing is written: the repository {} has uncommitted changes; commit or stash them, or pass {option}",
        shown(root)
    );
    Err(Failure::Several(what, found))
}

const STAGED: &str = "staged";

/// The files of `git status --porcelain=v1 -z`, and the state of each.
fn changed(status: &[u8]) -> Vec<(String, &'static str)> {
    let mut entries = status.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some([index, tree, b' ', path @ ..]) = entries.next() {
        // A rename is followed by the old name.
        if [index, tree]
            .iter()
            .any(|state| matches!(state, b'R' | b'C'))
        {
            entries.next();
        }
        let state = match (index, tree) {
            (b'?', _) => "untracked",
            (_, b' ') => STAGED,
            _ => "dirty",
        };
        found.push((String::from_utf8_lossy(path).into_owned(), state));
    }
    found
}

/// Those of `files` that git ignores.
fn ignored<'a>(root: &Path, files: &[&'a Path]) -> Result<Vec<&'a Path>, Failure> {
    let names: Vec<&[u8]> = files
        .iter()
        .map(|file| file.as_os_str().as_bytes())
        .collect();
    let output = git(root, &["check-ignore", "-z", "--stdin"], &names.join(&0))?;
    let ignored: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
    let is_ignored = |file: &&&Path| ignored.contains(&file.as_os_str().as_bytes());
    Ok(files.iter().filter(is_ignored).copied().collect())
}

/// Runs git in a repository, without writing, not even to its index.
fn git(root: &Path, arguments: &[&str], input: &[u8]) -> Result<Output, Failure> {
    let failed = |cause| {
        Failure::local(
            "cannot run git; --allow-dirty --allow-no-vcs skip this check",
            &cause,
        )
    };
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(arguments);
    // In a hook of another repository, these variables point to that one.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(input)));
        child.wait_with_output()
    });
    let output = output.map_err(failed)?;
    // `check-ignore` ends with 1 if it finds nothing.
    if matches!(output.status.code(), Some(0 | 1)) {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Local(format!(
        "nothing is written: git cannot tell the state of {}; --allow-dirty --allow-no-vcs skip this check\n{}",
        shown(root),
        said.trim_end()
    )))
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn each_file_has_a_state() {
        let status = b" M a b.rs\0M  c.rs\0MM d.rs\0R  new.rs\0old.rs\0?? e/\0";
        let found = changed(status);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(path, state)| (path.as_str(), *state))
            .collect();
        assert_eq!(
            found,
            [
                ("a b.rs", "dirty"),
                ("c.rs", "staged"),
                ("d.rs", "dirty"),
                ("new.rs", "staged"),
                ("e/", "untracked")
            ]
        );
        assert_eq!(changed(b""), []);
    }
}
