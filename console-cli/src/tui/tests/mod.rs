//! Screens and keys of the console, as data: a scripted process, sizes, key sequences.

mod fixture;
mod keys;
mod manual;
mod screens;
mod updates;
