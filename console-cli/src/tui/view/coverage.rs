//! Coverage: the share of the program that the numbers cover, lost data, and the overhead.

use ratatui::text::Line;
use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::report;
use turbowish_model::snapshot::units;

/// ` in polls 227.4% of 400%   covered 55 of 57 tasks   lost 0   overhead ~1.4% + monitor 0.2%`
pub(super) fn line(shown: &Snapshot, width: usize) -> Line<'static> {
    Line::from(fitting(&format!(" {}   ", polls(shown)), "", shown, width))
}

/// `in polls 227.4% of 400%`
pub(super) fn polls(shown: &Snapshot) -> String {
    let busy: u64 = shown.workers.iter().map(|worker| worker.busy_ns).sum();
    let share = units::share(units::ppb(busy, shown.window_ns));
    format!("in polls {share}% of {}%", shown.workers.len() * 100)
}

/// The text, followed by coverage, losses and overhead: in full if there is room, else the parts
/// that fit. `of` is the base of the overhead's percentage.
pub(super) fn fitting(text: &str, of: &str, shown: &Snapshot, width: usize) -> String {
    let covered = format!("{text}{}", covered(shown));
    let (full, short) = (report::lost_in_full(shown), lost(shown));
    let (both, all) = (report::own_cost(shown), report::own_cost_in_all(shown));
    let costs = [(&both, of), (&both, ""), (&all, "")];
    let losses = [&full, &short].into_iter();
    let mut forms = losses.flat_map(|lost| {
        costs.map(|(cost, of)| match cost {
            Some(cost) => format!("{covered}   {lost}   {cost}{of}"),
            None => format!("{covered}   {lost}"),
        })
    });
    forms
        .find(|form| form.chars().count() <= width)
        .unwrap_or_else(|| format!("{covered}   {short}"))
}

/// `covered 55 of 57 tasks`
fn covered(shown: &Snapshot) -> String {
    let ours = units::count(report::covered(shown));
    let all = shown
        .process
        .runtime_tasks
        .map_or(units::UNKNOWN.to_owned(), units::count);
    let unpolled = match report::unpolled(shown) {
        0 => String::new(),
        n => format!(" (up to {} unpolled)", units::count(n)),
    };
    format!("covered {ours} of {all} tasks{unpolled}")
}

/// `lost 0`
fn lost(shown: &Snapshot) -> String {
    format!("lost {}", units::count(report::lost(shown)))
}

/// ` 4 workers  in polls 227.4% of 400%  covered 55 of 57 tasks   lost 0`
pub(super) fn folded(shown: &Snapshot, width: usize) -> Line<'static> {
    let workers = shown.workers.len();
    let text = format!(" {workers} workers {}  ", polls(shown));
    Line::from(fitting(&text, "", shown, width))
}
