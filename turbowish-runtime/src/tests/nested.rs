//! What is polled inside of another task's poll: the task of a nested executor, or a child with a
//! waker of its own.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{LocalSet, block_in_place};
use turbowish_model::query::{Query, Rows};

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::monitor::Monitor;

static OUTER: Proc = Proc::new::<Case>("::nested_outer", "1 nested.rs");
static INNER: Proc = Proc::new::<Case>("::nested_inner", "2 nested.rs");

/// What the inner call is to the outer one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Is {
    Task,
    Child,
}
use Is::{Child, Task};

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs in the poll of the outer call, and polls the inner one, often enough.
type Case = fn() -> Work;

/// Two polls, each of 5 ns.
fn inner() -> impl Future<Output = ()> + Send {
    let mut polled = false;
    let twice = std::future::poll_fn(move |cx| {
        advance(5);
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    call(INNER.as_static(), Other, twice)
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

struct Ignored;

impl Wake for Ignored {
    fn wake(self: Arc<Self>) {}
}

/// The executor of a page of a book.
fn by_hand(future: impl Future<Output = ()>) {
    let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Ignored)));
    while future
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending()
    {}
}

const CASES: &[(&str, Is, Case)] = &[
    ("block_on of the runtime's handle", Task, || {
        Box::pin(async { block_in_place(|| Handle::current().block_on(inner())) })
    }),
    ("block_on of another runtime", Task, || {
        Box::pin(async { block_in_place(|| current_thread().block_on(inner())) })
    }),
    ("block_on by another runtime's handle", Task, || {
        Box::pin(async { block_in_place(|| current_thread().handle().block_on(inner())) })
    }),
    ("turbowish::block_on", Task, || {
        Box::pin(async { block_in_place(|| crate::block_on(&current_thread(), inner())) })
    }),
    ("a task of another runtime", Task, || {
        Box::pin(async {
            block_in_place(|| {
                current_thread().block_on(async { tokio::spawn(inner()).await.expect("no panic") });
            });
        })
    }),
    ("a task of a LocalSet", Task, || {
        Box::pin(async {
            block_in_place(|| {
                let local = LocalSet::new();
                drop(local.spawn_local(inner()));
                current_thread().block_on(local);
            });
        })
    }),
    ("block_on of futures, marked", Task, || {
        Box::pin(async { futures::executor::block_on(crate::task(inner())) })
    }),
    ("block_on by hand, marked", Task, || {
        Box::pin(async { by_hand(crate::task(inner())) })
    }),
    ("marked twice, one after the other", Task, || {
        Box::pin(async {
            by_hand(async {});
            by_hand(crate::task(inner()));
        })
    }),
    // Nobody is told of these executors, and their wakers might be a combinator's.
    ("block_on of futures", Child, || {
        Box::pin(async { futures::executor::block_on(inner()) })
    }),
    ("block_on by hand", Child, || {
        Box::pin(async { by_hand(inner()) })
    }),
    ("an await", Child, || Box::pin(async { inner().await })),
    ("an await of what is marked", Child, || {
        Box::pin(async { crate::task(inner()).await })
    }),
    ("FuturesUnordered", Child, || {
        Box::pin(async {
            let mut all: FuturesUnordered<_> = [inner()].into_iter().collect();
            all.next().await;
        })
    }),
    (
        "FuturesUnordered of what is awaited in place of a marked one",
        Child,
        || {
            Box::pin(async {
                let marked = async {
                    let mut all: FuturesUnordered<_> = [inner()].into_iter().collect();
                    all.next().await;
                };
                crate::task(marked.boxed()).await;
            })
        },
    ),
    ("join_all", Child, || {
        Box::pin(async { _ = futures::future::join_all((0..40).map(|_| inner()).take(1)).await })
    }),
    ("join!", Child, || {
        Box::pin(async { _ = tokio::join!(inner(), std::future::ready(())) })
    }),
    ("select!", Child, || {
        Box::pin(async {
            tokio::select! {
                () = inner() => {}
                () = std::future::pending() => {}
            }
        })
    }),
    ("Shared", Child, || {
        Box::pin(async { inner().shared().await })
    }),
    ("FuturesUnordered in a nested task", Task, || {
        Box::pin(async {
            block_in_place(|| {
                Handle::current().block_on(crate::task(async {
                    let mut all: FuturesUnordered<_> = [inner()].into_iter().collect();
                    all.next().await;
                }));
            });
        })
    }),
];

