//! Size limits of functions, files and types outside tests, with a short list of exceptions.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::tree::{Fault, File, Tree};

const FUNCTION_LINES: usize = 60;
/// A smoke alarm: a longer file holds two subjects, or has an exception that says which one it
/// holds. Subjects decide where a file is split, not lines.
const FILE_LINES: usize = 600;
const TYPE_FIELDS: usize = 15;

/// Exceptions: `(file, item or nothing for the file, reason)`. An exception that is no longer
/// needed is a violation.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "turbowish-model/src/account/resource.rs",
        "Reading",
        "a record as it is at one instant: flat, as the row that is made of it",
    ),
    (
        "turbowish-wire/src/convert/procs.rs",
        "from",
        "every field of a flat row is named on either side, so that none is forgotten",
    ),
];

/// Lines of functions and files, fields of types.
pub(super) fn all(tree: &Tree) -> Vec<Fault> {
    with(tree, EXCEPTIONS)
}

fn with(tree: &Tree, exceptions: &[(&str, &str, &str)]) -> Vec<Fault> {
    let mut needed = vec![false; exceptions.len()];
    let mut faults = Vec::new();
    for file in tree.sources().filter(|file| !file.is_test()) {
        for (item, fault) in measure(file) {
            let known = exceptions
                .iter()
                .position(|(path, name, _)| *path == file.path && *name == item);
            match known {
                Some(index) => needed[index] = true,
                None => faults.push(fault),
            }
        }
    }
    for ((path, item, _), needed) in exceptions.iter().zip(needed) {
        if !needed && let Some(file) = tree.get(path) {
            faults.push(Fault::new(
                file,
                0,
                format!("needs no exception for its size any more: {item}"),
            ));
        }
    }
    faults
}

/// Items of a file that are too large, by name.
fn measure(file: &File) -> Vec<(String, Fault)> {
    let Ok(syntax) = syn::parse_file(&file.text) else {
        return vec![(String::new(), Fault::new(file, 0, "cannot be read as Rust"))];
    };
    let mut found = Measured {
        file,
        faults: Vec::new(),
        test_lines: 0,
    };
    found.visit_file(&syntax);
    let lines = file.text.lines().count() - found.test_lines;
    if lines > FILE_LINES {
        let text = format!("{lines} lines outside tests; the limit is {FILE_LINES}");
        found
            .faults
            .push((String::new(), Fault::new(file, 0, text)));
    }
    found.faults
}

struct Measured<'a> {
    file: &'a File,
    faults: Vec<(String, Fault)>,
    test_lines: usize,
}

impl Measured<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line - first + 1;
        self.limit(&signature.ident, first, lines, FUNCTION_LINES, "lines");
    }

    fn limit(&mut self, name: &syn::Ident, line: usize, count: usize, limit: usize, unit: &str) {
        if count > limit {
            let text = format!("`{name}` has {count} {unit}; the limit is {limit}");
            self.faults
                .push((name.to_string(), Fault::new(self.file, line, text)));
        }
    }
}

impl<'ast> Visit<'ast> for Measured<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test(attributes(item)) {
            let span = item.span();
            self.test_lines += span.end().line - span.start().line + 1;
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let line = item.ident.span().start().line;
        self.limit(&item.ident, line, item.fields.len(), TYPE_FIELDS, "fields");
    }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[test]`, `#[tokio::test]`, or anything under a `cfg` that names `test`.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path.is_ident("cfg") {
            let syn::Meta::List(list) = &attribute.meta else {
                return false;
            };
            let condition = list.tokens.to_string();
            return condition == "test" || condition.starts_with("all (test");
        }
        path.segments
            .last()
            .is_some_and(|segment| segment.ident == "test")
    })
}

#[cfg(test)]
mod tests {
    use super::{Tree, with};

    fn function(name: &str, lines: usize) -> String {
        format!("fn {name}() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    fn check(text: &str, exceptions: &[(&str, &str, &str)], expected: &[&str]) {
        let tree = Tree::of(&[("a/src/b.rs", text)]);
        let faults: Vec<String> = with(&tree, exceptions)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn functions_are_measured() {
        check(&function("fits", 60), &[], &[]);
        let long = "a/src/b.rs:1: `long` has 61 lines; the limit is 60";
        check(&function("long", 61), &[], &[long]);
        check(
            &format!("impl A {{ {} }}", function("long", 61)),
            &[],
            &[long],
        );
        check(
            &format!("trait A {{ {} }}", function("long", 61)),
            &[],
            &[long],
        );
        check(
            &format!("{}fn outer() {{ {} }}", "", function("long", 61)),
            &[],
            &["a/src/b.rs:1: `outer` has 62 lines; the limit is 60", long],
        );
    }

    #[test]
    fn tests_may_be_long() {
        check(&format!("#[test]\n{}", function("long", 61)), &[], &[]);
        check(
            &format!("#[tokio::test]\nasync {}", function("long", 61)),
            &[],
            &[],
        );
        check(
            &format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function("long", 700)),
            &[],
            &[],
        );
        check(
            &format!("#[cfg(not(test))]\n{}", function("long", 61)),
            &[],
            &["a/src/b.rs:2: `long` has 61 lines; the limit is 60"],
        );
        let tree = Tree::of(&[
            ("a/tests/b.rs", &function("long", 700)),
            ("a/src/b/tests.rs", &function("long", 700)),
        ]);
        assert_eq!(with(&tree, &[]), []);
    }

    #[test]
    fn files_are_measured_without_their_tests() {
        let lines = |n: usize| "//! x\n".repeat(n);
        check(&lines(600), &[], &[]);
        check(
            &lines(601),
            &[],
            &["a/src/b.rs: 601 lines outside tests; the limit is 600"],
        );
        check(
            &format!("{}#[cfg(test)]\nmod tests {{\n}}\n", lines(600)),
            &[],
            &[],
        );
    }

    #[test]
    fn types_are_measured() {
        let fields = |n: usize| (0..n).map(|i| format!("f{i}: u8,")).collect::<String>();
        check(&format!("struct A {{ {} }}", fields(15)), &[], &[]);
        check(
            &format!("struct A {{ {} }}", fields(16)),
            &[],
            &["a/src/b.rs:1: `A` has 16 fields; the limit is 15"],
        );
    }

    #[test]
    fn exceptions_are_needed_or_faults() {
        let exception = [("a/src/b.rs", "long", "one table")];
        check(&function("long", 61), &exception, &[]);
        check(
            &function("long", 60),
            &exception,
            &["a/src/b.rs: needs no exception for its size any more: long"],
        );
    }
}
