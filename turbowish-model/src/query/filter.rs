//! A parsed filter, and which rows it keeps: what is unknown matches nothing but `field:?`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::pattern::Pattern;
use super::{QueryError, parse};
use crate::column::{Column, Context, Row, Shown, Style, Value};

/// A filter of one table's rows.
#[derive(Debug)]
pub struct Filter<R: 'static> {
    root: Node<R>,
}

/// A part of a filter.
#[derive(Debug)]
pub(super) enum Node<R: 'static> {
    All(Vec<Node<R>>),
    Any(Vec<Node<R>>),
    Not(Box<Node<R>>),
    Word(Pattern),
    Field(Column<R>, Vec<Wanted>),
    Compare(Column<R>, Comparison, u64),
}

/// A value that a field may have.
#[derive(Debug)]
pub(super) enum Wanted {
    Unknown,
    Text(Pattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
}

impl<R: Row> Filter<R> {
    /// Reads a filter; blank keeps every row.
    ///
    /// # Errors
    /// Where the text breaks the grammar, names no column of this table, or compares a duration
    /// without a unit.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self {
            root: parse::filter(text)?,
        })
    }

    /// Whether the filter keeps every row whatever it holds.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        matches!(&self.root, Node::All(parts) if parts.is_empty())
    }

    /// Whether the filter keeps this row.
    #[must_use]
    pub fn keeps(&self, row: &R, context: &Context) -> bool {
        self.keeps_with(row, context, &[])
    }

    /// Whether the filter keeps this row, of which whoever filters knows these words beside its own.
    #[must_use]
    pub fn keeps_with(&self, row: &R, context: &Context, words: &[&str]) -> bool {
        self.root.eval(row, context, words) == Some(true)
    }
}

impl<R> Filter<R> {
    /// Shows each field of a row that the filter looks at; `searched` are those in which a bare word is.
    pub(super) fn fields(&self, searched: &[&'static str], see: &mut dyn FnMut(&str)) {
        self.root.fields(searched, see);
    }
}

impl<R> Node<R> {
    fn fields(&self, searched: &[&'static str], see: &mut dyn FnMut(&str)) {
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

impl<R: Row> Node<R> {
    /// Three-valued: `None` is "cannot be known", and its negation cannot either.
    fn eval(&self, row: &R, context: &Context, words: &[&str]) -> Option<bool> {
        let each = |part: &Self| part.eval(row, context, words);
        match self {
            Self::All(parts) => fold(parts.iter().map(each), false),
            Self::Any(parts) => fold(parts.iter().map(each), true),
            Self::Not(part) => each(part).map(|kept| !kept),
            Self::Word(pattern) => {
                let mut found = |text: &str| pattern.is_in(text);
                Some(words.iter().any(|word| found(word)) || row.search(&mut found))
            }
            Self::Field(column, wanted) => {
                let value = column.value(row, context);
                fold(wanted.iter().map(|wanted| wanted.is(&value)), true)
            }
            Self::Compare(column, comparison, limit) => match column.value(row, context) {
                Value::Unknown => None,
                Value::Signed(n) if n < 0 => Some(comparison.holds_below_zero()),
                value => Some(value.number().is_some_and(|n| comparison.holds(n, *limit))),
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

impl Wanted {
    fn is(&self, value: &Value<'_>) -> Option<bool> {
        match (self, value) {
            (Self::Unknown, value) => Some(*value == Value::Unknown),
            (Self::Text(_), Value::Unknown) => None,
            (Self::Text(pattern), Value::Text(text)) => Some(pattern.is_in(text)),
            (Self::Text(pattern), Value::Ranked { word, .. }) => Some(pattern.is_in(word)),
            (Self::Text(pattern), Value::Names(names)) => {
                Some(names.iter().any(|name| pattern.is_in(name)))
            }
            (Self::Text(pattern), Value::Place { .. }) => {
                let text = |places| {
                    value.print(Style {
                        places,
                        ..Style::default()
                    })
                };
                Some(pattern.is_in(&text(Shown::Full)) || pattern.is_all_of(&text(Shown::Short)))
            }
            // Part of a number is another number: 5 is not meant to find 50.
            (Self::Text(pattern), value) => Some(pattern.is_all_of(&value.print(Style::default()))),
        }
    }
}

impl Comparison {
    /// Whether it holds for whatever is below zero; limits never are.
    pub(super) const fn holds_below_zero(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual)
    }

    pub(super) const fn holds(self, value: u64, limit: u64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::LessOrEqual => value <= limit,
            Self::More => value > limit,
            Self::MoreOrEqual => value >= limit,
            Self::Equal => value == limit,
        }
    }
}
