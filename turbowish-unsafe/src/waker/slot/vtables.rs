//! Vtables: that of the slots' own wakers, and numbers of those that are kept. There are few, and
//! each task would keep an address.

use std::marker::PhantomData;
use std::ptr::from_ref;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::task::RawWakerVTable;

use super::{SlotTarget, SlotWakers};

/// Maximum number of vtables.
const LIMIT: usize = 1 << VTABLE_BITS;

/// The vtable of the slots' wakers, and those of all executors' wakers that were kept so far. None
/// is removed.
#[derive(Debug)]
pub struct Vtables<T> {
    own: RawWakerVTable,
    kept: [AtomicPtr<RawWakerVTable>; LIMIT],
    slots: PhantomData<fn() -> T>,
}

/// Bits of a vtable's number.
pub(super) const VTABLE_BITS: u32 = 9;

impl<T: SlotTarget> Vtables<T> {
    /// Those of slots that keep none yet. To be kept in a static.
    #[allow(
        clippy::new_without_default,
        reason = "there is one for each kind of slots"
    )]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            own: SlotWakers::<T>::TABLE,
            kept: [const { AtomicPtr::new(std::ptr::null_mut()) }; LIMIT],
            slots: PhantomData,
        }
    }

    /// That of the slots' wakers, always at the same address: a constant would have one in each
    /// part of the program, and futures would take a waker for another one and clone it again.
    #[inline]
    pub(super) const fn own(&self) -> &RawWakerVTable {
        &self.own
    }

    /// The number of a vtable; `None` if there are too many.
    pub(super) fn number(&self, vtable: &'static RawWakerVTable) -> Option<usize> {
        let wanted = from_ref(vtable).cast_mut();
        // Vtables lie next to each other.
        let first = from_ref(vtable).addr() / size_of::<RawWakerVTable>();
        (0..LIMIT).map(|step| (first + step) % LIMIT).find(|&at| {
            let entry = &self.kept[at];
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
        self.kept[number % LIMIT].load(Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::{RawWaker, RawWakerVTable};

    use super::{LIMIT, Vtables};
    use crate::waker::slot::tests::Crowded;

    fn clone(_: *const ()) -> RawWaker {
        unreachable!("never called")
    }

    fn nothing(_: *const ()) {}

    #[test]
    fn each_vtable_has_a_number_until_there_are_too_many() {
        const FRESH: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, nothing);
        static MANY: [RawWakerVTable; LIMIT + 1] = [FRESH; LIMIT + 1];
        let many = &MANY[..];
        let all = Vtables::<Crowded>::new();
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
