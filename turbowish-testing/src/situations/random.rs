//! Situations of all shapes, the nonsensical ones included: ids that are not there, trees that are
//! rings, numbers at their limits.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::{
    End, Ended, FinishedPoll, ForcedYields, FutureRef, HandoffCandidate, HoldingTask,
    IntendingTask, LockOrder, LongPolls, Node, NodeKind, NodeWake, OpenPoll, PollsAfterEnd, Proc,
    Resource, ResourceFlow, RootTasks, Site, Situation, Source, StreamFutures, Strength, Taken,
    Task, TaskKind, TimerWaits, WaitingTask, Wakes, WorkerLook, WorkerThread,
};
use turbowish_model::snapshot::{Place, Spot, TaskState};

fn id() -> impl Strategy<Value = u64> {
    0_u64..6
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0_u64..4, 3 => 0_u64..20_000_000_000, 1 => Just(u64::MAX), 1 => any::<u64>()]
}

fn role() -> impl Strategy<Value = Role> {
    use Role::{Acquire, Lock, Read, Receive, Send, Wait, Write};
    proptest::sample::select(vec![Lock, Read, Write, Acquire, Send, Receive, Wait])
}

fn kind() -> impl Strategy<Value = Kind> {
    use Kind::{
        Barrier, Broadcast, Mpsc, Mutex, Notify, OnceCell, Oneshot, RwLock, Semaphore, Timer, Watch,
    };
    proptest::sample::select(vec![
        Mutex, Mutex, RwLock, Semaphore, Barrier, Notify, OnceCell, Mpsc, Mpsc, Oneshot, Broadcast,
        Watch, Timer,
    ])
}

fn node_kind() -> impl Strategy<Value = NodeKind> {
    use NodeKind::{Call, Join, Select, Unknown, Unordered};
    proptest::sample::select(vec![Call, Call, Call, Join, Select, Unordered, Unknown])
}

fn place() -> impl Strategy<Value = Place> {
    (0_u32..3, "[a-z({]{0,4}").prop_map(|(line, expr)| Place {
        file: "a.rs".to_owned(),
        line,
        column: 1,
        end_line: line,
        end_column: 9,
        expr,
    })
}

fn future() -> impl Strategy<Value = FutureRef> {
    prop_oneof![
        Just(FutureRef::Unknown),
        Just(FutureRef::Aside),
        (0_u32..4).prop_map(FutureRef::Node)
    ]
}

fn node() -> impl Strategy<Value = Node> {
    let wake =
        (number(), option::of(number())).prop_map(|(polled, woken)| NodeWake { polled, woken });
    (
        0_u32..5,
        option::of(0_u32..5),
        node_kind(),
        option::of(0_u32..3),
        proptest::bool::weighted(0.1),
        option::of(place()),
        number(),
        option::of(wake),
        node_kind(),
    )
        .prop_map(
            |(id, parent, kind, branches, aside, place, since, wake, fork)| Node {
                id,
                parent,
                kind,
                branches,
                aside,
                proc: format!("app::p{id}"),
                place,
                since,
                wake,
                branch: u64::from(id % 3),
                fork,
            },
        )
}

fn state() -> impl Strategy<Value = TaskState> {
    prop_oneof![6 => Just(TaskState::Waiting), 1 => Just(TaskState::Ready), 1 => Just(TaskState::Polling)]
}

fn wakes() -> impl Strategy<Value = Wakes> {
    (number(), number(), number(), option::of(number())).prop_map(
        |(total, by_itself, clones, live)| Wakes {
            total,
            by_itself,
            last: None,
            clones,
            live,
        },
    )
}

fn tree() -> impl Strategy<Value = Vec<Node>> {
    let call = place().prop_map(|place| {
        vec![Node {
            kind: NodeKind::Call,
            proc: "app::p".to_owned(),
            place: Some(place),
            ..Node::default()
        }]
    });
    prop_oneof![2 => call, 1 => vec(node(), 0..5)]
}

fn task() -> impl Strategy<Value = Task> {
    let kinds = [TaskKind::Spawned, TaskKind::BlockOn, TaskKind::Blocking];
    (
        (
            id(),
            proptest::sample::select(kinds.to_vec()),
            state(),
            proptest::bool::weighted(0.05),
        ),
        (number(), number(), number(), number(), number()),
        option::of(number()),
        option::of(wakes()),
        tree(),
    )
        .prop_map(
            |(
                (id, kind, state, paused),
                (since, created, polls, busy_ns, bytes),
                idle_polls,
                wakes,
                tree,
            )| Task {
                id,
                name: format!("t{id}"),
                root: "app::t".to_owned(),
                kind,
                state,
                since,
                created,
                polls,
                busy_ns,
                idle_polls,
                wakes,
                future_bytes: bytes,
                spawned: None,
                paused,
                tree,
            },
        )
}

