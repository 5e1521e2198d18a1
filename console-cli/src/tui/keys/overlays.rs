//! The keys of what lies over the console: menus, lines that are typed into, questions.

use crossterm::event::KeyCode;

use super::{Action, Binding, Scope, bind, char, ctrl, key};

/// Scope by scope; hints stand in the order of the hint line.
pub(super) const OVERLAYS: &[Binding] = &[
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
        Scope::Columns,
        "j k Dn Up",
        "column down, up",
        None,
        &[
            (char('j'), Action::Down),
            (key(KeyCode::Down), Action::Down),
            (char('k'), Action::Up),
            (key(KeyCode::Up), Action::Up),
        ],
    ),
    bind(
        Scope::Columns,
        "Space Enter",
        "show, hide the column",
        Some("Space shows, hides"),
        &[
            (char(' '), Action::Accept),
            (key(KeyCode::Enter), Action::Accept),
        ],
    ),
    bind(
        Scope::Columns,
        "J K",
        "move it down, up",
        Some("J K move"),
        &[(char('J'), Action::MoveDown), (char('K'), Action::MoveUp)],
    ),
    bind(
        Scope::Columns,
        "=",
        "as many as fit again",
        Some("= default"),
        &[(char('='), Action::Default)],
    ),
    bind(
        Scope::Columns,
        "Esc c q ^C",
        "close",
        Some("Esc closes"),
        &[
            (key(KeyCode::Esc), Action::Back),
            (char('c'), Action::Back),
            (char('q'), Action::Quit),
            (ctrl('c'), Action::Quit),
        ],
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
        Scope::Command,
        "Enter",
        "run the command",
        Some("Enter runs"),
        &[(key(KeyCode::Enter), Action::Accept)],
    ),
    bind(
        Scope::Command,
        "Tab",
        "complete",
        Some("Tab completes"),
        &[(key(KeyCode::Tab), Action::Complete)],
    ),
    bind(
        Scope::Command,
        "Dn Up",
        "later, earlier command",
        None,
        &[
            (key(KeyCode::Down), Action::Down),
            (key(KeyCode::Up), Action::Up),
        ],
    ),
    bind(
        Scope::Command,
        "Bksp ^U",
        "erase a letter, all",
        None,
        &[
            (key(KeyCode::Backspace), Action::Erase),
            (ctrl('u'), Action::EraseAll),
        ],
    ),
    bind(
        Scope::Command,
        "Esc ^C",
        "close",
        Some("Esc closes"),
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
