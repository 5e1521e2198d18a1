//! Snippets of Rust in which `@` marks an inserted attribute on its own line, and `%` one on the
//! line of its function.

use super::{Filter, filter, insert, remove};

const ATTRIBUTE: &str = "#[::turbowish::instrument]";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// `marked` contains the marks. Without them it is the input, which removal also restores.
fn check(blocks: bool, marked: &str) {
    check_filtered(&Filter::default(), blocks, marked);
}

fn check_filtered(filter: &Filter, blocks: bool, marked: &str) {
    let (before, after) = both(marked);
    let inserted = insert(&before, filter, blocks);
    assert_eq!(inserted, after, "inserted into\n{before}");
    assert_eq!(insert(&inserted, filter, blocks), after, "a second time");
    let everything = Filter::default();
    assert_eq!(remove(&inserted, &everything), before, "removed");
    assert_eq!(remove(&before, &everything), before, "nothing to remove");
}

/// The text without and with attributes. A line that holds only `@` is the attribute's.
fn both(marked: &str) -> (String, String) {
    let mut before = String::new();
    for line in marked.split_inclusive('\n') {
        let mark = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if mark.trim() == "@" {
            before += &line[..line.len() - mark.len()];
        } else {
            before += &line.replace('%', "");
        }
    }
    let after = marked
        .replace('@', ATTRIBUTE)
        .replace('%', &format!("{ATTRIBUTE} "));
    (before, after)
}

/// `after` is what `--remove` makes of `before`.
fn check_removed(before: &str, after: &str) {
    assert_eq!(remove(before, &Filter::default()), after);
}

#[test]
fn every_async_fn_gets_one() {
    check(false, "@\nasync fn f() {}\n");
    check(
        false,
        "@\npub(crate) async fn f<T>(x: T) where T: Send {}\nfn g() {}\n",
    );
    check(
        false,
        "@\npub async unsafe fn f() {}\n@\nasync extern \"C\" fn g() {}\n",
    );
    check(false, "@\npub(in crate::a) async fn f() {}");
    check(
        false,
        "impl A {\n    @\n    async fn f(&self) {}\n    fn g(&self) {}\n    @\n    pub async fn r#type() {}\n}\n",
    );
    check(
        false,
        "trait A {\n    async fn f(&self);\n    @\n    async fn g(&self) {}\n}\nimpl A for B {\n    @\n    async fn f(&self) {}\n}\n",
    );
    check(
        false,
        "mod a {\n    mod b {\n        @\n        async fn f() {}\n    }\n    mod c;\n}\n",
    );
    check(
        false,
        "impl A {\n    @\n    default async fn f() {}\n    @\n    pub default async fn g() {}\n}\n",
    );
}

#[test]
fn also_in_bodies() {
    check(
        false,
        "@\nasync fn f() {\n    @\n    async fn g() {}\n    g().await;\n}\n",
    );
    check(
        false,
        "fn f() {\n    let x = 1;\n    struct A;\n    impl A {\n        @\n        async fn g() {}\n    }\n}\n",
    );
    check(
        false,
        "const _: () = {\n    impl A {\n        @\n        async fn f() {}\n    }\n};\n",
    );
    check(
        false,
        "fn f() {\n    let c = async || {\n        @\n        async fn g() {}\n    };\n    async move { 1 };\n}\n",
    );
    check(
        false,
        "static S: [u8; {\n    @\n    async fn f() {}\n    1\n}] = [0];\n",
    );
}

#[test]
fn what_is_no_async_fn_with_a_body_gets_none() {
    check(
        false,
        "fn f() {}\nconst fn g() {}\nstruct A { f: async_fn }\n",
    );
    check(false, "const async fn f() {}\n");
    check(false, "fn f() { async {}; async || (); }\n");
    check(false, "async fn f();\nextern \"C\" { fn f(); }\n");
    check(
        false,
        "macro_rules! m { () => { async fn f() {} } }\ncfg_x! { async fn g() {} }\nfn h() { i! { async fn j() {} } }\n",
    );
    check(
        false,
        "/// async fn f() {}\nfn g() { \"async fn h() {}\"; } // async fn i() {}\n",
    );
    check(false, "");
    check(false, "\n");
}

