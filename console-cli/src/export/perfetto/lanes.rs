//! Lanes: waits and holds overlap, and slices of one track must not. Those of a resource are drawn
//! in as many tracks as there are at once.

use std::collections::HashMap;

/// All lanes: a viewer becomes slow with very many tracks.
const MOST: u64 = 1_000;

/// A row of tracks: the waits for a resource, or the holds of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LaneRow {
    pub(super) resource: u64,
    pub(super) is_hold: bool,
}

/// A track for a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    /// Its number, from 0.
    pub(super) number: u64,
    /// The number of its row, from 0.
    pub(super) row: u64,
    pub(super) is_new: bool,
}

/// The lanes so far.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Number of the row; numbers of its lanes, and when each is free.
    rows: HashMap<LaneRow, (u64, Vec<(u64, u64)>)>,
    lanes: u64,
}

impl Lanes {
    /// A lane for a span, none of which begins before the one before it. `None` if there are too
    /// many already.
    pub(super) fn take(&mut self, row: LaneRow, from: u64, to: u64) -> Option<Lane> {
        let next = self.rows.len() as u64;
        let (row, lanes) = self.rows.entry(row).or_insert((next, Vec::new()));
        if let Some((number, free)) = lanes.iter_mut().find(|(_, free)| *free <= from) {
            *free = to;
            return Some(Lane {
                number: *number,
                row: *row,
                is_new: false,
            });
        }
        if self.lanes == MOST {
            return None;
        }
        let lane = Lane {
            number: self.lanes,
            row: *row,
            is_new: true,
        };
        lanes.push((lane.number, to));
        self.lanes += 1;
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::{LaneRow, Lanes, MOST};

    #[test]
    fn spans_of_a_lane_follow_one_another() {
        let mut lanes = Lanes::default();
        let row = |resource| LaneRow {
            resource,
            is_hold: false,
        };
        let mut take = |resource, from, to| {
            let lane = lanes.take(row(resource), from, to).unwrap();
            (lane.number, lane.row, lane.is_new)
        };
        assert_eq!(take(7, 0, 10), (0, 0, true));
        assert_eq!(take(7, 5, 8), (1, 0, true));
        assert_eq!(take(7, 8, 20), (1, 0, false));
        assert_eq!(take(9, 8, 20), (2, 1, true));
        assert_eq!(take(7, 10, 11), (0, 0, false));
    }

    #[test]
    fn there_are_not_more_than_a_viewer_draws() {
        let mut lanes = Lanes::default();
        let row = LaneRow {
            resource: 1,
            is_hold: true,
        };
        let taken = (0..2 * MOST).filter_map(|_| lanes.take(row, 0, 10));
        assert_eq!(taken.count() as u64, MOST);
        assert!(lanes.take(row, 10, 20).is_some());
    }
}
