//! Placement of attributes: a decision over the [`Tree`](super::tree::Tree) alone, shared by
//! `--check` and the edits.

use super::tree::{Attribute, Kind, Node, Own};
use crate::pattern::Filter;

/// The requested changes and their scope.
pub(crate) struct Wanted<'a> {
    pub(crate) filter: &'a Filter,
    /// The file as patterns know it: seen from its package.
    pub(crate) file: &'a str,
    /// The modules around the file, from the crate's name on.
    pub(crate) module: &'a [String],
    /// Prefer blocks and modules to single functions.
    pub(crate) blocks: bool,
}

/// What follows for one file.
#[derive(Debug, Default)]
pub(crate) struct Decision {
    /// Where an attribute is missing: offsets at which it goes.
    pub(crate) anchors: Vec<usize>,
    /// Async fns that no attribute reaches, as paths, with the offset of the name.
    pub(crate) uncovered: Vec<(usize, String)>,
    /// Async fns that one reaches.
    pub(crate) covered: usize,
    pub(crate) left_out: LeftOut,
}

/// Async fns that are left as they are, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// They, or what is around them, say `skip`.
    pub(crate) skipped: usize,
    /// Patterns do not ask for them.
    pub(crate) filtered: usize,
    /// They are `const`.
    pub(crate) constant: usize,
}

/// What reaches an item from around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Nothing,
    Attribute,
    Skip,
}

/// What becomes of an async fn.
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

    /// The attributes that `--remove` takes out, and those that it leaves because somebody else wrote them.
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

    /// `around` is what reaches members of the node around; `placed` says that it does so by an attribute that is new.
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

    /// Whether the attribute stands better on this block or module than on what is in it.
    fn takes_attribute(&self, node: &Node) -> bool {
        let block = matches!(node.kind, Kind::Block | Kind::Module { sealed: false });
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

    /// The lots of the async fns that an attribute on `node` reaches.
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
            (Kind::Const, _) => Lot::Constant,
            (Kind::Async, Reach::Attribute) => Lot::Covered,
            (Kind::Async, Reach::Skip) => Lot::Skipped,
            (Kind::Async, Reach::Nothing) if self.admits(node) => Lot::Uncovered,
            (Kind::Async, Reach::Nothing) => Lot::Filtered,
            (Kind::Plain | Kind::Block | Kind::Module { .. }, _) => return None,
        })
    }

    fn admits(&self, node: &Node) -> bool {
        self.filter.admits(self.file, &self.path(node))
    }

    /// Whether patterns ask for a use in the file: by the file or its module, and not by a function.
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
