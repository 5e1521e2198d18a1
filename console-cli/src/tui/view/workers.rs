//! One bar for each worker: the share of the window that it spent in polls of covered tasks.

use ratatui::text::{Line, Span};
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Snapshot, Worker};

use super::coverage;
use crate::theme::Role;
use crate::tui::state::State;

/// Beyond this number of workers, each is one glyph.
const BARS: usize = 8;

/// ` w0 [####   ] 61.2%  w1 [####   ] 58.7%`
pub(super) fn line(state: &State, shown: &Snapshot, width: usize) -> Line<'static> {
    bars(state, shown, " ", width, 7, 2)
}

/// The same with longer bars, followed by the time in polls.
pub(super) fn with_polls(state: &State, shown: &Snapshot, width: usize) -> Line<'static> {
    let polls = format!("   {}", coverage::polls(shown));
    let mut line = bars(
        state,
        shown,
        " workers  ",
        width.saturating_sub(polls.len()),
        20,
        3,
    );
    line.push_span(Span::raw(polls));
    line
}

fn bars(
    state: &State,
    shown: &Snapshot,
    before: &'static str,
    width: usize,
    longest: usize,
    between: usize,
) -> Line<'static> {
    let workers = &shown.workers;
    if workers.len() > BARS {
        return levels(state, shown);
    }
    // `w0 [#######] 61.2%`: eleven columns around the bar, eight without any.
    let each = (width.saturating_sub(before.len()) + between) / workers.len().max(1);
    let bar = each.saturating_sub(between + 11).min(longest);
    let mut spans = vec![Span::raw(before)];
    for (at, worker) in workers.iter().enumerate() {
        let ppb = units::ppb(worker.busy_ns, shown.window_ns);
        let gap = if at == 0 { 0 } else { between };
        spans.push(Span::raw(format!("{:gap$}w{at}", "")));
        if bar > 2 {
            let role = if ppb > 1_000_000_000 {
                Role::BarOver
            } else {
                Role::Bar
            };
            let drawn = state.look.glyphs.bar(ppb.div_ceil(1_000), bar);
            spans.push(Span::raw(" ["));
            spans.push(Span::styled(drawn, state.look.palette.style(role)));
            spans.push(Span::raw("]"));
        }
        spans.push(Span::raw(format!("{:>5}%", units::share(ppb))));
    }
    Line::from(spans)
}

/// ` 16 workers [#*+=-:. ]  busiest w3 96.4%`
fn levels(state: &State, shown: &Snapshot) -> Line<'static> {
    let share = |worker: &Worker| units::ppb(worker.busy_ns, shown.window_ns);
    let glyphs: String = shown
        .workers
        .iter()
        .map(|worker| state.look.glyphs.level(share(worker).div_ceil(1_000)))
        .collect();
    let mut spans = vec![
        Span::raw(format!(" {} workers [", shown.workers.len())),
        Span::styled(glyphs, state.look.palette.style(Role::Bar)),
        Span::raw("]"),
    ];
    let busiest = shown
        .workers
        .iter()
        .enumerate()
        .max_by_key(|(at, worker)| (share(worker), usize::MAX - at));
    if let Some((at, worker)) = busiest {
        spans.push(Span::raw(format!(
            "  busiest w{at} {}%",
            units::share(share(worker))
        )));
    }
    Line::from(spans)
}
