//! The atomics that threads share: those of `core`, or loom's when its model checker runs the tests.

#[cfg(not(all(test, loom)))]
pub(crate) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, fence},
};
#[cfg(all(test, loom))]
pub(crate) use loom::{hint::spin_loop, sync::atomic::fence};

#[cfg(all(test, loom))]
pub(crate) use self::single_writer::{AtomicU32, AtomicU64};

/// How many items are held in place: few under loom, for which each word is dear.
pub(crate) const fn in_place(items: usize) -> usize {
    if cfg!(all(test, loom)) { 2 } else { items }
}

/// Loom's atomics, for words of one writer.
///
/// Loom finds out that the order of a load and a store matters by the last access before the store. A writer that loads
/// what it is about to store hides the reader's load from it, and then no other order is tried. Who has stored a word last can
/// only load that, whatever the order: it is given it without loom.
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
                /// Not shared: loom runs one thread at a time, on one.
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
                    // The same once more orders nothing, and would be one more value to try.
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

    atomic!(AtomicU32 u32 AtomicU64 u64);
}
