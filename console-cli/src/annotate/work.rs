//! All files of one run, read; and what follows from them, as changes that nobody has made yet.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use super::decide::{Decision, Wanted};
use super::depend;
use super::manifest::Section;
use super::package::{Found, SourceFile, shown};
use super::pattern::Filter;
use super::report::{Answer, Inserted, Removed};
use super::scan;
use super::source::{Edit, Source};
use super::tree::{Attribute, Tree};
use super::twins::Twin;
use crate::failure::Failure;

/// What is written for an attribute.
pub(crate) const ATTRIBUTE: &str = "#[turbowish::instrument]";

/// The same where no crate is in sight by its name alone.
const ABSOLUTE: &str = "#[::turbowish::instrument]";

/// A module that holds this attribute, and every module inside it, sees crates only behind `::`.
const BARE: &str = "no_implicit_prelude";

/// The files that every other file of a crate is a module of.
const ROOTS: [&str; 2] = ["src/lib.rs", "src/main.rs"];

/// All files of one run.
pub(crate) struct Work {
    pub(crate) found: Found,
    pub(crate) files: Vec<Read>,
    /// Files that could not be read.
    pub(crate) faults: Vec<Fault>,
    filter: Filter,
}

/// A file that could be read.
pub(crate) struct Read {
    /// Index into [`Found::files`].
    pub(crate) index: usize,
    pub(crate) source: Source,
    pub(crate) tree: Tree,
}

/// A file that could not be read: where, and why.
pub(crate) struct Fault {
    path: PathBuf,
    place: Option<(usize, usize)>,
    why: String,
}

/// A new text for a file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shown(&self.path))?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(
            f,
            ": left as it is; no Rust that this version can read: {}",
            self.why
        )
    }
}

impl Work {
    /// Reads all files.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub(crate) fn read(found: Found, filter: Filter, twins: &[Twin]) -> Result<Self, Failure> {
        let mut files = Vec::new();
        let mut faults = Vec::new();
        for (index, file) in found.files.iter().enumerate() {
            let bytes = fs::read(&file.path).map_err(|cause| {
                Failure::local(&format!("cannot read {}", shown(&file.path)), &cause)
            })?;
            let fault = |place, why| Fault {
                path: file.path.clone(),
                place,
                why,
            };
            let Ok(text) = String::from_utf8(bytes) else {
                faults.push(fault(None, "it is not UTF-8".to_owned()));
                continue;
            };
            let source = Source::new(text);
            match scan::scan(&source, twins) {
                Ok(tree) => files.push(Read {
                    index,
                    source,
                    tree,
                }),
                Err(error) => faults.push(fault(Some(source.place(error.at)), error.why)),
            }
        }
        Ok(Self {
            found,
            files,
            faults,
            filter,
        })
    }

    pub(crate) fn file(&self, read: &Read) -> &SourceFile {
        &self.found.files[read.index]
    }

    fn wanted<T>(&self, read: &Read, blocks: bool, then: impl FnOnce(&Wanted<'_>) -> T) -> T {
        let file = self.file(read);
        then(&Wanted {
            filter: &self.filter,
            file: &file.inner,
            module: &self.found.module(file),
            blocks,
        })
    }

    /// Lists what is not covered.
    pub(crate) fn check(&self) -> Answer {
        let decisions = self.decisions(false);
        super::report::checked(self, &decisions)
    }

    fn decisions(&self, blocks: bool) -> Vec<Decision> {
        let decide =
            |read: &Read| self.wanted(read, blocks, |wanted| wanted.decide(&read.tree.nodes));
        self.files.iter().map(decide).collect()
    }

    /// The changes that annotate everything, and what is said about them.
    ///
    /// # Errors
    /// A manifest that names the crate otherwise.
    pub(crate) fn insert(&self, blocks: bool) -> Result<(Vec<Change>, String), Failure> {
        let decisions = self.decisions(blocks);
        let mut inserted = Inserted {
            decisions: &decisions,
            manifests: Vec::new(),
        };
        let mut changes = Vec::new();
        for index in 0..self.found.packages.len() {
            let gains = |(read, decision): &(&Read, &Decision)| {
                self.file(read).package == Some(index) && !decision.anchors.is_empty()
            };
            let files = self.files.iter().zip(&decisions).filter(gains);
            let sections: Vec<Section> = files.map(|(read, _)| self.file(read).section()).collect();
            let (change, said) = depend::on_us(&self.found.packages[index], &sections)?;
            changes.extend(change);
            inserted.manifests.extend(said);
        }
        for (read, decision) in self.files.iter().zip(&decisions) {
            let edits = insertions(&read.source, decision, self.attribute(read));
            changes.extend(self.changed(read, &edits));
        }
        Ok((changes, super::report::inserted(self, &inserted)))
    }

    /// The attribute as it is to be written in a file.
    fn attribute(&self, read: &Read) -> &'static str {
        let file = self.file(read);
        let is_above = |other: &SourceFile| {
            other.package == file.package && ROOTS.contains(&other.inner.as_str())
        };
        let above = self.files.iter().filter(|other| is_above(self.file(other)));
        let mut texts = above.chain([read]).map(|read| read.source.text());
        if texts.any(|text| text.contains(BARE)) {
            ABSOLUTE
        } else {
            ATTRIBUTE
        }
    }

    fn changed(&self, read: &Read, edits: &[Edit]) -> Option<Change> {
        (!edits.is_empty()).then(|| Change {
            path: self.file(read).path.clone(),
            text: read.source.edited(edits),
        })
    }

    /// The changes that take all attributes out, and what is said about them.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn remove(&self) -> Result<(Vec<Change>, String), Failure> {
        let mut removed = Removed::default();
        let mut changes = Vec::new();
        for read in &self.files {
            let (edits, count) = self.wanted(read, false, |wanted| {
                removals(&read.source, &read.tree, wanted)
            });
            removed.attributes.push(count);
            changes.extend(self.changed(read, &edits));
        }
        for package in &self.found.packages {
            let (change, said) = depend::on_nothing(package, &changes)?;
            changes.extend(change);
            removed.manifests.extend(said);
        }
        Ok((changes, super::report::removed(self, &removed)))
    }
}

/// The edits that put `attribute` wherever one is missing.
pub(crate) fn insertions(source: &Source, decision: &Decision, attribute: &str) -> Vec<Edit> {
    let edit = |&at| source.insertion(at, attribute);
    decision.anchors.iter().map(edit).collect()
}

/// The edits that take out attributes, and how many they are. What imports the attribute goes with the last one.
pub(crate) fn removals(source: &Source, tree: &Tree, wanted: &Wanted<'_>) -> (Vec<Edit>, usize) {
    let (attributes, all) = wanted.removals(&tree.nodes);
    let edit = |attribute: &Attribute| {
        if attribute.whole {
            source.removal(attribute.range.clone())
        } else {
            Edit {
                range: attribute.range.clone(),
                text: String::new(),
            }
        }
    };
    let mut edits: Vec<Edit> = attributes.iter().map(edit).collect();
    if all && !attributes.is_empty() {
        let imports = tree.imports.iter().cloned();
        edits.extend(imports.map(|range| source.removal(range)));
    }
    (edits, attributes.len())
}
