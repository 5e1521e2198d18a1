//! Order: a timeline comes in the order of beginnings, and a trace is written in that of instants.

use std::collections::BTreeMap;

/// Things that wait for their turn. Those of one instant keep the order in which they came.
#[derive(Debug)]
pub(super) struct Ordered<T> {
    /// By instant and number.
    things: BTreeMap<(u64, u64), T>,
    pushed: u64,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self {
            things: BTreeMap::new(),
            pushed: 0,
        }
    }
}

impl<T> Ordered<T> {
    pub(super) fn push(&mut self, at: u64, thing: T) {
        self.things.insert((at, self.pushed), thing);
        self.pushed += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.things.len()
    }

    /// The next one, with its instant.
    pub(super) fn pop(&mut self) -> Option<(u64, T)> {
        let ((at, _), thing) = self.things.pop_first()?;
        Some((at, thing))
    }

    /// The next one before an instant.
    pub(super) fn pop_before(&mut self, end: u64) -> Option<(u64, T)> {
        let next = self.things.first_entry()?;
        let (at, _) = *next.key();
        (at < end).then(|| (at, next.remove()))
    }
}

#[cfg(test)]
mod tests {
    use super::Ordered;

    #[test]
    fn things_leave_by_instant_and_then_as_they_came() {
        let mut ordered = Ordered::default();
        for (at, thing) in [(9, 'd'), (3, 'a'), (5, 'b'), (5, 'c')] {
            ordered.push(at, thing);
        }
        assert_eq!(ordered.pop_before(3), None);
        assert_eq!(ordered.pop_before(4), Some((3, 'a')));
        assert_eq!(ordered.len(), 3);
        let rest: Vec<_> = std::iter::from_fn(|| ordered.pop()).collect();
        assert_eq!(rest, [(5, 'b'), (5, 'c'), (9, 'd')]);
    }
}
