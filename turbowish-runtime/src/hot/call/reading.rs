//! One clock reading for two events without user code between them.

/// A clock reading that may be used again.
#[cfg(not(test))]
#[inline]
pub(super) const fn reused(reading: Option<u64>) -> Option<u64> {
    reading
}

/// Tests compare with runs that do not reuse readings.
#[cfg(test)]
pub(super) fn reused(reading: Option<u64>) -> Option<u64> {
    reading.filter(|_| REUSE.load(std::sync::atomic::Ordering::Relaxed))
}

#[cfg(test)]
pub(crate) static REUSE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
