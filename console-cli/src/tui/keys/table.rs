//! Every key of tables and records, once. To add one is to add a row.

use crossterm::event::KeyCode;

use super::{Action, Binding, Scope, bind, char, ctrl, f, key};
use crate::tui::state::View;

/// What the hint line says only where the rows are tasks.
pub(crate) const PAUSE_HINT: &str = "p pause";

/// Every key that works where no overlay asks for others, in the order of the help page; hints stand in the order of the hint line.
pub(super) const CONSOLE: &[Binding] = &[
    bind(
        Scope::All,
        "? F1",
        "help; again: columns",
        Some("? help"),
        &[(char('?'), Action::Help), (f(1), Action::Help)],
    ),
    bind(
        Scope::Table,
        "/ F4",
        "filter rows",
        Some("/ filter"),
        &[(char('/'), Action::Filter), (f(4), Action::Filter)],
    ),
    bind(
        Scope::Table,
        "s F6",
        "sort menu",
        Some("s sort"),
        &[(char('s'), Action::SortMenu), (f(6), Action::SortMenu)],
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
        Scope::Table,
        "c F2",
        "choose columns",
        None,
        &[(char('c'), Action::Columns), (f(2), Action::Columns)],
    ),
    bind(
        Scope::Table,
        "t F5",
        "group by, next kind",
        None,
        &[(char('t'), Action::Group), (f(5), Action::Group)],
    ),
    bind(
        Scope::Table,
        "x X",
        "hide row, show hidden",
        None,
        &[(char('x'), Action::Hide), (char('X'), Action::Unhide)],
    ),
    bind(
        Scope::Table,
        "Enter",
        "open the row's record",
        Some("Enter open"),
        &[(key(KeyCode::Enter), Action::Accept)],
    ),
    bind(
        Scope::Record,
        "Enter",
        "follow the link",
        Some("Enter open"),
        &[(key(KeyCode::Enter), Action::Accept)],
    ),
    bind(
        Scope::Watch,
        "!",
        "open the worst alert",
        Some("! worst"),
        &[(char('!'), Action::WorstAlert)],
    ),
    bind(
        Scope::Watch,
        "n N",
        "next, previous worst one",
        None,
        &[
            (char('n'), Action::NextWorst),
            (char('N'), Action::PreviousWorst),
        ],
    ),
    bind(
        Scope::Watch,
        "H L",
        "back, forward in history",
        None,
        &[
            (char('H'), Action::HistoryBack),
            (char('L'), Action::HistoryForward),
        ],
    ),
    bind(
        Scope::Watch,
        "p",
        "pause task, resume",
        Some(PAUSE_HINT),
        &[(char('p'), Action::Pause)],
    ),
    bind(
        Scope::Watch,
        "D",
        "attach gdb or lldb, asks",
        None,
        &[(char('D'), Action::Debug)],
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
        "1 2 3 4 5",
        "Procs .. Alerts",
        None,
        &[
            (char('1'), Action::Open(View::Procs)),
            (char('2'), Action::Open(View::Tasks)),
            (char('3'), Action::Open(View::Resources)),
            (char('4'), Action::Open(View::Awaits)),
            (char('5'), Action::Open(View::Alerts)),
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
        "row or link down, up",
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
        "columns; fold, unfold",
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
        Scope::Watch,
        "y Y",
        "copy as text, as JSON",
        Some("y copy"),
        &[(char('y'), Action::Copy), (char('Y'), Action::CopyJson)],
    ),
    bind(
        Scope::All,
        "M",
        "mouse on, off",
        None,
        &[(char('M'), Action::Mouse)],
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
];
