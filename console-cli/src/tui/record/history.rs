//! The history in the record of a task or of a resource: its last polls, waits, holds and events,
//! as `turbowish history` has them.

use turbowish_model::snapshot::TaskRow;
use turbowish_model::snapshot::units::{self, SECOND};

use super::{Record, RecordRow};
use crate::detail::rich_line::RichLine;
use crate::export::ExportRange;
use crate::history::{HistoryLine, HistorySubject, SubjectHistory, instant};
use crate::text;
use crate::tui::state::{Peer, Phase, State};

/// Time before an instant of which the history is read.
const SPAN_NS: u64 = 10 * SECOND;

/// From this width on, the thread of each line is shown.
const WIDE: usize = 120;

/// Columns of the names of tasks and threads, at most.
const NAME: usize = 24;

/// What is asked for the open record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryQuery {
    pub(crate) subject: HistorySubject,
    /// The process that keeps it; `None` if a recording is shown, or the past of a process.
    pub(crate) peer: Option<Peer>,
    /// The time that is looked through; `None` for the last seconds of a process, again and again.
    pub(crate) range: Option<ExportRange>,
}

/// The history that the open record needs. Of a task that was polled long ago, the time before the
/// end of its last poll: since then, nothing can have happened.
pub(crate) fn query(state: &State) -> Option<HistoryQuery> {
    let open = state.record.as_ref()?;
    let subject = subject(open)?;
    let at = state.shown.as_ref()?.at_unix_ns;
    if state.pending.frozen_ns.is_some() {
        return None;
    }
    let long_ago = last_poll_end(open, at).filter(|end| at.saturating_sub(*end) > SPAN_NS);
    // Ages vary by microseconds from one snapshot to the next.
    let before = long_ago.map(|end| {
        let second = end / SECOND * SECOND;
        ExportRange {
            from: second.saturating_sub(SPAN_NS),
            to: (second + 2 * SECOND).min(at),
        }
    });
    let last = ExportRange {
        from: at.saturating_sub(SPAN_NS),
        to: at,
    };
    let (peer, range) = match state.phase() {
        Phase::Past => (None, Some(before.unwrap_or(last))),
        Phase::Live | Phase::Stale { .. } => (Some(state.link.peer.clone()?), before),
        Phase::Looking | Phase::Connecting | Phase::Gone { .. } => return None,
    };
    Some(HistoryQuery {
        subject,
        peer,
        range,
    })
}

/// What the recording calls the subject; `None` if it has no history.
const fn subject(open: &Record) -> Option<HistorySubject> {
    match &open.kept {
        RecordRow::Task(row) => Some(HistorySubject::Task(row.id)),
        RecordRow::Resource(row) => Some(HistorySubject::Resource(row.id)),
        RecordRow::Nothing | RecordRow::Alert(_) | RecordRow::Proc(_) => None,
    }
}

/// When the last poll ended, of a task that is still there and is not polled now.
fn last_poll_end(open: &Record, at: u64) -> Option<u64> {
    let RecordRow::Task(row) = &open.kept else {
        return None;
    };
    let TaskRow { last_poll, .. } = &**row;
    let poll = last_poll.as_ref().filter(|_| open.absent.is_none())?;
    Some(at.saturating_sub(poll.ago_ns).saturating_add(poll.took_ns?))
}

/// The lines at the end of the record; none if its subject has no history.
pub(super) fn lines(state: &State, open: &Record, room: usize) -> Vec<RichLine> {
    let Some(subject) = subject(open) else {
        return Vec::new();
    };
    let told = |text: &str| {
        let text = text::with_micro(text, state.look.glyphs.micro);
        let lines = text::wrap(&text, room.saturating_sub(4).max(20));
        lines.into_iter().map(|line| format!("   {line}").into())
    };
    let head = RichLine::from(" ").label("  history");
    let mut lines = vec![RichLine::default()];
    match &open.history {
        Some(Ok(history)) => {
            lines.push(head.say(format!("  {}", heading(state, history))));
            lines.extend(history.notes.iter().flat_map(|note| told(note)));
            if history.lines.is_empty() {
                lines.extend(told(&nothing(state, open, subject)));
            }
            lines.extend(rows(state, history, subject, room));
        }
        Some(Err(reason)) => {
            lines.push(head);
            lines.extend(told(reason));
        }
        None if state.record.is_some() => lines.push(head.say("  reading what is kept of it ...")),
        // The preview has no history.
        None => return Vec::new(),
    }
    lines
}

