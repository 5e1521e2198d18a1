//! Output of `--check`.

use super::super::tokio_types::WRAPPED;
use super::{Filter, decide, filter, read};

/// `expected`: line, column and path of each function that is not covered.
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
        &["1:1 1 unstable syntax"],
    );
    check_hidden(
        "m! { fn f() {} async { fn g() {} } async fn h(); async move || {} }\n",
        &[],
    );
    check_hidden("#[m(async fn f() {})] fn g() {}\nasync fn h();\n", &[]);
}

/// `expected`: line, column, the path in full and what to write instead.
fn check_types(text: &str, expected: &[&str]) {
    let (source, tree) = read(text, WRAPPED);
    let found: Vec<String> = tree
        .tokio_types
        .iter()
        .map(|found| {
            let (line, column) = source.place(found.at);
            format!("{line}:{column} {} -> {}", found.path, found.instead)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn types_of_tokio_are_listed_where_they_are_brought_in() {
    let mutex = "tokio::sync::Mutex -> turbowish::sync::Mutex";
    let mpsc = "tokio::sync::mpsc -> turbowish::sync::mpsc";
    let sleep = "tokio::time::sleep -> turbowish::time::sleep";
    let at = |place: &str, what: &str| format!("{place} {what}");
    let check = |text: &str, expected: &[String]| {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_types(text, &expected);
    };
    check(
        "use tokio::sync::Mutex;\nfn f(m: Mutex<u8>) { Mutex::new(1); }\n",
        &[at("1:18", mutex)],
    );
    check(
        "use tokio::sync::{AcquireError, Mutex as M, mpsc};\nfn f(m: M<u8>) { mpsc::channel(1); }\n",
        &[at("1:33", mutex), at("1:45", mpsc)],
    );
    check(
        "fn f() { tokio::sync::Mutex::<u8>::const_new; let x: ::tokio::sync::mpsc::Sender<tokio::sync::Mutex<u8>>; }\n",
        &[
            at(
                "1:10",
                "tokio::sync::Mutex::const_new -> turbowish::sync::Mutex::const_new",
            ),
            at(
                "1:54",
                "tokio::sync::mpsc::Sender -> turbowish::sync::mpsc::Sender",
            ),
            at("1:82", mutex),
        ],
    );
    // The module is swapped as a whole.
    check(
        "use tokio::sync;\nfn f(m: sync::Mutex<u8>) -> sync::Notify { m }\n",
        &[at("1:12", "tokio::sync -> turbowish::sync")],
    );
    check(
        "use tokio::{self as t, time};\nfn f(m: t::sync::Mutex<u8>) { time::sleep(x); time::Instant::now() }\n",
        &[at("2:9", mutex), at("2:31", sleep)],
    );
    check(
        "use tokio::sync::mpsc::{self, Sender, error::SendError};\n",
        &[
            at("1:25", mpsc),
            at(
                "1:31",
                "tokio::sync::mpsc::Sender -> turbowish::sync::mpsc::Sender",
            ),
        ],
    );
    check(
        "use tokio::sync::*;\nuse tokio::sync::mpsc::*;\nuse tokio::time::*;\nuse tokio::*;\nuse tokio::net::*;\n",
        &[
            at("1:12", "tokio::sync::* -> turbowish::sync::*"),
            at("2:18", "tokio::sync::mpsc::* -> turbowish::sync::mpsc::*"),
            at("3:12", "tokio::time::* -> turbowish::time::*"),
            at("4:5", "tokio::* -> turbowish::sync, turbowish::spawn"),
        ],
    );
}

#[test]
fn calls_of_tokio_are_listed_also_in_macros() {
    let check = |text: &str, expected: &[&str]| check_types(text, expected);
    check(
        "fn f() {\n    tokio::spawn(g());\n    tokio::task::spawn_blocking(h);\n}\n",
        &["2:5 tokio::spawn -> turbowish::spawn"],
    );
    check(
        "use tokio::task::{self, JoinSet};\nfn f() { task::spawn_local(g()); task::yield_now(); }\n",
        &[
            "1:25 tokio::task::JoinSet -> turbowish::JoinSet",
            "2:10 tokio::task::spawn_local -> turbowish::spawn_local",
        ],
    );
    check(
        "use tokio::time;\nasync fn f() {\n    tokio::select! {\n        _ = time::sleep(d) => { ::tokio::spawn(g()); }\n        x = y.tokio::spawn => z::tokio::spawn(),\n    }\n}\n",
        &[
            "4:13 tokio::time::sleep -> turbowish::time::sleep",
            "4:35 tokio::spawn -> turbowish::spawn",
        ],
    );
    check(
        "macro_rules! m { ($t:ident) => { tokio::spawn($t); $tokio::spawn(); $crate::sync::Mutex } }\n",
        &["1:34 tokio::spawn -> turbowish::spawn"],
    );
}

#[test]
fn other_types_are_not() {
    for text in [
        "use std::sync::Mutex;\nfn f(m: Mutex<u8>) { std::sync::mpsc::channel(); }\n",
        "use turbowish::sync::{Mutex, mpsc};\nfn f(m: Mutex<u8>) {}\n",
        "use tokio::sync::{SetError, TryLockError};\nfn f() { Mutex::new(1); sync::Mutex::new(1); }\n",
        "use tokio::time::{Duration, Instant, MissedTickBehavior};\nuse tokio::{io, net, select};\n",
        "fn f(e: tokio::sync::mpsc::error::SendError<u8>, r: tokio::sync::watch::Ref<u8>) {}\n",
        // What a module imports is not in sight of the next.
        "mod a { use tokio::time; }\nfn f() { time::sleep(d); }\n",
        // Text.
        "/// tokio::spawn\nfn f() { println!(\"tokio::spawn\"); }\n",
    ] {
        check_types(text, &[]);
    }
}
