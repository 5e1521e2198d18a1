//! A simple body yields the same tokens and sites as if it had been parsed.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use super::super::attr::Scope;
use super::super::site::Site;
use super::super::tests::squeeze;
use super::super::{awaits, raw_body};
use super::mark;

/// The rewritten body: its tokens and its sites.
fn marked(body: TokenStream) -> Option<(String, String)> {
    let mut block = block(vec![raw_body::as_written(body)]);
    let plain = mark(&mut block, &Scope::new(None)).ok()??;
    Some((printed(&block), places(&plain.sites)))
}

fn parsed(body: TokenStream) -> (String, String) {
    let mut block = block(Block::parse_within.parse2(body).unwrap());
    let sites = awaits::number_in(&mut block, &Scope::new(None));
    (printed(&block), places(&sites))
}

fn block(stmts: Vec<syn::Stmt>) -> Block {
    Block {
        brace_token: syn::token::Brace::default(),
        stmts,
    }
}

fn printed(block: &Block) -> String {
    squeeze(&block.to_token_stream().to_string())
}

fn places(sites: &[Site]) -> String {
    let mut places = String::new();
    for site in sites {
        site.write(&mut places);
        places.push('\n');
    }
    places
}

#[track_caller]
fn is_plain(body: &str) -> bool {
    let tokens = TokenStream::from_str(body).unwrap();
    let Some(plain) = marked(tokens.clone()) else {
        return false;
    };
    assert_eq!(plain, parsed(tokens), "{body}");
    true
}

#[test]
fn chains_are_found_from_their_ends() {
    for body in [
        "",
        "x.await",
        "x.await;",
        "f().await?.g(h().await).await",
        "let x = self.a.b[c](d)?.e().await;",
        "let y = x.0.1.f().await + t.0.await;",
        "&mut a::b::c(d).await",
        "return f().await;",
        "break f().await",
        "-f().await * !g(x).await",
        "S { a: f().await, b, ..g().await }",
        "match f().await { A => g().await, B if h().await => (i)(1).await, _ => {} }",
        "if f().await { g().await } else if let Some(x) = h(i).await { x.await }",
        "while f().await { g().await }",
        "for x in f().await { g(x).await; }",
        "for x in 0..n.await { (0..=m.await).f().await }",
        "let Some(x) = f().await else { return g().await };",
        "(a).await; ((b)).await; (c.d()).await;",
        "x = (y).await; x += (y).await",
        "f(::a::b().await, crate::c().await, Self::d().await)",
        "'l: loop { break 'l f().await; }",
        "a.await.await.b().await",
        "match x { A => a.await.b().await, B => { c } } d.await.e().await",
        "\"s\".f().await",
        "info!(x, \"{}\", y); tracing::debug!(?z); f().await; assert!(a != b); g(vec![1], format!(\"{x}\")).await",
        "debug!(x = matches!(a, B), line!()); f().await",
        "if a != b.await { c.await }",
        "struct_like(S { a: 1 }).await",
        "r#match().await; r#type.f().await",
        "f(|x| x + 1).await; move_to(a).await",
        "use_it().await; union.await; default.f().await",
        "const { 1 + 1 }; f(1.0).await; f(1.).await",
    ] {
        assert!(is_plain(body), "{body}");
    }
}

#[test]
fn what_is_not_certain_is_parsed() {
    for body in [
        "async { x.await }.await",
        "f(async || x.await)",
        "{ x }.await",
        "unsafe { x }.await",
        "if a { b } else { c }.await",
        "match a { b => c }.await",
        "S { a }.await",
        "f::<T>().await",
        "Vec::<u8>::new().await",
        "<T as U>::f().await",
        "({ x }).await",
        "(a, b).await",
        "().await",
        "(#[a] x).await",
        "own!(x)",
        "own!(x).await",
        "vec![f][0].await",
        "join!(a, b)",
        "tokio::select! { _ = a => {} }",
        "format!(\"{}\", x.await)",
        "debug!(own!(x))",
        "macro_rules! m { () => { x.await } }",
        "#[a] (x).await;",
        "if a {} (x).await;",
        "a < (b).await",
        "break 'l (x).await",
    ] {
        assert!(!is_plain(body), "{body}");
    }
}

/// Every `async fn` of real sources, whatever is written in them.
#[derive(Default)]
struct Bodies {
    plain: usize,
    all: usize,
}

impl Bodies {
    fn function(&mut self, signature: &Signature, block: &Block) {
        if signature.asyncness.is_none() {
            return;
        }
        // As the compiler hands them out, and not as they were parsed.
        let tokens = block.stmts.iter().map(ToTokens::to_token_stream).collect();
        self.all += 1;
        self.plain += usize::from(is_plain_source(tokens, &signature.ident.to_string()));
    }

    fn read(&mut self, folder: &Path) {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                self.read(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && let Ok(source) = std::fs::read_to_string(&path)
                && let Ok(file) = syn::parse_file(&source)
            {
                self.visit_file(&file);
            }
        }
    }
}

fn is_plain_source(tokens: TokenStream, name: &str) -> bool {
    let Some(plain) = marked(tokens.clone()) else {
        return false;
    };
    assert_eq!(plain, parsed(tokens), "{name}");
    true
}

impl<'ast> Visit<'ast> for Bodies {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Of this repository's sources, or of those in the folder that `TURBOWISH_TEST_SOURCES` names.
#[test]
fn real_bodies_come_out_as_if_parsed() {
    let folder = std::env::var_os("TURBOWISH_TEST_SOURCES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("ui-tests"),
        PathBuf::from,
    );
    let mut bodies = Bodies::default();
    bodies.read(&folder);
    println!("{} of {} bodies are plain", bodies.plain, bodies.all);
    assert!(bodies.plain > 100, "{} in {folder:?}", bodies.plain);
}
