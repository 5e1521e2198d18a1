//! Drop-in twins of `tokio::time`: tokio's timers do the work. What is not defined here is tokio's own, and there if it is in tokio.

mod interval;
mod sleep;
mod timeout;

pub use tokio::time::*;

pub use self::interval::{Interval, interval, interval_at};
pub use self::sleep::{Sleep, sleep, sleep_until};
pub use self::timeout::{Timeout, timeout, timeout_at};
