//! The terminal is given back as it was found: on quit, on error, on a panic and on a signal.

use std::io::{self, Stdout, stdout};
use std::panic;

use crossterm::cursor::{MoveTo, Show};
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

    /// Gives the terminal back, stops as ctrl-Z stops a program, and takes it again when continued.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        leave();
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        enter()?;
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
    execute!(stdout(), EnterAlternateScreen)
}

/// Empties our screen and gives the terminal back: a multiplexer that was resized meanwhile would
/// else carry lines of ours over to the screen below.
fn leave() {
    let _ = execute!(stdout(), Clear(ClearType::All), MoveTo(0, 0));
    restore();
}

/// Nobody is left to tell if one of these fails.
fn restore() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
