//! All files of one run, read; and what follows from them, as changes that nobody has made yet.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use super::decide::{Decision, Wanted};
use super::manifest::{CRATE, Named, Section};
use super::package::{self, Found, SourceFile, shown};
use super::pattern::Filter;
use super::report::{Answer, Inserted, Removed};
use super::scan;
use super::source::{Edit, Source, each_token};
use super::tree::{Attribute, Tree};
use super::twins::Twin;
use crate::failure::Failure;

/// What is written for an attribute.
pub(crate) const ATTRIBUTE: &str = "#[turbowish::instrument]";

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
        write!(f, ": left as it is: {}", self.why)
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
            let (change, said) = self.depend(index, &decisions)?;
            changes.extend(change);
            inserted.manifests.extend(said);
        }
        for (read, decision) in self.files.iter().zip(&decisions) {
            changes.extend(self.changed(read, &insertions(&read.source, decision)));
        }
        Ok((changes, super::report::inserted(self, &inserted)))
    }

    fn changed(&self, read: &Read, edits: &[Edit]) -> Option<Change> {
        (!edits.is_empty()).then(|| Change {
            path: self.file(read).path.clone(),
            text: read.source.edited(edits),
        })
    }

    /// The change that adds the dependency to a package that carries attributes, and what is said about it.
    fn depend(
        &self,
        index: usize,
        decisions: &[Decision],
    ) -> Result<(Option<Change>, Option<String>), Failure> {
        let package = &self.found.packages[index];
        let manifest = &package.manifest;
        let carries = |(read, decision): &(&Read, &Decision)| {
            self.file(read).package == Some(index)
                && (read.tree.is_annotated() || !decision.anchors.is_empty())
        };
        let files = self.files.iter().zip(decisions).filter(carries);
        let sections: Vec<Section> = files.map(|(read, _)| self.file(read).section()).collect();
        let section = if sections.contains(&Section::Normal) {
            Section::Normal
        } else {
            Section::Dev
        };
        // Nobody depends on itself.
        if sections.is_empty() || manifest.string(&["package", "name"]) == Some(CRATE) {
            return Ok((None, None));
        }
        let path = shown(&manifest.path);
        let here = manifest.named(section);
        match here.or_else(|| manifest.named(Section::Normal)) {
            Some(Named::Plainly) => Ok((None, None)),
            Some(Named::Optional) => {
                let text = "the dependency is optional; the attribute needs it in every build";
                Ok((None, Some(format!("{path}: {text}"))))
            }
            Some(Named::As(name)) => Err(Failure::Local(format!(
                "{path} calls {CRATE} `{name}`; the attribute is written with its own name, so call it {CRATE} there"
            ))),
            None => match manifest.addition(section, package.inherits) {
                Some((edit, line)) => {
                    let text = Source::new(manifest.text().to_owned()).edited(&[edit]);
                    let path_of = manifest.path.clone();
                    let said = format!("{path}: added {line} to [{}]", section.key());
                    let change = Change {
                        path: path_of,
                        text,
                    };
                    Ok((Some(change), Some(said)))
                }
                None => {
                    let said = format!("{path}: add {CRATE} to its {} yourself", section.key());
                    Ok((None, Some(said)))
                }
            },
        }
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
            let edits = package.manifest.removal();
            if edits.is_empty() {
                continue;
            }
            let path = shown(&package.manifest.path);
            match self.use_left(package, &changes)? {
                Some(place) => removed
                    .manifests
                    .push(format!("{path}: keeps {CRATE}, which {place} names")),
                None => {
                    let text = Source::new(package.manifest.text().to_owned()).edited(&edits);
                    let path_of = package.manifest.path.clone();
                    changes.push(Change {
                        path: path_of,
                        text,
                    });
                    removed.manifests.push(format!("{path}: removed {CRATE}"));
                }
            }
        }
        Ok((changes, super::report::removed(self, &removed)))
    }

    /// What of a package would still name the crate if `changes` were made.
    fn use_left(
        &self,
        package: &package::Package,
        changes: &[Change],
    ) -> Result<Option<String>, Failure> {
        if package.manifest.features_name_it() {
            return Ok(Some("a feature of it".to_owned()));
        }
        for path in package::all_files(package)? {
            let change = changes.iter().find(|change| change.path == path);
            let text = match change {
                Some(change) => change.text.clone(),
                None => fs::read_to_string(&path).unwrap_or_default(),
            };
            if let Some(place) = mention(&text) {
                let (line, column) = place;
                return Ok(Some(format!("{}:{line}:{column}", shown(&path))));
            }
        }
        Ok(None)
    }
}

/// The edits that put an attribute wherever one is missing.
pub(crate) fn insertions(source: &Source, decision: &Decision) -> Vec<Edit> {
    let edit = |&at| source.insertion(at, ATTRIBUTE);
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

/// Where code names the crate; comments do not count.
fn mention(text: &str) -> Option<(usize, usize)> {
    let at = text.find(CRATE)?;
    let source = Source::new(text.to_owned());
    let Ok((tokens, _)) = source.parse() else {
        return Some(source.place(at));
    };
    let mut found = None;
    each_token(&tokens, &mut |token| {
        if let proc_macro2::TokenTree::Ident(ident) = token
            && ident == CRATE
        {
            found = found.or_else(|| Some(source.range(ident.span()).start));
        }
    });
    proc_macro2::extra::invalidate_current_thread_spans();
    found.map(|at| source.place(at))
}
