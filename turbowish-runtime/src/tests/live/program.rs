//! A vector as a program: what each call's body and each thread does, in order.

use std::collections::{BTreeMap, BTreeSet};

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{CallEvent, Event};
use turbowish_testing::check::Vector;

use super::family::{DEEPEST, PROCS};

/// Something that a body or a thread does; `at` is the number of the vector's event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// The event has happened by itself: whoever comes here is past it.
    Past(usize),
    /// Calls the function of `proc`, and keeps the future.
    Create {
        at: usize,
        id: u64,
        proc: usize,
        marked: bool,
    },
    /// `child(..).await`: awaits the call where it is made, until it ends.
    Await { at: usize, id: u64, proc: usize },
    /// Polls a future that is kept; it is pending, ready, or panics at the event `ended`, if ever.
    Poll { at: usize, id: u64, ended: usize },
    /// Drops a future that is kept.
    Drop { at: usize, id: u64 },
    /// Something is woken; nobody asks for wakers here.
    Wake { at: usize },
    /// Turns accounting on.
    Arm,
    /// Returns from the poll.
    End { at: usize, end: PollEnd },
}

/// Who acts: a call, or what runs on a thread by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Actor {
    Call(u64),
    Thread(u64),
}

pub(super) struct Program {
    pub(super) acts: BTreeMap<Actor, Vec<Act>>,
    pub(super) threads: BTreeSet<u64>,
    /// Names of the procs, by number of the function that plays each.
    pub(super) procs: Vec<String>,
    /// Calls that exist before accounting is turned on.
    pub(super) before: Vec<(u64, usize)>,
    /// Calls that are marked as roots of tasks, since a nested executor polls them.
    pub(super) marked: BTreeSet<u64>,
    /// Accounting is turned on in the middle of a poll.
    pub(super) arms_itself: bool,
    /// How many calls are awaited where they are made.
    pub(super) direct: usize,
    /// Until which event a body stands at such an await.
    standing: BTreeMap<Actor, usize>,
}

/// A call as the vector has it: by numbers of events.
#[derive(Default)]
struct Life {
    created: Option<(usize, Actor)>,
    polls: Vec<Stay>,
    dropped: Option<usize>,
    depth: usize,
}

#[derive(Clone, Copy)]
struct Stay {
    within: Actor,
    start: usize,
    /// The event of its end, or one that never comes.
    end: usize,
}

const NEVER: usize = usize::MAX;

/// Why no program does what a vector says, if none does.
pub(super) fn unplayable(vector: &Vector) -> Option<&'static str> {
    let mut ended = BTreeSet::new();
    let mut stacks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for event in &vector.events {
        let Some((id, kind)) = event.call() else {
            continue;
        };
        let open = stacks.values().flatten().any(|&polled| polled == id);
        let stack = stacks.entry(event.thread).or_default();
        match kind {
            CallEvent::PollStart { .. } if ended.contains(&id) || open => {
                return Some("polls a call that has ended, or is being polled");
            }
            CallEvent::PollStart { .. } => stack.push(id),
            CallEvent::PollEnd(_) if !open => {
                return Some("counts the end of a poll that began before accounting was turned on");
            }
            CallEvent::PollEnd(_) if stack.last() != Some(&id) => {
                return Some("ends a poll below another, or on another thread");
            }
            CallEvent::PollEnd(end) => {
                stack.pop();
                if end != PollEnd::Pending {
                    ended.insert(id);
                }
            }
            CallEvent::Drop if open => return Some("drops a call that is being polled"),
            CallEvent::Drop => _ = ended.insert(id),
            CallEvent::Create { .. }
            | CallEvent::Wake
            | CallEvent::Await { .. }
            | CallEvent::Unaccounted => {}
        }
    }
    None
}

