//! What is printed for what is written; `ui-tests` proves that it means the same.

use std::str::FromStr;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ItemFn};

use super::attr::Scope;
use super::shape::{self, Shape};
use super::site::Site;
use super::{inert, instrument};

/// Source without blanks, but for those between two words: what tokens are, whatever they look
/// like.
pub(super) fn squeeze(source: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut squeezed = String::new();
    for word in source.split_whitespace() {
        if squeezed.ends_with(is_word) && word.starts_with(is_word) {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    squeezed
}

fn tokens(source: &str) -> TokenStream {
    TokenStream::from_str(source).unwrap()
}

pub(super) fn expansion(arguments: &str, item: &str) -> String {
    let expansion = instrument(tokens(arguments), tokens(item)).to_string();
    squeeze(&in_no_file(&expansion))
}

/// The parser numbers the texts that it reads as if they were files.
fn in_no_file(expansion: &str) -> String {
    let mut parts = expansion.split("<parsed string ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("FILE");
        text.push_str(part.split_once('>').map_or("", |(_, rest)| rest));
    }
    text
}

#[track_caller]
fn check(arguments: &str, item: &str, expected: &str) {
    assert_eq!(expansion(arguments, item), squeeze(expected));
}

#[test]
fn an_async_fn_returns_its_call() {
    check(
        "",
        "pub async fn get(&self, key: &str, n: u32) -> Result<u32, E> { self.read(key).await }",
        r#"pub fn get(&self, key: &str, n: u32) -> impl ::turbowish::__private::Future<Output = Result<u32, E> > where {
            static __TURBOWISH_PROC: ::turbowish::__private::Proc = ::turbowish::__private::Proc::new::<__TurbowishPath>(
                "", "1 FILE\n1 64 1 83 self.read(key)"
            );
            struct __TurbowishPath;
            return ::turbowish::__private::call(|| __TURBOWISH_PROC.as_static(), {
                use ::turbowish::__private::probe::Unknown as _;
                ::turbowish::__private::probe::Output::<Result<u32, E> >::__TURBOWISH_PROBE
            }, async move {
                let _ = &n;
                if false {
                    return ::turbowish::__private::unreached::<Result<u32, E> >();
                }
                ::turbowish::__private::at(&__TURBOWISH_PROC, 0u32, self.read(key)).await
            });
        }"#,
    );
}

#[test]
fn our_statements_come_behind_what_a_body_uses() {
    check_parts(
        "async fn f(x: X) { use a::{b, c}; use d::*; x.b().await; }",
        &[
            "{ use a::{b, c}; use d::*; let _ = &x; ::turbowish::__private::at(&__TURBOWISH_PROC, 0u32, x.b()).await; }",
        ],
    );
    check_parts(
        "async fn f() { use a::b; b! { x } }",
        &[
            "{ use a::b; if false { return; } ::turbowish::__private::at(&__TURBOWISH_PROC, 0u32, ()); b! { x } }",
        ],
    );
}

#[test]
fn a_plain_fn_is_one_poll() {
    check(
        r#"name = "once", crate = crate::tw"#,
        "fn f() -> u32 { 1 }",
        r#"fn f() -> u32 {
            static __TURBOWISH_PROC: crate::tw::__private::Proc = crate::tw::__private::Proc::new::<__TurbowishPath>(
                "once", "1 FILE"
            );
            struct __TurbowishPath;
            let __turbowish_entered = crate::tw::__private::enter(&__TURBOWISH_PROC);
            1
        }"#,
    );
}

