//! `turbowish record --events`: which classes a process records, and a file of what it has kept of
//! them.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use tokio::signal::unix::SignalKind;
use tokio::time::{Instant, sleep, sleep_until};
use turbowish_model::event::{EventClass, EventClasses};
use turbowish_model::query::Query;
use turbowish_model::snapshot::units;
use turbowish_recording::{
    ChunkHeader, ChunkKind, EventBatch, EventEncoder, FILE_HEADER, HEADER_BYTES, ThreadEventKind,
    encode,
};
use turbowish_wire::Action;
use turbowish_wire::client::{ClientError, Connection, Target};

use super::{create, exists};
use crate::args::RecordArgs;
use crate::failure::{Failure, note};
use crate::signals::Signals;
use crate::source;

/// A process copies what its threads have recorded within this time.
const COPIED: Duration = Duration::from_millis(300);

/// A process notices within this time that a connection is gone: see `server/connection.rs`.
const NOTICED: Duration = Duration::from_secs(80);

/// Time between two looks whether the process is still there.
const LOOK: Duration = Duration::from_secs(1);

pub(super) async fn run(
    args: &RecordArgs,
    target: Option<&Target>,
    classes: EventClasses,
) -> Result<(), Failure> {
    let mut signals = Signals::new().map_err(|cause| Failure::local("cannot start", &cause))?;
    if let Some(out) = &args.out
        && !args.force
        && out.symlink_metadata().is_ok()
    {
        return Err(exists(out));
    }
    let connection = source::connect(target, source::PATIENCE).await?;
    let process = source::label(connection.process());
    let Some(out) = &args.out else {
        let before = connection.controlled(Action::RecordEvents(classes)).await?;
        let before = before.recorded_before.map(listed);
        let before = before.map(|before| format!("; before, it recorded {before}"));
        note(&format!(
            "{process} records {} from now on{}",
            listed(classes),
            before.unwrap_or_default()
        ));
        return Ok(());
    };
    let hold = Hold::begin(&connection, classes).await?;
    note(&format!("{process} {}", hold.begun()));
    let kept = keep(args, out, &connection, &mut signals, classes).await;
    match &kept {
        Ok(Kept { bytes, .. }) => {
            let bytes = units::bytes(*bytes);
            note(&format!("{}: {bytes}, {}", out.display(), listed(classes)));
            note(&format!("{process} {}", hold.end(&connection).await));
        }
        // Nothing is left that records.
        Err(NotKept::Ended) => {}
        Err(NotKept::Failed(_)) => note(&format!("{process} {}", hold.end(&connection).await)),
    }
    match kept {
        Ok(Kept { signal, .. }) => match signal {
            Some(signal) if signal != SignalKind::interrupt() => Err(Failure::signal(signal)),
            _ => Ok(()),
        },
        Err(NotKept::Ended) => Err(Failure::target(format!(
            "{process} has ended, and what it kept with it; turbowish recover makes a file of what it has left"
        ))),
        Err(NotKept::Failed(failure)) => Err(failure),
    }
}

/// What was written, and the signal that has ended it.
struct Kept {
    signal: Option<SignalKind>,
    bytes: u64,
}

/// Why nothing was written, or only a part.
enum NotKept {
    /// The process has ended.
    Ended,
    Failed(Failure),
}

