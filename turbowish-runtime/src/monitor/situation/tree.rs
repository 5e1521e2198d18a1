//! Await trees: the calls of a task with their await points, what each needs, and which the last
//! poll did not reach.

use turbowish_model::account::branch::{TreeNode, tree};
use turbowish_model::account::task::TaskReading;
use turbowish_model::diagnose::situation::{Node, NodeKind, NodeWake};
use turbowish_model::snapshot::Place;
use turbowish_model::snapshot::combinator::Combinator;

use super::SituationBuilder;

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
