//! Number of tasks by state; states that are not observed are omitted.

use ratatui::text::Line;
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Snapshot, TasksByState, report};

use super::{coverage, text};
use crate::tui::state::State;

/// ` tasks 55: 2 polling 3 ready 50 waiting`
pub(super) fn line(state: &State, shown: &Snapshot, width: usize) -> Line<'static> {
    let mut text = format!(" {}", states(shown, " "));
    for each in [ready(state, shown, &[99]), wakes(shown)] {
        // A cut number would be wrong.
        if text::width(&text) + text::width(&each) > width {
            break;
        }
        text.push_str(&each);
    }
    Line::from(text)
}

/// The same with more room, followed by coverage and overhead.
pub(super) fn with_coverage(state: &State, shown: &Snapshot, width: usize) -> Line<'static> {
    let (states, ready) = (states(shown, "  "), ready(state, shown, &[50, 99]));
    let text = format!(" {states}{ready}{}   ", wakes(shown));
    let line = coverage::fitting(&text, " of a core", shown, width);
    let latency = line.replacen(" ready p50 ", " ready latency p50 ", 1);
    Line::from(if text::width(&latency) <= width {
        latency
    } else {
        line
    })
}

/// `   ready p99 88.0µs`: the time from the wake-up of tasks to their poll; empty if none was
/// woken.
fn ready(state: &State, shown: &Snapshot, percents: &[u8]) -> String {
    let time = |ns| units::duration(ns, state.look.glyphs.micro);
    let latency = &shown.ready_latency;
    let told = percents.iter().filter_map(|&percent| {
        let ns = latency.percentile(Percentile::whole(percent))?;
        Some(format!("p{percent} {}", time(ns)))
    });
    let mut told: Vec<String> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    if told.len() > 1 {
        told.push(format!("max {}", time(latency.max_ns)));
    }
    format!("   ready {}", told.join("  "))
}

/// `   wakes 83.1k/s`; empty if there were none.
fn wakes(shown: &Snapshot) -> String {
    match shown.ready_latency.n {
        0 => String::new(),
        n => {
            let wakes = units::rate(units::micro_per_second(n, shown.window_ns));
            format!("   wakes {wakes}/s")
        }
    }
}

fn states(shown: &Snapshot, between: &str) -> String {
    let TasksByState {
        polling,
        ready,
        waiting,
        paused,
    } = shown.tasks_by_state;
    let mut text = format!(
        "tasks {}: {} polling",
        units::count(report::covered(shown)),
        units::count(polling)
    );
    if let Some(ready) = ready {
        text.push_str(&format!("{between}{} ready", units::count(ready)));
    }
    text.push_str(&format!("{between}{} waiting", units::count(waiting)));
    if paused > 0 {
        text.push_str(&format!("{between}{} paused", units::count(paused)));
    }
    text
}
