//! The text files of the workspace, as in a clean clone: paths relative to its root, with `/`.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// Folders without files of the project, and those that no clone has.
const LEFT_OUT: &[&str] = &["target", ".git", "mutants.out"];

/// Every text file of the workspace.
pub(super) struct Tree {
    files: Vec<File>,
}

/// A text file of the workspace.
pub(super) struct File {
    /// Relative to the root.
    pub(super) path: String,
    pub(super) text: String,
}

/// A place where a rule does not hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    path: String,
    line: usize,
    text: String,
}

impl Fault {
    /// At a line, from 1; 0 is the file as a whole.
    pub(super) fn new(file: &File, line: usize, text: impl Into<String>) -> Self {
        Self {
            path: file.path.clone(),
            line,
            text: text.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, text } = self;
        if *line == 0 {
            write!(f, "{path}: {text}")
        } else {
            write!(f, "{path}:{line}: {text}")
        }
    }
}

impl Tree {
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File {
            path: path.into(),
            text: text.into(),
        };
        Self {
            files: files.iter().map(file).collect(),
        }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    pub(super) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Our Rust files: not what a generator wrote, and not the cases of the macro's tests, which
    /// are written to be odd.
    pub(super) fn sources(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| {
            let path = &file.path;
            let case =
                path.contains("/pass/") || path.contains("/fail/") || path.contains("/cases/");
            path.ends_with(".rs") && !path.contains("/generated/") && !case
        })
    }

    /// The manifests of the workspace's packages: the tools that it is compared with are packages
    /// of a workspace of their own.
    pub(super) fn manifests(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| {
            let path = &file.path;
            let ours = path == "Cargo.toml" || path.ends_with("/Cargo.toml");
            ours && !path.starts_with("benches/peers/")
        })
    }
}

impl File {
    /// A file that holds tests and nothing else.
    pub(super) fn is_test(&self) -> bool {
        let folder = |name: &str| {
            self.path.starts_with(&format!("{name}/")) || self.path.contains(&format!("/{name}/"))
        };
        self.path.ends_with("/tests.rs") || folder("tests") || folder("benches")
    }

    /// Its lines with their indices: not the tests at its end, and no line right behind
    /// `#[cfg(test)]`.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self.text.find("#[cfg(test)]\nmod tests {");
        let lines = self.text[..end.unwrap_or(self.text.len())].lines();
        let mut is_for_tests = false;
        lines.enumerate().filter(move |(_, line)| {
            !std::mem::replace(&mut is_for_tests, line.trim() == "#[cfg(test)]")
        })
    }
}

fn walk(folder: &Path, relative: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if relative.is_empty() {
            name.clone()
        } else {
            format!("{relative}/{name}")
        };
        let kind = entry.file_type()?;
        if kind.is_dir() && !LEFT_OUT.contains(&name.as_str()) {
            walk(&entry.path(), &path, files)?;
        } else if !kind.is_dir()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push(File { path, text });
        }
    }
    Ok(())
}
