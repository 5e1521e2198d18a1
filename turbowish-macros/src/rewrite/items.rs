//! Of a block only the items are parsed that may be rewritten: those in which `async` or `instrument` is written. All others, and
//! documentation, stay the tokens that they are, which takes a fraction of the time.
//!
//! Where an item ends is told by its tokens. Whatever does not come out as items that way is parsed as a whole.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{ImplItem, Item, TraitItem};

use super::outer_attrs::{Braced, Head};
use super::raw_body::{self, MayBeFn};
use super::site;

/// A block, read as far as it has to be; `None` if it is none, or if it is to be parsed as a whole.
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

/// Whether the first word that says what it is says so of a block.
fn is_block(head: &Head) -> bool {
    let kinds = [
        "impl", "trait", "mod", "fn", "struct", "enum", "union", "extern",
    ];
    let kind = head.words().find(|word| kinds.contains(&word.as_str()));
    kind.is_some_and(|kind| ["impl", "trait", "mod"].contains(&kind.as_str()))
}

/// The items of a block: parsed, where something may be to do, and as they are elsewhere.
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

/// Items, by their tokens.
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

/// Whether an item can begin with `tree`, behind braces; if not, the braces are in the middle of one.
fn begins(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Ident(word) => !["as", "else", "where"].contains(&word.to_string().as_str()),
        TokenTree::Punct(punct) => ['#', ':', '$'].contains(&punct.as_char()),
        TokenTree::Group(group) => group.delimiter() == Delimiter::None,
        TokenTree::Literal(_) => false,
    }
}

/// Whether there may be something to do in an item.
fn is_of_interest(item: &[TokenTree]) -> bool {
    site::any_of(item, |tree| match tree {
        TokenTree::Ident(word) => ["async", "instrument"].contains(&word.to_string().as_str()),
        _ => false,
    })
}
