//! Histories of the open record: read from a recording, or from what a process keeps, of which only
//! the seconds that are needed are requested.

use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use turbowish_model::snapshot::units::SECOND;
use turbowish_wire::client::Target;

use super::states::States;
use super::{Envelope, REST, WHOLE_PATIENCE};
use crate::export::{ExportRange, has_no_steps};
use crate::history::{HistorySubject, SubjectHistory};
use crate::recording::Recording;
use crate::source;
use crate::tui::clock::unix_ns;
use crate::tui::message::Message;
use crate::tui::record::HistoryQuery;

/// Time between two requests.
const REFRESH: Duration = Duration::from_secs(5);

/// The same of a process that keeps much in a second.
const SELDOM: Duration = Duration::from_secs(10);

/// What is requested at first, and what before that if it was little.
const FIRST_NS: u64 = 2 * SECOND;
const BEFORE_NS: u64 = 8 * SECOND;

/// The most bytes of the first request that are little.
const LITTLE: u64 = 2 << 20;

/// Polls are copied so long after their end, at most, as a rule: what is newer may be incomplete.
const COPIED_NS: u64 = SECOND;

/// Sends the history to the inbox: of a range once, of a running process again and again.
pub(super) async fn follow(query: HistoryQuery, states: Option<States>, inbox: Sender<Envelope>) {
    sleep(REST).await;
    let mut known = None;
    loop {
        let (found, pause) = look(&query, states.as_ref(), known.as_ref()).await;
        if let Ok(found) = &found {
            known = Some(found.clone());
        }
        // What was read stays while the process does not answer: its end is told.
        if found.is_ok() || known.is_none() {
            let message = Message::History(Box::new(query.clone()), found.map(Box::new));
            // If nobody receives it, the console is exiting.
            let _ = inbox.send(message.into()).await;
        }
        if query.range.is_some() {
            return;
        }
        sleep(pause).await;
    }
}

type Found = Result<SubjectHistory, String>;

async fn look(
    query: &HistoryQuery,
    states: Option<&States>,
    known: Option<&SubjectHistory>,
) -> (Found, Duration) {
    let subject = query.subject;
    match (&query.peer, query.range, states) {
        (Some(peer), Some(range), _) => (fetch(&peer.target, subject, range).await.0, REFRESH),
        (Some(peer), None, _) => recent(&peer.target, subject, known).await,
        (None, Some(range), Some(states)) => (states.history(subject, range).await, REFRESH),
        (None, ..) => (Err("there is no recording".to_owned()), REFRESH),
    }
}

/// The last seconds of a process, and what was known before. If it keeps much in a second, only
/// the last two seconds.
async fn recent(
    target: &Target,
    subject: HistorySubject,
    known: Option<&SubjectHistory>,
) -> (Found, Duration) {
    let now = unix_ns();
    let span = |from, to| ExportRange { from, to };
    let from = match known {
        Some(known) => known.range.to.saturating_sub(COPIED_NS),
        None => now.saturating_sub(FIRST_NS),
    };
    // A console that was suspended begins anew.
    let known = known.filter(|_| now.saturating_sub(from) <= FIRST_NS + BEFORE_NS);
    let from = known.map_or(now.saturating_sub(FIRST_NS), |_| from);
    let (found, bytes) = fetch(target, subject, span(from, u64::MAX)).await;
    let mut found = match found {
        Ok(found) => found,
        Err(reason) => return (Err(reason), REFRESH),
    };
    // Clocks of two hosts may differ.
    let last = found.lines.iter().map(|line| line.end()).max();
    found.range.to = last.unwrap_or(0).max(now);
    let seconds = now.saturating_sub(from).div_ceil(SECOND).max(1);
    if bytes / seconds > LITTLE / (FIRST_NS / SECOND) {
        return (Ok(found), SELDOM);
    }
    match known {
        Some(known) => (Ok(found.after(known)), REFRESH),
        None => {
            let before = span(from.saturating_sub(BEFORE_NS), from);
            // If it does not come, the history begins later.
            let (earlier, _) = fetch(target, subject, before).await;
            let found = match earlier {
                Ok(earlier) => found.after(&earlier),
                Err(_) => found,
            };
            (Ok(found), REFRESH)
        }
    }
}

/// Requests a range from a process. Returns its history, and the number of bytes.
async fn fetch(target: &Target, subject: HistorySubject, range: ExportRange) -> (Found, u64) {
    let to = match range.to {
        u64::MAX => 0,
        to => to,
    };
    let asked = source::kept_between(Some(target), range.from, to);
    match timeout(WHOLE_PATIENCE, asked).await {
        Ok(Ok((mut recording, bytes))) => {
            let reading = spawn_blocking(move || of(&mut recording, subject, range));
            let read = reading.await;
            (read.unwrap_or_else(|cause| Err(cause.to_string())), bytes)
        }
        Ok(Err(failure)) => (Err(failure.text()), 0),
        Err(_) => (Err(format!("{target} does not answer")), 0),
    }
}

/// Reads a range of a recording.
pub(super) fn of(
    recording: &mut Recording,
    subject: HistorySubject,
    range: ExportRange,
) -> Result<SubjectHistory, String> {
    let name = recording.name.clone();
    let read = SubjectHistory::read(recording.reader(), &name, subject, range);
    read.map_err(|fault| format!("{name}: {fault}"))
}

/// The same of a whole recording: it may be one without any.
pub(super) fn of_whole(
    recording: &mut Recording,
    subject: HistorySubject,
    mut range: ExportRange,
) -> Result<SubjectHistory, String> {
    let reader = recording.reader();
    let polls = reader.polls().iter().map(|chunk| chunk.at_unix_ns);
    let events = reader.events().iter().map(|chunk| chunk.at_unix_ns);
    let first = polls.chain(events).min();
    let Some(first) = first else {
        return Err(has_no_steps(&recording.name));
    };
    // Before that, nothing is known.
    range.from = range.from.max(first).min(range.to);
    of(recording, subject, range)
}
