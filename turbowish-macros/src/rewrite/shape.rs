//! The shape of a function: exactly one, decided by syntax and never by types.

use syn::{Block, Expr, ItemStatic, Local, Signature, Stmt};

use super::attr::Scope;
use super::inert;
use super::proc_static::PROC;

/// The form that a function is rewritten to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// An `async fn` that becomes `fn -> impl Future`.
    Future,
    /// An `async fn` that stays one, with its body wrapped.
    KeptAsync,
    /// A `fn` whose body is an `async` block: the block is the call.
    Block,
    /// A `fn`, accounted as one poll.
    Poll,
    /// Already rewritten by the attribute of the enclosing block.
    Rewritten,
}

/// The shape of a function with these attributes, in this scope.
pub(crate) fn of(
    attrs: &[syn::Attribute],
    signature: &Signature,
    block: &mut Block,
    scope: &Scope,
) -> Shape {
    if is_rewritten(block) {
        Shape::Rewritten
    } else if signature.asyncness.is_some() {
        if scope.keep_async || inert::any_foreign(attrs) {
            Shape::KeptAsync
        } else {
            Shape::Future
        }
    } else if future_block(block).is_some() {
        Shape::Block
    } else {
        Shape::Poll
    }
}

/// Whether a function in a block or module is a future: an `async fn`, or one that ends in an
/// `async` block, boxed or not.
pub(crate) fn is_future(signature: &Signature, block: &mut Block) -> bool {
    signature.asyncness.is_some()
        || signature.constness.is_none() && tail(block).and_then(ending).is_some()
}

/// The `async` block that a plain function amounts to, always an [`Expr::Async`].
pub(crate) fn future_block(block: &mut Block) -> Option<&mut Expr> {
    if runs_body(block) {
        return match block.stmts.first_mut() {
            Some(Stmt::Local(Local {
                init: Some(init), ..
            })) => as_async(&mut init.expr),
            _ => None,
        };
    }
    ending(tail(block)?)
}

fn tail(block: &mut Block) -> Option<&mut Expr> {
    match block.stmts.last_mut() {
        Some(Stmt::Expr(tail, None)) => Some(tail),
        _ => None,
    }
}

/// Matches `async { … }`, `async { … }.boxed()` or `Box::pin(async { … })`, with any path to `Box`.
fn ending(tail: &mut Expr) -> Option<&mut Expr> {
    let call = match tail {
        Expr::Async(_) => return as_async(tail),
        Expr::MethodCall(call) => {
            let boxes = call.method == "boxed" || call.method == "boxed_local";
            return (boxes && call.args.is_empty())
                .then_some(&mut *call.receiver)
                .and_then(as_async);
        }
        Expr::Call(call) => call,
        _ => return None,
    };
    let Expr::Path(callee) = &*call.func else {
        return None;
    };
    let mut names = callee
        .path
        .segments
        .iter()
        .rev()
        .map(|segment| &segment.ident);
    let pins = names.next().is_some_and(|name| name == "pin")
        && names.next().is_some_and(|name| name == "Box");
    match call.args.first_mut() {
        Some(argument) if pins => as_async(argument),
        _ => None,
    }
}

fn as_async(expr: &mut Expr) -> Option<&mut Expr> {
    matches!(expr, Expr::Async(block) if block.attrs.is_empty()).then_some(expr)
}

/// Whether the body is `let body = async { … }; … block_on(body)`, the expansion of
/// `#[tokio::main]` and `#[tokio::test]` for an `async fn`.
///
/// If such a function were accounted as one poll, the whole life of the runtime would count as
/// running.
pub(crate) fn runs_body(block: &Block) -> bool {
    let (Some(Stmt::Local(first)), Some(last)) = (block.stmts.first(), block.stmts.last()) else {
        return false;
    };
    let body = matches!(&first.pat, syn::Pat::Ident(pat) if pat.ident == "body");
    let text = quote::ToTokens::to_token_stream(last)
        .to_string()
        .replace(' ', "");
    body && text.contains("block_on(body)")
}

fn is_rewritten(block: &Block) -> bool {
    matches!(block.stmts.first(), Some(Stmt::Item(syn::Item::Static(ItemStatic { ident, .. }))) if ident == PROC)
}
