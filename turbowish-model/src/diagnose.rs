//! Pitfalls that are present now: a view of all tasks, the graph of their waits, the rules.

pub mod alert;
pub mod situation;
pub mod wait_graph;
