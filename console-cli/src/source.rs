//! Resolution of the command line's target to one connected process, to a recording, or to an error
//! that lists the candidates. A recording is a source like a process: only this file, and that of
//! the console, know the difference.

use std::io::Cursor;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::{Builder, Runtime};
use turbowish_model::query::Query;
use turbowish_model::snapshot::{Accounting, Process, Snapshot, units};
use turbowish_recording::Reader;
use turbowish_wire::client::{
    self, CONNECT_TIMEOUT, ClientError, Connection, Found, Listing, PastChunks, Target,
};

use crate::args::PastArgs;
use crate::failure::{Failure, note};
use crate::recording::{Bytes, Moment, Recording, is_recording};

/// The remedy if no process runs.
const START_ONE: &str =
    "start one with turbowish::init() in main and the feature `server`, or try: turbowish demo";

/// A runtime for one command.
///
/// # Errors
/// The system refuses the resources.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| Failure::local("cannot start", &cause))
}

/// Where snapshots come from.
#[derive(Debug)]
pub(crate) enum Origin {
    /// A process.
    Process(Target),
    /// A recording, by the name of its file, and the instant if one was requested.
    Recorded(String, Option<Moment>),
    /// An instant of the states that a process keeps; without a target, the only process.
    Kept(Option<Target>, Moment),
}

/// Reads the target of a command that reads, as it was typed.
///
/// # Errors
/// It cannot be a process ID, a name, a path or an address.
pub(crate) fn origin(
    text: Option<&str>,
    past: &PastArgs,
    token: Option<&str>,
) -> Result<Option<Origin>, Failure> {
    let named = text.filter(|text| is_recording(text));
    let moment = past.at.moment;
    match (&past.from, named, text) {
        (Some(file), _, Some(text)) => Err(Failure::usage(format!(
            "one source at a time: --from {file}, or {text}"
        ))),
        (Some(file), ..) => Ok(Some(Origin::Recorded(file.clone(), moment))),
        (None, Some(file), _) => Ok(Some(Origin::Recorded(file.to_owned(), moment))),
        (None, None, text) => {
            let target = target(text, token)?;
            Ok(match moment {
                Some(moment) => Some(Origin::Kept(target, moment)),
                None => target.map(Origin::Process),
            })
        }
    }
}

/// Reads a target as it was typed, of a command that works on a process only.
///
/// # Errors
/// It cannot be a process ID, a name, a path or an address.
pub(crate) fn target(text: Option<&str>, token: Option<&str>) -> Result<Option<Target>, Failure> {
    let Some(text) = text else { return Ok(None) };
    if is_recording(text) {
        return Err(Failure::usage(format!(
            "{text} is a recording, and this needs a running process; recordings are read by top, query, tree, watch, check and diff"
        )));
    }
    match Target::parse(text, token) {
        Some(target) => Ok(Some(target)),
        None if is_name(text) => Ok(Some(Target::Name(text.to_owned()))),
        None => Err(Failure::usage(format!(
            "{text} is not a process ID, name, socket path or host:port; turbowish ps lists the processes"
        ))),
    }
}

/// Whether a process can have this name; a colon belongs to an address, and `-1` to a mistake.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.contains(':')
}

/// One snapshot of the origin; without one, of the only process.
///
/// # Errors
/// There is none, there are several, or it cannot be reached; usage if it refuses the query.
pub(crate) async fn snapshot(origin: Option<Origin>, query: &Query) -> Result<Snapshot, Failure> {
    let target = match origin {
        Some(Origin::Recorded(file, moment)) => return recorded(&file, moment, query),
        Some(Origin::Kept(target, moment)) => {
            let recording = kept(target.as_ref(), 0).await?;
            return shown(recording, Some(moment), query);
        }
        Some(Origin::Process(target)) => Some(target),
        None => None,
    };
    let connection = connect(target.as_ref(), CONNECT_TIMEOUT).await?;
    Ok(connection.snapshot(query).await?)
}

/// The state of a recording that shows an instant; without one, the last state. What the recording
/// does not have is said on stderr.
///
/// # Errors
/// The recording cannot be read, has no such state, or cannot answer the query.
pub(crate) fn recorded(
    file: &str,
    moment: Option<Moment>,
    query: &Query,
) -> Result<Snapshot, Failure> {
    shown(Recording::open(file)?, moment, query)
}