impl Program {
    pub(super) fn of(vector: &Vector) -> Self {
        let mut program = Self {
            acts: BTreeMap::new(),
            threads: vector.events.iter().map(|event| event.thread).collect(),
            procs: Vec::new(),
            before: Vec::new(),
            marked: marked(&vector.events),
            arms_itself: false,
            direct: 0,
            standing: BTreeMap::new(),
        };
        let mut lives = lives(&vector.events);
        let mut stacks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (at, event) in vector.events.iter().enumerate() {
            let stack = stacks.entry(event.thread).or_default();
            let thread = Actor::Thread(event.thread);
            let actor = stack.last().map_or(thread, |&id| Actor::Call(id));
            let Some((id, kind)) = event.call() else {
                continue;
            };
            match kind {
                CallEvent::Create { proc } => {
                    let proc = program.proc(vector.names.procs.name(proc));
                    let marked = program.marked.contains(&id);
                    if !marked && is_awaited(&vector.events, &lives, id) {
                        let above = lives.get(&id).map_or(0, |life| parent_depth(&lives, life));
                        lives.entry(id).or_default().depth = above + 1;
                        program.direct += 1;
                        program.act(actor, Act::Await { at, id, proc });
                        let end = over(&vector.events, &lives[&id]);
                        end.into_iter()
                            .for_each(|at| program.act(actor, Act::Past(at)));
                        program.standing.insert(actor, end.unwrap_or(NEVER));
                    } else {
                        program.act(
                            actor,
                            Act::Create {
                                at,
                                id,
                                proc,
                                marked,
                            },
                        );
                    }
                }
                CallEvent::PollStart { proc, .. } => {
                    let life = &lives[&id];
                    if let (None, Some(proc)) = (life.created, proc) {
                        program.exists_before(id, vector.names.procs.name(proc));
                    }
                    let stay = life.polls.iter().find(|stay| stay.start == at);
                    if let (0, Some(stay)) = (life.depth, stay) {
                        let ended = stay.end;
                        program.act(actor, Act::Poll { at, id, ended });
                    }
                    program.own(id, at, Act::Past(at));
                    stack.push(id);
                }
                CallEvent::PollEnd(end) => {
                    if stack.last() == Some(&id) {
                        stack.pop();
                    } else {
                        // Not begun as far as the vector goes: so it began before all.
                        program.arms_itself = true;
                        program.act(actor, Act::Poll { at, id, ended: at });
                        program.act(Actor::Call(id), Act::Arm);
                    }
                    program.own(id, at, Act::End { at, end });
                }
                CallEvent::Drop => program.act(actor, Act::Drop { at, id }),
                CallEvent::Wake => program.act(actor, Act::Wake { at }),
                // No vector has them.
                CallEvent::Await { .. } | CallEvent::Unaccounted => {}
            }
        }
        program
    }

    fn act(&mut self, actor: Actor, act: Act) {
        self.acts.entry(actor).or_default().push(act);
    }

    /// The beginning or the end of a call's poll, which its body has no part in while it awaits
    /// another call.
    fn own(&mut self, id: u64, at: usize, act: Act) {
        let actor = Actor::Call(id);
        if self.standing.get(&actor).is_none_or(|&until| at > until) {
            self.act(actor, act);
        }
    }

    fn exists_before(&mut self, id: u64, name: &str) {
        let proc = self.proc(name);
        if self.before.iter().all(|&(known, _)| known != id) {
            self.before.push((id, proc));
        }
    }

    fn proc(&mut self, name: &str) -> usize {
        let known = self.procs.iter().position(|proc| proc == name);
        known.unwrap_or_else(|| {
            self.procs.push(name.to_owned());
            assert!(self.procs.len() <= PROCS, "the family is too small");
            self.procs.len() - 1
        })
    }
}

/// The calls that are polled as roots of tasks.
fn marked(events: &[Event]) -> BTreeSet<u64> {
    let calls = events.iter().filter_map(Event::call);
    let roots = calls.filter(|(_, kind)| matches!(kind, CallEvent::PollStart { root: true, .. }));
    roots.map(|(id, _)| id).collect()
}

