//! Every key that works, once. To add one is to add a row.

use crossterm::event::KeyCode;

use super::{Action, Binding, Key, Scope};
use crate::tui::state::View;

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

/// Every key that works, in the order of the help page; hints stand in the order of the hint line.
pub(crate) const KEYS: &[Binding] = &[
    bind(
        Scope::All,
        "? F1",
        "help; again: columns",
        Some("? help"),
        &[
            (char('?'), Action::Help),
            (key(KeyCode::F(1)), Action::Help),
        ],
    ),
    bind(
        Scope::Table,
        "/ F4",
        "filter rows",
        Some("/ filter"),
        &[
            (char('/'), Action::Filter),
            (key(KeyCode::F(4)), Action::Filter),
        ],
    ),
    bind(
        Scope::Table,
        "s F6",
        "sort menu",
        Some("s sort"),
        &[
            (char('s'), Action::SortMenu),
            (key(KeyCode::F(6)), Action::SortMenu),
        ],
    ),
    bind(
        Scope::Table,
        "< >",
        "sort by next column",
        None,
        &[
            (char('<'), Action::SortLeft),
            (char('>'), Action::SortRight),
        ],
    ),
    bind(
        Scope::Table,
        "I",
        "invert the order",
        None,
        &[(char('I'), Action::SortInvert)],
    ),
    bind(
        Scope::Picker,
        "Enter",
        "attach to the process",
        Some("Enter attach"),
        &[(key(KeyCode::Enter), Action::Accept)],
    ),
    bind(
        Scope::Watch,
        "w",
        "window 1s 10s 60s start",
        Some("w window"),
        &[(char('w'), Action::Window)],
    ),
    bind(
        Scope::Watch,
        "Space",
        "freeze the display, live",
        Some("Space freeze"),
        &[(char(' '), Action::Freeze)],
    ),
    bind(
        Scope::Watch,
        "1 2 4",
        "Procs, Tasks, Awaits",
        None,
        &[
            (char('1'), Action::Open(View::Procs)),
            (char('2'), Action::Open(View::Tasks)),
            (char('4'), Action::Open(View::Awaits)),
        ],
    ),
    bind(
        Scope::Watch,
        "Tab S-Tab",
        "next, previous view",
        None,
        &[
            (key(KeyCode::Tab), Action::NextView),
            (key(KeyCode::BackTab), Action::PreviousView),
        ],
    ),
    bind(
        Scope::All,
        "0",
        "processes: list, switch",
        Some("0 processes"),
        &[(char('0'), Action::Processes)],
    ),
    bind(
        Scope::Lists,
        "j k Dn Up",
        "row down, up",
        None,
        &[
            (char('j'), Action::Down),
            (key(KeyCode::Down), Action::Down),
            (char('k'), Action::Up),
            (key(KeyCode::Up), Action::Up),
        ],
    ),
    bind(
        Scope::Lists,
        "g G Hm End",
        "first, last row",
        None,
        &[
            (char('g'), Action::First),
            (key(KeyCode::Home), Action::First),
            (char('G'), Action::Last),
            (key(KeyCode::End), Action::Last),
        ],
    ),
    bind(
        Scope::Lists,
        "^D ^U",
        "half a page down, up",
        None,
        &[
            (ctrl('d'), Action::HalfPageDown),
            (ctrl('u'), Action::HalfPageUp),
        ],
    ),
    bind(
        Scope::Lists,
        "PgDn PgUp",
        "page down, up",
        None,
        &[
            (key(KeyCode::PageDown), Action::PageDown),
            (key(KeyCode::PageUp), Action::PageUp),
        ],
    ),
    bind(
        Scope::Table,
        "h l Lt Rt",
        "columns left, right",
        None,
        &[
            (char('h'), Action::ColumnsLeft),
            (key(KeyCode::Left), Action::ColumnsLeft),
            (char('l'), Action::ColumnsRight),
            (key(KeyCode::Right), Action::ColumnsRight),
        ],
    ),
    bind(
        Scope::All,
        "Esc Bksp",
        "back: overlay, filter, up",
        None,
        &[
            (key(KeyCode::Esc), Action::Back),
            (key(KeyCode::Backspace), Action::Back),
        ],
    ),
    bind(
        Scope::Watch,
        "a",
        "arm, disarm, asks",
        Some("a arm"),
        &[(char('a'), Action::Arm)],
    ),
    bind(
        Scope::All,
        "^L",
        "redraw",
        None,
        &[(ctrl('l'), Action::Redraw)],
    ),
    bind(
        Scope::All,
        "^Z",
        "suspend to the shell",
        None,
        &[(ctrl('z'), Action::Suspend)],
    ),
    bind(
        Scope::All,
        "q ^C",
        "close overlay, else quit",
        Some("q quit"),
        &[(char('q'), Action::Quit), (ctrl('c'), Action::Quit)],
    ),
    bind(
        Scope::Menu,
        "Dn Up",
        "entry down, up",
        None,
        &[
            (key(KeyCode::Down), Action::Down),
            (key(KeyCode::Up), Action::Up),
        ],
    ),
    bind(
        Scope::Menu,
        "Enter",
        "sort; again: invert",
        Some("Enter sorts, again inverts"),
        &[(key(KeyCode::Enter), Action::Accept)],
    ),
    bind(
        Scope::Menu,
        "Bksp ^U",
        "erase a letter, all",
        None,
        &[
            (key(KeyCode::Backspace), Action::Erase),
            (ctrl('u'), Action::EraseAll),
        ],
    ),
    bind(
        Scope::Menu,
        "Esc ^C",
        "close",
        Some("Esc closes"),
        &[(key(KeyCode::Esc), Action::Back), (ctrl('c'), Action::Quit)],
    ),
    bind(
        Scope::Prompt,
        "Enter",
        "keep the filter",
        Some("Enter keeps"),
        &[(key(KeyCode::Enter), Action::Accept)],
    ),
    bind(
        Scope::Prompt,
        "Bksp ^U",
        "erase a letter, all",
        Some("^U erases"),
        &[
            (key(KeyCode::Backspace), Action::Erase),
            (ctrl('u'), Action::EraseAll),
        ],
    ),
    bind(
        Scope::Prompt,
        "Esc ^C",
        "undo",
        Some("Esc undoes"),
        &[(key(KeyCode::Esc), Action::Back), (ctrl('c'), Action::Back)],
    ),
    bind(
        Scope::Question,
        "y",
        "yes",
        None,
        &[(char('y'), Action::Yes), (char('Y'), Action::Yes)],
    ),
    bind(
        Scope::Question,
        "n Esc",
        "no",
        None,
        &[
            (char('n'), Action::Back),
            (key(KeyCode::Esc), Action::Back),
            (ctrl('c'), Action::Back),
        ],
    ),
];
