//! Readings of all threads become totals, a history and the rows of a snapshot.

pub mod assemble;
pub mod history;
pub mod metric_rows;
pub mod read;
