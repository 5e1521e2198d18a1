//! Numbers of vtables: there are few, and each task would keep an address.

use std::ptr::from_ref;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::task::RawWakerVTable;

/// Maximum number of vtables.
const LIMIT: usize = 1 << Vtables::BITS;

/// The vtables of all executors' wakers that were kept so far. None is removed.
#[derive(Debug)]
pub struct Vtables([AtomicPtr<RawWakerVTable>; LIMIT]);

impl Default for Vtables {
    fn default() -> Self {
        Self::new()
    }
}

impl Vtables {
    /// Bits of a number.
    pub(super) const BITS: u32 = 10;

    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self([const { AtomicPtr::new(std::ptr::null_mut()) }; LIMIT])
    }

    /// The number of a vtable; `None` if there are too many.
    pub(super) fn number(&self, vtable: &'static RawWakerVTable) -> Option<usize> {
        let wanted = from_ref(vtable).cast_mut();
        // Vtables lie next to each other.
        let first = from_ref(vtable).addr() / size_of::<RawWakerVTable>();
        (0..LIMIT).map(|step| (first + step) % LIMIT).find(|&at| {
            let entry = &self.0[at];
            let known = match entry.load(Acquire) {
                known if known.is_null() => entry
                    .compare_exchange(known, wanted, AcqRel, Acquire)
                    .map_or_else(|other| other, |_| wanted),
                known => known,
            };
            std::ptr::eq(known, wanted)
        })
    }

    /// The vtable with this number; null if there is none.
    #[inline]
    pub(super) fn at(&self, number: usize) -> *const RawWakerVTable {
        self.0[number % LIMIT].load(Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::{RawWaker, RawWakerVTable};

    use super::{LIMIT, Vtables};

    fn clone(_: *const ()) -> RawWaker {
        unreachable!("never called")
    }

    fn nothing(_: *const ()) {}

    #[test]
    fn each_vtable_has_a_number_until_there_are_too_many() {
        const FRESH: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, nothing);
        static MANY: [RawWakerVTable; LIMIT + 1] = [FRESH; LIMIT + 1];
        let many = &MANY[..];
        let all = Vtables::new();
        assert!(all.at(3).is_null());
        let numbers = |from: &'static [RawWakerVTable]| from.iter().map(|one| all.number(one));
        let first: Vec<_> = numbers(many).collect();
        assert!(first[..LIMIT].iter().all(Option::is_some));
        assert_eq!(first[LIMIT], None);
        assert!(numbers(many).eq(first.iter().copied()));
        for (one, number) in many.iter().zip(first.into_iter().flatten()) {
            assert!(std::ptr::eq(all.at(number), one));
        }
    }
}
