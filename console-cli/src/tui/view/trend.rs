//! The last minute of four numbers of the header, each in its own scale.

use ratatui::text::{Line, Span};
use turbowish_model::snapshot::column::Value;
use turbowish_model::snapshot::minute::{CELLS, LastMinute, Series};
use turbowish_model::snapshot::{Snapshot, units};

use super::text;
use crate::theme::Role;
use crate::tui::state::State;

/// Forms, the best first: number of cells, and whether the largest value is named.
const FORMS: [(usize, bool); 4] = [
    (CELLS, true),
    (CELLS / 2, true),
    (CELLS, false),
    (CELLS / 2, false),
];

/// ` last 60 s   busy ..:-=+*# max 227.4%   tasks ..:-=+*# max 55   ready p99 ..`
pub(super) fn line(state: &State, shown: &Snapshot, width: usize) -> Line<'static> {
    let forms = FORMS.map(|(count, names_max)| form(state, shown, count, names_max));
    let mut fitting = forms.into_iter().filter(|line| line.width() <= width);
    fitting.next().unwrap_or_default()
}

fn form(state: &State, shown: &Snapshot, count: usize, names_max: bool) -> Line<'static> {
    let style = state.look.palette.style(Role::Bar);
    let frozen = state.pending.frozen_ns.and(state.pending.trends.as_ref());
    let trends = frozen.unwrap_or(&state.visit.trends);
    let mut spans = vec![Span::raw(" last 60 s")];
    for series in Series::ALL {
        let uptime_ns = shown.process.uptime_ns;
        let cells = trends.of(series, uptime_ns, count);
        let drawn = drawn(&cells, LastMinute::lived(uptime_ns, count), state);
        spans.push(Span::raw(format!("   {} ", label(series))));
        spans.push(Span::styled(drawn, style));
        let max = cells.iter().copied().flatten().max();
        if names_max {
            let max = max.map_or_else(
                || units::NO_SAMPLE.to_owned(),
                |max| value(state, series, max),
            );
            // Of a fixed width, so that the next one stays where it is.
            let max = text::left(&max, width(series));
            spans.push(Span::raw(format!(" max {max}")));
        }
    }
    Line::from(spans)
}

/// One glyph for each cell: a blank for one before the process began, and a mark for one of which
/// nothing is known. The process has lived for the last `lived` cells.
fn drawn(cells: &[Option<u64>], lived: usize, state: &State) -> String {
    let known: Vec<u64> = cells.iter().map(|cell| cell.unwrap_or(0)).collect();
    let before = cells.len().saturating_sub(lived);
    let glyphs = Value::Trend(&known).print(state.style());
    let glyphs = glyphs.chars().zip(cells).enumerate();
    let glyph = |(at, (glyph, cell)): (usize, (char, &Option<u64>))| match cell {
        None if at >= before => state.look.glyphs.unknown,
        _ => glyph,
    };
    glyphs.map(glyph).collect()
}

const fn label(series: Series) -> &'static str {
    match series {
        Series::Busy => "busy",
        Series::Tasks => "tasks",
        Series::Ready => "ready p99",
        Series::Wakes => "wakes",
    }
}

/// Columns of the longest value.
const fn width(series: Series) -> usize {
    match series {
        Series::Busy => units::SHARE_WIDTH + 1,
        Series::Tasks => units::COUNT_WIDTH,
        Series::Ready => units::DURATION_WIDTH,
        Series::Wakes => units::RATE_WIDTH + 2,
    }
}

fn value(state: &State, series: Series, number: u64) -> String {
    match series {
        Series::Busy => format!("{}%", units::share(number)),
        Series::Tasks => units::count(number),
        Series::Ready => units::duration(number, state.look.glyphs.micro),
        Series::Wakes => format!("{}/s", units::rate(number)),
    }
}
