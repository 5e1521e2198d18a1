//! State transitions, and the only place where the state changes: one message in, at most one
//! effect out.

mod arrival;
mod awaited;
mod bar;
mod columns;
mod copy;
mod edit;
mod hold;
mod mouse;
mod mute;
mod overlay;
mod past;
mod picker;
mod record;
mod save;
mod sessions;
mod tape;

use turbowish_model::snapshot::Accounting;

use super::keys::{self, Action, Key, Scope};
use super::layout;
use super::message::{Effect, Message};
use super::preview as pane;
use super::rows::Order;
use super::state::{HelpPage, Overlay, Phase, Picker, Question, State, View};

pub(crate) use self::columns::listed;
pub(crate) use self::hold::who;
pub(crate) use self::overlay::menu;
pub(crate) use self::picker::kept;
pub(crate) use self::record::problem;
pub(crate) use self::tape::progress;

/// Delay of new data after a key press, so that rows never move while the user types.
const QUIET_NS: u64 = 300_000_000;

/// Time after a move of the cursor in which rows keep their order: only their values change.
const STEADY_NS: u64 = 2_000_000_000;

/// Time for which the message of a success is shown.
const NEWS_NS: u64 = 5_000_000_000;

/// Time for which the message of a failure is shown.
const NOTICE_NS: u64 = 10_000_000_000;

/// Applies a message to the state.
pub(crate) fn update(state: &mut State, message: Message) -> Option<Effect> {
    let before = (state.notice.clone(), state.visit.news.clone());
    let effect = apply(state, message);
    note_message(state, &before);
    pane::settle(state);
    effect
}

/// Notes when a message came.
fn note_message(state: &mut State, before: &(Option<String>, Option<String>)) {
    if state.notice.is_none() && state.visit.news.is_none() {
        state.pending.told_ns = None;
    } else if state.pending.told_ns.is_none()
        || (&state.notice, &state.visit.news) != (&before.0, &before.1)
    {
        state.pending.told_ns = Some(state.now.mono_ns);
    }
}

/// Removes a message that was there long enough: it covers the alert line.
fn clear_message(state: &mut State) {
    let told = match state.notice {
        Some(_) => NOTICE_NS,
        None => NEWS_NS,
    };
    let since = state.pending.told_ns;
    if since.is_some_and(|since| state.now.mono_ns.saturating_sub(since) >= told) {
        state.notice = None;
        state.visit.news = None;
    }
}

fn apply(state: &mut State, message: Message) -> Option<Effect> {
    match message {
        Message::Key(key) => return press(state, key),
        Message::Resize(width, height) => state.size = (width, height),
        Message::Tick(now) => {
            state.now = now;
            clear_message(state);
            mute::prune(state);
            arrival::show_held(state);
        }
        Message::Snapshot(snapshot) => arrival::snapshot(state, snapshot),
        Message::Unread(reason) => past::unread(state, reason),
        Message::Kept(leap, kept) => past::kept(state, leap, kept),
        Message::History(query, history) => record::history(state, &query, history),
        Message::Survey(survey) => arrival::survey(state, survey),
        Message::Pace(ns) => state.link.pace_ns = ns,
        Message::Silent { tries, fate } => arrival::silent(state, tries, fate),
        Message::Listed(listed) => arrival::listed(state, listed),
        Message::Switched(Ok(accounting)) => {
            if let Some(shown) = &mut state.shown {
                shown.process.accounting = accounting;
                shown.process.accounting_since_unix_ns = state.now.unix_ns;
            }
        }
        Message::Source(excerpt, lines) => {
            if let Some(open) = &mut state.record {
                open.source = Some((excerpt, lines));
            } else {
                state.visit.preview.source = Some((excerpt, lines));
            }
        }
        Message::Mouse(event) => return mouse::act(state, event),
        Message::Switched(Err(reason)) | Message::Noted(reason) => state.notice = Some(reason),
        Message::Written(Ok(done)) => state.say(done),
        Message::Written(Err(fault)) => state.notice = Some(fault),
        Message::Fetched(answer, file) => return save::fetched(state, answer, file),
        Message::Copied(written) => tape::copied(state, written),
        Message::Taped(bytes) => tape::written(state, bytes),
        Message::TapeEnded(ended) => tape::ended(state, ended),
        Message::Palette(palette) => state.look.palette = palette,
        Message::Paused(hold, answer) => hold::paused(state, &hold, answer),
        Message::Resumed(hold, answer) => hold::resumed(state, &hold, answer),
        Message::Debugged(hold, ended) => hold::debugged(state, &hold, ended),
        Message::Unheld(hold, reason) => hold::lost(state, &hold, reason),
    }
    None
}

