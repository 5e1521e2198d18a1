//! Columns as data: one table per kind of row serves sorting, filters, all tables, the console and
//! its help.

mod direction;
mod heading;
mod nearest;
mod title;
mod value;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) use self::heading::Heading;
pub use self::nearest::{closest, nearest};
pub use self::title::{console_title, spelled, titled};
pub use self::value::{ASCII_LEVELS, Levels, Shown, SortKey, Style, Value};
use crate::snapshot::alert::PartyKind;
pub use crate::snapshot::alert::{Involved, headline, severity_counts, worst, worst_first};
use crate::snapshot::quantile::{Distribution, Percentile};
use crate::snapshot::{InTable, Snapshot};

/// The data that a cell needs in addition to its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Length of the window that the row's sums cover, in nanoseconds.
    pub window_ns: u64,
    /// Wall-clock time of the snapshot, nanoseconds since the Unix epoch.
    pub at_unix_ns: u64,
}

impl Context {
    /// The context of a snapshot's rows.
    #[must_use]
    pub const fn of(snapshot: &Snapshot) -> Self {
        Self {
            window_ns: snapshot.window_ns,
            at_unix_ns: snapshot.at_unix_ns,
        }
    }
}

/// Kind of a column's values. It determines alignment, natural order and the units of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Text.
    Text,
    /// `file:line`, reduced to the file name where space is short.
    Place,
    /// A duration.
    Duration,
    /// Percent of one core, or of what `meaning` states.
    Share,
    /// Events per second.
    Rate,
    /// An average number.
    Average,
    /// A plain number.
    Count,
    /// Bytes.
    Bytes,
    /// Percent of one core over time: a sparkline. Its number is the mean.
    Trend,
}

impl Unit {
    /// Whether the column is right-aligned and sorts descending first; text is the opposite.
    #[must_use]
    pub const fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Place)
    }
}

/// One column of a table.
#[derive(Debug)]
pub struct Column<R: 'static> {
    /// Name in filters, `--sort` and `--columns`.
    pub key: Cow<'static, str>,
    /// Its header.
    pub title: Cow<'static, str>,
    /// Meaning, as a line of help.
    pub meaning: &'static str,
    /// Kind of the values.
    pub unit: Unit,
    /// Width in terminal columns; for text the minimum useful width.
    pub width: usize,
    /// 0 is shown at 80 columns. Columns with higher ranks appear in this order as the terminal
    /// gets wider; 255 appears only on request.
    pub rank: u8,
    /// The corresponding JSON fields of docs/json.md.
    pub fields: &'static [&'static str],
    read: Read<R>,
}

/// Source of a column's value.
#[derive(Debug)]
enum Read<R: 'static> {
    Plain(for<'a> fn(&'a R, &Context) -> Value<'a>),
    Percentile(fn(&R) -> Option<&Distribution>, Percentile),
    /// A column for a name defined by the program.
    Named(for<'a> fn(&'a R, &str) -> Value<'a>, String),
}

// Not derived: a derive would require `R: Clone`, although no `R` is stored.
impl<R> Clone for Read<R> {
    fn clone(&self) -> Self {
        match self {
            Self::Plain(read) => Self::Plain(*read),
            Self::Percentile(of, q) => Self::Percentile(*of, *q),
            Self::Named(read, name) => Self::Named(*read, name.clone()),
        }
    }
}

impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            title: self.title.clone(),
            read: self.read.clone(),
            ..*self
        }
    }
}

impl<R> Column<R> {
    pub(super) const fn percentile(
        key: &'static str,
        title: &'static str,
        family: &Family<R>,
        percent: u8,
        rank: u8,
    ) -> Self {
        Self {
            key: Cow::Borrowed(key),
            title: Cow::Borrowed(title),
            meaning: family.meaning,
            unit: Unit::Duration,
            width: if title.len() > 6 { title.len() } else { 6 },
            rank,
            fields: family.fields,
            read: Read::Percentile(family.of, Percentile::whole(percent)),
        }
    }

    /// Returns the column's value in a row.
    #[must_use]
    pub fn value<'a>(&self, row: &'a R, context: &Context) -> Value<'a> {
        match &self.read {
            Read::Plain(read) => read(row, context),
            Read::Percentile(of, q) => of(row).map_or(Value::Blank, |population| {
                population
                    .percentile(*q)
                    .map_or(Value::NoSample, Value::Duration)
            }),
            Read::Named(read, name) => read(row, name),
        }
    }

    /// Whether this is a column of a [`Family`].
    #[must_use]
    pub const fn is_percentile(&self) -> bool {
        matches!(self.read, Read::Percentile(..))
    }

    /// The population in a row whose percentile this column is, and which.
    #[must_use]
    pub fn population<'a>(&self, row: &'a R) -> Option<(&'a Distribution, Percentile)> {
        match &self.read {
            Read::Percentile(of, q) => Some((of(row)?, *q)),
            Read::Plain(_) | Read::Named(..) => None,
        }
    }

    /// Whether values may be in progress: a terminal column is reserved for `+`.
    #[must_use]
    pub const fn grows(&self) -> bool {
        matches!(
            (&self.read, self.unit, self.width),
            (Read::Plain(_), Unit::Duration, 7)
        )
    }

    /// Returns the text of the column's cell in a row, without padding.
    #[must_use]
    pub fn cell(&self, row: &R, context: &Context, style: Style) -> String {
        self.value(row, context).print(style)
    }
}

