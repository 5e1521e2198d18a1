//! Fill level of channels and semaphores over the last minute, as observed by the console: one
//! sample per second.

use std::collections::HashMap;

use turbowish_model::account::resource::Kind;
use turbowish_model::snapshot::ResourceRow;
use turbowish_model::snapshot::units::{self, SECOND};

use super::rich_line::RichLine;

/// Length of the history, in seconds.
const SECONDS: usize = 60;
/// Resources that are kept: as many as a process sends.
const RESOURCES: usize = 10_000;
/// The level of a second that was not observed.
const UNSEEN: u32 = u32::MAX;

/// What was seen of each resource, by its number.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    /// The second of the last look.
    now: u64,
    of: HashMap<u64, Samples>,
}

/// A level for each second; the last one is of `newest`.
#[derive(Debug)]
struct Samples {
    newest: u64,
    levels: [u32; SECONDS],
}

impl Samples {
    /// Of several samples of one second the largest stays: that it was full for a moment is what
    /// one looks for.
    fn put(&mut self, second: u64, level: u32, patience: u64) {
        let gone = second.saturating_sub(self.newest);
        let [.., last] = &mut self.levels;
        if gone == 0 {
            *last = level.max(*last);
            return;
        }
        // A sample stands until the next one, if that does not come late.
        let between = if gone <= patience { *last } else { UNSEEN };
        self.turn(gone, between);
        let [.., last] = &mut self.levels;
        *last = level;
        self.newest = second;
    }

    /// Time goes on by so many seconds, in which the level was this.
    fn turn(&mut self, seconds: u64, level: u32) {
        let seconds = usize::try_from(seconds).unwrap_or(SECONDS).min(SECONDS);
        self.levels.rotate_left(seconds);
        self.levels[SECONDS - seconds..].fill(level);
    }
}

/// The word for the length of such a resource; `None` for kinds that are held or not.
fn label(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Mpsc => Some("LENGTH"),
        Kind::Semaphore => Some("IN USE"),
        _ => None,
    }
}

