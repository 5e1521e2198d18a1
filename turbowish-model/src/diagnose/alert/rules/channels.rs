//! Rules for channels that fill: without a bound, all the time, or with no task that receives.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::diagnose::alert::finding::{Finding, Scan, is_judged, task_party};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::quantity::is_part;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::{marked, tense};
use crate::diagnose::alert::words::{self, time};
use crate::diagnose::situation::{Resource, Task, WaitingTask};
use crate::snapshot::TaskState;
use crate::snapshot::alert::{Behind, Severity};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;

pub(in crate::diagnose::alert) const UNBOUNDED_GROWTH: PitfallRule = PitfallRule {
    why: "Items [are|were] sent faster than they [are|were] received, and nothing [slows|slowed] the senders down: memory use [grows until memory runs out|grew as long as that lasted].",
    fixes: &[
        "give {resource} a bound: mpsc::channel(n) applies backpressure to its senders",
        "or receive several items at once (recv_many), or in more tasks",
    ],
    limits: &[
        Limit::UnboundedGrowthWindows,
        Limit::UnboundedGrowthLength,
        Limit::Window,
    ],
    ..PitfallRule::new(Pitfall::UnboundedGrowth)
};

pub(in crate::diagnose::alert) const BUFFER_BLOAT: PitfallRule = PitfallRule {
    hold: Some(Limit::BufferBloatHeld),
    scans: 2,
    why: "{resource} [is|was] always full, so each item [waits|waited] for all items before it: the buffer [adds|added] {inside} of latency and no throughput.",
    fixes: &[
        "the receiving side [is|was] the bottleneck: receive several items at once (recv_many), or in more tasks",
        "or reduce the capacity: the throughput stays the same, and the latency falls",
    ],
    limits: &[
        Limit::BufferBloatFill,
        Limit::BufferBloatHeld,
        Limit::BufferBloatInside,
    ],
    ..PitfallRule::new(Pitfall::BufferBloat)
};

pub(in crate::diagnose::alert) const BLOCKED_SENDER: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    hold: Some(Limit::BlockedSender),
    scans: 2,
    why: "{resource} [is|was] full. {receiver}",
    fixes: &[
        "[{receiver_name} must call recv again: its record shows what it waits for|]",
        "drop the receiver when it is no longer used, so that senders get an error",
        "{at}: use try_send or send_timeout if the item may be lost",
    ],
    limits: &[Limit::BlockedSender],
    ..PitfallRule::new(Pitfall::BlockedSender)
};

fn channels<'a>(scan: &Scan<'a>) -> impl Iterator<Item = &'a Resource> {
    scan.situation
        .resources
        .iter()
        .filter(|resource| resource.kind == Kind::Mpsc)
}

/// Unbounded channels that grow in window after window.
pub(in crate::diagnose::alert) fn growth(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for resource in channels(scan).filter(|resource| resource.capacity.is_none()) {
        let channel = scan.memory.channel(resource);
        let grown = channel.rising >= scan.limit(Limit::UnboundedGrowthWindows);
        if !grown || resource.length <= scan.limit(Limit::UnboundedGrowthLength) {
            continue;
        }
        let rate = |n| units::rate(units::micro_per_second(n, channel.passed));
        let title = format!(
            "unbounded growth: {} {} {} items and {}, in {}/s, out {}/s",
            resource.name,
            tense("holds", "held"),
            units::count(resource.length),
            tense("grows", "grew"),
            rate(channel.came),
            rate(channel.went)
        );
        found.push(
            Finding::new(Pitfall::UnboundedGrowth, channel.rising_since)
                .of_resource(resource)
                .titled(title)
                .summed("an unbounded channel [grows|grew]")
                .explained(&[("resource", &resource.name)]),
        );
    }
}

/// Bounded channels that are always nearly full, and in which items spend too long.
pub(in crate::diagnose::alert) fn bloat(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for resource in channels(scan) {
        let (Some(since), Some(capacity)) =
            (scan.memory.channel(resource).full_since, resource.capacity)
        else {
            continue;
        };
        let full = is_part(
            resource.length,
            capacity,
            scan.limit(Limit::BufferBloatFill),
        );
        let old = resource
            .flow
            .inside_p99_ns
            .filter(|inside| *inside > scan.limit(Limit::BufferBloatInside));
        let (true, Some(inside)) = (full, old) else {
            continue;
        };
        let inside = time(inside);
        let title = format!(
            "buffer bloat {inside}: time of an item in {}, which {} full, {} of {}",
            resource.name,
            tense("is", "was"),
            units::count(resource.length),
            units::count(capacity)
        );
        found.push(
            Finding::new(Pitfall::BufferBloat, since)
                .of_resource(resource)
                .titled(title)
                .summed("a bounded channel [is|was] always full")
                .explained(&[("resource", &resource.name), ("inside", &inside)]),
        );
    }
}

