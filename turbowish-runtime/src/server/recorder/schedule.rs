//! When states are recorded.

use std::time::Duration;

use tokio::time::Instant;

use super::super::pace::{Pace, Shares};

/// Time from one state to the next, unless a state takes long.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time from one state that news have caused to the next one.
const EXTRA: Duration = Duration::from_secs(1);

/// Time from one state that an alert has caused, although the states have had their share, to the
/// next one; and twice the time between two states at least.
const URGENT: Duration = Duration::from_secs(10);

/// Time between two looks for news.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// Making the states. A state of a million tasks takes seconds: there is one in five minutes, then.
const SHARES: Shares = Shares {
    most: 200,
    longest: Duration::from_secs(300),
    free: 200,
    free_again: 250,
};

/// Decides when a state is due: time is a parameter.
pub(super) struct Schedule {
    pace: Pace,
    interval: Duration,
    /// Start of the last state; `None` if none was made since accounting was armed.
    begun: Option<Instant>,
    /// Start of the last state that news have caused.
    extra: Option<Instant>,
    /// Start of the last state that an alert has caused beyond the share.
    urgent: Option<Instant>,
    /// There are news that no state shows.
    is_told: bool,
    /// An alert is among them.
    is_urgent: bool,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            pace: Pace::new(INTERVAL, SHARES),
            interval: INTERVAL,
            begun: None,
            extra: None,
            urgent: None,
            is_told: false,
            is_urgent: false,
        }
    }
}

impl Schedule {
    /// When to look again, after a look at `now`.
    pub(super) fn next_look(&self, now: Instant) -> Instant {
        let look = now + LOOK;
        let due = self.begun.map(|begun| begun + self.interval);
        due.map_or(look, |due| look.min(due.max(now)))
    }

    /// There are news: a state is to show them, soon if they are urgent.
    pub(super) const fn tell(&mut self, is_urgent: bool) {
        self.is_told = true;
        self.is_urgent |= is_urgent;
    }

    /// Accounting is disarmed: the next state is due when it is armed again.
    pub(super) const fn rest(&mut self) {
        self.start(None);
    }

    /// A state begins, which shows what is new.
    const fn start(&mut self, at: Option<Instant>) {
        self.begun = at;
        (self.is_told, self.is_urgent) = (false, false);
    }

