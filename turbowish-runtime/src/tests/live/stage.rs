//! Where a program plays: whose turn it is, what time it is, and the futures that are kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{CallEvent, Event};

use super::super::stage::set_time;
use super::family::{Boxed, call};
use super::program::{Act, Actor, Program};

/// A panic that the vector asks for.
pub(super) struct Scheduled;

/// What a nested executor polls with.
static NESTED: LazyLock<Waker> = LazyLock::new(|| Arc::new(Nested).into());

struct Nested;

impl Wake for Nested {
    fn wake(self: Arc<Self>) {}
}

/// What all threads share.
pub(super) struct Stage {
    events: Vec<Event>,
    /// By event: how many must have happened before it because other threads do them.
    after: Vec<usize>,
    acts: BTreeMap<Actor, Vec<Act>>,
    marked: BTreeSet<u64>,
    /// How far each actor is: its next act, and the event that it has made happen last.
    cursors: Mutex<BTreeMap<Actor, (usize, Option<usize>)>>,
    kept: Mutex<HashMap<u64, Boxed>>,
    happened: Mutex<usize>,
    moved: Condvar,
    /// Threads at the end of their acts, and whether they may go on.
    waiting: Mutex<(usize, bool)>,
    released: Condvar,
}

impl Stage {
    pub(super) fn new(events: &[Event], program: &Program) -> Arc<Self> {
        let after = (0..events.len()).map(|at| {
            let other = |event: &Event| event.thread != events[at].thread;
            events[..at].iter().rposition(other).map_or(0, |at| at + 1)
        });
        Arc::new(Self {
            events: events.to_vec(),
            after: after.collect(),
            acts: program.acts.clone(),
            marked: program.marked.clone(),
            cursors: Mutex::default(),
            kept: Mutex::default(),
            happened: Mutex::new(0),
            moved: Condvar::new(),
            waiting: Mutex::new((0, false)),
            released: Condvar::new(),
        })
    }

    /// Runs `read` while every thread stands at the end of its acts.
    pub(super) fn at_end<R>(&self, threads: usize, read: impl FnOnce() -> R) -> R {
        let mut waiting = self.waiting.lock().expect("waiting");
        while waiting.0 < threads {
            waiting = self.released.wait(waiting).expect("waiting");
        }
        let result = read();
        waiting.1 = true;
        self.released.notify_all();
        result
    }

    /// A thread has panicked: nobody is to wait for it.
    pub(super) fn fail(&self) {
        *self.happened.lock().expect("happened") = usize::MAX;
        self.moved.notify_all();
        *self.waiting.lock().expect("waiting") = (usize::MAX, true);
        self.released.notify_all();
    }

    fn rest(&self) {
        let mut waiting = self.waiting.lock().expect("waiting");
        waiting.0 = waiting.0.saturating_add(1);
        self.released.notify_all();
        while !waiting.1 {
            waiting = self.released.wait(waiting).expect("waiting");
        }
    }

    /// Waits until it is an event's turn, and makes it its time.
    fn turn(&self, at: usize) {
        let mut happened = self.happened.lock().expect("happened");
        while *happened < self.after[at] {
            happened = self.moved.wait(happened).expect("happened");
        }
        set_time(self.events[at].t);
    }

    fn done(&self, at: usize) {
        let mut happened = self.happened.lock().expect("happened");
        *happened = (*happened).max(at.saturating_add(1));
        self.moved.notify_all();
    }
}

/// One actor's part.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) stage: Arc<Stage>,
    pub(super) actor: Actor,
}

impl Part {
    /// The part of another call.
    pub(super) fn of(&self, id: u64) -> Self {
        Self {
            stage: self.stage.clone(),
            actor: Actor::Call(id),
        }
    }

    /// What comes next, and is not to be done yet.
    fn next(&self) -> Option<Act> {
        let mut cursors = self.stage.cursors.lock().expect("cursors");
        let (at, last) = cursors.entry(self.actor).or_default();
        if let Some(last) = last.take() {
            self.stage.done(last);
        }
        let acts = self.stage.acts.get(&self.actor)?;
        while let Some(Act::Past(event)) = acts.get(*at) {
            self.stage.done(*event);
            *at += 1;
        }
        acts.get(*at).copied()
    }

    /// What is to be done now, at the time of its event.
    pub(super) fn take(&self) -> Option<Act> {
        let act = self.next()?;
        let (event, last) = match act {
            Act::Create { at, .. } | Act::Drop { at, .. } => (Some(at), Some(at)),
            Act::Poll { at, ended, .. } => (Some(at), Some(ended)),
            Act::Wake { at } => (Some(at), Some(at)),
            Act::Await { at, .. } | Act::End { at, .. } => (Some(at), None),
            Act::Arm | Act::Past(_) => (None, None),
        };
        if let Some(event) = event {
            self.stage.turn(event);
        }
        let mut cursors = self.stage.cursors.lock().expect("cursors");
        let (at, done) = cursors.entry(self.actor).or_default();
        (*at, *done) = (*at + 1, last);
        Some(act)
    }

    pub(super) fn create(&self, id: u64, proc: usize, marked: bool) {
        let future = call(proc, self.of(id), marked);
        self.stage.kept.lock().expect("kept").insert(id, future);
    }

    pub(super) fn drop_call(&self, id: u64) {
        let future = self.stage.kept.lock().expect("kept").remove(&id);
        drop(future);
    }

    /// Polls a kept future, as an executor does: what panics has ended.
    fn poll(&self, id: u64, ended: usize) {
        let taken = self.stage.kept.lock().expect("kept").remove(&id);
        let mut future = taken.unwrap_or_else(|| panic!("call {id} is not there"));
        let waker = match self.stage.marked.contains(&id) {
            true => &*NESTED,
            false => Waker::noop(),
        };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            future.as_mut().poll(&mut Context::from_waker(waker))
        }));
        if let Err(panic) = polled {
            assert!(panic.is::<Scheduled>(), "only panics of the vector");
        }
        let torn = CallEvent::PollEnd(PollEnd::Torn);
        if self
            .stage
            .events
            .get(ended)
            .is_some_and(|event| event.call().is_some_and(|(_, kind)| kind == torn))
        {
            // A program cannot tear a poll down: the future pends, and is dropped at once.
            return;
        }
        // Ended calls may be dropped much later: they stay for it.
        self.stage.kept.lock().expect("kept").insert(id, future);
    }

    /// What a thread does by itself, until all is read.
    pub(super) fn run(&self) {
        while let Some(act) = self.take() {
            match act {
                Act::Create {
                    id, proc, marked, ..
                } => self.create(id, proc, marked),
                Act::Poll { id, ended, .. } => self.poll(id, ended),
                Act::Drop { id, .. } => self.drop_call(id),
                Act::Wake { .. } => {}
                other => unreachable!("{other:?} on a thread"),
            }
        }
        self.stage.rest();
    }
}

/// Polls the futures whose turn it is, as `join!` and `select!` do, and pends when the body does;
/// ready when the body has something else to do.
pub(super) struct Turns<'a>(pub(super) &'a Part);

impl Future for Turns<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let part = self.0;
        loop {
            match part.next() {
                Some(Act::Poll { id, ended, .. }) => {
                    part.take();
                    part.poll(id, ended);
                }
                Some(Act::End {
                    end: PollEnd::Pending | PollEnd::Torn,
                    ..
                }) => {
                    part.take();
                    return Poll::Pending;
                }
                Some(_) => return Poll::Ready(()),
                None => {
                    // The vector ends inside this poll, and is read with it open.
                    part.stage.rest();
                    return Poll::Pending;
                }
            }
        }
    }
}
