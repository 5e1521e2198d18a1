//! Our types have all that tokio's have: tables of methods and examples are compiled against both,
//! and no method is missing in them.
#![cfg(feature = "tokio")]

mod complete;
mod lockstep;
mod tasks;
#[macro_use]
mod traits;

mod ours;
mod theirs;

use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::test_runner::RngSeed;

use self::tasks::Step;

/// A script, of steps that mean something to each kind of channel.
fn script() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    proptest::collection::vec(any::<Step>(), 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// Whatever is done in whatever order comes to the same: results, who is woken and how often,
    /// what is inside.
    #[test]
    fn scripts_come_to_the_same(steps in script(), places in 1_usize..4) {
        assert_eq!(ours::mpsc_scripts::bounded(places, &steps), theirs::mpsc_scripts::bounded(places, &steps));
        assert_eq!(ours::mpsc_scripts::unbounded(&steps), theirs::mpsc_scripts::unbounded(&steps));
        assert_eq!(ours::scripts::oneshot(&steps), theirs::scripts::oneshot(&steps));
        assert_eq!(ours::scripts::broadcast(places, &steps), theirs::scripts::broadcast(places, &steps));
        assert_eq!(ours::scripts::watch(&steps), theirs::scripts::watch(&steps));
    }
}

/// The message of the panic of `f`.
fn panics(f: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).expect_err("a panic");
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().expect("a message")).to_owned(),
    }
}

/// What only types can tell: `Send`, `Sync`, `Unpin`, `UnwindSafe`, `RefUnwindSafe` are the same
/// for ours and for tokio's.
#[test]
fn auto_traits_are_the_same() {
    for (ours, theirs) in [
        (ours::barrier::auto_traits(), theirs::barrier::auto_traits()),
        (ours::mutex::auto_traits(), theirs::mutex::auto_traits()),
        (ours::notify::auto_traits(), theirs::notify::auto_traits()),
        (
            ours::once_cell::auto_traits(),
            theirs::once_cell::auto_traits(),
        ),
        (ours::rwlock::auto_traits(), theirs::rwlock::auto_traits()),
        (
            ours::semaphore::auto_traits(),
            theirs::semaphore::auto_traits(),
        ),
        (
            ours::set_once::auto_traits(),
            theirs::set_once::auto_traits(),
        ),
        (ours::mpsc::auto_traits(), theirs::mpsc::auto_traits()),
        (ours::oneshot::auto_traits(), theirs::oneshot::auto_traits()),
        (
            ours::broadcast::auto_traits(),
            theirs::broadcast::auto_traits(),
        ),
        (
            ours::time_table::auto_traits(),
            theirs::time_table::auto_traits(),
        ),
        (ours::watch::auto_traits(), theirs::watch::auto_traits()),
    ] {
        assert!(!ours.is_empty());
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs);
        }
    }
}
