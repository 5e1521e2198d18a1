//! `async` closures. A closure keeps its kind, its captures and its drops; the block that replaces
//! its body is the call.
//!
//! `async |x| body` becomes `async |x| { …; call(&PROC, probe, async { let x = x; body }).await }`.
//! The block captures from the closure's environment as the body did: by reference, or by value
//! where the body consumes the variable. A `move` closure owns variables that its body may only
//! borrow, and a block that borrows them is `Send` only if they are `Sync`: such a closure is not
//! rewritten. Arguments are passed wrapped, because a block would borrow `Copy` values.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Block, Expr, ExprClosure, Pat, PatIdent, ReturnType, Stmt, Token};

use super::attr::{Scope, ours};
use super::awaits::{self, as_block, as_expr};
use super::output::{self, Output};
use super::proc_static::{self, proc};
use super::site::first_span;

/// Accounts the calls of a closure if possible; otherwise leaves it unchanged. Returns whether it
/// was rewritten.
pub(crate) fn instrument(closure: &mut ExprClosure, scope: &Scope) -> bool {
    let Some(place) = closure.asyncness.map(|token| token.span) else {
        return false;
    };
    let is_fit = closure.capture.is_none() && !output::is_never(&closure.output);
    if !is_fit || has_attributes(&closure.inputs) {
        return false;
    }
    let ClosureArguments { give, take } = ClosureArguments::of(&mut closure.inputs, scope);
    let written = std::mem::replace(&mut *closure.body, Expr::PLACEHOLDER);
    let mut body = body_of(written);
    let (head, probe) = match &closure.output {
        ReturnType::Type(..) => {
            let output = Output::of(&closure.output);
            (
                output.dead_return(&body, scope, place),
                output.probe(scope, place),
            )
        }
        // The return type is inferred from the body alone, as in the original.
        ReturnType::Default => (
            TokenStream::new(),
            output::probe_of_block(&body, scope, place),
        ),
    };
    let sites = awaits::number_in(&mut body, scope);
    let declared = proc_static::nested(place, &sites, scope);
    let span = ours(place);
    let private = scope.private(span);
    let proc = proc(span);
    // Temporaries of a body are dropped before its arguments, like those of a `match` arm before
    // the locals around it.
    let tokens = quote_spanned! {span=>
        #declared
        #give
        let __turbowish_future = async {
            #take
            #head
            match () {
                () => #body
            }
        };
        #private::call(|| #proc.as_static(), #probe, __turbowish_future).await
    };
    *closure.body = Expr::Block(as_expr(tokens, syn::token::Brace(span)));
    true
}

fn body_of(written: Expr) -> Block {
    match written {
        Expr::Block(body) if body.attrs.is_empty() && body.label.is_none() => body.block,
        written => {
            let span = first_span(written.to_token_stream()).unwrap_or_else(Span::call_site);
            let mut body = as_block(TokenStream::new(), syn::token::Brace(ours(span)));
            body.stmts = vec![Stmt::Expr(written, None)];
            body
        }
    }
}

/// An attribute on an argument can neither move with its pattern nor stay without it.
fn has_attributes(inputs: &Punctuated<Pat, Token![,]>) -> bool {
    let mut found = ClosureAttributes(false);
    inputs.iter().for_each(|input| found.visit_pat(input));
    found.0
}

struct ClosureAttributes(bool);

impl<'ast> Visit<'ast> for ClosureAttributes {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {
        self.0 = true;
    }
}

/// The statements that pass arguments into the block.
#[derive(Default)]
struct ClosureArguments {
    /// `let x = Arg::new(x);`
    give: TokenStream,
    /// `let x = x.into_inner(); let (a, b) = y.into_inner();`
    take: TokenStream,
}

impl ClosureArguments {
    /// Gives every argument a plain name.
    fn of(inputs: &mut Punctuated<Pat, Token![,]>, scope: &Scope) -> ClosureArguments {
        let mut arguments = ClosureArguments::default();
        for (index, input) in inputs.iter_mut().enumerate() {
            match input {
                Pat::Type(typed) => arguments.argument(&mut typed.pat, index, scope),
                pat => arguments.argument(pat, index, scope),
            }
        }
        arguments
    }

    fn argument(&mut self, pat: &mut Pat, index: usize, scope: &Scope) {
        let span = ours(pat.span());
        let private = scope.private(span);
        let simple = match pat {
            Pat::Ident(pat) if is_binding(pat) => Some(pat.ident.clone()),
            _ => None,
        };
        let name = simple
            .clone()
            .unwrap_or_else(|| format_ident!("__turbowish_argument_{}", index, span = span));
        let plain = Pat::Ident(PatIdent {
            attrs: Vec::new(),
            by_ref: None,
            mutability: None,
            ident: name.clone(),
            subpat: None,
        });
        let written = std::mem::replace(pat, plain);
        let quiet = simple
            .is_some()
            .then(|| quote_spanned!(span=> #[allow(clippy::shadow_reuse)]));
        self.give
            .extend(quote_spanned!(span=> #quiet let #name = #private::Arg::new(#name);));
        self.take.extend(if simple.is_some() {
            quote_spanned!(span=> #quiet let #written = #name.into_inner();)
        } else {
            // The part that the pattern does not bind is dropped with the rest.
            quote_spanned!(span=> let #name = #name.into_inner(); let #written = #name;)
        });
    }
}

/// A lowercase name; an uppercase one may be a constant.
fn is_binding(pat: &PatIdent) -> bool {
    let is_upper = pat.ident.to_string().starts_with(char::is_uppercase);
    pat.by_ref.is_none() && pat.subpat.is_none() && !is_upper
}