fn lives(events: &[Event]) -> BTreeMap<u64, Life> {
    let mut lives: BTreeMap<u64, Life> = BTreeMap::new();
    let mut stacks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let stack = stacks.entry(event.thread).or_default();
        let thread = Actor::Thread(event.thread);
        let within = stack.last().map_or(thread, |&id| Actor::Call(id));
        let Some((id, kind)) = event.call() else {
            continue;
        };
        let life = lives.entry(id).or_default();
        match kind {
            CallEvent::Create { .. } => life.created = Some((at, within)),
            CallEvent::PollStart { .. } => {
                let (start, end) = (at, NEVER);
                life.polls.push(Stay { within, start, end });
                stack.push(id);
            }
            CallEvent::PollEnd(_) => {
                stack.pop();
                if let Some(stay) = life.polls.last_mut() {
                    stay.end = at;
                }
            }
            CallEvent::Drop => _ = life.dropped.get_or_insert(at),
            CallEvent::Wake | CallEvent::Await { .. } | CallEvent::Unaccounted => {}
        }
    }
    lives
}

/// The event at which a call was ready.
fn over(events: &[Event], life: &Life) -> Option<usize> {
    let end = life.polls.last()?.end;
    let end_of_call = CallEvent::PollEnd(PollEnd::Ready);
    let ready = |event: &Event| event.call().is_some_and(|(_, kind)| kind == end_of_call);
    events.get(end).is_some_and(ready).then_some(end)
}

fn parent_depth(lives: &BTreeMap<u64, Life>, life: &Life) -> usize {
    match life.created {
        Some((_, Actor::Call(parent))) => lives.get(&parent).map_or(0, |parent| parent.depth),
        _ => 0,
    }
}

/// Whether a call does what one does that is awaited where it is made: it is polled at once, again
/// at the start of each further poll of its parent, and its parent pends when it does, all at the
/// same time.
fn is_awaited(events: &[Event], lives: &BTreeMap<u64, Life>, id: u64) -> bool {
    let life = &lives[&id];
    let Some((created, Actor::Call(parent))) = life.created else {
        return false;
    };
    let parent_life = &lives[&parent];
    let together = |a: usize, b: usize| {
        let same = |a: &Event, b: &Event| a.t == b.t && a.thread == b.thread;
        a.checked_add(1) == Some(b) && same(&events[a], &events[b])
    };
    let kind = |at: usize| Some(events.get(at)?.call()?.1);
    let begins_with = |stay: &Stay| {
        let mut polls = parent_life.polls.iter();
        polls.any(|poll| together(poll.start, stay.start))
    };
    let ends_with = |stay: &Stay| {
        let next = stay.end.saturating_add(1);
        let with_parent = events
            .get(next)
            .and_then(Event::call)
            .is_some_and(|(id, _)| id == parent);
        match kind(stay.end) {
            None | Some(CallEvent::PollEnd(PollEnd::Ready)) => true,
            Some(CallEvent::PollEnd(PollEnd::Torn)) => false,
            same => with_parent && together(stay.end, next) && kind(next) == same,
        }
    };
    let Some((first, others)) = life.polls.split_first() else {
        return false;
    };
    let own = life
        .polls
        .iter()
        .all(|stay| stay.within == Actor::Call(parent));
    // Every poll of the parent since then is one of the call, until it is ready.
    let until = over(events, life).unwrap_or(NEVER);
    let mut later = parent_life.polls.iter();
    let polled = later.all(|poll| {
        poll.start < created
            || poll.start > until
            || others.iter().any(|stay| together(poll.start, stay.start))
    });
    let last = life.polls.last().map_or(NEVER, |stay| stay.end);
    let over = !matches!(
        kind(last),
        None | Some(CallEvent::PollEnd(PollEnd::Pending))
    );
    let kept = over || (life.dropped.is_none() && parent_life.dropped.is_none());
    own && polled
        && kept
        && together(created, first.start)
        && others.iter().all(begins_with)
        && life.polls.iter().all(ends_with)
        && parent_depth(lives, life) < DEEPEST
}
