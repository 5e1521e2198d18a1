//! Atomic source location: read by other threads while it changes.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A source location, if known.
#[derive(Debug, Default)]
pub struct Place(AtomicPtr<Location<'static>>);

impl Place {
    /// Sets the location.
    #[inline]
    pub fn set(&self, place: &'static Location<'static>) {
        self.0
            .store(ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
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
    use super::Place;
    use std::panic::Location;

    #[test]
    fn it_is_where_it_was_set_last() {
        let place = Place::default();
        assert_eq!(place.get(), None);
        let (first, second) = (Location::caller(), Location::caller());
        place.set(first);
        place.set(second);
        assert_eq!(place.get(), Some(second));
    }
}
