//! Columns are data: one table per kind of row feeds sort, filter, every table, the console and its help.

pub(crate) mod alerts;
mod awaits;
mod counters;
mod direction;
mod nearest;
mod procs;
pub(crate) mod resources;
pub(crate) mod tasks;
mod title;
mod value;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

pub use self::alerts::{Involved, tally, worst, worst_first};
pub use self::nearest::{closest, nearest};
pub use self::title::titled;
pub use self::value::{ASCII_LEVELS, Levels, Shown, SortKey, Style, Value};
use crate::diagnose::alert::{Alert, PartyKind};
use crate::snapshot::quantile::{Distribution, Percentile};
use crate::snapshot::{AwaitRow, CounterRow, Page, ProcRow, ResourceRow, Snapshot, TaskRow};

/// What a cell needs beside its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Length of the window to which the row's sums belong.
    pub window_ns: u64,
}

impl Context {
    /// The context of a snapshot's rows.
    #[must_use]
    pub const fn of(snapshot: &Snapshot) -> Self {
        Self {
            window_ns: snapshot.window_ns,
        }
    }
}

/// What the values of a column are; decides alignment, natural order and the units a filter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Words.
    Text,
    /// `file:line`, shortened to the file's name where space is short.
    Place,
    /// Time.
    Duration,
    /// Percent of one core, or of what the meaning says.
    Share,
    /// Events per second.
    Rate,
    /// A plain number.
    Count,
    /// Bytes.
    Bytes,
    /// Percent of one core, as it was in the past: a sparkline. Its number is the mean.
    Trend,
}

impl Unit {
    /// Numbers are right-aligned and sort downwards first; words the other way round.
    #[must_use]
    pub const fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Place)
    }
}

/// One column of a table.
#[derive(Debug)]
pub struct Column<R: 'static> {
    /// Its name in filters, in `--sort` and `--columns`.
    pub key: Cow<'static, str>,
    /// Its header.
    pub title: Cow<'static, str>,
    /// What it means, as a line of help.
    pub meaning: &'static str,
    /// What its values are.
    pub unit: Unit,
    /// Columns of the terminal that it takes; for words the least that is useful.
    pub width: usize,
    /// 0 is shown at 80 columns; the others appear in this order as the terminal gets wider; 255 never
    /// does by itself.
    pub rank: u8,
    /// The JSON fields of docs/json.md that say the same.
    pub fields: &'static [&'static str],
    read: Read<R>,
}

/// Where a column's value comes from.
#[derive(Debug)]
enum Read<R: 'static> {
    Plain(for<'a> fn(&'a R, &Context) -> Value<'a>),
    Percentile(fn(&R) -> Option<&Distribution>, Percentile),
    /// What the program itself gave a name to.
    Named(for<'a> fn(&'a R, &str) -> Value<'a>, String),
}

// Not derived: a derive would ask `R: Clone`, although no `R` is held.
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
    const fn new(
        key: &'static str,
        title: &'static str,
        meaning: &'static str,
        (unit, width, rank): (Unit, usize, u8),
        fields: &'static [&'static str],
        read: for<'a> fn(&'a R, &Context) -> Value<'a>,
    ) -> Self {
        Self {
            key: Cow::Borrowed(key),
            title: Cow::Borrowed(title),
            meaning,
            unit,
            width,
            rank,
            fields,
            read: Read::Plain(read),
        }
    }

    const fn percentile(
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

    /// The column's value in a row.
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

    /// It is one of a [`Family`]'s columns.
    #[must_use]
    pub const fn is_percentile(&self) -> bool {
        matches!(self.read, Read::Percentile(..))
    }

    /// Its values may be of something that still goes on: a column for `+` is kept free.
    #[must_use]
    pub const fn grows(&self) -> bool {
        matches!(
            (&self.read, self.unit, self.width),
            (Read::Plain(_), Unit::Duration, 7)
        )
    }

    /// The text of the column's cell in a row, without padding.
    #[must_use]
    pub fn cell(&self, row: &R, context: &Context, style: Style) -> String {
        self.value(row, context).print(style)
    }
}

/// Percentile columns of one population: `run_p99`, `run_p99.9`, `run_max`.
#[derive(Debug)]
pub struct Family<R: 'static> {
    /// First part of the keys.
    pub prefix: &'static str,
    /// First part of the titles.
    pub title: &'static str,
    /// What a percentile of it means, as a line of help.
    pub meaning: &'static str,
    /// The JSON object of docs/json.md that holds the percentiles.
    pub fields: &'static [&'static str],
    /// The population itself; `None` where a row has none.
    pub of: fn(&R) -> Option<&Distribution>,
}

