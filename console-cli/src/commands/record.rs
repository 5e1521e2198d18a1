//! `turbowish record`: the states of a process, in a file. Whatever ends the command, the file is
//! whole up to there.

mod classes;

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _, stderr};
use std::path::Path;
use std::time::Duration;

use tokio::signal::unix::SignalKind;
use tokio::time::{Instant, interval, sleep_until};
use turbowish_model::query::Query;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Process, sanitize};
use turbowish_recording::RecordingError;
use turbowish_wire::client::{ClientError, Connection, Watch};

use crate::args::RecordArgs;
use crate::failure::{Failure, note};
use crate::recording::{self, Tape};
use crate::signals::Signals;
use crate::source;

/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_millis(500);

/// Runs the command.
///
/// # Errors
/// A target that cannot be reached, a file that exists or cannot be written, or a signal other than
/// an interrupt.
pub(crate) fn run(args: &RecordArgs, token: Option<&str>) -> Result<(), Failure> {
    let target = source::target(args.target.as_deref(), token)?;
    let runtime = source::runtime()?;
    if let Some(classes) = args.events {
        return runtime.block_on(classes::run(args, target.as_ref(), classes));
    }
    let Some(out) = &args.out else {
        return Err(Failure::usage("--out FILE or --events CLASSES"));
    };
    runtime.block_on(async {
        // Installed before the file is created: from then on a signal ends it whole.
        let mut signals = Signals::new().map_err(|cause| Failure::local("cannot start", &cause))?;
        let connection = tokio::select! {
            connected = source::connect(target.as_ref(), source::PATIENCE) => connected?,
            signal = signals.first() => return Err(Failure::signal(signal)),
        };
        let watch = connection.watch(Query::recorded(), args.every).await?;
        let file = create(out, args.force)?;
        let name = out.display().to_string();
        let mut tape =
            Tape::begin(file, args.every).map_err(|fault| cannot_write(&name, &fault))?;
        let ended = follow(args, &name, watch, &mut tape, &mut signals).await;
        finish(&name, tape, &connection, ended)
    })
}

/// Creates the file.
fn create(path: &Path, force: bool) -> Result<File, Failure> {
    let name = path.display();
    recording::create(path, force).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => Failure::local(&format!("cannot create {name}"), &cause),
    })
}

/// The file is there, and is not to be overwritten.
fn exists(path: &Path) -> Failure {
    let name = path.display();
    Failure::Local(format!(
        "{name} exists; another name, or --force to overwrite it"
    ))
}

/// What has ended the recording.
enum Ended {
    /// The requested time is over.
    Time,
    /// A signal.
    Signal(SignalKind),
    /// The process has ended, or cannot be read any more.
    Process(Option<ClientError>),
    /// The file takes no more.
    File(RecordingError),
}

/// Writes states until something ends that.
async fn follow(
    args: &RecordArgs,
    name: &str,
    mut watch: Watch,
    tape: &mut Tape,
    signals: &mut Signals,
) -> Ended {
    let begin = Instant::now();
    let until = args.during.map(|during| begin + during);
    let mut ticks = interval(PROGRESS);
    let progress = ProgressLine::new(begin, until);
    let ended = loop {
        let over = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            signal = signals.first() => break Ended::Signal(signal),
            state = watch.next() => match state {
                Some(Ok(state)) => if let Err(fault) = tape.put(&state) {
                    break Ended::File(fault);
                },
                Some(Err(error)) => break Ended::Process(Some(error)),
                None => break Ended::Process(None),
            },
            () = over => break Ended::Time,
            _ = ticks.tick() => progress.show(name, tape),
        }
    };
    progress.clear();
    ended
}

/// Ends the file, and says what is in it.
fn finish(file: &str, tape: Tape, connection: &Connection, ended: Ended) -> Result<(), Failure> {
    let Process { name, pid, .. } = connection.process();
    let (summary, states) = (tape.summary(), tape.states());
    let flushed = tape.end();
    let told = match ended {
        Ended::File(fault) => Err(cannot_write(file, &fault)),
        Ended::Process(Some(error)) if states == 0 => return Err(error.into()),
        Ended::Process(None) => {
            note(&format!("{name} {pid} has ended"));
            Ok(())
        }
        Ended::Process(Some(gone @ ClientError::Gone { .. })) => {
            note(&gone.to_string());
            Ok(())
        }
        Ended::Process(Some(error)) => Err(error.into()),
        Ended::Signal(signal) if signal != SignalKind::interrupt() => Err(Failure::signal(signal)),
        Ended::Time | Ended::Signal(_) => Ok(()),
    };
    note(&format!("{file}: {summary}"));
    told.and(flushed.map_err(|fault| cannot_write(file, &fault)))
}

fn cannot_write(file: &str, fault: &RecordingError) -> Failure {
    Failure::Local(format!("cannot write {file}: {fault}"))
}

/// One line on the terminal, written over again and again; elsewhere nothing.
struct ProgressLine {
    begin: Instant,
    until: Option<Instant>,
    is_shown: bool,
}

impl ProgressLine {
    fn new(begin: Instant, until: Option<Instant>) -> Self {
        Self {
            begin,
            until,
            is_shown: stderr().is_terminal(),
        }
    }

    fn show(&self, name: &str, tape: &Tape) {
        let now = Instant::now();
        let seconds = |time: Duration| {
            let whole = time.as_secs() * units::SECOND;
            units::duration(whole, Micro::Unicode)
        };
        let time = match self.until {
            Some(until) => format!("{} left", seconds(until.saturating_duration_since(now))),
            None => format!("{}, Ctrl-C ends it", seconds(now - self.begin)),
        };
        let line = format!("{name}: {}, {time}", tape.summary());
        self.write(&format!("\r{}\x1b[K", sanitize::line(&line)));
    }

    fn clear(&self) {
        self.write("\r\x1b[K");
    }

    /// A terminal that cannot be written to does not end the recording.
    fn write(&self, text: &str) {
        if self.is_shown {
            let _: io::Result<()> = stderr().write_all(text.as_bytes());
        }
    }
}
