//! The program's own numbers in the report: the busiest ones, a line each.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::snapshot::column::{self, Column, Context, Style};
use crate::snapshot::text_table::{Header, TextTable, aligned};
use crate::snapshot::{CounterRow, Snapshot};

/// Counters and gauges that have a line.
const COUNTER_ROWS: usize = 5;

/// Those that were counted or set most often; nothing where there are none.
pub(super) fn lines(snapshot: &Snapshot) -> Vec<String> {
    let rows = &snapshot.counters.rows;
    if rows.is_empty() {
        return Vec::new();
    }
    let columns: Vec<Column<CounterRow>> = ["kind", "rate", "value", "min", "max", "proc"]
        .iter()
        .filter_map(|key| column::find(key))
        .collect();
    let mut heads = alloc::vec![Header::words("COUNTER", 23)];
    heads.extend(columns.iter().map(|column| {
        if column.unit.is_number() {
            Header::numbers(&*column.title, column.width)
        } else {
            Header::words(&*column.title, column.width)
        }
    }));
    let mut text_table = TextTable::new(heads);
    let (context, style) = (Context::of(snapshot), Style::default());
    for row in rows.iter().take(COUNTER_ROWS) {
        let mut cells = alloc::vec![row.name.to_string()];
        let rest = columns.iter();
        cells.extend(rest.map(|column| aligned(column, row, &context, style)));
        text_table.push(cells);
    }
    let mut lines = text_table.lines();
    let left = rows.len().saturating_sub(COUNTER_ROWS);
    if left > 0 {
        lines.push(format!("  ... {left} more"));
    }
    lines
}
