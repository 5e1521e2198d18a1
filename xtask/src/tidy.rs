//! `cargo xtask tidy`: house rules that no compiler checks. Each rule is a function from the tree
//! to its violations.

mod arrows;
mod manifest;
mod names;
mod old_names;
mod rooms;
mod sizes;
mod text;
mod tree;

use std::path::Path;

use tree::{Fault, Tree};

/// The location of the violation.
type Rule = fn(&Tree) -> Vec<Fault>;

/// Every rule, by the name that a failure shows.
const RULES: &[(&str, Rule)] = &[
    ("arrows point inward", arrows::between_crates),
    ("arrows point inward inside a crate", arrows::inside_crates),
    ("no cycle among folders", rooms::cycles),
    ("state of the runtime", rooms::state),
    ("a type name once in a crate", names::twice),
    (
        "packages inherit the lints and carry the licences",
        manifest::packages,
    ),
    (
        "every dependency has its reason in ARCHITECTURE.md",
        manifest::reasons,
    ),
    ("a module says its purpose on line 1", text::purpose),
    ("no path of somebody's machine", text::machine_paths),
    ("no test is ignored", text::ignored_tests),
    ("prose ends at column 100", text::width),
    ("functions, files and types are small", sizes::all),
    ("one word per thing", names::all),
    ("no old word comes back", old_names::all),
];

/// Checks every rule; the error lists every fault.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let tree = Tree::read(root).map_err(|e| format!("cannot read the tree: {e}"))?;
    let mut report = String::new();
    let mut count = 0;
    for (name, rule) in RULES {
        let faults = rule(&tree);
        count += faults.len();
        if !faults.is_empty() {
            report += &format!("{name}:\n");
            report.extend(faults.iter().map(|fault| format!("  {fault}\n")));
        }
    }
    if count == 0 {
        let mut lines = rooms::figures(&tree);
        lines.push("no type name twice in a crate, and no old word".to_owned());
        lines.push(format!(
            "tidy: {} rules hold over {} files",
            RULES.len(),
            tree.files().count()
        ));
        Ok(lines.join("\n"))
    } else {
        Err(format!("{report}tidy: {count} faults"))
    }
}
