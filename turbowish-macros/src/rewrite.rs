//! Expansion of the attribute. An invalid attribute costs one error and nothing else: the item is
//! still emitted.
//!
//! Stages: `attr` parses the arguments, `outer_attrs` the attributes in front of the item, `items`
//! and `raw_body` parse as little of the item as they can, `valid` rejects, `block` descends to
//! functions, `shape` selects the form of a function, `function` applies it. A function is
//! assembled from its `capture` (arguments, after `drops` and `assigned` have been consulted), the
//! `lifetimes` of its arguments, its `output` (return type), its awaits (found in a `simple_body`
//! or numbered in `awaits`, those in `opaque_macros` included, located by `site`), its `intents`,
//! and its `proc_static`.

mod assigned;
mod attr;
mod attributes;
mod awaits;
mod block;
mod capture;
mod closure;
mod drops;
mod expected;
mod function;
mod inert;
mod intents;
mod items;
mod known_macros;
mod lifetimes;
mod opaque_macros;
mod outer_attrs;
mod output;
mod proc_static;
mod raw_body;
mod shape;
mod simple_body;
mod site;
mod tracing_compat;
mod valid;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Item, ItemFn, Result};

use attr::{Arguments, Scope};
use outer_attrs::Head;

/// The attribute: `arguments` are the tokens between its parentheses, `item` is the annotated item.
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
    let scope = Scope::new(arguments.krate.clone()).inside(&arguments, false);
    let head = Head::of(tokens.clone().into_iter().collect());
    if let Some(again) = tracing_compat::again_behind(&head, &arguments, &scope) {
        return Ok(again);
    }
    // The compiler has parsed it: syntax that fails here is newer than this crate, and is left
    // unchanged.
    let Ok(mut item) = read(&head) else {
        return Ok(tokens);
    };
    if valid::is_unknown(&item) {
        return Ok(tokens);
    }
    valid::target(&item, &arguments)?;
    let outcome = match &mut item {
        Item::Fn(item) => function::instrument(item.into(), &arguments, &scope),
        item => block::instrument(item, &scope),
    };
    let errors = outcome.err().map(syn::Error::into_compile_error);
    let (docs, item) = (head.docs, item.into_token_stream());
    Ok(quote!(#docs #item #errors))
}

/// Parses an item. A function, the most common case, is parsed directly, without trying other kinds
/// first.
fn read(head: &Head) -> Result<Item> {
    if let Some(block) = items::read(head) {
        return Ok(block);
    }
    raw_body::parse::<ItemFn>(head)
        .map(Item::Fn)
        .or_else(|_| syn::parse2(head.tokens()))
}

#[cfg(test)]
mod tests;
