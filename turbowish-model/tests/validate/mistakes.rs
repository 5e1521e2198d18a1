//! One event of a coherent stream is lost, doubled or out of place: the rule that names it says so, or nothing can tell.
//!
//! What must be said is worked out here from the rest of the stream, event by event, and not by the validator's rules.

use std::collections::BTreeMap;

use turbowish_model::account::call::PollEnd;
use turbowish_model::replay::Kind;
use turbowish_model::validate::{Act, Event, OfConsole, OfIntent, OfResource, OfTask, Rule};

use super::mock::{self, Mock, ROOM};
use super::{reports, written};

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
fn any(rest: &[Event], is: impl Fn(&Act) -> bool) -> bool {
    rest.iter().any(|event| is(&event.act))
}

fn any_of_lock(rest: &[Event], lock: u64, is: impl Fn(&OfResource) -> bool) -> bool {
    any(
        rest,
        |act| matches!(act, Act::Resource { id, kind } if *id == lock && is(kind)),
    )
}

/// Whether a queue with so many items gets too full or too empty in the rest.
fn breaks(rest: &[Event], queue: u64, inside: u64) -> Option<Rule> {
    let mut inside = inside;
    for event in rest {
        let Act::Resource { id, kind } = &event.act else {
            continue;
        };
        match kind {
            _ if *id != queue => {}
            OfResource::Put { .. } if inside == ROOM => return Some(Rule::Overfull),
            OfResource::Put { .. } => inside += 1,
            OfResource::Took { .. } if inside == 0 => return Some(Rule::TookTooMany),
            OfResource::Took { .. } => inside -= 1,
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
    before.iter().fold(0, |inside, event| match &event.act {
        Act::Resource { id, kind } if *id == queue => match kind {
            OfResource::Put { items } => inside + items,
            OfResource::Took { items } => inside - items,
            _ => inside,
        },
        _ => inside,
    })
}

fn lost_call(call: u64, kind: &Kind, rest: &[Event]) -> Expected {
    let again = |is: fn(&Kind) -> bool| {
        any(
            rest,
            |act| matches!(act, Act::Call { id, kind } if *id == call && is(kind)),
        )
    };
    match kind {
        Kind::Create(_) => when(&[Rule::UnknownCall], again(|_| true)),
        Kind::PollStart { .. } => OneOf(&[Rule::OrphanEnd]),
        // The poll below it ends before anything else is known of this call, if there is one.
        Kind::PollEnd(PollEnd::Pending) => {
            OneOf(&[Rule::ForcedEnd, Rule::OverlappingPoll, Rule::DroppedInPoll])
        }
        Kind::PollEnd(_) => OneOf(&[Rule::ForcedEnd, Rule::TaskOutlived]),
        Kind::Drop => {
            let is_root = any(rest, |act| {
                matches!(
                    act,
                    Act::Task {
                        kind: OfTask::End,
                        ..
                    }
                )
            }) && matches!(
                rest.first(),
                Some(Event {
                    act: Act::Task {
                        kind: OfTask::End,
                        ..
                    },
                    ..
                })
            );
            let asked = any(rest, |act| {
                matches!(
                    act,
                    Act::Console {
                        kind: OfConsole::Reply { .. },
                        ..
                    }
                )
            });
            when(&[Rule::TaskOutlived, Rule::ReplyDiffers], is_root || asked)
        }
        Kind::Wake => Nothing,
    }
}

fn lost_in_line(id: u64, kind: &OfResource, before: &[Event], rest: &[Event]) -> Expected {
    match kind {
        OfResource::Made { .. } => OneOf(&[Rule::UnknownResource]),
        OfResource::Wait(claim) => {
            let left = OfResource::Left {
                ticket: claim.ticket,
            };
            when(
                &[Rule::NotWaiting],
                any_of_lock(rest, id, |kind| *kind == left),
            )
        }
        OfResource::Taken(_) => OneOf(&[Rule::NotHeld]),
        OfResource::Left { ticket } => {
            let later = |kind: &OfResource| matches!(kind, OfResource::Taken(claim) if claim.ticket > *ticket);
            when(&[Rule::OutOfTurn], any_of_lock(rest, id, later))
        }
        OfResource::Released { .. } => {
            let later = |kind: &OfResource| matches!(kind, OfResource::Taken(_));
            when(&[Rule::TwoHolders], any_of_lock(rest, id, later))
        }
        OfResource::Put { .. } | OfResource::Took { .. } => of_queue(rest, id, inside(before, id)),
        OfResource::Closed | OfResource::Dropped => Nothing,
    }
}

fn lost(events: &[Event], at: usize) -> Expected {
    let (before, rest) = (&events[..at], &events[at + 1..]);
    match &events[at].act {
        Act::Call { id, kind } => lost_call(*id, kind, rest),
        Act::Task { kind, .. } => match kind {
            OfTask::Begin { .. } => OneOf(&[Rule::UnknownTask]),
            // Each clone is dropped in the end.
            OfTask::Cloned => OneOf(&[Rule::WakersBelowZero]),
            OfTask::Dropped | OfTask::Woken | OfTask::End => Nothing,
        },
        Act::Resource { id, kind } => lost_in_line(*id, kind, before, rest),
        Act::Intent { id, kind } => match kind {
            OfIntent::Made { .. } => {
                let later = any(
                    rest,
                    |act| matches!(act, Act::Intent { id: other, .. } if other == id),
                );
                when(&[Rule::UnknownIntent], later)
            }
            OfIntent::Sure | OfIntent::Done | OfIntent::Gone => Nothing,
        },
        Act::User { .. } => Nothing,
        Act::Console { client, kind } => match kind {
            OfConsole::Connect => {
                let later = any(
                    rest,
                    |act| matches!(act, Act::Console { client: other, .. } if other == client),
                );
                when(&[Rule::UnknownClient], later)
            }
            OfConsole::Pause { task } => {
                let resume = OfConsole::Resume { task: *task };
                let later = any(
                    rest,
                    |act| matches!(act, Act::Console { kind, .. } if *kind == resume),
                );
                when(&[Rule::NotPaused], later)
            }
            OfConsole::Resume { task } => {
                let pause = OfConsole::Pause { task: *task };
                let root = root_of(events, *task);
                let later = any(rest, |act| match act {
                    Act::Console { kind, .. } => *kind == pause,
                    Act::Call {
                        id,
                        kind: Kind::PollStart { .. },
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
    events.iter().find_map(|event| match &event.act {
        Act::Task {
            id,
            kind: OfTask::Begin { root },
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
    match &events[at].act {
        Act::Call { kind, .. } => match kind {
            Kind::Create(_) => OneOf(&[Rule::CallTwice]),
            Kind::PollStart { .. } => OneOf(&[Rule::OverlappingPoll]),
            Kind::PollEnd(_) => OneOf(&[Rule::OrphanEnd]),
            Kind::Drop | Kind::Wake => Nothing,
        },
        Act::Task { kind, .. } => match kind {
            OfTask::Begin { .. } => OneOf(&[Rule::TaskTwice]),
            OfTask::Dropped => OneOf(&[Rule::WakersBelowZero]),
            OfTask::End => OneOf(&[Rule::EndedTask]),
            OfTask::Cloned | OfTask::Woken => Nothing,
        },
        Act::Resource { id, kind } => match kind {
            OfResource::Made { .. } => OneOf(&[Rule::ResourceTwice]),
            OfResource::Wait(_) => OneOf(&[Rule::TicketTwice]),
            OfResource::Taken(_) => OneOf(&[Rule::ServedTwice]),
            OfResource::Left { .. } => OneOf(&[Rule::NotWaiting]),
            OfResource::Released { .. } => OneOf(&[Rule::NotHeld]),
            OfResource::Put { .. } => queue(*id, true),
            OfResource::Took { .. } => queue(*id, false),
            OfResource::Closed | OfResource::Dropped => Nothing,
        },
        Act::Intent { kind, .. } => match kind {
            OfIntent::Made { .. } => OneOf(&[Rule::IntentTwice]),
            OfIntent::Sure => OneOf(&[Rule::SureTwice]),
            OfIntent::Done | OfIntent::Gone => OneOf(&[Rule::EndedIntent]),
        },
        Act::User { .. } => Nothing,
        Act::Console { kind, .. } => match kind {
            OfConsole::Connect => OneOf(&[Rule::ClientTwice]),
            OfConsole::Disconnect => OneOf(&[Rule::UnknownClient]),
            OfConsole::Pause { .. } => OneOf(&[Rule::PausedTwice]),
            OfConsole::Resume { .. } => OneOf(&[Rule::NotPaused]),
            OfConsole::Arm | OfConsole::Disarm => OneOf(&[Rule::SwitchedTwice]),
            OfConsole::Query | OfConsole::Reply { .. } => Nothing,
        },
    }
}

/// Two events that follow each other, the other way round; of most pairs nobody can tell.
fn swapped(first: &Act, second: &Act) -> Option<Expected> {
    Some(match (first, second) {
        (
            Act::Call { id, kind },
            Act::Call {
                id: other,
                kind: next,
            },
        ) if id == other => match (kind, next) {
            (Kind::Create(_), _) => OneOf(&[Rule::UnknownCall]),
            (Kind::PollStart { .. }, Kind::PollEnd(_)) => OneOf(&[Rule::OrphanEnd]),
            (Kind::PollEnd(_), Kind::PollStart { .. }) => OneOf(&[Rule::OverlappingPoll]),
            (Kind::PollEnd(_), Kind::Drop) => OneOf(&[Rule::DroppedInPoll]),
            _ => return None,
        },
        (
            Act::Call {
                kind: Kind::PollStart { .. },
                ..
            },
            Act::Call {
                kind: Kind::PollStart { .. },
                ..
            },
        )
        | (
            Act::Call {
                kind: Kind::PollEnd(_),
                ..
            },
            Act::Call {
                kind: Kind::PollEnd(_),
                ..
            },
        ) => OneOf(&[Rule::ForcedEnd]),
        (
            Act::Call {
                id,
                kind: Kind::PollStart { .. },
            },
            Act::Task {
                kind: OfTask::Begin { root },
                ..
            },
        ) if id == root => OneOf(&[Rule::NotARoot]),
        (
            Act::Call {
                kind: Kind::PollEnd(end),
                ..
            },
            Act::Task {
                kind: OfTask::End, ..
            },
        ) if *end != PollEnd::Pending => OneOf(&[Rule::TaskOutlived]),
        (
            Act::Call {
                kind: Kind::Drop, ..
            },
            Act::Task {
                kind: OfTask::End, ..
            },
        ) => OneOf(&[Rule::TaskOutlived]),
        (
            Act::Console {
                client,
                kind: OfConsole::Connect,
            },
            Act::Console { client: other, .. },
        ) if client == other => OneOf(&[Rule::UnknownClient]),
        (
            Act::Resource {
                id,
                kind: OfResource::Made { .. },
            },
            Act::Resource { id: other, .. },
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
        format!("{what}: {}\n{}", lines.join("\n"), written::written(events))
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

fn word(act: &Act) -> String {
    let line = written::written(&[Event {
        t: 0,
        thread: 0,
        act: act.clone(),
    }]);
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
            let word = word(&events[at].act);
            let mut without = events.clone();
            without.remove(at);
            check(
                &mut seen,
                &format!("lost {word}"),
                &without,
                &lost(&events, at),
            );
            let mut twice = events.clone();
            twice.insert(at, events[at].clone());
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
            if let Some(expected) = swapped(&events[at].act, &next.act)
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
