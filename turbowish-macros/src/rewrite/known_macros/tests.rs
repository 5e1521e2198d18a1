//! Parsing of macro arguments, and the rewriting of the macro and of the statement around it.

use quote::ToTokens;
use syn::{Expr, Macro};

use super::{MacroKind, read};
use crate::rewrite::tests::{expansion, squeeze};

/// The body of a function after the rewriting, without what stands before and after it.
fn rewritten(body: &str) -> String {
    let expansion = expansion("", &format!("async fn f() {{ {body} }}"));
    let (_, rest) = expansion.split_once("async move{").unwrap();
    let (body, _) = rest.rsplit_once("});").unwrap();
    // Before a body that may have a value.
    body.trim_start_matches("if false{return;}").to_owned()
}

/// `AT(N, x)` marks an await, `ENTER(N)` a statement, `BACK(N, x)` an await behind which a macro
/// awaits by itself.
#[track_caller]
fn check(body: &str, expected: &str) {
    let at = "::turbowish::__private::at(&__TURBOWISH_PROC,";
    let mut expected = expected
        .replace("BACK(", &at.replace("at(", "back("))
        .replace("AT(", at);
    for index in 0..4 {
        expected = expected.replace(&format!("ENTER({index})"), &format!("{at}{index}u32,())"));
    }
    let expected = squeeze(&expected);
    assert_eq!(rewritten(body), expected, "{body}");
}

#[test]
fn macros_that_may_await_are_entered_with_a_marker() {
    // Statements, tails, initial values; braces, parentheses and brackets.
    check("select! { a => {} }", "ENTER(0); select! { a => {} }");
    check(
        "tokio::join!(a, b); c()",
        "ENTER(0); tokio::join!(a, b); c()",
    );
    check(
        "let x = try_join!(a)?; own![x]",
        "ENTER(0); let x = try_join!(a)?; ENTER(1); own![x]",
    );
    check(
        "let Some(x) = own!(a) else { return own!(b) };",
        "ENTER(0); let Some(x) = own!(a) else { ENTER(1); return own!(b) };",
    );
    check("return own!(a)", "ENTER(0); return own!(a)");
    check("f(own!(a), b(own!(c)))", "ENTER(0); f(own!(a), b(own!(c)))");
    // The marker is there if the macro is.
    check(
        "#[cfg(x)] own!(a);",
        "#[cfg(x)] ENTER(0); #[cfg(x)] own!(a);",
    );
    check(
        "#[allow(y)] #[cfg(x)] let a = own!(a);",
        "#[cfg(x)] ENTER(0); #[allow(y)] #[cfg(x)] let a = own!(a);",
    );
    // Futures made by macros, and awaited in sight.
    check("own!(a).await", "AT(0u32, own!(a)).await");
    check(
        "own!(a.await).await",
        "ENTER(0); AT(1u32, own!(a.await)).await",
    );
    check("a.await; own!(b)", "AT(0u32, a).await; ENTER(1); own!(b)");
    // Statements of their own.
    check(
        "if own!(a) { own!(b) } else { c }",
        "ENTER(0); if own!(a) { ENTER(1); own!(b) } else { c }",
    );
    check("loop { own!(a) }", "loop { ENTER(0); own!(a) }");
    check(
        "for a in b { own!(a); }",
        "for a in b { ENTER(0); own!(a); }",
    );
    check(
        "match a { B if own!(b) => c, D => e }",
        "ENTER(0); match a { B if own!(b) => c, D => e }",
    );
    check(
        "match a { B => own!(b), c => select! { c }, D => e(), F => {} }",
        "match a { B => { ENTER(0); own!(b) }, c => { ENTER(1); select! { c } }, D => e(), F => {} }",
    );
    check(
        "'l: while let Some(a) = own!(a) { f(a) }",
        "'l: loop { ENTER(0); if let Some(a) = own!(a) { f(a) } else { break } }",
    );
    check("while a { b!() }", "while a { ENTER(0); b!() }");
    // What is not this body's own.
    for body in [
        "f(|| own!(a)); let g = async move |x| own!(x);",
        "fn inner() { own!(a) }",
        "macro_rules! own { (a) => { a.await } }",
        "const { own!(a) };",
        "let x: own!(a) = b;",
        "let own!(a) = b;",
        "while println!(a) {}",
        "match a { B => println!(b), C => {} }",
    ] {
        check(body, body);
    }
    assert!(expansion("", "async fn f() { spawn(async { own!(a) }) }").contains(&squeeze(
        "let __turbowish_future = async { ::turbowish::__private::at(&__TURBOWISH_PROC, 0u32, ()); own!(a) };"
    )));
}

