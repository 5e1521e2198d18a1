//! Awaits in a macro's tokens or expansion cannot be numbered, so the body says that it enters the macro before it does.
//!
//! The place of a call that is suspended in there is then the macro, and not the await point before it. One marker covers the
//! macros that one statement evaluates itself: the blocks and match arms in it hold statements of their own, and so does
//! the condition of a `while`. Behind a visible await of the same statement the place is that await.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprAwait, ExprBlock, ExprIf, ExprLoop, ExprWhile, Item, Macro,
    MacroDelimiter, Stmt, Token, Type, token,
};

use super::attr::{Scope, ours};
use super::declare::{number, proc};
use super::site::{self, Site};

/// Macros of std and of the usual crates that await nothing themselves, by the last word of their path.
const NEVER_AWAIT: &[&str] = &[
    // std: text
    "concat",
    "dbg",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "print",
    "println",
    "stringify",
    "write",
    "writeln",
    // std: checks and ends
    "assert",
    "assert_eq",
    "assert_ne",
    "compile_error",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "matches",
    "panic",
    "todo",
    "unimplemented",
    "unreachable",
    // std: the rest
    "addr_of",
    "addr_of_mut",
    "cfg",
    "column",
    "env",
    "file",
    "include",
    "include_bytes",
    "include_str",
    "line",
    "module_path",
    "offset_of",
    "option_env",
    "pin",
    "thread_local",
    "vec",
    // tracing, log
    "debug",
    "debug_span",
    "enabled",
    "error",
    "error_span",
    "event",
    "info",
    "info_span",
    "log",
    "log_enabled",
    "span",
    "trace",
    "trace_span",
    "warn",
    "warn_span",
    // anyhow, eyre, serde_json, futures
    "anyhow",
    "bail",
    "ensure",
    "eyre",
    "format_err",
    "json",
    "pin_mut",
];

