//! TurboWish inside the process: nothing here panics, blocks, or allocates on the path of a poll.

mod call;
mod clock;
#[doc(hidden)]
pub mod private;
mod proc;
mod switch;
mod task;
mod thread;
