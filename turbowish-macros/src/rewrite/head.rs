//! What stands before an item is told apart before the item is parsed: most of it is documentation, which nobody here reads.

use proc_macro2::{TokenStream, TokenTree};
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

    /// Whether the item is an `async fn`.
    pub(crate) fn is_async_fn(&self) -> bool {
        let words = self.item.clone().into_iter().filter_map(|tree| match tree {
            TokenTree::Ident(word) => Some(word.to_string()),
            _ => None,
        });
        words
            .take_while(|word| word != "fn")
            .any(|word| word == "async")
    }
}

fn is_pound(tree: Option<&TokenTree>) -> bool {
    matches!(tree, Some(TokenTree::Punct(pound)) if pound.as_char() == '#')
}

fn is_doc(body: &Option<TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = body else {
        return false;
    };
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}
