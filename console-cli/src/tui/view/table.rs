//! A table: titles, as many rows as fit, and the number of rows out of sight.

use ratatui::Frame;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::Accounting;
use turbowish_model::snapshot::column::{Context, Shown, Style, Unit, Value};
use turbowish_model::snapshot::units;

use super::{alert, detail, put, text, titles};
use crate::theme::{Palette, Role};
use crate::tui::layout::{self, FULL_PLACE, GUTTER, HeaderForm, Placed, ScreenLayout};
use crate::tui::state::{Phase, State, View};

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let columns = layout::columns(state.table(), screen.table.width);
    put(frame, screen.titles, 0, titles::line(state, &columns));
    let height = layout::table_rows(state);
    let held = state.table().counts().held;
    let first = state.table().first_shown(height);
    let end = held.min(first + height);
    let selected = state.table().selected();
    for row in first..end {
        put(
            frame,
            screen.table,
            row - first,
            line(state, &columns, row, selected == Some(row)),
        );
    }
    let lines = usize::from(screen.table.height);
    let counted = out_of_sight(state, first, end);
    if !counted.is_empty() && lines > 1 {
        put(frame, screen.table, lines - 1, Line::from(counted));
    } else if held == 0 && !state.table().filter().is_empty() {
        let told = "   no row matches the filter; Esc shows all";
        put(frame, screen.table, 0, Line::from(told));
    } else if screen.form == HeaderForm::Wide && lines > held {
        put(frame, screen.table, held, total(state, &columns));
    }
}

/// ` ... 3 more below`
fn out_of_sight(state: &State, above: usize, end: usize) -> String {
    let counts = state.table().counts();
    let below = counts.held.saturating_sub(end);
    let left_out = counts.matched.saturating_sub(counts.kept as u64);
    let mut words = Vec::new();
    if above > 0 {
        words.push(format!("{above} above"));
    }
    if below > 0 {
        words.push(format!("{below} more below"));
    }
    if left_out > 0 {
        words.push(format!("{} not sent", units::count(left_out)));
    }
    if counts.hidden > 0 {
        words.push(format!("{} hidden (X shows them)", counts.hidden));
    }
    let forgotten = state.shown.as_ref().map_or(0, |it| it.alerts_forgotten);
    if state.view == View::Alerts && forgotten > 0 {
        words.push(format!("{} more are forgotten", units::count(forgotten)));
    }
    if let Some(at) = state.rows_are_of() {
        let at = units::time_of_day(at, state.now.utc_offset_s);
        words.push(format!("the rows are of {at}"));
    }
    if words.is_empty() {
        String::new()
    } else {
        format!(" ... {}", words.join(", "))
    }
}

/// `   17 functions  227.4  = time in polls of all workers`
fn total(state: &State, columns: &[Placed]) -> Line<'static> {
    let held = state.table().counts().held;
    if state.table().grouping().is_some() {
        return Line::default();
    }
    let [first, second, ..] = columns else {
        return Line::default();
    };
    if state.view != View::Procs || second.face.key != "run" || !state.table().filter().is_empty() {
        return Line::default();
    }
    let context = state.context();
    let shares =
        (0..held).filter_map(|row| state.table().value(row, second.index, &context).number());
    let procs = text::left(&format!("{held} functions"), first.width + second.gap);
    let sum = text::right(&units::share(shares.sum()), second.width);
    Line::from(format!(
        "{}{procs}{sum}  = time in polls of all workers: every instant of a covered poll is charged to exactly one function",
        " ".repeat(GUTTER)
    ))
}

