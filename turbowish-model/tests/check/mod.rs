//! The one checker of occupancy vectors: reads their file, plays them, compares every number, names the traps.
#![allow(
    dead_code,
    unused_imports,
    reason = "each of the tests and the example that include it takes its part"
)]

mod compare;
mod format;

use turbowish_model::replay::Replay;

pub(crate) use self::compare::{Check, Got, Mismatch};
pub(crate) use self::format::{Vector, array, call_event, number, object, read, text};

/// What a file of vectors came to.
pub(crate) struct Checked {
    pub(crate) vectors: usize,
    /// How many numbers were compared.
    pub(crate) compared: usize,
    pub(crate) mismatches: Vec<Mismatch>,
}

/// Runs every vector of a file through the ledger; the error says what of the text is not in the format.
pub(crate) fn check_text(text: &str) -> Result<Checked, String> {
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

fn play(vector: &Vector) -> turbowish_model::replay::Outcome {
    let mut replay = Replay::default();
    vector.events.iter().for_each(|event| replay.event(event));
    replay.finish(vector.now)
}
