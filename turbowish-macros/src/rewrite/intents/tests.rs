//! Inferred and declared intents, and the code generated for both.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::ItemFn;

use super::Intents;
use super::{AGAIN, PROVEN, SAID, WILL};
use crate::rewrite::attr::{Arguments, Scope};
use crate::rewrite::tests::{expansion, squeeze};
use crate::rewrite::{raw_body, simple_body};

fn tokens(source: &str) -> TokenStream {
    TokenStream::from_str(source).expect("tokens")
}

/// `will send tx surely, may recv rx surely again`
fn found(arguments: &str, item: &str) -> String {
    let arguments: Arguments = syn::parse2(tokens(arguments)).expect("arguments");
    let head = crate::rewrite::outer_attrs::Head::of(tokens(item).into_iter().collect());
    let mut item: ItemFn = raw_body::parse(&head).expect("a function");
    let written = raw_body::tokens(&item.block);
    let plain = simple_body::mark(&mut item.block, &Scope::new(None)).expect("a body");
    let intents = Intents::of(&arguments.intents, &item.sig, plain.as_ref(), written);
    let all = intents.said.iter().chain(&intents.found);
    let lines: Vec<String> = all
        .map(|(operation, how)| {
            let mut line = if how & WILL != 0 { "will " } else { "may " }.to_owned();
            line += &operation.key;
            for (bit, word) in [(PROVEN, " surely"), (AGAIN, " again"), (SAID, " said")] {
                line += if how & bit != 0 { word } else { "" };
            }
            line
        })
        .collect();
    lines.join(", ")
}

#[track_caller]
fn check(item: &str, expected: &str) {
    assert_eq!(found("", item), expected);
}

/// The body of a function that has all handles, after an await.
#[track_caller]
fn check_body(body: &str, expected: &str) {
    check(
        &format!(
            "async fn f(&mut self, tx: Sender<u8>, mut rx: mpsc::Receiver<u8>, n: u32) {{ ready().await; {body} }}"
        ),
        expected,
    );
}

#[test]
fn what_is_done_on_the_straight_path_will_be() {
    check_body(
        "tx.send(1).await; rx.recv().await;",
        "will send tx surely, will recv rx surely",
    );
    check_body(
        "tx.send(1).await?; let x = self.db.lock().await;",
        "will send tx surely, may lock self.db",
    );
    check_body(
        "let x = rx.recv().await.map(|x| x + 1); x",
        "will recv rx surely",
    );
    check_body("let x = self.db.lock().await; x.get()", "will lock self.db");
    check_body(
        "{ let x = self.db.read().await; } self.db.write().await;",
        "will read self.db, will write self.db",
    );
    check_body("foo(self.db.lock().await)", "will lock self.db");
    check_body(
        "if self.db.lock().await.is_empty() { go(); }",
        "will lock self.db",
    );
    check_body(
        "match rx.recv().await { None => 1, Some(x) => x }",
        "will recv rx surely",
    );
    check_body(
        "let Some(x) = rx.recv().await else { return };",
        "will recv rx surely",
    );
    check_body(
        "for x in 0..3 { go(x); } tx.send(1).await;",
        "will send tx surely",
    );
    check_body(
        "if a { go() } else { stay() } tx.send(1).await;",
        "will send tx surely",
    );
    check_body("info!(\"{}\", n); tx.send(1).await;", "will send tx surely");
    check_body(
        "let x = async { self.one().await? }; tx.send(1).await;",
        "will send tx surely",
    );
    // Not awaited, and still a send.
    check_body("tx.send(1).ok(); go().await;", "will send tx surely");
}

#[test]
fn what_may_be_left_out_may_be() {
    check_body("if a { tx.send(1).await; }", "may send tx surely");
    check_body("if a { return; } tx.send(1).await;", "may send tx surely");
    check_body(
        "let Some(x) = y else { return }; tx.send(x).await;",
        "may send tx surely",
    );
    check_body("go()?; tx.send(1).await;", "may send tx surely");
    check_body("tx.send(go()?).await;", "may send tx surely");
    check_body(
        "if a { go() } else if self.db.lock().await.x { stay() }",
        "may lock self.db",
    );
    check_body(
        "match a { 1 => tx.send(1).await, _ => go() };",
        "may send tx surely",
    );
    check_body(
        "a && self.db.try_get().is_some() && tx.send(1).await;",
        "may send tx surely",
    );
    check_body("a || (tx.send(1).await).is_ok();", "may send tx surely");
    check_body(
        "items.map(|x| tx.send(x)); go().await;",
        "may send tx surely",
    );
    check_body("bail!(\"no\"); tx.send(1).await;", "may send tx surely");
    check_body(
        "join!(tx.send(1), go()); rx.recv().await;",
        "may send tx surely, may recv rx surely",
    );
}

