//! Plays a vector with real futures: each call is a `Call` whose body takes the script's next events.
//!
//! Events of several threads are played on as many real threads, one at a time, in script order. What
//! cannot be played is named in [`unplayable`].

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Waker};

use turbowish_model::call::PollEnd;
use turbowish_model::replay::{Event, Kind};

use super::check::{self, Check, Got, Vector};
use super::stage::{alone, set_time};
use crate::call::{Call, call};
use crate::gather::Gather;
use crate::probe::Other;
use crate::proc::Proc;
use crate::{clock, switch};

type Body = Pin<Box<dyn Future<Output = ()> + Send>>;
type Scripted = Pin<Box<Call<Body, Other>>>;

/// What all threads share: the script, how far it is, and the calls that are not being polled.
struct Stage {
    script: Vec<Event>,
    at: Mutex<usize>,
    moved: Condvar,
    /// Threads at the end of the script, and whether they may go on.
    waiting: Mutex<(usize, bool)>,
    released: Condvar,
    calls: Mutex<HashMap<u64, Scripted>>,
    procs: BTreeMap<String, &'static Proc>,
}

/// A panic that the script asks for.
struct Scheduled;

impl Stage {
    /// Waits until the next event is one of `thread`; `None` at the end of the script, when the
    /// totals have been read with everything as it is.
    fn next(&self, thread: u64) -> Option<&Event> {
        let mut at = self.at.lock().expect("at");
        while let Some(event) = self.script.get(*at) {
            if event.thread == thread {
                set_time(event.t);
                return Some(event);
            }
            at = self.moved.wait(at).expect("at");
        }
        drop(at);
        let mut waiting = self.waiting.lock().expect("waiting");
        waiting.0 += 1;
        self.released.notify_all();
        while !waiting.1 {
            waiting = self.released.wait(waiting).expect("waiting");
        }
        None
    }

    /// Runs `read` while every thread stands at the end of the script.
    fn at_end<R>(&self, threads: usize, read: impl FnOnce() -> R) -> R {
        let mut waiting = self.waiting.lock().expect("waiting");
        while waiting.0 < threads {
            waiting = self.released.wait(waiting).expect("waiting");
        }
        let result = read();
        waiting.1 = true;
        self.released.notify_all();
        result
    }

    fn done(&self) {
        *self.at.lock().expect("at") += 1;
        self.moved.notify_all();
    }

    /// Plays events of a thread until the end of `within`'s poll (or the end of the script).
    fn play(self: &Arc<Self>, thread: u64, within: Option<u64>) -> Option<PollEnd> {
        while let Some(event) = self.next(thread) {
            match &event.kind {
                Kind::Create(proc) => {
                    let body = Box::pin(Play {
                        stage: self.clone(),
                        id: event.id,
                    }) as Body;
                    let call = call(self.procs[proc], Other, body);
                    self.calls
                        .lock()
                        .expect("calls")
                        .insert(event.id, Box::pin(call));
                    self.done();
                }
                Kind::PollStart { .. } => {
                    let taken = self.calls.lock().expect("calls").remove(&event.id);
                    let call = taken.unwrap_or_else(|| panic!("call {} is not there", event.id));
                    self.done_by_poll(event.id, thread, call);
                }
                Kind::PollEnd(end) => {
                    assert_eq!(within, Some(event.id), "polls nest in the script");
                    return Some(*end);
                }
                Kind::Drop => {
                    let call = self.calls.lock().expect("calls").remove(&event.id);
                    drop(call);
                    self.done();
                }
                // Nobody asks for wakers here.
                Kind::Wake => self.done(),
            }
        }
        None
    }

    fn done_by_poll(self: &Arc<Self>, id: u64, thread: u64, mut call: Scripted) {
        THREAD.set(thread);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            call.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        }));
        match polled {
            Ok(_) => {}
            Err(panic) => assert!(panic.is::<Scheduled>(), "only panics of the script"),
        }
        // Ended calls may be dropped much later by the script: they stay for it.
        self.calls.lock().expect("calls").insert(id, call);
        // The end of the poll was the event at hand; what comes next may be seen now.
        self.done();
    }
}

thread_local! {
    static THREAD: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The body of a scripted call.
struct Play {
    stage: Arc<Stage>,
    id: u64,
}

impl Future for Play {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        // The event at hand is this poll's start; it is over as soon as the frame is open.
        self.stage.done();
        match self.stage.play(THREAD.get(), Some(self.id)) {
            Some(PollEnd::Ready | PollEnd::Err) => Poll::Ready(()),
            Some(PollEnd::Panic) => std::panic::panic_any(Scheduled),
            Some(PollEnd::Pending | PollEnd::Torn) => Poll::Pending,
            // The script ended inside this poll, and the totals were read with it open.
            None => Poll::Pending,
        }
    }
}

