//! How many tasks do what; states that are not observed are left out.

use ratatui::text::Line;
use turbowish_model::quantile::Percentile;
use turbowish_model::report;
use turbowish_model::snapshot::{Snapshot, TasksByState};
use turbowish_model::units::{self, Micro};

use super::coverage;

/// ` tasks 55: 2 polling 3 ready 50 waiting`
pub(super) fn line(shown: &Snapshot) -> Line<'static> {
    Line::from(format!(" {}{}", states(shown, " "), ready(shown, &[99])))
}

/// The same with more room, and behind it the coverage and the cost.
pub(super) fn with_coverage(shown: &Snapshot, width: usize) -> Line<'static> {
    let cost = report::own_cost(shown);
    let cost = cost.map_or_else(String::new, |cost| format!("   {cost} of a core"));
    let states = states(shown, "  ");
    let ready = ready(shown, &[50, 99]);
    let line = format!(" {states}{ready}   {}{cost}", coverage::coverage(shown));
    let latency = line.replacen(" ready p50 ", " ready latency p50 ", 1);
    Line::from(if latency.len() <= width {
        latency
    } else {
        line
    })
}

/// `   ready p99 88.0us   wakes 83.1k/s`: how long tasks that were woken waited for their poll; nothing as long as none was.
fn ready(shown: &Snapshot, percents: &[u8]) -> String {
    let latency = &shown.ready_latency;
    let told = percents.iter().filter_map(|&percent| {
        let ns = latency.percentile(Percentile::whole(percent))?;
        Some(format!("p{percent} {}", units::duration(ns, Micro::Ascii)))
    });
    let mut told: Vec<String> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    if told.len() > 1 {
        told.push(format!(
            "max {}",
            units::duration(latency.max_ns, Micro::Ascii)
        ));
    }
    let wakes = units::rate(units::micro_per_second(latency.n, shown.window_ns));
    format!("   ready {}   wakes {wakes}/s", told.join("  "))
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