fn line(state: &State, columns: &[Placed], row: usize, selected: bool) -> Line<'static> {
    let palette = state.look.palette;
    let table = state.table();
    let context = state.context();
    let set_aside = table.absent(row).is_some() || table.muted(row).is_some();
    let dim = set_aside || table.is_over(row) || values_are_old(state);
    let mark = if selected {
        state.look.glyphs.selection
    } else {
        ' '
    };
    let warns = table.warns(row) && !dim;
    let paused = table.is_paused(row) && !dim;
    let (letter, severe) = match table.severity(row).filter(|_| !dim) {
        Some(severity) => alert::mark(severity),
        None if warns => ("!", Role::Warning),
        None if paused => ("P", Role::Paused),
        None if !dim && has_slept(state, columns, row, &context) => ("z", Role::Warning),
        None => (" ", Role::Plain),
    };
    // A group shows whether it can be unfolded; its rows are drawn like other rows.
    let fold = match table.is_folded(row) {
        Some(true) => "+",
        Some(false) => "-",
        None => " ",
    };
    let mut spans = vec![
        Span::raw(mark.to_string()),
        Span::styled(letter, palette.style(severe)),
        Span::raw(fold),
    ];
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            spans.push(Span::raw(" ".repeat(column.gap)));
        }
        let value = table.value(row, column.index, &context);
        let role = match role(column, &value) {
            _ if dim => Role::Dim,
            // The warning is about the state.
            _ if warns && column.face.key == "state" => Role::Warning,
            role => role,
        };
        let cell = cell(column, &value, state.style());
        spans.push(Span::styled(cell, palette.style(role)));
        if column.bar > 0 {
            spans.push(Span::raw(" "));
            spans.push(bar(state, column, row, &context, dim));
        }
    }
    let line = Line::from(spans);
    if selected {
        line.patch_style(Palette::selected())
    } else {
        line
    }
}

/// Whether RUN%, where it is a column, is mostly time off the processor.
fn has_slept(state: &State, columns: &[Placed], row: usize, context: &Context) -> bool {
    let run = columns.iter().find(|column| column.face.key == "run");
    let share = run.and_then(|run| state.table().value(row, run.index, context).number());
    share.is_some_and(|share| detail::slept(state, row, share))
}

/// Whether the values were measured some time ago, and are not measured now.
fn values_are_old(state: &State) -> bool {
    let shown = state.shown.as_ref();
    let disarmed = shown.is_some_and(|shown| shown.process.accounting == Accounting::Disarmed);
    let is_silent = matches!(state.phase(), Phase::Stale { .. } | Phase::Gone { .. });
    disarmed || is_silent || state.rows_are_of().is_some()
}

fn role(column: &Placed, value: &Value<'_>) -> Role {
    match value {
        Value::NoSample | Value::Unknown => Role::Dim,
        Value::Trend(_) => Role::Bar,
        Value::Text(word) if column.face.key == "state" && word == "polling" => Role::Live,
        Value::Text(word) if column.face.key == "state" && word == "paused" => Role::Paused,
        _ => Role::Plain,
    }
}

fn cell(column: &Placed, value: &Value<'_>, style: Style) -> String {
    let room = column.width;
    let places = if room < FULL_PLACE {
        Shown::Short
    } else {
        Shown::Full
    };
    let printed = value.print(Style { places, ..style });
    let names = match value {
        Value::Names(names) => Some((names, 0)),
        Value::FirstNames(names, more) => Some((names, *more)),
        _ => None,
    };
    if let Some((names, more)) = names.filter(|_| text::width(&printed) > room) {
        return text::left(&text::fit_names(names, more, room), room);
    }
    match column.face.unit {
        Unit::Text => text::left(&text::fit(&printed, room), room),
        Unit::Place => text::left(&text::fit_path(&printed, "/", room), room),
        _ if column.opens() && !matches!(value, Value::Open(_)) => {
            text::right(&printed, room - 1) + " "
        }
        _ => text::right(&printed, room),
    }
}

fn bar(state: &State, column: &Placed, row: usize, context: &Context, dim: bool) -> Span<'static> {
    let ppb = state
        .table()
        .value(row, column.index, context)
        .number()
        .unwrap_or(0);
    let role = match ppb {
        _ if dim => Role::Dim,
        0..=1_000_000_000 => Role::Bar,
        _ => Role::BarOver,
    };
    let bar = state.look.glyphs.bar(ppb.div_ceil(1_000), column.bar);
    Span::styled(bar, state.look.palette.style(role))
}
