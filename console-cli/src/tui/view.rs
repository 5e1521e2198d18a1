//! Drawing. The screen is a function of the state, and drawing changes nothing.

mod alert;
mod columns;
mod coverage;
mod detail;
mod empty;
mod frame;
mod help;
mod hints;
mod menu;
mod picker;
mod preview;
mod prompt;
mod record;
mod table;
mod tabs;
mod tasks;
mod title;
mod titles;
mod trend;
mod workers;

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use turbowish_model::snapshot::sanitize;

#[cfg(test)]
pub(crate) use self::hints::RECORD_HINTS;
use super::layout::{self, HeaderForm, ScreenLayout};
use super::state::{Overlay, Phase, State};
use crate::text;

/// Draws the whole screen.
pub(crate) fn view(state: &State, frame: &mut Frame<'_>) {
    let (width, height) = state.size;
    let area = frame.area();
    if width > area.width || height > area.height {
        // The terminal has just shrunk; the resize message is still to arrive.
        return;
    }
    draw(state, frame);
    scrub(frame.buffer_mut());
}

/// Replaces cells with unsafe characters, because names come from the process. ratatui drops
/// control characters, but not bidirectional controls.
fn scrub(buffer: &mut Buffer) {
    let is_bad = |symbol: &str| matches!(sanitize::line(symbol), Cow::Owned(_));
    for cell in &mut buffer.content {
        if is_bad(cell.symbol()) {
            cell.set_char(char::REPLACEMENT_CHARACTER);
        }
    }
}

fn draw(state: &State, frame: &mut Frame<'_>) {
    let screen = layout::of(state);
    match (&state.overlay, state.phase()) {
        (Some(Overlay::Picker(picker)), _) => {
            return picker::draw(state, picker, frame, &screen);
        }
        (_, Phase::Looking | Phase::Connecting) => empty::draw(state, frame, &screen),
        _ => process(state, frame, &screen),
    }
    hints::draw(state, frame, screen.hints);
    match &state.overlay {
        Some(Overlay::Help { page, scroll }) => help::draw(state, *page, *scroll, frame),
        Some(Overlay::Menu { typed, at }) => menu::draw(state, typed, *at, frame),
        Some(Overlay::Columns { at }) => columns::draw(state, *at, frame),
        Some(Overlay::Prompt { typed, .. }) => prompt::filter(state, typed, frame, &screen),
        Some(Overlay::Command(typed)) => prompt::command(state, typed, frame, &screen),
        Some(Overlay::Question(question)) => prompt::question(state, question, frame, &screen),
        Some(Overlay::Picker(_)) | None => {}
    }
}

/// The screen for a process that has sent data.
fn process(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let Some(shown) = &state.shown else { return };
    if screen.form == HeaderForm::Tiny {
        put(frame, screen.title, 0, Line::from(" 80x24 is better"));
    } else {
        title::draw(state, frame, screen.title);
    }
    if let Some(open) = &state.record {
        alert::draw_alone(state, frame, screen);
        return record::draw(state, open, frame, &layout::record(state.size));
    }
    if screen.form != HeaderForm::Tiny {
        tabs::draw(state, frame, screen.tabs);
        header(state, frame, screen);
    }
    alert::draw(state, frame, screen);
    if empty::nothing_annotated(state, shown) {
        empty::draw_unannotated(state, frame, screen);
    } else if empty::no_resources(state) {
        empty::draw_no_resources(state, frame, screen);
    } else if empty::no_alerts(state) {
        empty::draw_no_alerts(state, frame, screen);
    } else if empty::no_counters(state) {
        empty::draw_no_counters(state, frame, screen);
    } else {
        table::draw(state, frame, screen);
        preview::draw(state, frame, screen.preview);
        detail::draw(state, frame, screen.detail);
    }
}

/// Workers, tasks and coverage, on as many lines as are available.
fn header(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let Some(shown) = &state.shown else { return };
    let width = usize::from(screen.header.width);
    let lines = match screen.form {
        HeaderForm::Tiny => return,
        HeaderForm::Folded => vec![coverage::folded(shown, width)],
        HeaderForm::Full => {
            vec![
                workers::line(state, shown, width),
                tasks::line(state, shown, width),
                coverage::line(shown, width),
                trend::line(state, shown, width),
            ]
        }
        HeaderForm::Wide => vec![
            workers::with_polls(state, shown, width),
            tasks::with_coverage(state, shown, width),
            trend::line(state, shown, width),
        ],
    };
    // The advice about missing data replaces the workers.
    let from = usize::from(alert::advice(state).is_some());
    for (at, line) in lines.into_iter().enumerate().skip(from) {
        put(frame, screen.header, at, line);
    }
}

/// Writes one line of an area, cut at its end.
fn put(frame: &mut Frame<'_>, area: Rect, line: usize, text: Line<'_>) {
    if line < usize::from(area.height) {
        let y = area.y + u16::try_from(line).unwrap_or(0);
        frame.render_widget(
            text,
            Rect {
                y,
                height: 1,
                ..area
            },
        );
    }
}
