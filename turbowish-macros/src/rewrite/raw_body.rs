//! Unparsed bodies. The body of an `async fn` is not parsed with its item. Most bodies are simple
//! (`simple_body`): their awaits are found among the tokens, which takes a fraction of the time.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::Parse;
use syn::{Block, Expr, ImplItem, Item, ItemFn, Result, Signature, Stmt, TraitItem};

use super::outer_attrs::{Braced, Head};
use super::{assigned, expected};

/// An item that may be a function with a body.
pub(crate) trait MayBeFn: Parse {
    fn parts(&mut self) -> Option<(&Signature, &mut Block)>;
}

impl MayBeFn for ItemFn {
    fn parts(&mut self) -> Option<(&Signature, &mut Block)> {
        Some((&self.sig, &mut self.block))
    }
}

impl MayBeFn for Item {
    fn parts(&mut self) -> Option<(&Signature, &mut Block)> {
        match self {
            Item::Fn(item) => item.parts(),
            _ => None,
        }
    }
}

impl MayBeFn for ImplItem {
    fn parts(&mut self) -> Option<(&Signature, &mut Block)> {
        match self {
            ImplItem::Fn(item) => Some((&item.sig, &mut item.block)),
            _ => None,
        }
    }
}

impl MayBeFn for TraitItem {
    fn parts(&mut self) -> Option<(&Signature, &mut Block)> {
        match self {
            TraitItem::Fn(item) => Some((&item.sig, item.default.as_mut()?)),
            _ => None,
        }
    }
}

/// Parses an item without its documentation, and leaves the body of an `async fn` unparsed if
/// possible.
pub(crate) fn parse<T: MayBeFn>(head: &Head) -> Result<T> {
    match with_raw_body(head) {
        Some(item) => Ok(item),
        None => syn::parse2(head.tokens()),
    }
}

fn with_raw_body<T: MayBeFn>(head: &Head) -> Option<T> {
    let Braced { header, body } = head.is_async_fn().then(|| head.braced())??;
    let (uses, body) = split_uses(body);
    if may_begin_with_item(&body) {
        return None;
    }
    let mut item: T = syn::parse2(header).ok()?;
    let (signature, block) = item.parts()?;
    // The signature requires changes in the body, so the body must be parsed.
    if assigned::may_excuse(signature) || expected::may_write(&signature.output) {
        return None;
    }
    if !uses.is_empty() {
        let uses = Item::Verbatim(uses.into_iter().collect());
        block.stmts.push(Stmt::Item(uses));
    }
    block.stmts.push(as_written(body.into_iter().collect()));
    Some(item)
}

/// The `use …;` statements that a body begins with, and the rest.
fn split_uses(mut body: Vec<TokenTree>) -> (Vec<TokenTree>, Vec<TokenTree>) {
    let is_end =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ';');
    let mut end = 0;
    while let Some(TokenTree::Ident(word)) = body.get(end)
        && word == "use"
        && let Some(length) = body[end..].iter().position(is_end)
    {
        end += length + 1;
    }
    let rest = body.split_off(end);
    (body, rest)
}

/// Keywords that items begin with.
const ITEMS: &[&str] = &[
    "async",
    "auto",
    "const",
    "crate",
    "default",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro",
    "macro_rules",
    "mod",
    "pub",
    "safe",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// Whether a body may begin with items: generated statements come after them.
fn may_begin_with_item(body: &[TokenTree]) -> bool {
    match body.first() {
        Some(TokenTree::Ident(word)) => ITEMS.contains(&word.to_string().as_str()),
        Some(TokenTree::Punct(punct)) => punct.as_char() == '#',
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::None,
        Some(TokenTree::Literal(_)) | None => false,
    }
}

pub(crate) fn as_written(tokens: TokenStream) -> Stmt {
    Stmt::Expr(Expr::Verbatim(tokens), None)
}

/// The tokens of an unparsed body, without the `use` statements at its head.
pub(crate) fn tokens(block: &Block) -> Option<TokenStream> {
    match &*block.stmts {
        [Stmt::Expr(Expr::Verbatim(tokens), None)]
        | [
            Stmt::Item(Item::Verbatim(_)),
            Stmt::Expr(Expr::Verbatim(tokens), None),
        ] => Some(tokens.clone()),
        _ => None,
    }
}
