//! Entry point of the fuzz target: a file is annotated, on bytes and without files.

use crate::annotate::{inserted, removed, with_large_stack};

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
