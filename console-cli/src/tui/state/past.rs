//! A recording on the screen: its states, and which of them is shown.

use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::units::SECOND;

use crate::recording::{RaisedMark, Recording};

/// A recording, as far as the screen needs to know it. Its states are read one at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Past {
    /// The name of the file, without its folder.
    pub(crate) name: String,
    /// When the states were, in nanoseconds since 1970, in the order of the recording.
    times: Vec<u64>,
    /// Number of states that were due before each of them and were not recorded.
    lost: Vec<u32>,
    /// The marks that alerts were raised, by state.
    raised: Vec<RaisedMark>,
    /// The number of the requested state.
    at: usize,
    /// The number of the displayed state.
    shown: usize,
}

/// A way through a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leap {
    /// To the next state, or to the one before.
    State,
    /// By ten seconds, and by one state at least.
    TenSeconds,
    /// To a state in which an alert begins.
    Alert,
    /// To the state of an alert.
    Spell(AlertTime),
}

/// Kind and time of an alert, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlertTime {
    pub(crate) pitfall: Pitfall,
    pub(crate) began: u64,
    pub(crate) ended: u64,
}

/// Time after the begin of an alert in which a state still belongs to it.
const AFTER_NS: u64 = 2 * SECOND;

/// Time after the end of an alert in which it may be raised: scans may be so far apart.
const LATE_NS: u64 = 12 * SECOND;

impl Past {
    /// A recording under this name, whose state of that number is to be shown.
    pub(crate) fn of(recording: &mut Recording, name: &str, at: usize) -> Self {
        let raised = recording.raised();
        let past = Self::new(name, recording.times().collect(), raised, at);
        past.with_lost(recording.lost().collect())
    }

    /// A recording whose state of that number is to be shown.
    pub(crate) fn new(name: &str, times: Vec<u64>, raised: Vec<RaisedMark>, at: usize) -> Self {
        Self {
            name: name.rsplit('/').next().unwrap_or(name).to_owned(),
            times,
            lost: Vec::new(),
            raised,
            at,
            shown: at,
        }
    }

    /// The numbers of the states in which an alert begins, ascending. A poll that is too long and
    /// then blocks its worker is one alert: that of the worker.
    fn alerts(&self) -> impl DoubleEndedIterator<Item = usize> {
        let goes_on = |(nth, mark): (usize, &RaisedMark)| {
            let until = mark.at_unix_ns.saturating_add(AFTER_NS);
            let later = self.raised[nth + 1..].iter();
            let mut soon = later.take_while(|next| next.at_unix_ns <= until);
            mark.pitfall == Some(Pitfall::LongPoll)
                && soon.any(|next| {
                    next.pitfall == Some(Pitfall::BlockedWorker)
                        && next.severity == Severity::Alert
                        && next.at_unix_ns >= mark.at_unix_ns
                })
        };
        let marks = self.raised.iter().enumerate();
        let alerts = marks.filter(|(_, mark)| mark.severity == Severity::Alert);
        let alerts = alerts.filter(move |mark| !goes_on(*mark));
        alerts.map(|(_, mark)| mark.nth)
    }

    /// The same recording, with the number of states that were lost before each one.
    pub(crate) fn with_lost(self, lost: Vec<u32>) -> Self {
        Self { lost, ..self }
    }

    /// Number of states that were due before the requested one and were not recorded.
    pub(crate) fn lost(&self) -> u32 {
        self.lost.get(self.at).copied().unwrap_or(0)
    }

    /// The number of the requested state.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The requested state has arrived.
    pub(crate) fn arrived(&mut self) {
        self.shown = self.at;
    }

    /// The requested state cannot be read: the displayed one stays.
    pub(crate) fn stay(&mut self) {
        self.at = self.shown;
    }

    /// Requests the last state.
    pub(crate) fn end(&mut self) {
        self.at = self.last();
    }

    fn last(&self) -> usize {
        self.times.len().saturating_sub(1)
    }

