//! What stands before an item is told apart before the item is parsed: most of it is documentation, which nobody here reads.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

/// An item, in the order in which it is written, but for documentation between attributes.
pub(crate) struct Head {
    pub(crate) docs: TokenStream,
    /// All other attributes.
    pub(crate) attrs: TokenStream,
    pub(crate) item: TokenStream,
}

impl Head {
    pub(crate) fn of(tokens: TokenStream) -> Head {
        let (mut docs, mut attrs) = (TokenStream::new(), TokenStream::new());
        if !is_pound(tokens.clone().into_iter().next().as_ref()) {
            return Head {
                docs,
                attrs,
                item: tokens,
            };
        }
        let mut rest = tokens.into_iter().peekable();
        while is_pound(rest.peek()) {
            let attribute = [rest.next(), rest.next()];
            let to = match is_doc(&attribute[1]) {
                true => &mut docs,
                false => &mut attrs,
            };
            to.extend(attribute.into_iter().flatten());
        }
        Head {
            docs,
            attrs,
            item: rest.collect(),
        }
    }

    /// The attributes but for documentation, if they can be read.
    pub(crate) fn attributes(&self) -> Option<Vec<Attribute>> {
        Attribute::parse_outer.parse2(self.attrs.clone()).ok()
    }
}

/// An item that ends in braces, apart from what is in them.
pub(crate) struct Braced {
    /// The item with nothing between the braces but `#![…]`.
    pub(crate) header: TokenStream,
    /// What was there.
    pub(crate) body: TokenStream,
}

impl Braced {
    pub(crate) fn of(tokens: TokenStream) -> Option<Braced> {
        let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
        let Some(TokenTree::Group(group)) = trees.pop() else {
            return None;
        };
        if group.delimiter() != Delimiter::Brace {
            return None;
        }
        let (inner, body) = inner_attributes(group.stream());
        let mut empty = Group::new(Delimiter::Brace, inner);
        empty.set_span(group.span());
        trees.push(empty.into());
        Some(Braced {
            header: trees.into_iter().collect(),
            body,
        })
    }
}

/// `#![…]` at the head of a block, and the rest.
fn inner_attributes(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let mut ahead = tokens.clone().into_iter();
    if !is_punct(ahead.next().as_ref(), '#') || !is_punct(ahead.next().as_ref(), '!') {
        return (TokenStream::new(), tokens);
    }
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut end = 0;
    while is_punct(trees.get(end), '#') && is_punct(trees.get(end + 1), '!') {
        end += 3;
    }
    let mut trees = trees.into_iter();
    (trees.by_ref().take(end).collect(), trees.collect())
}

/// Whether an item is an `async fn`, told from the words before its `fn`.
pub(crate) fn is_async_fn(tokens: TokenStream) -> bool {
    let words = tokens.into_iter().filter_map(|tree| match tree {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    words
        .take_while(|word| word != "fn")
        .any(|word| word == "async")
}

fn is_pound(tree: Option<&TokenTree>) -> bool {
    is_punct(tree, '#')
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
