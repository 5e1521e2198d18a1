//! Thread data of the operating system: the thread ID, which debuggers use, and the run delay.

#[cfg(all(feature = "server", target_os = "linux"))]
mod linux;
#[cfg(not(all(feature = "server", target_os = "linux")))]
#[path = "os_thread/absent.rs"]
mod linux;

pub(crate) use self::linux::{id, run_delay_ns};
