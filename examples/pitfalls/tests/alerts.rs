//! Each program soon raises its own alert, with the right parties, and no other; healthy ones none.

mod program;

use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::alert::{Alert, PartyKind, Severity};
use turbowish_model::snapshot::{IntentRow, Snapshot};
use turbowish_recording::Reader;

use self::program::Program;

/// Starts a program with these limits.
async fn start(path: &str, limits: &str) -> Program {
    Program::start(path, ("TURBOWISH_LIMITS", limits)).await
}

async fn snapshot(program: &Program) -> Snapshot {
    let query = Query {
        tasks: Some(Rows::default()),
        resources: Some(Rows::default()),
        ..Query::default()
    };
    let taken = program.connection.snapshot(&query).await;
    taken.expect("a snapshot")
}

/// `deadlock alert: tasks there, back; resources mutex alice, mutex bob; debit self.to.lock()`
fn line(alert: &Alert) -> String {
    let of = |kind: PartyKind| {
        let parties = alert.parties.iter().filter(move |party| party.kind == kind);
        let names: Vec<&str> = parties.map(|party| party.name.as_str()).collect();
        names.join(", ")
    };
    let at = alert.at.as_ref();
    let place = at.and_then(|at| at.place.as_ref());
    format!(
        "{} {} | {} | {} | {} | {}",
        alert.pitfall.id(),
        alert.severity.word(),
        of(PartyKind::Task),
        of(PartyKind::Resource),
        at.map_or("", |at| at.proc.rsplit("::").next().unwrap_or("")),
        place.map_or("", |place| place.expr.as_str()),
    )
}

/// A program that is ill has the machine for itself: some want all of it. The healthy ones share it.
static MACHINE: tokio::sync::RwLock<()> = tokio::sync::RwLock::const_new(());

/// Polls may be long: a machine that tests do not have for themselves keeps threads from running.
const LONG_POLLS: &str = "long_poll.warn=10s,long_poll.alert=10s";

