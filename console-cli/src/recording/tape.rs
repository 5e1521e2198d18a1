//! Tape: the states of a process in a file, as they come. Whatever ends it, the file is whole up to
//! there.

use std::collections::BTreeSet;
use std::fs::File;
use std::time::Duration;

use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::alert::{Alert, Party};
use turbowish_model::snapshot::units;
use turbowish_recording::{Compression, RecordingError, Writer};

use super::ALERT_MARK;

/// A file of states that is being written.
#[derive(Debug)]
pub(crate) struct Tape {
    writer: Writer<File>,
    every_ns: u64,
    last: Option<Last>,
    states: u64,
    lost: u64,
}

/// What the next state is compared with.
#[derive(Debug)]
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
    /// Begins a recording, to which a state comes at each interval.
    ///
    /// # Errors
    /// The file takes no bytes.
    pub(crate) fn begin(file: File, every: Duration) -> Result<Self, RecordingError> {
        Ok(Self {
            writer: Writer::begin(file, Compression::Deflate)?,
            every_ns: u64::try_from(every.as_nanos()).unwrap_or(u64::MAX),
            last: None,
            states: 0,
            lost: 0,
        })
    }

    /// Number of states in the file.
    pub(crate) const fn states(&self) -> u64 {
        self.states
    }

    /// Bytes in the file.
    pub(crate) fn written(&self) -> u64 {
        self.writer.written()
    }

    /// Ends the file. After a failure, half a chunk is cut off: it is no use to anybody.
    ///
    /// # Errors
    /// The file cannot be written to its end.
    pub(crate) fn end(self) -> Result<(), RecordingError> {
        let written = self.writer.written();
        let file = self.writer.end()?;
        // A device has no length.
        if file.metadata().is_ok_and(|about| about.len() > written) {
            let _ = file.set_len(written);
        }
        Ok(())
    }

    /// Writes a state, and a mark for each alert that was not in the state before.
    ///
    /// # Errors
    /// The file takes no more. What was written before is whole.
    pub(crate) fn put(&mut self, state: &Snapshot) -> Result<(), RecordingError> {
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
    pub(crate) fn summary(&self) -> String {
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
