//! Source locations as text. Unknown columns, as of a task spawned without a macro, are omitted.

use turbowish_model::snapshot::Spot;

/// Where a poll ran that passed no await point, as far as that is known.
pub(crate) const FROM_BEGINNING: &str = "from its beginning on, or from an await that is not known";

/// `src/repl.rs:18:18`
pub(crate) fn spot(spot: &Spot) -> String {
    at(&spot.file, spot.line, spot.column)
}

/// `src/repl.rs:18:18`
pub(crate) fn at(file: &str, line: u32, column: u32) -> String {
    match column {
        0 => format!("{file}:{line}"),
        _ => format!("{file}:{line}:{column}"),
    }
}
