//! What a resource shows of those who use it.