/// Items that are to stay as they are, token for token.
#[test]
fn what_is_not_asked_for_is_left_alone() {
    for (arguments, item) in [
        ("skip", "async fn f() { g().await }"),
        ("skip", "struct S;"),
        ("", "impl S { fn sync(&self) {} const N: u32 = 1; }"),
        ("", "trait T { async fn f(&self); fn g(&self) {} }"),
        // Newer than what can be read.
        ("", "async gen fn f() { yield 1; }"),
        ("", "async fn f() { for await x in y {} }"),
        ("", "impl S { async fn f() { do yeet async { 1 } } }"),
        ("", "auto trait A {}"),
        (
            "",
            "mod m { macro_rules! m { () => { async fn f() {} } } m!(); struct S; mod file; }",
        ),
    ] {
        check(arguments, item, item);
    }
    for (item, rest) in [
        (
            "impl S { #[turbowish::instrument(skip)] async fn f() {} }",
            "impl S { async fn f() {} }",
        ),
        (
            "impl S { #[instrument(skip)] async fn f() {} }",
            "impl S { async fn f() {} }",
        ),
        (
            "mod m { #[turbowish::instrument(skip)] impl S { async fn f() {} } }",
            "mod m { impl S { async fn f() {} } }",
        ),
        (
            "trait T { #[turbowish::instrument(skip)] async fn f(&self); }",
            "trait T { async fn f(&self); }",
        ),
    ] {
        check("", item, rest);
    }
}

#[track_caller]
fn check_parts(item: &str, parts: &[&str]) {
    let arguments = if item.contains("static") {
        "name = \"renamed\""
    } else {
        ""
    };
    let expansion = expansion(arguments, item);
    for part in parts {
        assert!(
            expansion.contains(&squeeze(part)),
            "{item}\nlacks {part}\nin {expansion}"
        );
    }
}

#[test]
fn an_expansion_contains_what_makes_it_right() {
    for (item, parts) in [
        // All arguments but the first are bound in order, if they may drop something.
        (
            "async fn f(a: A, (b, _): B, mut c: C, _: D) {}",
            &[
                "fn f(a: A, __turbowish_argument_1: B, c: C, __turbowish_argument_3: D)",
                "let _ = &a;",
                "let __turbowish_argument_1 = __turbowish_argument_1;",
                "let (b, _) = __turbowish_argument_1;",
                "let mut c = c;",
                "let __turbowish_argument_3 = __turbowish_argument_3;",
            ][..],
        ),
        (
            "async fn f(a: A, ref mut b: B) {}",
            &[
                "#[allow(unused_mut)] let mut __turbowish_argument_1 = __turbowish_argument_1; #[allow(clippy::shadow_reuse, clippy::shadow_same)] let ref mut b =",
            ],
        ),
        (
            "async fn f(mut a: u32) {}",
            &["fn f(mut a: u32) -> impl ::turbowish::__private::Future<Output = ()>"],
        ),
        (
            "async fn f(&self, _a: &A, #[cfg(x)] (b, _): (u32, &B), c: Option<&mut C>, d: D) {}",
            &[
                "let _ = &self; #[allow(clippy::used_underscore_binding, clippy::no_effect_underscore_binding)] let _ = &_a;",
                "#[cfg(x)] let __turbowish_argument_2",
                "let _ = &c; let _ = &d;",
            ],
        ),
        // The type of the body, where it can be written.
        (
            "async fn f() -> Result<impl T, E> {}",
            &["return ::turbowish::__private::unreached::<Result<_, E> >();"],
        ),
        (
            "async fn f() -> impl T {}",
            &["async move {}", "probe::Other"],
        ),
        (
            "async fn f() -> ! { g().await }",
            &[
                "fn f() -> impl ::turbowish::__private::Future<Output = <fn() -> ! as ::turbowish::__private::Returns>::Output> where {",
            ],
        ),
        (
            "#[x] async fn f(_: A, (b, _): B) -> ! { g().await }",
            &[
                "#[x] async fn f(_: A, (b, _): B) -> !",
                "async move { let _ = &b; if false {",
                "match ::turbowish::__private::call",
                ".await {}",
            ],
        ),
        (
            "#[must_use] async fn f(a: A, _: A, (b, _): B, c: C) {}",
            &[
                "#[must_use] async fn f(a: A, __turbowish_argument_1: A, __turbowish_argument_2: B, c: C) {",
                "async move { let _ = &__turbowish_argument_1; let _ = &a; let __turbowish_argument_2",
                "let c = c;",
            ],
        ),
        // Another macro has yet to read the function, and may make a value of its body: `let value
        // = { … };`
        (
            "#[tokio::main] async fn main() { g().await }",
            &[
                "#[tokio::main] async fn main() {",
                ", __turbowish_future).await }",
            ],
        ),
        (
            "#[async_trait] impl T for S { async fn f(&self) {} }",
            &["async fn f(&self) {", ", __turbowish_future).await }"],
        ),
        // It may put the body into a box that outlives an argument which the body does not use.
        (
            "#[tool] async fn f(a: &A, b: B) { g().await }",
            &["async move { let _ = &b; if false { return; } ::turbowish"],
        ),
    ] {
        check_parts(item, parts);
    }
}

