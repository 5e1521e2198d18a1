//! Input thread: keys, clicks and sizes. It is a separate thread because reading blocks, and it
//! pauses while a child process has the terminal.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};
use tokio::sync::mpsc::Sender;

use super::lock::lock;
use super::message::{Message, Mouse};
use super::source::Envelope;

/// Interval at which the thread checks whether to pause.
const LOOK: Duration = Duration::from_millis(100);
/// Maximal wait for the thread to pause. After that it hands over at most what it has read, and
/// reads no more.
const PATIENCE: Duration = Duration::from_secs(1);

/// The thread that reads input.
#[derive(Debug)]
pub(super) struct Input {
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    turn: Mutex<Turn>,
    changed: Condvar,
}

/// The owner of the terminal's input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// The console.
    #[default]
    Ours,
    /// A child process, as soon as the thread has paused.
    Asked,
    /// A child process.
    Theirs,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Turn> {
        lock(&self.turn)
    }

    fn set(&self, turn: Turn) {
        *self.lock() = turn;
        self.changed.notify_all();
    }

    /// Blocks while a child process owns the input.
    fn pass(&self) {
        let mut turn = self.lock();
        if *turn == Turn::Ours {
            return;
        }
        *turn = Turn::Theirs;
        self.changed.notify_all();
        let theirs = |turn: &mut Turn| *turn != Turn::Ours;
        drop(self.changed.wait_while(turn, theirs));
    }
}

impl Input {
    pub(super) fn start(inbox: Sender<Envelope>) -> Self {
        let gate = Arc::new(Gate::default());
        let own = Arc::clone(&gate);
        std::thread::spawn(move || read(&inbox, &own));
        Self { gate }
    }

    /// When this returns, the console reads nothing any more.
    pub(super) fn pause(&self) {
        self.gate.set(Turn::Asked);
        let asked = |turn: &mut Turn| *turn == Turn::Asked;
        let turn = self.gate.lock();
        drop(self.gate.changed.wait_timeout_while(turn, PATIENCE, asked));
    }

    /// Returns the input to the console.
    pub(super) fn resume(&self) {
        self.gate.set(Turn::Ours);
    }
}

fn read(inbox: &Sender<Envelope>, gate: &Gate) {
    loop {
        gate.pass();
        let event = match event::poll(LOOK) {
            Ok(true) => event::read(),
            Ok(false) => continue,
            Err(fault) => Err(fault),
        };
        let Ok(event) = event else { return };
        for message in messages(event).into_iter().flatten() {
            if inbox.blocking_send(message.into()).is_err() {
                return;
            }
        }
    }
}

/// The messages of an event, in their order.
fn messages(event: Event) -> [Option<Message>; 2] {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => keys(key),
        Event::Mouse(event) => [mouse(event).map(Message::Mouse), None],
        Event::Resize(width, height) => [Some(Message::Resize(width, height)), None],
        _ => [None, None],
    }
}

/// A terminal writes Alt and a letter in the bytes of Esc and the letter. No key of the console has
/// Alt, so it is taken for the two, pressed faster than the console has read. Alt and Backspace,
/// with which lines are edited elsewhere, are Backspace.
fn keys(mut key: KeyEvent) -> [Option<Message>; 2] {
    use KeyCode::{Char, Enter, Tab};
    let of_two_keys =
        key.modifiers.contains(KeyModifiers::ALT) && matches!(key.code, Char(_) | Enter | Tab);
    key.modifiers -= KeyModifiers::ALT;
    let escape = of_two_keys.then(|| Message::Key(KeyEvent::from(KeyCode::Esc).into()));
    [escape, Some(Message::Key(key.into()))]
}

/// The mouse events that have a meaning.
fn mouse(event: MouseEvent) -> Option<Mouse> {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Mouse::Click(event.column, event.row)),
        MouseEventKind::Down(MouseButton::Right) => Some(Mouse::Right),
        MouseEventKind::ScrollDown => Some(Mouse::WheelDown),
        MouseEventKind::ScrollUp => Some(Mouse::WheelUp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, KeyCode, KeyEvent, KeyModifiers, Message, messages};
    use crate::tui::keys::Key;

    fn keys_of(code: KeyCode, modifiers: KeyModifiers) -> Vec<Key> {
        let event = Event::Key(KeyEvent::new(code, modifiers));
        let key = |message| match message {
            Message::Key(key) => Some(key),
            _ => None,
        };
        messages(event)
            .into_iter()
            .flatten()
            .filter_map(key)
            .collect()
    }

    #[test]
    fn a_letter_right_behind_escape_is_two_keys() {
        let plain = |code| Key { code, ctrl: false };
        let ctrl = |letter| Key {
            code: KeyCode::Char(letter),
            ctrl: true,
        };
        let question = KeyCode::Char('?');
        let (none, alt) = (KeyModifiers::NONE, KeyModifiers::ALT);
        assert_eq!(keys_of(question, none), [plain(question)]);
        let both = [plain(KeyCode::Esc), plain(question)];
        assert_eq!(keys_of(question, alt), both);
        let both = [plain(KeyCode::Esc), ctrl('d')];
        let letter = KeyCode::Char('d');
        assert_eq!(keys_of(letter, alt | KeyModifiers::CONTROL), both);
        // An arrow with Alt has bytes of its own.
        for code in [KeyCode::Left, KeyCode::Backspace] {
            assert_eq!(keys_of(code, alt), [plain(code)]);
        }
    }
}
