//! Screens and keys of the console, as data: a scripted process, sizes, key sequences.

#[path = "../../../tests/monitor/alerts.rs"]
mod alerts;
mod fixture;
mod hostile;
mod keys;
mod manual;
mod preview;
mod problem;
mod records;
mod screens;
#[path = "../../../tests/monitor/server.rs"]
mod server;
mod shape;
mod source;
mod updates;
