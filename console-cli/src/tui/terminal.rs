//! Ownership of the terminal. It is restored on quit, on error, on a panic and on a signal.

use std::io::{self, Write as _};
use std::panic;

use crossterm::cursor::{MoveTo, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::output::Output;
use super::state::State;
use super::view::view;

/// The terminal while the console owns it. Dropping it restores the terminal.
#[derive(Debug)]
pub(super) struct TerminalScreen {
    terminal: Terminal<CrosstermBackend<Output>>,
    output: Output,
    /// The console owns the terminal.
    ours: bool,
}

impl TerminalScreen {
    /// Takes the terminal. From here on a panic restores it before it is reported.
    pub(super) fn open() -> io::Result<Self> {
        let output = Output::of_stdout()?;
        let report = panic::take_hook();
        let pictures = output.clone();
        panic::set_hook(Box::new(move |panic| {
            // In order: output still on its way must not follow it.
            restore(&mut pictures.clone());
            report(panic);
        }));
        enable_raw_mode()?;
        let opened = fresh(&output).and_then(|terminal| {
            let mut screen = Self {
                terminal,
                output: output.clone(),
                ours: true,
            };
            execute!(screen.output, EnterAlternateScreen)?;
            Ok(screen)
        });
        // Dropping a screen restores the terminal.
        opened.inspect_err(|_| restore(&mut output.clone()))
    }

    /// Size of the terminal in columns and lines.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Whether the terminal has received the last frame, so that another one is useful.
    pub(super) fn is_ready(&self) -> bool {
        self.output.is_idle()
    }

    /// Waits until that may be the case.
    pub(super) async fn ready(&self) {
        self.output.drained().await;
    }

    pub(super) fn draw(&mut self, state: &State) -> io::Result<()> {
        self.terminal.draw(|frame| view(state, frame)).map(|_| ())
    }

    /// Clears the screen, so that the next draw starts from nothing.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        // `Terminal::clear` requests the cursor position, and the input thread would consume the
        // answer.
        execute!(self.output, Clear(ClearType::All))?;
        self.terminal = fresh(&self.output)?;
        Ok(())
    }

    /// Copies a text to the terminal's clipboard (OSC 52), which not every terminal supports.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        write!(self.output, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        self.output.flush()
    }

    /// Captures the mouse, or leaves it to the terminal.
    pub(super) fn mouse(&mut self, ours: bool) -> io::Result<()> {
        match ours {
            true => execute!(self.output, EnableMouseCapture),
            false => execute!(self.output, DisableMouseCapture),
        }
    }

    /// Restores the terminal, stops as Ctrl-Z stops a program, and takes the terminal again when
    /// continued.
    pub(super) fn suspend(&mut self, mouse: bool) -> io::Result<()> {
        self.leave();
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        self.enter(mouse)
    }

    /// Takes the terminal again after [`Self::leave`].
    pub(super) fn enter(&mut self, mouse: bool) -> io::Result<()> {
        enable_raw_mode()?;
        self.ours = true;
        execute!(self.output, EnterAlternateScreen)?;
        self.mouse(mouse)?;
        self.clear()
    }

    /// Clears the screen and restores the terminal: otherwise a multiplexer that was resized
    /// meanwhile would carry lines over to the screen below. If a terminal accepts no output, only
    /// its mode is restored.
    pub(super) fn leave(&mut self) {
        if !std::mem::take(&mut self.ours) {
            return;
        }
        // Failures can be reported to nobody.
        let _ = queue!(self.output, Clear(ClearType::All), MoveTo(0, 0));
        restore(&mut self.output);
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        self.leave();
    }
}

fn fresh(output: &Output) -> io::Result<Terminal<CrosstermBackend<Output>>> {
    Terminal::new(CrosstermBackend::new(output.clone()))
}

/// Restores the terminal. Failures can be reported to nobody.
fn restore(output: &mut Output) {
    let _ = execute!(output, DisableMouseCapture, LeaveAlternateScreen, Show);
    output.settle();
    let _ = disable_raw_mode();
}

/// Base64 for OSC 52: six bits per letter, padded with `=`.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for letter in 0..4 {
            let index = bits >> (18 - 6 * letter) & 63;
            text.push(match letter <= three.len() {
                true => char::from(LETTERS[index as usize]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn bytes_become_letters() {
        let check = |text: &str, expected| assert_eq!(base64(text.as_bytes()), expected);
        check("", "");
        check("f", "Zg==");
        check("fo", "Zm8=");
        check("foo", "Zm9v");
        check("foob", "Zm9vYg==");
        check("µs", "wrVz");
    }
}
