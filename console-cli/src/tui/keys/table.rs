//! The keys of the console, one row each.

use crossterm::event::KeyCode;

use super::{Action, Binding, Scope, bind, char, ctrl, f, key};
use crate::tui::state::{Leap, View};

/// Hints shown only where the rows are tasks.
pub(crate) const PAUSE_HINT: &str = "p pause";
/// The hint of the steps through a recording.
pub(crate) const STEP_HINT: &str = "[ ] step";

/// The hint of the recording to a file; while it is written, R ends it.
pub(crate) const RECORD_HINT: &str = "R record";

/// Hints not shown in a recording, where these keys only say why they do nothing.
pub(crate) const LIVE_HINTS: [&str; 6] = [
    PAUSE_HINT,
    "w window",
    "Space freeze",
    "a arm",
    "P past to file",
    RECORD_HINT,
];

/// In the order of the help page; hints stand in the order of the hint line.
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
        "sort by column left/right",
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
        "group rows; again: next",
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
        "next, previous problem",
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
        Scope::Past,
        "[ ] { }",
        "rewind, forward; by 10 s",
        Some(STEP_HINT),
        &[
            (char('['), Action::Leap(Leap::State, false)),
            (char(']'), Action::Leap(Leap::State, true)),
            (char('{'), Action::Leap(Leap::TenSeconds, false)),
            (char('}'), Action::Leap(Leap::TenSeconds, true)),
        ],
    ),
    bind(
        Scope::Past,
        "( ) .",
        "alert before, next; end",
        None,
        &[
            (char('('), Action::Leap(Leap::Alert, false)),
            (char(')'), Action::Leap(Leap::Alert, true)),
            (char('.'), Action::LastState),
        ],
    ),
    bind(
        Scope::Watch,
        "p",
        "pause (asks), resume task",
        Some(PAUSE_HINT),
        &[(char('p'), Action::Pause)],
    ),
    bind(
        Scope::Watch,
        "D",
        "attach gdb, lldb (asks)",
        None,
        &[(char('D'), Action::Debug)],
    ),
    bind(
        Scope::Picker,
        "/ F4",
        "filter the processes",
        Some("/ filter"),
        &[(char('/'), Action::Filter), (f(4), Action::Filter)],
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
        "freeze, unfreeze display",
        Some("Space freeze"),
        &[(char(' '), Action::Freeze)],
    ),
    bind(
        Scope::Watch,
        "1 2 3 4 5 6",
        "views: Functions, Tasks..",
        None,
        &[
            (char('1'), Action::Open(View::Procs)),
            (char('2'), Action::Open(View::Tasks)),
            (char('3'), Action::Open(View::Resources)),
            (char('4'), Action::Open(View::Awaits)),
            (char('5'), Action::Open(View::Alerts)),
            (char('6'), Action::Open(View::Counters)),
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
        "list, switch processes",
        Some("0 switch"),
        &[(char('0'), Action::Processes)],
    ),
    bind(
        Scope::All,
        ":",
        "command line, any action",
        None,
        &[(char(':'), Action::Command)],
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
        "scroll; fold, unfold",
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
        "close, clear filter, back",
        None,
        &[
            (key(KeyCode::Esc), Action::Back),
            (key(KeyCode::Backspace), Action::Back),
        ],
    ),
    bind(
        Scope::Watch,
        "a",
        "arm, disarm (asks)",
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
        Scope::Table,
        "v",
        "preview pane",
        Some("v preview"),
        &[(char('v'), Action::Preview)],
    ),
    bind(
        Scope::Watch,
        "e",
        "open source in $EDITOR",
        None,
        &[(char('e'), Action::Edit)],
    ),
    bind(
        Scope::Watch,
        "S",
        "save snapshot to a file",
        None,
        &[(char('S'), Action::Save)],
    ),
    bind(
        Scope::Watch,
        "P",
        "write its past to a file",
        Some("P past to file"),
        &[(char('P'), Action::Snapshot)],
    ),
    bind(
        Scope::Watch,
        "R",
        "record to a file, on/off",
        Some(RECORD_HINT),
        &[(char('R'), Action::Record)],
    ),
    bind(
        Scope::Watch,
        "m",
        "mute alert for 10 min",
        None,
        &[(char('m'), Action::Mute)],
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
