//! Lines for the user on stderr, which the application may have closed. A line is one write, so
//! that lines of several processes and threads do not mix.

use std::io::Write;

use turbowish_model::snapshot::sanitize;

/// Prints one line.
pub(crate) fn say(line: &str) {
    tell(&format!("turbowish: {}\n", sanitize::line(line)));
}

/// Prints whole lines.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
