//! Attributes that are known not to be macros. Any other attribute may be a macro, and a macro must
//! find the `async fn` that the user wrote.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token, parse_quote_spanned};

use super::attr::ours;

/// Built-in attributes that mean the same on `async fn f() -> R` and on `fn f() -> impl
/// Future<Output = R>`.
///
/// `must_use` is absent on purpose: on an `async fn` it applies to the awaited value.
const INERT: &[&str] = &[
    "allow",
    "cfg",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "inline",
    "macro_export",
    "macro_use",
    "no_implicit_prelude",
    "path",
    "warn",
];

/// Attributes that only set the level of lints.
const LINT_LEVELS: &[&str] = &["allow", "deny", "expect", "forbid", "warn"];

/// Tools whose attributes the compiler ignores.
const TOOLS: &[&str] = &["clippy", "diagnostic", "miri", "rust_analyzer", "rustfmt"];

/// Built-in attributes that treat an `async fn` differently from a `fn`, or are allowed on only one
/// of them.
const BUILT_IN: &[&str] = &[
    "export_name",
    "link_section",
    "must_use",
    "no_mangle",
    "target_feature",
    "track_caller",
    "unsafe",
];

/// Whether one of `attrs` may be a macro that reads arguments.
pub(crate) fn any_macro(attrs: &[Attribute]) -> bool {
    let is_known =
        |attribute: &Attribute| is_inert(&attribute.meta) || is_one_of(attribute.path(), BUILT_IN);
    !attrs.iter().all(is_known)
}

/// Whether one of `attrs` may be a macro that has yet to be expanded.
pub(crate) fn any_foreign(attrs: &[Attribute]) -> bool {
    any_foreign_but(attrs, |_| false)
}

/// The same, of attributes for which `excepted` does not hold.
pub(crate) fn any_foreign_but(attrs: &[Attribute], excepted: fn(&Meta) -> bool) -> bool {
    let is_known = |meta: &Meta| is_inert(meta) || excepted(meta);
    !attrs
        .iter()
        .all(|attribute| match conditional(&attribute.meta) {
            Some(metas) => metas.iter().skip(1).all(is_known),
            None => is_known(&attribute.meta),
        })
}

fn is_inert(meta: &Meta) -> bool {
    match conditional(meta) {
        Some(metas) => metas.iter().skip(1).all(is_inert),
        None => is_one_of(meta.path(), INERT) || is_tool(meta.path()),
    }
}

/// Asks the compiler for the name once, instead of once for each comparison.
fn is_one_of(path: &Path, names: &[&str]) -> bool {
    path.get_ident()
        .is_some_and(|ident| names.contains(&ident.to_string().as_str()))
}

/// Suppresses unfulfilled `#[expect]`: an expected lint may find nothing in the rewritten function,
/// such as `unused_async` in a `fn`, and that is irrelevant to the user.
pub(crate) fn excuse(attrs: &mut Vec<Attribute>) {
    if let Some(attribute) = attrs.iter().find(|attribute| expects(&attribute.meta)) {
        let span = ours(attribute.pound_token.span);
        attrs.push(parse_quote_spanned!(span=> #[allow(unfulfilled_lint_expectations)]));
    }
}

fn expects(meta: &Meta) -> bool {
    match conditional(meta) {
        Some(metas) => metas.iter().skip(1).any(expects),
        None => meta.path().is_ident("expect"),
    }
}

/// Whether the attribute sets the level of a lint.
pub(crate) fn is_lint_level(path: &Path) -> bool {
    is_one_of(path, LINT_LEVELS)
}

fn is_tool(path: &Path) -> bool {
    path.segments.len() > 1 && TOOLS.iter().any(|tool| path.segments[0].ident == tool)
}

/// The condition and the attributes of a `cfg_attr`.
fn conditional(meta: &Meta) -> Option<Punctuated<Meta, Token![,]>> {
    let Meta::List(list) = meta else { return None };
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    list.parse_args_with(Punctuated::parse_terminated).ok()
}
