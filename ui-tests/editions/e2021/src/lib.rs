//! The shared cases, as edition 2021 reads them.
#![cfg(test)]
#![allow(
    unused,
    dead_code,
    unreachable_pub,
    improper_ctypes_definitions,
    clippy::all,
    clippy::dbg_macro,
    clippy::todo,
    clippy::unimplemented,
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "the cases are about such code"
)]

/// What the cases may expect.
const EDITION: u32 = 2021;

#[macro_use]
#[path = "../../shared/twice.rs"]
mod twice;

#[path = "../../shared/arguments.rs"]
mod arguments;
#[path = "../../shared/async_closures.rs"]
mod async_closures;
#[path = "../../shared/bodies.rs"]
mod bodies;
#[path = "../../shared/corners.rs"]
mod corners;
#[path = "../../shared/drops.rs"]
mod drops;
#[path = "../../shared/generics.rs"]
mod generics;
#[path = "../../shared/inside.rs"]
mod inside;
#[path = "../../shared/lifetimes.rs"]
mod lifetimes;
#[path = "../../shared/made.rs"]
mod made;
#[path = "../../shared/moves.rs"]
mod moves;
#[path = "../../shared/names.rs"]
mod names;
#[path = "../../shared/old.rs"]
mod old;
#[path = "../../shared/opaque.rs"]
mod opaque;
#[path = "../../shared/outcomes.rs"]
mod outcomes;
#[path = "../../shared/own_macros.rs"]
mod own_macros;
#[path = "../../shared/qualifiers.rs"]
mod qualifiers;
#[path = "../../shared/receivers.rs"]
mod receivers;
#[path = "../../shared/sends.rs"]
mod sends;
#[path = "../../shared/tails.rs"]
mod tails;
#[path = "../../shared/traits.rs"]
mod traits;
