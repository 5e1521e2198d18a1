//! Recognition of TurboWish attributes, by the same rules as the attribute macro.

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{AttrStyle, Meta, Token};

use super::names::{Names, segments};
use super::plan::ATTRIBUTE;
use super::source::Source;
use super::tree::{Attribute, Own};

/// The attributes of an item, and the positions of TurboWish attributes among them.
pub(crate) fn read(
    attrs: &[syn::Attribute],
    names: &Names,
    source: &Source,
) -> (Option<Own>, Vec<Attribute>) {
    let mut own = None;
    let mut found = Vec::new();
    for attribute in attrs {
        if !matches!(attribute.style, AttrStyle::Outer) {
            continue;
        }
        let says = match attribute.path().is_ident("cfg_attr") {
            true => conditional(attribute, names),
            false => ours(&attribute.meta, names),
        };
        if says.is_some() {
            own = own.max(says);
            let range = source.range(attribute.span());
            found.push(Attribute {
                inserted: source.text()[range.clone()] == *ATTRIBUTE,
                range,
            });
        }
    }
    (own, found)
}

/// Reads `cfg_attr`. Only the compiler knows whether its condition holds: it counts as true.
fn conditional(attribute: &syn::Attribute, names: &Names) -> Option<Own> {
    let metas = attribute.parse_args_with(behind_condition).ok()?;
    metas.iter().filter_map(|meta| ours(meta, names)).max()
}

fn behind_condition(input: ParseStream<'_>) -> syn::Result<Punctuated<Meta, Token![,]>> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    input.parse::<Token![,]>()?;
    Punctuated::parse_terminated(input)
}

fn ours(meta: &Meta, names: &Names) -> Option<Own> {
    let written = segments(meta.path());
    let path = names.resolve(&written);
    let named = path.ends_with(&OURS.map(str::to_owned))
        || written == ["instrument"]
            && path == written
            && names.globs().any(|module| module == ["turbowish"]);
    let skips = skips(meta);
    // A plain `#[instrument(skip)]` cannot belong to another crate.
    let plain = written == ["instrument"] && skips;
    (named || plain).then_some(if skips { Own::Skips } else { Own::Covers })
}

const OURS: [&str; 2] = ["turbowish", "instrument"];

/// Whether `skip` is among the arguments.
fn skips(meta: &Meta) -> bool {
    let Meta::List(list) = meta else { return false };
    let arguments = list.parse_args_with(|input: ParseStream<'_>| {
        let mut skips = false;
        while !input.is_empty() {
            let key: Option<syn::Ident> = input.call(syn::ext::IdentExt::parse_any).ok();
            skips |=
                key.is_some_and(|key| key == "skip") && (input.is_empty() || input.peek(Token![,]));
            while !input.is_empty() && !input.peek(Token![,]) {
                input.parse::<proc_macro2::TokenTree>()?;
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(skips)
    });
    arguments.unwrap_or(false)
}
