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
use turbowish_recording::{ChunkHeader, ChunkKind, FILE_HEADER};
use turbowish_wire::Action;
use turbowish_wire::client::{Connection, Target};

use super::{create, exists};
use crate::args::RecordArgs;
use crate::failure::{Failure, note};
use crate::signals::Signals;
use crate::source;

/// A process copies what its threads have recorded within this time.
const COPIED: Duration = Duration::from_millis(300);

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
    connection.control(Action::RecordEvents(classes)).await?;
    let process = source::label(connection.process());
    let listed = match classes {
        EventClasses::NONE => "nothing".to_owned(),
        classes => classes.text(),
    };
    note(&format!("{process} records {listed} from now on"));
    let Some(out) = &args.out else {
        return Ok(());
    };
    let written = keep(args, out, &connection, &mut signals, classes).await;
    if let Ok((_, bytes)) = &written {
        let bytes = units::bytes(*bytes);
        note(&format!("{}: {bytes}, {listed}", out.display()));
    }
    if !matches!(written, Err(Failure::Target(_))) {
        // What it recorded before is not known here.
        let pid = connection.process().pid;
        note(&format!(
            "{process} goes on recording {listed}; turbowish record {pid} --events CLASSES changes that"
        ));
    }
    match written? {
        (Some(signal), _) if signal != SignalKind::interrupt() => Err(Failure::signal(signal)),
        _ => Ok(()),
    }
}

/// Writes the file when the time is over or a signal has come. Returns the signal, and the number
/// of bytes. The file is created after the process has agreed: a refusal leaves none.
async fn keep(
    args: &RecordArgs,
    out: &Path,
    connection: &Connection,
    signals: &mut Signals,
    classes: EventClasses,
) -> Result<(Option<SignalKind>, u64), Failure> {
    let file = create(out, args.force)?;
    let from = source::since(Some(Duration::ZERO));
    let ended = wait(args, connection, signals).await?;
    sleep(COPIED).await;
    let bytes = write(file, out, connection, from, classes).await?;
    Ok((ended, bytes))
}

/// Waits until the time is over, or for a signal, which is returned.
async fn wait(
    args: &RecordArgs,
    connection: &Connection,
    signals: &mut Signals,
) -> Result<Option<SignalKind>, Failure> {
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
        Err(Failure::target(format!(
            "{} has ended, and what it kept with it; turbowish recover makes a file of what it has left",
            source::label(connection.process())
        )))
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
        if has(header.kind) {
            wanted.extend_from_slice(chunk);
        }
        rest = behind;
    }
    wanted
}

#[cfg(test)]
mod tests {
    use turbowish_model::event::{EventClass, EventClasses};
    use turbowish_recording::{ChunkKind, encode};

    use super::of_classes;

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