/// Senders that wait on full channels whose receiver does not receive.
pub(in crate::diagnose::alert) fn senders(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for resource in channels(scan).filter(|resource| !resource.closed) {
        let full = resource
            .capacity
            .is_some_and(|capacity| resource.length >= capacity && capacity > 0);
        let sends = |waiter: &&WaitingTask| waiter.role == Role::Send && waiter.woken.is_none();
        let Some(waiter) = resource.waiters.iter().find(sends).filter(|_| full) else {
            continue;
        };
        if let Some(receiver) = receiver(scan, resource) {
            found.extend(sender(scan, resource, waiter, &receiver));
        }
    }
}

/// The receiver of a channel that does not receive.
enum Receiver<'a> {
    /// A task that has been waiting since its last poll.
    Rests(&'a Task),
    /// The task that used the end last has ended, but the end exists.
    Gone,
    /// The task does other things: the call that intended to receive ended at this instant, and no
    /// other call intends to.
    Left(&'a Task, u64),
}

/// The receiver, if it is known not to receive.
fn receiver<'a>(scan: &Scan<'a>, resource: &Resource) -> Option<Receiver<'a>> {
    let mut receivers = resource.ends.iter().filter(|end| end.role == Role::Receive);
    let (end, more) = (receivers.next()?, receivers.next());
    let user = end.user.filter(|_| more.is_none())?;
    let intents = resource
        .intents
        .iter()
        .filter(|intent| intent.role == Role::Receive);
    let others = intents.filter(|intent| intent.task != user);
    if others.count() > 0 {
        return None;
    }
    let Some(task) = scan.task(Some(user)) else {
        return Some(Receiver::Gone);
    };
    let left = resource.flow.deserted.filter(|&since| since < task.since);
    let rests = task.state == TaskState::Waiting && is_judged(task);
    match left {
        Some(since) if is_judged(task) => Some(Receiver::Left(task, since)),
        _ => rests.then_some(Receiver::Rests(task)),
    }
}

/// The other tasks that wait there.
fn behind(scan: &Scan<'_>, resource: &Resource, one: &WaitingTask) -> Behind {
    let others = resource.waiters.iter();
    let others = others.filter(|other| !core::ptr::eq(*other, one));
    let others = others.filter_map(|other| scan.task(other.task));
    let listed = resource.waiters.len() as u64;
    Behind {
        tasks: others.map(task_party).collect(),
        unlisted: resource.waiting.saturating_sub(listed),
        ..Behind::default()
    }
}

/// The state of the receiver, as text.
fn why(receiver: &Receiver<'_>) -> String {
    match receiver {
        Receiver::Rests(task) => {
            let place = task.tree.last().and_then(|node| node.place.as_ref());
            let place = words::place(place);
            format!(
                "Its receiver {} {} at {place} instead of receiving.",
                task.name,
                tense("waits", "waited")
            )
        }
        Receiver::Gone => marked(
            "The task that last received from it [has|had] ended, but the receiver was not dropped.",
        ),
        Receiver::Left(task, _) => format!(
            "The call that intended to receive from it {} ended, {} {} without it, and the receiver was not dropped.",
            tense("has", "had"),
            task.name,
            tense("continues", "continued")
        ),
    }
}

fn sender(
    scan: &Scan<'_>,
    resource: &Resource,
    waiter: &WaitingTask,
    receiver: &Receiver<'_>,
) -> Option<Finding> {
    let rests = match receiver {
        Receiver::Rests(task) => task.since,
        Receiver::Gone => 0,
        Receiver::Left(_, since) => *since,
    };
    let since = waiter.since.max(rests);
    let task = scan.task(waiter.task).filter(|task| is_judged(task))?;
    let who = match receiver {
        Receiver::Rests(receiver) => {
            format!(
                "its receiver {} {} not polled",
                receiver.name,
                tense("is", "was")
            )
        }
        Receiver::Gone => marked("the task that received from it [has|had] ended"),
        Receiver::Left(task, _) => {
            format!(
                "{} no longer {} to receive",
                task.name,
                tense("intends", "intended")
            )
        }
    };
    let title = format!(
        "blocked sender {{for}}: {} {} on full {}; {who}",
        task.name,
        tense("waits", "waited"),
        resource.name
    );
    let mut finding = Finding::new(Pitfall::BlockedSender, since)
        .of_resource(resource)
        .with_task(task);
    let at = words::place(waiter.place.as_ref());
    let mut values = Vec::from([("resource", resource.name.as_str()), ("at", &at)]);
    let why = why(receiver);
    if let Receiver::Rests(task) | Receiver::Left(task, _) = receiver {
        finding = finding.with_task(task);
        values.push(("receiver_name", task.name.as_str()));
    }
    values.push(("receiver", &why));
    finding.alert.behind = behind(scan, resource, waiter);
    let proc = waiter.proc.as_deref().unwrap_or(&task.root);
    Some(
        finding
            .at(proc, waiter.place.as_ref())
            .titled(title)
            .summed("a sender [waits|waited] for a receiver that [does|did] not receive")
            .explained(&values),
    )
}
