//! A bad attribute costs one error and nothing else: the item is emitted all the same.
//!
//! The way of an item: `attr` reads the arguments, `valid` refuses, `block` walks down to functions, `shape` says which form a
//! function gets, `function` gives it that form. A function is put together from its `capture` (arguments, after a look at what
//! `drops` and what is `assigned`), its `output` (return type), its awaits, numbered in `awaits`, `hidden` in macros and placed by
//! `site`, and its `declare`d proc.

mod assigned;
mod attr;
mod awaits;
mod block;
mod capture;
mod closure;
mod declare;
mod drops;
mod expected;
mod function;
mod hidden;
mod inert;
mod known;
mod output;
mod shape;
mod site;
mod valid;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Item, ItemFn, Result};

use attr::{Arguments, Scope};

/// The attribute: `arguments` between its parentheses, `item` below it.
pub(crate) fn instrument(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(arguments, item.clone()).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote!(#item #error)
    })
}

fn expand(arguments: TokenStream, tokens: TokenStream) -> Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    if arguments.skip {
        return Ok(tokens);
    }
    // The compiler has read it: what cannot be read here is newer than this, and stays as it is.
    let (docs, rest) = without_docs(tokens.clone());
    let Ok(mut item) = read(rest) else {
        return Ok(tokens);
    };
    if valid::is_unknown(&item) {
        return Ok(tokens);
    }
    valid::target(&item, &arguments)?;
    let scope = Scope::new(arguments.krate.clone());
    let outcome = match &mut item {
        Item::Fn(item) => function::instrument(item.into(), &arguments, &scope),
        item => block::instrument(item, &scope),
    };
    let errors = outcome.err().map(syn::Error::into_compile_error);
    let item = item.into_token_stream();
    Ok(quote!(#docs #item #errors))
}

/// An item; a function, as most are, at once, and not after a look for every other one.
fn read(tokens: TokenStream) -> Result<Item> {
    syn::parse2::<ItemFn>(tokens.clone())
        .map(Item::Fn)
        .or_else(|_| syn::parse2(tokens))
}

/// The documentation in front of an item, and the item: that there are many lines of it need not cost anything.
fn without_docs(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let mut rest = tokens.into_iter().peekable();
    let (mut docs, mut others) = (TokenStream::new(), TokenStream::new());
    while let Some(TokenTree::Punct(pound)) = rest.peek()
        && pound.as_char() == '#'
    {
        let attribute = [rest.next(), rest.next()];
        let to = if is_doc(&attribute[1]) {
            &mut docs
        } else {
            &mut others
        };
        to.extend(attribute.into_iter().flatten());
    }
    others.extend(rest);
    (docs, others)
}

fn is_doc(body: &Option<TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = body else {
        return false;
    };
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

#[cfg(test)]
mod tests;
