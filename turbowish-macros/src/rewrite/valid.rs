//! Everything that is refused is refused here, with the place and the way out.

use quote::ToTokens;
use syn::{Error, Item, Result, Signature};

use super::attr::Arguments;

/// Whether the attribute can stand on `item` with these arguments.
pub(crate) fn target(item: &Item, arguments: &Arguments) -> Result<()> {
    match item {
        Item::Fn(_) => return Ok(()),
        Item::Impl(_) | Item::Trait(_) => {}
        Item::Mod(module) if module.content.is_some() => {}
        Item::Mod(module) => {
            let message =
                "the attribute does not see into another file; annotate the items inside that file";
            return Err(Error::new_spanned(&module.ident, message));
        }
        Item::Verbatim(tokens) if is_declaration(tokens) => {
            let message = "this function has no body to account; annotate its implementations";
            return Err(Error::new_spanned(tokens, message));
        }
        other => return Err(Error::new_spanned(first_tokens(other), instead_of(other))),
    }
    no_name(arguments)
}

/// Where the attribute belongs that stands on `item`.
fn instead_of(item: &Item) -> &'static str {
    match item {
        Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Type(_) => {
            "a type runs no code; write the attribute on its `impl` blocks"
        }
        Item::Const(_) | Item::Static(_) => {
            "a value runs no code that could be accounted; write the attribute on the functions that use it"
        }
        Item::Use(_) | Item::ExternCrate(_) => {
            "the attribute belongs where the functions are written, not where they are named"
        }
        Item::Macro(_) => {
            "the attribute does not see into a macro; write it inside, on the functions that the macro makes"
        }
        Item::ForeignMod(_) => {
            "functions of another language cannot be instrumented; write the attribute on the functions that call them"
        }
        _ => "only a function, an `impl`, a `trait` or an inline `mod` can be instrumented",
    }
}

/// A name belongs to one function.
pub(crate) fn no_name(arguments: &Arguments) -> Result<()> {
    match &arguments.name {
        Some(name) => {
            let message = "a name belongs to one function; write it on that function";
            Err(Error::new(name.span(), message))
        }
        None => Ok(()),
    }
}

/// Functions that cannot run code of ours.
pub(crate) fn signature(signature: &Signature) -> Result<()> {
    match &signature.constness {
        Some(token) => {
            let message = "a `const fn` cannot be instrumented: it also runs in the compiler, where there is no clock";
            Err(Error::new(token.span, message))
        }
        None => Ok(()),
    }
}

/// Whether an item was read, but not understood.
pub(crate) fn is_unknown(item: &Item) -> bool {
    matches!(item, Item::Verbatim(tokens) if !is_declaration(tokens))
}

fn is_declaration(tokens: &proc_macro2::TokenStream) -> bool {
    syn::parse2::<syn::TraitItemFn>(tokens.clone()).is_ok()
}

/// The item without its body, so that the error marks a line and not a page.
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
