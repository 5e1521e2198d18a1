//! Drop-in wrappers of `tokio::time`: tokio's timers do the work. Items not defined here are
//! tokio's own, available if the program enables them in tokio.

mod interval;
mod sleep;
mod timeout;

pub use tokio::time::*;

pub use self::interval::{Interval, interval, interval_at};
pub use self::sleep::{Sleep, sleep, sleep_until};
pub use self::timeout::{Timeout, timeout, timeout_at};

/// Time since a deadline.
fn passed(deadline: Instant) -> Duration {
    Instant::now().saturating_duration_since(deadline)
}
