//! Tests on real files: the whole workspace.

use std::fs;
use std::path::Path;

use super::super::select::select;
use super::{Filter, insert, remove};
use crate::program::Program;

const PROGRAM: Program = Program {
    name: "cargo-turbowish",
    typed: "cargo turbowish",
};

#[test]
fn removal_undoes_insertion_in_every_file_of_this_workspace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let found = select(&[root], true, &PROGRAM).unwrap_or_else(|failure| panic!("{failure:?}"));
    let mut changed = 0;
    for file in &found.files {
        let text = fs::read_to_string(&file.path).unwrap_or_else(|error| panic!("{error}"));
        let everything = Filter::default();
        let bare = remove(&text, &everything);
        for blocks in [false, true] {
            let inserted = insert(&bare, &everything, blocks);
            if inserted == bare {
                continue;
            }
            let again = insert(&inserted, &everything, blocks);
            assert!(again == inserted, "{} changes twice", file.path.display());
            let removed = remove(&inserted, &everything);
            assert!(removed == bare, "{} is not as it was", file.path.display());
            changed += 1;
        }
    }
    // Files of examples and of ui-tests, among others.
    assert!(changed > 40, "{changed} of {} files", found.files.len());
}
