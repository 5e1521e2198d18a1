//! `#[tracing::instrument]` and `#[async_recursion]` keep the attributes below them and put the body into an `async` block. They
//! expand first, and that block is the call: it captures what it captures without ours, and a call is one future, not two.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Block, Local, Meta, Pat, Stmt};

use super::attr::{Arguments, Scope};
use super::inert;
use super::outer_attrs::Head;

/// What the names of the variables begin with that the attribute makes.
const NAMES: &str = "__tracing_attr_";

/// The paths of attributes that keep those below them and make the body an `async` block.
const FIRST: &[&str] = &[
    "async_recursion",
    "async_recursion::async_recursion",
    "instrument",
    "tracing::instrument",
];

/// Whether every attribute in `attrs` that has yet to be expanded goes before ours, and there is one.
pub(crate) fn comes_first(attrs: &[Attribute]) -> bool {
    inert::any_foreign(attrs) && !inert::any_foreign_but(attrs, is_first)
}

fn is_first(meta: &Meta) -> bool {
    let names = meta
        .path()
        .segments
        .iter()
        .map(|each| each.ident.to_string());
    let names: Vec<String> = names.collect();
    FIRST.contains(&names.join("::").as_str())
}

/// An `async fn` with our attribute behind those that go first, if it has any; there is no need to parse it yet.
pub(crate) fn again_behind(
    head: &Head,
    arguments: &Arguments,
    scope: &Scope,
) -> Option<TokenStream> {
    if !head.is_async_fn() {
        return None;
    }
    let mut attrs = head.attributes()?;
    // An annotated block around may have put one behind already: one is enough.
    let before = scope.take(&mut attrs).ok()?.unwrap_or_default();
    if before.skip || !comes_first(&attrs) {
        return None;
    }
    let scope = scope.inside(&before, false);
    let arguments = match &arguments.name {
        None if arguments.intents.is_empty() => &before,
        _ => arguments,
    };
    let again = again(arguments, &scope);
    let (docs, item) = (&head.docs, head.item());
    Some(quote!(#docs #(#attrs)* #again #item))
}

/// Our attribute once more, for behind all others.
pub(crate) fn again(arguments: &Arguments, scope: &Scope) -> TokenStream {
    let span = Span::call_site();
    let name = arguments
        .name
        .iter()
        .map(|name| quote_spanned!(span=> name = #name));
    let (path, krate) = scope.attribute(span);
    let intents = [(true, "intends"), (false, "may")].map(|(will, key)| {
        let of_kind = arguments.intents.iter().filter(|said| said.will == will);
        let said: Vec<TokenStream> = of_kind.map(|said| said.operation.written()).collect();
        let key = Ident::new(key, span);
        (!said.is_empty()).then(|| quote_spanned!(span=> #key(#(#said),*)))
    });
    let intents = intents.into_iter().flatten();
    let attributes = scope.attributes.again();
    let said = name.chain(intents).chain(krate).chain(attributes);
    let said: Vec<TokenStream> = said.collect();
    if said.is_empty() {
        return quote_spanned!(span=> #[#path]);
    }
    quote_spanned!(span=> #[#path(#(#said),*)])
}

/// Whether the body of a function is what the attribute made of it.
pub(crate) fn is_body(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Local(Local {
            pat: Pat::Ident(pat),
            ..
        }) => is_name(&pat.ident.to_string()),
        _ => false,
    })
}

/// Whether a variable is one that the attribute makes.
pub(crate) fn is_name(variable: &str) -> bool {
    variable.starts_with(NAMES)
}

/// Whether the user wrote `word` at `span`, and no macro made it.
pub(crate) fn is_written(span: Span, word: &str) -> bool {
    span.source_text().is_none_or(|text| text == word)
}
