//! Rules for names: vague words that fit everything are refused.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenTree};
use syn::visit::{self, Visit};

use super::sizes::is_test;
use super::tree::{Fault, File, Tree};

/// Words refused anywhere in a name.
const WORDS: &[&str] = &[
    "manager", "handler", "helper", "helpers", "util", "utils", "common", "data", "info",
];

/// At the beginning of a function's name.
const PREFIXES: &[&str] = &["do", "process"];

/// `(file, name, why it is the right one)`.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "examples/kv/src/command/about.rs",
    "info",
    "INFO is a command of the protocol",
)];

/// Source folders in which a type's name is defined once.
const FOLDERS: &[&str] = &[
    "cargo-turbowish/src/",
    "console-cli/src/",
    "turbowish-macros/src/",
    "turbowish-model/src/",
    RUNTIME,
    "turbowish-recording/src/",
    "turbowish-testing/src/",
    "turbowish-unsafe/src/",
    "turbowish-wire/src/",
    "xtask/src/",
];

const RUNTIME: &str = "turbowish-runtime/src/";

/// Names of tokio that the drop-in API of the runtime must have, once in each module of `sync`.
const DROP_IN: &[&str] = &["Receiver", "Sender"];

/// A reader who searches for a type finds one.
pub(super) fn twice(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for folder in FOLDERS {
        let mut types: BTreeMap<String, Vec<(&File, usize)>> = BTreeMap::new();
        for file in tree.sources().filter(|file| !file.is_test()) {
            let ours = file.path.starts_with(folder) && !file.path.contains("/absent.rs");
            if let (true, Ok(syntax)) = (ours, syn::parse_file(&file.text)) {
                for (name, line) in types_of(&syntax.items) {
                    types.entry(name).or_default().push((file, line));
                }
            }
        }
        types.retain(|_, places| places.len() > 1);
        for (name, places) in &types {
            let is_drop_in = *folder == RUNTIME && DROP_IN.contains(&name.as_str());
            if !is_drop_in {
                let ((file, line), other) = (places[0], &places[1].0.path);
                let text = format!("`{name}` is defined in {other}, too");
                faults.push(Fault::new(file, line, text));
            }
        }
    }
    faults
}

/// Structs, enums, traits and unions at the top of a file, with their lines.
fn types_of(items: &[syn::Item]) -> Vec<(String, usize)> {
    let names = items.iter().filter_map(|item| match item {
        syn::Item::Struct(item) => Some(item.ident.clone()),
        syn::Item::Enum(item) => Some(item.ident.clone()),
        syn::Item::Trait(item) => Some(item.ident.clone()),
        syn::Item::Union(item) => Some(item.ident.clone()),
        syn::Item::Macro(item) if item.mac.path.is_ident("row") => row(&item.mac.tokens),
        _ => None,
    });
    names
        .map(|name| (name.to_string(), name.span().start().line))
        .collect()
}

/// The type that the model's `row!` declares: the name before the braces.
fn row(tokens: &proc_macro2::TokenStream) -> Option<syn::Ident> {
    let mut last = None;
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name) => last = Some(name),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return last,
            _ => {}
        }
    }
    None
}

/// The names of items that we define, and of the files.
pub(super) fn all(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.sources() {
        let stem = file
            .path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".rs");
        if let Some(word) = banned(stem) {
            faults.push(Fault::new(
                file,
                0,
                format!("the file's name holds `{word}`"),
            ));
        }
        let Ok(syntax) = syn::parse_file(&file.text) else {
            continue;
        };
        let mut found = Found {
            file,
            faults: Vec::new(),
        };
        found.visit_file(&syntax);
        faults.append(&mut found.faults);
    }
    faults
}

struct Found<'a> {
    file: &'a File,
    faults: Vec<Fault>,
}

