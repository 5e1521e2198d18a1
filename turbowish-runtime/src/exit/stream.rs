//! Report paths that are not files: FIFO, pipe, terminal. They are opened and written without
//! blocking, because the other end may have no reader.

use std::fs::File;
use std::io;
use std::path::Path;

/// Maximum time without progress of the reader.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

/// `None` if the path is, or will be, a file.
///
/// # Errors
/// If it cannot be written to, such as a FIFO without a reader.
#[cfg(unix)]
pub(super) fn open(path: &Path) -> io::Result<Option<Stream>> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

    let is_stream = |kind: std::fs::FileType| kind.is_fifo() || kind.is_char_device();
    if !std::fs::metadata(path).is_ok_and(|found| is_stream(found.file_type())) {
        return Ok(None);
    }
    let opened = File::options()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::other("no process reads from it"),
        _ => error,
    })?;
    // The path may have been replaced since the check.
    match is_stream(file.metadata()?.file_type()) {
        true => Ok(Some(Stream(file))),
        false => Err(io::Error::other("it was replaced meanwhile")),
    }
}

/// `None`: every path is a file.
#[cfg(not(unix))]
pub(super) fn open(_path: &Path) -> io::Result<Option<Stream>> {
    Ok(None)
}

#[derive(Debug)]
pub(super) struct Stream(File);

impl Stream {
    #[cfg(unix)]
    pub(super) fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        use std::io::Write;
        use std::time::{Duration, Instant};

        let mut moved = Instant::now();
        while !bytes.is_empty() {
            match self.0.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    moved = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if moved.elapsed() > PATIENCE {
                        return Err(io::Error::other("no process reads from it"));
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        std::io::Write::write_all(&mut self.0, bytes)
    }
}