/// What the outer call's own part was of the time of the inner one: 10 ns are its own.
fn play(case: Case, wakers: bool) -> (u64, u64, u64) {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    crate::hot::task::wrap(wakers);
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .expect("a runtime");
    let outer = call(OUTER.as_static(), Other, async move {
        advance(4);
        case().await;
        advance(6);
    });
    let spawned = runtime.block_on(async { tokio::spawn(outer).await });
    crate::hot::task::wrap(true);
    spawned.expect("no panic");
    drop(runtime);
    let query = Query {
        procs: Some(Rows::default()),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let of = |name: &str| {
        let mut rows = snapshot.procs.rows.iter();
        rows.find(|row| row.proc.ends_with(name))
            .expect("it ran")
            .clone()
    };
    let (outer, inner) = (of("nested_outer"), of("nested_inner"));
    monitor.disarm();
    assert_eq!((inner.polls, inner.running_ns), (2, 10));
    (outer.running_ns, outer.inclusive_ns, inner.inclusive_ns)
}

/// What the call inside of `case` is seen as.
fn seen(name: &str, case: Case, wakers: bool) -> Is {
    let (running, inclusive, inner) = play(case, wakers);
    assert_eq!((running, inner), (10, 10), "{name}");
    match inclusive {
        10 => Task,
        20 => Child,
        _ => panic!("{name}: {inclusive}"),
    }
}

#[test]
fn a_nested_executors_task_is_no_child_and_a_combinators_child_no_task() {
    for &(name, is, case) in CASES {
        assert_eq!(seen(name, case, true), is, "{name}");
    }
}

/// What a call is given by tokio may have come from the task's own poll.
const UNSEEN_WITHOUT_WAKERS: &[&str] = &[
    "block_on of the runtime's handle",
    "block_on of another runtime",
    "block_on by another runtime's handle",
];

#[test]
fn without_wakers_of_ours_what_is_not_proved_is_a_child() {
    for &(name, is, case) in CASES {
        let expected = match UNSEEN_WITHOUT_WAKERS.contains(&name) {
            true => Child,
            false => is,
        };
        assert_eq!(seen(name, case, false), expected, "{name}");
    }
}

/// The first poll of one task may be inside of that of another one, and both wait after it.
#[test]
fn a_nested_task_has_a_row_of_its_own() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    let waits = || call(INNER.as_static(), Other, std::future::pending::<()>());
    let mut nested = Box::pin(crate::TaskBuilder::new().name("nested").task(waits()));
    let mut outer = pin!(call(OUTER.as_static(), Other, async {
        let waker = Waker::from(Arc::new(Ignored));
        let mut context = Context::from_waker(&waker);
        for _ in 0..2 {
            advance(3);
            assert!(nested.as_mut().poll(&mut context).is_pending());
        }
        std::future::pending::<()>().await;
    }));
    advance(1);
    let mut context = Context::from_waker(Waker::noop());
    assert!(outer.as_mut().poll(&mut context).is_pending());
    let query = Query {
        tasks: Some(Rows::default()),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let rows = snapshot.tasks.rows.iter();
    let rows = rows.filter(|row| row.name.starts_with("nested"));
    let mut tasks: Vec<_> = rows
        .map(|row| (row.name.split('-').next().unwrap_or_default(), row.polls))
        .collect();
    tasks.sort_unstable();
    monitor.disarm();
    assert_eq!(tasks, [("nested", 2), ("nested_outer", 1)]);
}
