//! `cargo turbowish annotate` as a library. The console's `turbowish annotate` calls it, too.

mod annotate;
mod args;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
mod pattern;
mod program;
mod stdout;

pub use annotate::run as annotate;
pub use args::{AnnotateArgs, OriginArgs, Permission, examples, long_help};
pub use failure::Failure;
pub use pattern::Pattern;
pub use program::Program;
pub use stdout::print;
