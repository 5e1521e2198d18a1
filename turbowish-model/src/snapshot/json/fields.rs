//! Fields of rows: their names in JSON and CSV, and how each type of value is spelled.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::read::Parsed;
use crate::account::resource::Kind;
use crate::snapshot::alert::{Alert, BehindWait, Occurrence, Party, Point, Severity};
use crate::snapshot::column::Row;
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::quantile::Distribution;
use crate::snapshot::units;
use crate::snapshot::{
    Aim, Caller, Claim, HolderRow, IntentRow, LongestRow, MetricKind, PauseRow, PollRow, Spot,
    StackRow, TaskState, WaiterRow, WakerRow,
};

/// Sees the fields of a row: the name of each, and its value. In names, times end in `_ns`, sizes
/// in `_bytes`, millionths in `_ppm`.
pub trait See {
    /// Sees the next field.
    fn see(&mut self, name: &'static str, value: FieldValue<'_>);
}

impl<F: FnMut(&'static str, FieldValue<'_>)> See for F {
    fn see(&mut self, name: &'static str, value: FieldValue<'_>) {
        self(name, value);
    }
}

/// The value of a field that is spelled in its own way.
pub(in crate::snapshot) type Read<R> = for<'a> fn(&'a R) -> FieldValue<'a>;

/// Sets a field of a row from a saved report; `None` if the value has another type.
pub type Setter<R> = fn(&mut R, &Parsed) -> Option<()>;

