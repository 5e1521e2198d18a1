//! A task is seen in its first poll, and is the same one afterwards; a call from outside that never
//! waits is none when it is over.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::TaskState;

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::monitor::Monitor;

static SERVE: Proc = Proc::new::<Tasks>("::serve", "1 first_poll.rs");

/// Id, name, state and polls of every live task of [`SERVE`].
type Tasks = Vec<(u64, String, TaskState, u64)>;

fn tasks(monitor: &Monitor) -> Tasks {
    let query = Query {
        tasks: Some(Rows::default()),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let rows = snapshot.tasks.rows.into_iter();
    let own = rows.filter(|row| row.root.ends_with("serve"));
    own.map(|row| (row.id, row.name, row.state, row.polls))
        .collect()
}

#[test]
fn a_task_is_seen_in_its_first_poll() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    let mut context = Context::from_waker(Waker::noop());
    let mut seen = Vec::new();
    {
        let mut left = 2;
        let polls = std::future::poll_fn(|_| {
            advance(5);
            seen.push(tasks(&monitor));
            left -= 1;
            if left == 0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let mut waits = pin!(call(SERVE.as_static(), Other, polls));
        assert!(waits.as_mut().poll(&mut context).is_pending());
        let between = tasks(&monitor);
        assert!(waits.as_mut().poll(&mut context).is_ready());
        seen.insert(1, between);
    }
    let id = seen[0][0].0;
    let name = seen[0][0].1.clone();
    let expected = [
        (TaskState::Polling, 1),
        (TaskState::Waiting, 1),
        (TaskState::Polling, 2),
    ]
    .map(|(state, polls)| vec![(id, name.clone(), state, polls)]);
    assert_eq!(seen, expected);
    assert!(name.contains("serve-"), "{name}");
    assert_eq!(tasks(&monitor), []);

    // One that never waits is seen while it runs, and is no task when it is over.
    let mut seen = Vec::new();
    let runs = std::future::poll_fn(|_| {
        seen = tasks(&monitor);
        Poll::Ready(())
    });
    assert!(
        pin!(call(SERVE.as_static(), Other, runs))
            .poll(&mut context)
            .is_ready()
    );
    assert!(matches!(&*seen, [(other, _, TaskState::Polling, 1)] if *other != id));
    assert_eq!(tasks(&monitor), []);
    monitor.disarm();
}

#[test]
fn a_pause_in_its_first_poll_leaves_a_task_what_it_is() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    let mut context = Context::from_waker(Waker::noop());
    let mut seen = Vec::new();
    let mut polls = 0;
    let switched = std::future::poll_fn(|_| {
        advance(5);
        seen.push(tasks(&monitor));
        polls += 1;
        if polls == 1 {
            monitor.disarm();
            seen.push(tasks(&monitor));
            monitor.arm();
            seen.push(tasks(&monitor));
        }
        Poll::<()>::Pending
    });
    let (between, after);
    {
        let mut waits = pin!(call(SERVE.as_static(), Other, switched));
        assert!(waits.as_mut().poll(&mut context).is_pending());
        between = tasks(&monitor);
        assert!(waits.as_mut().poll(&mut context).is_pending());
        after = tasks(&monitor);
    }
    let ids = |tasks: &Tasks| tasks.iter().map(|task| task.0).collect::<Vec<_>>();
    let id = ids(&seen[0]);
    assert_eq!(id.len(), 1);
    seen.extend([between, after]);
    assert!(seen.iter().all(|tasks| ids(tasks) == id), "{seen:?}");
    assert_eq!(tasks(&monitor), []);
    monitor.disarm();
}

#[test]
fn a_task_without_room_is_counted_once() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    crate::hot::task::limit(0);
    let before = crate::hot::task::lost();
    let mut context = Context::from_waker(Waker::noop());
    let mut seen = Vec::new();
    {
        let polls = std::future::poll_fn(|_| {
            seen.push(tasks(&monitor).len());
            Poll::<()>::Pending
        });
        let mut waits = pin!(call(SERVE.as_static(), Other, polls));
        for _ in 0..3 {
            assert!(waits.as_mut().poll(&mut context).is_pending());
        }
    }
    crate::hot::task::limit(crate::hot::task::DEFAULT_LIMIT);
    assert_eq!(crate::hot::task::lost() - before, 1);
    assert_eq!(seen, [1, 0, 0]);
    monitor.disarm();
}
