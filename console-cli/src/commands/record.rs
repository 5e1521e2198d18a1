//! `turbowish record`: the states of a process, in a file. Whatever ends the command, the file is
//! whole up to there.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _, stderr};
use std::path::Path;
use std::time::Duration;

use tokio::signal::unix::SignalKind;
use tokio::time::{Instant, interval, sleep_until};
use turbowish_model::query::Query;
use turbowish_model::snapshot::alert::{Alert, Party};
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Process, Snapshot, sanitize};
use turbowish_recording::{Compression, RecordingError, Writer};
use turbowish_wire::client::{ClientError, Connection, Watch};

use crate::args::RecordArgs;
use crate::failure::{Failure, note};
use crate::recording::{self, ALERT_MARK};
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
    source::runtime()?.block_on(async {
        // Installed before the file is created: from then on a signal ends it whole.
        let mut signals = Signals::new().map_err(|cause| Failure::local("cannot start", &cause))?;
        let connection = tokio::select! {
            connected = source::connect(target.as_ref(), source::PATIENCE) => connected?,
            signal = signals.first() => return Err(Failure::signal(signal)),
        };
        let watch = connection.watch(Query::recorded(), args.every).await?;
        let file = create(&args.out, args.force)?;
        let name = args.out.display().to_string();
        let writer = Writer::begin(file, Compression::Deflate);
        let mut tape = Tape {
            writer: writer.map_err(|fault| cannot_write(&name, &fault))?,
            name,
            every_ns: u64::try_from(args.every.as_nanos()).unwrap_or(u64::MAX),
            last: None,
            states: 0,
            lost: 0,
        };
        let ended = follow(args, watch, &mut tape, &mut signals).await;
        finish(tape, &connection, ended)
    })
}

/// Creates the file.
fn create(path: &Path, force: bool) -> Result<File, Failure> {
    let name = path.display();
    recording::create(path, force).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => Failure::Local(format!(
            "{name} exists; another name, or --force to overwrite it"
        )),
        _ => Failure::local(&format!("cannot create {name}"), &cause),
    })
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
            _ = ticks.tick() => progress.show(tape),
        }
    };
    progress.clear();
    ended
}

/// Ends the file, and says what is in it.
fn finish(tape: Tape, connection: &Connection, ended: Ended) -> Result<(), Failure> {
    let Process { name, pid, .. } = connection.process();
    let (file, summary, states) = (tape.name.clone(), tape.summary(), tape.states);
    let written = tape.writer.written();
    let flushed = tape.writer.end();
    if let (Ended::File(_), Ok(file)) = (&ended, &flushed) {
        // Half a chunk is no use to anybody. A device has no length.
        let _ = file.set_len(written);
    }
    let told = match ended {
        Ended::File(fault) => Err(cannot_write(&file, &fault)),
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
    told.and(
        flushed
            .map(drop)
            .map_err(|fault| cannot_write(&file, &fault)),
    )
}

fn cannot_write(file: &str, fault: &RecordingError) -> Failure {
    Failure::Local(format!("cannot write {file}: {fault}"))
}

/// The file, and what it has so far.
struct Tape {
    name: String,
    writer: Writer<File>,
    every_ns: u64,
    last: Option<Last>,
    states: u64,
    lost: u64,
}

/// What the next state is compared with.
struct Last {
    uptime_ns: u64,
    alerts: BTreeSet<Spell>,
}

/// One of the times that an alert was active: its kind, its first party and how often it was.
type Spell = (&'static str, Option<Party>, u64);

fn spell(alert: &Alert) -> Spell {
    let Alert {
        pitfall,
        parties,
        times,
        ..
    } = alert;
    (pitfall.id(), parties.first().cloned(), *times)
}

impl Tape {
    /// Writes a state, and a mark for each alert that was not in the state before.
    fn put(&mut self, state: &Snapshot) -> Result<(), RecordingError> {
        let uptime_ns = state.process.uptime_ns;
        let alerts = &state.alerts.rows;
        let lost = self.last.as_ref().map_or(0, |last| {
            missed(uptime_ns.saturating_sub(last.uptime_ns), self.every_ns)
        });
        if let Some(last) = &self.last {
            for alert in alerts
                .iter()
                .filter(|alert| !last.alerts.contains(&spell(alert)))
            {
                let text = format!("{ALERT_MARK}{}", alert.title);
                self.writer.mark(state.at_unix_ns, &text)?;
            }
        }
        self.writer.state(state, lost)?;
        self.states += 1;
        self.lost += u64::from(lost);
        self.last = Some(Last {
            uptime_ns,
            alerts: alerts.iter().map(spell).collect(),
        });
        Ok(())
    }

    /// `12 states, 148 KiB, 0 lost`
    fn summary(&self) -> String {
        let states = match self.states {
            1 => "1 state".to_owned(),
            count => format!("{} states", units::count(count)),
        };
        format!(
            "{states}, {}, {} lost",
            units::bytes(self.writer.written()),
            units::count(self.lost)
        )
    }
}

/// Number of states that were due between two of them.
fn missed(between_ns: u64, every_ns: u64) -> u32 {
    let every_ns = every_ns.max(1);
    let due = between_ns.saturating_add(every_ns / 2) / every_ns;
    u32::try_from(due.saturating_sub(1)).unwrap_or(u32::MAX)
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

    fn show(&self, tape: &Tape) {
        let now = Instant::now();
        let seconds = |time: Duration| {
            let whole = time.as_secs() * units::SECOND;
            units::duration(whole, Micro::Unicode)
        };
        let time = match self.until {
            Some(until) => format!("{} left", seconds(until.saturating_duration_since(now))),
            None => format!("{}, Ctrl-C ends it", seconds(now - self.begin)),
        };
        let line = format!("{}: {}, {time}", tape.name, tape.summary());
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

#[cfg(test)]
mod tests {
    use super::missed;

    #[test]
    fn states_that_were_due_are_counted() {
        const MS: u64 = 1_000_000;
        for (between_ms, every_ms, expected) in [
            (0, 1_000, 0),
            (1_000, 1_000, 0),
            (1_400, 1_000, 0),
            (1_600, 1_000, 1),
            (3_000, 1_000, 2),
            (10_100, 100, 100),
            (5, 0, 4_999_999),
        ] {
            let told = missed(between_ms * MS, every_ms * MS);
            assert_eq!(told, expected, "{between_ms} ms of {every_ms}");
        }
    }
}
