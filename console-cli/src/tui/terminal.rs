//! The terminal is given back as it was found: on quit, on error, on a panic and on a signal.

use std::io::{self, Stdout, Write as _, stdout};
use std::panic;

use crossterm::cursor::{MoveTo, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::state::State;
use super::view::view;

/// The terminal while it is ours. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal. From here on a panic gives it back before it is reported.
    pub(super) fn open() -> io::Result<Self> {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            report(panic);
        }));
        enter()?;
        // From here on the terminal is given back by `drop`, also if the next line fails.
        match fresh() {
            Ok(terminal) => Ok(Self { terminal }),
            Err(fault) => {
                restore();
                Err(fault)
            }
        }
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    pub(super) fn draw(&mut self, state: &State) -> io::Result<()> {
        self.terminal.draw(|frame| view(state, frame)).map(|_| ())
    }

    /// The next draw starts from nothing.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        // `Terminal::clear` asks where the cursor is, and the thread that reads keys takes the answer.
        execute!(stdout(), Clear(ClearType::All))?;
        self.terminal = fresh()?;
        Ok(())
    }

    /// Gives a text to the terminal's clipboard (OSC 52); not every terminal takes it.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = stdout();
        write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        out.flush()
    }

    /// Takes the mouse, or leaves it to the terminal.
    pub(super) fn mouse(&mut self, ours: bool) -> io::Result<()> {
        match ours {
            true => execute!(stdout(), EnableMouseCapture),
            false => execute!(stdout(), DisableMouseCapture),
        }
    }

    /// Gives the terminal back, stops as ctrl-Z stops a program, and takes it again when continued.
    pub(super) fn suspend(&mut self, mouse: bool) -> io::Result<()> {
        self.lend();
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        self.take_back(mouse)
    }

    /// Gives the terminal to another program, until [`Screen::take_back`].
    pub(super) fn lend(&mut self) {
        leave();
    }

    /// Takes the terminal again; the next draw starts from nothing.
    pub(super) fn take_back(&mut self, mouse: bool) -> io::Result<()> {
        enter()?;
        self.mouse(mouse)?;
        self.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn fresh() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    Terminal::new(CrosstermBackend::new(stdout()))
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture)
}

/// Empties our screen and gives the terminal back: a multiplexer that was resized meanwhile would
/// else carry lines of ours over to the screen below.
fn leave() {
    let _ = execute!(stdout(), Clear(ClearType::All), MoveTo(0, 0));
    restore();
}

/// Nobody is left to tell if one of these fails.
fn restore() {
    let _ = execute!(stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Bytes as the terminal wants them: six bits a letter, filled up with `=`.
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
