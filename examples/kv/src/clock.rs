//! The clock of the store, which a test can move: everything below takes the time as a number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A source of Unix time in milliseconds.
///
/// Deadlines are wall-clock times because they outlive the process in snapshots.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The system's clock.
    #[default]
    System,
    /// A clock that stands still until somebody stores another number of milliseconds in it.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// Milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        match self {
            Clock::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| {
                    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
                }),
            Clock::Manual(ms) => ms.load(Ordering::Relaxed),
        }
    }
}
