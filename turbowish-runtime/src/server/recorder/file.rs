//! File of the recorder: each chunk is appended with a plain write, so that it is there however the
//! process ends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use turbowish_recording::{ChunkHeader, ChunkKind, FILE_HEADER, HEADER_BYTES};
use turbowish_wire::discovery;

use super::super::Say;

/// Bytes of each of the two files beside the socket.
pub(super) const SEGMENT_BYTES: usize = 8 << 20;

/// Where the file is.
pub(super) enum RecordTo {
    Nothing,
    /// Two files beside the socket, which take turns, and are removed at the end.
    Segments {
        folder: PathBuf,
        pid: u32,
    },
    /// A file that the user has named. It only grows.
    Named(PathBuf),
}

/// The file, or the two.
pub(super) struct RecordFile {
    to: RecordTo,
    open: Option<File>,
    /// Bytes of the open file.
    bytes: usize,
    /// A write has failed, or the recording is over: no further one is tried.
    is_over: bool,
    /// What each further file begins with.
    begin: Bytes,
    /// States that are in memory and had no room here since the last one.
    lost: u32,
    say: Say,
}

impl RecordFile {
    pub(super) fn new(to: RecordTo, say: Say) -> Self {
        Self {
            to,
            open: None,
            bytes: 0,
            is_over: false,
            begin: Bytes::new(),
            lost: 0,
            say,
        }
    }

    /// Lets each further file begin with this chunk.
    pub(super) fn begin_with(&mut self, chunk: Bytes) {
        self.begin = chunk;
    }

    /// Appends a chunk. If that fails, one line says so, and nothing is written any more.
    pub(super) fn append(&mut self, chunk: &[u8]) {
        if self.is_over || matches!(self.to, RecordTo::Nothing) {
            return;
        }
        let Some(header) = chunk.first_chunk().and_then(ChunkHeader::read) else {
            return;
        };
        let is_bounded = matches!(self.to, RecordTo::Segments { .. });
        if is_bounded && FILE_HEADER.len() + chunk.len() > SEGMENT_BYTES {
            if header.kind == ChunkKind::State {
                // What was lost before it is lost, too, for a reader of the file.
                self.lost = self.lost.saturating_add(header.lost).saturating_add(1);
            }
            return;
        }
        let was_open = self.open.is_some();
        if let Err(error) = self.write(header, chunk) {
            (self.open, self.is_over) = (None, true);
            (self.say)(&self.reason(was_open, &error));
        }
    }

    fn write(&mut self, mut header: ChunkHeader, chunk: &[u8]) -> io::Result<()> {
        let is_full = match &self.to {
            RecordTo::Segments { .. } => self.bytes + chunk.len() > SEGMENT_BYTES,
            _ => false,
        };
        let mut file = match self.open.take() {
            Some(file) if !is_full => file,
            file => {
                let mut next = self.next(file.is_some())?;
                next.write_all(&FILE_HEADER)?;
                next.write_all(&self.begin)?;
                self.bytes = FILE_HEADER.len() + self.begin.len();
                next
            }
        };
        if self.lost > 0 && header.kind == ChunkKind::State {
            header.lost = header.lost.saturating_add(std::mem::take(&mut self.lost));
            file.write_all(&[&header.bytes(), &chunk[HEADER_BYTES..]].concat())?;
        } else {
            file.write_all(chunk)?;
        }
        self.bytes += chunk.len();
        self.open = Some(file);
        Ok(())
    }

    /// Opens the first file, or the next one.
    fn next(&self, is_second: bool) -> io::Result<File> {
        match &self.to {
            RecordTo::Segments { folder, pid } => {
                let [old, new] = discovery::segments(folder, *pid);
                if is_second {
                    fs::rename(&new, old)?;
                } else {
                    discovery::sweep(folder, SystemTime::now())?;
                    discovery::remove_stale(&old)?;
                    discovery::remove_stale(&new)?;
                }
                create(&new)
            }
            RecordTo::Named(path) => {
                if is_raised() {
                    let text =
                        "TURBOWISH_RECORD names no file for a program with raised privileges";
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
                }
                create(path)
            }
            RecordTo::Nothing => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// The line about a failed write.
    fn reason(&self, was_open: bool, error: &io::Error) -> String {
        match &self.to {
            RecordTo::Named(path) if was_open => {
                format!("the recording to {} ends here: {error}", path.display())
            }
            RecordTo::Named(path) => {
                let remedy = match error.kind() {
                    io::ErrorKind::AlreadyExists => {
                        "; only a new file is written: choose another path (%p in it is the process ID)"
                    }
                    _ => "",
                };
                format!("not recording to {}: {error}{remedy}", path.display())
            }
            RecordTo::Segments { folder, .. } => format!(
                "the recording is in memory only, and would not survive a crash: {}: {error}",
                folder.display()
            ),
            RecordTo::Nothing => String::new(),
        }
    }

    /// Ends the recording in order: the files beside the socket go with it.
    pub(super) fn end(&mut self) {
        (self.open, self.is_over) = (None, true);
        // A child of `fork` is not the one that made them.
        if let RecordTo::Segments { folder, pid } = &self.to
            && std::process::id() == *pid
        {
            for segment in discovery::segments(folder, *pid) {
                // Fails if there is none, or it is not one of ours.
                let _ = discovery::remove_stale(&segment);
            }
        }
    }
}

/// A new file that only its user can read.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
}

/// Whether this program has privileges that the user who started it may not have (`AT_SECURE`).
pub(super) fn is_raised() -> bool {
    const AT_SECURE: usize = 23;
    const WORD: usize = size_of::<usize>();
    match fs::read("/proc/self/auxv") {
        Ok(pairs) => pairs.chunks_exact(2 * WORD).any(|pair| {
            let (key, value) = pair.split_at(WORD);
            key == AT_SECURE.to_ne_bytes() && value.iter().any(|byte| *byte != 0)
        }),
        // The system does not show such a process to itself; one without /proc has no such list.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => true,
        Err(_) => {
            use rustix::process::{getegid, geteuid, getgid, getuid};
            getuid() != geteuid() || getgid() != getegid()
        }
    }
}
