//! Recordings that the console writes to new files: what a process keeps, and its states from now
//! on. Whatever ends one, its file is whole.

use std::fmt;
use std::fs;
use std::io::{self, Cursor, Write as _};
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;
use turbowish_model::query::Query;
use turbowish_model::snapshot::Process;
use turbowish_model::snapshot::units::{self, Micro, SECOND};
use turbowish_recording::{FILE_HEADER, Reader};
use turbowish_wire::client::{ClientError, Connection, Target, Watch};

use super::{Envelope, WHOLE_PATIENCE};
use crate::failure::Failure;
use crate::recording::{self, Tape, counted};
use crate::source;
use crate::tui::files;
use crate::tui::message::Message;

/// Time between two states of a recording.
const EVERY: Duration = Duration::from_secs(1);

/// Maximal wait for the end of the file when the console exits: a disk may be stuck.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// What a recording has become: a sentence about its file, or why there is none.
type Ended = Result<String, String>;

/// Writes what a process keeps to a new file, and says what is in it.
pub(super) async fn snapshot(target: &Target, name: &str) -> Ended {
    let kept = match timeout(WHOLE_PATIENCE, kept(target)).await {
        Ok(Ok(kept)) => kept,
        Ok(Err(failure)) => return Err(format!("not written: {}", failure.text())),
        Err(_) => return Err(format!("not written: {target} does not answer")),
    };
    let name = name.to_owned();
    let writing = spawn_blocking(move || write(&name, kept));
    writing.await.unwrap_or_else(|cause| Err(cause.to_string()))
}

/// The name of a process, and the bytes of a file of all that it keeps.
async fn kept(target: &Target) -> Result<(String, Vec<u8>), Failure> {
    let (name, chunks) = source::past(Some(target), 0, 0).await?;
    let bytes = source::gather(&name, chunks, FILE_HEADER.to_vec(), source::MOST_KEPT).await?;
    Ok((name, bytes))
}

/// `kv-4242-170431.tw: 60 states in 59.0 s, 10MiB; turbowish top kv-4242-170431.tw`
fn write(name: &str, (process, bytes): (String, Vec<u8>)) -> Ended {
    let refuse = |why: &dyn fmt::Display| format!("not written: {why}");
    let reader = Reader::open(Cursor::new(&bytes)).map_err(|fault| refuse(&fault))?;
    let states = reader.states();
    // Before its first state, a process has names and polls: that is no file to look at.
    if states.is_empty() {
        return Err(refuse(&source::keeps_nothing(&process).text()));
    }
    let create = |name: &str| {
        let path = Path::new(name);
        let mut file = recording::create(path, false)?;
        file.write_all(&bytes).inspect_err(|_| {
            // Another file can be made of what the process keeps then.
            let _ = fs::remove_file(path);
        })
    };
    let (name, ()) = files::numbered(name, create).map_err(not_written)?;
    let length = units::bytes(bytes.len() as u64);
    let time = match states {
        [first, .., last] => last.at_unix_ns.saturating_sub(first.at_unix_ns),
        _ => 0,
    };
    let time = units::duration(time / SECOND * SECOND, Micro::Unicode);
    let count = counted(states.len() as u64, "state");
    Ok(format!(
        "{name}: {count} in {time}, {length}; turbowish top {name}"
    ))
}

fn not_written((name, fault): (String, io::Error)) -> String {
    format!("not written: {name}: {fault}")
}

/// A recording that is being written.
#[derive(Debug)]
pub(super) struct TapeRun {
    /// `None` once it was asked to end.
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<Ended>,
}

impl TapeRun {
    /// Begins one. Its progress and its end are sent to the inbox.
    pub(super) fn begin(target: Target, name: String, inbox: Sender<Envelope>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(async move {
            let ended = record(&target, &name, stopped, &inbox).await;
            let message = Message::TapeEnded(ended.clone());
            // If nobody receives it, the console is exiting, and waits for this one to end.
            tokio::spawn(async move { inbox.send(message.into()).await });
            ended
        });
        let stop = Some(stop);
        Self { stop, ended }
    }

    /// Ends it; the message about that follows.
    pub(super) fn stop(&mut self) {
        // It fails if it has ended by itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Ends it before the console exits, and returns what has become of it.
    pub(super) async fn settle(mut self) -> Ended {
        self.stop();
        match timeout(END_PATIENCE, self.ended).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(cause)) => Err(cause.to_string()),
            Err(_) => Err("the recording could not be ended in time".to_owned()),
        }
    }
}

/// Records until it is stopped, or something else ends it.
async fn record(
    target: &Target,
    name: &str,
    mut stopped: oneshot::Receiver<()>,
    inbox: &Sender<Envelope>,
) -> Ended {
    // A process that does not answer is no reason to wait.
    let begun = tokio::select! {
        _ = &mut stopped => return Err(format!("not recorded: ended before {target} answered")),
        begun = watch(target) => begun,
    };
    let (connection, watch) = begun.map_err(|fault| format!("not recorded: {fault}"))?;
    let create = |name: &str| recording::create(Path::new(name), false);
    let (name, file) = files::numbered(name, create).map_err(not_written)?;
    let cannot = |fault| format!("cannot write {name}: {fault}");
    let mut tape = Tape::begin(file, EVERY).map_err(cannot)?;
    let why = follow(watch, &mut tape, stopped, inbox).await;
    let told = format!("{name}: {}", tape.summary());
    tape.end().map_err(cannot)?;
    let Process {
        name: process, pid, ..
    } = connection.process();
    match why {
        TapeEnd::Asked => Ok(told),
        TapeEnd::Process(None | Some(ClientError::Gone { .. })) => {
            Ok(format!("{process} {pid} has ended; {told}"))
        }
        TapeEnd::Process(Some(fault)) => Err(format!("{fault}; {told}")),
        TapeEnd::File(fault) => Err(format!("{}; {told}", cannot(fault))),
    }
}

/// Connects to a process, and requests its states.
async fn watch(target: &Target) -> Result<(Connection, Watch), ClientError> {
    let connection = Connection::connect(target).await?;
    let watch = connection.watch(Query::recorded(), EVERY).await?;
    Ok((connection, watch))
}

/// What has ended a recording.
enum TapeEnd {
    /// The user, or the end of the console.
    Asked,
    /// The process has ended, or cannot be read any more.
    Process(Option<ClientError>),
    /// The file takes no more.
    File(turbowish_recording::RecordingError),
}

async fn follow(
    mut watch: Watch,
    tape: &mut Tape,
    mut stopped: oneshot::Receiver<()>,
    inbox: &Sender<Envelope>,
) -> TapeEnd {
    loop {
        let state = tokio::select! {
            _ = &mut stopped => return TapeEnd::Asked,
            state = watch.next() => state,
        };
        match state {
            Some(Ok(state)) => {
                if let Err(fault) = tape.put(&state) {
                    return TapeEnd::File(fault);
                }
                // The next one tells, too.
                let _ = inbox.try_send(Message::Taped(tape.written()).into());
            }
            Some(Err(fault)) => return TapeEnd::Process(Some(fault)),
            None => return TapeEnd::Process(None),
        }
    }
}
