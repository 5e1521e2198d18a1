//! The attribute changes what is known about a program and nothing else: every case here says the same with it and without.
//!
//! `pass/` holds programs that must build and run, each comparing an instrumented item with the same item as written;
//! `fail/` holds mistakes and what the compiler is to say about them, in files named by the mistake. `tests/ui.rs` runs both.
//! The passing cases also build and run with the feature `enabled` off (`cargo test -p turbowish-ui-tests --no-default-features`).
//!
//! All cases are edition 2024, because trybuild takes the edition from this package.