/// The scopes of keys in the current state, the most specific first.
pub(crate) fn scopes(state: &State) -> &'static [Scope] {
    match state.overlay {
        None if state.shown.is_none() => &[Scope::All],
        None if state.record.is_some() => &[
            Scope::Record,
            Scope::Past,
            Scope::Watch,
            Scope::Lists,
            Scope::All,
        ],
        None => &[
            Scope::Table,
            Scope::Past,
            Scope::Watch,
            Scope::Lists,
            Scope::All,
        ],
        Some(Overlay::Help { .. }) if state.shown.is_none() => &[Scope::Lists, Scope::All],
        Some(Overlay::Help { .. }) => &[Scope::Watch, Scope::Lists, Scope::All],
        Some(Overlay::Picker(Picker { typing: true, .. })) => &[Scope::Prompt],
        Some(Overlay::Picker(_)) => &[Scope::Picker, Scope::Lists, Scope::All],
        Some(Overlay::Menu { .. }) => &[Scope::Menu],
        Some(Overlay::Columns { .. }) => &[Scope::Columns],
        Some(Overlay::Prompt { .. }) => &[Scope::Prompt],
        Some(Overlay::Command(_)) => &[Scope::Command],
        Some(Overlay::Question(Question::Switch { .. })) => &[Scope::Question],
        Some(Overlay::Question(Question::Pause(_))) => &[Scope::Pause],
        Some(Overlay::Question(Question::Leave)) => &[Scope::Leave],
        Some(Overlay::Question(Question::Debugger(_))) => &[Scope::Debugger],
    }
}

fn press(state: &mut State, key: Key) -> Option<Effect> {
    touched(state);
    let Some(action) = keys::action(scopes(state), key) else {
        overlay::unbound(state, key);
        return None;
    };
    perform(state, action)
}

/// Holds the rows back for a moment, and clears the notice and the news.
fn touched(state: &mut State) {
    state.pending.key_ns = Some(state.now.mono_ns);
    state.notice = None;
    state.visit.news = None;
    state.pending.told_ns = None;
}

/// Performs an action on a table, or wherever no more specific scope handles it.
fn on_table(state: &mut State, action: Action) -> Option<Effect> {
    match action {
        Action::Quit => return hold::leave(state),
        Action::Redraw => return Some(Effect::Redraw),
        Action::Suspend => return Some(Effect::Suspend),
        Action::Help => {
            state.overlay = Some(Overlay::Help {
                page: HelpPage::Keys,
                scroll: 0,
            })
        }
        Action::Command => bar::open(state),
        Action::Save => return save::save(state, None),
        Action::Snapshot => return tape::snapshot(state),
        Action::Record => return tape::record(state),
        Action::Edit => return edit::open(state),
        Action::Mute => mute::switch(state),
        Action::Open(view) => record::open_table(state, view),
        Action::NextView => turn(state, 1),
        Action::PreviousView => turn(state, View::ALL.len() - 1),
        Action::WorstAlert => record::worst_alert(state),
        Action::NextWorst => record::step(state, true),
        Action::PreviousWorst => record::step(state, false),
        Action::HistoryBack => record::back(state, 1),
        Action::HistoryForward => record::forward(state),
        Action::Processes => picker::open(state),
        Action::Filter => overlay::open_prompt(state),
        Action::SortMenu => overlay::open_menu(state),
        Action::Window => window(state),
        Action::Leap(leap, forward) => return past::leap(state, leap, forward),
        Action::LastState => past::end(state),
        Action::Freeze => freeze(state),
        Action::Arm => ask_to_switch(state),
        Action::Pause | Action::Debug => return hold::act(state, action),
        Action::Mouse => return Some(mouse::switch(state)),
        Action::Copy => return copy::text(state),
        Action::CopyJson => return copy::json(state),
        _ if state.record.is_some() => record::act(state, action),
        _ => on_rows(state, action),
    }
    None
}

