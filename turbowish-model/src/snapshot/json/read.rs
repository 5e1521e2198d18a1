//! Reads the values of docs/json.md back. A value of another type than documented counts as
//! missing.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::snapshot::alert::{BehindWait, Occurrence, Party, PartyKind, Point, Severity};
use crate::snapshot::combinator::Combinator;
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::quantile::{Distribution, Percentile};
use crate::snapshot::{
    Aim, Caller, Claim, HolderRow, IntentRow, LongestRow, MetricKind, PauseRow, Place, PollRow,
    Spot, StackRow, TaskState, WaiterRow, WakerRow,
};

/// A parsed JSON value. The model has no parser: a crate that has one converts its values.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// `null`
    Null,
    /// `true` or `false`
    Flag(bool),
    /// An integer; every number of a document is one.
    Number(i128),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Parsed>),
    /// An object; names may be in any order.
    Object(Vec<(String, Parsed)>),
}

impl Parsed {
    /// The value of a field; `None` if there is none, or if this is not an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let mut fields = self.as_object()?.iter();
        fields
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Whether this is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The integer, if it is one that is not negative and fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(n) => (*n).try_into().ok(),
            _ => None,
        }
    }

    /// The integer, if it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Number(n) => (*n).try_into().ok(),
            _ => None,
        }
    }

    /// The flag.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// The fields of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }
}

/// A type that can be read.
pub trait Readable: Sized {
    /// The value, if it is one of this type.
    fn read(value: &Parsed) -> Option<Self>;
}

/// Reads a value into its place.
pub fn put<T: Readable>(slot: &mut T, value: &Parsed) -> Option<()> {
    T::read(value).map(|read| *slot = read)
}

/// Reads a field into its place.
pub fn fill<T: Readable>(slot: &mut T, object: &Parsed, name: &str) -> Option<()> {
    put(slot, object.get(name)?)
}

/// The same of a field that older files do not have.
fn fill_newer<T: Readable>(slot: &mut T, object: &Parsed, name: &str) -> Option<()> {
    match object.get(name) {
        None => Some(()),
        Some(value) => put(slot, value),
    }
}

/// A field of an object.
fn field<T: Readable>(object: &Parsed, name: &str) -> Option<T> {
    T::read(object.get(name)?)
}

impl Readable for u64 {
    fn read(value: &Parsed) -> Option<Self> {
        value.as_u64()
    }
}

impl Readable for i64 {
    fn read(value: &Parsed) -> Option<Self> {
        value.as_i64()
    }
}

impl Readable for u32 {
    fn read(value: &Parsed) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl Readable for bool {
    fn read(value: &Parsed) -> Option<Self> {
        value.as_bool()
    }
}

impl Readable for String {
    fn read(value: &Parsed) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

/// `null` is "not known".
impl<T: Readable> Readable for Option<T> {
    fn read(value: &Parsed) -> Option<Self> {
        match value {
            Parsed::Null => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

impl<T: Readable> Readable for Vec<T> {
    fn read(value: &Parsed) -> Option<Self> {
        value.as_array()?.iter().map(T::read).collect()
    }
}

/// An object of strings: attributes.
impl Readable for Vec<(String, String)> {
    fn read(value: &Parsed) -> Option<Self> {
        let pairs = value.as_object()?.iter();
        pairs
            .map(|(name, value)| Some((name.clone(), String::read(value)?)))
            .collect()
    }
}

impl Readable for Distribution {
    fn read(value: &Parsed) -> Option<Self> {
        let mut known = Vec::new();
        for (name, value) in value.as_object()? {
            let percentile = name.strip_prefix('p').and_then(Percentile::parse);
            if let (Some(q), Some(ns)) = (percentile, value.as_u64()) {
                known.push((q, ns));
            }
        }
        let (n, sum_ns) = (field(value, "n")?, field(value, "sum_ns")?);
        let max_ns = field(value, "max_ns")?;
        if let Some(buckets) = value.get("buckets") {
            let pairs = buckets
                .as_array()?
                .iter()
                .map(|pair| match pair.as_array()? {
                    [upper_ns, count] => Some((upper_ns.as_u64()?, count.as_u64()?)),
                    _ => None,
                });
            return Self::of_buckets(n, sum_ns, max_ns, pairs.collect::<Option<_>>()?);
        }
        Some(Self::of_percentiles(n, sum_ns, max_ns, &known))
    }
}

/// Six fields that stand among others; all of them `null` where the place is not known.
fn place(value: &Parsed) -> Option<Option<Place>> {
    if value.get("file")?.is_null() {
        return Some(None);
    }
    Some(Some(Place {
        file: field(value, "file")?,
        line: field(value, "line")?,
        column: field(value, "column")?,
        end_line: field(value, "end_line")?,
        end_column: field(value, "end_column")?,
        expr: field(value, "expr")?,
    }))
}

/// Objects by their fields: those that they always had, those that came later, and the place that
/// stands among them.
macro_rules! objects {
    ($($row:ident { $($field:ident)* } $(newer { $($newer:ident)* })? $(at $place:ident)?;)*) => {$(
        impl Readable for $row {
            fn read(value: &Parsed) -> Option<Self> {
                let mut row = Self::default();
                $(fill(&mut row.$field, value, stringify!($field))?;)*
                $($(fill_newer(&mut row.$newer, value, stringify!($newer))?;)*)?
                $(row.$place = place(value)?;)?
                Some(row)
            }
        }
    )*};
}

objects! {
    Caller { proc polls hold_ns };
    Spot { file line column };
    StackRow { depth proc since_ns } newer { fork woken_ns aside cut } at place;
    WakerRow { woken_by wakes own_wakes clones live } newer { woken_in };
    PauseRow { by left_ns woken address };
    PollRow { ago_ns took_ns thread worker ready_ns ready_by } newer { ready_in };
    Claim { resource_id resource role amount since_ns at };
    HolderRow { task role amount since_ns at };
    WaiterRow { task role amount since_ns at woken_ns };
    LongestRow { took_ns ago_ns role task proc at on behind };
    Aim { resource_id resource role proc };
    IntentRow { task role proc };
    Point { proc } at place;
    Occurrence { began_unix_ns held_ns behind_count };
    BehindWait { at tasks longest_ns asleep };
}

/// Enums by the words of their values.
macro_rules! words {
    ($($kind:ident { $($value:ident)* };)*) => {$(
        impl Readable for $kind {
            fn read(value: &Parsed) -> Option<Self> {
                let word = value.as_str()?;
                [$(Self::$value),*].into_iter().find(|one| one.word() == word)
            }
        }
    )*};
}

words! {
    Combinator { Join TryJoin Select Unordered Several };
    Kind {
        Mutex RwLock Semaphore Barrier Notify OnceCell Mpsc Oneshot Broadcast Watch Timer
    };
    MetricKind { Counter Gauge };
    PartyKind { Task Resource Worker Proc };
    Role { Lock Read Write Acquire Send Receive Wait };
    Severity { Alert Warning Note };
    TaskState { Polling Ready Waiting Paused };
}

impl Readable for Pitfall {
    fn read(value: &Parsed) -> Option<Self> {
        Self::from_id(value.as_str()?)
    }
}

impl Readable for Party {
    fn read(value: &Parsed) -> Option<Self> {
        Some(Self {
            kind: field(value, "kind")?,
            // Workers and procs have none.
            id: field::<Option<u64>>(value, "id")?.unwrap_or(0),
            name: field(value, "name")?,
        })
    }
}
