//! File of a report: it appears complete or not at all. It replaces neither a file that is not a
//! report nor the report of a process that ran at the same time.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// First bytes of every report.
const HEAD: &[u8] = b"{\"schema\":1,\"process\":";
/// Key in front of the report's time. Inside a JSON string its quotation marks would be escaped.
const TIME: &[u8] = b",\"at_unix_ns\":";
/// Bytes at the start of a report that contain its time, which follows the process and its workers.
const FIRST_PART: u64 = 1 << 20;
/// Maximum number of names tried for one report.
const NAMES: u32 = 100;
/// Largest write to the file, in bytes.
const PART: usize = 1 << 20;

/// Writes a new file, or replaces an earlier report. A report that another process has written
/// since this process `begun` stays, and this one goes to a file beside it. Returns the path of the
/// file.
///
/// # Errors
/// Whatever was at the path is unchanged.
pub(super) fn replace(
    path: &Path,
    bytes: &[u8],
    begun: u64,
    moved: impl Fn(),
) -> io::Result<PathBuf> {
    // Fails before any work if the path cannot be replaced.
    look(path)?;
    let whole = Temporary::write(path, bytes, moved)?;
    for nth in 0..NAMES {
        let path = beside(path, nth);
        if settle(&whole, &path, begun)? {
            return Ok(path);
        }
    }
    Err(io::Error::other("too many reports are there already"))
}

/// Gives the file its final name. `false` if a report written since `begun` is there.
fn settle(whole: &Temporary, path: &Path, begun: u64) -> io::Result<bool> {
    loop {
        if whole.link(path)? {
            return Ok(true);
        }
        let Some(earlier) = look(path)? else {
            continue;
        };
        // A process that replaces a report holds the lock on it. Of two processes that end
        // together, the second one sees the first one's report.
        lock(&earlier);
        if !stands(&earlier, path) {
            continue;
        }
        if written(&earlier)?.is_some_and(|at| at >= begun) {
            return Ok(false);
        }
        return whole.rename(path).map(|()| true);
    }
}

/// Opens the report at this path, if anything is there.
fn look(path: &Path) -> io::Result<Option<File>> {
    let file = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(found) => found.is_file().then(|| File::open(path)).transpose()?,
    };
    if let Some(mut file) = file {
        let mut head = Vec::new();
        (&mut file).take(HEAD.len() as u64).read_to_end(&mut head)?;
        if head == HEAD {
            return Ok(Some(file));
        }
    }
    Err(io::Error::other(
        "the file exists and is not a report; remove it or name another",
    ))
}

/// The time at which a report was written; `None` if it does not contain one.
fn written(report: &File) -> io::Result<Option<u64>> {
    let mut part = Vec::new();
    report.take(FIRST_PART).read_to_end(&mut part)?;
    let at = part.windows(TIME.len()).position(|found| found == TIME);
    let digits = at.map(|at| part[at + TIME.len()..].iter());
    let digits = digits.map(|digits| digits.take_while(|digit| digit.is_ascii_digit()));
    let number: Option<String> = digits.map(|digits| digits.map(|&digit| digit as char).collect());
    Ok(number.and_then(|number| number.parse().ok()))
}

/// The `nth` name tried: `report.json`, `report.PID.json`, `report.PID-2.json`. Two containers may
/// have the same process IDs.
fn beside(path: &Path, nth: u32) -> PathBuf {
    let pid = std::process::id();
    let own = match nth {
        0 => return path.to_owned(),
        1 => pid.to_string(),
        _ => format!("{pid}-{nth}"),
    };
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".");
    name.push(own);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// A complete temporary file beside its final path; deleted on drop.
struct Temporary {
    path: PathBuf,
    is_renamed: Cell<bool>,
}

impl Temporary {
    fn write(beside: &Path, bytes: &[u8], moved: impl Fn()) -> io::Result<Self> {
        let (mut file, this) = Self::create(beside)?;
        for part in bytes.chunks(PART) {
            file.write_all(part)?;
            moved();
        }
        // Some file systems report a lack of space only here.
        file.sync_all()?;
        Ok(this)
    }

    /// Creates a new file that only this user may read.
    fn create(beside: &Path) -> io::Result<(File, Self)> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut nth = 0;
        loop {
            let mut name = OsString::from(".turbowish-");
            name.push(format!("{}-{nth}.part", std::process::id()));
            let path = beside.with_file_name(name);
            match options.open(&path) {
                // A killed process has left this file, or one of another container is writing it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && nth < NAMES => {
                    nth += 1;
                }
                opened => {
                    return Ok((
                        opened?,
                        Self {
                            path,
                            is_renamed: Cell::new(false),
                        },
                    ));
                }
            }
        }
    }

    /// Gives the file this name, unless the name is taken.
    fn link(&self, path: &Path) -> io::Result<bool> {
        match fs::hard_link(&self.path, path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no hard links. There, two processes that end at the same
            // instant are not told apart.
            Err(_) if fs::symlink_metadata(path).is_ok() => Ok(false),
            Err(_) => self.rename(path).map(|()| true),
        }
    }

    fn rename(&self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.is_renamed.set(true);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename the temporary name is free, and may belong to another process by now.
        if !self.is_renamed.get() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Locks the file until it is closed. On systems without file locks, two processes that end at the
/// same instant are not told apart.
#[cfg(unix)]
fn lock(file: &File) {
    let _ = turbowish_unsafe::lock::exclusive(file);
}

/// Whether `path` still names this file.
#[cfg(unix)]
fn stands(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let id = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(file), Ok(there)) => id(file) == id(there),
        _ => false,
    }
}

#[cfg(not(unix))]
fn lock(_file: &File) {}

#[cfg(not(unix))]
fn stands(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests;
