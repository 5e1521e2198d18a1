//! What the user is told on stderr, which the application may have closed. A line is one write, so that the lines of several
//! processes and threads do not mix.

use std::io::Write;

use turbowish_model::snapshot::sanitize;

/// One line.
pub(crate) fn say(line: &str) {
    tell(&format!("turbowish: {}\n", sanitize::line(line)));
}

/// Whole lines.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
