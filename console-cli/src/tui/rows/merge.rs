//! Rows of a group merged into one: sums add up, ages and peaks take the maximum, populations are
//! merged, never averaged.

use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::{AwaitRow, ProcRow, ResourceRow};

pub(super) fn procs(into: &mut ProcRow, other: &ProcRow) {
    for (sum, more) in [
        (&mut into.running_ns, other.running_ns),
        (&mut into.hold_ns, other.hold_ns),
        (&mut into.inclusive_ns, other.inclusive_ns),
        (&mut into.yielded_ns, other.yielded_ns),
        (&mut into.unstarted_ns, other.unstarted_ns),
        (&mut into.wall_ns, other.wall_ns),
        (&mut into.calls, other.calls),
        (&mut into.polls, other.polls),
        (&mut into.live, other.live),
        (&mut into.ready, other.ready),
        (&mut into.err, other.err),
        (&mut into.cancelled, other.cancelled),
        (&mut into.panicked, other.panicked),
        (&mut into.never_polled, other.never_polled),
        (&mut into.occupancy_ppm, other.occupancy_ppm),
    ] {
        *sum = sum.saturating_add(more);
    }
    if other.max_poll_ns > into.max_poll_ns {
        (into.max_poll_ns, into.max_poll_open) = (other.max_poll_ns, other.max_poll_open);
    }
    into.future_bytes = into.future_bytes.max(other.future_bytes);
    into.call_running.merge(&other.call_running);
    into.call_inclusive.merge(&other.call_inclusive);
    into.poll_hold.merge(&other.poll_hold);
    into.poll_running.merge(&other.poll_running);
    into.ready_latency.merge(&other.ready_latency);
}

pub(super) fn resources(into: &mut ResourceRow, other: &ResourceRow) {
    let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    into.capacity = both(into.capacity, other.capacity);
    into.level = both(into.level, other.level);
    into.holder_count = into.holder_count.saturating_add(other.holder_count);
    into.holders.extend(other.holders.iter().cloned());
    into.waiter_count = into.waiter_count.saturating_add(other.waiter_count);
    into.waiters.extend(other.waiters.iter().cloned());
    into.senders.extend(other.senders.iter().cloned());
    into.receivers.extend(other.receivers.iter().cloned());
    into.put = into.put.saturating_add(other.put);
    into.took = into.took.saturating_add(other.took);
    into.waits = into.waits.saturating_add(other.waits);
    into.age_ns = into.age_ns.max(other.age_ns);
    into.waited.merge(&other.waited);
    into.kept.merge(&other.kept);
}

pub(super) fn awaits(into: &mut AwaitRow, other: &AwaitRow) {
    into.waits = into.waits.saturating_add(other.waits);
    into.now = into.now.saturating_add(other.now);
    into.waited_ns = into.waited_ns.saturating_add(other.waited_ns);
    into.max_wait_ns = into.max_wait_ns.max(other.max_wait_ns);
    into.share_ppm = into.share_ppm.saturating_add(other.share_ppm);
    into.cancelled = into.cancelled.saturating_add(other.cancelled);
}

pub(super) fn alerts(into: &mut Alert, other: &Alert) {
    into.severity = into.severity.min(other.severity);
    into.since = into.since.min(other.since);
    into.held_ns = into.held_ns.max(other.held_ns);
    into.holds |= other.holds;
    into.behind.unlisted = into.behind.unlisted.saturating_add(other.behind_count());
}
