//! What occupies the event loop, and why is a task stuck? The one path that users and the attribute name.

#[cfg(not(feature = "enabled"))]
mod off;

pub use turbowish_macros::instrument;

#[cfg(feature = "enabled")]
pub use turbowish_runtime::{Builder, Guard, init, pause, resume};

#[cfg(not(feature = "enabled"))]
pub use off::{Builder, Guard, init, pause, resume};

#[cfg(feature = "enabled")]
#[doc(hidden)]
pub use turbowish_runtime::private as __private;
