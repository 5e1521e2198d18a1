//! The same steps, taken with ours and with tokio's, come out the same: who gets what, when, and in
//! which order.
//!
//! Each step polls, drops or tries something; nothing is woken, so that the order of polls is the
//! test's alone.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::proptest;

use crate::{ours, theirs};

/// Futures and guards that there are at a time.
const SEATS: usize = 6;

/// What is done at a seat.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Whatever was there is dropped, and a new wait of some kind polled once.
    Begin(usize, u8),
    /// The wait is polled again.
    Poll(usize),
    /// What is there is dropped.
    Drop(usize),
    /// Something is tried that does not wait, and kept if it succeeds.
    Try(usize, u8),
    /// What is held becomes something else.
    Change(usize, u8),
    /// Something is done to the primitive itself.
    Act(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let seat = 0..SEATS;
    prop_oneof![
        4 => (seat.clone(), any::<u8>()).prop_map(|(seat, kind)| Step::Begin(seat, kind)),
        4 => seat.clone().prop_map(Step::Poll),
        3 => seat.clone().prop_map(Step::Drop),
        1 => (seat.clone(), any::<u8>()).prop_map(|(seat, kind)| Step::Try(seat, kind)),
        1 => (seat, any::<u8>()).prop_map(|(seat, kind)| Step::Change(seat, kind)),
        1 => any::<u8>().prop_map(Step::Act),
        1 => Just(Step::Act(0)),
    ]
}

proptest! {
    #[test]
    fn mutexes_keep_step(steps in vec(step(), 1..60)) {
        assert_eq!(ours::steps::mutex(&steps), theirs::steps::mutex(&steps));
    }

    #[test]
    fn rwlocks_keep_step(steps in vec(step(), 1..60)) {
        assert_eq!(ours::steps::rwlocks(&steps), theirs::steps::rwlocks(&steps));
    }

    #[test]
    fn semaphores_keep_step(steps in vec(step(), 1..60)) {
        assert_eq!(ours::steps::semaphore(&steps), theirs::steps::semaphore(&steps));
    }

    #[test]
    fn signals_keep_step(steps in vec(step(), 1..60)) {
        assert_eq!(ours::steps::notify(&steps), theirs::steps::notify(&steps));
    }

    #[test]
    fn cells_keep_step(steps in vec(step(), 1..60)) {
        assert_eq!(ours::steps::once_cell(&steps), theirs::steps::once_cell(&steps));
    }
}
