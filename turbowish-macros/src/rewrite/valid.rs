//! Validation. Every error of the attribute is raised here, with the place and the remedy.

use quote::ToTokens;
use syn::{Error, ForeignItem, Item, Result, Signature, TraitItem};

use super::attr::Arguments;

const FOREIGN: &str = "functions of another language cannot be instrumented; write the attribute on the functions that call them";
const ONLY: &str = "only a function, an `impl`, a `trait` or an inline `mod` can be instrumented";
const TYPE: &str = "a type runs no code; write the attribute on its `impl` blocks";
const VALUE: &str = "a value runs no code that could be accounted; write the attribute on the functions that use it";

/// Whether the attribute is allowed on `item` with these arguments.
pub(crate) fn target(item: &Item, arguments: &Arguments) -> Result<()> {
    match item {
        Item::Fn(_) => return Ok(()),
        Item::Impl(_) | Item::Trait(_) => {}
        Item::Mod(module) if module.content.is_some() => {}
        Item::Mod(module) => {
            let message =
                "the attribute cannot see into another file; annotate the items inside that file";
            return Err(Error::new_spanned(&module.ident, message));
        }
        Item::Verbatim(tokens) => {
            let message = declared(tokens).unwrap_or(ONLY);
            return Err(Error::new_spanned(tokens, message));
        }
        other => return Err(Error::new_spanned(first_tokens(other), instead_of(other))),
    }
    no_name(arguments)
}

/// The place where the attribute belongs instead of `item`.
fn instead_of(item: &Item) -> &'static str {
    match item {
        Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Type(_) => TYPE,
        Item::Const(_) | Item::Static(_) => VALUE,
        Item::Use(_) | Item::ExternCrate(_) => {
            "the attribute belongs where the functions are written, not where they are named"
        }
        Item::Macro(_) => {
            "the attribute cannot see into a macro; write it inside, on the functions that the macro makes"
        }
        Item::ForeignMod(_) => FOREIGN,
        _ => ONLY,
    }
}

/// A name belongs to one function, and so do intents.
pub(crate) fn no_name(arguments: &Arguments) -> Result<()> {
    if let Some(said) = arguments.intents.first() {
        let message = "an intent belongs to one function; write it on that function";
        return Err(Error::new(said.operation.span, message));
    }
    match &arguments.name {
        Some(name) => {
            let message = "a name belongs to one function; write it on that function";
            Err(Error::new(name.span(), message))
        }
        None => Ok(()),
    }
}

/// Rejects functions that cannot run generated code.
pub(crate) fn signature(signature: &Signature) -> Result<()> {
    match &signature.constness {
        Some(token) => {
            let message = "a `const fn` cannot be instrumented: it also runs at compile time, where there is no clock";
            Err(Error::new(token.span, message))
        }
        None => Ok(()),
    }
}

/// Whether an item was parsed, but not understood.
pub(crate) fn is_unknown(item: &Item) -> bool {
    matches!(item, Item::Verbatim(tokens) if declared(tokens).is_none())
}

/// The place where the attribute belongs instead of a declaration in a trait or an `extern` block;
/// `None` if these tokens are something else.
fn declared(tokens: &proc_macro2::TokenStream) -> Option<&'static str> {
    match syn::parse2(tokens.clone()) {
        Ok(TraitItem::Fn(_)) => {
            return Some(
                "this function has no body to account; annotate its implementations, or the functions that call it",
            );
        }
        Ok(TraitItem::Const(_)) => return Some(VALUE),
        Ok(TraitItem::Type(_)) => return Some(TYPE),
        _ => {}
    }
    match syn::parse2(tokens.clone()) {
        Ok(ForeignItem::Fn(_) | ForeignItem::Static(_) | ForeignItem::Type(_)) => Some(FOREIGN),
        _ => None,
    }
}

/// The item without its body, so that the error marks one line.
fn first_tokens(item: &Item) -> proc_macro2::TokenStream {
    let is_head = |tree: &proc_macro2::TokenTree| !matches!(tree, proc_macro2::TokenTree::Group(_));
    let mut trees = item.to_token_stream().into_iter().peekable();
    // Attributes come first: `#` and a group.
    while trees
        .next_if(
            |tree| matches!(tree, proc_macro2::TokenTree::Punct(punct) if punct.as_char() == '#'),
        )
        .is_some()
    {
        trees.next();
    }
    trees.take_while(is_head).collect()
}