/// A kind of row: what it is called, its columns, its own order and what a bare word searches.
pub trait Row: Sized + 'static {
    /// The table's name: `procs`, `tasks`, `awaits`, `resources`, `alerts`, `counters`.
    const TABLE: &'static str;

    /// What the table is sorted by unless told otherwise: a column's key, or `worst`.
    const OWN_ORDER: &'static str;

    /// All columns, in the order in which tables show them.
    fn columns() -> &'static [Column<Self>];

    /// The populations whose percentiles are columns too.
    fn families() -> &'static [Family<Self>];

    /// The column of what the program itself gave a name to, where rows have such: `attr.user`.
    #[must_use]
    fn named(_key: &str) -> Option<Column<Self>> {
        None
    }

    /// The rows of this kind in a snapshot.
    fn page(snapshot: &Snapshot) -> &Page<Self>;

    /// The rows of this kind in a snapshot.
    fn page_mut(snapshot: &mut Snapshot) -> &mut Page<Self>;

    /// What breaks ties, and tells equal names apart.
    fn name(&self) -> (&str, u64);

    /// The table's own order: class first, ascending, then the number, descending.
    fn worst(&self) -> (u8, u64);

    /// As what alerts speak of it: its kind, its id, and its name where it has no id.
    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        None
    }

    /// Gives every text that a bare word of a filter is searched in, until `found` says true.
    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool;
}

/// The percentiles that are columns by name; `--percentiles` takes any other.
pub const PERCENTILES: [&str; 11] = [
    "1", "5", "10", "25", "50", "75", "90", "95", "99", "99.9", "99.99",
];

/// Finds a column by its key, those of [`PERCENTILES`] of a known population included.
#[must_use]
pub fn find<R: Row>(key: &str) -> Option<Column<R>> {
    if let Some(column) = R::columns().iter().find(|column| column.key == key) {
        return Some(column.clone());
    }
    if let Some(column) = R::named(key) {
        return Some(column);
    }
    let (family, percent) = percentile_of::<R>(key)?;
    PERCENTILES.contains(&percent).then_some(())?;
    Some(at_percentile(family, Percentile::parse(percent)?))
}

/// Takes `run_p99.9` apart.
fn percentile_of<R: Row>(key: &str) -> Option<(&'static Family<R>, &str)> {
    let (prefix, percent) = key.split_once("_p")?;
    let mut families = R::families().iter();
    Some((families.find(|family| family.prefix == prefix)?, percent))
}

/// The column of one percentile of a population, titled like `HOLp99.9`.
#[must_use]
pub fn at_percentile<R>(family: &'static Family<R>, q: Percentile) -> Column<R> {
    let name = q.name();
    let title = format!("{}{name}", family.title);
    Column {
        key: Cow::Owned(format!("{}_{name}", family.prefix)),
        width: title.len().max(6),
        title: Cow::Owned(title),
        meaning: family.meaning,
        unit: Unit::Duration,
        rank: u8::MAX,
        fields: family.fields,
        read: Read::Percentile(family.of, q),
    }
}

/// The column of one attribute, `attr.user`; a row without it has none, which is not unknown.
fn attribute<R>(key: &str, read: for<'a> fn(&'a R, &str) -> Value<'a>) -> Option<Column<R>> {
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

/// The attribute of that name among others.
fn given<'a>(attributes: &'a [(String, String)], name: &str) -> Value<'a> {
    let found = attributes.iter().find(|(given, _)| given == name);
    found.map_or(Value::Blank, |(_, value)| Value::Text(Cow::Borrowed(value)))
}

/// Columns of procs, in the order in which a table shows them.
#[must_use]
pub fn procs() -> &'static [Column<ProcRow>] {
    ProcRow::columns()
}

/// Columns of tasks, in the order in which a table shows them.
#[must_use]
pub fn tasks() -> &'static [Column<TaskRow>] {
    TaskRow::columns()
}

/// Columns of await points, in the order in which a table shows them.
#[must_use]
pub fn awaits() -> &'static [Column<AwaitRow>] {
    AwaitRow::columns()
}

/// Columns of resources, in the order in which a table shows them.
#[must_use]
pub fn resources() -> &'static [Column<ResourceRow>] {
    ResourceRow::columns()
}

/// Columns of counters and gauges, in the order in which a table shows them.
#[must_use]
pub fn counters() -> &'static [Column<CounterRow>] {
    CounterRow::columns()
}

/// Columns of alerts, in the order in which a table shows them.
#[must_use]
pub fn alerts() -> &'static [Column<Alert>] {
    Alert::columns()
}

#[cfg(test)]
mod tests;
