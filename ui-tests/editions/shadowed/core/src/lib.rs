//! Many a workspace has a crate that its others name `core`.

/// What it is asked.
#[must_use]
pub fn answer() -> u32 {
    42
}