impl<F: Into<Failure>> From<F> for NotKept {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// The classes that a process records for this command.
struct Hold {
    classes: EventClasses,
    /// What it records anyway; `None` for a process that is too old to take the classes back when
    /// the connection ends.
    anyway: Option<EventClasses>,
}

impl Hold {
    async fn begin(connection: &Connection, classes: EventClasses) -> Result<Self, Failure> {
        let held = connection.controlled(Action::HoldEvents(classes)).await;
        let anyway = match held {
            Ok(reply) => Some(reply.recorded_before.unwrap_or_default()),
            // It knows no such request.
            Err(ClientError::BadQuery { .. }) => {
                connection.control(Action::RecordEvents(classes)).await?;
                None
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { classes, anyway })
    }

    fn begun(&self) -> String {
        let own = listed(self.classes);
        match self.anyway {
            Some(anyway) => format!(
                "records {own} until this ends, and {} anyway",
                listed(anyway)
            ),
            None => format!("records {own} from now on"),
        }
    }

    /// Takes the classes back, and says what the process does afterwards.
    async fn end(self, connection: &Connection) -> String {
        let own = listed(self.classes);
        if self.anyway.is_none() {
            // What it recorded before is not known here.
            let pid = connection.process().pid;
            return format!(
                "goes on recording {own}; turbowish record {pid} --events CLASSES changes that"
            );
        }
        let none = Action::HoldEvents(EventClasses::NONE);
        match connection.controlled(none).await {
            Ok(reply) => {
                let anyway = reply.recorded_before.unwrap_or_default();
                format!("goes on recording {}", listed(anyway))
            }
            Err(_) => format!(
                "cannot be asked any more; if it runs, it stops recording {own} for this command \
                 when it notices that, within {} s",
                NOTICED.as_secs()
            ),
        }
    }
}

fn listed(classes: EventClasses) -> String {
    match classes {
        EventClasses::NONE => "nothing".to_owned(),
        classes => classes.text(),
    }
}

/// Writes the file when the time is over or a signal has come. The file is created after the
/// process has agreed: a refusal leaves none.
async fn keep(
    args: &RecordArgs,
    out: &Path,
    connection: &Connection,
    signals: &mut Signals,
    classes: EventClasses,
) -> Result<Kept, NotKept> {
    let file = create(out, args.force)?;
    let from = source::since(Some(Duration::ZERO));
    let signal = wait(args, connection, signals).await?;
    sleep(COPIED).await;
    let bytes = write(file, out, connection, from, classes).await?;
    Ok(Kept { signal, bytes })
}

/// Waits until the time is over, or for a signal, which is returned.
async fn wait(
    args: &RecordArgs,
    connection: &Connection,
    signals: &mut Signals,
) -> Result<Option<SignalKind>, NotKept> {
    let until = args.during.map(|during| Instant::now() + during);
    let over = async {
        match until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
    };
    // No rows: a sign of life.
    let mut alive = connection.watch(Query::default(), LOOK).await?;
    let ended = async {
        while let Some(state) = alive.next().await {
            state?;
        }
        Err(NotKept::Ended)
    };
    tokio::select! {
        signal = signals.first() => Ok(Some(signal)),
        () = over => Ok(None),
        ended = ended => ended,
    }
}

/// Writes what the process has kept of these classes since an instant. Returns the number of
/// bytes.
async fn write(
    mut file: File,
    out: &Path,
    connection: &Connection,
    from: u64,
    classes: EventClasses,
) -> Result<u64, Failure> {
    let cannot = |cause| Failure::local(&format!("cannot write {}", out.display()), &cause);
    let mut chunks = connection.past(from, 0).await?;
    let mut bytes = FILE_HEADER.len() as u64;
    file.write_all(&FILE_HEADER).map_err(cannot)?;
    while let Some(chunk) = chunks.next().await {
        let wanted = of_classes(&chunk?, classes);
        bytes += wanted.len() as u64;
        file.write_all(&wanted).map_err(cannot)?;
    }
    Ok(bytes)
}

/// The whole chunks of these classes, and names.
fn of_classes(chunks: &[u8], classes: EventClasses) -> Vec<u8> {
    let has = |kind| match kind {
        ChunkKind::State | ChunkKind::Mark => classes.has(EventClass::States),
        ChunkKind::Polls => classes.has(EventClass::Polls),
        ChunkKind::Events => classes.has(EventClass::Waits) || classes.has(EventClass::User),
        ChunkKind::Calls => classes.has(EventClass::Calls),
        _ => true,
    };
    let (mut wanted, mut rest) = (Vec::new(), chunks);
    while let Some((header, chunk, behind)) = ChunkHeader::split(rest) {
        rest = behind;
        if !has(header.kind) {
            continue;
        }
        match (header.kind, events_of_classes(&header, chunk, classes)) {
            (ChunkKind::Events, Some(events)) => wanted.extend(events),
            _ => wanted.extend_from_slice(chunk),
        }
    }
    wanted
}

/// The chunk with those of its events that are of these classes. `None` if it has no events that
/// this version reads.
fn events_of_classes(header: &ChunkHeader, chunk: &[u8], classes: EventClasses) -> Option<Vec<u8>> {
    let batch = EventBatch::read(header.at_unix_ns, chunk.get(HEADER_BYTES..)?)?;
    let mut encoder = EventEncoder::begin(header.at_unix_ns, batch.thread, batch.lost);
    for event in &batch.events {
        let class = match event.kind {
            ThreadEventKind::User { .. } => EventClass::User,
            _ => EventClass::Waits,
        };
        if classes.has(class) {
            encoder.push(event);
        }
    }
    encode(ChunkKind::Events, header.at_unix_ns, 0, &encoder.end())
}

#[cfg(test)]
mod tests {
    use turbowish_model::account::resource::Role;
    use turbowish_model::event::{EventClass, EventClasses};
    use turbowish_recording::{
        ChunkKind, EventBatch, EventEncoder, HEADER_BYTES, ResourceSpan, ThreadEvent,
        ThreadEventKind, encode,
    };

