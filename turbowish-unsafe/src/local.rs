//! A thread-local without a destructor, found once for several uses.
//!
//! In a library the compiler finds a thread-local by a call, before which it saves its registers.
//! The linker of a program removes the call, but not the saving.

use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;
use std::thread::LocalKey;

/// The present thread's value of a thread-local. It stays on that thread.
#[derive(Debug)]
#[repr(transparent)]
pub struct Local<T: 'static> {
    /// Linux has thread-locals in a block that lives as long as the thread.
    #[cfg(target_os = "linux")]
    value: NonNull<T>,
    #[cfg(not(target_os = "linux"))]
    key: &'static LocalKey<T>,
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
            #[cfg(target_os = "linux")]
            value: key.with(|value| NonNull::from(value)),
            #[cfg(not(target_os = "linux"))]
            key,
            on_its_thread: PhantomData,
        }
    }

    /// Runs `f` with the value.
    #[inline(always)]
    pub fn with<R>(self, f: impl FnOnce(&T) -> R) -> R {
        // SAFETY: It is the value of the thread that runs this, since a `NonNull` stays on its
        // thread. Nothing destroys it, and its memory lives as long as the thread.
        #[cfg(target_os = "linux")]
        return f(unsafe { self.value.as_ref() });
        #[cfg(not(target_os = "linux"))]
        self.key.with(f)
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
