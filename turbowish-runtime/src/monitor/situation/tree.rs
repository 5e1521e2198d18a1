//! Await trees: the calls of a task with their await points, what each needs, and which the last
//! poll did not reach.

use turbowish_model::account::await_stack::AwaitFrame;
use turbowish_model::account::branch::{TreeNode, tree};
use turbowish_model::account::task::TaskReading;
use turbowish_model::diagnose::situation::{Node, NodeKind, NodeWake, StreamFutures};
use turbowish_model::ordered::Map;
use turbowish_model::snapshot::Place;
use turbowish_model::snapshot::combinator::Combinator;

use super::SituationBuilder;
use crate::monitor::tasks::LiveTask;

impl SituationBuilder<'_> {
    pub(super) fn tree(&self, reading: &TaskReading) -> Vec<Node> {
        let twigs = tree(reading);
        let mut forks = vec![false; twigs.len()];
        for twig in twigs.iter().filter(|twig| twig.branch.is_some()) {
            if let Some(parent) = twig.parent.filter(|_| !twig.aside) {
                forks[parent] = true;
            }
        }
        let nodes = (0..).zip(&twigs).zip(forks);
        nodes
            .map(|((id, twig), forks)| self.node(reading, id, twig, forks))
            .collect()
    }

    /// The streams at which the calls of a task stood at the end of its last finished poll.
    pub(super) fn streams(&self, one: &LiveTask) -> Vec<StreamFutures> {
        let reading = &one.reading;
        let mut streams: Map<(u32, u16), StreamFutures> = Map::new();
        for branch in &reading.branches {
            let at = (branch.parent.proc, branch.parent.site);
            let stream = streams.entry(at).or_default();
            stream.live += 1;
            if let Some(woken) = branch.woken.map(|woken| self.ns(woken)) {
                stream.woken += 1;
                stream.woken_at = Some(stream.woken_at.map_or(woken, |first| first.min(woken)));
            }
        }
        let streams = streams.into_iter().filter_map(|((proc, site), stream)| {
            let place = self.place(proc, site);
            let polled = polled_at(&reading.stack, proc, site)?;
            let is_stream = kind(place.as_ref(), false, true) == NodeKind::Unordered;
            is_stream.then_some(StreamFutures {
                task: one.meta.id,
                proc: self.path(proc)?,
                place,
                live: stream.live.max(polled),
                ..stream
            })
        });
        streams.collect()
    }

    fn node(&self, reading: &TaskReading, id: u32, twig: &TreeNode, forks: bool) -> Node {
        let step = twig.step;
        let place = self.place(step.proc, step.site);
        let wake = twig.branch.map(|branch| NodeWake {
            // It may have been skipped in more polls.
            polled: reading.polls - u64::from(!branch.polled),
            woken: branch.woken.map(|woken| self.ns(woken)),
        });
        let polled_at = twig
            .branch
            .and_then(|branch| self.place(branch.parent.proc, branch.parent.site));
        Node {
            id,
            parent: twig.parent.and_then(|parent| u32::try_from(parent).ok()),
            kind: kind(place.as_ref(), step.direct, forks),
            aside: twig.aside,
            proc: self.path(step.proc).unwrap_or_default(),
            place,
            since: self.ns(step.since),
            wake,
            branch: twig.branch.map_or(0, |branch| branch.id),
            fork: kind(polled_at.as_ref(), false, twig.branch.is_some()),
            ..Node::default()
        }
    }
}

/// Number of calls that the call at this await point polled in the last poll of the task; `None` if
/// none stood there.
fn polled_at(stack: &[AwaitFrame], proc: u32, site: u16) -> Option<u64> {
    let parent = |step: &AwaitFrame| (step.proc, step.site) == (proc, site);
    let at = stack.iter().position(parent)?;
    let level = stack[at].level;
    let below = stack[at + 1..].iter().take_while(|step| step.level > level);
    Some(below.filter(|step| step.level == level + 1).count() as u64)
}

/// What a call needs of what it awaits, by the text of the await point; `forks` if it is known to
/// poll several calls there.
fn kind(place: Option<&Place>, direct: bool, forks: bool) -> NodeKind {
    let text = place.map_or("", |place| place.expr.as_str());
    let fork = if forks {
        Some(Combinator::of(text))
    } else {
        Combinator::from_expr(text)
    };
    match fork {
        Some(Combinator::Join) => NodeKind::Join,
        Some(Combinator::TryJoin | Combinator::Select) => NodeKind::Select,
        Some(Combinator::Unordered) => NodeKind::Unordered,
        None if direct => NodeKind::Call,
        Some(Combinator::Several) | None => NodeKind::Unknown,
    }
}
