//! Edits of a `Cargo.toml`: lines are added or removed, and the file is never reformatted.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, TableLike};

use super::origin::Origin;
use super::source::Edit;

/// The crate that the attribute comes from.
pub(crate) const CRATE: &str = "turbowish";

/// The comment after a dependency that `annotate` has written, by which `--remove` recognises it.
pub(crate) const MARK: &str = "# turbowish annotate";

/// Where a dependency is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// For all of the package.
    Normal,
    /// For its tests, examples and benches.
    Dev,
    /// For its build script.
    Build,
}

impl Section {
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Normal => "dependencies",
            Self::Dev => "dev-dependencies",
            Self::Build => "build-dependencies",
        }
    }

    const ALL: [Self; 3] = [Self::Normal, Self::Dev, Self::Build];
}

/// A Cargo.toml as it is.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    document: Document<String>,
}

/// How a package names [`CRATE`] in a section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Plainly,
    /// The dependency is optional, so the attribute would require a feature.
    Optional,
    /// `other = { package = "turbowish" }`
    As(String),
}

impl Manifest {
    /// Reads a text.
    ///
    /// # Errors
    /// It is no TOML.
    pub(crate) fn parse(path: &Path, text: String) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.message().to_owned())?;
        Ok(Self {
            path: path.to_owned(),
            document,
        })
    }

    pub(crate) fn text(&self) -> &str {
        self.document.raw()
    }

    /// The item at a path of keys.
    pub(crate) fn get(&self, keys: &[&str]) -> Option<&Item> {
        let (first, rest) = keys.split_first()?;
        rest.iter()
            .try_fold(self.document.as_table().get(first)?, |item, key| {
                item.get(key)
            })
    }

    pub(crate) fn string(&self, keys: &[&str]) -> Option<&str> {
        self.get(keys)?.as_str()
    }

    /// Whether and how a section names the crate.
    pub(crate) fn named(&self, section: Section) -> Option<Named> {
        let table = self.get(&[section.key()])?.as_table_like()?;
        table.iter().find_map(|(key, item)| {
            let says = |what| item.get(what);
            match says("package").and_then(Item::as_str) {
                Some(CRATE) if key != CRATE => Some(Named::As(key.to_owned())),
                _ if key != CRATE => None,
                _ if says("optional").and_then(Item::as_bool) == Some(true) => {
                    Some(Named::Optional)
                }
                _ => Some(Named::Plainly),
            }
        })
    }

    /// Whether a feature of the package turns on the crate or one of its features.
    pub(crate) fn features_name_it(&self) -> bool {
        let table = self.get(&["features"]).and_then(Item::as_table_like);
        table
            .into_iter()
            .flat_map(TableLike::iter)
            .filter_map(|(_, item)| item.as_array())
            .flatten()
            .filter_map(|value| value.as_str())
            .any(|feature| {
                feature.trim_start_matches("dep:").split(['/', '?']).next() == Some(CRATE)
            })
    }

    /// The edit that adds the crate to a section, with its line in the report; `None` if the
    /// section is not written as lines.
    pub(crate) fn addition(&self, section: Section, from: &Origin) -> Option<(Edit, String)> {
        let line = from.line();
        let (key, value) = from.entry();
        let end = self.text().len();
        let (at, text) = match self.get(&[section.key()]) {
            None => (end, format!("\n[{}]\n{line} {MARK}\n", section.key())),
            Some(Item::Table(table)) if table.is_dotted() => return None,
            Some(Item::Table(table)) if table.is_implicit() => (
                end,
                format!("\n[{}.{CRATE}] {MARK}\n{key} = {value}\n", section.key()),
            ),
            Some(Item::Table(table)) => {
                let place = lines(table).place(table.span()?);
                (self.line_after(place), format!("{line} {MARK}\n"))
            }
            Some(_) => return None,
        };
        let mut text = self.newlines(text);
        if at == end && !self.text().is_empty() && !self.text().ends_with('\n') {
            text.insert_str(0, self.newlines("\n".to_owned()).as_str());
        }
        let edit = Edit {
            range: at..at,
            text,
        };
        Some((edit, line))
    }

    /// The edits that remove the crate from every section where it has [`MARK`].
    pub(crate) fn removal(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        for section in Section::ALL {
            let Some(table) = self.get(&[section.key()]).and_then(Item::as_table) else {
                continue;
            };
            let Some((key, item)) = table.get_key_value(CRATE) else {
                continue;
            };
            let ranges: Vec<Range<usize>> = match item {
                Item::Table(own) if !own.is_dotted() => {
                    let header = own.span().filter(|header| self.is_marked(header.end));
                    let whole = |header: Range<usize>| {
                        let end = lines(own).end().unwrap_or(header.end);
                        self.with_blank_before(self.whole_lines(header.start..end))
                    };
                    header.map(whole).into_iter().collect()
                }
                Item::Table(own) => {
                    let entries = lines(own).entries.into_iter().map(|(_, range)| range);
                    let entries: Vec<Range<usize>> = entries.collect();
                    let is_ours = entries.iter().any(|range| self.is_marked(range.end));
                    let entries = entries.into_iter().filter(|_| is_ours);
                    entries.map(|range| self.whole_lines(range)).collect()
                }
                item => {
                    let both = key.span().zip(item.span());
                    let both = both.filter(|(_, value)| self.is_marked(value.end));
                    let whole = both.map(|(key, value)| self.whole_lines(key.start..value.end));
                    whole.into_iter().collect()
                }
            };
            edits.extend(ranges.into_iter().map(|range| Edit {
                range,
                text: String::new(),
            }));
        }
        edits
    }

    /// Whether the rest of the line at `at` is [`MARK`].
    fn is_marked(&self, at: usize) -> bool {
        let line = &self.text()[at..self.line_after(at)];
        line.trim() == MARK
    }

    fn line_after(&self, at: usize) -> usize {
        let rest = &self.text()[at..];
        at + rest.find('\n').map_or(rest.len(), |end| end + 1)
    }

    fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let start = self.text()[..range.start]
            .rfind('\n')
            .map_or(0, |end| end + 1);
        start..self.line_after(range.end)
    }

    fn with_blank_before(&self, range: Range<usize>) -> Range<usize> {
        let before = &self.text()[..range.start];
        let blank = ["\r\n", "\n"].into_iter().find(|end| {
            before
                .strip_suffix(end)
                .is_some_and(|rest| rest.ends_with('\n'))
        });
        range.start - blank.map_or(0, str::len)..range.end
    }

    fn newlines(&self, text: String) -> String {
        if self.text().contains("\r\n") {
            text.replace('\n', "\r\n")
        } else {
            text
        }
    }
}

/// The entries of a table that stand below its header, in order, each with its range.
struct Lines<'a> {
    entries: Vec<(&'a str, Range<usize>)>,
}

fn lines(table: &toml_edit::Table) -> Lines<'_> {
    let mut entries: Vec<(&str, Range<usize>)> = table
        .iter()
        .filter_map(|(name, item)| {
            let start = table.key(name)?.span()?.start;
            let end = match item {
                Item::Value(value) => value.span()?.end,
                Item::Table(inner) if inner.is_dotted() => lines(inner).end()?,
                _ => return None,
            };
            Some((name, start..end))
        })
        .collect();
    entries.sort_by_key(|(_, range)| range.start);
    Lines { entries }
}

impl Lines<'_> {
    fn end(&self) -> Option<usize> {
        self.entries.iter().map(|(_, range)| range.end).max()
    }

    /// The offset after which a line for the crate is inserted: in alphabetical order, if the
    /// entries are sorted.
    fn place(&self, header: Range<usize>) -> usize {
        let sorted = self.entries.is_sorted_by_key(|(name, _)| *name);
        let before = self
            .entries
            .iter()
            .take_while(|(name, _)| !sorted || *name < CRATE)
            .last();
        before.map_or(header.end, |(_, range)| range.end)
    }
}