#[test]
fn what_is_in_a_loop_may_be_done_again() {
    check_body(
        "while let Some(x) = rx.recv().await { go(x); }",
        "may recv rx surely again",
    );
    check_body("loop { tx.send(1).await; }", "may send tx surely again");
    check_body(
        "for x in y { tx.send(x).await; }",
        "may send tx surely again",
    );
    check_body(
        "loop { if a { let x = { tx.send(1).await }; } }",
        "may send tx surely again",
    );
    check_body(
        "if a { tx.send(1).await; } else { tx.send(2).await; }",
        "may send tx surely again",
    );
    // Unconditional, and more often than each one is declared separately.
    check_body(
        "tx.send(1).await; tx.send(2).await;",
        "will send tx surely, will send tx surely",
    );
    check_body(
        "tx.send(1).await; tx.send(2).await; tx.send(3).await; tx.send(4).await;",
        "will send tx surely again",
    );
}

/// `rx` is a handle that none of these operations use: it may be moved away.
#[test]
fn what_may_be_another_thing_by_then_is_not_found() {
    for body in [
        "let tx = tx.clone(); tx.send(1).await;",
        "let (tx, _) = channel(1); tx.send(1).await;",
        "if let Some(tx) = self.other() { tx.send(1).await; }",
        "tx = other; tx.send(1).await;",
        "match x { Some(tx) => tx.send(1).await, None => {} };",
        "for tx in all { tx.send(1).await; }",
        "replace(&mut tx, other); tx.send(1).await;",
    ] {
        let found = found(
            "",
            &format!("async fn f(mut tx: &mut Sender<u8>) {{ go().await; {body} }}"),
        );
        assert!(
            !found.contains("will") && !found.contains("surely"),
            "{body}: {found}"
        );
    }
    check_body("self.tx = other; self.tx.send(1).await;", "");
    check_body("take(&mut self.tx); self.tx.send(1).await;", "");
    check_body("fn tx() {} tx.send(1).await;", "");
    // The place may be valid only where it is written.
    check_body("unsafe { self.db.lock().await; }", "");
    check(
        "async unsafe fn f(&self) { go().await; self.db.lock().await; }",
        "",
    );
    // Neither a parameter of a known type nor a field of `self`.
    check_body(
        "n.lock().await; a.b.lock().await; self.a.b.lock().await; a::tx.send(1).await;",
        "",
    );
    check_body(
        "self.stream.read(&mut n).await; self.db().lock().await; self.db.lock();",
        "",
    );
    check_body("spawn(async move { tx.send(1).await; });", "");
    check(
        "async fn f(self: Self) { x().await; self.db.lock().await; }",
        "will lock self.db",
    );
    check("async fn f(db: &Mutex<u8>) { let db = 1; }", "");
}

/// Neither a place, where it is not compiled, nor proven.
#[test]
fn what_may_not_be_compiled_is_not_found() {
    for body in [
        "#[cfg(x)] self.db.lock().await;",
        "#[cfg_attr(y, cfg(x))] self.db.lock().await;",
        "#[cfg(x)] { self.db.lock().await; }",
        "#[cfg(x)] let a = self.db.lock().await;",
        "match a { #[cfg(x)] A => self.db.lock().await, _ => self.db.read().await };",
        "if a { #[cfg(x)] { self.db.lock().await?; } }",
        "ours!(self.db.lock().await);",
        "stringify!(self.db.lock().await);",
        "json!({ \"a\": self.db.lock().await });",
        "self.await.send(1);",
        "#[cfg(x)] tx.send(1).await;",
    ] {
        let item = format!("async fn f(self, tx: Sender<u8>) {{ go(tx).await; {body} }}");
        check(&item, "");
    }
    check_body(
        "#[cfg(x)] self.a.lock().await; self.db.lock().await;",
        "will lock self.db",
    );
    check_body(
        "#[allow(deprecated)] self.db.lock().await; #[expect(x)] if a { self.a.lock().await; }",
        "",
    );
    check_body(
        "#[allow(x)] tx.send(1).await; #[rustfmt::skip] self.db.lock().await;",
        "will send tx surely, will lock self.db",
    );
    check_body(
        "println!(\"{}\", self.db.lock().await);",
        "may lock self.db",
    );
}