#[test]
fn it_stands_behind_documentation_and_before_the_rest() {
    check(
        false,
        "/// Docs.\n/// More.\n@\n#[inline]\nasync fn f() {}\n",
    );
    check(false, "/// Docs.\n@\nasync fn f() {}\n");
    check(
        false,
        "#[doc = \"Docs.\"]\n#[doc(hidden)]\n@\n#[tokio::test]\nasync fn f() {}\n",
    );
    check(
        false,
        "@\n#[cfg(a)]\n/// Docs in the midst.\n#[tracing::instrument]\nasync fn f() {}\n",
    );
    check(false, "/** Docs. */\n@\nasync fn f() {}\n");
    check(false, "/** Docs. */ %async fn f() {}\n");
    check(false, "/* a */ %async fn f() {}\n");
    check(false, "@\n#[tokio::main]\npub async fn main() {}\n");
    check(false, "@\n#[get(\"/\")]\n#[handler] async fn f() {}\n");
    check(false, "@\n#[instrument(skip(self))]\nasync fn f() {}\n");
    check(
        false,
        "#[async_trait]\nimpl A for B {\n    @\n    async fn f(&self) {}\n}\n",
    );
    check(
        false,
        "#[Object]\nimpl A {\n    /// Docs.\n    @\n    #[graphql(name = \"x\")]\n    async fn f(&self) {}\n}\n",
    );
    check(false, "@\nasync\nfn\nf\n()\n{\n}\n");
    check(false, "@\nasync fn f() {\n    #![allow(unused)]\n}\n");
    check(
        false,
        "// A comment.\n\n// Another.\n@\nasync fn f() {} // And one.\n",
    );
}

#[test]
fn on_a_line_with_other_code_it_stands_in_it() {
    check(false, "mod a { %async fn f() {} }\n");
    check(
        false,
        "mod a { %#[inline] async fn f() {} %async fn g() {} }",
    );
    check(
        false,
        "struct A; %async fn f() {}\n@\nasync fn g() {} %async fn h() {}\n",
    );
    check(false, "impl A { \t%async fn f() {} }\n");
    check(false, "#[cfg(a)] mod b { /// Docs.\n@\nasync fn f() {} }\n");
}

#[test]
fn bytes_around_it_stay() {
    check(
        false,
        "@\r\nasync fn f() {\r\n}\r\n\t@\r\n\tasync fn g() {}\r\n",
    );
    // Each line ends as the next one does.
    check(false, "@\r\nasync fn f() {}\r\n@\nasync fn g() {}\n");
    check(false, "mod a {\r\n\t \t@\r\n\t \tasync fn f() {} }");
    check(false, "mod a {\n  @\n  async fn f() {}\n}");
    check(false, "\u{feff}@\nasync fn f() {}\n");
    check(false, "\u{feff}@\r\nasync fn f() {}\r\n");
    check(false, "\u{feff}@\nasync fn f() {}");
    check(false, "#!/usr/bin/env run\n@\nasync fn f() {}\n");
    check(
        false,
        "\u{feff}#!/usr/bin/env run\r\n\r\n@\r\nasync fn f() {}\r\n",
    );
    check(false, "#![allow(a)]\n@\nasync fn f() {}\n");
    check(false, "#! [allow(a)]\n@\nasync fn f() {}\n");
    check(
        false,
        "// ü 漢字 🦀\nfn a() { \"é\u{301}🦀\"; }\n/* ü */ %async fn ä() { \"漢\"; }\n/// ü\n@\nasync fn b() {}\n",
    );
    check(
        false,
        "fn a() {\n    let s = \"\\\r\n  x\";\r\n}\r\n@\r\nasync fn f() {}\r\n",
    );
    check(
        false,
        "fn a() { r#\"\nasync fn g() {}\n\"#; }   \n   @\n   async fn f() {}   \n",
    );
}

