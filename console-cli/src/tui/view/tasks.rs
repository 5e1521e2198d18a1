//! How many tasks do what; states that are not observed are left out.

use ratatui::text::Line;
use turbowish_model::snapshot::{Snapshot, TasksByState};
use turbowish_model::units;

use super::coverage;

/// ` tasks 55: 2 polling 3 ready 50 waiting`
pub(super) fn line(shown: &Snapshot) -> Line<'static> {
    Line::from(format!(" {}", states(shown, " ")))
}

/// The same with more room, and the coverage behind it.
pub(super) fn with_coverage(shown: &Snapshot) -> Line<'static> {
    Line::from(format!(
        " {}   {}",
        states(shown, "  "),
        coverage::coverage(shown)
    ))
}

/// Live covered tasks.
pub(super) fn alive(shown: &Snapshot) -> u64 {
    let TasksByState {
        polling,
        ready,
        waiting,
    } = shown.tasks_by_state;
    polling + ready.unwrap_or(0) + waiting
}

fn states(shown: &Snapshot, between: &str) -> String {
    let TasksByState {
        polling,
        ready,
        waiting,
    } = shown.tasks_by_state;
    let mut text = format!(
        "tasks {}: {} polling",
        units::count(alive(shown)),
        units::count(polling)
    );
    if let Some(ready) = ready {
        text.push_str(&format!("{between}{} ready", units::count(ready)));
    }
    text.push_str(&format!("{between}{} waiting", units::count(waiting)));
    text
}
