//! The plan of a run: all files as read, and the resulting changes, none of which has been written
//! yet.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use super::decide::{Decision, Wanted};
use super::depend;
use super::manifest::Section;
use super::origin::Origins;
use super::package::{Found, SourceFile, shown};
use super::report::{Answer, Inserted, Removed};
use super::scan;
use super::source::{Edit, Source};
use super::tokio_types::Wrapped;
use super::tree::{Tree, TypeUse};
use crate::failure::Failure;
use crate::pattern::Filter;

/// The inserted attribute. People write it without the leading `::`, so it also shows who wrote an
/// attribute. It resolves even where a module of the same name, or `no_implicit_prelude`, hides the
/// crate.
pub(crate) const ATTRIBUTE: &str = "#[::turbowish::instrument]";

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

/// A file that could not be read, with the position and the error.
pub(crate) struct Fault {
    path: PathBuf,
    place: Option<(usize, usize)>,
    why: String,
}

/// Changes that have not been written yet.
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    /// The planned changes, a line each.
    pub(crate) before: String,
    /// The changes made, and the next step.
    pub(crate) after: String,
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
            ": left as it is; this version cannot parse it: {}",
            self.why
        )
    }
}

impl Work {
    /// Reads all files.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub(crate) fn read(found: Found, filter: Filter, types: &[Wrapped]) -> Result<Self, Failure> {
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
            match scan::scan(&source, types) {
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

    /// Lists functions that are not covered.
    pub(crate) fn check(&self) -> Answer {
        let decisions = self.decisions(false);
        super::report::checked(self, &decisions)
    }

    /// Uses of tokio's types in a file, if patterns ask for them.
    pub(crate) fn tokio_types<'a>(&self, read: &'a Read) -> &'a [TypeUse] {
        match self.wanted(read, false, |wanted| wanted.admits_file()) {
            true => &read.tree.tokio_types,
            false => &[],
        }
    }

    fn decisions(&self, blocks: bool) -> Vec<Decision> {
        let decide =
            |read: &Read| self.wanted(read, blocks, |wanted| wanted.decide(&read.tree.nodes));
        self.files.iter().map(decide).collect()
    }

    /// The changes that annotate everything, and their report.
    ///
    /// # Errors
    /// A manifest that uses another name for the crate; the location of the crate is unknown.
    pub(crate) fn insert(&self, blocks: bool, origins: &Origins) -> Result<Plan, Failure> {
        let decisions = self.decisions(blocks);
        let mut inserted = Inserted {
            decisions: &decisions,
            manifests: Vec::new(),
            origins,
        };
        let mut changes = Vec::new();
        for index in 0..self.found.packages.len() {
            let gains = |(read, decision): &(&Read, &Decision)| {
                self.file(read).package == Some(index) && !decision.anchors.is_empty()
            };
            let files = self.files.iter().zip(&decisions).filter(gains);
            let sections: Vec<Section> = files.map(|(read, _)| self.file(read).section()).collect();
            let package = &self.found.packages[index];
            let (change, said) = depend::on_us(package, &sections, origins)?;
            changes.extend(change);
            inserted.manifests.extend(said);
        }
        for (read, decision) in self.files.iter().zip(&decisions) {
            let edits = insertions(&read.source, decision);
            changes.extend(self.changed(read, &edits));
        }
        Ok(super::report::inserted(self, &inserted, changes))
    }

    fn changed(&self, read: &Read, edits: &[Edit]) -> Option<Change> {
        (!edits.is_empty()).then(|| Change {
            path: self.file(read).path.clone(),
            text: read.source.edited(edits),
        })
    }

    /// The changes that remove what [`Self::insert`] has inserted, and their report.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn remove(&self) -> Result<Plan, Failure> {
        let mut removed = Removed::default();
        let mut changes = Vec::new();
        for read in &self.files {
            let (edits, kept) = self.wanted(read, false, |wanted| {
                removals(&read.source, &read.tree, wanted)
            });
            removed.attributes.push(edits.len());
            removed.kept.push(kept);
            changes.extend(self.changed(read, &edits));
        }
        for package in &self.found.packages {
            let (change, said) = depend::on_nothing(package, &changes)?;
            changes.extend(change);
            removed.manifests.extend(said);
        }
        Ok(super::report::removed(self, &removed, changes))
    }
}

/// The edits that put the attribute wherever one is missing.
pub(crate) fn insertions(source: &Source, decision: &Decision) -> Vec<Edit> {
    let edit = |&at| source.insertion(at, ATTRIBUTE);
    decision.anchors.iter().map(edit).collect()
}

/// The edits that take out inserted attributes, and where the others stand.
pub(crate) fn removals(
    source: &Source,
    tree: &Tree,
    wanted: &Wanted<'_>,
) -> (Vec<Edit>, Vec<usize>) {
    let (inserted, others) = wanted.removals(&tree.nodes);
    let edits = inserted
        .into_iter()
        .map(|attribute| source.removal(attribute.range));
    let others = others.iter().map(|attribute| attribute.range.start);
    (edits.collect(), others.collect())
}