/// Opens the view that many tabs further on.
fn turn(state: &mut State, by: usize) {
    let mut view = state.view.step(by);
    while !state.has_tab(view) {
        view = view.step(by);
    }
    record::open_table(state, view);
}

/// Performs an action on the rows of the open table.
fn on_rows(state: &mut State, action: Action) {
    match action {
        Action::Accept => accept(state),
        Action::Columns => columns::open(state),
        Action::Preview => preview(state),
        Action::Group => {
            let context = state.context();
            state.table_mut().group_next(&context);
        }
        Action::Hide => hide(state),
        Action::Unhide => unhide(state),
        Action::Back => back(state),
        Action::SortInvert => invert(state),
        Action::SortLeft | Action::SortRight => sort_beside(state, action == Action::SortRight),
        Action::ColumnsLeft | Action::ColumnsRight => {
            let right = action == Action::ColumnsRight;
            if !fold(state, !right) {
                scroll_columns(state, right);
            }
        }
        _ => move_selection(state, action),
    }
}

/// Performs an action that was called by name.
fn perform(state: &mut State, action: Action) -> Option<Effect> {
    match state.overlay {
        None => on_table(state, action),
        Some(_) => overlay::act(state, action),
    }
}

/// Opens the record of a row, or folds or unfolds a group.
fn accept(state: &mut State) {
    let selected = state.table().selected();
    match selected.and_then(|row| state.table().is_folded(row)) {
        Some(folded) => {
            fold(state, !folded);
        }
        None => record::of_row(state),
    }
}

/// Folds or unfolds the selected group; returns whether anything changed.
fn fold(state: &mut State, fold: bool) -> bool {
    let context = state.context();
    let selected = state.table().selected();
    selected.is_some_and(|row| state.table_mut().fold(row, fold, &context))
}

fn hide(state: &mut State) {
    let context = state.context();
    if let Some(row) = state.table().selected() {
        state.table_mut().hide(row, &context);
    }
}

fn unhide(state: &mut State) {
    let context = state.context();
    if !state.table_mut().unhide(&context) {
        state.notice = Some("nothing is hidden; x hides the selected row".to_owned());
    }
}

/// Reverses the order.
fn invert(state: &mut State) {
    let Order { key, invert } = state.table().order().clone();
    let invert = !invert;
    sort(state, Order { key, invert });
}

/// Sorts the available rows at once, and requests the same order from the process.
fn sort(state: &mut State, order: Order) {
    state.pending.moved_ns = None;
    let context = state.context();
    state.table_mut().sort(order, &context);
}

/// Filters the available rows at once, and requests the rest from the process.
fn set_filter(state: &mut State, filter: String) {
    let context = state.context();
    state.table_mut().set_filter(filter, &context);
}

/// Sorts by the visible column to the right or left of the current sort column.
fn sort_beside(state: &mut State, right: bool) {
    let shown = layout::columns(state.table(), state.size.0);
    let key = &state.table().order().key;
    let at = shown.iter().position(|column| column.face.key == key);
    let next = match (at, right) {
        (Some(at), true) => (at + 1) % shown.len(),
        (Some(at), false) => (at + shown.len() - 1) % shown.len(),
        (None, true) => 0,
        (None, false) => shown.len() - 1,
    };
    let key = shown[next].face.key.to_owned();
    sort(state, Order { key, invert: false });
}

