//! Markers for awaits inside macros. Awaits in an unknown macro, or in one that prints them as
//! written, are not changed: the body records that it enters the macro.
//!
//! The site of a call that is suspended there is then the macro, or the await as written, and not
//! the preceding await point. One marker covers everything that one statement itself evaluates: the
//! blocks and match arms in it contain separate statements, and so does the condition of a `while`.
//! After a visible await of the same statement, the site is that await.

use proc_macro2::Span;
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprAwait, ExprBlock, ExprIf, ExprLoop, ExprWhile, Item, Macro, Pat,
    Stmt, Token, Type, token,
};

use super::attr::{Scope, ours};
use super::known_macros::{self, MacroKind, Piece};
use super::proc_static::{number, proc};
use super::site::{self, Site};

/// The site for calls that are suspended in macros of `stmt`, and the marker statement that sets
/// it: the `index`th site of the proc.
pub(crate) fn marker(stmt: &Stmt, index: usize, scope: &Scope) -> Option<(Site, Stmt)> {
    let mut hiding = Hiding::default();
    match stmt {
        Stmt::Macro(invocation) => hiding.visit_macro(&invocation.mac),
        stmt => hiding.visit_stmt(stmt),
    }
    let place = hiding.first?;
    let site = Site::joined(hiding.sites)?;
    let span = ours(place);
    let private = scope.private(span);
    let (proc, index) = (proc(span), number(index));
    let cfg = attributes(stmt)
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    let tokens = quote_spanned!(span=> #(#cfg)* #private::at(&#proc, #index, ()));
    let marker = Stmt::Expr(Expr::Verbatim(tokens), Some(Token![;](span)));
    Some((site, marker))
}

/// Turns parts of `expr` that run separately from its beginning into statements, if they contain
/// macros that may await: the body of a match arm into a block, `while CONDITION { … }` into `loop
/// { if CONDITION { … } else { break } }`.
pub(crate) fn make_statements(expr: &mut Expr) {
    match expr {
        Expr::Match(choice) => {
            for arm in &mut choice.arms {
                make_statement(&mut arm.body);
            }
        }
        Expr::While(repeated) if hides(&repeated.cond) => *expr = as_loop(repeated),
        _ => {}
    }
}

/// Turns `expr`, which is evaluated separately from the enclosing statement, into a statement if it
/// contains macros that may await.
pub(crate) fn make_statement(expr: &mut Expr) {
    if !hides(expr) {
        return;
    }
    let inside = std::mem::replace(expr, Expr::PLACEHOLDER);
    let span = site::first_span(inside.to_token_stream()).unwrap_or_else(Span::call_site);
    *expr = Expr::Block(ExprBlock {
        attrs: Vec::new(),
        label: None,
        block: block(inside, ours(span)),
    });
}

/// The desugaring of a `while`. Temporaries of its condition are dropped when they were before:
/// before the `break`, and after the body.
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

fn hides(expr: &Expr) -> bool {
    let mut hiding = Hiding::default();
    hiding.visit_expr(expr);
    hiding.first.is_some()
}

/// Macros and awaits that cannot be numbered and may await, if their awaits belong to the body.
#[derive(Default)]
struct Hiding {
    sites: Vec<Site>,
    /// The span of the first one.
    first: Option<Span>,
    /// The visited tokens are printed as written, so their awaits must not change.
    printed: bool,
}

impl Hiding {
    fn push(&mut self, place: Option<Span>, site: Site) {
        self.first = self.first.or(place);
        self.sites.push(site);
    }
}

impl<'ast> Visit<'ast> for Hiding {
    fn visit_macro(&mut self, invocation: &'ast Macro) {
        let known = match known_macros::waits(&invocation.path) {
            true => MacroKind::Opaque,
            false => known_macros::read(invocation),
        };
        let arguments = match known {
            MacroKind::Quiet => return,
            MacroKind::Read(arguments) => arguments,
            MacroKind::Opaque => {
                let place = site::first_span(invocation.path.to_token_stream());
                return self.push(place, Site::of_macro(invocation));
            }
        };
        let outside = self.printed;
        for piece in &arguments.pieces {
            match piece {
                Piece::Tokens(_) => {}
                Piece::Expr(expr) | Piece::Arm(expr) => self.visit_expr(expr),
                Piece::Shown(expr) => {
                    self.printed = true;
                    self.visit_expr(expr);
                    self.printed = outside;
                }
            }
        }
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Await(awaited) if self.printed => {
                self.visit_expr(&awaited.base);
                let place = site::first_span(awaited.to_token_stream());
                self.push(place, Site::of(awaited));
            }
            Expr::Await(awaited) if makes_a_future(awaited) => {}
            Expr::Match(choice) if !self.printed => {
                self.visit_expr(&choice.expr);
                // The guards; bodies are statements.
                choice.arms.iter().for_each(|arm| self.visit_pat(&arm.pat));
            }
            Expr::Async(_) | Expr::Closure(_) | Expr::Const(_) => {}
            Expr::While(_) if !self.printed => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        if self.printed {
            visit::visit_block(self, block);
        }
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        if !matches!(pat, Pat::Macro(_)) {
            visit::visit_pat(self, pat);
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
    fn visit_type(&mut self, _: &'ast Type) {}
}

/// `X!(…).await`: the macro creates a future, and its await is visible.
fn makes_a_future(awaited: &ExprAwait) -> bool {
    let Expr::Macro(invocation) = &*awaited.base else {
        return false;
    };
    match known_macros::read(&invocation.mac) {
        MacroKind::Quiet => true,
        MacroKind::Read(_) => false,
        MacroKind::Opaque => !known_macros::has_await(invocation.mac.tokens.clone()),
    }
}
