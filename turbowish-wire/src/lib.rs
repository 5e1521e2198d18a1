//! Placeholder, filled in by the first commits.
