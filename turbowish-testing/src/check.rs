//! Checker of occupancy vectors: reads their file, plays them, compares every number and names the
//! traps.

mod compare;
mod fields;
mod format;

use crate::replay::{Outcome, Replay};

pub use self::compare::{Check, Got, Mismatch};
pub use self::format::{Vector, read};
pub(crate) use self::format::{array, call_event, number, object, text};

/// Result of a file of vectors.
#[derive(Debug)]
pub struct Checked {
    /// Number of vectors.
    pub vectors: usize,
    /// Number of values that were compared.
    pub compared: usize,
    /// Values that differ, in the order of the file.
    pub mismatches: Vec<Mismatch>,
}

/// Runs every vector of a file through the ledger.
///
/// # Errors
///
/// Names what of the text is not in the format.
pub fn check_text(text: &str) -> Result<Checked, String> {
    let vectors = read(text)?;
    let mut checked = Checked {
        vectors: vectors.len(),
        compared: 0,
        mismatches: Vec::new(),
    };
    for vector in &vectors {
        let mut check = Check::new(vector);
        check.replay(&play(vector));
        checked.compared += check.compared;
        checked.mismatches.append(&mut check.mismatches);
    }
    Ok(checked)
}

fn play(vector: &Vector) -> Outcome {
    let mut replay = Replay::default();
    vector.events.iter().for_each(|event| replay.event(event));
    replay.finish(vector.now)
}
