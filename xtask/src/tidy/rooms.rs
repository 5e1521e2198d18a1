//! Folders of a crate: no import cycle among them, and a bound on what holds process-wide state.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::sizes::is_test;
use super::tree::{Fault, File, Tree};

/// Source folders whose top-level modules must not import each other in a cycle.
const CRATES: &[&str] = &[
    "cargo-turbowish/src/",
    "console-cli/src/",
    "turbowish-macros/src/",
    "turbowish-model/src/",
    "turbowish-runtime/src/",
    "turbowish-recording/src/",
    "turbowish-testing/src/",
    "turbowish-unsafe/src/",
    "turbowish-wire/src/",
    "xtask/src/",
];

const RUNTIME: &str = "turbowish-runtime/src/";

/// The runtime's statics outside functions: one for each kind of process-wide state, which a test
/// must reset.
const STATICS: usize = 16;

/// Lines of the runtime with a condition on a feature: modules are left out as a whole, in one
/// place.
const FEATURES: usize = 23;

/// No two top-level modules of a crate depend on each other, directly or through others.
pub(super) fn cycles(tree: &Tree) -> Vec<Fault> {
    CRATES.iter().filter_map(|root| cycle(tree, root)).collect()
}

fn cycle(tree: &Tree, root: &str) -> Option<Fault> {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut files: BTreeMap<String, &File> = BTreeMap::new();
    for file in tree.sources().filter(|file| !file.is_test()) {
        let Some(module) = module(file, root) else {
            continue;
        };
        let Ok(syntax) = syn::parse_file(&file.text) else {
            continue;
        };
        let mut imports = Imports {
            module: module.clone(),
            found: BTreeSet::new(),
        };
        imports.visit_file(&syntax);
        let top = module[0].clone();
        imports.found.remove(&top);
        files.entry(top.clone()).or_insert(file);
        arrows.entry(top).or_default().extend(imports.found);
    }
    let known = |to: &String| arrows.contains_key(to);
    arrows.keys().find_map(|from| {
        let path = back(&arrows, from, &known)?;
        let text = format!(
            "modules of {root} import each other in a cycle: {}",
            path.join(" -> ")
        );
        Some(Fault::new(files[from], 0, text))
    })
}

/// A path from a module back to itself.
fn back(
    arrows: &BTreeMap<String, BTreeSet<String>>,
    from: &String,
    known: &dyn Fn(&String) -> bool,
) -> Option<Vec<String>> {
    let mut paths = vec![vec![from.clone()]];
    let mut seen = BTreeSet::new();
    while let Some(path) = paths.pop() {
        let last = path.last()?;
        for next in arrows.get(last)?.iter().filter(|next| known(next)) {
            let mut longer = path.clone();
            longer.push(next.clone());
            if next == from {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                paths.push(longer);
            }
        }
    }
    None
}

/// The path of a file's module below the crate's root. `None` for the root itself and other crates.
fn module(file: &File, root: &str) -> Option<Vec<String>> {
    let path = file.path.strip_prefix(root)?.strip_suffix(".rs")?;
    let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    let is_root = module == ["lib"] || module == ["main"] || module == ["loom_tests"];
    (!is_root && !module.is_empty()).then_some(module)
}

/// Top-level modules that a file names by `crate::…` or `super::…`.
struct Imports {
    module: Vec<String>,
    found: BTreeSet<String>,
}

impl Imports {
    /// Takes the names of a path; modules begin with a small letter.
    fn path(&mut self, names: &[String]) {
        let ups = names.iter().take_while(|name| *name == "super").count();
        let top = match names.first().map(String::as_str) {
            Some("crate") => names.get(1),
            Some("super") if ups == self.module.len() => names.get(ups),
            _ => None,
        };
        if let Some(top) = top.filter(|top| top.starts_with(|c: char| c.is_ascii_lowercase())) {
            self.found.insert(top.clone());
        }
    }

    fn tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.path(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.path(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.path(before),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(before, tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.tree(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        self.path(&names);
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() && !is_test(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }
}

/// What there is in the runtime, and how much of it there may be.
struct Count {
    what: &'static str,
    count: usize,
    limit: usize,
}

fn counts(tree: &Tree) -> [Count; 2] {
    let lines = |fits: fn(&str) -> bool| {
        let files = tree.sources().filter(|file| !file.is_test());
        let files = files.filter(|file| file.path.starts_with(RUNTIME));
        let lines = files.flat_map(File::code);
        lines.filter(|(_, line)| fits(line)).count()
    };
    let statics = lines(|line| {
        let item = line.trim_start_matches("pub(crate) ");
        item.trim_start_matches("pub(super) ")
            .starts_with("static ")
    });
    let features = lines(|line| line.contains("cfg") && line.contains("feature ="));
    [
        Count {
            what: "statics",
            count: statics,
            limit: STATICS,
        },
        Count {
            what: "conditions on features",
            count: features,
            limit: FEATURES,
        },
    ]
}

/// Statics and conditions of the runtime do not become more.
pub(super) fn state(tree: &Tree) -> Vec<Fault> {
    let Some(file) = tree.get("turbowish-runtime/src/lib.rs") else {
        return Vec::new();
    };
    let beyond = counts(tree).into_iter().filter(|it| it.count > it.limit);
    let text = |it: Count| {
        let Count { what, count, limit } = it;
        format!("the runtime has {count} {what}; the limit is {limit}")
    };
    beyond.map(|it| Fault::new(file, 0, text(it))).collect()
}

/// The figures behind the rules, a line each.
pub(super) fn figures(tree: &Tree) -> Vec<String> {
    let mut lines = vec![format!(
        "no cycle among the folders of {} crates",
        CRATES.len()
    )];
    lines.extend(counts(tree).iter().map(|it| {
        let Count { what, count, limit } = it;
        format!("the runtime has {count} {what}, of {limit}")
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::{Tree, cycles};

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let faults: Vec<String> = cycles(&Tree::of(files))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn a_cycle_of_modules_is_found() {
        let b = ("turbowish-model/src/b.rs", "fn f() { crate::c::d(); }");
        check(
            &[
                ("turbowish-model/src/a/x.rs", "use crate::{b, e::F};"),
                b,
                ("turbowish-model/src/c.rs", "use super::a::X;"),
            ],
            &[
                "turbowish-model/src/a/x.rs: modules of turbowish-model/src/ import each other in a cycle: a -> b -> c -> a",
            ],
        );
        check(
            &[
                ("turbowish-model/src/a.rs", "use crate::b;"),
                b,
                (
                    "turbowish-model/src/c.rs",
                    "use self::a::X; #[cfg(test)] mod tests { use crate::a; }",
                ),
            ],
            &[],
        );
        check(
            &[
                ("turbowish-model/src/a.rs", "use super::b::X;"),
                ("turbowish-model/src/b/y.rs", "use super::a;"),
            ],
            &[],
        );
    }
}
