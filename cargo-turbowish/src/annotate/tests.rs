//! Files before and after: the inserted text, that a second run changes nothing, and that removal
//! restores every byte.

use super::decide::{Decision, Wanted};
use super::plan::{insertions, removals};
use super::scan::scan;
use super::source::Source;
use super::tokio_types::Wrapped;
use super::tree::Tree;
use crate::pattern::{Filter, Pattern};

mod cases;
mod checks;
mod files;
mod manifests;

/// Asks for everything of `src/m.rs` in the crate `k`.
fn wanted<T>(filter: &Filter, blocks: bool, then: impl FnOnce(&Wanted<'_>) -> T) -> T {
    then(&Wanted {
        filter,
        file: "src/m.rs",
        module: &["k", "m"].map(str::to_owned),
        blocks,
    })
}

fn read(text: &str, types: &[Wrapped]) -> (Source, Tree) {
    let source = Source::new(text.to_owned());
    let tree = scan(&source, types).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    (source, tree)
}

fn decide(text: &str, filter: &Filter, blocks: bool) -> (Source, Decision) {
    let (source, tree) = read(text, &[]);
    let decision = wanted(filter, blocks, |wanted| wanted.decide(&tree.nodes));
    (source, decision)
}

fn insert(text: &str, filter: &Filter, blocks: bool) -> String {
    let (source, decision) = decide(text, filter, blocks);
    source.edited(&insertions(&source, &decision))
}

fn remove(text: &str, filter: &Filter) -> String {
    let (source, tree) = read(text, &[]);
    let (edits, _) = wanted(filter, false, |wanted| removals(&source, &tree, wanted));
    source.edited(&edits)
}

fn filter(include: &[&str], exclude: &[&str]) -> Filter {
    let read = |patterns: &[&str]| -> Vec<Pattern> {
        let read = |text: &&str| Pattern::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        patterns.iter().map(read).collect()
    };
    Filter::new(&read(include), &read(exclude))
}
