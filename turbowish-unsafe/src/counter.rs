//! The processor's time stamp counter, read in place: a call would cost more than the reading, and
//! make its callers save their registers.

/// Reads the counter; `None` on processors where this is not one instruction.
#[inline(always)]
#[must_use]
pub fn read() -> Option<u64> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: All processors of this architecture have the instruction.
        Some(unsafe { core::arch::x86_64::_rdtsc() })
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    None
}
