//! Rules for words that a standard term has replaced: of types, of modules and in comments.

use syn::visit::{self, Visit};

use super::tree::{Fault, File, Tree};

/// Source folders where the words are looked for.
const FOLDERS: &[&str] = &["turbowish-", "cargo-turbowish/", "console-cli/", "src/"];

/// Names of types that have a standard term now.
const TYPES: &[&str] = &[
    "AsItCame",
    "Beside",
    "Birth",
    "Desk",
    "EdgeRow",
    "EdgeTally",
    "Fact",
    "Fallen",
    "Fate",
    "Forest",
    "Fork",
    "Gather",
    "GaugeTally",
    "Grid",
    "Grow",
    "Handled",
    "Heir",
    "Here",
    "Holding",
    "Keeper",
    "Keepers",
    "Lent",
    "Look",
    "Maker",
    "Makers",
    "Means",
    "Meant",
    "Meter",
    "MeterTally",
    "Meters",
    "Newborn",
    "Newcomer",
    "Noded",
    "OwnCost",
    "Paper",
    "Perhaps",
    "ProcTally",
    "Pulse",
    "Readied",
    "Replayed",
    "Said",
    "Scene",
    "Seat",
    "Sequence",
    "SharedEnds",
    "SiteRow",
    "SiteTally",
    "Sole",
    "Spread",
    "Stage",
    "Standing",
    "StepCell",
    "Story",
    "Tally",
    "Tie",
    "Toggle",
    "Told",
    "Trail",
    "Twig",
    "Unpolled",
    "Usual",
    "Visit",
    "Whoever",
    "Withheld",
    "World",
];

/// `(source folder, names of its modules that have a standard term now)`.
const MODULES: &[(&str, &[&str])] = &[
    ("cargo-turbowish/src/", &["own", "twins", "work"]),
    (
        "console-cli/src/",
        &[
            "hit", "lend", "paper", "plain", "saved", "script", "seats", "told", "touch", "visit",
            "worst",
        ],
    ),
    ("examples/", &["ill"]),
    (
        "turbowish-macros/src/",
        &[
            "declare", "head", "hidden", "known", "plain", "traced", "unread",
        ],
    ),
    (
        "turbowish-model/src/",
        &[
            "fall",
            "forest",
            "fork",
            "grid",
            "grow",
            "heirs",
            "keep",
            "mark",
            "meter",
            "printable",
            "scene",
            "sequence",
            "serve",
            "short_name",
            "tally",
            "told",
            "trail",
            "waits",
        ],
    ),
    (
        "turbowish-runtime/src/",
        &[
            "by_id", "cut", "effect", "gather", "heart", "heirs", "held", "here", "inside", "lost",
            "meant", "meter", "meters", "newborn", "node", "own", "pulse", "race", "scene",
            "sliding", "sole", "sources", "told", "turn", "uncut",
        ],
    ),
    ("turbowish-testing/src/", &["scenes"]),
    (
        "turbowish-unsafe/src/",
        &["beside", "guarded", "keep", "place"],
    ),
];

/// Words that no comment says any more: the standard terms are in the glossary of ARCHITECTURE.md.
const WORDS: &[&str] = &[
    "futile", "heart", "heir", "heirs", "keeper", "keepers", "newborn", "newborns", "scene",
    "scenes", "tallies", "tally", "trail", "trails", "twin", "twins", "whoever",
];

/// Phrases of comments, in lower case and without punctuation.
const PHRASES: &[&str] = &["heart of", "seat of", "story of", "told of"];

/// No type, module or comment has a word that was replaced.
pub(super) fn all(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.sources() {
        modules(file, &mut faults);
        let ours = FOLDERS.iter().any(|folder| file.path.starts_with(folder));
        if !ours || file.is_test() {
            continue;
        }
        comments(file, &mut faults);
        if let Ok(syntax) = syn::parse_file(&file.text) {
            Types {
                file,
                faults: &mut faults,
            }
            .visit_file(&syntax);
        }
    }
    faults
}