/// Scrolls right while columns are hidden on the right, left while they are hidden on the left.
fn scroll_columns(state: &mut State, right: bool) {
    let skip = state.table().columns_skipped();
    if !right {
        state.table_mut().skip_columns(skip.saturating_sub(1));
    } else if layout::columns_hidden_right(state.table(), state.size.0) {
        state.table_mut().skip_columns(skip + 1);
    }
}

fn move_selection(state: &mut State, action: Action) {
    let height = layout::table_rows(state);
    let rows = state.table().counts().held;
    let Some(at) = state.table().selected() else {
        return;
    };
    let to = match stride(action, height) {
        Some(Stride::By(by)) => at.saturating_add_signed(by).min(rows - 1),
        Some(Stride::First) => return state.table_mut().follow_first(),
        Some(Stride::Last) => rows - 1,
        None => return,
    };
    state.table_mut().select(to, height);
    state.pending.moved_ns = Some(state.now.mono_ns);
}

/// Sorts the open table if it has kept its order while the cursor moved.
fn resort(state: &mut State) {
    if state.record.is_none() {
        let order = state.table().order().clone();
        sort(state, order);
    }
}

/// The distance that an action moves.
enum Stride {
    By(isize),
    First,
    Last,
}

fn stride(action: Action, height: usize) -> Option<Stride> {
    let page = isize::try_from(height.max(2) - 1).unwrap_or(isize::MAX);
    Some(match action {
        Action::Down => Stride::By(1),
        Action::Up => Stride::By(-1),
        Action::HalfPageDown => Stride::By((page + 1) / 2),
        Action::HalfPageUp => Stride::By(-(page + 1) / 2),
        Action::PageDown => Stride::By(page),
        Action::PageUp => Stride::By(-page),
        Action::First => Stride::First,
        Action::Last => Stride::Last,
        _ => return None,
    })
}

/// The next longer window. A recording has one only.
fn window(state: &mut State) {
    match state.link.past {
        Some(_) => state.notice = Some(past::ONE_WINDOW.to_owned()),
        None => state.window = state.window.next(),
    }
}

/// Freezes the display, or shows the data that have arrived since.
fn freeze(state: &mut State) {
    if state.link.past.is_some() {
        state.notice = Some("a recorded state stands still; [ and ] step".to_owned());
    } else if state.pending.frozen_ns.take().is_some() {
        state.pending.key_ns = None;
        state.pending.moved_ns = None;
        arrival::show_held(state);
    } else if state.shown.is_some() {
        state.pending.frozen_ns = Some(state.now.mono_ns);
        state.pending.trends = Some(state.visit.trends.clone());
    }
}

/// Shows or hides the preview, if there is room for it.
fn preview(state: &mut State) {
    if !layout::has_room(state.size) {
        let ((wide, high), (width, height)) = (layout::PREVIEW, state.size);
        let told = format!(
            "the preview needs {wide}x{high}; this terminal has {width}x{height}; Enter opens the record"
        );
        state.notice = Some(told);
        return;
    }
    state.visit.preview.wanted = Some(!state.previews());
}

fn ask_to_switch(state: &mut State) {
    let Some(shown) = &state.shown else { return };
    if matches!(state.phase(), Phase::Live) {
        let arm = shown.process.accounting == Accounting::Disarmed;
        state.overlay = Some(Overlay::Question(Question::Switch { arm }));
    } else if state.link.past.is_some() {
        let notice = match state.link.peer {
            Some(_) => "this is the past: . returns to the process, and a arms or disarms it then",
            None => "this is a recording: there is no process to arm or disarm",
        };
        state.notice = Some(notice.to_owned());
    } else {
        state.notice =
            Some("no data from the process: accounting cannot be switched now".to_owned());
    }
}

/// One step back: the filter first, then columns, then the top of the table.
fn back(state: &mut State) {
    if !state.table().filter().is_empty() {
        set_filter(state, String::new());
    } else if state.table().columns_skipped() > 0 {
        state.table_mut().skip_columns(0);
    } else {
        state.table_mut().follow_first();
    }
}
