//! One event of a coherent stream is lost, doubled or out of place: the rule that names it says so,
//! or nothing can tell.
//!
//! What must be said is worked out here from the rest of the stream, event by event, and not by the
//! validator's rules.

use std::collections::BTreeMap;

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{
    CallEvent, ConsoleEvent, Event, EventKind, IntentEvent, ResourceEvent, TaskEvent,
};
use turbowish_testing::event_file;
use turbowish_testing::mock::{self, Mock, ROOM};
use turbowish_testing::validate::Rule;

use super::reports;

/// What a stream with a mistake comes to.
enum Expected {
    /// At least one of these is reported.
    OneOf(&'static [Rule]),
    /// Another program could have made that stream.
    Nothing,
}

use Expected::{Nothing, OneOf};

fn when(rule: &'static [Rule], later: bool) -> Expected {
    if later { OneOf(rule) } else { Nothing }
}

/// Whether one of the events does such a thing.
fn any(rest: &[Event], is: impl Fn(&EventKind) -> bool) -> bool {
    rest.iter().any(|event| is(&event.kind))
}

fn any_of_lock(rest: &[Event], lock: u64, is: impl Fn(&ResourceEvent) -> bool) -> bool {
    any(
        rest,
        |kind| matches!(kind, EventKind::Resource { id, kind } if *id == lock && is(kind)),
    )
}

/// Whether a queue with so many items gets too full or too empty in the rest.
fn breaks(rest: &[Event], queue: u64, inside: u64) -> Option<Rule> {
    let mut inside = inside;
    for event in rest {
        let EventKind::Resource { id, kind } = &event.kind else {
            continue;
        };
        match kind {
            _ if *id != queue => {}
            ResourceEvent::Put { .. } if inside == ROOM => return Some(Rule::Overfull),
            ResourceEvent::Put { .. } => inside += 1,
            ResourceEvent::Took { .. } if inside == 0 => return Some(Rule::TookTooMany),
            ResourceEvent::Took { .. } => inside -= 1,
            _ => {}
        }
    }
    None
}

fn of_queue(rest: &[Event], queue: u64, inside: u64) -> Expected {
    match breaks(rest, queue, inside) {
        Some(Rule::Overfull) => OneOf(&[Rule::Overfull]),
        Some(_) => OneOf(&[Rule::TookTooMany]),
        None => Nothing,
    }
}

/// Items in a queue after these events.
fn inside(before: &[Event], queue: u64) -> u64 {
    before.iter().fold(0, |inside, event| match &event.kind {
        EventKind::Resource { id, kind } if *id == queue => match kind {
            ResourceEvent::Put { items } => inside + items,
            ResourceEvent::Took { items } => inside - items,
            _ => inside,
        },
        _ => inside,
    })
}

fn lost_call(call: u64, kind: &CallEvent, rest: &[Event]) -> Expected {
    let again = |is: fn(&CallEvent) -> bool| {
        any(
            rest,
            |kind| matches!(kind, EventKind::Call { id, kind } if *id == call && is(kind)),
        )
    };
    match kind {
        CallEvent::Create { .. } => when(&[Rule::UnknownCall], again(|_| true)),
        CallEvent::PollStart { .. } => OneOf(&[Rule::OrphanEnd]),
        // The poll below it ends before anything else is known of this call, if there is one.
        CallEvent::PollEnd(PollEnd::Pending) => {
            OneOf(&[Rule::ForcedEnd, Rule::OverlappingPoll, Rule::DroppedInPoll])
        }
        CallEvent::PollEnd(_) => OneOf(&[Rule::ForcedEnd, Rule::TaskOutlived]),
        CallEvent::Drop => {
            let is_root = any(rest, |kind| {
                matches!(
                    kind,
                    EventKind::Task {
                        kind: TaskEvent::End,
                        ..
                    }
                )
            }) && matches!(
                rest.first(),
                Some(Event {
                    kind: EventKind::Task {
                        kind: TaskEvent::End,
                        ..
                    },
                    ..
                })
            );
            let asked = any(rest, |kind| {
                matches!(
                    kind,
                    EventKind::Console {
                        kind: ConsoleEvent::Reply { .. },
                        ..
                    }
                )
            });
            when(&[Rule::TaskOutlived, Rule::ReplyDiffers], is_root || asked)
        }
        CallEvent::Wake | CallEvent::Await { .. } | CallEvent::Unaccounted => Nothing,
    }
}

fn lost_in_line(id: u64, kind: &ResourceEvent, before: &[Event], rest: &[Event]) -> Expected {
    match kind {
        ResourceEvent::Made { .. } => OneOf(&[Rule::UnknownResource]),
        ResourceEvent::Wait(claim) => {
            let left = ResourceEvent::Left {
                ticket: claim.ticket,
            };
            when(
                &[Rule::NotWaiting],
                any_of_lock(rest, id, |kind| *kind == left),
            )
        }
        ResourceEvent::Taken(_) => OneOf(&[Rule::NotHeld]),
        ResourceEvent::Left { ticket } => {
            let later = |kind: &ResourceEvent| matches!(kind, ResourceEvent::Taken(claim) if claim.ticket > *ticket);
            when(&[Rule::OutOfTurn], any_of_lock(rest, id, later))
        }
        ResourceEvent::Released { .. } => {
            let later = |kind: &ResourceEvent| matches!(kind, ResourceEvent::Taken(_));
            when(&[Rule::TwoHolders], any_of_lock(rest, id, later))
        }
        ResourceEvent::Put { .. } | ResourceEvent::Took { .. } => {
            of_queue(rest, id, inside(before, id))
        }
        ResourceEvent::Closed | ResourceEvent::Dropped => Nothing,
    }
}

fn lost(events: &[Event], at: usize) -> Expected {
    let (before, rest) = (&events[..at], &events[at + 1..]);
    match &events[at].kind {
        EventKind::Call { id, kind } => lost_call(*id, kind, rest),
        EventKind::Task { kind, .. } => match kind {
            TaskEvent::Begin { .. } => OneOf(&[Rule::UnknownTask]),
            // Each clone is dropped in the end.
            TaskEvent::Cloned => OneOf(&[Rule::WakersBelowZero]),
            TaskEvent::Dropped | TaskEvent::Woken | TaskEvent::End => Nothing,
        },
        EventKind::Resource { id, kind } => lost_in_line(*id, kind, before, rest),
        EventKind::Intent { id, kind } => match kind {
            IntentEvent::Made { .. } => {
                let later = any(
                    rest,
                    |kind| matches!(kind, EventKind::Intent { id: other, .. } if other == id),
                );
                when(&[Rule::UnknownIntent], later)
            }
            IntentEvent::Sure | IntentEvent::Done | IntentEvent::Gone => Nothing,
        },
        EventKind::User { .. } => Nothing,
        EventKind::Console { client, kind } => match kind {
            ConsoleEvent::Connect => {
                let later = any(
                    rest,
                    |kind| matches!(kind, EventKind::Console { client: other, .. } if other == client),
                );
                when(&[Rule::UnknownClient], later)
            }
            ConsoleEvent::Pause { task } => {
                let resume = ConsoleEvent::Resume { task: *task };
                let later = any(
                    rest,
                    |kind| matches!(kind, EventKind::Console { kind, .. } if *kind == resume),
                );
                when(&[Rule::NotPaused], later)
            }
            ConsoleEvent::Resume { task } => {
                let pause = ConsoleEvent::Pause { task: *task };
                let root = root_of(events, *task);
                let later = any(rest, |kind| match kind {
                    EventKind::Console { kind, .. } => *kind == pause,
                    EventKind::Call {
                        id,
                        kind: CallEvent::PollStart { .. },
                    } => Some(*id) == root,
                    _ => false,
                });
                when(&[Rule::PausedPoll, Rule::PausedTwice], later)
            }
            _ => Nothing,
        },
    }
}

fn root_of(events: &[Event], task: u64) -> Option<u64> {
    events.iter().find_map(|event| match &event.kind {
        EventKind::Task {
            id,
            kind: TaskEvent::Begin { root },
        } if *id == task => Some(*root),
        _ => None,
    })
}

fn doubled(events: &[Event], at: usize) -> Expected {
    let rest = &events[at + 1..];
    let queue = |id: u64, more: bool| {
        let inside = inside(&events[..=at], id);
        match more {
            true if inside == ROOM => OneOf(&[Rule::Overfull]),
            true => of_queue(rest, id, inside + 1),
            false if inside == 0 => OneOf(&[Rule::TookTooMany]),
            false => of_queue(rest, id, inside - 1),
        }
    };
    match &events[at].kind {
        EventKind::Call { kind, .. } => match kind {
            CallEvent::Create { .. } => OneOf(&[Rule::CallTwice]),
            CallEvent::PollStart { .. } => OneOf(&[Rule::OverlappingPoll]),
            CallEvent::PollEnd(_) => OneOf(&[Rule::OrphanEnd]),
            CallEvent::Drop
            | CallEvent::Wake
            | CallEvent::Await { .. }
            | CallEvent::Unaccounted => Nothing,
        },
        EventKind::Task { kind, .. } => match kind {
            TaskEvent::Begin { .. } => OneOf(&[Rule::TaskTwice]),
            TaskEvent::Dropped => OneOf(&[Rule::WakersBelowZero]),
            TaskEvent::End => OneOf(&[Rule::EndedTask]),
            TaskEvent::Cloned | TaskEvent::Woken => Nothing,
        },
        EventKind::Resource { id, kind } => match kind {
            ResourceEvent::Made { .. } => OneOf(&[Rule::ResourceTwice]),
            ResourceEvent::Wait(_) => OneOf(&[Rule::TicketTwice]),
            ResourceEvent::Taken(_) => OneOf(&[Rule::ServedTwice]),
            ResourceEvent::Left { .. } => OneOf(&[Rule::NotWaiting]),
            ResourceEvent::Released { .. } => OneOf(&[Rule::NotHeld]),
            ResourceEvent::Put { .. } => queue(*id, true),
            ResourceEvent::Took { .. } => queue(*id, false),
            ResourceEvent::Closed | ResourceEvent::Dropped => Nothing,
        },
        EventKind::Intent { kind, .. } => match kind {
            IntentEvent::Made { .. } => OneOf(&[Rule::IntentTwice]),
            IntentEvent::Sure => OneOf(&[Rule::SureTwice]),
            IntentEvent::Done | IntentEvent::Gone => OneOf(&[Rule::EndedIntent]),
        },
        EventKind::User { .. } => Nothing,
        EventKind::Console { kind, .. } => match kind {
            ConsoleEvent::Connect => OneOf(&[Rule::ClientTwice]),
            ConsoleEvent::Disconnect => OneOf(&[Rule::UnknownClient]),
            ConsoleEvent::Pause { .. } => OneOf(&[Rule::PausedTwice]),
            ConsoleEvent::Resume { .. } => OneOf(&[Rule::NotPaused]),
            ConsoleEvent::Arm | ConsoleEvent::Disarm => OneOf(&[Rule::SwitchedTwice]),
            ConsoleEvent::Query | ConsoleEvent::Reply { .. } => Nothing,
        },
    }
}

/// Two events that follow each other, the other way round; of most pairs nobody can tell.
fn swapped(first: &EventKind, second: &EventKind) -> Option<Expected> {
    Some(match (first, second) {
        (
            EventKind::Call { id, kind },
            EventKind::Call {
                id: other,
                kind: next,
            },
        ) if id == other => match (kind, next) {
            (CallEvent::Create { .. }, _) => OneOf(&[Rule::UnknownCall]),
            (CallEvent::PollStart { .. }, CallEvent::PollEnd(_)) => OneOf(&[Rule::OrphanEnd]),
            (CallEvent::PollEnd(_), CallEvent::PollStart { .. }) => OneOf(&[Rule::OverlappingPoll]),
            (CallEvent::PollEnd(_), CallEvent::Drop) => OneOf(&[Rule::DroppedInPoll]),
            _ => return None,
        },
        (
            EventKind::Call {
                kind: CallEvent::PollStart { .. },
                ..
            },
            EventKind::Call {
                kind: CallEvent::PollStart { .. },
                ..
            },
        )
        | (
            EventKind::Call {
                kind: CallEvent::PollEnd(_),
                ..
            },
            EventKind::Call {
                kind: CallEvent::PollEnd(_),
                ..
            },
        ) => OneOf(&[Rule::ForcedEnd]),
        (
            EventKind::Call {
                id,
                kind: CallEvent::PollStart { .. },
            },
            EventKind::Task {
                kind: TaskEvent::Begin { root },
                ..
            },
        ) if id == root => OneOf(&[Rule::NotARoot]),
        (
            EventKind::Call {
                kind: CallEvent::PollEnd(end),
                ..
            },
            EventKind::Task {
                kind: TaskEvent::End,
                ..
            },
        ) if *end != PollEnd::Pending => OneOf(&[Rule::TaskOutlived]),
        (
            EventKind::Call {
                kind: CallEvent::Drop,
                ..
            },
            EventKind::Task {
                kind: TaskEvent::End,
                ..
            },
        ) => OneOf(&[Rule::TaskOutlived]),
        (
            EventKind::Console {
                client,
                kind: ConsoleEvent::Connect,
            },
            EventKind::Console { client: other, .. },
        ) if client == other => OneOf(&[Rule::UnknownClient]),
        (
            EventKind::Resource {
                id,
                kind: ResourceEvent::Made { .. },
            },
            EventKind::Resource { id: other, .. },
        ) if id == other => OneOf(&[Rule::UnknownResource]),
        _ => return None,
    })
}

/// Times that a mistake was told, and that nobody could tell, by what was done to what.
type Seen = BTreeMap<String, [usize; 2]>;

fn check(seen: &mut Seen, what: &str, events: &[Event], expected: &Expected) {
    let told = reports(events);
    let shown = || {
        let lines: Vec<String> = told.iter().map(ToString::to_string).collect();
        format!(
            "{what}: {}\n{}",
            lines.join("\n"),
            event_file::write(events, &mock::names())
        )
    };
    match expected {
        Nothing => assert!(told.is_empty(), "{}", shown()),
        OneOf(rules) => {
            let named = told.iter().any(|report| rules.contains(&report.rule));
            assert!(named, "one of {rules:?}: {}", shown());
        }
    }
    let counts = seen.entry(what.to_owned()).or_default();
    counts[usize::from(matches!(expected, Nothing))] += 1;
}

fn word(kind: &EventKind) -> String {
    let event = Event {
        t: 0,
        thread: 0,
        kind: *kind,
    };
    let line = event_file::write(&[event], &mock::names());
    let word = line
        .split("\"k\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    word.unwrap_or_default().to_owned()
}

#[test]
fn a_mistake_is_told_by_the_rule_that_names_it() {
    let mut seen = Seen::new();
    for seed in 0..40 {
        let events = mock::run(&mut Mock::new(seed, 120, false));
        assert!(reports(&events).is_empty());
        for at in 0..events.len() {
            let word = word(&events[at].kind);
            let mut without = events.clone();
            without.remove(at);
            check(
                &mut seen,
                &format!("lost {word}"),
                &without,
                &lost(&events, at),
            );
            let mut twice = events.clone();
            twice.insert(at, events[at]);
            check(
                &mut seen,
                &format!("doubled {word}"),
                &twice,
                &doubled(&events, at),
            );
            let Some(next) = events.get(at + 1) else {
                continue;
            };
            let mut turned = events.clone();
            turned.swap(at, at + 1);
            if next.thread == events[at].thread && next.t != events[at].t {
                check(
                    &mut seen,
                    "back in time",
                    &turned,
                    &OneOf(&[Rule::TimeBack]),
                );
            }
            if let Some(expected) = swapped(&events[at].kind, &next.kind)
                && next.thread == events[at].thread
            {
                check(&mut seen, &format!("swapped {word}"), &turned, &expected);
            }
        }
    }
    let told = seen.iter().filter(|(_, counts)| counts[0] > 0);
    let told: Vec<&str> = told.map(|(what, _)| &**what).collect();
    assert_eq!(told.join(", "), TOLD);
}

/// What was told at least once.
const TOLD: &str = "\
back in time, doubled console_connect, doubled console_disconnect, doubled console_pause, doubled console_resume, \
doubled create, doubled intent_done, doubled intent_gone, doubled intent_made, doubled intent_sure, doubled poll_end, \
doubled poll_start, doubled resource_left, doubled resource_made, doubled resource_put, doubled resource_released, \
doubled resource_taken, doubled resource_took, doubled resource_wait, doubled task_begin, doubled task_dropped, \
doubled task_end, lost console_connect, lost console_pause, lost console_resume, lost create, lost drop, lost \
intent_made, lost poll_end, lost poll_start, lost resource_left, lost resource_made, lost resource_put, lost \
resource_released, lost resource_taken, lost resource_wait, lost task_begin, lost task_cloned, swapped \
console_connect, swapped create, swapped drop, swapped poll_end, swapped poll_start, swapped resource_made";
