//! Text table: text to the left, numbers to the right, one space in between. A column is as wide as
//! its widest cell. A cell wider than 1,000 sticks out of its column instead of widening the other
//! rows.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;

use crate::snapshot::column::{Column, Context, Row, Style, Value};
use crate::snapshot::sanitize;

/// Maximum width of a column: each row takes as much memory as its columns are wide.
const WIDEST: usize = 1_000;

/// Header of one column.
#[derive(Clone, Debug)]
pub struct Header {
    title: String,
    width: usize,
    right: bool,
}

impl Header {
    /// A column of text with a minimum width.
    #[must_use]
    pub fn words(title: impl Into<String>, width: usize) -> Self {
        Self {
            title: title.into(),
            width,
            right: false,
        }
    }

    /// A column of numbers with a minimum width.
    #[must_use]
    pub fn numbers(title: impl Into<String>, width: usize) -> Self {
        Self {
            title: title.into(),
            width,
            right: true,
        }
    }

    /// The header of a table's column. Text columns take the width they need. The first column has
    /// a minimum width, so that tables stay aligned while their rows change.
    fn of<R>(column: &Column<R>, first: bool) -> Self {
        if column.unit.is_number() {
            Self::numbers(&*column.title, column.width)
        } else {
            Self::words(&*column.title, if first { column.width.min(21) } else { 0 })
        }
    }
}

/// Rows of text below headers.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    heads: Vec<Header>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Creates an empty table.
    #[must_use]
    pub const fn new(heads: Vec<Header>) -> Self {
        Self {
            heads,
            rows: Vec::new(),
        }
    }

    /// Creates a table of these columns of these rows.
    #[must_use]
    pub fn of<R: Row>(columns: &[Column<R>], rows: &[R], context: &Context, style: Style) -> Self {
        let heads = columns.iter().enumerate();
        let mut text_table = Self::new(
            heads
                .map(|(at, column)| Header::of(column, at == 0))
                .collect(),
        );
        for row in rows {
            text_table.push(
                columns
                    .iter()
                    .map(|column| aligned(column, row, context, style))
                    .collect(),
            );
        }
        text_table
    }

    /// Adds a row. Cells beyond the headers are ignored. Each cell is printed on one line, whatever
    /// its content.
    pub fn push(&mut self, cells: Vec<String>) {
        let cells = cells.into_iter().map(|cell| match sanitize::line(&cell) {
            Cow::Borrowed(_) => cell,
            Cow::Owned(shown) => shown,
        });
        self.rows.push(cells.collect());
    }

    /// Returns the lines, header first, without trailing spaces.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut widths: Vec<usize> = self
            .heads
            .iter()
            .map(|head| head.width.max(columns_of(&head.title)))
            .collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                let needed = columns_of(cell);
                if needed <= WIDEST {
                    *width = (*width).max(needed);
                }
            }
        }
        let titles = self.heads.iter().map(|head| &head.title);
        let mut lines = alloc::vec![self.line(titles, &widths)];
        lines.extend(self.rows.iter().map(|row| self.line(row.iter(), &widths)));
        lines
    }

    fn line<'a>(&self, cells: impl Iterator<Item = &'a String>, widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, head), width) in cells.zip(&self.heads).zip(widths) {
            // The formatter's own widths end at 65,535.
            let blanks = iter::repeat_n(' ', width.saturating_sub(columns_of(cell)));
            if head.right {
                line.extend(blanks);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.extend(blanks);
            }
            line.push(' ');
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// A cell with the trailing space that aligns `1.61ms` with `38.4ms+`.
#[must_use]
pub fn aligned<R>(column: &Column<R>, row: &R, context: &Context, style: Style) -> String {
    let value = column.value(row, context);
    let mut text = value.print(style);
    if column.grows() && !matches!(value, Value::Open(_)) {
        text.push(' ');
    }
    text
}

/// Width of a text in terminal columns; every character counts as one.
fn columns_of(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::{Header, TextTable};
    use alloc::string::{String, ToString};
    use alloc::vec;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut text_table = TextTable::new(vec![
            Header::words("PROC", 6),
            Header::numbers("N", 0),
            Header::words("AT", 0),
        ]);
        text_table.push(vec!["a".to_string(), "5".to_string(), String::new()]);
        text_table.push(vec![
            "µ::longer".to_string(),
            "1234".to_string(),
            "x.rs:1".to_string(),
        ]);
        assert_eq!(
            text_table.lines(),
            [
                "PROC         N AT",
                "a            5",
                "µ::longer 1234 x.rs:1"
            ]
        );
    }

    #[test]
    fn an_extremely_wide_cell_sticks_out_of_its_column() {
        let check = |width: usize, expected: usize| {
            let mut text_table =
                TextTable::new(vec![Header::words("A", 2), Header::numbers("N", 2)]);
            text_table.push(vec!["x".repeat(width), "1".to_string()]);
            text_table.push(vec!["y".to_string(), "2".repeat(width)]);
            let lines = text_table.lines();
            assert_eq!(lines[1].len(), width + 1 + expected, "{width}");
            assert_eq!(lines[2].len(), expected + 1 + width, "{width}");
        };
        check(1_000, 1_000);
        check(1_001, 2);
        check(70_000, 2);
    }
}
