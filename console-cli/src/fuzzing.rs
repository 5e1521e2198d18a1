//! Entry points of the fuzz targets: the command line's handling of files, on bytes and without
//! files.

use crate::annotate::{inserted, removed, with_large_stack};
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

/// Annotates the input as a source file, and removes the attributes again.
pub fn annotate(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    with_large_stack(|| there_and_back(text)).expect("a thread can be started");
}

fn there_and_back(text: &str) {
    let Some(annotated) = inserted(text) else {
        return;
    };
    let again = inserted(&annotated).expect("what was written can be read");
    assert_eq!(again, annotated, "a second run changes something");
    if !text.contains("turbowish") && !text.contains("instrument") {
        let removed = removed(&annotated).expect("what was written can be read");
        assert_eq!(removed, text, "removal gives back something else");
    }
}
