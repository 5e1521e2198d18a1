//! Tests of waker slots.
