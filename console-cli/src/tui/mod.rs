//! `turbowish top`: messages change the state, the screen is a function of it, and the loop below is
//! the only place that touches terminal, clock, files and network.

mod clock;
mod detail;
mod glyphs;
mod history;
mod hit;
mod keys;
mod layout;
mod message;
mod preview;
mod record;
mod rows;
mod source;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod theme;
mod update;
mod view;
mod worst;

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{MissedTickBehavior, interval};
use turbowish_model::units::SECOND;
use turbowish_wire::client::Target;

use self::clock::Clock;
pub(crate) use self::glyphs::GlyphSet;
use self::message::{Effect, Message, Mouse};
use self::record::Excerpt;
use self::source::{Source, Told};
use self::state::{Look, Peer, State, View, Window};
use self::terminal::Screen;
use self::theme::Palette;
pub(crate) use self::theme::Theme;
use self::update::update;
use crate::record::problem::source as files;
use crate::signals::Signals;

/// How the console starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// The process to watch; without one a lone process is attached to, and several are listed.
    pub(crate) target: Option<Target>,
    /// Length of the window; `None` reaches back to the start of accounting.
    pub(crate) window: Option<Duration>,
    /// Time between snapshots.
    pub(crate) interval: Duration,
    /// Column by which procs are sorted at first; empty is the default.
    pub(crate) sort: String,
    /// Filter of the procs at first.
    pub(crate) filter: String,
    /// The glyph set, if one was asked for.
    pub(crate) glyphs: Option<GlyphSet>,
    /// The theme, if one was asked for.
    pub(crate) theme: Option<Theme>,
}

/// At most ten draws a second; a key is drawn at once.
const DRAW: Duration = Duration::from_millis(100);

/// Runs the console until its user leaves it, or the signal that it returns ends it.
///
/// # Errors
/// The terminal cannot be used.
pub(crate) fn run(options: Options) -> io::Result<Option<SignalKind>> {
    // What reads and decodes rows has a thread of its own: a key never waits for ten thousand of them.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let mut screen = Screen::open()?;
    let state = first_state(&options, screen.size()?);
    runtime.block_on(attend(&mut screen, state, options.interval))
}

fn first_state(options: &Options, size: (u16, u16)) -> State {
    let variable = |name: &str| std::env::var(name).ok();
    let look = Look {
        palette: Palette::of_environment(options.theme, variable),
        glyphs: options
            .glyphs
            .unwrap_or_else(|| GlyphSet::of_environment(variable))
            .glyphs(),
        mouse: true,
    };
    let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let mut state = State::new(
        look,
        size,
        Window(options.window.map(ns)),
        ns(options.interval),
    );
    state.link.peer = options.target.clone().map(|target| {
        let pid = if let Target::Pid(pid) = target {
            Some(pid)
        } else {
            None
        };
        Peer { pid, target }
    });
    let context = state.context();
    let procs = state.tables.of_mut(View::Procs);
    procs.set_filter(options.filter.clone(), &context);
    if !options.sort.is_empty() {
        procs.sort(
            rows::Order {
                key: options.sort.clone(),
                invert: false,
            },
            &context,
        );
    }
    state
}

