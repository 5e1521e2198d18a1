//! The folder of a trace: `metadata`, and a file for each stream.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file that describes the others.
pub(super) const METADATA: &str = "metadata";

/// What every description begins with.
const FIRST_LINE: &[u8] = b"/* CTF 1.8 */\n";

/// The stream of what belongs to no thread.
pub(super) const PROCESS: &str = "process";

/// What the name of a thread's stream begins with.
pub(super) const THREAD: &str = "thread-";

/// A folder in which a trace is written. Its files can be read by its user only: names in them are
/// source paths and expressions.
#[derive(Debug)]
pub(crate) struct TraceFolder {
    pub(super) path: PathBuf,
}

/// Whether a file of a folder is one of a trace that was exported before.
fn is_of_trace(name: &str) -> bool {
    let is_thread = |number: &str| number.parse::<u32>().is_ok();
    name == METADATA || name == PROCESS || name.strip_prefix(THREAD).is_some_and(is_thread)
}

/// Whether a folder has the metadata of a trace.
fn has_metadata(path: &Path) -> bool {
    let mut first = [0; FIRST_LINE.len()];
    let read = File::open(path.join(METADATA)).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == FIRST_LINE
}

/// The names of the files in a folder.
fn names(path: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(path)?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names.collect()
}

impl TraceFolder {
    /// Creates it. With `overwrite`, a trace that was exported into it before is removed.
    ///
    /// # Errors
    /// It cannot be created, or it exists and has anything else in it, or is not to be overwritten.
    pub(crate) fn create(path: &Path, overwrite: bool) -> io::Result<Self> {
        let folder = Self {
            path: path.to_owned(),
        };
        match DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => Ok(folder),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists && overwrite => {
                let names = names(path)?;
                match names.iter().find(|name| !is_of_trace(name)) {
                    Some(other) => Err(io::Error::other(format!(
                        "it has {other} in it, which is of no trace: another folder"
                    ))),
                    None if !names.is_empty() && !has_metadata(path) => Err(io::Error::other(
                        "it has files in it, and no metadata of a trace: another folder",
                    )),
                    None => folder.clear().map(|()| folder),
                }
            }
            Err(cause) => Err(cause),
        }
    }

    /// Appends to a file.
    pub(super) fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        // It is closed again: a process may have had more threads than there are descriptors.
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(self.path.join(name))?;
        file.write_all(bytes)
    }

    /// Removes the files of the trace.
    fn clear(&self) -> io::Result<()> {
        for name in names(&self.path)? {
            if is_of_trace(&name) {
                fs::remove_file(self.path.join(name))?;
            }
        }
        Ok(())
    }

    /// Removes a trace that could not be written to its end.
    pub(crate) fn remove(&self) {
        // The failure itself is what is told.
        let _ = self.clear().and_then(|()| fs::remove_dir(&self.path));
    }

    /// The bytes of all its files.
    pub(crate) fn bytes(&self) -> u64 {
        let names = names(&self.path).unwrap_or_default();
        let files = names.iter().map(|name| self.path.join(name).metadata());
        files.filter_map(|about| Some(about.ok()?.len())).sum()
    }
}
