//! Keys, clicks and sizes, read by a thread of its own: reading blocks. It rests while another program has the terminal.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use tokio::sync::mpsc::Sender;

use super::message::{Message, Mouse};
use super::source::Told;

/// So often the thread looks whether it is to rest.
const LOOK: Duration = Duration::from_millis(100);
/// A thread that does not come to rest by then has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// The thread that reads.
#[derive(Debug)]
pub(super) struct Input(Arc<Gate>);

#[derive(Debug, Default)]
struct Gate {
    way: Mutex<Way>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Way {
    closed: bool,
    resting: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Way> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rests while the gate is closed.
    fn pass(&self) {
        let mut way = self.lock();
        while way.closed {
            way.resting = true;
            self.changed.notify_all();
            way = self
                .changed
                .wait(way)
                .unwrap_or_else(PoisonError::into_inner);
        }
        way.resting = false;
    }
}

impl Input {
    /// Starts to read.
    pub(super) fn start(inbox: Sender<Told>) -> Self {
        let gate = Arc::new(Gate::default());
        let own = gate.clone();
        std::thread::spawn(move || {
            while let Ok(event) = next(&own) {
                let Some(message) = event.and_then(message) else {
                    continue;
                };
                let told = Told {
                    generation: None,
                    message,
                };
                if inbox.blocking_send(told).is_err() {
                    return;
                }
            }
        });
        Self(gate)
    }

    /// Returns when nothing is read any more, until [`Input::open`].
    pub(super) fn close(&self) {
        let mut way = self.0.lock();
        way.closed = true;
        let is_on = |way: &mut Way| !way.resting;
        let _ = self.0.changed.wait_timeout_while(way, PATIENCE, is_on);
    }

    /// Reads again.
    pub(super) fn open(&self) {
        self.0.lock().closed = false;
        self.0.changed.notify_all();
    }
}

/// What has come, if something has.
fn next(gate: &Gate) -> std::io::Result<Option<Event>> {
    gate.pass();
    match event::poll(LOOK)? {
        true => event::read().map(Some),
        false => Ok(None),
    }
}

fn message(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Message::Key(key.into())),
        Event::Mouse(event) => mouse(event).map(Message::Mouse),
        Event::Resize(width, height) => Some(Message::Resize(width, height)),
        _ => None,
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
