//! Lines that a `Cargo.toml` gains and loses.

use std::path::Path;

use super::super::manifest::{Manifest, Named, Section};
use super::super::origin::Origin;
use super::super::source::Source;

fn parse(text: &str) -> Manifest {
    Manifest::parse(Path::new("Cargo.toml"), text.to_owned())
        .unwrap_or_else(|why| panic!("{why} in {text}"))
}

/// Lines of `marked` that begin with `+` are added, and removal removes the same lines. `said` is
/// the line in the report.
fn check_added(section: Section, origin: &Origin, marked: &str, said: &str) {
    let mut before = String::new();
    let mut after = String::new();
    for line in marked.split_inclusive('\n') {
        let added = line.strip_prefix('+');
        after += added.unwrap_or(line);
        if added.is_none() {
            before += line;
        }
    }
    let manifest = parse(&before);
    let (edit, line) = manifest
        .addition(section, origin)
        .unwrap_or_else(|| panic!("nothing to add to {before}"));
    let text = Source::new(before.clone()).edited(&[edit]);
    assert_eq!((text.as_str(), line.as_str()), (after.as_str(), said));
    let manifest = parse(&text);
    assert_eq!(manifest.named(section), Some(Named::Plainly));
    check_removed(&text, &before);
}

fn check_removed(before: &str, after: &str) {
    let edits = parse(before).removal();
    assert_eq!(Source::new(before.to_owned()).edited(&edits), after);
}

const LINE: &str = "turbowish = { path = \"/tw\" }";

fn from_clone() -> Origin {
    Origin::Clone("/tw".to_owned())
}

#[test]
fn a_line_goes_where_the_alphabet_puts_it() {
    let check = |marked: &str| check_added(Section::Normal, &from_clone(), marked, LINE);
    check(
        "[dependencies]\ntokio = \"1\"   # why\n+turbowish = { path = \"/tw\" } # turbowish annotate\n# of uuid\nuuid = { version = \"1\" }\n\n[features]\n",
    );
    check(
        "[dependencies]\n+turbowish = { path = \"/tw\" } # turbowish annotate\n# of uuid\nuuid = \"1\"\n",
    );
    check("[dependencies]\n+turbowish = { path = \"/tw\" } # turbowish annotate\n\n[features]\n");
    check("[dependencies]   # none\n+turbowish = { path = \"/tw\" } # turbowish annotate\n");
    check(
        "[dependencies]\nuuid = \"1\"\ntokio = \"1\"\n+turbowish = { path = \"/tw\" } # turbowish annotate\n\n# more\n[features]\n",
    );
    check(
        "[dependencies]\ntokio = { version = \"1\", features = [\n    \"full\",\n] }\n+turbowish = { path = \"/tw\" } # turbowish annotate\n[features]\n",
    );
    check(
        "[dependencies]\nserde.workspace = true\ntokio.version = \"1\"\ntokio.features = [\n\"full\"]\n+turbowish = { path = \"/tw\" } # turbowish annotate\n",
    );
    check(
        "[dependencies]\r\na = \"1\"\r\n+turbowish = { path = \"/tw\" } # turbowish annotate\r\n\r\n[dependencies.b]\r\nversion = \"1\"\r\n",
    );
    check(
        "[dev-dependencies]\nuuid = \"1\"\n[dependencies]\na = \"ü\"\n+turbowish = { path = \"/tw\" } # turbowish annotate\n",
    );
}

#[test]
fn a_table_that_is_not_there_is_made() {
    let text = "[package]\nname = \"a\"\n\n[dependencies]\nturbowish = { path = \"/tw\" } # turbowish annotate\n";
    let before = "[package]\nname = \"a\"\n";
    for before in [before, before.trim_end()] {
        let (edit, line) = parse(before)
            .addition(Section::Normal, &from_clone())
            .unwrap_or_else(|| panic!("nothing to add"));
        assert_eq!(Source::new(before.to_owned()).edited(&[edit]), text);
        assert_eq!(line, LINE);
    }
    check_added(
        Section::Normal,
        &from_clone(),
        "[dependencies.tokio]\nversion = \"1\"\n\n[features]\na = []\n+\n+[dependencies.turbowish] # turbowish annotate\n+path = \"/tw\"\n",
        LINE,
    );
    check_added(
        Section::Dev,
        &Origin::Workspace,
        "[dev-dependencies.tokio]\r\nversion = \"1\"\r\n+\r\n+[dev-dependencies.turbowish] # turbowish annotate\r\n+workspace = true\r\n",
        "turbowish.workspace = true",
    );
}