/// The intent could not be seen before the wait.
#[test]
fn what_is_awaited_first_is_not_told() {
    check("async fn f(&self) { self.db.lock().await; }", "");
    check(
        "async fn f(&self) { let x = go(); self.db.lock().await.x(x).await }",
        "",
    );
    check(
        "async fn f(db: &Mutex<u8>) { if a { db.lock().await; } }",
        "",
    );
    check("async fn f(db: &Mutex<u8>) { go().await; }", "");
    check(
        "async fn f(mut rx: Receiver<u8>) { while let Some(x) = rx.recv().await {} }",
        "may recv rx surely again",
    );
    check("async fn f(tx: &Sender<u8>) { tx.try_send(1); }", "");
    check("async fn f(&self) { self.tx.send(1); }", "");
    check(
        "async fn f(&self) { self.tx.send(self.rx.recv().await).await; }",
        "will send self.tx",
    );
    check(
        "async fn f(&self) { self.a.lock().await; self.a.lock().await; }",
        "will lock self.a",
    );
    check(
        "async fn f(&self) { self.a.lock().await; if x { self.a.lock().await; } }",
        "may lock self.a",
    );
}

#[test]
fn a_parameter_that_is_a_handle_may_be_used() {
    let check_type = |ty: &str, expected: &str| {
        check(
            &format!("async fn f(x: {ty}) {{ child(&x).await; }}"),
            expected,
        );
    };
    check_type("Sender<u8>", "may send x again");
    check_type(
        "&mut tokio::sync::mpsc::UnboundedReceiver<Vec<u8>>",
        "may recv x again",
    );
    check_type("Arc<Mutex<u8>>", "may lock x again");
    check_type("&'a std::sync::Arc<(RwLock<u8>)>", "may write x again");
    check_type("Box<Semaphore>", "may acquire x again");
    check_type("&Notify", "may wait x again");
    check_type("Option<Sender<u8>>", "");
    check_type("HashMap<Sender<u8>, u8>", "");
    check_type("impl Sender", "");
    check_type("<X as Y>::Sender", "");
    check_type("u8", "");
    // Also used: but a borrowed handle may be replaced.
    check(
        "async fn f(x: Sender<u8>) { go(&mut x).await; x.send(1).await; }",
        "may send x again",
    );
    // Moved away, unless only borrowed.
    check("async fn f(x: Sender<u8>) { child(x).await; }", "");
    check(
        "async fn f(x: &Sender<u8>) { child(x).await; }",
        "may send x again",
    );
    check(
        "async fn f(x: Sender<u8>) { spawn(async move { x.closed().await }); go().await; }",
        "",
    );
    check(
        "async fn f(x: Sender<u8>) { x.closed().await; }",
        "may send x surely again",
    );
    check(
        "async fn f(_: Sender<u8>, (x, y): (Sender<u8>, u8), #[cfg(z)] z: Sender<u8>) { z.a(x).await; }",
        "",
    );
}

/// Only methods that leave the handle in place use it: whether it is used or not, no other call has
/// it while the body runs.
#[test]
fn what_is_never_given_away_is_the_calls_own() {
    let check_body = |body: &str, expected: &str| {
        check(
            &format!("async fn f(&mut self, mut rx: Receiver<u8>) {{ go().await; {body} }}"),
            expected,
        );
    };
    check_body(
        "while let Some(x) = rx.recv().await { go(x)?; }",
        "may recv rx surely again",
    );
    check_body(
        "loop { select! { x = rx.recv() => go(x), _ = stop() => return } }",
        "may recv rx surely again",
    );
    check_body(
        "turbowish::intend!(will recv(rx)); if a { rx.recv().await; }",
        "may recv rx surely",
    );
    check_body(
        "while let Some(x) = rx.try_recv() {} go().await;",
        "may recv rx surely again",
    );
    check_body("if a { self.rx.recv().await; }", "may recv self.rx surely");
    // A foreign method may move it, and so may a closure, a block, or a macro.
    check_body("if a { rx.recv().await; } rx.boxed();", "may recv rx");
    check_body(
        "if a { rx.recv().await; } run(move || rx.try_recv());",
        "may recv rx",
    );
    check_body(
        "if a { rx.recv().await; } theirs!(rx.len());",
        "may recv rx",
    );
    check_body(
        "if a { rx.recv().await; } spawn(async { rx.len() });",
        "may recv rx",
    );
    check_body("if a { rx.recv().await; } drop(rx);", "");
    check_body(
        "if a { self.rx.recv().await; } self.go().await; drop(rx);",
        "may recv self.rx",
    );
}

#[test]
fn proven_is_what_nobody_else_has() {
    let check_type = |ty: &str, expected: &str| {
        check(
            &format!("async fn f(x: {ty}) {{ go().await; x.send(1).await; }}"),
            expected,
        );
    };
    check_type("Sender<u8>", "will send x surely");
    check_type("&mut Sender<u8>", "will send x surely");
    check_type("&Sender<u8>", "will send x");
    check_type("Arc<Sender<u8>>", "will send x");
    check_type("&mut Arc<Sender<u8>>", "will send x");
    check(
        "async fn f(&mut self) { go().await; self.tx.send(1).await; }",
        "will send self.tx",
    );
    check(
        "async fn f(&mut self) { go().await; self.rx.recv().await; }",
        "will recv self.rx surely",
    );
    for other in ["self.connect()", "connect(self)", "self.connect::<A>()"] {
        check(
            &format!("async fn f(&mut self) {{ {other}.await; self.rx.recv().await; }}"),
            "will recv self.rx",
        );
    }
}