fn stream() -> impl Strategy<Value = StreamFutures> {
    (
        id(),
        option::of(place()),
        [number(), number()],
        option::of(number()),
    )
        .prop_map(|(task, place, [live, woken], woken_at)| StreamFutures {
            task,
            proc: "app::t".to_owned(),
            place,
            live,
            woken,
            woken_at,
        })
}

fn holder() -> impl Strategy<Value = HoldingTask> {
    (option::of(id()), future(), role(), number(), number()).prop_map(
        |(task, future, role, amount, since)| HoldingTask {
            task,
            future,
            role,
            amount,
            since,
            spot: Some(Spot::default()),
            proc: None,
        },
    )
}

fn waiter() -> impl Strategy<Value = WaitingTask> {
    (
        option::of(id()),
        future(),
        role(),
        number(),
        number(),
        option::of(place()),
        option::weighted(0.2, number()),
        option::of(number()),
    )
        .prop_map(
            |(task, future, role, amount, since, place, woken, woken_poll)| WaitingTask {
                task,
                future,
                role,
                amount,
                since,
                proc: None,
                place,
                woken,
                woken_poll,
            },
        )
}

fn end() -> impl Strategy<Value = End> {
    (role(), option::of(id()), option::of(0..4_u64)).prop_map(|(role, user, number)| End {
        role,
        user,
        number,
    })
}

fn intent() -> impl Strategy<Value = IntendingTask> {
    let sure = (any::<bool>(), any::<bool>());
    (id(), role(), sure, option::of(0..4_u64)).prop_map(|(task, role, (will, proven), end)| {
        IntendingTask {
            task,
            role,
            strength: if will { Strength::Will } else { Strength::May },
            proven,
            end,
        }
    })
}

fn resource() -> impl Strategy<Value = Resource> {
    let closed = proptest::bool::weighted(0.05);
    (
        (id(), kind(), option::of(number()), number(), closed),
        (vec(holder(), 0..3), number()),
        (vec(waiter(), 0..6), number()),
        vec(end(), 0..4),
        (vec(intent(), 0..3), 0..4_u64, option::of(number())),
        (number(), number(), option::of(number())),
    )
        .prop_map(
            |(
                (id, kind, capacity, length, closed),
                (holders, held),
                (waiters, waiting),
                ends,
                (intents, intending, deserted),
                (put, took, inside_p99_ns),
            )| Resource {
                id,
                kind,
                name: format!("{} r{id}", kind.word()),
                made: None,
                capacity,
                length,
                closed,
                holders,
                held,
                waiters,
                waiting,
                ends,
                intents,
                intending,
                flow: ResourceFlow {
                    put,
                    took,
                    inside_p99_ns,
                    deserted,
                },
            },
        )
}

fn worker() -> impl Strategy<Value = WorkerThread> {
    let poll = (
        option::of(id()),
        number(),
        vec((Just("app::p".to_owned()), number()), 0..3),
        option::of(place()),
    );
    let poll = poll.prop_map(|(task, since, stack, passed)| OpenPoll {
        task,
        since,
        stack,
        passed,
    });
    let worker = (
        0_u64..4,
        option::of(poll),
        option::of(number()),
        (option::of(number()), any::<bool>()),
        (option::of(number()), vec(long_polls(), 0..3)),
        (vec(look(), 0..3), vec(ended_poll(), 0..3)),
    );
    worker.prop_map(
        |(
            n,
            poll,
            run_delay_ns,
            (cpu_ns, sleeps),
            (last_event, long_polls),
            (looks, ended_polls),
        )| WorkerThread {
            id: n,
            name: format!("w{n}"),
            thread: "tokio-rt-worker".to_owned(),
            run_delay_ns,
            cpu_ns,
            sleeps,
            last_event,
            poll,
            long_polls,
            looks,
            ended_polls,
        },
    )
}

fn look() -> impl Strategy<Value = WorkerLook> {
    let times = (option::of(number()), option::of(number()), any::<bool>());
    let look = (number(), number(), times);
    look.prop_map(|(from, to, (run_delay_ns, cpu_ns, sleeps))| WorkerLook {
        from,
        to,
        run_delay_ns,
        cpu_ns,
        sleeps,
    })
}

fn ended_poll() -> impl Strategy<Value = FinishedPoll> {
    let stack = vec((0..4).prop_map(|n| format!("app::p{n}")), 0..3);
    let poll = (
        id(),
        any::<bool>(),
        number(),
        number(),
        stack,
        option::of(place()),
    );
    poll.prop_map(
        |(task, is_named, since, until, stack, passed)| FinishedPoll {
            task,
            name: is_named.then(|| format!("t{task}")),
            since,
            until,
            stack,
            passed,
        },
    )
}