#[test]
fn a_member_inherits_what_its_workspace_has() {
    check_added(
        Section::Normal,
        &Origin::Workspace,
        "[dependencies]\na.workspace = true\n+turbowish.workspace = true # turbowish annotate\nz.workspace = true\n",
        "turbowish.workspace = true",
    );
    check_added(
        Section::Dev,
        &Origin::Workspace,
        "[dev-dependencies]\na = \"1\"\n+turbowish.workspace = true # turbowish annotate\n",
        "turbowish.workspace = true",
    );
}

#[test]
fn unusual_tables_are_left_to_their_owner() {
    for text in ["dependencies = { a = \"1\" }\n", "dependencies.a = \"1\"\n"] {
        assert!(
            parse(text)
                .addition(Section::Normal, &from_clone())
                .is_none(),
            "{text}"
        );
    }
}

#[test]
fn every_section_loses_what_is_marked() {
    check_removed(
        "[dependencies]\na = \"1\"\nturbowish = { version = \"0.1\", features = [\n  \"server\", # so\n] } # turbowish annotate\nz = \"1\"\n[dev-dependencies]\nturbowish = \"0.1\"   # turbowish annotate\n\n[dependencies-of]\n",
        "[dependencies]\na = \"1\"\nz = \"1\"\n[dev-dependencies]\n\n[dependencies-of]\n",
    );
    check_removed(
        "[dependencies]\nturbowish.path = \"/tw\" # turbowish annotate\nturbowish.features = [\n\"server\"\n]\n",
        "[dependencies]\n",
    );
    check_removed(
        "[dependencies.a]\nversion = \"1\"\n\n[dependencies.turbowish] # turbowish annotate\nversion = \"0.1\"\nfeatures = [\"server\"] # so\n\n[features]\n",
        "[dependencies.a]\nversion = \"1\"\n\n[features]\n",
    );
    for by_others in [
        "[dependencies]\nturbowish = \"0.1\"\n",
        "[dependencies]\nturbowish = { path = \"/tw\" } # for turbowish annotate\n",
        "[dependencies]\nturbowish.workspace = true\n",
        "[dependencies.turbowish]\npath = \"/tw\" # turbowish annotate\n",
    ] {
        check_removed(by_others, by_others);
    }
    let without =
        "[dependencies]\nturbowish-model = \"0.1\"\n[features]\nx = [\"turbowish-model/y\"]\n";
    check_removed(without, without);
    assert!(!parse(without).features_name_it());
}

#[test]
fn other_ways_to_name_it_are_known() {
    for (dependency, expected) in [
        ("turbowish = \"0.1\"", Some(Named::Plainly)),
        ("turbowish = { path = \"..\" }", Some(Named::Plainly)),
        ("turbowish.workspace = true", Some(Named::Plainly)),
        (
            "turbowish = { version = \"0.1\", optional = true }",
            Some(Named::Optional),
        ),
        (
            "tw = { package = \"turbowish\", version = \"0.1\" }",
            Some(Named::As("tw".to_owned())),
        ),
        ("turbowish-model = \"0.1\"", None),
    ] {
        let manifest = parse(&format!("[dependencies]\n{dependency}\n"));
        assert_eq!(manifest.named(Section::Normal), expected, "{dependency}");
        assert_eq!(manifest.named(Section::Dev), None);
    }
    for feature in [
        "turbowish",
        "dep:turbowish",
        "turbowish/server",
        "turbowish?/server",
    ] {
        let manifest = parse(&format!("[features]\na = [\"b\", \"{feature}\"]\n"));
        assert!(manifest.features_name_it(), "{feature}");
    }
}

#[test]
fn an_origin_is_a_string_of_toml() {
    for (origin, expected) in [
        (
            Origin::Clone("/a \"b\" \\c\u{1}".to_owned()),
            "turbowish = { path = \"/a \\\"b\\\" \\\\c\\u0001\" }",
        ),
        (
            Origin::Git("https://x/y".to_owned()),
            "turbowish = { git = \"https://x/y\" }",
        ),
        (Origin::Version("0.1".to_owned()), "turbowish = \"0.1\""),
        (Origin::Workspace, "turbowish.workspace = true"),
    ] {
        assert_eq!(origin.line(), expected);
        let (_, value) = origin.entry();
        parse(&format!("[dependencies]\nx = {value}\n"));
    }
    let line = from_clone().line_with("server");
    assert_eq!(
        line,
        "turbowish = { path = \"/tw\", features = [\"server\"] }"
    );
}
