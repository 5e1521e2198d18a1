//! Clones, wakes and drops are reported one for one, and the target goes with the last waker.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use turbowish_unsafe::waker::{BorrowedWaker, LazyTarget, WakeTarget};

#[derive(Default)]
struct Counts {
    clones: AtomicUsize,
    drops: AtomicUsize,
    wakes: AtomicUsize,
    explode: bool,
}

impl Counts {
    fn read(&self) -> [usize; 3] {
        [&self.clones, &self.drops, &self.wakes].map(|count| count.load(SeqCst))
    }
}

impl WakeTarget for Counts {
    fn cloned(&self) {
        self.clones.fetch_add(1, SeqCst);
    }
    fn dropped(&self) {
        self.drops.fetch_add(1, SeqCst);
    }
    fn wake(&self) {
        self.wakes.fetch_add(1, SeqCst);
        assert!(!self.explode, "a target that unwinds");
    }
}

fn used_up(waker: Waker) {
    waker.wake();
}

#[test]
fn a_lent_waker_counts_only_its_clones() {
    let target = Arc::new(Counts::default());
    /// What is done with a waker, and the clones, drops and wakes that have been then.
    type Step = (fn(&Waker), [usize; 3]);
    let steps: [Step; 6] = [
        (|_| (), [0, 0, 0]),
        (Waker::wake_by_ref, [0, 0, 1]),
        (|waker| drop(waker.clone()), [1, 1, 1]),
        (|waker| used_up(waker.clone()), [2, 2, 2]),
        (|waker| waker.clone().clone().wake_by_ref(), [4, 4, 3]),
        (|waker| assert!(waker.will_wake(&waker.clone())), [5, 5, 3]),
    ];
    for (step, expected) in steps {
        step(BorrowedWaker::new(&target).waker());
        assert_eq!(target.read(), expected);
        assert_eq!(Arc::strong_count(&target), 1);
    }
}

#[test]
fn a_waker_lent_on_is_the_same() {
    let target = Arc::new(Counts::default());
    let first = BorrowedWaker::new(&target);
    let second = BorrowedWaker::same(first.waker());
    assert!(second.waker().will_wake(first.waker()));
    drop(second.waker().clone());
    second.waker().wake_by_ref();
    assert_eq!((target.read(), Arc::strong_count(&target)), ([1, 1, 1], 1));
}

#[test]
fn a_clone_keeps_the_target_and_the_last_one_frees_it() {
    let target = Arc::new(Counts::default());
    let weak = Arc::downgrade(&target);
    let clone = BorrowedWaker::new(&target).waker().clone();
    drop(target);
    assert_eq!(weak.upgrade().expect("kept").read(), [1, 0, 0]);
    clone.wake_by_ref();
    std::thread::spawn(move || clone.wake())
        .join()
        .expect("woken elsewhere");
    assert!(weak.upgrade().is_none());
}

#[test]
fn a_wake_that_unwinds_gives_its_count_back() {
    let target = Arc::new(Counts {
        explode: true,
        ..Counts::default()
    });
    let clone = BorrowedWaker::new(&target).waker().clone();
    let woken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| clone.wake()));
    assert!(woken.is_err());
    assert_eq!((target.read(), Arc::strong_count(&target)), ([1, 1, 1], 1));
}

#[derive(Default)]
struct Made {
    target: OnceLock<Arc<Counts>>,
    woken: AtomicUsize,
}

impl LazyTarget for Made {
    fn waker(&self) -> Waker {
        BorrowedWaker::new(self.target.get_or_init(Arc::default))
            .waker()
            .clone()
    }
    fn wake(&self) {
        self.woken.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_late_waker_makes_its_target_once_and_when_it_is_cloned() {
    let made = Made::default();
    let late = BorrowedWaker::late(&made);
    late.waker().wake_by_ref();
    assert_eq!(
        (made.woken.load(SeqCst), made.target.get().is_none()),
        (1, true)
    );
    let clones: Vec<Waker> = std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|_| scope.spawn(|| late.waker().clone()));
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a clone"))
            .collect()
    });
    assert!(clones.windows(2).all(|pair| pair[0].will_wake(&pair[1])));
    let target = made.target.get().expect("made").clone();
    assert!(BorrowedWaker::new(&target).waker().will_wake(&clones[0]));
    clones.into_iter().for_each(Waker::wake);
    assert_eq!((target.read(), Arc::strong_count(&target)), ([3, 3, 3], 2));
}
