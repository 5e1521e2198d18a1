//! The live process against the definitions: real futures, real threads, a clock set by hand.

#[cfg(feature = "server")]
mod after_end;
#[cfg(feature = "tokio")]
mod both_ends;
mod branches;
#[cfg(feature = "tokio")]
mod channels;
#[cfg(all(feature = "tokio", feature = "server"))]
mod effects;

#[cfg(all(feature = "tokio", feature = "server"))]
mod classes;
mod combinators;
#[cfg(all(feature = "tokio", feature = "server"))]
mod delays;
mod doors;
mod epochs;
mod executors;
mod first_poll;
#[cfg(all(feature = "tokio", feature = "server"))]
mod forced_yield;
mod free;
#[cfg(all(feature = "tokio", feature = "server"))]
mod idle;
#[cfg(all(feature = "tokio", feature = "server"))]
mod kinds;
#[cfg(feature = "tokio")]
mod late_timers;
mod live;
mod longest;
#[cfg(feature = "server")]
mod losses;
mod metrics;
#[cfg(feature = "tokio")]
mod nested;
#[cfg(all(feature = "tokio", feature = "server"))]
mod on_event;
mod oracle;
mod own_clock;
#[cfg(feature = "server")]
mod panics;
mod pauses;
mod polls;
mod random;
#[cfg(all(feature = "tokio", feature = "server"))]
mod recorded_events;
mod replayed;
mod reuse;
mod shared;
mod slots;
mod slowest;
pub(crate) mod stage;
#[cfg(feature = "tokio")]
mod stampede;
mod transitions;
mod trend;
mod wakers;
