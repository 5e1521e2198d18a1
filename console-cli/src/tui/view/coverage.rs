//! How much of the program the numbers speak of, what was lost, and what they cost.

use ratatui::text::Line;
use turbowish_model::report;
use turbowish_model::snapshot::Snapshot;
use turbowish_model::units;

use super::tasks;

/// ` in polls 227.4% of 400%   covered 55 of 57 tasks   lost 0   own cost ~1.4%`
pub(super) fn line(shown: &Snapshot, width: usize) -> Line<'static> {
    let text = format!(" {}   {}", polls(shown), coverage(shown));
    Line::from(with_cost(text, shown, width))
}

/// `in polls 227.4% of 400%`
pub(super) fn polls(shown: &Snapshot) -> String {
    let busy: u64 = shown.workers.iter().map(|worker| worker.busy_ns).sum();
    let share = units::share(units::ppb(busy, shown.window_ns));
    format!("in polls {share}% of {}%", shown.workers.len() * 100)
}

/// `covered 55 of 57 tasks   lost 0`
pub(super) fn coverage(shown: &Snapshot) -> String {
    let ours = units::count(tasks::alive(shown));
    let all = shown
        .process
        .runtime_tasks
        .map_or(units::UNKNOWN.to_owned(), units::count);
    let lost = units::count(report::lost(shown));
    format!("covered {ours} of {all} tasks   lost {lost}")
}

/// The text, and what accounting costs behind it, if that is known and there is room.
fn with_cost(text: String, shown: &Snapshot, width: usize) -> String {
    let Some(cost) = report::own_cost(shown) else {
        return text;
    };
    let all = format!("{text}   {cost}");
    if all.len() <= width { all } else { text }
}

/// ` 4 workers  in polls 227.4% of 400%  tasks 55  covered 55 of 57`
pub(super) fn folded(shown: &Snapshot, width: usize) -> Line<'static> {
    let workers = shown.workers.len();
    let text = format!(" {workers} workers {}  {}", polls(shown), coverage(shown));
    Line::from(with_cost(text, shown, width))
}
