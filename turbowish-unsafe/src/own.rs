//! A shared object that a thread reaches with one load: for thread-locals without a destructor,
//! which exist until their thread has ended.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;

/// A thread's own reference to a shared object, or none.
#[derive(Debug)]
pub struct Own<T> {
    /// From [`Arc::into_raw`], or null.
    object: Cell<*const T>,
    /// Number of [`Own::with`] in progress.
    users: Cell<u32>,
}

impl<T> Default for Own<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Own<T> {
    /// A reference to nothing. It has no destructor: what it refers to at the end is leaked, unless
    /// it is [replaced](Own::replace) by `None` first.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            object: Cell::new(ptr::null()),
            users: Cell::new(0),
        }
    }

    /// One more user.
    #[inline(always)]
    fn enter(&self) -> *const T {
        self.users.set(self.users.get() + 1);
        self.object.get()
    }

    #[inline(always)]
    fn leave(&self) {
        self.users.set(self.users.get() - 1);
    }

    /// Refers to another object. Returns the one before.
    ///
    /// # Errors
    /// Within [`Own::with`], or after one that has unwound: returns `object`.
    pub fn replace(&self, object: Option<Arc<T>>) -> Result<Option<Arc<T>>, Option<Arc<T>>> {
        if self.users.get() != 0 {
            return Err(object);
        }
        let next = object.map_or(ptr::null(), Arc::into_raw);
        let before = self.object.replace(next);
        // SAFETY: It is from `Arc::into_raw`, and its reference count goes to the caller.
        Ok((!before.is_null()).then(|| unsafe { Arc::from_raw(before) }))
    }

    /// Runs `f` with the object to which this thread refers; `None` if there is none.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> Option<R> {
        self.with_fitting(|_| true, || None, f)
    }

    /// Like [`Own::with`], with an object that fits. If there is none, `replace` may bring one; it
    /// returns `None` if it does not.
    #[inline(always)]
    pub fn with_fitting<R>(
        &self,
        fits: impl Fn(&T) -> bool,
        replace: impl FnOnce() -> Option<()>,
        f: impl FnOnce(&T) -> R,
    ) -> Option<R> {
        // SAFETY: A pointer from `enter` is null or from `Arc::into_raw`, and its `Own` has one
        // reference count until `replace`, which refuses as long as there is a user.
        let is_fit = |object: *const T| unsafe { object.as_ref() }.is_some_and(&fits);
        let mut object = self.enter();
        if !is_fit(object) {
            self.leave();
            replace()?;
            object = self.enter();
            if !is_fit(object) {
                object = ptr::null();
            }
        }
        // SAFETY: As above: the last `enter` has no `leave` yet.
        let result = unsafe { object.as_ref() }.map(f);
        // If `f` unwinds there is a user for ever, and the object stays.
        self.leave();
        result
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use super::Own;

    thread_local! {
        static OWN: Own<i32> = const { Own::new() };
    }

    fn replace(object: Option<Arc<i32>>) -> Result<Option<Arc<i32>>, Option<Arc<i32>>> {
        OWN.with(|own| own.replace(object))
    }

    #[test]
    fn an_object_lives_as_long_as_it_is_referred_to() {
        let object = Arc::new(7);
        let look = || OWN.with(|own| own.with(|&it| it));
        assert_eq!(look(), None);
        assert_eq!(replace(Some(object.clone())), Ok(None));
        assert_eq!((look(), Arc::strong_count(&object)), (Some(7), 2));
        assert_eq!(replace(None), Ok(Some(object.clone())));
        assert_eq!((look(), Arc::strong_count(&object)), (None, 1));
    }

    #[test]
    fn an_object_that_does_not_fit_is_replaced() {
        let positive = |&it: &i32| it > 0;
        let look = |next: i32| {
            let replace = || replace(Some(Arc::new(next))).ok().map(drop);
            OWN.with(|own| own.with_fitting(positive, replace, |&it| it))
        };
        assert_eq!(look(-1), None);
        assert_eq!(look(7), Some(7));
        assert_eq!(look(8), Some(7));
        assert!(replace(None).is_ok());
    }

    #[test]
    fn an_object_in_use_stays() {
        let _ = replace(Some(Arc::new(7)));
        OWN.with(|own| own.with(|_| assert_eq!(replace(None), Err(None))));
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            OWN.with(|own| own.with(|_| panic!("expected")))
        }));
        assert!(unwound.is_err());
        assert_eq!(replace(None), Err(None));
        assert_eq!(OWN.with(|own| own.with(|&it| it)), Some(7));
        // Nothing refers to it any more, and the test leaks nothing.
        OWN.with(|own| own.users.set(0));
        assert!(replace(None).is_ok());
    }
}
