//! `turbowish recover`: one file of the recording that a process has left beside its socket.

use std::fs;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};

use turbowish_recording::{ChunkHeader, FILE_HEADER, HEADER_BYTES, Reader, RecordingError};
use turbowish_wire::discovery::{self, Recording};

use crate::args::RecoverArgs;
use crate::failure::{Failure, print_lines};
use crate::recording;

/// Runs the command.
///
/// # Errors
/// There is no such recording, it cannot be read, or the file cannot be written.
pub(crate) fn run(args: &RecoverArgs) -> Result<(), Failure> {
    let pid = args.pid;
    let left = recordings().into_iter().find(|left| left.pid == pid);
    let left = left.ok_or_else(|| {
        Failure::target(format!(
            "process {pid} has left no recording: `turbowish ps` lists those that have"
        ))
    })?;
    let whole = Whole::read(&left).map_err(|fault| {
        Failure::Local(format!(
            "cannot read the recording of process {pid}: {fault}"
        ))
    })?;
    let Some(span) = whole.span else {
        return Err(Failure::Local(format!(
            "the recording of process {pid} has no state"
        )));
    };
    let default = || PathBuf::from(format!("{pid}.tw"));
    let out = args.out.clone().unwrap_or_else(default);
    write(&out, &whole.chunks)
        .map_err(|cause| Failure::local(&format!("cannot write {}", out.display()), &cause))?;
    let of = format!("process {pid}");
    print_lines(&[recording::summary(
        &out,
        whole.states,
        &of,
        span,
        whole.lost,
    )])
}

/// The recordings in all folders of this user.
pub(super) fn recordings() -> Vec<Recording> {
    let folders = discovery::folders();
    // A folder that cannot be read is reported by the list of processes.
    let found = folders
        .iter()
        .filter_map(|folder| discovery::recordings(folder).ok());
    found.flatten().collect()
}

/// The whole chunks of a recording.
pub(super) struct Whole {
    chunks: Vec<Vec<u8>>,
    states: usize,
    lost: u64,
    /// Times of the first and of the last state.
    pub(super) span: Option<(u64, u64)>,
}

impl Whole {
    /// Reads the files of a recording. A chunk that was cut off by the end of the process is left
    /// out.
    pub(super) fn read(left: &Recording) -> Result<Self, RecordingError> {
        let mut whole = Self {
            chunks: Vec::new(),
            states: 0,
            lost: 0,
            span: None,
        };
        for path in &left.segments {
            match fs::read(path) {
                Ok(bytes) => whole.add(&bytes)?,
                // The process lives, and has just made it the earlier one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(whole)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        if bytes.len() < FILE_HEADER.len() {
            // The process ended when it had just made this file.
            return Ok(());
        }
        let reader = Reader::open(Cursor::new(bytes))?;
        let states = reader.states().iter().map(|state| state.offset);
        let marks = reader.marks().iter().map(|mark| mark.offset);
        let mut offsets: Vec<u64> = states.chain(marks).collect();
        offsets.sort_unstable();
        let chunks = offsets
            .into_iter()
            .filter_map(|offset| chunk(bytes, offset));
        self.chunks.extend(chunks.map(<[u8]>::to_vec));
        self.states += reader.states().len();
        self.lost += reader.lost();
        if let [first, ..] = reader.states()
            && let [.., last] = reader.states()
        {
            let from = self.span.map_or(first.at_unix_ns, |(from, _)| from);
            self.span = Some((from, last.at_unix_ns));
        }
        Ok(())
    }
}

/// The chunk that begins there.
fn chunk(bytes: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = bytes.get(usize::try_from(offset).ok()?..)?;
    let header = ChunkHeader::read(rest.first_chunk()?)?;
    rest.get(..HEADER_BYTES + header.len as usize)
}

/// Writes a new file.
fn write(path: &Path, chunks: &[Vec<u8>]) -> io::Result<()> {
    let mut file = recording::create(path, false)?;
    file.write_all(&FILE_HEADER)?;
    chunks.iter().try_for_each(|chunk| file.write_all(chunk))
}