/// As `$e:expr` and `$b:block` come from a macro.
#[test]
fn what_another_macro_was_given_depends() {
    let given = |before: &str, given: &str| {
        let group = |delimiter, source: &str| {
            TokenTree::Group(Group::new(delimiter, tokens(source))).into()
        };
        let braced: TokenStream = group(Delimiter::Brace, given);
        let inside = group(Delimiter::None, &braced.to_string());
        let written: TokenStream = [tokens("go().await;"), tokens(before), inside]
            .into_iter()
            .collect();
        let item: ItemFn = syn::parse_str("async fn f(tx: Sender<u8>) {}").expect("a function");
        let intents = Intents::of(&[], &item.sig, None, Some(written));
        let found = intents.found.iter();
        found
            .map(|(operation, how)| format!("{} {how}", operation.key))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(given("if a", "tx.send(1).await;"), "send tx 4");
    assert_eq!(given("for a in b", "tx.send(1).await;"), "send tx 6");
    assert_eq!(given("let a = async move", "tx.send(1).await;"), "");
    assert_eq!(given("let a = ", "tx.send(1).await"), "send tx 5");
}

#[test]
fn what_is_said_and_found_is_one() {
    let check = |arguments: &str, body: &str, expected: &str| {
        let item = format!("async fn f(&self, tx: Sender<u8>, mut rx: Receiver<u8>) {{ {body} }}");
        assert_eq!(found(arguments, &item), expected, "{arguments}: {body}");
    };
    check(
        "intends(send(tx))",
        "tx.send(1).await;",
        "will send tx said",
    );
    check(
        "may(send(tx))",
        "go().await; tx.send(1).await;",
        "will send tx surely said",
    );
    check(
        "intends(send(tx))",
        "go().await; if a { tx.send(1).await; }",
        "will send tx surely said",
    );
    check(
        "intends(recv(rx))",
        "loop { select! { x = rx.recv() => {} } }",
        "will recv rx surely again said",
    );
    check(
        "intends(recv(rx))",
        "loop { rx.recv().await; }",
        "will recv rx surely again said",
    );
    check(
        "intends(send(tx))",
        "go().await; tx.send(1).await; tx.send(2).await;",
        "will send tx surely again said",
    );
    check(
        "intends(lock(self.db), lock(*self.a.b)), may(wait(DONE))",
        "",
        "will lock self.db said, will lock *self.a.b said, may wait DONE said",
    );
}

#[test]
fn one_statement_tells_all_of_them() {
    let printed = expansion(
        "intends(lock(self.db))",
        "async fn f(&self, tx: Sender<u8>) { go().await; tx.send(1).await; }",
    );
    let expected = squeeze(
        "let __turbowish_intents = {
            use ::turbowish::__private::NotResource as _;
            ::turbowish::__private::declare(::turbowish::__private::verb::Lock, &self.db, 9u8,
                ::turbowish::__private::MaybeResource(::turbowish::__private::verb::Send, &tx).__turbowish_mean(5u8,
                    ::turbowish::__private::NoIntents))
        };
        ::turbowish::__private::at(&__TURBOWISH_PROC, 0u32, go()).await;",
    );
    assert!(printed.contains(&expected), "{printed}");
    let field = expansion(
        "",
        "async fn f(&self) { go().await; self._db.lock().await; }",
    );
    let expected = squeeze(
        "#[allow(clippy::used_underscore_binding)]
        let __turbowish_intents = {
            use ::turbowish::__private::NotResource as _;
            use ::turbowish::__private::OwnFields as _;
            ::turbowish::__private::MaybeResource(::turbowish::__private::verb::Lock,
                if ::turbowish::__private::Fields::<Self>::new().__turbowish_are_own() {
                    ::turbowish::__private::core::option::Option::Some(&self._db)
                } else {
                    ::turbowish::__private::core::option::Option::None
                }).__turbowish_mean(1u8, ::turbowish::__private::NoIntents)
        };",
    );
    assert!(field.contains(&expected), "{field}");
    let none = expansion(
        "",
        "async fn f(&self) { self.db.lock().await; go().await; }",
    );
    assert!(!none.contains("intents"), "{none}");
    let alone = expansion("may(read(MAP))", "fn f() { go() }");
    let expected = squeeze(
        "let __turbowish_intents = {
            ::turbowish::__private::declare(::turbowish::__private::verb::Read, &MAP, 8u8, ::turbowish::__private::NoIntents)
        };",
    );
    assert!(alone.contains(&expected), "{alone}");
}
