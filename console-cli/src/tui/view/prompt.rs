//! Text input and questions, in place of the hint line.

use ratatui::Frame;
use ratatui::layout::Position;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;
use turbowish_model::snapshot::units;

use super::{hints, put, text};
use crate::theme::Role;
use crate::tui::commands;
use crate::tui::layout::ScreenLayout;
use crate::tui::state::{Question, State, Typed};
use crate::tui::update;

/// ` filter: conn_      Enter keeps  ^U erases  Esc undoes`
pub(super) fn filter(state: &State, typed: &Typed, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let counts = state.table().counts();
    let told = format!(
        " {} of {} rows",
        units::count(counts.matched),
        units::count(counts.total)
    );
    typing(state, " filter: ", typed, &told, frame, screen);
}

/// ` :sort hold_      Enter runs  Tab completes  Esc closes`, and the completions above it.
pub(super) fn command(state: &State, typed: &Typed, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let (_, words) = commands::completions(state, &typed.text);
    let told = match (commands::parse(&typed.text), &words[..]) {
        // There are several completions, or the only one is not typed in full.
        (_, [first, rest @ ..]) if !rest.is_empty() || !typed.text.ends_with(first.as_str()) => {
            format!(" {}", words.join("  "))
        }
        (Ok((command, _)), _) => {
            let name = format!("{} {}", command.name, command.takes);
            format!(" {}: {}", name.trim_end(), command.help)
        }
        (Err(_), _) => String::new(),
    };
    typing(state, " :", typed, &told, frame, screen);
}

/// The input line, and the error or the message above it.
fn typing(
    state: &State,
    name: &str,
    typed: &Typed,
    told: &str,
    frame: &mut Frame<'_>,
    screen: &ScreenLayout,
) {
    let palette = state.look.palette;
    // On a terminal without a hint line it replaces the last line of the table.
    let line = last_line(screen);
    let width = usize::from(line.width);
    let (before, behind) = typed.parts();
    let room = width.saturating_sub(name.len() + 1);
    let mut shown = text::tail(before, room);
    let cursor = name.len() + text::width(&shown);
    if !behind.is_empty() {
        shown += &text::head(behind, room.saturating_sub(text::width(&shown)));
    }
    let used = name.len() + text::width(&shown);
    let fault = typed.fault.as_deref();
    let role = match fault {
        Some(_) => Role::Alert,
        None => Role::Plain,
    };
    let begin = Line::from(vec![
        Span::raw(name.to_owned()),
        Span::styled(shown, palette.style(role)),
    ]);
    let hint = hints::line(state, width.saturating_sub(used + 3));
    frame.render_widget(Clear, line);
    put(frame, line, 0, text::apart(begin, Line::from(hint), width));
    frame.set_cursor_position(Position {
        x: line.x + u16::try_from(cursor).unwrap_or(0),
        y: line.y,
    });
    frame.render_widget(Clear, screen.detail);
    let above = match fault {
        Some(fault) => text::head(&format!(" {fault}"), width),
        None => text::head(told, width),
    };
    let above = Span::styled(above, palette.style(role));
    put(frame, screen.detail, 0, Line::from(above));
}

/// ` Disarm accounting in kv (pid 4242)? [y/N]`
pub(super) fn question(
    state: &State,
    question: &Question,
    frame: &mut Frame<'_>,
    screen: &ScreenLayout,
) {
    let shown = state.shown.as_ref();
    let process = shown.map_or_else(String::new, |shown| {
        format!("{} (pid {})", shown.process.name, shown.process.pid)
    });
    let text = match question {
        Question::Switch { arm: true } => format!(" Arm accounting in {process}? [y/N]"),
        Question::Switch { arm: false } => format!(" Disarm accounting in {process}? [y/N]"),
        Question::Pause(hold) => {
            let name = &hold.name;
            format!(" Pause {name}? It is not polled until it is resumed. y pause, Esc no")
        }
        Question::Leave => {
            let who = update::who(&state.visit.holds);
            format!(" {who} paused by this console: r resume and quit, k keep paused, s stay")
        }
        Question::Debugger(hold) => {
            let name = &hold.name;
            format!(" Pause {name} and debug {process}? g gdb, l lldb, Esc no")
        }
    };
    let text = text::head(&text, usize::from(last_line(screen).width));
    let line = last_line(screen);
    frame.render_widget(Clear, line);
    put(
        frame,
        line,
        0,
        Line::from(Span::styled(text, state.look.palette.style(Role::Warning))),
    );
}

fn last_line(screen: &ScreenLayout) -> ratatui::layout::Rect {
    if screen.hints.height > 0 {
        return screen.hints;
    }
    let table = screen.table;
    ratatui::layout::Rect {
        y: table.bottom().saturating_sub(1),
        height: 1.min(table.height),
        ..table
    }
}
