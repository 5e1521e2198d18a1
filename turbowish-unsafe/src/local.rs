//! A thread-local without a destructor, found once for several uses.
//!
//! In a library the compiler finds a thread-local by a call, before which it saves its registers.
//! The linker of a program removes the call, but not the saving.

use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;
use std::thread::LocalKey;

/// Whether a thread-local without a destructor lies in a block that lives as long as the thread. On
/// platforms without such blocks each has an allocation of its own, which the thread's end frees
/// before its last code has run.
const STAYS: bool = cfg!(all(
    target_os = "linux",
    not(target_env = "ohos"),
    // The x32 ABI.
    not(all(target_arch = "x86_64", target_pointer_width = "32")),
));

/// The present thread's value of a thread-local. It stays on that thread.
#[derive(Debug)]
#[repr(transparent)]
pub struct Local<T: 'static> {
    /// Address of the value if that stays, otherwise of its key.
    at: NonNull<()>,
    on_its_thread: PhantomData<NonNull<T>>,
}

impl<T> Clone for Local<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Local<T> {}

impl<T> Local<T> {
    /// Finds the value. It must have no destructor: the thread's last code may still use it.
    #[inline(always)]
    #[must_use]
    pub fn of(key: &'static LocalKey<T>) -> Self {
        const { assert!(!mem::needs_drop::<T>()) };
        Self {
            at: match STAYS {
                true => key.with(|value| NonNull::from(value).cast()),
                false => NonNull::from(key).cast(),
            },
            on_its_thread: PhantomData,
        }
    }

    /// Runs `f` with the value.
    #[inline(always)]
    pub fn with<R>(self, f: impl FnOnce(&T) -> R) -> R {
        if STAYS {
            // SAFETY: `of` has found a `T` there, that of the thread that runs this, since a
            // `NonNull` stays on its thread. Nothing destroys it, and its memory lives as long as
            // the thread.
            return f(unsafe { self.at.cast().as_ref() });
        }
        // SAFETY: `of` was given a key that lives forever.
        let key: &'static LocalKey<T> = unsafe { self.at.cast().as_ref() };
        key.with(f)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Local;

    thread_local! {
        static WORD: Cell<u32> = const { Cell::new(1) };
    }

    #[test]
    fn each_thread_has_its_own() {
        let here = Local::of(&WORD);
        here.with(|word| word.set(2));
        assert_eq!(WORD.get(), 2);
        let there = std::thread::spawn(|| Local::of(&WORD).with(Cell::get));
        assert_eq!(there.join().ok(), Some(1));
        assert_eq!(here.with(Cell::get), 2);
    }
}
