//! Output of a command on stdout.

use std::io::{self, Write};

use crate::failure::Failure;

/// Prints text to stdout as it is.
///
/// # Errors
/// [`Failure::ClosedPipe`] if the reader has gone.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|cause| match cause.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::local("cannot write to stdout", &cause),
        })
}