/// The folders of a path and its file are modules.
fn modules(file: &File, faults: &mut Vec<Fault>) {
    for (folder, names) in MODULES {
        let Some(rest) = file.path.strip_prefix(folder) else {
            continue;
        };
        let mut segments = rest.trim_end_matches(".rs").split('/');
        if let Some(old) = segments.find(|segment| names.contains(segment)) {
            let text = format!("the module `{old}` has an old name");
            faults.push(Fault::new(file, 0, text));
        }
    }
}

fn comments(file: &File, faults: &mut Vec<Fault>) {
    for (index, line) in file.code() {
        let Some((_, comment)) = line.split_once("//") else {
            continue;
        };
        // A `//` in a string, as in an address, is no comment.
        if !line.trim_start().starts_with("//") {
            continue;
        }
        let lower = comment.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let text = format!(" {} ", words.join(" "));
        let old = PHRASES.iter().chain(WORDS);
        if let Some(old) = old.copied().find(|old| text.contains(&format!(" {old} "))) {
            faults.push(Fault::new(
                file,
                index + 1,
                format!("`{old}` is an old word"),
            ));
        }
    }
}

struct Types<'a> {
    file: &'a File,
    faults: &'a mut Vec<Fault>,
}

impl Types<'_> {
    fn name(&mut self, name: &syn::Ident) {
        if TYPES.iter().any(|old| name == old) {
            let line = name.span().start().line;
            let text = format!("`{name}` is an old word");
            self.faults.push(Fault::new(self.file, line, text));
        }
    }
}

impl<'ast> Visit<'ast> for Types<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.name(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.name(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.name(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.name(&item.ident);
        visit::visit_item_trait(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::{MODULES, PHRASES, TYPES, Tree, WORDS, all};

    fn check(path: &str, text: &str, expected: &[&str]) {
        let faults: Vec<String> = all(&Tree::of(&[(path, text)]))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn old_types_are_found() {
        for old in TYPES {
            let fault = format!("turbowish-model/src/a.rs:2: `{old}` is an old word");
            for kind in ["pub struct", "enum", "trait"] {
                let text = format!("\n{kind} {old} {{}}");
                check("turbowish-model/src/a.rs", &text, &[&fault]);
            }
        }
        let alias = "console-cli/src/a.rs:1: `Told` is an old word";
        check("console-cli/src/a.rs", "type Told = u8;", &[alias]);
        check("turbowish-model/src/a.rs", "struct AwaitStack;", &[]);
        check("turbowish-model/tests/a.rs", "struct Trail;", &[]);
    }

    #[test]
    fn old_modules_are_found() {
        for (folder, names) in MODULES {
            for old in *names {
                let fault = |path: &str| format!("{path}: the module `{old}` has an old name");
                for path in [
                    format!("{folder}{old}.rs"),
                    format!("{folder}a/{old}.rs"),
                    format!("{folder}{old}/a.rs"),
                ] {
                    check(&path, "", &[&fault(&path)]);
                }
            }
        }
        check("turbowish-runtime/src/hot/current.rs", "", &[]);
        // `fork` is the system call.
        check("turbowish-unsafe/src/fork.rs", "", &[]);
    }

    #[test]
    fn old_words_of_comments_are_found() {
        for old in WORDS.iter().chain(PHRASES) {
            for comment in ["//!", "///", "//"] {
                let text = format!("{comment} A {old}, in short.\n");
                let faults = all(&Tree::of(&[("turbowish-runtime/src/a.rs", &text)]));
                assert_eq!(faults.len(), 1, "{text}");
            }
        }
        let fault = "console-cli/src/a.rs:2: `heart of` is an old word";
        check(
            "console-cli/src/a.rs",
            "\n/// The heart of it.\nstruct A;",
            &[fault],
        );
        check("console-cli/src/a.rs", "// The heartbeat retells.\n", &[]);
        check(
            "console-cli/src/a.rs",
            "const A: &str = \"a//twin\";\n",
            &[],
        );
        check("console-cli/tests/a.rs", "// Whoever asks.\n", &[]);
    }
}
