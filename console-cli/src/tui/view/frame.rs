//! The border of an overlay, in the glyphs of the current set.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use super::{put, text};
use crate::theme::Role;
use crate::tui::state::State;

/// A bordered area with a title above and text below.
#[derive(Debug)]
pub(super) struct Framed<'a> {
    pub(super) state: &'a State,
    pub(super) area: Rect,
}

impl Framed<'_> {
    /// Width of the inner area, in columns.
    pub(super) fn width(&self) -> usize {
        usize::from(self.area.width).saturating_sub(2)
    }

    /// Height of the inner area, in lines.
    pub(super) fn lines(&self) -> usize {
        usize::from(self.area.height).saturating_sub(2)
    }

    /// Draws the border, with a title on the left of the upper side, and text at the right ends
    /// of both sides.
    pub(super) fn draw(&self, frame: &mut Frame<'_>, title: &str, note: &str, below: &str) {
        let [top_left, top_right, bottom_left, bottom_right] = self.state.look.glyphs.corners;
        frame.render_widget(Clear, self.area);
        let bold = self.state.look.palette.style(Role::Title);
        let top = format!("{top_left}{}{top_right}", self.rule(title, note));
        put(frame, self.area, 0, Line::from(Span::styled(top, bold)));
        let bottom = format!("{bottom_left}{}{bottom_right}", self.rule("", below));
        put(frame, self.area, self.lines() + 1, Line::from(bottom));
    }

    /// Writes one line of the inner area.
    pub(super) fn put(&self, frame: &mut Frame<'_>, line: usize, content: &str, style: Style) {
        let side = Span::raw(self.state.look.glyphs.vertical.to_string());
        let content = text::left(&text::head(content, self.width()), self.width());
        let line_of = Line::from(vec![side.clone(), Span::styled(content, style), side]);
        if line < self.lines() {
            put(frame, self.area, line + 1, line_of);
        }
    }

    /// `-- begin ------ end `
    fn rule(&self, begin: &str, end: &str) -> String {
        let dash = self.state.look.glyphs.horizontal.to_string();
        let worded = |words: &str| {
            if words.is_empty() {
                String::new()
            } else {
                format!(" {words} ")
            }
        };
        let begin = text::head(
            &format!("{}{}", dash.repeat(2), worded(begin)),
            self.width(),
        );
        let room = self.width() - text::width(&begin);
        let end = worded(end);
        let end = if text::width(&end) < room {
            end
        } else {
            String::new()
        };
        format!("{begin}{}{end}", dash.repeat(room - text::width(&end)))
    }
}
