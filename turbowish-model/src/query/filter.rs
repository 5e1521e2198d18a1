//! Parsed filter. Unknown values match nothing except `field:?`.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::budget::Budget;
use super::pattern::Pattern;
use super::texts::Texts;
use super::{QueryError, parse};
use crate::snapshot::column::{Column, Context, Row, Shown, Style, Unit, Value};

/// A filter of one table's rows.
#[derive(Debug)]
pub struct Filter<R: 'static> {
    root: FilterNode,
    /// The columns that it names.
    columns: Vec<Column<R>>,
}

/// A column that a filter names.
#[derive(Debug)]
pub(super) struct NamedColumn {
    /// Its number among those of the filter.
    pub(super) nth: usize,
    pub(super) key: Cow<'static, str>,
    pub(super) unit: Unit,
    pub(super) fields: &'static [&'static str],
}

/// A node of a filter's tree.
#[derive(Debug)]
pub(super) enum FilterNode {
    All(Vec<FilterNode>),
    Any(Vec<FilterNode>),
    Not(Box<FilterNode>),
    Word(Pattern),
    Field(NamedColumn, Vec<Wanted>),
    Compare(NamedColumn, Comparison, u64),
}

/// A value that a filter looks for in a field.
#[derive(Debug)]
pub(super) enum Wanted {
    Unknown,
    /// A part of a text, or the whole of another value.
    Text(Pattern),
    /// The whole value.
    Whole(Pattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
    NotEqual,
}

impl<R: Row> Filter<R> {
    /// Parses a filter; a blank one keeps every row.
    ///
    /// # Errors
    ///
    /// If the text violates the grammar, names no column of this table, or compares a duration
    /// without a unit.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let (root, columns) = parse::filter(text)?;
        Ok(Self { root, columns })
    }

    /// Whether the filter keeps every row, whatever its content.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        self.root.keeps_all()
    }

    /// Whether the filter keeps this row.
    #[must_use]
    pub fn keeps(&self, row: &R, context: &Context) -> bool {
        self.keeps_with(row, context, &[])
    }

    /// Whether the filter keeps this row; `words` are further words known of the row.
    #[must_use]
    pub fn keeps_with(&self, row: &R, context: &Context, words: &[&str]) -> bool {
        let looked = Looked {
            row,
            columns: &self.columns,
            context,
            words,
            budget: &Budget::unlimited(),
            texts: OnceCell::new(),
        };
        self.root.eval(&looked) == Some(true)
    }
}

impl FilterNode {
    /// Whether it keeps every row, whatever its content.
    pub(super) fn keeps_all(&self) -> bool {
        matches!(self, Self::All(parts) if parts.is_empty())
    }

    /// Whether it keeps this row, by its columns. The result is meaningless once the budget is
    /// exhausted.
    pub(super) fn keeps<R: Row>(
        &self,
        columns: &[Column<R>],
        row: &R,
        context: &Context,
        budget: &Budget<'_>,
    ) -> bool {
        let looked = Looked {
            row,
            columns,
            context,
            words: &[],
            budget,
            texts: OnceCell::new(),
        };
        self.eval(&looked) == Some(true)
    }

    /// Passes each field of a row that the filter reads to `see`; `searched` are the fields
    /// searched by bare words.
    pub(super) fn fields(&self, searched: &[&'static str], see: &mut dyn FnMut(&str)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.fields(searched, see));
            }
            Self::Not(part) => part.fields(searched, see),
            Self::Word(_) => searched.iter().for_each(|field| see(field)),
            Self::Field(column, _) | Self::Compare(column, ..) => {
                column.fields.iter().for_each(|field| see(field));
            }
        }
    }
}

/// What a filter reads of a row. It is evaluated by code that is compiled once for all tables.
trait AnyRow {
    /// Texts searched by bare words.
    fn texts(&self) -> &Texts;

    /// Value of the column with this number in the filter; `None` if the budget is exhausted.
    fn value(&self, column: usize) -> Option<Value<'_>>;

    fn budget(&self) -> &Budget<'_>;
}

/// A row under evaluation.
struct Looked<'r, R: 'static> {
    row: &'r R,
    columns: &'r [Column<R>],
    context: &'r Context,
    /// Further words known of the row.
    words: &'r [&'r str],
    budget: &'r Budget<'r>,
    /// Built on first use.
    texts: OnceCell<Texts>,
}

/// Cost of reading a column's value, in steps.
const READ: u64 = 8;