    use super::of_classes;

    fn user(at_unix_ns: u64) -> ThreadEvent {
        ThreadEvent {
            at_unix_ns,
            task: 3,
            kind: ThreadEventKind::User {
                site: 1,
                values: [0; 4],
            },
        }
    }

    fn hold(at_unix_ns: u64) -> ThreadEvent {
        let span = ResourceSpan {
            resource: 9,
            duration_ns: 5,
            role: Role::Lock,
            amount: 1,
        };
        ThreadEvent {
            kind: ThreadEventKind::Held(span),
            ..user(at_unix_ns)
        }
    }

    /// Waits and the program's own events are in one chunk.
    #[test]
    fn a_chunk_of_events_has_those_of_the_classes() {
        let events = [user(10), hold(12), user(13)];
        let mut encoder = EventEncoder::begin(7, 2, 4);
        events.iter().for_each(|event| encoder.push(event));
        let chunk = encode(ChunkKind::Events, 7, 0, &encoder.end()).expect("it is short");
        let check = |text: &str, expected: &[ThreadEvent]| {
            let classes = EventClasses::parse(text).expect("known words");
            let got = of_classes(&chunk, classes);
            let batch = EventBatch::read(7, &got[HEADER_BYTES..]).expect("events");
            assert_eq!((batch.thread, batch.lost), (2, 4));
            assert_eq!(batch.events, expected);
        };
        check("waits,user", &events);
        check("user", &[events[0], events[2]]);
        check("waits", &[events[1]]);
    }

    #[test]
    fn a_file_has_the_classes_that_were_asked_for() {
        let kinds = [
            ChunkKind::Names,
            ChunkKind::State,
            ChunkKind::Polls,
            ChunkKind::Events,
            ChunkKind::Calls,
            ChunkKind::Mark,
        ];
        let chunk = |kind| encode(kind, 7, 0, b"body").expect("it is short");
        let all: Vec<u8> = kinds.into_iter().flat_map(chunk).collect();
        let check = |classes: &[EventClass], expected: &[ChunkKind]| {
            let classes = classes
                .iter()
                .fold(EventClasses::NONE, |all, class| all.with(*class));
            let expected: Vec<u8> = expected.iter().copied().flat_map(chunk).collect();
            assert_eq!(of_classes(&all, classes), expected);
        };
        check(&EventClass::ALL, &kinds);
        check(&[], &[ChunkKind::Names]);
        let states = [ChunkKind::Names, ChunkKind::State, ChunkKind::Mark];
        check(&[EventClass::States], &states);
        check(&[EventClass::Polls], &[ChunkKind::Names, ChunkKind::Polls]);
        for class in [EventClass::Waits, EventClass::User] {
            check(&[class], &[ChunkKind::Names, ChunkKind::Events]);
        }
        check(&[EventClass::Calls], &[ChunkKind::Names, ChunkKind::Calls]);
    }
}
