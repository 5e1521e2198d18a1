//! What was lost is reported with the time when it was last.

use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use turbowish_model::query::Query;
use turbowish_model::snapshot::Lost;

use super::stage::{advance, alone};
use crate::monitor::Monitor;

const SECOND: u64 = 1_000_000_000;

#[turbowish::instrument]
async fn waits() {
    std::future::pending::<()>().await;
}

fn poll(task: &mut Pin<&mut impl Future>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(task.as_mut().poll(&mut context).is_pending());
}

#[test]
fn calls_that_began_before_accounting_are_told_with_their_time() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    let lost = || -> Lost {
        let snapshot = monitor.snapshot(&Query::default());
        snapshot.expect("a good query").lost
    };
    let ago = || lost().last_ago_ns;
    monitor.arm();
    assert_eq!(ago(), None, "nobody has looked");
    let mut task = pin!(waits());
    poll(&mut task);
    monitor.tick();
    advance(SECOND);
    let before = lost();
    assert_eq!(before.late_attach, 0);
    monitor.disarm();
    advance(SECOND);
    monitor.arm();
    poll(&mut task);
    // Before the next tick, too.
    assert_eq!((lost().late_attach, ago()), (1, Some(0)));
    monitor.tick();
    advance(4 * SECOND);
    monitor.tick();
    assert_eq!((lost().late_attach, ago()), (1, Some(4 * SECOND)));
    monitor.disarm();
    advance(SECOND);
    assert_eq!(
        ago(),
        Some(5 * SECOND),
        "time goes on while accounting is off"
    );
    monitor.arm();
    monitor.tick();
    assert_eq!(lost().late_attach, 1, "it was not polled since");
    assert_eq!(ago(), Some(5 * SECOND));
}
