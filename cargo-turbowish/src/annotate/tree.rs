//! The items of a file that can carry the attribute, as a tree of byte offsets without references
//! to the syntax tree.

use std::ops::Range;

/// All items of a file.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// Async fns that stand inside macros.
    pub(crate) hidden: Vec<Hidden>,
    /// Uses of tokio types that TurboWish wraps.
    pub(crate) tokio_types: Vec<TypeUse>,
}

/// A function, an `impl`, a `trait` or an inline `mod`.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// From the file's own module on; the last one is its name.
    pub(crate) path: Vec<String>,
    /// Offset of its name.
    pub(crate) name_at: usize,
    /// Offset for the attribute: after the documentation, before everything else.
    pub(crate) anchor: usize,
    /// The attribute that it carries.
    pub(crate) own: Option<Own>,
    /// All attributes of ours on it.
    pub(crate) attributes: Vec<Attribute>,
    /// The attribute on the enclosing node covers it: it is a member, and not part of a body.
    pub(crate) member: bool,
    pub(crate) inside: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// An `async fn` with a body.
    Async,
    /// The same, and `const`.
    Const,
    /// Any other function, which may contain async fns.
    Plain,
    /// `impl` or `trait`.
    Block,
    /// Inline `mod`. The compiler refuses an attribute on a `sealed` one.
    Module { sealed: bool },
}

/// The effect of a TurboWish attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Own {
    /// Every async fn of the item is accounted.
    Covers,
    /// `skip`: none is, on purpose.
    Skips,
}

/// An attribute of ours in the text.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) range: Range<usize>,
    /// Whether it is spelled as `annotate` writes it: only such attributes are removed.
    pub(crate) inserted: bool,
}

/// Async fns that no inserted attribute can cover.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) at: usize,
    /// `cfg_feature!`, `macro_rules! name`
    pub(crate) within: String,
    pub(crate) count: usize,
}

/// Something of tokio that TurboWish wraps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypeUse {
    pub(crate) at: usize,
    /// As the path reads in full.
    pub(crate) path: String,
    /// What to write instead.
    pub(crate) instead: String,
}

impl Node {
    /// This node and all below it.
    pub(crate) fn each(&self, visit: &mut impl FnMut(&Node)) {
        visit(self);
        for node in &self.inside {
            node.each(visit);
        }
    }
}