impl Found<'_> {
    fn name(&mut self, name: &syn::Ident) {
        if EXCEPTIONS
            .iter()
            .any(|(path, known, _)| *path == self.file.path && name == known)
        {
            return;
        }
        if let Some(word) = banned(&name.to_string()) {
            let line = name.span().start().line;
            self.faults.push(Fault::new(
                self.file,
                line,
                format!("`{name}` holds `{word}`"),
            ));
        }
    }

    fn function(&mut self, name: &syn::Ident) {
        self.name(name);
        let text = name.to_string();
        let prefix = PREFIXES.iter().find(|prefix| {
            text.strip_prefix(**prefix)
                .is_some_and(|rest| rest.starts_with('_'))
        });
        if let Some(prefix) = prefix {
            let line = name.span().start().line;
            self.faults.push(Fault::new(
                self.file,
                line,
                format!("`{name}` begins with `{prefix}_`"),
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
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

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.name(&item.ident);
        visit::visit_item_mod(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        // A test's name is a sentence.
        if !is_test(&item.attrs) {
            self.function(&item.sig.ident);
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig.ident);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // The names of a trait's items are not ours to choose.
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig.ident);
    }
}

fn banned(name: &str) -> Option<&'static str> {
    let words = words(name);
    WORDS
        .iter()
        .copied()
        .find(|word| words.iter().any(|found| found == word))
}

/// The words of `snake_case`, `CamelCase` and `kebab-case`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if c == '_' || c == '-' || (c.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Tree, all};

    fn check(text: &str, expected: &[&str]) {
        let faults: Vec<String> = all(&Tree::of(&[("a/src/b.rs", text)]))
            .iter()
            .map(ToString::to_string)
            .collect();
        let wanted: Vec<String> = expected
            .iter()
            .map(|fault| format!("a/src/b.rs:1: {fault}"))
            .collect();
        assert_eq!(faults, wanted);
    }

    #[test]
    fn words_that_fit_everything_are_found() {
        check("struct TaskManager;", &["`TaskManager` holds `manager`"]);
        check("enum RowData { A }", &["`RowData` holds `data`"]);
        check("trait Handler {}", &["`Handler` holds `handler`"]);
        check("type Info = u8;", &["`Info` holds `info`"]);
        check("mod string_utils {}", &["`string_utils` holds `utils`"]);
        check("fn do_it() {}", &["`do_it` begins with `do_`"]);
        check(
            "impl A { fn process_row(&self) {} }",
            &["`process_row` begins with `process_`"],
        );
        check(
            "trait A { fn do_it(&self); }",
            &["`do_it` begins with `do_`"],
        );
    }

    #[test]
    fn other_words_are_not() {
        check(
            "struct Metadata; fn dot() {} fn process() {} struct Information; mod commons {}",
            &[],
        );
        check(
            "#[test] fn data_get_old() {} #[tokio::test] async fn data_is_new() {}",
            &[],
        );
        check("impl Connected for A { fn connect_info(&self) {} }", &[]);
    }

    #[test]
    fn a_type_is_defined_once_in_a_crate() {
        let check = |second: &str, expected: &[&str]| {
            let files = [
                ("turbowish-wire/src/a.rs", "struct A;"),
                (second, "enum A {}"),
            ];
            let faults: Vec<String> = super::twice(&Tree::of(&files))
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(faults, expected);
        };
        let row = (
            "turbowish-model/src/a.rs",
            "row! { $ a_row A { id: u64 [first]; } }",
        );
        let files = [row, ("turbowish-model/src/b.rs", "struct A;")];
        assert_eq!(super::twice(&Tree::of(&files)).len(), 1);
        let fault = "turbowish-wire/src/a.rs:1: `A` is defined in turbowish-wire/src/b.rs, too";
        check("turbowish-wire/src/b.rs", &[fault]);
        check("turbowish-wire/src/tests.rs", &[]);
        check("turbowish-unsafe/src/b.rs", &[]);
    }

    #[test]
    fn only_names_of_tokio_are_defined_twice() {
        let count = |folder: &str, name: &str| {
            let text = format!("struct {name};");
            let paths = ["a.rs", "b.rs"].map(|file| format!("{folder}{file}"));
            let files = paths.each_ref().map(|path| (path.as_str(), text.as_str()));
            super::twice(&Tree::of(&files)).len()
        };
        assert_eq!(count("turbowish-runtime/src/sync/", "Sender"), 0);
        assert_eq!(count("turbowish-runtime/src/sync/", "Channel"), 1);
        assert_eq!(count("console-cli/src/", "Sender"), 1);
        assert_eq!(count("console-cli/src/", "Rows"), 1);
    }

    #[test]
    fn files_have_names_too() {
        let faults = all(&Tree::of(&[("a/src/helpers.rs", "")]));
        assert_eq!(
            faults[0].to_string(),
            "a/src/helpers.rs: the file's name holds `helpers`"
        );
    }
}