/// Value of a field.
#[derive(Debug)]
pub enum FieldValue<'a> {
    /// A string.
    Text(&'a str),
    /// A string or `null`.
    OptionalText(Option<&'a str>),
    /// An integer.
    Number(u64),
    /// An integer or `null`.
    Optional(Option<u64>),
    /// A signed integer or `null`.
    Signed(Option<i64>),
    /// `true` or `false`.
    Flag(bool),
    /// An object with `n`, `sum_ns`, `max_ns` and percentiles.
    Population(&'a Distribution),
    /// The calls of a task, outermost first.
    Stack(&'a [StackRow]),
    /// The callers of a proc.
    Callers(&'a [Caller]),
    /// A position in a source file; `null` if unknown.
    Spot(Option<&'a Spot>),
    /// The state of a task's waker.
    Waker(Option<&'a WakerRow>),
    /// The pause of a task, or `null`.
    Pause(Option<&'a PauseRow>),
    /// A task's last poll.
    LastPoll(Option<&'a PollRow>),
    /// The longest use of a resource.
    Longest(Option<&'a LongestRow>),
    /// Resources that a task holds or waits for.
    Claims(&'a [Claim]),
    /// Resources that the calls of a task intend to use.
    Aims(&'a [Aim]),
    /// Intents to use a resource.
    Intents(&'a [IntentRow]),
    /// Attributes of a task or a proc.
    Attributes(&'a [(String, String)]),
    /// Holders of a resource.
    Holders(&'a [HolderRow]),
    /// Waiters of a resource.
    Waiters(&'a [WaiterRow]),
    /// Users of the ends of a channel.
    Ends(&'a [Option<String>]),
    /// Integers in chronological order.
    Series(&'a [u64]),
    /// Names.
    Names(Vec<&'a str>),
    /// Sentences.
    Texts(&'a [String]),
    /// Parties of an alert, or tasks that wait because of it.
    Parties(&'a [Party]),
    /// An await point in a proc, or `null`.
    Point(Option<&'a Point>),
    /// The chain of waits of an alert.
    Steps(&'a Alert),
    /// The times that an alert was active.
    Occurrences(&'a [Occurrence]),
    /// Where tasks waited because of an alert.
    BehindWaits(&'a [BehindWait]),
}

impl fmt::Display for FieldValue<'_> {
    /// Prints plain values as they are, and the names of some lists; prints nothing for missing
    /// values and for other lists and objects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::OptionalText(Some(text)) => f.write_str(text),
            Self::Number(n) | Self::Optional(Some(n)) => write!(f, "{n}"),
            Self::Signed(Some(n)) => write!(f, "{n}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Claims(claims) => {
                names(f, claims.iter().map(|claim| Some(claim.resource.as_str())))
            }
            Self::Aims(aims) => names(f, aims.iter().map(|aim| Some(aim.resource.as_str()))),
            Self::Intents(rows) => names(f, rows.iter().map(|row| row.task.as_deref())),
            Self::Attributes(pairs) => {
                let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
                f.write_str(&pairs.collect::<Vec<_>>().join(", "))
            }
            Self::Holders(holders) => names(f, holders.iter().map(|row| row.task.as_deref())),
            Self::Waiters(waiters) => names(f, waiters.iter().map(|row| row.task.as_deref())),
            Self::Ends(users) => names(f, users.iter().map(Option::as_deref)),
            Self::Series(numbers) => f.write_str(&series(numbers)),
            Self::Names(names) => f.write_str(&names.join(", ")),
            Self::Texts(texts) => f.write_str(&texts.join("; ")),
            Self::Parties(parties) => {
                names(f, parties.iter().map(|party| Some(party.name.as_str())))
            }
            Self::OptionalText(None)
            | Self::Optional(None)
            | Self::Signed(None)
            | Self::Population(_)
            | Self::Stack(_)
            | Self::Callers(_)
            | Self::Spot(_)
            | Self::Waker(_)
            | Self::Pause(_)
            | Self::LastPoll(_)
            | Self::Longest(_)
            | Self::Point(_)
            | Self::Steps(_)
            | Self::Occurrences(_)
            | Self::BehindWaits(_) => Ok(()),
        }
    }
}

/// Names in one cell; `?` stands for a task that is not instrumented.
fn names<'a>(
    f: &mut fmt::Formatter<'_>,
    names: impl Iterator<Item = Option<&'a str>>,
) -> fmt::Result {
    let names: Vec<&str> = names.map(|name| name.unwrap_or(units::UNKNOWN)).collect();
    f.write_str(&names.join(", "))
}

/// A row that can be printed as JSON, read back, and merged with another one.
pub trait Record: Row + Default + Clone {
    /// Passes the fields to `see`, in the order in which they are printed.
    fn each_field(&self, see: &mut dyn See);

    /// The names of the fields, in the same order.
    #[must_use]
    fn field_names() -> Vec<&'static str> {
        let mut names = Vec::new();
        Self::default().each_field(&mut |name, _: FieldValue<'_>| names.push(name));
        names
    }

    /// What sets each of the fields, in the same order. Apart from them, because a program that
    /// reads no reports has no use for their code.
    fn setters() -> &'static [Setter<Self>];

    /// Merges another row of the same group into this one.
    fn merge(&mut self, other: &Self);
}

/// A value that is a field of a row.
pub(in crate::snapshot) trait Spelled {
    /// How JSON and CSV spell it.
    fn spell(&self) -> FieldValue<'_>;
}

/// Spells each type as a variant of [`FieldValue`].
macro_rules! spelled {
    ($($type:ty: |$value:ident| $spelled:expr;)*) => {$(
        impl Spelled for $type {
            fn spell(&self) -> FieldValue<'_> {
                let $value = self;
                $spelled
            }
        }
    )*};
}

spelled! {
    u64: |n| FieldValue::Number(*n);
    u32: |n| FieldValue::Number(u64::from(*n));
    bool: |flag| FieldValue::Flag(*flag);
    String: |text| FieldValue::Text(text);
    Option<u64>: |n| FieldValue::Optional(*n);
    Option<i64>: |n| FieldValue::Signed(*n);
    Option<String>: |text| FieldValue::OptionalText(text.as_deref());
    Distribution: |samples| FieldValue::Population(samples);
    Spot: |spot| FieldValue::Spot(Some(spot));
    Option<Spot>: |spot| FieldValue::Spot(spot.as_ref());
    Option<WakerRow>: |waker| FieldValue::Waker(waker.as_ref());
    Option<PauseRow>: |pause| FieldValue::Pause(pause.as_ref());
    Option<PollRow>: |poll| FieldValue::LastPoll(poll.as_ref());
    Option<LongestRow>: |row| FieldValue::Longest(row.as_ref());
    Option<Point>: |point| FieldValue::Point(point.as_ref());
    Vec<u64>: |numbers| FieldValue::Series(numbers);
    Vec<String>: |texts| FieldValue::Texts(texts);
    Vec<Option<String>>: |users| FieldValue::Ends(users);
    Vec<(String, String)>: |pairs| FieldValue::Attributes(pairs);
    Vec<Caller>: |callers| FieldValue::Callers(callers);
    Vec<StackRow>: |calls| FieldValue::Stack(calls);
    Vec<Claim>: |claims| FieldValue::Claims(claims);
    Vec<Aim>: |aims| FieldValue::Aims(aims);
    Vec<HolderRow>: |rows| FieldValue::Holders(rows);
    Vec<WaiterRow>: |rows| FieldValue::Waiters(rows);
    Vec<IntentRow>: |rows| FieldValue::Intents(rows);
    Vec<Party>: |parties| FieldValue::Parties(parties);
    Vec<Occurrence>: |times| FieldValue::Occurrences(times);
    Vec<BehindWait>: |waits| FieldValue::BehindWaits(waits);
    TaskState: |state| FieldValue::Text(state.word());
    Kind: |kind| FieldValue::Text(kind.word());
    MetricKind: |kind| FieldValue::Text(kind.word());
    Severity: |severity| FieldValue::Text(severity.word());
    Pitfall: |pitfall| FieldValue::Text(pitfall.id());
}

/// A list of numbers in one cell.
fn series(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(", ")
}
