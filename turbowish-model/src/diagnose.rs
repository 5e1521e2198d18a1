//! Diagnosis: pitfalls that are present now. Contains the situation (a view of all tasks), the wait
//! graph and the alert rules.

pub mod alert;
pub mod situation;
pub mod wait_graph;