/// Why real futures cannot do what a vector says, if they cannot.
fn unplayable(vector: &Vector) -> Option<&'static str> {
    let mut created = Vec::new();
    for event in &vector.events {
        match event.kind {
            Kind::Create(_) => created.push(event.id),
            Kind::PollStart { root: true, .. } => return Some("marks a root inside another poll"),
            Kind::PollStart { .. } if !created.contains(&event.id) => {
                return Some("begins in the middle of a call");
            }
            Kind::PollEnd(PollEnd::Torn) => return Some("tears a frame down without unwinding"),
            Kind::PollEnd(_) if !created.contains(&event.id) => {
                return Some("begins in the middle of a poll");
            }
            _ => {}
        }
    }
    None
}

fn play(vector: &Vector) -> Vec<String> {
    let script = vector.events.clone();
    let first = script.iter().map(|event| event.t).min().expect("an event");
    let last = script.iter().map(|event| event.t).max().expect("an event");
    let now = vector.now.unwrap_or(last);
    let mut threads: Vec<u64> = script.iter().map(|event| event.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let names = script.iter().filter_map(|event| match &event.kind {
        Kind::Create(name) => Some(name),
        _ => None,
    });
    let procs = names.map(|name| (name.clone(), leaked(name))).collect();
    set_time(first);
    let epoch = switch::arm().expect("accounting was off");
    let stage = Arc::new(Stage {
        script,
        at: Mutex::new(0),
        moved: Condvar::new(),
        waiting: Mutex::new((0, false)),
        released: Condvar::new(),
        calls: Mutex::new(HashMap::new()),
        procs,
    });
    let mut check = Check::new(vector);
    std::thread::scope(|scope| {
        for &thread in &threads {
            let stage = stage.clone();
            let named = std::thread::Builder::new().name(thread.to_string());
            named
                .spawn_scoped(scope, move || stage.play(thread, None))
                .expect("a thread");
        }
        stage.at_end(threads.len(), || {
            set_time(now);
            let ids = stage.procs.iter().map(|(name, proc)| (name, proc.id()));
            compare(&mut check, ids, now - first);
        });
    });
    assert_eq!(switch::disarm(), Some(epoch));
    assert!(check.compared > 20);
    check.mismatches.iter().map(ToString::to_string).collect()
}

fn leaked(name: &str) -> &'static Proc {
    let name: &'static str = Box::leak(format!("::{name}").into_boxed_str());
    Box::leak(Box::new(Proc::new::<()>(name, "1 vector.rs")))
}

/// Compares the totals of what was armed last; `ids` are those of the vector's procs in this process.
pub(super) fn compare<'a>(
    check: &mut Check<'_>,
    ids: impl Iterator<Item = (&'a String, Option<u32>)>,
    window: u64,
) {
    let (mut totals, threads) = Gather::default().read(clock::ticks);
    let mut names = vec![String::new(); totals.tally.procs.len()];
    for (name, id) in ids {
        names[id.expect("an id") as usize].clone_from(name);
    }
    totals
        .tally
        .procs
        .resize_with(names.len(), Default::default);
    check.totals(&Got {
        tally: &totals.tally,
        procs: &names,
        window,
    });
    let busy = threads.iter().map(|thread| {
        let name = thread.name.parse().expect("threads are named by number");
        (name, totals.busy[&thread.index])
    });
    check.busy(&busy.collect());
}

#[test]
fn real_futures_give_the_numbers_of_the_vectors() {
    let _alone = alone();
    let vectors = check::read(include_str!(
        "../../../turbowish-model/tests/occupancy-vectors.json"
    ))
    .expect("vectors");
    let (mut played, mut left_out, mut mismatches) = (0, Vec::new(), Vec::new());
    for vector in &vectors {
        match unplayable(vector) {
            Some(reason) => left_out.push((&*vector.name, reason)),
            None => {
                played += 1;
                mismatches.extend(play(vector));
            }
        }
    }
    assert!(
        mismatches.is_empty(),
        "{} mismatches:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
    let expected = [
        (
            "block_on_same_proc_inside",
            "marks a root inside another poll",
        ),
        ("poll_torn_down", "tears a frame down without unwinding"),
        (
            "attach_mid_run_between_polls",
            "begins in the middle of a call",
        ),
        ("attach_mid_poll", "begins in the middle of a poll"),
    ];
    assert_eq!(left_out, expected);
    assert_eq!(played, 36);
}
