//! Thread data of the operating system: the thread ID, which debuggers use, the time on a
//! processor, and the run delay.

#[cfg(all(feature = "server", target_os = "linux"))]
mod linux;
#[cfg(not(all(feature = "server", target_os = "linux")))]
#[path = "os_thread/absent.rs"]
mod linux;

pub(crate) use self::linux::{id, sleeps, times};
