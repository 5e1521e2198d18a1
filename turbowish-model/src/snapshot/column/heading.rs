//! A column of a table in the making: everything about it but the function that reads its values.

use alloc::borrow::Cow;

use super::{Column, Context, Read, Unit, Value};

/// A column without its values.
#[derive(Clone, Copy)]
pub(in crate::snapshot) struct Heading {
    key: &'static str,
    title: &'static str,
    unit: Unit,
    width: usize,
    rank: u8,
    meaning: &'static str,
    fields: &'static [&'static str],
}

impl Heading {
    /// A column as wide as its title, shown only on request.
    pub(in crate::snapshot) const fn new(
        key: &'static str,
        title: &'static str,
        unit: Unit,
    ) -> Self {
        Self {
            key,
            title,
            unit,
            width: title.len(),
            rank: u8::MAX,
            meaning: "",
            fields: &[],
        }
    }

    /// Sets [`Column::width`].
    pub(in crate::snapshot) const fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// Sets [`Column::rank`].
    pub(in crate::snapshot) const fn rank(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }

    /// Sets [`Column::meaning`].
    pub(in crate::snapshot) const fn meaning(mut self, meaning: &'static str) -> Self {
        self.meaning = meaning;
        self
    }

    /// Sets [`Column::fields`].
    pub(in crate::snapshot) const fn fields(mut self, fields: &'static [&'static str]) -> Self {
        self.fields = fields;
        self
    }

    /// The column whose values are read from a row by this function.
    pub(in crate::snapshot) const fn read<R>(
        self,
        read: for<'a> fn(&'a R, &Context) -> Value<'a>,
    ) -> Column<R> {
        Column {
            key: Cow::Borrowed(self.key),
            title: Cow::Borrowed(self.title),
            meaning: self.meaning,
            unit: self.unit,
            width: self.width,
            rank: self.rank,
            fields: self.fields,
            read: Read::Plain(read),
        }
    }
}