#[test]
fn an_argument_that_changes_changes_as_in_the_plain_function() {
    for (item, parts) in [
        // A local may live shorter than what is passed.
        (
            "async fn f(mut a: Vec<&str>, b: B, mut c: Vec<u8>) { a.push(&c); }",
            &[
                "fn f(a: Vec<&str>, b: B, c: Vec<u8>) ->",
                "let mut a = a; #[allow(clippy::shadow_reuse, clippy::shadow_same)] let b = b;",
            ],
        ),
        (
            "#[tool] async fn f(a: A, mut b: &str, c: C) {}",
            &[
                "async fn f(a: A, mut b: &str, c: C)",
                "async move { let _ = &a; let _ = &mut b; #[allow(unused_mut)] #[allow(clippy::shadow_reuse, clippy::shadow_same)] let mut b = b; #[allow(clippy::shadow_reuse, clippy::shadow_same)] let c = c;",
            ],
        ),
        // What is assigned only is read by a drop that the compiler does not see.
        (
            "async fn f(mut self, mut a: u32) { a = 1; self.b = a; match a { 1 => self.c += 1, _ => {} } }",
            &[
                "Other, async move",
                "{ let _ = &self; let _ = &a; if false { return; } a = 1; #[allow(unused_assignments)] (self.b = a); match a { #[allow(unused_assignments)] 1 =>",
            ],
        ),
    ] {
        check_parts(item, parts);
    }
}

#[test]
fn a_block_that_a_function_ends_in_is_its_call() {
    for (item, parts) in [
        // Blocks of their own.
        (
            "async fn f() { spawn(async move { x.await; Ok(1) }) }",
            &[
                "spawn({ static __TURBOWISH_PROC",
                "(\"async@1\", \"1 FILE\\n1 35 1 41 x\");",
                "let __turbowish_future = async move { ::turbowish::__private::at(&__TURBOWISH_PROC, 0u32, x).await; Ok(1) };",
                "probe()",
            ][..],
        ),
        (
            "fn f() -> Pin<Box<dyn Future<Output = Result<A, B>>>> { Box::pin(async move { g().await }) }",
            &[
                "Box::pin({ let __turbowish_future = async move { if false {",
                "return ::turbowish::__private::unreached::<Result<A, B> >();",
            ],
        ),
        // A macro that has yet to look for the block finds it.
        (
            "#[x] fn f() -> B { Box::pin(async move { g().await }) }",
            &[
                "Box::pin(async move { let __turbowish_future = async move {",
                "__turbowish_future).await })",
            ],
        ),
        (
            "impl S { fn f(&self) -> BoxFuture<'_, u32> { async move { g().await }.boxed() } fn g() -> impl Future { async {} } }",
            &[
                "{ let __turbowish_future = async move {",
                "}.boxed()",
                "probe::OutputOf::<BoxFuture<'_, u32> >::__TURBOWISH_PROBE",
                "fn g() -> impl Future { static",
            ],
        ),
        (
            "fn main() { let body = async { g().await }; rt().block_on(body) }",
            &[
                "let body = { let __turbowish_future = async {",
                "probe::Other",
            ],
        ),
        (
            "fn main() -> R { let body = async { g().await?; Ok(()) }; rt().block_on(body) }",
            &[
                "let body = { let __turbowish_future = async {",
                "__turbowish_probe()",
            ],
        ),
        // An attribute of an enclosing block came first.
        (
            "impl S { #[instrument(name = \"n\")] async fn f() {} }",
            &["#[instrument(name = \"n\")] #[::turbowish::instrument] async fn f() {}"],
        ),
        (
            "#[inline] fn f() { static __TURBOWISH_PROC: P = P::new::<T>(\"\", p); }",
            &["P::new::<T>(\"renamed\", p)"],
        ),
    ] {
        check_parts(item, parts);
    }
}