    /// Requests another state.
    ///
    /// # Errors
    /// There is none in this direction.
    pub(crate) fn leap(&mut self, leap: Leap, forward: bool) -> Result<(), &'static str> {
        let next = match leap {
            Leap::State => self.beside(forward),
            Leap::TenSeconds => self.ten_seconds(forward),
            Leap::Alert => self.alert(forward),
            Leap::Spell(spell) => self.of_spell(spell),
        };
        self.at = next.ok_or(match (leap, forward) {
            (Leap::Alert, true) => "no alert begins after this state",
            (Leap::Alert, false) => "no alert begins before this state",
            (Leap::Spell(_), _) => "the time of this alert is not kept any more",
            (_, true) => "this is the last state of the recording",
            (_, false) => "this is the first state of the recording",
        })?;
        Ok(())
    }

    fn beside(&self, forward: bool) -> Option<usize> {
        let next = match forward {
            true => self.at.checked_add(1)?,
            false => self.at.checked_sub(1)?,
        };
        (next < self.times.len()).then_some(next)
    }

    fn ten_seconds(&self, forward: bool) -> Option<usize> {
        let beside = self.beside(forward)?;
        let now = *self.times.get(self.at)?;
        let mut others = self.times.iter();
        Some(if forward {
            let to = now.saturating_add(10 * SECOND);
            let last = others.rposition(|time| *time <= to).unwrap_or(beside);
            last.max(beside)
        } else {
            let to = now.saturating_sub(10 * SECOND);
            let first = others.position(|time| *time >= to).unwrap_or(beside);
            first.min(beside)
        })
    }

    fn alert(&self, forward: bool) -> Option<usize> {
        let mut alerts = self.alerts();
        match forward {
            true => alerts.find(|nth| *nth > self.at),
            false => alerts.rfind(|nth| *nth < self.at),
        }
    }

    /// The state of an alert: the first one after it was raised, even if it was over by then; else
    /// the first one with a mark while it was active, the first one while it was active, soon after
    /// its begin, or next to that. `None` if that time is not kept.
    pub(crate) fn of_spell(&self, alert: AlertTime) -> Option<usize> {
        let AlertTime {
            pitfall,
            began,
            ended,
        } = alert;
        let first = *self.times.first()?;
        if began.saturating_add(AFTER_NS) < first {
            return None;
        }
        let between = |from: u64, to: u64| {
            let times = self.times.iter().enumerate();
            times.filter_map(move |(nth, at)| (from <= *at && *at <= to).then_some(nth))
        };
        let marked = |nth: &usize| self.alerts().any(|marked| marked == *nth);
        let active = || between(began, ended.max(began));
        let near = || between(began, began.saturating_add(AFTER_NS)).next();
        let nearest = || {
            let times = self.times.iter().enumerate();
            let nearest = times.min_by_key(|(_, at)| at.abs_diff(began));
            nearest.map(|(nth, _)| nth)
        };
        let time = began..=ended.saturating_add(LATE_NS);
        let is_it =
            |mark: &&RaisedMark| mark.pitfall == Some(pitfall) && time.contains(&mark.at_unix_ns);
        let found = self.raised.iter().find(is_it).map(|mark| mark.nth);
        let found = found.or_else(|| active().find(marked));
        let found = found.or_else(|| active().next());
        found.or_else(near).or_else(nearest)
    }

    /// When the first state was, in nanoseconds since 1970.
    pub(crate) fn begin(&self) -> u64 {
        self.times.first().copied().unwrap_or(0)
    }

    /// How long before the end the displayed state was, in nanoseconds.
    pub(crate) fn before_end_ns(&self) -> u64 {
        let time = |nth: usize| self.times.get(nth).copied().unwrap_or(0);
        time(self.last()).saturating_sub(time(self.shown))
    }

    /// Time between two of the last states, in the mean.
    pub(crate) fn apart_ns(&self) -> u64 {
        const LAST: usize = 10;
        let first = self.times.len().saturating_sub(LAST + 1);
        match self.times[first..] {
            [from, .., to] => to.saturating_sub(from) / (self.times.len() - 1 - first) as u64,
            _ => 0,
        }
    }

    /// `state 48 of 60`
    pub(crate) fn place(&self) -> String {
        format!("state {} of {}", self.shown + 1, self.times.len())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{AlertTime, Leap, Past};
    use crate::recording::{Bytes, RaisedMark, Recording};
    use turbowish_model::snapshot::Snapshot;
    use turbowish_model::snapshot::alert::Severity;
    use turbowish_model::snapshot::pitfall::Pitfall;
    use turbowish_model::snapshot::units::SECOND;
    use turbowish_recording::{Compression, Reader, Writer};

    #[test]
    fn leaps_end_at_the_ends() {
        let times = [0, 1, 2, 3, 9, 13, 14, 40].map(|second| second * SECOND);
        let mut past = Past::new("a/x.tw", times.to_vec(), RaisedMark::alerts([2, 5]), 7);
        let mut check = |leap, forward, expected: Result<usize, &str>| {
            let told = past.leap(leap, forward).map(|()| past.at());
            assert_eq!(told, expected, "{leap:?} {forward}");
        };
        check(
            Leap::State,
            true,
            Err("this is the last state of the recording"),
        );
        check(Leap::State, false, Ok(6));
        check(Leap::State, true, Ok(7));
        // There is no state within ten seconds: the one beside it.
        check(Leap::TenSeconds, false, Ok(6));
        check(Leap::TenSeconds, false, Ok(4));
        check(Leap::TenSeconds, false, Ok(0));
        check(
            Leap::TenSeconds,
            false,
            Err("this is the first state of the recording"),
        );
        check(Leap::TenSeconds, true, Ok(4));
        check(Leap::TenSeconds, true, Ok(6));
        check(Leap::TenSeconds, true, Ok(7));
        check(Leap::Alert, true, Err("no alert begins after this state"));
        check(Leap::Alert, false, Ok(5));
        check(Leap::Alert, false, Ok(2));
        check(Leap::Alert, false, Err("no alert begins before this state"));
        check(Leap::Alert, true, Ok(5));
        past.end();
        assert_eq!((past.at(), &*past.place()), (7, "state 8 of 8"));
    }

    fn stall(began: u64, ended: u64) -> AlertTime {
        AlertTime {
            pitfall: Pitfall::BlockedWorker,
            began,
            ended,
        }
    }

    #[test]
    fn an_alert_leads_to_the_state_that_shows_it() {
        let times = [10, 11, 12, 13, 20].map(|second| second * SECOND).to_vec();
        let past = Past::new("x.tw", times, RaisedMark::alerts([2]), 4);
        let half = SECOND / 2;
        for (began, ended, expected, why) in [
            (
                10 * SECOND + half,
                14 * SECOND,
                Some(2),
                "it is marked there",
            ),
            (12 * SECOND + 1, 14 * SECOND, Some(3), "it was active"),
            (11 * SECOND + 1, 11 * SECOND + half, Some(2), "soon after"),
            (14 * SECOND, 14 * SECOND + 1, Some(3), "the nearest one"),
            (17 * SECOND, 17 * SECOND + 1, Some(4), "the nearest one"),
            (8 * SECOND, 9 * SECOND, Some(0), "just before the first one"),
            (8 * SECOND - 1, 30 * SECOND, None, "it is not kept"),
        ] {
            assert_eq!(past.of_spell(stall(began, ended)), expected, "{why}");
        }
        let empty = Past::new("x.tw", vec![], vec![], 0);
        assert_eq!(empty.of_spell(stall(0, 1)), None);
    }

    /// A stall of 1.2 s: a long poll at first, then a blocked worker, noticed while it lasts or
    /// afterwards; and another one later.
    #[test]
    fn an_alert_that_was_another_one_before_leads_to_where_it_was_raised() {
        const AT: u64 = 1_000 * SECOND;
        const MS: u64 = SECOND / 1000;
        for (raised_ms, expected) in [(1_050, 2), (1_400, 3), (11_900, 14)] {
            let mut writer = Writer::begin(Vec::new(), Compression::Deflate).unwrap();
            let marks = [
                (300, "warning: long poll 300ms in one poll"),
                (raised_ms, "alert: blocked worker w0 1.00 s+: in one poll"),
                (20_300, "alert: blocked worker w0 1.00 s+: in one poll"),
            ];
            let mut marks = marks.into_iter().peekable();
            for at in [310, 1_060, 1_500]
                .into_iter()
                .chain((2..30).map(|s| s * 1_000))
            {
                while let Some((mark, text)) = marks.next_if(|(mark, _)| *mark <= at) {
                    writer.mark(AT + mark * MS, text).unwrap();
                }
                let state = Snapshot {
                    at_unix_ns: AT + at * MS,
                    ..Snapshot::default()
                };
                writer.state(&state, 0).unwrap();
            }
            let bytes: Box<dyn Bytes> = Box::new(Cursor::new(writer.end().unwrap()));
            let reader = Reader::open(bytes).unwrap();
            let past = Past::of(&mut Recording::of("x.tw".to_owned(), reader), "x.tw", 0);
            let stall = stall(AT, AT + 1_200 * MS);
            assert_eq!(
                past.of_spell(stall).map(|nth| nth + 1),
                Some(expected),
                "{raised_ms}"
            );
        }
    }

    #[test]
    fn a_long_poll_that_blocks_its_worker_is_one_alert() {
        let times = (0..40).map(|second| second * SECOND).collect();
        let mark = |second: u64, pitfall| RaisedMark {
            nth: second as usize,
            at_unix_ns: second * SECOND,
            severity: Severity::Alert,
            pitfall: Some(pitfall),
        };
        let raised = vec![
            mark(5, Pitfall::LongPoll),
            mark(10, Pitfall::LongPoll),
            mark(11, Pitfall::BlockedWorker),
            mark(15, Pitfall::LongPoll),
            RaisedMark {
                severity: Severity::Note,
                ..mark(16, Pitfall::BlockedWorker)
            },
            mark(30, Pitfall::LongPoll),
            mark(31, Pitfall::TaskLeak),
            mark(32, Pitfall::BlockedWorker),
        ];
        let mut past = Past::new("x.tw", times, raised, 39);
        let mut seen = Vec::new();
        while past.leap(Leap::Alert, false).is_ok() {
            seen.push(past.at());
        }
        assert_eq!(seen, [32, 31, 15, 11, 5]);
    }

    #[test]
    fn what_cannot_be_read_is_not_shown() {
        let mut past = Past::new("x.tw", vec![0, 10 * SECOND], Vec::new(), 1);
        past.leap(Leap::State, false).unwrap();
        assert_eq!(past.before_end_ns(), 0);
        past.stay();
        assert_eq!((past.at(), &*past.place()), (1, "state 2 of 2"));
        past.leap(Leap::State, false).unwrap();
        past.arrived();
        assert_eq!(
            (past.before_end_ns(), &*past.place()),
            (10 * SECOND, "state 1 of 2")
        );
    }
}
