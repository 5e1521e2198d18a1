//! Annotation of one file's text, without files: the entry point of the fuzz target.

use super::decide::Wanted;
use super::plan::{insertions, removals};
use super::scan::scan;
use super::source::Source;
use crate::pattern::Filter;

/// The text with attributes; `None` if it cannot be read.
pub(crate) fn inserted(text: &str) -> Option<String> {
    let source = Source::new(text.to_owned());
    let tree = scan(&source, &[]).ok()?;
    let decision = wanted(&Filter::new(&[], &[]), |wanted| wanted.decide(&tree.nodes));
    Some(source.edited(&insertions(&source, &decision)))
}

/// The text without attributes; `None` if it cannot be read.
pub(crate) fn removed(text: &str) -> Option<String> {
    let source = Source::new(text.to_owned());
    let tree = scan(&source, &[]).ok()?;
    let (edits, _) = wanted(&Filter::new(&[], &[]), |wanted| {
        removals(&source, &tree, wanted)
    });
    Some(source.edited(&edits))
}

fn wanted<T>(filter: &Filter, then: impl FnOnce(&Wanted<'_>) -> T) -> T {
    then(&Wanted {
        filter,
        file: "src/lib.rs",
        module: &["crate".to_owned()],
        blocks: false,
    })
}