impl<R: Row> AnyRow for Looked<'_, R> {
    fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| {
            let mut texts = Texts::default();
            self.words.iter().for_each(|word| texts.push(word));
            self.row.search(&mut |text| {
                texts.push(text);
                false
            });
            texts
        })
    }

    fn value(&self, column: usize) -> Option<Value<'_>> {
        let may = self.budget.spend(READ);
        may.then(|| self.columns[column].value(self.row, self.context))
    }

    fn budget(&self) -> &Budget<'_> {
        self.budget
    }
}

impl FilterNode {
    /// Three-valued: `None` is unknown, and so is its negation.
    fn eval(&self, looked: &dyn AnyRow) -> Option<bool> {
        let each = |part: &Self| part.eval(looked);
        match self {
            Self::All(parts) => fold(parts.iter().map(each), false),
            Self::Any(parts) => fold(parts.iter().map(each), true),
            Self::Not(part) => each(part).map(|kept| !kept),
            Self::Word(pattern) => {
                let texts = looked.texts();
                let may = looked.budget().spend(pattern.steps(texts));
                may.then(|| pattern.is_in(texts))
            }
            Self::Field(column, wanted) => {
                let value = looked.value(column.nth)?;
                let said = ValueTexts::of(&value);
                let each = |wanted: &Wanted| wanted.is(said.as_ref(), looked.budget());
                fold(wanted.iter().map(each), true)
            }
            Self::Compare(column, comparison, limit) => match looked.value(column.nth)? {
                Value::Unknown => None,
                Value::Signed(n) if n < 0 => Some(comparison.holds_below_zero()),
                value => Some(match value.number() {
                    Some(n) => comparison.holds(n, *limit),
                    // A missing value differs from any value.
                    None => *comparison == Comparison::NotEqual,
                }),
            },
        }
    }
}

/// Kleene's "or" (`decisive` true) or "and" (`decisive` false).
fn fold(parts: impl Iterator<Item = Option<bool>>, decisive: bool) -> Option<bool> {
    let mut result = Some(!decisive);
    for part in parts {
        match part {
            Some(value) if value == decisive => return Some(decisive),
            None => result = None,
            Some(_) => {}
        }
    }
    result
}

/// The texts of a value.
#[derive(Default)]
struct ValueTexts {
    /// Texts of which a part may match.
    partly: Texts,
    /// Texts that must match as a whole: a part of a number is another number, and 5 must not find
    /// 50.
    wholly: Texts,
}

impl ValueTexts {
    /// Texts of a value; `None` if it is unknown.
    fn of(value: &Value<'_>) -> Option<Self> {
        let mut said = Self::default();
        match value {
            Value::Unknown => return None,
            Value::Text(text) => said.partly.push(text),
            Value::Ranked { word, .. } => said.partly.push(word),
            Value::Names(names) | Value::FirstNames(names, _) => {
                names.iter().for_each(|name| said.partly.push(name))
            }
            Value::Place { .. } => {
                let text = |places| {
                    value.print(Style {
                        places,
                        ..Style::default()
                    })
                };
                said.partly.push(&text(Shown::Full));
                said.wholly.push(&text(Shown::Short));
            }
            value => said.wholly.push(&value.print(Style::default())),
        }
        Some(said)
    }
}

impl Wanted {
    fn is(&self, said: Option<&ValueTexts>, budget: &Budget<'_>) -> Option<bool> {
        let (pattern, said) = match (self, said) {
            (Self::Unknown, said) => return Some(said.is_none()),
            (Self::Text(pattern) | Self::Whole(pattern), said) => (pattern, said?),
        };
        let steps = pattern.steps(&said.partly) + pattern.steps(&said.wholly);
        budget.spend(steps).then(|| {
            let partly = match self {
                Self::Whole(_) => pattern.is_all_of(&said.partly),
                _ => pattern.is_in(&said.partly),
            };
            partly || pattern.is_all_of(&said.wholly)
        })
    }
}

impl Comparison {
    /// Whether the comparison is true for any negative value; limits are never negative.
    pub(super) const fn holds_below_zero(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual | Self::NotEqual)
    }

    pub(super) const fn holds(self, value: u64, limit: u64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::LessOrEqual => value <= limit,
            Self::More => value > limit,
            Self::MoreOrEqual => value >= limit,
            Self::Equal => value == limit,
            Self::NotEqual => value != limit,
        }
    }
}