#[test]
fn awaits_in_expressions_are_numbered() {
    for (body, expected) in [
        ("println!(a); vec![b]", "println!(a); vec![b]"),
        (
            "vec![a.await, b, c.await]",
            "vec![AT(0u32, a).await, b, AT(1u32, c).await]",
        ),
        ("vec![a.await; 3]", "vec![AT(0u32, a).await; 3]"),
        (
            "println!(\"{} {n}\", a.await, n = b(c.await).await,);",
            "println!(\"{} {n}\", AT(0u32, a).await, n = AT(2u32, b(AT(1u32, c).await)).await,);",
        ),
        (
            "std::matches!(f(a.await), B | C)",
            "std::matches!(f(AT(0u32, a).await), B | C)",
        ),
        (
            "matches!(a, Some(b) if b.await,)",
            "matches!(a, Some(b) if AT(0u32, b).await,)",
        ),
        (
            "assert_eq!(a.await, b, \"{}\", c.await)",
            "assert_eq!(AT(0u32, a).await, b, \"{}\", AT(1u32, c).await)",
        ),
        (
            "assert!(a.await, \"m\")",
            "assert!(AT(0u32, a).await, \"m\")",
        ),
        (
            "write!(a.await, \"{}\", b.await).await",
            "AT(2u32, write!(AT(0u32, a).await, \"{}\", AT(1u32, b).await)).await",
        ),
        (
            "assert_matches!(a.await, Ok(b) if c => d)",
            "assert_matches!(AT(0u32, a).await, Ok(b) if c => d)",
        ),
        (
            "tokio::pin! { let a = b.await; let mut c = d; }",
            "tokio::pin! { let a = AT(0u32, b).await; let mut c = d; }",
        ),
        (
            "pin!(a, b); pin!(a(b.await))",
            "pin!(a, b); pin!(a(AT(0u32, b).await))",
        ),
        // A macro in a macro.
        (
            "println!(\"{}\", vec![a.await])",
            "println!(\"{}\", vec![AT(0u32, a).await])",
        ),
        (
            "println!(\"{}\", own!(a))",
            "ENTER(0); println!(\"{}\", own!(a))",
        ),
        (
            "vec![{ own!(a); b.await }]",
            "vec![{ ENTER(0); own!(a); AT(1u32, b).await }]",
        ),
        // Fields and messages.
        (
            "info!(target: \"t\", parent: &p, a.b = ?x.await, \"c\" = %y, d = z.await, ?e, f, \"{}\", w.await)",
            "info!(target: \"t\", parent: &p, a.b = ?AT(0u32, x).await, \"c\" = %y, d = AT(1u32, z).await, ?e, f, \"{}\", AT(2u32, w).await)",
        ),
        (
            "log::info!(target: \"t\", a:? = x.await, b:err = y.await, c:%; \"{n}\", n = z.await)",
            "log::info!(target: \"t\", a:? = AT(0u32, x).await, b:err = AT(1u32, y).await, c:%; \"{n}\", n = AT(2u32, z).await)",
        ),
        (
            "span!(Level::INFO, \"n\", a = x(y).await)",
            "span!(Level::INFO, \"n\", a = AT(0u32, x(y)).await)",
        ),
        (
            "event!(Level::INFO, { B } = ?x.await, { c = 1 }, \"m\")",
            "event!(Level::INFO, { B } = ?AT(0u32, x).await, { c = 1 }, \"m\")",
        ),
    ] {
        check(body, expected);
    }
}

#[test]
fn what_is_printed_as_written_stays() {
    for (body, expected) in [
        ("assert!(a.await)", "ENTER(0); assert!(a.await)"),
        ("assert!(a.await,)", "ENTER(0); assert!(a.await,)"),
        ("dbg!(a, b(c.await))", "ENTER(0); dbg!(a, b(c.await))"),
        (
            "ensure!(a.await == 1, \"m\")",
            "ENTER(0); ensure!(a.await == 1, \"m\")",
        ),
        ("info!(?a.await, \"m\")", "ENTER(0); info!(?a.await, \"m\")"),
        (
            "info!(a.b.await, \"m\")",
            "ENTER(0); info!(a.b.await, \"m\")",
        ),
        (
            "span!(L, \"n\", a.await)",
            "ENTER(0); span!(L, \"n\", a.await)",
        ),
        (
            "assert!(matches!(a.await, B) && c!())",
            "ENTER(0); assert!(matches!(a.await, B) && c!())",
        ),
        ("assert!(async { a.await })", "assert!(async { a.await })"),
        ("stringify!(a.await)", "stringify!(a.await)"),
        (
            "json!({ \"a\": b.await })",
            "ENTER(0); json!({ \"a\": b.await })",
        ),
        ("json!({ \"a\": b })", "json!({ \"a\": b })"),
        (
            "crate::println!(a.await)",
            "ENTER(0); crate::println!(a.await)",
        ),
        ("crate::println!(a)", "crate::println!(a)"),
        ("own!(a.await)", "ENTER(0); own!(a.await)"),
        // Not the forms that are known.
        ("println!(a.await => b)", "ENTER(0); println!(a.await => b)"),
        (
            "select! { recv(a) -> b => c.await }",
            "ENTER(0); select! { recv(a) -> b => c.await }",
        ),
        (
            "info!(a; \"b\" => c.await)",
            "ENTER(0); info!(a; \"b\" => c.await)",
        ),
    ] {
        check(body, expected);
    }
}

