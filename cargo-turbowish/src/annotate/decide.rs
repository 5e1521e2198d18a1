//! Placement of attributes: a decision over the [`Tree`](super::tree::Tree) alone, shared by
//! `--check` and the edits.

use super::tree::{Attribute, Node, NodeKind, Own};
use crate::pattern::Filter;

/// The requested changes and their scope.
pub(crate) struct Wanted<'a> {
    pub(crate) filter: &'a Filter,
    /// The file relative to its package, for patterns.
    pub(crate) file: &'a str,
    /// The modules that enclose the file, from the crate's name on.
    pub(crate) module: &'a [String],
    /// Prefer blocks and modules to single functions.
    pub(crate) blocks: bool,
}

/// The decision for one file.
#[derive(Debug, Default)]
pub(crate) struct Decision {
    /// Offsets at which an attribute is missing.
    pub(crate) anchors: Vec<usize>,
    /// Async fns that no attribute covers, as paths, with the offset of the name.
    pub(crate) uncovered: Vec<(usize, String)>,
    /// Number of async fns that an attribute covers.
    pub(crate) covered: usize,
    pub(crate) left_out: LeftOut,
}

/// Numbers of async fns that are left unchanged, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The function, or an enclosing item, has `skip`.
    pub(crate) skipped: usize,
    /// The patterns exclude the function.
    pub(crate) filtered: usize,
    /// The function is `const`.
    pub(crate) constant: usize,
}

/// The effect of enclosing attributes on an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Nothing,
    Attribute,
    Skip,
}

/// The decision for an async fn.
enum Lot {
    Uncovered,
    Covered,
    Skipped,
    Filtered,
    Constant,
}

impl Wanted<'_> {
    pub(crate) fn decide(&self, nodes: &[Node]) -> Decision {
        let mut decision = Decision::default();
        for node in nodes {
            self.node(node, Reach::Nothing, false, &mut decision);
        }
        decision
    }

    /// The attributes that `--remove` removes, and those that it keeps because this command did not
    /// write them.
    pub(crate) fn removals(&self, nodes: &[Node]) -> (Vec<Attribute>, Vec<Attribute>) {
        let mut all = Vec::new();
        for node in nodes {
            node.each(&mut |node| {
                if self.admits(node) {
                    all.extend_from_slice(&node.attributes);
                }
            });
        }
        all.into_iter().partition(|attribute| attribute.inserted)
    }

    /// `around` is the effect of the enclosing node's attributes on its members; `placed` means
    /// that it comes from a new attribute.
    fn node(&self, node: &Node, around: Reach, placed: bool, decision: &mut Decision) {
        let around = if node.member { around } else { Reach::Nothing };
        let placed = placed && node.member;
        let mut reach = reach(node, around);
        if let Some(lot) = self.lot(node, reach) {
            match lot {
                Lot::Uncovered => {
                    decision.uncovered.push((node.name_at, self.name(node)));
                    decision.anchors.push(node.anchor);
                }
                Lot::Covered if placed && node.own.is_none() => {
                    decision.uncovered.push((node.name_at, self.name(node)));
                }
                Lot::Covered => decision.covered += 1,
                Lot::Skipped => decision.left_out.skipped += 1,
                Lot::Filtered => decision.left_out.filtered += 1,
                Lot::Constant => decision.left_out.constant += 1,
            }
        }
        let mut placed = placed && node.own.is_none();
        if self.blocks && reach == Reach::Nothing && self.takes_attribute(node) {
            decision.anchors.push(node.anchor);
            reach = Reach::Attribute;
            placed = true;
        }
        for inside in &node.inside {
            self.node(inside, reach, placed, decision);
        }
    }

    /// Whether the attribute belongs on this block or module rather than on its members.
    fn takes_attribute(&self, node: &Node) -> bool {
        let block = matches!(
            node.kind,
            NodeKind::Block | NodeKind::Module { sealed: false }
        );
        if !block {
            return false;
        }
        let (mut wanted, mut unwanted) = (0, 0);
        self.members(node, Reach::Nothing, &mut |lot| match lot {
            Lot::Uncovered => wanted += 1,
            Lot::Filtered => unwanted += 1,
            Lot::Covered | Lot::Skipped | Lot::Constant => {}
        });
        wanted > 0 && unwanted == 0
    }

    /// The decisions for the async fns that an attribute on `node` covers.
    fn members(&self, node: &Node, around: Reach, visit: &mut impl FnMut(Lot)) {
        for node in node.inside.iter().filter(|node| node.member) {
            let reach = reach(node, around);
            if let Some(lot) = self.lot(node, reach) {
                visit(lot);
            }
            self.members(node, reach, visit);
        }
    }

    fn lot(&self, node: &Node, reach: Reach) -> Option<Lot> {
        Some(match (node.kind, reach) {
            (NodeKind::Const, _) => Lot::Constant,
            (NodeKind::Async, Reach::Attribute) => Lot::Covered,
            (NodeKind::Async, Reach::Skip) => Lot::Skipped,
            (NodeKind::Async, Reach::Nothing) if self.admits(node) => Lot::Uncovered,
            (NodeKind::Async, Reach::Nothing) => Lot::Filtered,
            (NodeKind::Plain | NodeKind::Block | NodeKind::Module { .. }, _) => return None,
        })
    }

    fn admits(&self, node: &Node) -> bool {
        self.filter.admits(self.file, &self.path(node))
    }

    /// Whether patterns select the file: by the file or its module, and not by a function.
    pub(crate) fn admits_file(&self) -> bool {
        self.filter.admits(self.file, self.module)
    }

    fn path(&self, node: &Node) -> Vec<String> {
        [self.module, &node.path].concat()
    }

    fn name(&self, node: &Node) -> String {
        self.path(node).join("::")
    }
}

fn reach(node: &Node, around: Reach) -> Reach {
    match node.own {
        Some(Own::Covers) => Reach::Attribute,
        Some(Own::Skips) => Reach::Skip,
        None => around,
    }
}
