//! Interrupted calls in a situation, by the await point of the call that dropped them; and lock
//! orders.

use turbowish_model::account::counters::Sum;
use turbowish_model::diagnose::situation::{Cut, LockOrder, Site, Taken};

use super::await_text::{self, Dropper};
use super::{SituationBuilder, spot};
use crate::monitor::resources;
use crate::resource;
use crate::resource::cancel_safety::{self, Count};
use turbowish_model::ordered::Map;

impl SituationBuilder<'_> {
    /// The await points at which calls were interrupted, by proc.
    pub(super) fn sites(&self) -> Map<u32, Vec<Site>> {
        let mut sites: Map<(u32, u16), (Site, u64)> = Map::new();
        for (cut, count) in cancel_safety::cuts() {
            let Some(place) = self.place(cut.by.0, cut.by.1) else {
                continue;
            };
            let Some(dropper) = await_text::dropper(&place.expr) else {
                continue;
            };
            let times = self.lost(&cut, &count);
            if times == 0 {
                continue;
            }
            let (site, worst) = sites.entry(cut.by).or_insert_with(|| {
                let site = Site {
                    place,
                    ..Site::default()
                };
                (site, 0)
            });
            let sum = match dropper {
                Dropper::Select => &mut site.cut_in_select,
                Dropper::Timeout => &mut site.cut_in_timeout,
            };
            *sum = Some(sum.unwrap_or(0) + times);
            if times > *worst {
                *worst = times;
                site.cut = Some(self.cut(&cut, &count));
            }
        }
        let mut procs: Map<u32, Vec<Site>> = Map::new();
        for ((proc, _), (site, _)) in sites {
            procs.entry(proc).or_default().push(site);
        }
        procs
    }

    /// Number of known losses.
    ///
    /// A received item in hand was lost, unless the call was waiting for a timer or a yield at that
    /// point. A call that has sent, or is back for the next item, may be done with its work. It was
    /// interrupted in the middle if calls like it return at times, and the same task drops them
    /// repeatedly.
    fn lost(&self, cut: &cancel_safety::Cut, count: &Count) -> u64 {
        let stood = self.place(cut.at.0, cut.at.1);
        let pauses = stood.is_some_and(|place| await_text::is_pause(&place.expr));
        if cut.in_hand && !pauses {
            return count.times;
        }
        let head = self.assembly.now.aggregate.procs.get(cut.head as usize);
        let returns = head.is_some_and(|stats| stats.sum(Sum::Ready) > 0);
        if returns { count.repeated } else { 0 }
    }

    fn cut(&self, cut: &cancel_safety::Cut, count: &Count) -> Cut {
        let source = &count.source;
        Cut {
            proc: self.path(cut.at.0).unwrap_or_default(),
            place: self.place(cut.at.0, cut.at.1),
            did: cut.role.word().to_owned(),
            resource: resources::label(source.kind, source.name.as_deref(), source.place),
            resource_id: source.id,
        }
    }

    /// Locks that were acquired or requested under others since the previous situation.
    pub(super) fn orders(&self) -> Vec<LockOrder> {
        let taken = |taken: &resource::Taken| Taken {
            resource: taken.resource,
            role: Some(taken.role),
            spot: Some(spot(taken.at)),
        };
        let orders = resource::orders().into_iter().filter_map(|order| {
            Some(LockOrder {
                first: taken(&order.first),
                second: taken(&order.second),
                task: order.task,
                name: self.known.name(order.task)?,
                gates: order.gates,
            })
        });
        orders.collect()
    }
}
