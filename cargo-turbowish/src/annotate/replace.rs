//! Atomic replacement of a file: the text is written to a new file next to it, which is then
//! renamed over the old one.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces the text of the file at `path`, and keeps its permissions.
///
/// # Errors
/// The folder or the disk refuses; then nothing has changed.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link.
    let path = &path.canonicalize()?;
    let permissions = fs::metadata(path)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is read-only",
        ));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".turbowish-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
