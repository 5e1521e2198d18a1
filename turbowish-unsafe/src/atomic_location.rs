//! Atomic source location: read by other threads while it changes.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A source location, if known.
#[derive(Debug, Default)]
pub struct AtomicLocation(AtomicPtr<Location<'static>>);

impl AtomicLocation {
    /// Sets the location.
    #[inline]
    pub fn set(&self, location: &'static Location<'static>) {
        self.0
            .store(ptr::from_ref(location).cast_mut(), Ordering::Relaxed);
    }

    /// The location that was set last.
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<&'static Location<'static>> {
        // SAFETY: the pointer is null, or was made from a `'static` reference to an immutable
        // value.
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::AtomicLocation;
    use std::panic::Location;

    #[test]
    fn it_is_where_it_was_set_last() {
        let location = AtomicLocation::default();
        assert_eq!(location.get(), None);
        let (first, second) = (Location::caller(), Location::caller());
        location.set(first);
        location.set(second);
        assert_eq!(location.get(), Some(second));
    }
}