async fn check(path: &str, limits: &str, expected: &str) {
    let _alone = MACHINE.write().await;
    let program = start(path, limits).await;
    let within = Duration::from_secs(SOON);
    let begun = Instant::now();
    let mut seen = Vec::new();
    while begun.elapsed() < within {
        let snapshot = snapshot(&program).await;
        let active = snapshot.alerts.rows.iter().filter(|alert| !alert.is_over());
        seen = active.map(line).collect();
        if seen == [expected] {
            println!("after {:?}: {expected}", begun.elapsed());
            return check_recorded(&program, expected).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let late = snapshot(&program).await;
    panic!("expected {expected}, got {seen:#?}; in {late:#?}");
}

/// The recording of the program has the alert, and a mark of it in the same scan: no state without
/// the alert lies between the two.
async fn check_recorded(program: &Program, expected: &str) {
    let begun = Instant::now();
    loop {
        let chunks = program.chunks().await;
        let mut recording = Reader::of_chunks(Cursor::new(chunks)).expect("whole chunks");
        if let Some((marked, raised)) = recorded(&mut recording, expected) {
            println!("marked at {marked}, in the state of {raised}");
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{recording:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The instants of the mark of an alert and of the first state that shows it. The expression may be
/// known in a later state only: the first scan may have found the task in a poll.
fn recorded(recording: &mut Reader<Cursor<Vec<u8>>>, expected: &str) -> Option<(u64, u64)> {
    let instants: Vec<u64> = recording.states().iter().map(|at| at.at_unix_ns).collect();
    let shown: Vec<(usize, Alert)> = (0..instants.len())
        .flat_map(|nth| {
            let alerts = recording.snapshot(nth).expect("a state").alerts.rows;
            alerts.into_iter().map(move |alert| (nth, alert))
        })
        .collect();
    shown.iter().find(|(_, alert)| line(alert) == expected)?;
    let who = |line: &str| line.rsplit_once(" | ").map(|(who, _)| who.to_owned());
    let is_it = |alert: &Alert| who(&line(alert)) == who(expected);
    let (nth, alert) = shown.iter().find(|(_, alert)| is_it(alert))?;
    let nth = *nth;
    let kind = alert.title.split(' ').next()?;
    let before = nth.checked_sub(1).map_or(0, |before| instants[before]);
    let after = instants.get(nth + 1).copied().unwrap_or(u64::MAX);
    let marks: Vec<u64> = recording.marks().iter().map(|at| at.at_unix_ns).collect();
    let marked = (0..marks.len()).find(|&mark| {
        let text = recording.mark(mark).expect("a mark");
        let title = text.split_once(": ").map_or("", |(_, title)| title);
        !text.starts_with("over: ")
            && title.starts_with(kind)
            && (before..=after).contains(&marks[mark])
    })?;
    Some((marks[marked], instants[nth]))
}

/// No alert for so long. Who has a lock when its thread is kept from running has it for that long, too.
async fn check_none(path: &str, long: Duration) {
    let _shared = MACHINE.read().await;
    let limits = format!("{LONG_POLLS},guard_across_await.held=2s");
    let program = start(path, &limits).await;
    let begun = Instant::now();
    while begun.elapsed() < long {
        let snapshot = snapshot(&program).await;
        let seen: Vec<&Alert> = snapshot.alerts.rows.iter().collect();
        assert!(seen.is_empty(), "after {:?}: {seen:#?}", begun.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_late_console_sees_all_tasks() {
    let _alone = MACHINE.write().await;
    let program = start(env!("CARGO_BIN_EXE_parked"), "").await;
    let query = Query {
        tasks: Some(Rows {
            limit: 50,
            ..Rows::default()
        }),
        ..Query::default()
    };
    let parked = async {
        loop {
            let begun = Instant::now();
            let page = program
                .connection
                .snapshot(&query)
                .await
                .expect("a page")
                .tasks;
            assert!(page.total <= 50_000 && page.rows.len() <= 50);
            if page.total == 50_000 {
                return begun.elapsed();
            }
        }
    };
    let took = tokio::time::timeout(Duration::from_secs(20), parked).await;
    println!(
        "first page of 50,000 tasks: {:?}",
        took.expect("all of them")
    );
}

/// Who means to do what, long before it is a wait: `counter will send surely`, and nobody who means nothing.
#[tokio::test]
async fn a_deadlock_is_certain_because_of_what_the_source_says() {
    let _alone = MACHINE.write().await;
    let program = start(env!("CARGO_BIN_EXE_unsent"), "").await;
    let begun = Instant::now();
    let snapshot = loop {
        let snapshot = snapshot(&program).await;
        if !snapshot.alerts.rows.is_empty() {
            break snapshot;
        }
        assert!(begun.elapsed() < Duration::from_secs(SOON), "no alert");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let alert = &snapshot.alerts.rows[0];
    assert!(alert.certain, "{alert:#?}");
    let resources = &snapshot.resources.rows;
    let totals = resources.iter().find(|row| row.name == "mpsc totals");
    let totals = totals.expect("the channel");
    // The end was never used, and who will use it is known.
    assert_eq!(totals.senders, [None]);
    let meant = |rows: &[IntentRow]| {
        let rows = rows.iter().map(|row| {
            let (task, role) = (row.task.as_deref().unwrap_or("?"), row.role.word());
            format!("{task} {role} in {}", row.proc)
        });
        rows.collect::<Vec<_>>()
    };
    assert_eq!(meant(&totals.will), ["counter send in unsent::count"]);
    assert_eq!(meant(&totals.may), ["settler recv in unsent::settle"]);
    assert_eq!((totals.will_count, totals.may_count), (1, 1));
    let tasks = &snapshot.tasks.rows;
    let counter = tasks.iter().find(|row| row.name == "counter");
    let counter = counter.expect("the task");
    let will = counter.will.iter().map(|aim| aim.resource.as_str());
    assert_eq!(will.collect::<Vec<_>>(), ["mpsc totals"]);
    assert_eq!(counter.may, []);
}

/// What a program counts is seen from outside with its value, and what it costs to look.
#[tokio::test]
async fn counters_come_with_their_values() {
    let _alone = MACHINE.write().await;
    let program = start(env!("CARGO_BIN_EXE_overload-of-counters"), "").await;
    let query = Query {
        counters: Some(Rows::default()),
        ..Query::default()
    };
    let seen = async {
        loop {
            let snapshot = program
                .connection
                .snapshot(&query)
                .await
                .expect("an answer");
            let rows = &snapshot.counters.rows;
            let row = |name: &str| rows.iter().find(|row| row.name == name);
            let last = row("last sum").and_then(|row| row.value);
            if let (Some(numbers), Some(last)) = (row("numbers"), last) {
                assert_eq!(last, 1_000);
                assert!(numbers.total >= Some(1_000) && numbers.added == numbers.total);
                let proc = numbers.proc.as_deref();
                assert_eq!(proc, Some("overload_of_counters::sum"));
                let cost = snapshot
                    .process
                    .own_cost
                    .expect("it was measured at the start");
                assert!(
                    cost.poll_ps > 0 && cost.counter_ps > 0 && cost.ppm > 0,
                    "{cost:?}"
                );
                return cost;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let cost = tokio::time::timeout(Duration::from_secs(10), seen).await;
    println!("{:?}", cost.expect("a gauge that was set"));
}

/// A poll that is long because the machine does not run its thread is told so, and not as file I/O.
#[tokio::test]
async fn a_preempted_poll_is_told_as_run_delay() {
    if !Path::new("/proc/thread-self/schedstat").exists() {
        println!("skipped: this system does not tell the run delay of a thread");
        return;
    }
    let _alone = MACHINE.write().await;
    let program = start(env!("CARGO_BIN_EXE_preempted"), "").await;
    // However much of the core it is left.
    let told = |alert: &Alert| {
        let machine = "The kernel did not run w0 (thread main) for ";
        let alike = |fix: &String| fix.contains("spawn_blocking");
        alert.pitfall.id() == "blocked_worker"
            && alert.severity == Severity::Note
            && alert.title.starts_with("blocked worker w0 ")
            && alert.title.contains(": the kernel did not run it for ")
            && alert.why.contains(machine)
            && alert.fixes.iter().any(|fix| fix.contains("more cores"))
            && !alert.fixes.iter().any(alike)
    };
    let alert = wait_for(&program, told).await;
    println!("{}", alert.title);
}

/// The first alert that is told so, within a minute.
async fn wait_for(program: &Program, told: impl Fn(&Alert) -> bool) -> Alert {
    let begun = Instant::now();
    loop {
        let alerts = snapshot(program).await.alerts.rows;
        if let Some(alert) = alerts.iter().find(|alert| told(alert)) {
            println!("after {:?}", begun.elapsed());
            return alert.clone();
        }
        let elapsed = begun.elapsed();
        assert!(elapsed < Duration::from_secs(60), "{alerts:#?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// An alert about a poll in progress that says what its thread does there, and what to do then.
async fn check_told(path: &str, pitfall: &str, why: &str, fix: &str) {
    if !Path::new("/proc/thread-self/schedstat").exists() {
        println!("skipped: this system does not tell how long a thread was on a processor");
        return;
    }
    let _alone = MACHINE.write().await;
    let program = start(path, "").await;
    let told = |alert: &Alert| {
        let alike = |other: &String| other.contains(fix);
        let is_unsure = |other: &String| other.contains("file I/O or a loop?");
        alert.pitfall.id() == pitfall
            && alert.why.contains(" on the processor ")
            && alert.why.contains(why)
            && alert.fixes.iter().any(alike)
            && !alert.fixes.iter().any(is_unsure)
    };
    let alert = wait_for(&program, told).await;
    println!("{}", alert.why);
}

#[tokio::test]
async fn a_thread_that_sleeps_in_its_poll_is_told_so() {
    let path = env!("CARGO_BIN_EXE_blocked-worker");
    let slept = ": it slept or waited in a call of the system.";
    check_told(path, "blocked_worker", slept, ": a blocking call?").await;
}

#[tokio::test]
async fn a_thread_that_computes_in_its_poll_is_told_so() {
    let path = env!("CARGO_BIN_EXE_never-yields");
    let computes = ": a long computation or a loop?";
    check_told(path, "never_yields", ": it computed.", computes).await;
}

#[tokio::test]
async fn a_panic_is_told_with_its_message_and_its_place() {
    let program = start(env!("CARGO_BIN_EXE_detached-failure"), "").await;
    let told = |alert: &Alert| {
        let place = "detached-failure.rs:8: the panic is here";
        alert.title.contains("refresher panicked (no such host)")
            && alert.fixes.iter().any(|fix| fix == place)
    };
    let alert = wait_for(&program, told).await;
    println!("{}", alert.title);
}

macro_rules! well {
    ($($name:ident $program:literal $seconds:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let path = env!(concat!("CARGO_BIN_EXE_", $program));
            check_none(path, Duration::from_secs($seconds)).await;
        }
    )*};
}

well! {
    healthy "healthy" 10;
    busy_selects "busy-selects" 60;
    busy_server "busy-server" 60;
    rising_load "rising-load" 10;
    cancel_safe "cancel-safe" 10;
    future_moved "future-moved" 5;
    receiver_given_away "receiver-given-away" 5;
}

macro_rules! pitfalls {
    ($limits:expr; $($name:ident $program:literal $expected:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let path = env!(concat!("CARGO_BIN_EXE_", $program));
            check(path, $limits, $expected).await;
        }
    )*};
}

/// Seconds; what is promised is two, and the test machine does other things, too.
const SOON: u64 = 6;

// The pitfall is a long poll: one alert reports it, not two.
pitfalls! {
    "";
    long_poll "long-poll" "long_poll warning |  |  | digest | ";
    blocked_worker "blocked-worker" "blocked_worker alert | snapshot |  | write_snapshot | tokio::task::yield_now()";
    never_yields "never-yields" "never_yields alert | solver |  | solve | ";
    starvation "starvation" "starvation warning | answerer |  |  | ";
    yields_rarely "yields-rarely" "yields_rarely warning | encoder |  | encode | ";
    blocked_executor "blocked-executor" "blocked_worker alert |  |  |  | ";
}

pitfalls! {
    LONG_POLLS;
    deadlock "deadlock" "deadlock alert | there, back | mutex bob, mutex alice | debit | to.lock()";
    deadlock_in_crowd "deadlock-in-crowd" "deadlock alert | there, back | mutex bob, mutex alice | debit | to.lock()";
    deadlock_of_permits "deadlock-of-permits" "deadlock alert | left, right | semaphore buffers | copy | buffers.acquire()";
    guard_moved "guard-moved" "self_deadlock warning | writer | mutex ledger | hand_over | LOCK.lock()";
    cycle_through_channel "cycle-through-channel"
        "deadlock alert | replica, snapshot, producer | mutex log, mutex db, mpsc jobs | replicate | log.lock()";
    deadlock_before_recv "deadlock-before-recv"
        "deadlock alert | producer, replica, snapshot | mpsc jobs, mutex log, mutex db | produce | jobs.send(job)";
    deadlock_before_recv_said "deadlock-before-recv-said"
        "deadlock alert | producer, replica, snapshot | mpsc jobs, mutex log, mutex db | produce | jobs.send(job)";
    unsent "unsent" "deadlock alert | settler, counter | mpsc totals, mutex db | settle | totals.recv()";
    given_up_receiver "given-up-receiver" "blocked_sender alert | producer, server | mpsc jobs | produce | jobs.send(job)";
    self_deadlock "self-deadlock" "self_deadlock alert | refresher | mutex cache | fill | cache.lock()";
    futurelock "futurelock" "futurelock alert | runner | mutex db | save | lock.lock()";
    futurelock_of_two_writers "futurelock-of-two-writers" "futurelock alert | runner | rwlock table | write | table.write()";
    futurelock_of_tokio "futurelock-of-tokio" "futurelock alert | runner |  | save | lock.lock()";
    crowded_task "crowded-task" "crowded_task warning | importer |  | import | pages.next()";
    late_timers "late-timers" "late_timers warning |  |  | refresh | sleep_until(begun + PERIOD * round)";
    polled_after_end "polled-after-end" "polled_after_end alert |  |  | serve | tokio::select! {..}";
    budget_exhausted "budget-exhausted" "budget_exhausted note |  |  | drain | queue.recv()";
    stream_stall "stream-stall" "stream_stall warning | importer |  | fetch | tokio::time::sleep(Duration::from_millis(20 * page))";
    self_deadlock_in_select "self-deadlock-in-select" "self_deadlock alert | runner | mutex state | report | state.lock()";
    lost_waker "lost-waker" "lost_waker alert | server |  | wait_for_flag | poll_fn(|_| { if READY.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending } })";
    self_wake_spin "self-wake-spin" "self_wake_spin warning | connector |  | until_connected | poll_fn(|cx| { cx.waker().wake_by_ref(); Poll::<()>::Pending })";
    guard_across_await "guard-across-await" "guard_across_await warning | updater | mutex config | fetch | tokio::time::sleep(Duration::from_secs(5))";
    lock_convoy "lock-convoy" "lock_convoy warning |  | mutex spoon | eat | spoon.lock()";
    large_future "large-future" "large_future warning |  |  | copy | ";
    never_polled "never-polled" "never_polled warning |  |  | flush | ";
    detached_failure "detached-failure" "detached_failure alert | refresher |  | refresh | ";
    waker_churn "waker-churn" "waker_churn note | poller |  | poll_all | poll_fn(|cx| { kept.clear(); kept.extend((0..32).map(|_| cx.waker().clone())); tick.poll_tick(cx).map(|_| ()) })";
    blocked_sender "blocked-sender" "blocked_sender alert | producer, consumer | mpsc jobs | produce | jobs.send(job)";
    buffer_bloat "buffer-bloat" "buffer_bloat warning |  | mpsc frames |  | ";
    overload "overload" "overload warning |  |  | tiny | ";
    overload_of_counters "overload-of-counters" "overload warning |  |  | sum | ";
    lock_order_inversion "lock-order-inversion" "lock_order_inversion warning | there, back | mutex alice, mutex bob |  | ";
    snoozed_future "snoozed-future" "snoozed_future warning | runner |  | listen | stop.notified()";
    cancel_unsafe_select "cancel-unsafe-select" "cancel_unsafe_select warning |  | mpsc bytes | serve | tokio::select! {..}";
    timeout_half_done "timeout-half-done"
        "timeout_half_done warning |  | mpsc jobs | work | timeout(Duration::from_millis(10), push(&mut jobs))";
    lock_order_unseen "lock-order-unseen" "lock_order_inversion warning | there, back | mutex alice, mutex bob |  | ";
    lock_order_of_owned "lock-order-of-owned" "lock_order_inversion warning | there, back | mutex alice, mutex bob |  | ";
    spurious_polls "spurious-polls" "spurious_polls warning |  |  | take_turns | ";
    never_polled_at_times "never-polled-at-times" "never_polled warning |  |  | flush | ";
    task_leak "task-leak" "task_leak warning |  |  | handle | reply";
    unbounded_growth "unbounded-growth" "unbounded_growth warning |  | mpsc lines |  | ";
}
