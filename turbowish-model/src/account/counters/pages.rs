//! All rows of a thread: found by a load, made at a proc's first event there.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use super::ProcCounters;
use crate::account::append_vec::AppendVec;

/// The rows of one thread by proc id, each allocated at the proc's first event there.
#[derive(Default)]
pub(crate) struct CounterPages(AppendVec<OnceBox<ProcCounters>, IN_PLACE>);

/// Procs found by one load; others take a few instructions more.
const IN_PLACE: usize = 256;
/// Procs with an id from here on cannot be accounted.
pub const PROC_LIMIT: u32 = 1 << 14;

const _: () = assert!(PROC_LIMIT as usize <= AppendVec::<OnceBox<ProcCounters>, IN_PLACE>::LIMIT);

impl CounterPages {
    /// The row of a proc; `proc` must be below [`PROC_LIMIT`].
    #[inline]
    pub(crate) fn at(&self, proc: u32) -> &ProcCounters {
        let slot = self.0.at(proc as usize);
        match slot.get() {
            Some(row) => row,
            None => make(slot),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &ProcCounters)> {
        let rows = self.0.iter();
        rows.filter_map(|(proc, slot)| Some((proc as u32, slot.get()?)))
    }
}

#[cold]
fn make(slot: &OnceBox<ProcCounters>) -> &ProcCounters {
    slot.get_or_init(Box::default)
}