/// Of these blocks `async fn f() {}` is rewritten, whatever stands around it, and nothing else
/// changes.
#[test]
fn in_a_block_only_what_is_async_is_touched() {
    let rewritten = expansion("", "async fn f() {}");
    for block in [
        "impl<const N: usize> S<{ N }> { #![allow(unused)] async fn f() {} }",
        "impl S { const A: u32 = if X { 1 } else { 2 }; async fn f() {} }",
        "impl S { const A: u32 = unsafe { g() } as u32; fn g() -> T<{ 1 }, { 2 }> { loop {} } async fn f() {} }",
        "impl S { m! { async } m!(async); type A = B<{ 1 }>; async fn f() {} fn h() where T<{ 1 }>: U, { } }",
        "trait T { fn g(&self) { } const N: S = S { a: 1 }.b(); async fn f() {} fn h(&self); type A; }",
        "mod m { use a::{b, c}; struct A { a: u32 } ::a::m! {} enum B { C { d: u32 } } async fn f() {} static S: T = T { a: 1 }; }",
        "mod m { macro_rules! m { () => { async fn f() {} } } extern \"C\" { fn g(); } async fn f() {} fn h() {} }",
    ] {
        let written = squeeze(&tokens(block).to_string());
        let (before, after) = match written.rsplit_once("async fn f(){}fn h") {
            Some((before, after)) => (before, format!("fn h{after}")),
            None => {
                let (before, after) = written.rsplit_once("async fn f(){}").unwrap();
                (before, after.to_owned())
            }
        };
        assert_eq!(expansion("", block), format!("{before}{rewritten}{after}"));
    }
    // Documentation is put aside, and stays in front.
    check_parts(
        "impl S { /// Of g.\n fn g() {} #[inline] /// Of f.\n async fn f() {} }",
        &["#[doc=\"Of g.\"]fn g(){}#[doc=\"Of f.\"]#[inline]fn f()->"],
    );
}

#[test]
fn tracing_comes_first() {
    for (arguments, item, expected) in [
        (
            "name = \"n\", crate = crate::tw",
            "#[inline] #[tracing::instrument(err)] /// Of it.\n pub async fn f() {}",
            "#[doc=\"Of it.\"] #[inline] #[tracing::instrument(err)]
            #[crate::tw::instrument(name = \"n\", crate = crate::tw)] pub async fn f() {}",
        ),
        (
            "",
            "#[cfg_attr(feature = \"t\", instrument)] async fn f() {}",
            "#[cfg_attr(feature = \"t\", instrument)] #[::turbowish::instrument] async fn f() {}",
        ),
        (
            "",
            "impl S { #[instrument] async fn f() {} }",
            "impl S { #[instrument] #[::turbowish::instrument] async fn f() {} }",
        ),
        // The attribute of an annotated module took ours, of which it saw the last word alone, for
        // tracing's.
        (
            "",
            "#[tracing::instrument] #[turbowish::instrument(name = \"n\")] async fn f() {}",
            "#[tracing::instrument] #[::turbowish::instrument(name = \"n\")] async fn f() {}",
        ),
    ] {
        check(arguments, item, expected);
    }
    // Another macro is to find what the user wrote, and tracing's knows only that.
    for item in [
        "#[instrument] #[tokio::test] async fn f() {}",
        "#[async_trait] impl S { #[instrument] async fn f() {} }",
    ] {
        check_parts(item, &["async fn f() { static"]);
    }
}

