//! Partial parsing of a block: only items that may be rewritten are parsed, those in which `async`
//! or `instrument` is written. All others, and documentation, stay unparsed tokens, which takes a
//! fraction of the time.
//!
//! The end of an item is found by its tokens. A block that cannot be split into items this way is
//! parsed as a whole.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{ImplItem, Item, TraitItem};

use super::outer_attrs::{Braced, Head};
use super::raw_body::{self, MayBeFn};
use super::site;

/// A block, parsed as far as necessary; `None` if it is not a block, or if it must be parsed as a
/// whole.
pub(crate) fn read(head: &Head) -> Option<Item> {
    if !is_block(head) {
        return None;
    }
    let Braced { header, body } = head.braced()?;
    let mut item: Item = syn::parse2(header).ok()?;
    match &mut item {
        Item::Impl(block) => block.items = parts(body, ImplItem::Verbatim)?,
        Item::Trait(block) => block.items = parts(body, TraitItem::Verbatim)?,
        Item::Mod(module) => {
            module.content.as_mut()?.1 = parts(body, Item::Verbatim)?;
        }
        _ => return None,
    }
    Some(item)
}

/// Whether the first keyword of the item is that of a block.
fn is_block(head: &Head) -> bool {
    let kinds = [
        "impl", "trait", "mod", "fn", "struct", "enum", "union", "extern",
    ];
    let kind = head.words().find(|word| kinds.contains(&word.as_str()));
    kind.is_some_and(|kind| ["impl", "trait", "mod"].contains(&kind.as_str()))
}

/// The items of a block: parsed if they may be rewritten, unparsed otherwise.
fn parts<T: MayBeFn>(body: Vec<TokenTree>, as_written: fn(TokenStream) -> T) -> Option<Vec<T>> {
    let mut parts = Vec::new();
    for part in split(body) {
        if !is_of_interest(&part) {
            parts.push(as_written(part.into_iter().collect()));
            continue;
        }
        let head = Head::of(part);
        if !head.docs.is_empty() {
            parts.push(as_written(head.docs.clone()));
        }
        parts.push(raw_body::parse(&head).ok()?);
    }
    Some(parts)
}

/// Splits tokens into items.
fn split(trees: Vec<TokenTree>) -> Vec<Vec<TokenTree>> {
    let mut trees = trees.into_iter().peekable();
    let (mut items, mut item) = (Vec::new(), Vec::new());
    while let Some(tree) = trees.next() {
        let ends = match &tree {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                trees.peek().is_none_or(begins)
            }
            _ => false,
        };
        item.push(tree);
        if ends {
            items.push(std::mem::take(&mut item));
        }
    }
    if !item.is_empty() {
        items.push(item);
    }
    items
}

/// Whether `tree`, after braces, can begin an item; if not, the braces are in the middle of an
/// item.
fn begins(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Ident(word) => !["as", "else", "where"].contains(&word.to_string().as_str()),
        TokenTree::Punct(punct) => ['#', ':', '$'].contains(&punct.as_char()),
        TokenTree::Group(group) => group.delimiter() == Delimiter::None,
        TokenTree::Literal(_) => false,
    }
}

/// Whether an item may have to be rewritten.
fn is_of_interest(item: &[TokenTree]) -> bool {
    site::any_of(item, |tree| match tree {
        TokenTree::Ident(word) => ["async", "instrument"].contains(&word.to_string().as_str()),
        _ => false,
    })
}