fn shown(
    mut recording: Recording,
    moment: Option<Moment>,
    query: &Query,
) -> Result<Snapshot, Failure> {
    let nth = recording.nth(moment.unwrap_or(Moment::END))?;
    if moment.is_some() {
        note(&recording.place(nth));
    }
    let answer = recording.answer(nth, query)?;
    answer.remarks.iter().for_each(|remark| note(remark));
    Ok(answer.snapshot)
}

/// What a process keeps from an instant on, without a file; without a target, of the only process.
///
/// # Errors
/// The process cannot be reached, is of a version without a recorder, or keeps no state.
pub(crate) async fn kept(target: Option<&Target>, from_unix_ns: u64) -> Result<Recording, Failure> {
    let (recording, _) = kept_between(target, from_unix_ns, 0).await?;
    let has_states = recording.times().len() > 0;
    match has_states || recording.damage().is_some() {
        true => recording.with_states(),
        false => Err(keeps_nothing(&recording.name)),
    }
}

/// What a process keeps from one instant to another, and its number of bytes. 0 is no bound. There
/// may be polls and events of that time, and no state.
///
/// # Errors
/// The process cannot be reached, is of a version without a recorder, or keeps nothing.
pub(crate) async fn kept_between(
    target: Option<&Target>,
    from_unix_ns: u64,
    to_unix_ns: u64,
) -> Result<(Recording, u64), Failure> {
    let (name, chunks) = past(target, from_unix_ns, to_unix_ns).await?;
    let bytes = gather(&name, chunks, Vec::new(), MOST_KEPT).await?;
    if bytes.is_empty() {
        return Err(keeps_nothing(&name));
    }
    let length = bytes.len() as u64;
    let input: Box<dyn Bytes> = Box::new(Cursor::new(bytes));
    let reader = Reader::of_chunks(input)
        .map_err(|fault| Failure::target(format!("cannot read the states of {name}: {fault}")))?;
    Ok((Recording::of(name, reader), length))
}

/// A recording, or what a process keeps from an instant on; without an origin, the only process.
///
/// # Errors
/// It cannot be read or reached, or the process keeps nothing.
pub(crate) fn whole(origin: Option<Origin>, from_unix_ns: u64) -> Result<Recording, Failure> {
    let target = match origin {
        Some(Origin::Recorded(file, _)) => return Recording::open_any(&file),
        Some(Origin::Process(target) | Origin::Kept(Some(target), _)) => Some(target),
        Some(Origin::Kept(None, _)) | None => None,
    };
    runtime()?.block_on(kept(target.as_ref(), from_unix_ns))
}