#[test]
fn what_awaits_by_itself_is_a_place() {
    for (body, expected) in [
        (
            "select! { biased; Some(a) | Ok(a) = b, if c => { d.await } _ = e => f, else => g.await, }",
            "ENTER(0); select! { biased; Some(a) | Ok(a) = b, if c => { AT(1u32, d).await } _ = e => f, else => AT(2u32, g).await, }",
        ),
        (
            "futures::select! { a = b => c.await, complete => break, default => { d.await } }",
            "ENTER(0); futures::select! { a = b => AT(1u32, c).await, complete => break, default => { AT(2u32, d).await } }",
        ),
        // Awaits before the wait, and behind it.
        (
            "select! { a = b(c.await), if d.await => e.await }",
            "ENTER(0); select! { a = b(BACK(0u32, AT(1u32, c)).await), if BACK(0u32, AT(2u32, d)).await => AT(3u32, e).await }",
        ),
        (
            "x(tokio::join!(biased; a(b.await)))",
            "ENTER(0); x(tokio::join!(biased; a(BACK(0u32, AT(1u32, b)).await)))",
        ),
        // Arms are statements of their own.
        (
            "select! { a = b => own!(a), c = d => select! { e = f => g.await } }",
            "ENTER(0); select! { a = b => { ENTER(1); own!(a) }, c = d => { ENTER(2); select! { e = f => AT(3u32, g).await } } }",
        ),
        (
            "select! { a = b => match a { C => own!(a) }, else => {} }",
            "ENTER(0); select! { a = b => match a { C => { ENTER(1); own!(a) } }, else => {} }",
        ),
    ] {
        check(body, expected);
    }
}

#[test]
fn blocks_in_arguments_are_procs_of_their_own() {
    for (body, part) in [
        (
            "join!(async { a.await }, b)",
            "join!({ static __TURBOWISH_PROC",
        ),
        (
            "pin!(async move { a.await })",
            "pin!({ static __TURBOWISH_PROC",
        ),
        (
            "select! { a = async { b.await } => {} }",
            "select! { a = { static __TURBOWISH_PROC",
        ),
        (
            "f(|| vec![async {}])",
            "f(|| vec![{ static __TURBOWISH_PROC",
        ),
    ] {
        let body = rewritten(body);
        assert!(body.contains(&squeeze(part)), "{body}");
    }
}

#[test]
fn arguments_are_put_together_as_they_were() {
    for source in [
        "println!(\"{a} {}\", b!(), c = d,)",
        "assert!(a!(), \"{}\", b)",
        "matches!(a!(), B(c) | D { .. } if c!())",
        "select! { biased; (a, _) = b!(), if c || d => {} e @ 1..=2 = async { f } => g?, else => return }",
        "pin!(let a = b!();)",
        "info!({ a = b }, c = %d!(), \"{}\", e)",
        "dbg!(a!(), b,)",
    ] {
        let invocation: Macro = syn::parse_str(source).unwrap();
        let MacroKind::Read(arguments) = read(&invocation) else {
            panic!("{source} is not read");
        };
        assert_eq!(
            squeeze(&arguments.into_token_stream().to_string()),
            squeeze(&invocation.tokens.to_string())
        );
    }
}

#[test]
fn a_marker_is_where_its_macros_or_awaits_stand() {
    for (body, expected) in [
        (
            "\n  tokio::select! {\n    a => {}\n  }",
            r#"2 3 4 3 tokio::select! {..}"#,
        ),
        ("let é = own![ a ];", r#"1 24 1 32 own![..]"#),
        ("f(a!(x), b! { y })", r#"1 18 1 32 a!(..), b! {..}"#),
        ("assert!(a(1).await);", r#"1 24 1 33 a(1)"#),
        ("assert!(a.await + b.await);", r#"1 24 1 40 a, b"#),
        ("assert!({ let x = a.await; x });", r#"1 34 1 40 a"#),
        ("assert!(matches!(a?.await, B));", r#"1 33 1 40 a?"#),
        ("vec![dbg!(a.await)];", r#"1 26 1 32 a"#),
        ("assert!(own!(a.await));", r#"1 24 1 36 own!(..)"#),
    ] {
        let expansion = expansion("", &format!("async fn f() {{ {body} }}"));
        let expected = squeeze(&format!("\\n{}", expected.escape_debug()));
        assert!(expansion.contains(&expected), "{expected}\n{expansion}");
    }
}

#[test]
fn an_expression_is_not_read_as_another() {
    // What `syn` accepts and the macro would not, the compiler still refuses: the tokens are the
    // same.
    let Expr::Macro(invocation) = syn::parse_str("println!(a.await b)").unwrap() else {
        panic!("no macro");
    };
    assert!(matches!(read(&invocation.mac), MacroKind::Opaque));
}