#[test]
fn async_closures_are_procs_of_their_own() {
    for (item, parts) in [
        (
            "async fn f() { g(async |x, (a, _): (A, B), mut y| -> R { x.await }) }",
            &[
                "g(async |x, __turbowish_argument_1: (A, B), y| -> R { static __TURBOWISH_PROC",
                "(\"async@1\", \"1 FILE\\n1 58 1 64 x\");",
                "#[allow(clippy::shadow_reuse)] let x = ::turbowish::__private::Arg::new(x);",
                "let __turbowish_future = async { #[allow(clippy::shadow_reuse)] let x = x.into_inner();",
                "let __turbowish_argument_1 = __turbowish_argument_1.into_inner(); let (a, _) = __turbowish_argument_1;",
                "let mut y = y.into_inner(); if false {",
                "match () { () => { ::turbowish::__private::at(&__TURBOWISH_PROC, 0u32, x).await } } };",
                ", __turbowish_future).await })",
            ][..],
        ),
        (
            "async fn f() { g(async || Ok(h().await)) }",
            &[
                "g(async || { static",
                "() => { Ok(::turbowish::__private::at(",
                ".__turbowish_probe() }, __turbowish_future).await",
            ],
        ),
        (
            "async fn f() { g(async move |x| x.await); h(async || -> ! { x.await }); i(async |#[a] x| x.await) }",
            &["g(async move |x| x.await); h(async || -> ! { x.await }); i(async |#[a] x| x.await)"],
        ),
    ] {
        let expansion = expansion("", item);
        for part in parts {
            assert!(
                expansion.contains(&squeeze(part)),
                "{item}\nlacks {part}\nin {expansion}"
            );
        }
    }
}

#[test]
fn awaits_that_belong_to_others_are_not_numbered() {
    for (body, count) in [
        ("a.await; b(c.await).await", 3),
        (
            "if a.await && b.await { c.await? } else { return d.await }",
            4,
        ),
        ("async fn inner() { a.await } b.await", 1),
        ("let f = async move |x| { x.await }; f(1).await", 1),
        (
            "let n = [0; { const N: usize = 1; N }]; 'l: loop { break 'l a.await }",
            1,
        ),
        ("match a.await { Ok(b) if b.await => c.await, _ => {} }", 3),
    ] {
        let expansion = expansion("", &format!("async fn f() {{ {body} }}"));
        assert_eq!(expansion.matches("__private::at(").count(), count, "{body}");
        assert_eq!(expansion.matches("\\n").count(), count, "{body}");
    }
}

#[test]
fn a_mistake_is_one_error_beside_the_item() {
    for (arguments, item, message) in [
        ("nam = 1", "async fn f() {}", "unknown argument `nam`"),
        ("skip, skip", "async fn f() {}", "`skip` is given twice"),
        ("name", "async fn f() {}", "`name` needs a value"),
        ("name = \"\"", "async fn f() {}", "must not be empty"),
        ("name = \"a\"", "impl S {}", "belongs to one function"),
        ("", "const fn f() {}", "`const fn` cannot be instrumented"),
        ("", "mod file;", "another file"),
        ("", "async fn f();", "no body"),
        ("", "enum E {}", "on its `impl` blocks"),
        ("", "type T: Clone;", "on its `impl` blocks"),
        ("", "const N: u32;", "on the functions that use it"),
        ("", "trait A = B;", "only a function"),
        ("", "pub fn f();", "of another language"),
        ("", "static S: u32;", "of another language"),
        (
            "name = \"a\" skip",
            "async fn f() {}",
            "expected a comma between",
        ),
        ("name = 1", "async fn f() {}", "a name is a string"),
        ("skip = 1", "async fn f() {}", "takes no value"),
        ("crate = \"x\"", "async fn f() {}", "without quotes"),
        ("1", "async fn f() {}", "not an argument"),
        (
            "",
            "impl S { #[turbowish::instrument(x)] async fn f() {} }",
            "unknown argument `x`",
        ),
    ] {
        let expansion = expansion(arguments, item);
        assert_eq!(expansion.matches("compile_error").count(), 1, "{item}");
        assert!(expansion.contains(&squeeze(message)), "{expansion}");
        let head = item.split(['(', ';', '{']).next().unwrap_or_default();
        assert!(
            expansion.contains(&squeeze(head)),
            "{item} is gone: {expansion}"
        );
    }
}