/// `17:04:21 .. 17:04:31, newest last; 70 earlier ones are left out`
fn heading(state: &State, history: &SubjectHistory) -> String {
    let ExportRange { from, to } = history.range;
    let clock = |at| state.now.time_of_day(at);
    let more = match history.left_out {
        Some(0) => String::new(),
        Some(1) => "; 1 earlier one is left out".to_owned(),
        Some(more) => format!("; {} earlier ones are left out", units::count(more as u64)),
        None => "; earlier ones are left out".to_owned(),
    };
    format!("{} .. {}, newest last{more}", clock(from), clock(to))
}

/// What it means that there is no line.
fn nothing(state: &State, open: &Record, subject: HistorySubject) -> String {
    let at = state.shown.as_ref().map_or(0, |shown| shown.at_unix_ns);
    match (subject, last_poll_end(open, at)) {
        (HistorySubject::Task(_), Some(end)) if at.saturating_sub(end) > SPAN_NS => format!(
            "its last poll ended at {}, and is not kept any more: later ones of other tasks have taken its place, or recording was off",
            state.now.time_of_day(end)
        ),
        (HistorySubject::Task(_), _) => {
            "none of its polls, waits, holds and events of that time is kept".to_owned()
        }
        (HistorySubject::Resource(_), _) => {
            "no wait for it and no hold of 100\u{b5}s or more ended in that time".to_owned()
        }
    }
}

/// One line each: instant, thread or task, kind, duration, and what is known of it.
fn rows(
    state: &State,
    history: &SubjectHistory,
    subject: HistorySubject,
    room: usize,
) -> Vec<RichLine> {
    let name = |line: &HistoryLine| match subject {
        HistorySubject::Resource(_) => Some(line.task.clone()),
        HistorySubject::Task(_) => (room >= WIDE).then(|| line.thread.clone()),
    };
    let lines = &history.lines;
    let names = lines.iter().filter_map(name);
    let widest = names.map(|name| text::width(&name)).max().unwrap_or(0);
    let widest = widest.min(NAME);
    let row = |line: &HistoryLine| {
        let at = instant(&state.now.time_of_day(line.at), line.at);
        let name = name(line).map(|name| format!("{} ", text::left(&name, widest)));
        let begin = format!(
            "   {at} {}{} {} ",
            name.unwrap_or_default(),
            text::left(line.what, 5),
            text::right(&line.took(), 6)
        );
        // The resource is the subject.
        let told = match subject {
            HistorySubject::Resource(_) if !line.is_loss() => line.more.clone(),
            _ => line.text(),
        };
        hanging(&begin, &told, room)
            .into_iter()
            .map(|line| text::with_micro(&line, state.look.glyphs.micro).into())
            .collect::<Vec<RichLine>>()
    };
    lines.iter().flat_map(row).collect()
}

/// A text behind a beginning, wrapped; all its lines begin at the same column.
fn hanging(begin: &str, told: &str, room: usize) -> Vec<String> {
    let indent = text::width(begin);
    let mut lines = text::wrap(told, room.saturating_sub(indent).max(16)).into_iter();
    let first = lines.next().unwrap_or_default();
    let mut all = vec![format!("{begin}{}", first.trim_start())];
    all.extend(lines.map(|line| format!("{}{}", " ".repeat(indent), line.trim_start())));
    all
}
