//! Numbering of await points. Every `.await` belongs to the innermost enclosing `async`; only
//! awaits of a proc get an index.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAsync, ExprAwait, ExprBlock, Item, Macro, Pat, Stmt, Type, token};

use super::attr::{Scope, ours};
use super::closure;
use super::known_macros::{self, MacroKind, Piece};
use super::opaque_macros;
use super::output;
use super::proc_static::{self, number, proc};
use super::site::{Site, first_span};
use super::tracing_compat;

/// Numbers the awaits of a proc's body: `OPERAND.await` becomes `at(&PROC, index, OPERAND).await`.
/// `async` blocks inside become separate procs. A statement that may await inside macros is
/// preceded by a marker.
pub(crate) fn number_in(block: &mut Block, scope: &Scope) -> Vec<Site> {
    walk(block, scope, true)
}

/// Turns the `async` blocks of a function that is not a future into separate procs, and changes
/// nothing else.
pub(crate) fn blocks_in(block: &mut Block, scope: &Scope) {
    walk(block, scope, false);
}

fn walk(block: &mut Block, scope: &Scope, counting: bool) -> Vec<Site> {
    let mut numbering = Numbering {
        scope,
        counting,
        sites: Vec::new(),
        entered: None,
        waiting: None,
        traced: counting && tracing_compat::is_body(block),
    };
    numbering.visit_block_mut(block);
    numbering.sites
}

struct Numbering<'a> {
    scope: &'a Scope,
    /// Awaits are those of the proc (and not of an `async` closure).
    counting: bool,
    sites: Vec<Site>,
    /// The index of the site of the marker before this statement.
    entered: Option<usize>,
    /// The site of the macro that awaits after the expressions being visited have been evaluated.
    waiting: Option<usize>,
    /// Blocks and awaits that the user did not write come from tracing.
    traced: bool,
}

impl VisitMut for Numbering<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let outside = self.entered;
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.entered = None;
            if self.counting
                && let Some((site, marker)) =
                    opaque_macros::marker(&stmt, self.sites.len(), self.scope)
            {
                self.entered = Some(self.sites.len());
                self.sites.push(site);
                block.stmts.push(marker);
            }
            self.visit_stmt_mut(&mut stmt);
            block.stmts.push(stmt);
        }
        self.entered = outside;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.counting {
            opaque_macros::make_statements(expr);
        }
        match expr {
            Expr::Async(block)
                if self.traced && !tracing_compat::is_written(block.async_token.span, "async") =>
            {
                self.visit_block_mut(&mut block.block);
            }
            Expr::Async(block) if block.attrs.is_empty() => {
                let tokens = nested(block, self.scope);
                *expr = Expr::Block(as_expr(tokens, block.block.brace_token));
            }
            // An attribute on the block could not move with it.
            Expr::Async(_) | Expr::Const(_) => {}
            Expr::Closure(closure) => {
                if !closure::instrument(closure, self.scope) {
                    let outside = std::mem::replace(&mut self.counting, false);
                    self.visit_expr_mut(&mut closure.body);
                    self.counting = outside;
                }
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_macro_mut(&mut self, invocation: &mut Macro) {
        let MacroKind::Read(mut arguments) = known_macros::read(invocation) else {
            return;
        };
        let (entered, waiting) = (self.entered, self.waiting);
        for piece in &mut arguments.pieces {
            match piece {
                Piece::Tokens(_) | Piece::Shown(_) => {}
                Piece::Expr(expr) => {
                    if arguments.waits {
                        self.waiting = entered;
                    }
                    self.visit_expr_mut(expr);
                }
                Piece::Arm(expr) => {
                    (self.entered, self.waiting) = (None, None);
                    if self.counting {
                        opaque_macros::make_statement(expr);
                    }
                    self.visit_expr_mut(expr);
                }
            }
            (self.entered, self.waiting) = (entered, waiting);
        }
        invocation.tokens = arguments.into_token_stream();
    }

    fn visit_expr_await_mut(&mut self, expr: &mut ExprAwait) {
        let counting = self.counting
            && (!self.traced || tracing_compat::is_written(expr.await_token.span, "await"));
        let site = counting.then(|| Site::of(expr));
        self.visit_expr_mut(&mut expr.base);
        if let Some(site) = site {
            mark(
                expr,
                self.sites.len(),
                self.waiting,
                self.traced,
                self.scope,
            );
            self.sites.push(site);
        }
    }

    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        if !matches!(pat, Pat::Macro(_)) {
            visit_mut::visit_pat_mut(self, pat);
        }
    }

    // Items are compiled separately, and types contain no awaits.
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
}

/// Wraps the operand; `back` is the site that the call returns to after the await. The first and
/// the last token keep the user's own span: its edition decides how long temporaries of a tail
/// expression live.
fn mark(expr: &mut ExprAwait, index: usize, back: Option<usize>, wrapped: bool, scope: &Scope) {
    let span = first_span(expr.base.to_token_stream()).unwrap_or(expr.await_token.span);
    // An argument needs no parentheses or braces: `unused_parens` would fire.
    let mut operand = std::mem::replace(&mut *expr.base, Expr::PLACEHOLDER);
    while let Expr::Paren(inside) = operand {
        if !inside.attrs.is_empty() {
            operand = Expr::Paren(inside);
            break;
        }
        operand = *inside.expr;
    }
    if let Expr::Block(operand) = &mut operand {
        operand.block.brace_token = token::Brace(ours(span));
    }
    let mut tokens = arrival(index, operand.into_token_stream(), span, wrapped, scope);
    if let Some(back) = back.map(number) {
        let (private, proc) = (scope.private(span), proc(span));
        tokens = quote_spanned!(span=> #private::back(&#proc, #back, #tokens));
    }
    *expr.base = Expr::Verbatim(tokens);
}

/// `at(&PROC, index, operand)`; `within(…)` if the awaits are those of a block that an external
/// future wraps.
pub(crate) fn arrival(
    index: usize,
    operand: TokenStream,
    span: Span,
    wrapped: bool,
    scope: &Scope,
) -> TokenStream {
    let private = scope.private(span);
    let (proc, index) = (proc(span), number(index));
    if wrapped {
        return quote_spanned!(span=> #private::within(&#proc, #index, #operand));
    }
    quote_spanned!(span=> #private::at(&#proc, #index, #operand))
}

/// An `async` block as a separate proc, named after its line; its captures do not change.
fn nested(block: &mut ExprAsync, scope: &Scope) -> TokenStream {
    let place = block.async_token.span;
    let probe = output::probe_of_block(&block.block, scope, place);
    let sites = number_in(&mut block.block, scope);
    let declared = proc_static::nested(place, &sites, scope);
    let span = ours(place);
    let private = scope.private(span);
    let proc = proc(span);
    quote_spanned! {span=>
        #declared
        let __turbowish_future = #block;
        #private::call(|| #proc.as_static(), #probe, __turbowish_future)
    }
}

/// Tokens of statements as a block.
pub(crate) fn as_block(tokens: TokenStream, brace_token: token::Brace) -> Block {
    let stmts = vec![Stmt::Expr(Expr::Verbatim(tokens), None)];
    Block { brace_token, stmts }
}

/// Tokens of statements as an expression.
pub(crate) fn as_expr(tokens: TokenStream, brace_token: token::Brace) -> ExprBlock {
    ExprBlock {
        attrs: Vec::new(),
        label: None,
        block: as_block(tokens, brace_token),
    }
}
