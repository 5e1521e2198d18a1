//! The console of `turbowish top`. Messages change the state, the screen is a function of the
//! state, and only the loop below touches the terminal, the clock, files and the network.

mod child_process;
mod clock;
mod commands;
mod debugger;
mod detail;
mod editor;
mod files;
mod glyphs;
mod help;
mod history;
mod hit_test;
mod input;
mod keys;
mod layout;
mod lock;
mod message;
mod mutes;
mod output;
mod preview;
mod record;
mod round;
mod rows;
mod settings;
mod source;
mod state;
mod store;
mod terminal;
#[cfg(test)]
mod tests;
mod triage;
mod update;
mod view;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::{MissedTickBehavior, interval};
use turbowish_model::snapshot::Spot;
use turbowish_model::snapshot::units::SECOND;
use turbowish_wire::client::Target;

use self::child_process::TerminalModes;
use self::clock::Clock;
use self::editor::Call;
pub(crate) use self::glyphs::GlyphSet;
use self::input::Input;
use self::message::{Effect, Message};
use self::record::Excerpt;
use self::source::{Envelope, Source};
use self::state::{Appearance, Past, PausedTask, Peer, State, View, Window};
use self::store::Store;
use self::terminal::TerminalScreen;
use self::update::update;
use crate::commands::debug;
use crate::detail::problem::source::{self as lines, Roots};
use crate::failure::note;
use crate::recording::Recording;
use crate::signals::Signals;
use crate::theme::Palette;
use crate::theme::Theme;

/// What the console shows.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A process.
    Process(Target),
    /// A recording, and the number of the state to begin with.
    Recorded(Recording, usize),
}

/// Options with which the console starts.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// What to show. If absent, a lone process is attached to, and several are listed.
    pub(crate) subject: Option<Subject>,
    /// Length of the window in nanoseconds, if one was requested; `Some(None)` reaches back to the
    /// start of accounting.
    pub(crate) window: Option<Window>,
    /// Time between snapshots.
    pub(crate) interval: Duration,
    /// Initial sort column of the procs; empty for the default.
    pub(crate) sort: String,
    /// Initial filter of the procs.
    pub(crate) filter: String,
    /// The glyph set, if one was requested.
    pub(crate) glyphs: Option<GlyphSet>,
    /// The theme, if one was requested.
    pub(crate) theme: Option<Theme>,
    /// Settings such as columns and order are taken from the last console, and kept for the next
    /// one.
    pub(crate) keeps: bool,
    /// Folders in which source files are searched first.
    pub(crate) sources: Vec<PathBuf>,
    /// Alerts that are to come: told as long as there are none.
    pub(crate) forecast: Option<&'static str>,
}

/// At most ten frames per second; a key is drawn at once.
const DRAW: Duration = Duration::from_millis(100);

/// Runs the console until its user quits, or a signal, which is returned, ends it.
///
/// # Errors
/// The terminal cannot be used.
pub(crate) fn run(mut options: Options) -> io::Result<Option<SignalKind>> {
    // Rows are read and decoded on a separate thread: a key never waits for thousands of them.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // Before the terminal is taken: from then on no signal ends the process without restoring
        // it.
        let signals = Signals::new()?;
        let found = TerminalModes::now();
        let mut screen = TerminalScreen::open()?;
        let (mut state, store) = first_state(&options, screen.size()?);
        let recording = begin(&mut state, options.subject.take());
        screen.mouse(state.look.mouse)?;
        let mut console = Console::new(screen, found, signals, store, options, recording);
        let left = console.attend(state).await;
        console.end_record().await;
        left
    })
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn first_state(options: &Options, size: (u16, u16)) -> (State, Store) {
    let look = Appearance {
        palette: Palette::of_environment(None, variable),
        glyphs: options
            .glyphs
            .unwrap_or_else(|| GlyphSet::of_environment(variable))
            .glyphs(),
        mouse: true,
        theme: None,
        kept_window: None,
    };
    let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let window = Window(Some(10 * SECOND));
    let mut state = State::new(look, size, window, ns(options.interval));
    let path = options.keeps.then(|| store::path(variable)).flatten();
    let mut store = Store::open(path, &mut state);
    if let Some(window) = options.window {
        state.window = window;
    }
    state.look.palette = Palette::of_start(options.theme, state.look.theme, variable);
    state.look.theme = options.theme.or(state.look.theme);
    let context = state.context();
    let procs = state.tables.of_mut(View::Procs);
    procs.set_filter(options.filter.clone(), &context);
    if !options.sort.is_empty() {
        let order = rows::Order {
            key: options.sort.clone(),
            invert: false,
        };
        procs.sort(order, &context);
    }
    state.visit.forecast = options.forecast;
    store.begin(&state);
    (state, store)
}

