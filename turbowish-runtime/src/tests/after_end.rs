//! Polls of calls that are over: counted, and as without TurboWish.

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{after_end, proc, switch};

static ONCE: Proc = Proc::new::<u8>("::polled_again", "1 after_end.rs");
static AROUND: Proc = Proc::new::<u16>("::polls_again", "2 after_end.rs");

fn poll<T>(future: &mut Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    advance(1);
    let waker = Waker::noop();
    future.as_mut().poll(&mut Context::from_waker(waker))
}

/// `polled_again in polls_again 1`, for each kind that is about this proc.
fn counted() -> Vec<String> {
    let name = |id: u32| {
        let path = proc::all()[id as usize].path.to_string();
        path.rsplit("::").next().unwrap_or_default().to_owned()
    };
    let all = after_end::all().into_iter();
    let mut lines: Vec<String> = all
        .map(|(kind, polls)| {
            let by = kind.by.0.checked_sub(1).map_or("?".to_owned(), name);
            let task = if polls.task == 0 { "" } else { " of a task" };
            format!("{} in {by}{task} {}", name(kind.proc), polls.times)
        })
        .filter(|line| line.starts_with("polled_again"))
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_future_that_is_over_is_polled_as_it_is() {
    let _alone = alone();
    switch::arm().expect("accounting was off");
    assert_eq!(counted(), [""; 0]);
    let mut polls = 0;
    let every_time = poll_fn(|_| {
        polls += 1;
        match polls {
            1 | 3 => Poll::Pending,
            _ => Poll::Ready(polls),
        }
    });
    let mut every_time = pin!(call(ONCE.as_static(), Other, every_time));
    assert_eq!(poll(&mut every_time), Poll::Pending);
    assert_eq!(poll(&mut every_time), Poll::Ready(2));
    assert_eq!(counted(), [""; 0]);
    assert_eq!(poll(&mut every_time), Poll::Pending);
    assert_eq!(poll(&mut every_time), Poll::Ready(4));
    assert_eq!(counted(), ["polled_again in ? 2"]);
    // Nobody counts while accounting is off.
    switch::disarm();
    assert_eq!(poll(&mut every_time), Poll::Ready(5));
    assert_eq!(counted(), ["polled_again in ? 2"]);
    switch::arm().expect("accounting was off");

    let mut panics = pin!(call(ONCE.as_static(), Other, async {
        assert!(polls > 5, "the first poll panics");
    }));
    for _ in 0..2 {
        let polled = catch_unwind(AssertUnwindSafe(|| poll(&mut panics)));
        assert!(polled.is_err());
    }
    assert_eq!(counted(), ["polled_again in ? 3"]);

    let around = call(AROUND.as_static(), Other, async {
        let mut inner = pin!(call(ONCE.as_static(), Other, async { 1 }));
        assert_eq!(inner.as_mut().await, 1);
        let again = catch_unwind(AssertUnwindSafe(|| poll(&mut inner)));
        assert!(again.is_err(), "an async block panics");
        pending::<()>().await;
    });
    let mut around = pin!(around);
    assert!(poll(&mut around).is_pending());
    let expected = [
        "polled_again in ? 3",
        "polled_again in polls_again of a task 1",
    ];
    assert_eq!(counted(), expected);
    switch::disarm();
}
