//! Collection: turns readings of all threads into totals, a history and the rows of a snapshot.

pub mod assemble;
pub mod call_events;
pub mod delay_rows;
pub mod history;
pub mod metric_rows;
pub mod read;
pub mod slow_limits;
pub mod slowest_rows;