/// Percentile columns of one population: `run_p99`, `run_p99.9`, `run_max`.
#[derive(Debug)]
pub struct Family<R: 'static> {
    /// Prefix of the keys.
    pub prefix: &'static str,
    /// Prefix of the titles.
    pub title: &'static str,
    /// Meaning of a percentile, as a line of help.
    pub meaning: &'static str,
    /// The JSON object of docs/json.md with the percentiles.
    pub fields: &'static [&'static str],
    /// The population; `None` for a row without one.
    pub of: fn(&R) -> Option<&Distribution>,
}

/// A kind of row: table name, columns, own order, and the texts searched by a bare word.
pub trait Row: InTable {
    /// Default order of the table: a column's key, or `worst`.
    const OWN_ORDER: &'static str;

    /// All columns, in the order of display.
    fn columns() -> &'static [Column<Self>];

    /// The populations whose percentiles are also columns.
    #[must_use]
    fn families() -> &'static [Family<Self>] {
        &[]
    }

    /// The column of a name defined by the program, for rows that have such names: `attr.user`.
    #[must_use]
    fn named(_key: &str) -> Option<Column<Self>> {
        None
    }

    /// Columns of a printed table. A name that is a population but not a column (`hold`, `poll`)
    /// stands for its percentiles.
    const PRINTED: &'static [&'static str];

    /// Fields of a saved row without which its columns would be wrong.
    const NEEDED: &'static [&'static str];

    /// The column of its source location.
    const PLACE: &'static str;

    /// The name by which a row is compared with that of another run; the same in both, where that
    /// can be.
    fn label(&self) -> String;

    /// Its source location, `src/snapshot.rs:90`; `None` if unknown.
    fn place(&self) -> Option<String> {
        let text = cell(self, Self::PLACE);
        text.contains(':').then_some(text)
    }

    /// The rows whose polls contain those of this one, by name.
    fn polled_by(&self) -> Vec<String> {
        Vec::new()
    }

    /// Name and id: they break ties, and the id tells equal names apart.
    fn name(&self) -> (&str, u64);

    /// Sort key of the table's own order: class ascending, then number descending.
    fn worst(&self) -> (u8, u64);

    /// The row as a party of alerts: kind, id, and its name if it has no id.
    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        None
    }

    /// Passes every text that a bare word searches to `found`, until it returns `true`.
    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool;
}

/// Percentiles that are columns by name; `--percentiles` accepts any other.
pub const PERCENTILES: [&str; 11] = [
    "1", "5", "10", "25", "50", "75", "90", "95", "99", "99.9", "99.99",
];

/// Returns the column with this key, including those of [`PERCENTILES`] of a known population.
#[must_use]
pub fn find<R: Row>(key: &str) -> Option<Column<R>> {
    if let Some(column) = R::columns().iter().find(|column| column.key == key) {
        return Some(column.clone());
    }
    if let Some(column) = R::named(key) {
        return Some(column);
    }
    let (family, percent) = percentile_of::<R>(key)?;
    Some(at_percentile(family, named_percentile(percent)?))
}

#[inline(never)]
fn named_percentile(percent: &str) -> Option<Percentile> {
    PERCENTILES.contains(&percent).then_some(())?;
    Percentile::parse(percent)
}

/// Splits `run_p99.9`.
fn percentile_of<R: Row>(key: &str) -> Option<(&'static Family<R>, &str)> {
    let (prefix, percent) = split_percentile(key)?;
    let mut families = R::families().iter();
    Some((families.find(|family| family.prefix == prefix)?, percent))
}

#[inline(never)]
fn split_percentile(key: &str) -> Option<(&str, &str)> {
    key.split_once("_p")
}

/// Creates the column of one percentile of a population, with a title like `POLp99.9`.
#[must_use]
pub fn at_percentile<R>(family: &'static Family<R>, q: Percentile) -> Column<R> {
    let (key, title) = percentile_names(family.prefix, family.title, q);
    Column {
        key: Cow::Owned(key),
        width: title.len().max(6),
        title: Cow::Owned(title),
        meaning: family.meaning,
        unit: Unit::Duration,
        rank: u8::MAX,
        fields: family.fields,
        read: Read::Percentile(family.of, q),
    }
}

/// The key and the title of that column.
#[inline(never)]
fn percentile_names(prefix: &str, title: &str, q: Percentile) -> (String, String) {
    let name = q.name();
    (format!("{prefix}_{name}"), format!("{title}{name}"))
}

/// Returns the cell of a column, independent of the window; empty if there is no such column.
#[must_use]
pub fn cell<R: Row>(row: &R, key: &str) -> String {
    let context = Context::default();
    find::<R>(key).map_or_else(String::new, |column| {
        column.cell(row, &context, Style::default())
    })
}

/// Creates the column of an attribute, `attr.user`. A row without the attribute is blank, not
/// unknown.
pub(super) fn attribute<R>(
    key: &str,
    read: for<'a> fn(&'a R, &str) -> Value<'a>,
) -> Option<Column<R>> {
    let name = key.strip_prefix("attr.").filter(|name| !name.is_empty())?;
    Some(Column {
        key: Cow::Owned(key.into()),
        title: Cow::Owned(name.to_uppercase()),
        meaning: "an attribute set by the program",
        unit: Unit::Text,
        width: 12,
        rank: u8::MAX,
        fields: &["attributes"],
        read: Read::Named(read, name.into()),
    })
}

/// Value of the attribute with this name.
pub(super) fn given<'a>(attributes: &'a [(String, String)], name: &str) -> Value<'a> {
    let found = attributes.iter().find(|(given, _)| given == name);
    found.map_or(Value::Blank, |(_, value)| Value::Text(Cow::Borrowed(value)))
}

#[cfg(test)]
mod tests;
