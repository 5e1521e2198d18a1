//! Each alert in hand-made situations: when it comes, what it says, when it goes, and how near one
//! can come without it.

mod between;
mod crowded;
mod cycles;
mod fields;
mod flow;
mod futurelock;
mod known_mistakes;
mod leaks;
mod locks;
mod past;
mod play;
mod polls;
mod random;
mod timers;
mod wakes;
