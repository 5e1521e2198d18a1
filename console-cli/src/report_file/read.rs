//! Readers of the values of docs/json.md. A value of another type than documented counts as
//! missing.

use serde_json::Value;
use turbowish_model::account::resource::Role;
use turbowish_model::snapshot::alert::{Party, PartyKind, Point};
use turbowish_model::snapshot::combinator::Combinator;
use turbowish_model::snapshot::quantile::{Distribution, Percentile};
use turbowish_model::snapshot::{
    Aim, Caller, Claim, HolderRow, IntentRow, PauseRow, Place, PollRow, Spot, StackRow, WaiterRow,
    WakerRow,
};

/// A type that can be read.
pub(super) trait Read: Sized {
    /// The value, if it is one of this type.
    fn read(value: &Value) -> Option<Self>;
}

/// Reads a value into its place.
pub(super) fn put<T: Read>(slot: &mut T, value: &Value) -> Option<()> {
    T::read(value).map(|read| *slot = read)
}

/// Reads a field into its place.
pub(super) fn fill<T: Read>(slot: &mut T, object: &Value, name: &str) -> Option<()> {
    put(slot, object.get(name)?)
}

/// The same of a field that older files do not have.
fn fill_newer<T: Read>(slot: &mut T, object: &Value, name: &str) -> Option<()> {
    match object.get(name) {
        None => Some(()),
        Some(value) => put(slot, value),
    }
}

/// A field of an object.
fn field<T: Read>(object: &Value, name: &str) -> Option<T> {
    T::read(object.get(name)?)
}

/// The one of a few that is called so.
pub(super) fn named<T: Copy>(all: &[T], word: fn(T) -> &'static str, value: &Value) -> Option<T> {
    let text = value.as_str()?;
    all.iter().copied().find(|one| word(*one) == text)
}

impl Read for u64 {
    fn read(value: &Value) -> Option<Self> {
        value.as_u64()
    }
}

impl Read for i64 {
    fn read(value: &Value) -> Option<Self> {
        value.as_i64()
    }
}

impl Read for u32 {
    fn read(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl Read for bool {
    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl Read for String {
    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

/// `null` is "not known".
impl<T: Read> Read for Option<T> {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(T::read).collect()
    }
}

/// An object of strings: attributes.
impl Read for Vec<(String, String)> {
    fn read(value: &Value) -> Option<Self> {
        let pairs = value.as_object()?.iter();
        pairs
            .map(|(name, value)| Some((name.clone(), String::read(value)?)))
            .collect()
    }
}

impl Read for Distribution {
    fn read(value: &Value) -> Option<Self> {
        let mut known = Vec::new();
        for (name, value) in value.as_object()? {
            let percentile = name.strip_prefix('p').and_then(Percentile::parse);
            if let (Some(q), Some(ns)) = (percentile, value.as_u64()) {
                known.push((q, ns));
            }
        }
        let (n, sum_ns) = (field(value, "n")?, field(value, "sum_ns")?);
        let max_ns = field(value, "max_ns")?;
        Some(Self::of_percentiles(n, sum_ns, max_ns, &known))
    }
}

/// Six fields that stand among others; all of them `null` where the place is not known.
fn place(value: &Value) -> Option<Option<Place>> {
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
        impl Read for $row {
            fn read(value: &Value) -> Option<Self> {
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
    WakerRow { woken_by wakes own_wakes clones live };
    PauseRow { by left_ns woken address };
    PollRow { ago_ns took_ns thread worker ready_ns ready_by };
    Claim { resource_id resource role amount since_ns at };
    HolderRow { task role amount since_ns at };
    WaiterRow { task role amount since_ns at woken_ns };
    Aim { resource_id resource role proc };
    IntentRow { task role proc };
    Point { proc } at place;
}

impl Read for Combinator {
    fn read(value: &Value) -> Option<Self> {
        let all = [
            Self::Join,
            Self::TryJoin,
            Self::Select,
            Self::Unordered,
            Self::Several,
        ];
        named(&all, Self::word, value)
    }
}

impl Read for Role {
    fn read(value: &Value) -> Option<Self> {
        let all = [
            Self::Lock,
            Self::Read,
            Self::Write,
            Self::Acquire,
            Self::Send,
            Self::Receive,
            Self::Wait,
        ];
        named(&all, Self::word, value)
    }
}

impl Read for PartyKind {
    fn read(value: &Value) -> Option<Self> {
        let all = [Self::Task, Self::Resource, Self::Worker, Self::Proc];
        named(&all, Self::word, value)
    }
}

impl Read for Party {
    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            kind: field(value, "kind")?,
            // Workers and procs have none.
            id: field::<Option<u64>>(value, "id")?.unwrap_or(0),
            name: field(value, "name")?,
        })
    }
}
