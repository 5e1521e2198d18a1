//! Attributes and documentation in front of an item. They are separated before the item is parsed:
//! most are documentation, which this crate never reads.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

/// An item, in source order, except that documentation is separated from the other attributes.
pub(crate) struct Head {
    pub(crate) docs: TokenStream,
    /// All other attributes.
    attrs: Vec<TokenTree>,
    item: Vec<TokenTree>,
}

impl Head {
    pub(crate) fn of(trees: Vec<TokenTree>) -> Head {
        let (mut docs, mut attrs) = (Vec::new(), Vec::new());
        let mut rest = trees.into_iter().peekable();
        while is_punct(rest.peek(), '#') {
            let attribute = [rest.next(), rest.next()];
            let to = match is_doc(&attribute[1]) {
                true => &mut docs,
                false => &mut attrs,
            };
            to.extend(attribute.into_iter().flatten());
        }
        Head {
            docs: docs.into_iter().collect(),
            attrs,
            item: rest.collect(),
        }
    }

    /// The item and its attributes without documentation.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.attrs.iter().chain(&self.item).cloned().collect()
    }

    /// The item alone.
    pub(crate) fn item(&self) -> TokenStream {
        self.item.iter().cloned().collect()
    }

    /// The attributes without documentation, if there are any and they can be parsed.
    pub(crate) fn attributes(&self) -> Option<Vec<Attribute>> {
        let attrs = (!self.attrs.is_empty()).then(|| self.attrs.iter().cloned().collect())?;
        Attribute::parse_outer.parse2(attrs).ok()
    }

    /// Whether the item is an `async fn`, by the words before its `fn`.
    pub(crate) fn is_async_fn(&self) -> bool {
        let mut words = self.words().take_while(|word| word != "fn");
        words.any(|word| word == "async")
    }

    /// The top-level words of the item, outside of any delimiters.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        self.item.iter().filter_map(|tree| match tree {
            TokenTree::Ident(word) => Some(word.to_string()),
            _ => None,
        })
    }

    /// The item without the content of its final braces, and that content.
    pub(crate) fn braced(&self) -> Option<Braced> {
        let (last, before) = self.item.split_last()?;
        let TokenTree::Group(group) = last else {
            return None;
        };
        if group.delimiter() != Delimiter::Brace {
            return None;
        }
        let (inner, body) = inner_attributes(group.stream().into_iter().collect());
        let mut empty = Group::new(Delimiter::Brace, inner.into_iter().collect());
        empty.set_span(group.span());
        let header = self.attrs.iter().chain(before).cloned();
        Some(Braced {
            header: header.chain([empty.into()]).collect(),
            body,
        })
    }
}

/// An item that ends in braces.
pub(crate) struct Braced {
    /// The item with nothing between the braces but `#![…]`.
    pub(crate) header: TokenStream,
    /// The content of the braces.
    pub(crate) body: Vec<TokenTree>,
}

/// `#![…]` at the head of a block, and the rest.
fn inner_attributes(mut trees: Vec<TokenTree>) -> (Vec<TokenTree>, Vec<TokenTree>) {
    let mut end = 0;
    while is_punct(trees.get(end), '#') && is_punct(trees.get(end + 1), '!') {
        end += 3;
    }
    let body = trees.split_off(end.min(trees.len()));
    (trees, body)
}

fn is_punct(tree: Option<&TokenTree>, c: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == c)
}

fn is_doc(body: &Option<TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = body else {
        return false;
    };
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}
