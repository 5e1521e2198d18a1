//! Placeholder, filled in by the first commits.
fn main() {}
