//! What occupies the event loop, and why is a task stuck? The one path that users and the attribute name.

pub use turbowish_macros::instrument;

#[cfg(feature = "enabled")]
#[doc(hidden)]
pub use turbowish_runtime::private as __private;
