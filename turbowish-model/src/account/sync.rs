//! Atomics shared between threads: those of `core`, or those of loom when its model checker runs
//! the tests.

#[cfg(not(all(test, loom)))]
pub(crate) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU16, AtomicU32, AtomicU64, fence},
};
#[cfg(all(test, loom))]
pub(crate) use loom::{hint::spin_loop, sync::atomic::fence};

#[cfg(all(test, loom))]
pub(crate) use self::single_writer::{AtomicU16, AtomicU32, AtomicU64};

/// Number of items stored in place: 2 under loom, where each atomic is expensive.
pub(crate) const fn in_place(items: usize) -> usize {
    if cfg!(all(test, loom)) { 2 } else { items }
}

/// Loom's atomics, for words with one writer.
///
/// Loom decides by the last access before a store whether the order of a load and that store
/// matters. A writer that loads the value it is about to store hides the reader's load from loom,
/// and loom then tries no other order. The thread that last stored a word can only load that value,
/// whatever the order, so it gets the value without loom.
#[cfg(all(test, loom))]
mod single_writer {
    use core::cell::Cell;
    use core::sync::atomic::Ordering;

    use loom::thread::{ThreadId, current};

    macro_rules! atomic {
        ($($name:ident $word:ident)*) => {$(
            #[derive(Debug)]
            pub(crate) struct $name {
                shared: loom::sync::atomic::$name,
                /// Not shared: loom runs all its threads on one OS thread, one at a time.
                stored: Cell<(ThreadId, $word)>,
            }

            impl $name {
                pub(crate) fn new(value: $word) -> Self {
                    Self {
                        shared: loom::sync::atomic::$name::new(value),
                        stored: Cell::new((current().id(), value)),
                    }
                }

                pub(crate) fn load(&self, order: Ordering) -> $word {
                    let (writer, value) = self.stored.get();
                    if writer == current().id() { value } else { self.shared.load(order) }
                }

                pub(crate) fn store(&self, value: $word, order: Ordering) {
                    let now = (current().id(), value);
                    // A repeated relaxed store of the same value orders nothing and would only add
                    // a value to try.
                    if order == Ordering::Relaxed && self.stored.get() == now {
                        return;
                    }
                    self.stored.set(now);
                    self.shared.store(value, order);
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new(0)
                }
            }
        )*};
    }

    atomic!(AtomicU16 u16 AtomicU32 u32 AtomicU64 u64);
}