fn long_polls() -> impl Strategy<Value = LongPolls> {
    (0..4, number(), number()).prop_map(|(n, polls, least_ns)| LongPolls {
        proc: format!("app::p{n}"),
        polls,
        least_ns,
    })
}

fn proc() -> impl Strategy<Value = Proc> {
    let site = (place(), option::of(number()), option::of(number())).prop_map(
        |(place, select, timeout)| Site {
            place,
            cut_in_select: select,
            cut_in_timeout: timeout,
            cut: None,
        },
    );
    (
        0..4,
        [number(), number(), number(), number(), number()],
        (option::of(number()), number(), option::of(place())),
        vec(site, 0..2),
    )
        .prop_map(|(n, numbers, (spurious, times, place), sites)| {
            let [never_polled, polls, slow, longest_ns, future_bytes] = numbers;
            Proc {
                forced: ForcedYields {
                    times,
                    proc: "app::p".to_owned(),
                    place,
                },
                path: format!("app::p{n}"),
                spot: Spot::default(),
                never_polled,
                lost_races: spurious.map(|n| n / 2),
                polls,
                spurious,
                slow,
                longest_ns,
                future_bytes,
                parts: Vec::new(),
                sites,
            }
        })
}

fn roots() -> impl Strategy<Value = Vec<RootTasks>> {
    let root =
        (0_u32..3, [number(), number(), number()]).prop_map(|(n, [live, idle, ended])| RootTasks {
            path: format!("app::p{n}"),
            live,
            idle,
            ended,
        });
    vec(root, 0..3)
}

fn order() -> impl Strategy<Value = LockOrder> {
    let taken = || {
        (id(), option::of(role())).prop_map(|(resource, role)| Taken {
            resource,
            role,
            spot: None,
        })
    };
    (taken(), taken(), id(), vec(id(), 0..2)).prop_map(|(first, second, task, gates)| LockOrder {
        first,
        second,
        task,
        name: format!("t{task}"),
        gates,
    })
}

fn timers() -> impl Strategy<Value = TimerWaits> {
    let numbers = [number(), number(), number(), number(), number()];
    (option::of(place()), numbers).prop_map(
        |(place, [completed, late, late_ns, worst_ns, polling_ns])| TimerWaits {
            proc: "app::t".to_owned(),
            place,
            completed,
            late,
            late_ns,
            worst_ns,
            polling_ns,
        },
    )
}

fn polls_after_end() -> impl Strategy<Value = PollsAfterEnd> {
    (option::of(place()), number(), any::<bool>()).prop_map(|(place, times, is_known)| {
        PollsAfterEnd {
            proc: "app::p0".to_owned(),
            by: is_known.then(|| "app::p1".to_owned()),
            place,
            times,
            task: is_known.then(|| "t0".to_owned()),
        }
    })
}

fn candidate() -> impl Strategy<Value = HandoffCandidate> {
    (id(), id(), number()).prop_map(|(of, task, made)| HandoffCandidate {
        of,
        task,
        name: format!("t{task}"),
        made,
    })
}

/// Any situation.
pub fn situation() -> impl Strategy<Value = Situation> {
    let ended = (id(), number(), option::of(any::<bool>())).prop_map(|(id, at, detached)| Ended {
        id,
        name: format!("t{id}"),
        root: "app::t".to_owned(),
        at,
        detached,
        panic: None,
        spawned: None,
        place: None,
    });
    let source = number().prop_map(|events| Source {
        name: "polls".to_owned(),
        events,
        noisiest: None,
        resource: None,
    });
    let tasks = (
        vec(task(), 0..6),
        vec(ended, 0..2),
        (roots(), vec(stream(), 0..2)),
    );
    let waiting = (tasks, vec(resource(), 0..6));
    let procs = (
        vec(proc(), 0..3),
        vec(timers(), 0..2),
        vec(polls_after_end(), 0..2),
    );
    let running = (vec(worker(), 0..3), procs, vec(order(), 0..3));
    let events = (vec(source, 0..2), option::of(number()));
    (number(), waiting, running, events, vec(candidate(), 0..3)).prop_map(
        |(
            now,
            ((tasks, ended, (roots, streams)), resources),
            (workers, (procs, timers, polled_after_end), orders),
            (sources, heartbeat),
            candidates,
        )| Situation {
            unix_ns: 0,
            candidates,
            now,
            tasks,
            roots,
            streams,
            ended,
            resources,
            workers,
            procs,
            timers,
            polled_after_end,
            orders,
            sources,
            heartbeat,
        },
    )
}