/// Begins with a process, or with a state of a recording, which is returned.
fn begin(state: &mut State, subject: Option<Subject>) -> Option<Recording> {
    match subject? {
        Subject::Process(target) => {
            let pid = match target {
                Target::Pid(pid) => Some(pid),
                _ => None,
            };
            state.link.peer = Some(Peer { pid, target });
            None
        }
        Subject::Recorded(mut recording, nth) => {
            let name = recording.name.clone();
            state.link.past = Some(Past::of(&mut recording, &name, nth));
            // On the terminal below the screen it cannot be seen.
            state.notice = recording.damage().or(state.notice.take());
            Some(recording)
        }
    }
}

/// The connections of a running console to its environment.
struct Console {
    screen: TerminalScreen,
    found: TerminalModes,
    signals: Signals,
    store: Store,
    clock: Clock,
    inbox: Receiver<Envelope>,
    input: Input,
    source: Source,
    /// Folders in which source files are searched first.
    folders: Vec<PathBuf>,
}

/// The signal that ended the console, if one did.
type Left = Option<SignalKind>;

impl Console {
    fn new(
        screen: TerminalScreen,
        found: TerminalModes,
        signals: Signals,
        store: Store,
        options: Options,
        recording: Option<Recording>,
    ) -> Self {
        let (sender, inbox) = mpsc::channel(64);
        Self {
            screen,
            found,
            signals,
            store,
            clock: Clock::start(),
            inbox,
            input: Input::start(sender.clone()),
            source: Source::new(sender, options.interval, recording),
            folders: options.sources,
        }
    }

    /// The loop: one message, one update, perhaps one effect, perhaps one draw.
    async fn attend(&mut self, mut state: State) -> io::Result<Left> {
        let mut ticks = interval(DRAW);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut drawing = Drawing::default();
        loop {
            self.source.follow(state.wanted());
            let tick = || Envelope::from(Message::Tick(self.clock.now()));
            let told = tokio::select! {
                signal = self.signals.first() => return Ok(Some(signal)),
                told = next(&mut self.inbox) => told?,
                _ = ticks.tick() => tick(),
                // A frame that had to wait is drawn at once.
                () = self.screen.ready() => tick(),
            };
            // Messages from an older subscription are about other rows.
            if !self.source.is_current(&told) {
                continue;
            }
            self.source.shown(&told.message);
            drawing.note(&told.message);
            let held = state.pending.held.is_some();
            update(&mut state, Message::Tick(self.clock.now()));
            drawing.changed |= held && state.pending.held.is_none();
            let touched = drawing.urgent;
            let effect = update(&mut state, told.message);
            if touched && let Err(fault) = self.store.keep(&state) {
                update(&mut state, Message::Noted(fault));
            }
            if let Some(effect) = effect
                && let Some(left) = self.perform(effect, &mut state).await?
            {
                return Ok(left);
            }
            read_source(&mut state, &self.folders);
            if self.screen.is_ready() && drawing.is_due(&state) {
                self.screen.draw(&state)?;
            }
        }
    }

    /// Ends the recording that is written, and says on the terminal what is in its file.
    async fn end_record(&mut self) {
        if let Some(Ok(told) | Err(told)) = self.source.settle_record().await {
            self.screen.leave();
            note(&told);
        }
    }

