//! Files before and after.
