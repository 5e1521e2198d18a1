//! How much of the program the numbers speak of, and what was lost.

use ratatui::text::Line;
use turbowish_model::snapshot::{Lost, Snapshot};
use turbowish_model::units;

use super::tasks;

/// ` in polls 227.4% of 400%   covered 55 of 57 tasks   lost 0`
pub(super) fn line(shown: &Snapshot) -> Line<'static> {
    Line::from(format!(" {}   {}", polls(shown), coverage(shown)))
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
    format!(
        "covered {ours} of {all} tasks   lost {}",
        units::count(lost(&shown.lost))
    )
}

/// ` 4 workers  in polls 227.4% of 400%  tasks 55  covered 55 of 57`
pub(super) fn folded(shown: &Snapshot) -> Line<'static> {
    let workers = shown.workers.len();
    Line::from(format!(
        " {workers} workers {}  {}",
        polls(shown),
        coverage(shown)
    ))
}

fn lost(lost: &Lost) -> u64 {
    let Lost {
        tasks,
        procs,
        late_attach,
        orphan_end,
        forced_pop,
        clock_backwards,
    } = *lost;
    tasks + procs + late_attach + orphan_end + forced_pop + clock_backwards
}