    /// Performs an effect; returns `Some` if the console ends.
    async fn perform(&mut self, effect: Effect, state: &mut State) -> io::Result<Option<Left>> {
        match effect {
            Effect::Quit => return Ok(Some(None)),
            Effect::Redraw => self.screen.clear()?,
            Effect::Suspend => {
                self.screen.suspend(state.look.mouse)?;
                self.source.renew();
                state.size = self.screen.size()?;
            }
            Effect::Switch(accounting) => self.source.switch(accounting),
            Effect::Rewind(leap) => self.source.rewind(leap),
            Effect::Copy(text) => self.screen.copy(&text)?,
            Effect::Mouse(ours) => self.screen.mouse(ours)?,
            Effect::Fetch { query, file } => self.source.fetch(query, file),
            Effect::Snapshot(peer, name) => self.source.snapshot(peer, name),
            Effect::Record(peer, name) => self.source.record(peer, name),
            Effect::EndRecord => self.source.end_record(),
            Effect::Write(file) => {
                update(state, Message::Written(files::write(&file)));
            }
            Effect::Theme(theme) => {
                let palette = Palette::of_environment(theme, variable);
                update(state, Message::Palette(palette));
            }
            Effect::Edit(spots) => return self.edit(&spots, state).await,
            Effect::Pause(hold) => self.source.pause(hold),
            Effect::Resume(hold) => self.source.resume(hold),
            Effect::Leave { keep } => {
                // From here on Ctrl-C ends it, and messages stay on the terminal.
                self.input.pause();
                self.screen.leave();
                let told = tokio::select! {
                    told = self.source.settle(keep) => told,
                    signal = self.signals.first() => return Ok(Some(Some(signal))),
                };
                told.iter().for_each(|line| note(line));
                return Ok(Some(None));
            }
            Effect::Debug { hold, lldb } => return self.debug(&hold, lldb, state).await,
        }
        Ok(None)
    }

    /// Runs a debugger on the terminal; returns the signal if one arrived meanwhile.
    async fn debug(
        &mut self,
        hold: &PausedTask,
        lldb: bool,
        state: &mut State,
    ) -> io::Result<Option<Left>> {
        // The reason stays visible here.
        if let Err(reason) = debug::look(lldb) {
            update(state, Message::Noted(reason));
            return Ok(None);
        }
        let ended = match debugger::command(hold, lldb) {
            Ok(command) => self.run_child(command, debugger::wait, state).await?,
            Err(fault) => Ok(Err(fault)),
        };
        let ended = match ended {
            Ok(ended) => debugger::outcome(ended),
            Err(signal) => return Ok(Some(Some(signal))),
        };
        update(state, Message::Debugged(hold.clone(), ended));
        Ok(None)
    }

    /// Runs the user's editor on the terminal; returns the signal if one arrived meanwhile.
    async fn edit(&mut self, spots: &[Spot], state: &mut State) -> io::Result<Option<Left>> {
        let call = match Call::of(spots, roots(state, &self.folders), variable) {
            Ok(call) => call,
            Err(fault) => {
                update(state, Message::Noted(fault));
                return Ok(None);
            }
        };
        match self.run_child(call.command(), |_| (), state).await? {
            Err(signal) => return Ok(Some(Some(signal))),
            Ok(ended) => {
                if let Err(fault) = call.outcome(ended) {
                    update(state, Message::Noted(fault));
                }
            }
        }
        Ok(None)
    }
}

/// Reads source files, once for each excerpt that an open record or the preview shows.
fn read_source(state: &mut State, folders: &[PathBuf]) {
    let open = state.record.clone().or_else(|| preview::record(state));
    let Some(open) = open else { return };
    let Some(excerpt) = open.excerpt() else {
        return;
    };
    if open.source.as_ref().is_some_and(|(of, _)| *of == excerpt) {
        return;
    }
    let roots = roots(state, folders);
    let lines = match &excerpt {
        Excerpt::Alert(_) => open
            .alert()
            .map_or_else(Vec::new, |alert| lines::lines(alert, roots)),
        Excerpt::Await(place) => lines::around(place, roots),
        Excerpt::Signature(proc, file, line) => lines::signature(proc, file, *line, roots),
    };
    update(state, Message::Source(excerpt, lines));
}

/// Where source files are searched.
fn roots<'a>(state: &State, folders: &'a [PathBuf]) -> Roots<'a> {
    Roots {
        named: folders,
        pid: state.link.peer.as_ref().and_then(|peer| peer.pid),
    }
}

async fn next(inbox: &mut Receiver<Envelope>) -> io::Result<Envelope> {
    inbox
        .recv()
        .await
        .ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))
}

/// The time of the last frame, and the events since.
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
