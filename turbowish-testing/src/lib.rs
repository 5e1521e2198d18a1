//! What the tests of several crates share. Only dev-dependencies name this crate: no program that
//! uses TurboWish links it.
//!
//! - [`replay`] drives the ledgers of the live process with events, and [`validate`] reports events
//!   that cannot have happened. Both take the events of [`turbowish_model::event`].
//! - [`streams`] makes random streams of calls, and [`accountant`] counts them a second time.
//!   [`mock`] is an executor whose streams have every kind of event.
//! - [`check`] compares the occupancy vectors with a replay or with a live process, and
//!   [`event_file`] reads and writes streams as files.
//! - [`numbers`] are the same in every run.
//! - [`situations`] builds the situations on which alerts are tested.

pub mod accountant;
pub mod check;
pub mod event_file;
pub mod mock;
pub mod names;
pub mod numbers;
pub mod replay;
pub mod situations;
pub mod streams;
pub mod validate;
