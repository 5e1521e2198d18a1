//! The drop of what belongs to the program, where nothing may unwind.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops what is the program's. A panic in that is reported by the panic hook alone.
pub(crate) fn discard<T>(owned: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(owned)));
    if let Err(payload) = dropped {
        // Its drop may panic, too.
        std::mem::forget(payload);
    }
}
