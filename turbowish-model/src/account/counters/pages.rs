//! The counters of all procs on one thread: found with one load, allocated at a proc's first event
//! on the thread.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use super::ProcCounters;
use crate::account::append_vec::AppendVec;

/// Counters by proc id, each allocated at the proc's first event on the thread.
#[derive(Default)]
pub(crate) struct CounterPages(AppendVec<OnceBox<ProcCounters>, IN_PLACE>);

/// Procs found with one load; procs beyond cost a few more instructions.
const IN_PLACE: usize = 256;
/// Number of procs that can be accounted; a proc with this id or a higher one cannot.
pub const PROC_LIMIT: u32 = 1 << 14;

const _: () = assert!(PROC_LIMIT as usize <= AppendVec::<OnceBox<ProcCounters>, IN_PLACE>::LIMIT);

impl CounterPages {
    /// Counters of a proc; `proc` must be below [`PROC_LIMIT`].
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
