//! JSON of TurboWish's overhead.

use super::writer::Writer;
use crate::snapshot::Overhead;

pub(super) fn own_cost(out: &mut Writer, cost: Option<&Overhead>) {
    let Some(cost) = cost else { return out.null() };
    out.object(|out| {
        out.number("ppm", cost.ppm);
        out.optional("monitor_ppm", cost.monitor_ppm);
        out.number("poll_ps", cost.poll_ps);
        out.number("wake_ps", cost.wake_ps);
        out.number("counter_ps", cost.counter_ps);
        out.number("resource_ps", cost.resource_ps);
    });
}