/// Where the calls suspended in macros of `stmt` stand, and what makes them stand there: the `index`th of the proc's places.
pub(crate) fn marker(stmt: &Stmt, index: usize, scope: &Scope) -> Option<(Site, Stmt)> {
    let macros = in_stmt(stmt);
    let place = site::first_span(macros.first()?.path.to_token_stream())?;
    let span = ours(place);
    let private = scope.private(span);
    let (proc, index) = (proc(span), number(index));
    let cfg = attributes(stmt)
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    let tokens = quote_spanned!(span=> #(#cfg)* #private::at(&#proc, #index, ()));
    let marker = Stmt::Expr(Expr::Verbatim(tokens), Some(Token![;](span)));
    Some((Site::inside(&macros, place), marker))
}

/// Turns parts of `expr` that run apart from its beginning into statements, if macros that may await stand there: the
/// body of a match arm into a block, `while CONDITION { … }` into `loop { if CONDITION { … } else { break } }`.
pub(crate) fn make_statements(expr: &mut Expr) {
    match expr {
        Expr::Match(choice) => {
            for arm in &mut choice.arms {
                if !in_expr(&arm.body).is_empty() {
                    *arm.body = as_statement(&mut arm.body);
                }
            }
        }
        Expr::While(repeated) if !in_expr(&repeated.cond).is_empty() => {
            *expr = as_loop(repeated);
        }
        _ => {}
    }
}

fn as_statement(expr: &mut Expr) -> Expr {
    let expr = std::mem::replace(expr, Expr::PLACEHOLDER);
    let span = site::first_span(expr.to_token_stream()).unwrap_or_else(Span::call_site);
    Expr::Block(ExprBlock {
        attrs: Vec::new(),
        label: None,
        block: block(expr, ours(span)),
    })
}

/// What the compiler makes of a `while`. Its condition's temporaries end as they did: before the `break`, and after the body.
fn as_loop(repeated: &mut ExprWhile) -> Expr {
    let span = ours(repeated.while_token.span);
    let end = Expr::Verbatim(quote_spanned!(span=> break));
    let branch = ExprIf {
        attrs: Vec::new(),
        if_token: Token![if](span),
        cond: std::mem::replace(&mut repeated.cond, Box::new(Expr::PLACEHOLDER)),
        then_branch: Block {
            brace_token: repeated.body.brace_token,
            stmts: std::mem::take(&mut repeated.body.stmts),
        },
        else_branch: Some((
            Token![else](span),
            Box::new(Expr::Block(ExprBlock {
                attrs: Vec::new(),
                label: None,
                block: block(end, span),
            })),
        )),
    };
    Expr::Loop(ExprLoop {
        attrs: std::mem::take(&mut repeated.attrs),
        label: repeated.label.take(),
        loop_token: Token![loop](span),
        body: block(Expr::If(branch), span),
    })
}

fn block(tail: Expr, span: Span) -> Block {
    Block {
        brace_token: token::Brace(span),
        stmts: vec![Stmt::Expr(tail, None)],
    }
}

fn attributes(stmt: &Stmt) -> &[Attribute] {
    match stmt {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(invocation) => &invocation.attrs,
        Stmt::Expr(Expr::Macro(invocation), _) => &invocation.attrs,
        Stmt::Expr(Expr::Await(awaited), _) => &awaited.attrs,
        Stmt::Expr(Expr::Match(choice), _) => &choice.attrs,
        Stmt::Expr(Expr::If(branch), _) => &branch.attrs,
        Stmt::Expr(Expr::ForLoop(repeated), _) => &repeated.attrs,
        Stmt::Expr(..) | Stmt::Item(_) => &[],
    }
}

fn in_stmt(stmt: &Stmt) -> Vec<&Macro> {
    let mut hiding = Hiding::default();
    match stmt {
        Stmt::Macro(invocation) => hiding.invocation(&invocation.mac),
        stmt => hiding.visit_stmt(stmt),
    }
    hiding.macros
}

fn in_expr(expr: &Expr) -> Vec<&Macro> {
    let mut hiding = Hiding::default();
    hiding.visit_expr(expr);
    hiding.macros
}

/// Macros that may await, where their awaits are those of the body.
#[derive(Default)]
struct Hiding<'ast> {
    macros: Vec<&'ast Macro>,
}

impl<'ast> Hiding<'ast> {
    fn invocation(&mut self, invocation: &'ast Macro) {
        let known = invocation
            .path
            .segments
            .last()
            .is_some_and(|last| NEVER_AWAIT.iter().any(|name| last.ident == name));
        if !known || has_await(invocation.tokens.clone()) {
            self.macros.push(invocation);
        }
    }
}

impl<'ast> Visit<'ast> for Hiding<'ast> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Macro(invocation) => self.invocation(&invocation.mac),
            Expr::Await(awaited) if makes_a_future(awaited) => {}
            Expr::Match(choice) => {
                self.visit_expr(&choice.expr);
                // The guards; bodies are statements.
                choice.arms.iter().for_each(|arm| self.visit_pat(&arm.pat));
            }
            Expr::Async(_) | Expr::Closure(_) | Expr::Const(_) | Expr::While(_) => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_block(&mut self, _: &'ast Block) {}
    fn visit_item(&mut self, _: &'ast Item) {}
    fn visit_type(&mut self, _: &'ast Type) {}
}

/// `X!(…).await`: the macro is there for the future, and its await can be seen.
fn makes_a_future(awaited: &ExprAwait) -> bool {
    matches!(&*awaited.base, Expr::Macro(invocation) if !has_await(invocation.mac.tokens.clone()))
}

fn has_await(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == "await",
        TokenTree::Group(group) => has_await(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// `path! {..}`, with the delimiters as written.
pub(crate) fn heading(invocation: &Macro) -> String {
    let path = site::text(invocation.path.to_token_stream());
    let inside = match invocation.delimiter {
        MacroDelimiter::Paren(_) => "(..)",
        MacroDelimiter::Brace(_) => " {..}",
        MacroDelimiter::Bracket(_) => "[..]",
    };
    format!("{path}!{inside}")
}
