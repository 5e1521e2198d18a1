//! Entry point of the fuzz target: a saved report is read, on bytes and without files.

use crate::commands::diff;
use crate::report_file::Saved;

/// Reads the input as a saved report and compares it with itself.
pub fn reports(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(saved) = Saved::parse("input", text) {
        assert!(
            diff::is_no_worse(&saved, &saved),
            "a file is worse than itself"
        );
    }
}
