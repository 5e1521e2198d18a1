//! Resolution of paths at a position in a file, as far as the `use` declarations of the same file
//! allow.

use std::collections::BTreeMap;

use syn::ext::IdentExt;
use syn::{Ident, Item, ItemUse, Path, Stmt, UseTree};

/// The `use` declarations in scope.
#[derive(Default)]
pub(crate) struct Names {
    frames: Vec<Frame>,
}

#[derive(Default)]
struct Frame {
    /// Names of the enclosing frame are not in scope.
    module: bool,
    aliases: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// One name that a `use` declaration imports, or all names of a module.
pub(crate) struct Leaf<'a> {
    pub(crate) path: Vec<String>,
    /// `None` for `*`.
    alias: Option<String>,
    /// Where it stands; for `*` the last name before it.
    pub(crate) ident: Option<&'a Ident>,
}

impl Leaf<'_> {
    pub(crate) fn is_glob(&self) -> bool {
        self.alias.is_none()
    }
}

impl Names {
    /// Enters a module, or the file.
    pub(crate) fn enter_module(&mut self, items: &[Item]) {
        self.enter(true, items.iter());
    }

    /// Enters a block of statements.
    pub(crate) fn enter_block(&mut self, stmts: &[Stmt]) {
        let items = stmts.iter().filter_map(|stmt| match stmt {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        self.enter(false, items);
    }

    fn enter<'a>(&mut self, module: bool, items: impl Iterator<Item = &'a Item>) {
        let mut frame = Frame {
            module,
            ..Frame::default()
        };
        for item in items {
            let Item::Use(item) = item else { continue };
            for leaf in leaves(item) {
                match leaf.alias {
                    // As in `mod tests { use super::*; }`.
                    None if leaf.path == ["super"] => frame.module = false,
                    None => frame.globs.push(leaf.path),
                    Some(alias) => {
                        frame.aliases.insert(alias, leaf.path);
                    }
                }
            }
        }
        self.frames.push(frame);
    }

    pub(crate) fn leave(&mut self) {
        self.frames.pop();
    }

    /// The path with its first segment resolved by the `use` declarations.
    pub(crate) fn resolve(&self, path: &[String]) -> Vec<String> {
        let mut path = path.to_vec();
        // Follows a chain of declarations; a cycle is an error in the source.
        for _ in 0..8 {
            let Some(full) = path.first().and_then(|first| self.alias(first)) else {
                break;
            };
            let same = full.first() == path.first();
            path.splice(..1, full.iter().cloned());
            if same {
                break;
            }
        }
        path
    }

    /// The modules that are imported with `*`.
    pub(crate) fn globs(&self) -> impl Iterator<Item = &[String]> {
        self.in_sight()
            .flat_map(|frame| frame.globs.iter().map(Vec::as_slice))
    }

    fn alias(&self, name: &str) -> Option<&[String]> {
        self.in_sight()
            .find_map(|frame| frame.aliases.get(name).map(Vec::as_slice))
    }

    /// Frames in scope, from the innermost to that of the module.
    fn in_sight(&self) -> impl Iterator<Item = &Frame> {
        let module = self.frames.iter().rposition(|frame| frame.module);
        self.frames[module.unwrap_or(0)..].iter().rev()
    }
}

/// The segments of a path; a leading `::` is kept as an empty segment, so that the next one is not
/// resolved.
pub(crate) fn segments(path: &Path) -> Vec<String> {
    let leading = path.leading_colon.map(|_| String::new());
    let names = path.segments.iter().map(|segment| text(&segment.ident));
    leading.into_iter().chain(names).collect()
}

/// An identifier without `r#`.
pub(crate) fn text(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// All names that a `use` declaration brings.
pub(crate) fn leaves(item: &ItemUse) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    gather(&item.tree, &mut Vec::new(), &mut found);
    found
}

fn gather<'a>(tree: &'a UseTree, path: &mut Vec<&'a Ident>, found: &mut Vec<Leaf<'a>>) {
    match tree {
        UseTree::Path(tree) => {
            path.push(&tree.ident);
            gather(&tree.tree, path, found);
            path.pop();
        }
        UseTree::Name(tree) => found.push(leaf(path, &tree.ident, &tree.ident)),
        UseTree::Rename(tree) => found.push(leaf(path, &tree.ident, &tree.rename)),
        UseTree::Glob(_) => found.push(Leaf {
            path: path.iter().map(|name| text(name)).collect(),
            alias: None,
            ident: path.last().copied(),
        }),
        UseTree::Group(tree) => {
            for tree in &tree.items {
                gather(tree, path, found);
            }
        }
    }
}

/// `use path::{ident as alias}`, where `ident` may be `self`.
fn leaf<'a>(path: &[&Ident], ident: &'a Ident, alias: &Ident) -> Leaf<'a> {
    let mut names: Vec<String> = path.iter().map(|name| text(name)).collect();
    if ident != "self" {
        names.push(text(ident));
    }
    let alias = if alias == "self" {
        names.last().cloned().unwrap_or_default()
    } else {
        text(alias)
    };
    Leaf {
        path: names,
        alias: Some(alias),
        ident: Some(ident),
    }
}