/// The loop: one message, one update, perhaps one effect, perhaps one draw.
async fn attend(
    screen: &mut Screen,
    mut state: State,
    every: Duration,
) -> io::Result<Option<SignalKind>> {
    let clock = Clock::start();
    let (sender, mut inbox) = mpsc::channel(64);
    read_input(sender.clone());
    let mut source = Source::new(sender, every);
    let mut signals = Signals::new()?;
    let mut ticks = interval(DRAW);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut drawing = Drawing::default();
    loop {
        source.follow(state.wanted());
        let told = tokio::select! {
            signal = signals.first() => return Ok(Some(signal)),
            told = next(&mut inbox) => told?,
            _ = ticks.tick() => Told { generation: None, message: Message::Tick(clock.now()) },
        };
        // What an older subscription still sends speaks of other rows.
        if !source.is_current(&told) {
            continue;
        }
        drawing.note(&told.message);
        let held = state.pending.held.is_some();
        update(&mut state, Message::Tick(clock.now()));
        drawing.changed |= held && state.pending.held.is_none();
        match update(&mut state, told.message) {
            Some(Effect::Quit) => return Ok(None),
            Some(Effect::Redraw) => screen.clear()?,
            Some(Effect::Suspend) => {
                screen.suspend(state.look.mouse)?;
                state.size = screen.size()?;
            }
            Some(Effect::Switch(accounting)) => source.switch(accounting),
            Some(Effect::Copy(text)) => screen.copy(&text)?,
            Some(Effect::Mouse(ours)) => screen.mouse(ours)?,
            None => {}
        }
        read_source(&mut state);
        if drawing.is_due(&state) {
            screen.draw(&state)?;
        }
    }
}

/// Files are read here, once for each piece that an open record or the preview shows.
fn read_source(state: &mut State) {
    let open = state.record.clone().or_else(|| preview::record(state));
    let Some(open) = open else { return };
    let Some(excerpt) = open.excerpt() else {
        return;
    };
    if open.source.as_ref().is_some_and(|(of, _)| *of == excerpt) {
        return;
    }
    let pid = state.link.peer.as_ref().and_then(|peer| peer.pid);
    let lines = match &excerpt {
        Excerpt::Alert(_) => open
            .alert()
            .map_or_else(Vec::new, |alert| files::lines(alert, pid)),
        Excerpt::Await(place) => files::around(place, pid),
        Excerpt::Signature(proc, file, line) => files::signature(proc, file, *line, pid),
    };
    update(state, Message::Source(excerpt, lines));
}

async fn next(inbox: &mut Receiver<Told>) -> io::Result<Told> {
    inbox
        .recv()
        .await
        .ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))
}

/// When the screen was drawn last, and what has happened since.
#[derive(Debug, Default)]
struct Drawing {
    last: Option<Instant>,
    second: u64,
    changed: bool,
    urgent: bool,
}

impl Drawing {
    fn note(&mut self, message: &Message) {
        self.urgent |= matches!(
            message,
            Message::Key(_) | Message::Mouse(_) | Message::Resize(..)
        );
        self.changed |= !matches!(message, Message::Tick(_));
    }

    /// Whether to draw now: at once after a key, at most ten times a second after data, and once a
    /// second for the ages on the screen.
    fn is_due(&mut self, state: &State) -> bool {
        let second = state.now.mono_ns / SECOND;
        let rested = self.last.is_none_or(|last| last.elapsed() >= DRAW);
        let due =
            self.urgent || rested && (self.changed || second != self.second || self.last.is_none());
        if due {
            *self = Self {
                last: Some(Instant::now()),
                second,
                changed: false,
                urgent: false,
            };
        }
        due
    }
}

/// Of what the mouse does, that which means something.
fn mouse(event: MouseEvent) -> Option<Mouse> {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Mouse::Click(event.column, event.row)),
        MouseEventKind::Down(MouseButton::Right) => Some(Mouse::Right),
        MouseEventKind::ScrollDown => Some(Mouse::WheelDown),
        MouseEventKind::ScrollUp => Some(Mouse::WheelUp),
        _ => None,
    }
}

/// Keys, clicks and sizes, read by a thread of its own: reading blocks.
fn read_input(inbox: Sender<Told>) {
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            let message = match event {
                Event::Key(key) if key.kind != KeyEventKind::Release => Message::Key(key.into()),
                Event::Mouse(event) => match mouse(event) {
                    Some(event) => Message::Mouse(event),
                    None => continue,
                },
                Event::Resize(width, height) => Message::Resize(width, height),
                _ => continue,
            };
            if inbox
                .blocking_send(Told {
                    generation: None,
                    message,
                })
                .is_err()
            {
                return;
            }
        }
    });
}
