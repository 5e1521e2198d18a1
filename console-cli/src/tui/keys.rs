//! The key table. Help, hint line and dispatch all use it, so every key that is shown works.

mod overlays;
mod table;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use self::overlays::OVERLAYS;
use self::table::CONSOLE;
pub(crate) use self::table::{LIVE_HINTS, PAUSE_HINT, RECORD_HINT, STEP_HINT};
use super::state::{Leap, View};

/// Every key that works, once.
pub(crate) const KEYS: &[Binding] =
    &joined::<{ CONSOLE.len() + OVERLAYS.len() }>(CONSOLE, OVERLAYS);

/// A key in the table's notation: shift is part of the character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) code: KeyCode,
    pub(crate) ctrl: bool,
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let code = match event.code {
            KeyCode::Char(c) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
            code => code,
        };
        Self { code, ctrl }
    }
}

/// The state in which a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everywhere except while text is typed or a question is open.
    All,
    /// While a process is watched.
    Watch,
    /// While a recording is shown.
    Past,
    /// A table, the list of processes, the help page.
    Lists,
    Table,
    Record,
    /// The list of processes.
    Picker,
    /// The sort menu: other keys narrow it.
    Menu,
    /// The list of columns.
    Columns,
    /// The filter line: other keys are text.
    Prompt,
    /// The command line: other keys are text.
    Command,
    /// A question: other keys mean no.
    Question,
    /// The question whether to pause a task: other keys mean no.
    Pause,
    /// The question about paused tasks on exit.
    Leave,
    /// The question about the debugger.
    Debugger,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Help,
    Quit,
    Open(View),
    NextView,
    PreviousView,
    Processes,
    Down,
    Up,
    First,
    Last,
    HalfPageDown,
    HalfPageUp,
    PageDown,
    PageUp,
    ColumnsRight,
    ColumnsLeft,
    Back,
    Filter,
    SortMenu,
    SortRight,
    SortLeft,
    SortInvert,
    Window,
    Freeze,
    /// To another state of the recording, forward or back.
    Leap(Leap, bool),
    LastState,
    Preview,
    Arm,
    WorstAlert,
    NextWorst,
    PreviousWorst,
    HistoryBack,
    HistoryForward,
    Columns,
    Group,
    Hide,
    Unhide,
    Copy,
    CopyJson,
    Mouse,
    MoveDown,
    MoveUp,
    Default,
    Redraw,
    Suspend,
    Accept,
    CursorLeft,
    CursorRight,
    Erase,
    EraseWord,
    EraseAll,
    Command,
    Complete,
    Edit,
    Save,
    Snapshot,
    Record,
    Mute,
    Yes,
    Pause,
    Debug,
    Resume,
    Keep,
    Gdb,
    Lldb,
}

impl Action {
    /// The action's name on the command line: `next_view`.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Accept => "open".to_owned(),
            Self::Open(view) => view.name().to_owned(),
            Self::Leap(Leap::TenSeconds, true) => "forward_10s".to_owned(),
            Self::Leap(Leap::TenSeconds, false) => "back_10s".to_owned(),
            Self::Leap(leap, true) => format!("next_{}", snake(&format!("{leap:?}"))),
            Self::Leap(leap, false) => format!("previous_{}", snake(&format!("{leap:?}"))),
            other => snake(&format!("{other:?}")),
        }
    }
}

/// `next_view` of `NextView`.
fn snake(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// The keys, each with its action.
    pub(crate) keys: &'static [(Key, Action)],
    /// The notation of the keys in help.
    pub(crate) label: &'static str,
    /// The scope of the keys.
    pub(crate) scope: Scope,
    /// The text in help.
    pub(crate) help: &'static str,
    /// The text in the hint line of the scope, if the key is shown there.
    pub(crate) hint: Option<&'static str>,
}

/// The action of a key in these scopes.
pub(crate) fn action(scopes: &[Scope], key: Key) -> Option<Action> {
    KEYS.iter()
        .filter(|binding| scopes.contains(&binding.scope))
        .flat_map(|binding| binding.keys)
        .find(|(bound, _)| *bound == key)
        .map(|&(_, action)| action)
}

const fn char(c: char) -> Key {
    Key {
        code: KeyCode::Char(c),
        ctrl: false,
    }
}

const fn ctrl(c: char) -> Key {
    Key {
        code: KeyCode::Char(c),
        ctrl: true,
    }
}

const fn key(code: KeyCode) -> Key {
    Key { code, ctrl: false }
}

const fn f(number: u8) -> Key {
    key(KeyCode::F(number))
}

const fn bind(
    scope: Scope,
    label: &'static str,
    help: &'static str,
    hint: Option<&'static str>,
    keys: &'static [(Key, Action)],
) -> Binding {
    Binding {
        keys,
        label,
        scope,
        help,
        hint,
    }
}

/// Concatenates two tables.
const fn joined<const N: usize>(first: &[Binding], second: &[Binding]) -> [Binding; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() {
            first[at]
        } else {
            second[at - first.len()]
        };
        at += 1;
    }
    all
}
