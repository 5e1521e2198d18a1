//! One line says about a row what its columns leave out.

use turbowish_model::column::Style;
use turbowish_model::snapshot::{AwaitRow, ProcRow, TaskRow};
use turbowish_model::units;

/// `kv::snapshot::write  src/snapshot.rs:90  called by kv::snapshot::run`
pub(crate) fn proc(row: &ProcRow) -> String {
    let mut line = format!("{}  {}:{}", row.proc, row.file, row.line);
    let callers: Vec<&str> = row
        .callers
        .iter()
        .map(|caller| caller.proc.as_str())
        .collect();
    if !callers.is_empty() {
        line.push_str("  called by ");
        line.push_str(&callers.join(", "));
    }
    line
}

/// `snapshot  kv::snapshot::run > kv::snapshot::write  snapshot.rs:97:18-37  polls 689`
pub(crate) fn task(row: &TaskRow, style: Style) -> String {
    let mut line = row.name.clone();
    let mut chain: Vec<&str> = row.stack.iter().map(|call| call.proc.as_str()).collect();
    if chain.is_empty() {
        chain.push(&row.root);
    }
    line.push_str("  ");
    line.push_str(&chain.join(" > "));
    if row.stack_truncated {
        line.push_str(" > ..");
    }
    if let Some(place) = row.stack.iter().rev().find_map(|call| call.place.as_ref()) {
        line.push_str(&format!("  {}:{}:{}", place.file, place.line, place.column));
    }
    line.push_str(&format!(
        "  polls {}  ran {}",
        units::count(row.polls),
        units::duration(row.running_ns, style.micro)
    ));
    line
}

/// `src/snapshot.rs:112:9-30  self.file.sync_data()  in kv::snapshot::write`
pub(crate) fn await_point(row: &AwaitRow) -> String {
    let place = &row.place;
    let columns = if place.end_line == place.line {
        format!("{}-{}", place.column, place.end_column)
    } else {
        format!("{}-{}:{}", place.column, place.end_line, place.end_column)
    };
    format!(
        "{}:{}:{columns}  {}  in {}",
        place.file, place.line, place.expr, row.proc
    )
}
