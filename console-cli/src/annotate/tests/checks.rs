//! What `--check` lists.

use super::{Filter, Twin, decide, filter, read};

/// `expected`: line, column and path of what is not covered.
fn check_uncovered(text: &str, expected: &[&str]) {
    let (source, decision) = decide(text, &Filter::default(), false);
    let found: Vec<String> = decision
        .uncovered
        .iter()
        .map(|(at, path)| {
            let (line, column) = source.place(*at);
            format!("{line}:{column} {path}")
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn uncovered_async_fns_are_listed_by_the_place_of_their_name() {
    check_uncovered("async fn f() {}", &["1:10 k::m::f"]);
    check_uncovered(
        "\u{feff}/* ü */ pub async fn f() {}\r\n\r\n\tasync fn g() {}\r\n",
        &["1:22 k::m::f", "3:11 k::m::g"],
    );
    check_uncovered(
        "mod a {\n    impl<T> super::Db<T> {\n        async fn f() {\n            async fn g() {}\n        }\n    }\n}\n",
        &["3:18 k::m::a::Db::f", "4:22 k::m::a::Db::f::g"],
    );
    check_uncovered(
        "impl A for &mut [u8] { async fn f() {} }\nimpl A for (u8,) { async fn r#g() {} }\nimpl dyn B { async fn h() {} }\n",
        &[
            "1:33 k::m::[_]::f",
            "2:29 k::m::(_)::g",
            "3:23 k::m::dyn::h",
        ],
    );
    check_uncovered(
        "trait A { async fn f(); async fn g() {} }\n#[turbowish::instrument]\nasync fn h() {}\n",
        &["1:34 k::m::A::g"],
    );
}

#[test]
fn what_is_left_out_is_counted() {
    let text = "async fn a() {} #[turbowish::instrument(skip)] mod b { async fn c() {} } const async fn d() {}\n#[turbowish::instrument] async fn e() {}";
    let (_, decision) = decide(text, &filter(&[], &["a"]), false);
    let left = decision.left_out;
    let counts = [left.skipped, left.filtered, left.constant, decision.covered];
    assert_eq!((counts, decision.uncovered.len()), ([1, 1, 1, 1], 0));
}

/// `expected`: line, column, the macro and how many are in it.
fn check_hidden(text: &str, expected: &[&str]) {
    let (source, tree) = read(text, &[]);
    let found: Vec<String> = tree
        .hidden
        .iter()
        .map(|hidden| {
            let (line, column) = source.place(hidden.at);
            format!("{line}:{column} {} {}", hidden.count, hidden.within)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn async_fns_inside_macros_are_mentioned() {
    check_hidden(
        "a::cfg_x! {\n    pub async fn f() { g! { async fn h() {} } }\n    impl A { async unsafe extern \"C\" fn i(&self) {} }\n}\n",
        &["1:1 3 cfg_x!"],
    );
    check_hidden(
        "macro_rules! m { ($n:ident $b:block) => { async fn $n() $b } }\n",
        &["1:14 1 macro_rules! m"],
    );
    check_hidden(
        "fn f() { let x = m!(async fn g() {}); m! { async fn h() {} } }\n",
        &["1:18 1 m!", "1:39 1 m!"],
    );
    check_hidden("impl A { m! { async fn f() {} } }\n", &["1:10 1 m!"]);
    check_hidden(
        "const impl A for B { async fn f() {} }\n",
        &["1:1 1 syntax that is not stable"],
    );
    check_hidden(
        "m! { fn f() {} async { fn g() {} } async fn h(); async move || {} }\n",
        &[],
    );
    check_hidden("#[m(async fn f() {})] fn g() {}\nasync fn h();\n", &[]);
}

const TWINS: &[Twin] = &[
    twin("tokio::sync::Mutex", "turbowish::sync::Mutex"),
    twin("tokio::sync::mpsc", "turbowish::sync::mpsc"),
];

const fn twin(plain: &'static str, instrumented: &'static str) -> Twin {
    Twin {
        plain,
        instrumented,
    }
}

/// `expected`: line, column, the path in full and its twin.
fn check_twins(text: &str, expected: &[&str]) {
    let (source, tree) = read(text, TWINS);
    let found: Vec<String> = tree
        .twins
        .iter()
        .map(|found| {
            let (line, column) = source.place(found.at);
            format!("{line}:{column} {} -> {}", found.path, found.twin)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
    // The production table knows what it is given, and no more.
    assert!(read(text, &[]).1.twins.is_empty());
}

#[test]
fn types_with_a_twin_are_listed_where_they_are_brought_in() {
    let mutex = "tokio::sync::Mutex -> turbowish::sync::Mutex";
    let mpsc = "tokio::sync::mpsc -> turbowish::sync::mpsc";
    let at = |place: &str, what: &str| format!("{place} {what}");
    let check = |text: &str, expected: &[String]| {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_twins(text, &expected);
    };
    check(
        "use tokio::sync::Mutex;\nfn f(m: Mutex<u8>) { Mutex::new(1); }\n",
        &[at("1:18", mutex)],
    );
    check(
        "use tokio::sync::{Mutex as M, mpsc, RwLock};\nfn f(m: M<u8>) { mpsc::channel(1); }\n",
        &[at("1:19", mutex), at("1:31", mpsc)],
    );
    check(
        "fn f() { tokio::sync::Mutex::new(1); let x: ::tokio::sync::mpsc::Sender<tokio::sync::Mutex<u8>>; }\n",
        &[at("1:10", mutex), at("1:45", mpsc), at("1:73", mutex)],
    );
    check(
        "use tokio::sync;\nfn f(m: sync::Mutex<u8>) -> sync::Notify { m }\n",
        &[at("2:9", mutex)],
    );
    check(
        "use tokio::{self as t, sync as s};\nfn f(m: s::Mutex<u8>) { t::sync::Mutex::new(1) }\n",
        &[at("2:9", mutex), at("2:25", mutex)],
    );
    check(
        "use tokio::sync::mpsc::{self, Sender};\nuse tokio::sync;\nuse sync::Mutex;\n",
        &[
            at("1:25", mpsc),
            at("1:31", "tokio::sync::mpsc::Sender -> turbowish::sync::mpsc"),
            at("3:11", mutex),
        ],
    );
    check(
        "use tokio::sync::*;\nuse tokio::*;\n",
        &[at("1:12", "tokio::sync::* -> turbowish")],
    );
}

#[test]
fn other_types_are_not() {
    check_twins(
        "use std::sync::Mutex;\nfn f(m: Mutex<u8>) { std::sync::mpsc::channel(); }\n",
        &[],
    );
    check_twins(
        "use turbowish::sync::{Mutex, mpsc};\nfn f(m: Mutex<u8>) {}\n",
        &[],
    );
    check_twins(
        "use tokio::sync::{RwLock, MutexGuard};\nfn f() { Mutex::new(1); sync::Mutex::new(1); }\n",
        &[],
    );
    // What a module imports is not in sight of the next.
    check_twins(
        "mod a { use tokio::sync; }\nfn f(m: sync::Mutex<u8>) {}\n",
        &[],
    );
}