impl Lengths {
    /// Takes a sample: the process has lived for so long, and sends rows at this interval.
    pub(crate) fn note(&mut self, uptime_ns: u64, interval_ns: u64, rows: &[ResourceRow]) {
        let second = uptime_ns / SECOND;
        if second < self.now {
            // Another process, or one that began anew.
            self.of.clear();
        }
        self.now = second;
        let patience = (2 * interval_ns).div_ceil(SECOND).max(2);
        for row in rows.iter().filter(|row| label(row.kind).is_some()) {
            let Some(level) = row.level else { continue };
            let level = u32::try_from(level).unwrap_or(UNSEEN).min(UNSEEN - 1);
            match self.of.get_mut(&row.id) {
                Some(samples) => samples.put(second, level, patience),
                None => {
                    let mut levels = [UNSEEN; SECONDS];
                    levels[SECONDS - 1] = level;
                    let newest = second;
                    self.of.insert(row.id, Samples { newest, levels });
                }
            }
        }
        let age = |samples: &Samples| second.saturating_sub(samples.newest);
        self.of.retain(|_, samples| age(samples) < SECONDS as u64);
        if self.of.len() > RESOURCES {
            self.of.retain(|_, samples| age(samples) == 0);
        }
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The levels of the last minute, the oldest first; `None` where nobody looked.
    fn levels(&self, id: u64) -> Option<Vec<Option<u64>>> {
        let kept = self.of.get(&id)?;
        let mut now = Samples {
            newest: kept.newest,
            levels: kept.levels,
        };
        now.turn(self.now.saturating_sub(kept.newest), UNSEEN);
        let seen = |&level: &u32| (level != UNSEEN).then_some(u64::from(level));
        Some(now.levels.iter().map(seen).collect())
    }

    /// `LENGTH, last 60 s`, the most that it was, and a glyph for each second: `#` is full. In less
    /// room there are fewer seconds.
    pub(crate) fn lines(&self, row: &ResourceRow, room: Option<usize>) -> Vec<RichLine> {
        let (Some(label), Some(levels)) = (label(row.kind), self.levels(row.id)) else {
            return Vec::new();
        };
        let room = room.unwrap_or(usize::MAX).saturating_sub(4);
        let levels = &levels[SECONDS.saturating_sub(room)..];
        let most = levels.iter().flatten().copied().max().unwrap_or(0);
        let scale = row.capacity.unwrap_or(most).max(1);
        let bar: String = levels.iter().map(|&level| glyph(level, scale)).collect();
        let most = match row.capacity {
            Some(all) if most != all => {
                format!("{} of {} max", units::count(most), units::count(all))
            }
            _ => format!("{} max", units::count(most)),
        };
        let title = format!("  {label}, last {} s", levels.len());
        let blanks = (levels.len() + 4).saturating_sub(title.len());
        vec![
            RichLine::default()
                .label(title)
                .say(format!(" {most:>0$}", blanks.max(1) - 1)),
            format!("  [{bar}]").into(),
        ]
    }
}

/// Blank is not seen, `.` is empty, `#` is full.
fn glyph(level: Option<u64>, scale: u64) -> char {
    const PART: [char; 5] = [':', '-', '=', '+', '*'];
    match level {
        None => ' ',
        Some(0) => '.',
        Some(level) if level >= scale => '#',
        Some(level) => PART[(u128::from(level) * 5 / u128::from(scale)) as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::{Lengths, RESOURCES, SECOND};
    use crate::detail::rich_line::RichLine;
    use turbowish_model::account::resource::Kind;
    use turbowish_model::snapshot::ResourceRow;

    fn row(id: u64, level: u64, capacity: Option<u64>) -> ResourceRow {
        ResourceRow {
            id,
            kind: Kind::Mpsc,
            level: Some(level),
            capacity,
            ..ResourceRow::default()
        }
    }

    /// Samples of a channel, each with its time in tenths of a second, and the two lines about it
    /// in `room` columns.
    fn check(capacity: Option<u64>, samples: &[(u64, u64)], room: usize, expected: [&str; 2]) {
        let mut lengths = Lengths::default();
        for &(tenths, level) in samples {
            lengths.note(tenths * SECOND / 10, SECOND, &[row(7, level, capacity)]);
        }
        let lines = lengths.lines(&row(7, 0, capacity), Some(room));
        let lines: Vec<String> = lines.iter().map(RichLine::text).collect();
        assert_eq!(lines, expected, "{samples:?}");
    }

    #[test]
    fn levels_are_told_by_the_second() {
        check(
            Some(64),
            &[(10, 0), (20, 1), (30, 32), (40, 63), (50, 64)],
            24,
            ["  LENGTH, last 20 s 64 max", "  [               .:=*#]"],
        );
        check(
            Some(64),
            &[(10, 0), (20, 8)],
            34,
            [
                "  LENGTH, last 30 s    8 of 64 max",
                "  [                            .:]",
            ],
        );
        // Without a bound the most that it was is full.
        check(
            None,
            &[(10, 5), (20, 10)],
            24,
            ["  LENGTH, last 20 s 10 max", "  [                  =#]"],
        );
        // Of one second the most; one that the clock has skipped is as the one before; later ones
        // were not seen.
        check(
            Some(4),
            &[(10, 0), (15, 4), (16, 0), (39, 0), (100, 0)],
            24,
            ["  LENGTH, last 20 s 4 max", "  [          ##.      .]"],
        );
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let mut lengths = Lengths::default();
        let bounded = |from: u64| (from..from + 6_000).map(|id| row(id, 1, Some(2)));
        lengths.note(SECOND, SECOND, &bounded(1).collect::<Vec<_>>());
        lengths.note(2 * SECOND, SECOND, &bounded(6_001).collect::<Vec<_>>());
        assert!(lengths.of.len() <= RESOURCES);
        assert!(lengths.lines(&row(6_001, 1, Some(2)), None).len() == 2);
        lengths.note(62 * SECOND, SECOND, &[]);
        assert!(lengths.of.is_empty());
        // A process that began anew has other resources by these numbers.
        lengths.note(70 * SECOND, SECOND, &[row(1, 1, None)]);
        lengths.note(SECOND, SECOND, &[]);
        assert!(lengths.lines(&row(1, 1, None), None).is_empty());
    }

    #[test]
    fn locks_have_no_length() {
        let mut lengths = Lengths::default();
        let lock = ResourceRow {
            kind: Kind::Mutex,
            ..row(1, 1, Some(1))
        };
        lengths.note(SECOND, SECOND, std::slice::from_ref(&lock));
        assert!(lengths.of.is_empty() && lengths.lines(&lock, None).is_empty());
    }
}