#[test]
fn what_is_covered_is_left() {
    for covered in [
        "#[turbowish::instrument]\nasync fn f() {}\n",
        "#[::turbowish::instrument(name = \"x\")]\nasync fn f() {}\n",
        "#[inline] #[k::turbowish::instrument(crate = k::turbowish)] async fn f() {}\n",
        "#[cfg_attr(feature = \"x\", turbowish::instrument)]\nasync fn f() {}\n",
        "#[cfg_attr(all(a, b), inline, turbowish::instrument(name = \"x\"))]\nasync fn f() {}\n",
        "use turbowish::instrument;\n#[instrument]\nasync fn f() {}\n",
        "use turbowish::{init, instrument as account};\n#[account]\nasync fn f() {}\n",
        "use turbowish as tw;\n#[tw::instrument]\nasync fn f() {}\n",
        "use turbowish::*;\n#[instrument]\nasync fn f() {}\n",
        "use turbowish::instrument;\nmod a { use super::*; #[instrument] async fn f() {} }\n",
        "fn a() { #[instrument] async fn f() {} use turbowish::instrument; }\n",
        "#[turbowish::instrument]\nimpl A { async fn f() {} }\n",
        "#[turbowish::instrument]\ntrait A { async fn f() {} }\n",
        "#[turbowish::instrument]\nmod a { mod b { impl A { async fn f() {} } } async fn g() {} }\n",
        "#[turbowish::instrument(skip)]\nasync fn f() {}\n",
        "#[instrument(skip)]\nasync fn f() {}\n",
        "#[turbowish::instrument(name = \"a, skip\", skip)]\nasync fn f() {}\n",
        "#[turbowish::instrument(skip)]\nimpl A { async fn f() {} }\n",
        "#[turbowish::instrument]\nmod a { #[turbowish::instrument(skip)] impl A { async fn f() {} } }\n",
    ] {
        for blocks in [false, true] {
            assert_eq!(insert(covered, &Filter::default(), blocks), covered);
        }
    }
}

#[test]
fn what_only_looks_covered_is_not() {
    check(
        false,
        "use tracing::instrument;\n@\n#[instrument]\nasync fn f() {}\n",
    );
    check(
        false,
        "use tracing::instrument;\n@\n#[instrument(skip(a))]\nasync fn f() {}\n",
    );
    check(
        false,
        "use tracing::*;\n@\n#[instrument]\nasync fn f() {}\n",
    );
    check(
        false,
        "@\n#[tracing::instrument(skip_all, name = \"skip\")]\nasync fn f() {}\n",
    );
    check(
        false,
        "@\n#[cfg_attr(turbowish, instrument)]\nasync fn f() {}\n",
    );
    // A module does not see what its parent imports.
    let text = "use turbowish::instrument;\nmod a {\n    #[instrument]\n    async fn f() {}\n}\n";
    let expected = text.replace("    #[i", "    #[::turbowish::instrument]\n    #[i");
    assert_eq!(insert(text, &Filter::default(), false), expected);
    // An attribute reaches no items in bodies.
    let text = "#[turbowish::instrument]\nasync fn f() {\n    async fn g() {}\n}\n";
    let expected = text.replace("    async", "    #[::turbowish::instrument]\n    async");
    assert_eq!(insert(text, &Filter::default(), false), expected);
}

#[test]
fn blocks_and_modules_take_one_for_all() {
    check(
        true,
        "@\nimpl A {\n    async fn f() {}\n    fn g() {}\n}\nimpl B { fn f() {} }\n",
    );
    check(
        true,
        "/// Docs.\n@\n#[async_trait]\nimpl A for B {\n    async fn f() {}\n}\n",
    );
    check(
        true,
        "@\npub unsafe trait A {\n    async fn f();\n    async fn g() {}\n}\n",
    );
    check(true, "trait A {\n    async fn f();\n}\n");
    check(
        true,
        "@\nunsafe impl A for B {\n    async fn f() {}\n}\n@\nasync fn g() {}\n",
    );
    check(
        true,
        "@\n#[cfg(test)]\nmod tests {\n    #[tokio::test]\n    async fn f() {}\n    mod more { impl A { async fn f() {} } }\n}\n",
    );
    check(
        true,
        "mod a { fn f() {} const fn g() {} const async fn h() {} }\n",
    );
    check(true, "mod a { %impl A { async fn f() {} } mod b; }\n");
    check(
        true,
        "mod a { mod b { mod c; } %mod d { impl A { async fn f() {} } } %async fn f() {} }\n",
    );
    check(
        true,
        "mod a {\n    #[macro_export]\n    macro_rules! m { () => {} }\n    @\n    async fn f() {}\n}\n",
    );
    check(
        true,
        "@\nmod a {\n    macro_rules! m { () => {} }\n    async fn f() {}\n}\n",
    );
    // Bodies are reached by nothing.
    check(
        true,
        "@\nmod a {\n    async fn f() {\n        @\n        impl A { async fn g() {} }\n    }\n}\n",
    );
    check(
        true,
        "@\nmod a {\n    async fn f() {}\n    const _: () = { %async fn g() {} };\n}\n",
    );
}