/// The instant so long ago, in nanoseconds since 1970; 0 stands for no bound.
pub(crate) fn since(last: Option<Duration>) -> u64 {
    let since = last.and_then(|last| SystemTime::now().checked_sub(last));
    let since = since.and_then(|since| since.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}

/// The name of a process, and the chunks that it keeps from one instant to another, in nanoseconds
/// since 1970; 0 is no bound.
///
/// # Errors
/// The process cannot be reached, or is of a version without a recorder.
pub(crate) async fn past(
    target: Option<&Target>,
    from_unix_ns: u64,
    to_unix_ns: u64,
) -> Result<(String, PastChunks), Failure> {
    let connection = connect(target, PATIENCE).await?;
    let chunks = connection.past(from_unix_ns, to_unix_ns).await?;
    Ok((label(connection.process()), chunks))
}

/// The most bytes of what a process keeps that are held in memory: many times what one keeps unless
/// it is told to keep more.
pub(crate) const MOST_KEPT: usize = 1 << 30;

/// The chunks of a process of that name, behind these bytes; `most` bytes in all.
///
/// # Errors
/// The process sends more, or is gone.
pub(crate) async fn gather(
    name: &str,
    mut chunks: PastChunks,
    mut bytes: Vec<u8>,
    most: usize,
) -> Result<Vec<u8>, Failure> {
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if chunk.len() > most.saturating_sub(bytes.len()) {
            return Err(Failure::target(format!(
                "{name} sends more than the {} that this console accepts of what is kept; turbowish snapshot writes it to a file as it arrives",
                units::bytes(most as u64)
            )));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// That a process has no past, and why that may be.
pub(crate) fn keeps_nothing(name: &str) -> Failure {
    Failure::target(format!(
        "{name} keeps no states: it has just started, accounting is off, or it runs with TURBOWISH_RECORD=off"
    ))
}

/// How long a script waits for an answer: nobody sits before it, and machines of CI are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to the target; without one, to the only process.
///
/// # Errors
/// There is none, there are several, or it cannot be reached.
pub(crate) async fn connect(
    target: Option<&Target>,
    patience: Duration,
) -> Result<Connection, Failure> {
    let connected = match target {
        Some(target) => Connection::connect_within(target, patience).await,
        None => Connection::connect_within(&only().await?, patience).await,
    };
    match connected {
        Ok(connection) => Ok(connection),
        Err(error) => Err(refused(error).await),
    }
}

/// Whether a process of this user has the name.
pub(crate) async fn is_named(name: &str) -> bool {
    let found = client::list().await.found;
    let mut answers = found.iter().filter_map(|found| found.answer.as_ref().ok());
    answers.any(|process| process.name == name)
}

/// A connection to a process of this user that has the name and command line of one that has ended.
pub(crate) async fn successor(of: &Process) -> Option<Connection> {
    let found = client::list().await.found;
    let same = found.into_iter().find(|found| {
        let answer = found.answer.as_ref();
        answer.is_ok_and(|new| new.name == of.name && new.command == of.command)
    })?;
    Connection::connect(&Target::Socket(same.socket)).await.ok()
}

/// Makes sure that there is a process to watch. A name becomes the process that has it.
///
/// # Errors
/// There is none, or it will never answer. One that is stopped, or has too many consoles at the
/// moment, is worth waiting for.
pub(crate) async fn watchable(target: Target) -> Result<Target, Failure> {
    match (Connection::connect(&target).await, target) {
        (Ok(connection), Target::Name(_)) => Ok(Target::Pid(connection.process().pid)),
        (Ok(_) | Err(ClientError::Silent { .. } | ClientError::Crowded { .. }), target) => {
            Ok(target)
        }
        (Err(error), _) => Err(refused(error).await),
    }
}

/// The failure; if the process was not found, it lists the processes that were.
async fn refused(error: ClientError) -> Failure {
    match error {
        ClientError::NoProcess { pid, .. } => no_such(&pid.to_string()).await,
        ClientError::Name { name, pids } if pids.is_empty() => no_such(&name).await,
        other => other.into(),
    }
}

/// That there is no process, and what to do about it.
pub(crate) fn nothing_runs() -> String {
    format!("none of your processes runs TurboWish; {START_ONE}")
}

/// The only process of this user.
async fn only() -> Result<Target, Failure> {
    let listing = list().await;
    match &listing.found[..] {
        [] => Err(Failure::Target(nothing_runs())),
        [one] => Ok(Target::Socket(one.socket.clone())),
        several => Err(Failure::Target(format!(
            "{} of your processes run TurboWish; choose one: {}",
            several.len(),
            names(several)
        ))),
    }
}

async fn no_such(process: &str) -> Failure {
    let found = list().await.found;
    let others = if found.is_empty() {
        START_ONE.to_owned()
    } else {
        format!("running: {}", names(&found))
    };
    Failure::Target(format!(
        "no process {process} of yours runs TurboWish; {others}"
    ))
}

/// The processes of this user; a folder that cannot be looked into is said on stderr.
pub(crate) async fn list() -> Listing {
    let listing = client::list().await;
    listing
        .faults
        .iter()
        .for_each(|fault| note(&fault.to_string()));
    listing
}

/// `kv 4242`
pub(crate) fn label(process: &Process) -> String {
    format!("{} {}", process.name, process.pid)
}

/// `kv 4242, gate 5120`
fn names(found: &[Found]) -> String {
    let each = found.iter().map(|found| {
        found
            .answer
            .as_ref()
            .map_or_else(|_| format!("{} (silent)", found.pid), label)
    });
    each.collect::<Vec<_>>().join(", ")
}

/// What to say of a process whose numbers have stopped.
pub(crate) fn disarmed(snapshot: &Snapshot) -> Option<String> {
    let process = &snapshot.process;
    (process.accounting == Accounting::Disarmed).then(|| {
        format!(
            "accounting is off in {}: the numbers end where it was switched off; \
             press a in turbowish top, or start it with TURBOWISH=on",
            label(process)
        )
    })
}
