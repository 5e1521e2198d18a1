//! Screens and keys of the console, as data: a scripted process, sizes, key sequences.

#[path = "../../tests/monitor/alerts.rs"]
mod alerts;
mod bar;
mod counters;
mod editor;
mod fixture;
mod histories;
mod hostile;
mod keys;
mod manual;
mod mutes;
mod past;
mod pauses;
mod preview;
mod problem;
mod recorded;
mod records;
mod saves;
mod screens;
#[path = "../../tests/monitor/server.rs"]
mod server;
mod settings;
mod shape;
mod source;
#[path = "../../tests/monitor/taint.rs"]
mod taint;
mod tapes;
mod updates;