#[test]
fn a_block_is_not_taken_where_a_pattern_leaves_out_a_part() {
    let no_g = filter(&[], &["g"]);
    check_filtered(
        &no_g,
        true,
        "@\nimpl A {\n    async fn f() {}\n}\nimpl B {\n    @\n    async fn f() {}\n    async fn g() {}\n}\n",
    );
    check_filtered(
        &no_g,
        true,
        "mod a {\n    @\n    mod b {\n        async fn f() {}\n    }\n    async fn g() {}\n}\n",
    );
}

#[test]
fn patterns_choose() {
    let text = |f, g, h| {
        let mark = |on: bool| if on { "%" } else { "" };
        format!(
            "mod a {{ impl A {{ {}async fn f() {{}} }} }} {}async fn g() {{}} mod h {{ {}async fn h() {{}} }}\n",
            mark(f),
            mark(g),
            mark(h)
        )
    };
    for (include, exclude, marked) in [
        (&[][..], &[][..], text(true, true, true)),
        (&["src/m.rs"], &[], text(true, true, true)),
        (&["src/n.rs"], &[], text(false, false, false)),
        (&["m::a"], &[], text(true, false, false)),
        (&["k::m::a::A::f", "g"], &[], text(true, true, false)),
        (&["**::A"], &[], text(true, false, false)),
        (&["m::?"], &["h"], text(true, true, false)),
        (&[], &["src"], text(false, false, false)),
        (&[], &["k::m::g", "f"], text(false, false, true)),
    ] {
        check_filtered(&filter(include, exclude), false, &marked);
    }
}

#[test]
fn only_what_was_inserted_goes() {
    check_removed(
        "#[::turbowish::instrument] async fn f() {}\n",
        "async fn f() {}\n",
    );
    check_removed(
        "#[inline] #[::turbowish::instrument]\nfn f() {}\n",
        "#[inline] \nfn f() {}\n",
    );
    check_removed(
        "#[inline]\n#[::turbowish::instrument]   \n// Why.\nfn f() {}\n",
        "#[inline]\n// Why.\nfn f() {}\n",
    );
    check_removed(
        "#[::turbowish::instrument] // Why.\nfn f() {}\n",
        "// Why.\nfn f() {}\n",
    );
    check_removed(
        "#[::turbowish::instrument]\n#[turbowish::instrument(name = \"x\")]\nasync fn f() {}\n",
        "#[turbowish::instrument(name = \"x\")]\nasync fn f() {}\n",
    );
    for by_others in [
        "#[turbowish::instrument]\nasync fn f() {}\n",
        "#[::turbowish::instrument(name = \"x\")]\nasync fn f() {}\n",
        "#[::turbowish::instrument(skip)]\nasync fn f() {}\n",
        "#[::turbowish::instrument()]\nasync fn f() {}\n",
        "#[cfg_attr(a, ::turbowish::instrument)]\nasync fn f() {}\n",
        "#[cfg_attr(a, inline, ::turbowish::instrument)]\nasync fn f() {}\n",
        "use turbowish::instrument;\n#[instrument]\nasync fn f() {}\n",
        "use tracing::instrument;\nuse turbowish::init;\n#[instrument]\nasync fn f() { init(); }\n",
        "m! { #[::turbowish::instrument] async fn f() {} }\n",
    ] {
        check_removed(by_others, by_others);
    }
}

#[test]
fn patterns_choose_what_goes() {
    let text =
        "#[::turbowish::instrument] async fn f() {} #[::turbowish::instrument] async fn g() {}\n";
    let expected = "async fn f() {} #[::turbowish::instrument] async fn g() {}\n";
    assert_eq!(remove(text, &filter(&["f"], &[])), expected);
}
