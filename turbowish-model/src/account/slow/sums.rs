//! Sums of slow calls, as a reader adds them up: by class and part, sparse.

use alloc::vec::Vec;

/// A sum over the slow calls of a class: a count, or a part of their wall time in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SlowPart {
    /// Number of calls that were recorded.
    Calls,
    /// Their wall time.
    Wall,
    /// Exclusive time in polls.
    Running,
    /// Time in polls of the calls that they polled.
    Called,
    /// Ready time before the polls with which they left an await point.
    Ready,
    /// Time from the creation to the first poll.
    Unstarted,
    /// Time at await points for which there was no room.
    OtherAwaits,
    /// Number of calls that lost times for want of room, in the highest class: it was not known
    /// yet how long they would take.
    NoRoom,
    /// Time at an await point (its index plus one), outside of polls and without ready time; 0 is
    /// the unknown one.
    Await(u16),
}

const FIRST_AWAIT: u32 = 8;

impl SlowPart {
    const fn code(self) -> u32 {
        match self {
            Self::Calls => 0,
            Self::Wall => 1,
            Self::Running => 2,
            Self::Called => 3,
            Self::Ready => 4,
            Self::Unstarted => 5,
            Self::OtherAwaits => 6,
            Self::NoRoom => 7,
            Self::Await(site) => FIRST_AWAIT + site as u32,
        }
    }

    const fn of(code: u32) -> Self {
        match code {
            0 => Self::Calls,
            1 => Self::Wall,
            2 => Self::Running,
            3 => Self::Called,
            4 => Self::Ready,
            5 => Self::Unstarted,
            6 => Self::OtherAwaits,
            7 => Self::NoRoom,
            code => Self::Await((code - FIRST_AWAIT) as u16),
        }
    }
}

const PART_BITS: u32 = 16;

/// Sums of the slow calls of a proc, by class and part, ascending, without zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlowSums(Vec<(u32, u64)>);

impl SlowSums {
    /// Removes all sums, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds to one sum.
    pub fn add(&mut self, class: u16, part: SlowPart, value: u64) {
        if value > 0 {
            self.add_key(u32::from(class) << PART_BITS | part.code(), value);
        }
    }

    fn add_key(&mut self, key: u32, value: u64) {
        match self.0.binary_search_by_key(&key, |&(key, _)| key) {
            Ok(at) => self.0[at].1 = self.0[at].1.wrapping_add(value),
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        other
            .0
            .iter()
            .for_each(|&(key, value)| self.add_key(key, value));
    }

    /// Growth since an earlier state of the same sums.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut older = earlier.0.iter().peekable();
        let grown = self.0.iter().filter_map(|&(key, value)| {
            while older.next_if(|&&(before, _)| before < key).is_some() {}
            let before = older.next_if(|&&(before, _)| before == key);
            let grown = value.saturating_sub(before.map_or(0, |&(_, value)| value));
            (grown > 0).then_some((key, grown))
        });
        Self(grown.collect())
    }

    /// Yields class, part and sum, by class.
    pub fn iter(&self) -> impl Iterator<Item = (u16, SlowPart, u64)> + '_ {
        let sums = self.0.iter();
        sums.map(|&(key, value)| {
            let part = SlowPart::of(key & ((1 << PART_BITS) - 1));
            ((key >> PART_BITS) as u16, part, value)
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{SlowPart, SlowSums};

    const PARTS: [SlowPart; 10] = [
        SlowPart::Calls,
        SlowPart::Wall,
        SlowPart::Running,
        SlowPart::Called,
        SlowPart::Ready,
        SlowPart::Unstarted,
        SlowPart::OtherAwaits,
        SlowPart::NoRoom,
        SlowPart::Await(0),
        SlowPart::Await(1023),
    ];

    #[test]
    fn sums_are_told_apart_and_subtracted() {
        let mut sums = SlowSums::default();
        for (nth, part) in (1..).zip(PARTS) {
            sums.add(3, part, nth);
            sums.add(479, part, 0);
        }
        let all = (1..).zip(PARTS).map(|(nth, part)| (3, part, nth));
        assert_eq!(sums.iter().collect::<Vec<_>>(), all.collect::<Vec<_>>());
        let mut later = sums.clone();
        let mut more = SlowSums::default();
        more.add(479, SlowPart::Await(4), 9);
        more.add(3, SlowPart::Wall, 5);
        later.merge(&more);
        assert_eq!(later.since(&sums), more);
        assert_eq!(later.since(&SlowSums::default()), later);
        assert_eq!(sums.since(&later), SlowSums::default());
    }
}
