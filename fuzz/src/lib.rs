//! Everything that reads bytes from outside, as functions that panic on a defect.
//!
//! `cargo fuzz run --no-cfg-fuzzing --features libfuzzer NAME` looks for new inputs. `corpus/NAME`
//! keeps those that reach new code, and `cargo test` replays them. An input that has found a defect
//! stays there. `exports` and `rings` read the same bytes as `recording` and `bodies`, and so
//! their corpora: `cargo fuzz run ... exports fuzz/corpus/recording`.

mod filters;
mod messages;
mod recording;

pub use self::filters::filters;
pub use self::messages::messages;
pub use self::recording::{bodies, exports, recording, rings};
pub use cargo_turbowish::fuzzing::annotate;
pub use turbowish_cli::fuzzing::reports;

/// A function of bytes that panics if they reveal a defect.
pub type Target = fn(&[u8]);

/// All targets, and the names of their corpora.
pub const TARGETS: [(&str, Target); 8] = [
    ("filters", filters),
    ("messages", messages),
    ("recording", recording),
    ("recording", exports),
    ("bodies", bodies),
    ("bodies", rings),
    ("reports", reports),
    ("annotate", annotate),
];

/// Runs a target on each file that is named as an argument.
///
/// # Errors
/// A file that cannot be read.
pub fn replay_arguments(target: Target) -> std::io::Result<()> {
    for file in std::env::args_os().skip(1) {
        target(&std::fs::read(file)?);
    }
    Ok(())
}