#[test]
fn a_shape_follows_from_what_is_written() {
    for (item, expected) in [
        ("async fn f() {}", Shape::Future),
        (
            "#[doc = \"x\"] #[inline] #[clippy::x] #[cfg_attr(a, doc = \"x\")] async fn f() {}",
            Shape::Future,
        ),
        ("async fn f() -> ! { loop {} }", Shape::Future),
        ("#[must_use] async fn f() {}", Shape::KeptAsync),
        (
            "#[cfg_attr(a, tokio::test)] async fn f() {}",
            Shape::KeptAsync,
        ),
        ("fn f() -> impl Future { async {} }", Shape::Block),
        (
            "fn f() -> B { let x = 1; std::boxed::Box::pin(async move {}) }",
            Shape::Block,
        ),
        (
            "fn f() { let body = async {}; rt().block_on(body) }",
            Shape::Block,
        ),
        ("fn f() { let body = async {}; spawn(body) }", Shape::Poll),
        ("fn f() { Box::new(async {}) }", Shape::Poll),
        ("fn f() { async {}; }", Shape::Poll),
        (
            "fn f() { static __TURBOWISH_PROC: P = P; }",
            Shape::Rewritten,
        ),
    ] {
        let mut item: ItemFn = syn::parse_str(item).unwrap();
        let shape = shape::of(&item.attrs, &item.sig, &mut item.block, &Scope::new(None));
        assert_eq!(shape, expected, "{}", item.to_token_stream());
    }
}

#[test]
fn only_known_attributes_are_inert() {
    for (attributes, foreign) in [
        ("", false),
        (
            "#[doc = \"x\"] #[allow(dead_code)] #[cfg(test)] #[rustfmt::skip]",
            false,
        ),
        ("#[cfg_attr(test, allow(x), inline)]", false),
        ("#[cfg_attr(test, allow(x), tokio::test)]", true),
        ("#[tracing::instrument]", true),
        ("#[inline] #[test]", true),
    ] {
        let item: ItemFn = syn::parse_str(&format!("{attributes} fn f() {{}}")).unwrap();
        assert_eq!(inert::any_foreign(&item.attrs), foreign, "{attributes}");
    }
}

/// Where an await stands, `line:column-line:column`, and what it awaits.
#[track_caller]
fn check_site(source: &str, expected: &str) {
    let Expr::Await(expr) = syn::parse_str(source).unwrap() else {
        panic!("{source} is no await");
    };
    let mut site = String::new();
    Site::of(&expr).write(&mut site);
    assert_eq!(site, expected);
}

#[test]
fn a_site_is_where_it_stands() {
    check_site("f(a,  b).await", r#"1 1 1 14 f(a, b)"#);
    check_site("  x\n    .lock()\n    .await", r#"1 3 3 10 x .lock()"#);
    check_site("(&mut f).await", r#"1 1 1 14 (&mut f)"#);
    check_site(
        "a::<&'static str>(é, \"x  y\").await",
        r#"1 1 1 34 a::<&'static str>(é, "x y")"#,
    );
    check_site(
        "f(r\"a\n  b\", 'c', 'd' ).await",
        "1 1 2 22 f(r\"a b\", 'c', 'd' )",
    );
    check_site("async { 1 }.await", r#"1 1 1 17 async { 1 }"#);
    check_site("f( /* why */ x ).await", r#"1 1 1 22 f( x )"#);
    check_site("a?.b.await", r#"1 1 1 10 a?.b"#);
    let long = format!("f({}).await", "x".repeat(300));
    check_site(&long, &format!(r#"1 1 1 309 f({}.."#, "x".repeat(198)));
}

#[test]
fn attributes_stand_before_the_await_points() {
    let check = |arguments: &str, item: &str, expected: &[&str]| {
        let expansion = expansion(arguments, item);
        for part in expected {
            assert!(expansion.contains(part), "{part} in {expansion}");
        }
    };
    check(
        r#"attributes(shard = "7", tier = 2, r#type = 'x', hot = true, low = -0.5)"#,
        "async fn get() { a().await }",
        &[r"\n=shard 7\n=tier 2\n=type x\n=hot true\n=low-0.5\n1 "],
    );
    check(
        r#"attributes(layer = "store", shard = 1)"#,
        r#"impl Db {
            async fn get(&self) { async { 1 }.await }
            #[instrument(fields(layer = "disk"))] async fn put(&self) {}
        }"#,
        &[r"\n=layer store\n=shard 1", r"\n=shard 1\n=layer disk"],
    );
    check(
        r#"attributes(shard = "7")"#,
        "#[tracing::instrument] async fn get() {}",
        &["instrument(fields(shard=\"7\"))]"],
    );
}