    /// If a state is due, begins it, and returns how many were due before and were not begun.
    pub(super) fn begin(&mut self, now: Instant) -> Option<u32> {
        let Some(begun) = self.begun else {
            self.start(Some(now));
            return Some(0);
        };
        let passed = now.saturating_duration_since(begun);
        let due = passed.as_nanos() / self.interval.as_nanos().max(1);
        if due == 0 {
            let within = |last: Option<Instant>, time: Duration| {
                last.is_some_and(|last| now.saturating_duration_since(last) < time)
            };
            if !self.is_told || within(self.extra, EXTRA) {
                return None;
            }
            if passed < self.pace.least() {
                if !self.is_urgent || within(self.urgent, URGENT.max(2 * self.interval)) {
                    return None;
                }
                self.urgent = Some(now);
            }
            self.extra = Some(now);
        }
        self.start(Some(now));
        Some(u32::try_from(due.saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// The state that was begun last took this much processor time.
    pub(super) fn took(&mut self, took: Duration) {
        self.interval = self.pace.next(took);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{LOOK, Schedule};

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The instants of states, and the number of lost ones before each. A state takes `took`, news
    /// come at `news`, and after each first instant of `late` the next look is at the second one.
    /// All in milliseconds.
    fn check(took: u64, news: &[u64], late: &[(u64, u64)], until: u64, expected: &[(u64, u32)]) {
        check_news(took, (news, false), late, until, expected);
    }

    /// The same, where the news are those of alerts if they are urgent.
    fn check_news(
        took: u64,
        (news, is_urgent): (&[u64], bool),
        late: &[(u64, u64)],
        until: u64,
        expected: &[(u64, u32)],
    ) {
        let begin = Instant::now();
        let mut schedule = Schedule::default();
        let mut made = Vec::new();
        let (mut now, mut news) = (begin, news);
        while now < begin + ms(until) {
            let told = news.partition_point(|at| begin + ms(*at) <= now);
            if told > 0 {
                schedule.tell(is_urgent);
                news = &news[told..];
            }
            if let Some(lost) = schedule.begin(now) {
                let at = u64::try_from((now - begin).as_millis()).unwrap();
                made.push((at, lost));
                schedule.took(ms(took));
            }
            let next = schedule.next_look(now);
            assert!(next > now && next <= now + LOOK);
            // The thread was not run meanwhile.
            let slept = late.iter().find(|(from, _)| begin + ms(*from) == now);
            now = slept.map_or(next, |(_, to)| begin + ms(*to));
        }
        assert_eq!(made, expected, "{took} {news:?} {late:?}");
    }

    #[test]
    fn states_come_once_a_second_or_as_often_as_their_share_allows() {
        check(
            5,
            &[],
            &[],
            3_100,
            &[(0, 0), (1_000, 0), (2_000, 0), (3_000, 0)],
        );
        check(
            10,
            &[],
            &[],
            6_100,
            &[(0, 0), (2_000, 0), (4_000, 0), (6_000, 0)],
        );
        check(200, &[], &[], 80_100, &[(0, 0), (40_000, 0), (80_000, 0)]);
        check(9_000, &[], &[], 300_100, &[(0, 0), (300_000, 0)]);
    }

    #[test]
    fn what_was_due_and_not_begun_is_counted() {
        check(
            1,
            &[],
            &[(1_000, 4_900)],
            6_000,
            &[(0, 0), (1_000, 0), (4_900, 2), (5_900, 0)],
        );
        check(
            10,
            &[],
            &[(2_000, 8_100)],
            9_000,
            &[(0, 0), (2_000, 0), (8_100, 2)],
        );
    }

    #[test]
    fn news_cause_one_state_a_second_within_the_share() {
        // At the next look after the news, and the interval begins there.
        check(
            1,
            &[1_300],
            &[],
            2_600,
            &[(0, 0), (1_000, 0), (1_500, 0), (2_500, 0)],
        );
        // A state takes 4 ms, so the next one comes no sooner than 800 ms later.
        check(4, &[100], &[], 2_100, &[(0, 0), (1_000, 0), (2_000, 0)]);
        check(3, &[100], &[], 1_800, &[(0, 0), (750, 0), (1_750, 0)]);
        // Many alerts: at most one state a second more.
        check(
            0,
            &[100, 300, 500, 700, 900, 1_100],
            &[],
            2_300,
            &[(0, 0), (250, 0), (1_250, 0), (2_250, 0)],
        );
    }

    #[test]
    fn an_alert_causes_a_state_beyond_the_share_now_and_then() {
        // A state takes 25 ms, so there is one in five seconds.
        let news = [2_000, 6_000, 9_900, 14_600];
        let expected = [(0, 0), (2_000, 0), (7_000, 0), (12_000, 0), (14_750, 0)];
        check_news(25, (&news, true), &[], 16_000, &expected);
        let expected = [(0, 0), (5_000, 0), (10_000, 0), (15_000, 0)];
        check_news(25, (&news, false), &[], 16_000, &expected);
    }

    #[test]
    fn while_disarmed_nothing_is_due_and_nothing_is_lost() {
        let begin = Instant::now();
        let mut schedule = Schedule::default();
        assert_eq!(schedule.begin(begin), Some(0));
        schedule.tell(true);
        schedule.rest();
        assert_eq!(schedule.next_look(begin), begin + LOOK);
        assert_eq!(schedule.begin(begin + ms(60_000)), Some(0));
        assert_eq!(schedule.begin(begin + ms(60_500)), None);
    }
}
