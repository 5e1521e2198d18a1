//! A call owns every argument, used or not, and drops them in the order in which the plain `async fn` does.
//!
//! An `async move` block captures what it mentions, in the order of first mention, and drops captures in that order after its
//! locals. So the arguments are mentioned in reverse. From the first destructured argument on, arguments are bound to
//! locals in order, because what a pattern binds is a local too.

use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Ident, Pat, PatIdent, PatType, Token};

use super::attr::ours;

/// The statements that an `async` block begins with.
#[derive(Default)]
pub(crate) struct Captures {
    /// `let _ = &z; let _ = &y; let _ = &self;`
    pub(crate) mention: TokenStream,
    /// `let (a, b) = y; let z = z;`
    pub(crate) bind: TokenStream,
}

/// Makes every argument of a signature a plain name.
pub(crate) fn plan(inputs: &mut Punctuated<FnArg, Token![,]>) -> Captures {
    let mut captures = Captures::default();
    let mut mentions = Vec::new();
    let mut binding = false;
    for (index, input) in inputs.iter_mut().enumerate() {
        match input {
            FnArg::Receiver(receiver) => {
                let this = receiver.self_token;
                mentions.push(quote_spanned!(ours(this.span)=> let _ = &#this;));
            }
            FnArg::Typed(input) => {
                let (name, bound) = plain(input, index, &mut binding);
                mentions.push(mention(&cfg(&input.attrs), &name));
                captures.bind.extend(bound);
            }
        }
    }
    captures.mention = mentions.into_iter().rev().collect();
    captures
}

/// The mentions alone, for a function whose arguments are bound by the compiler.
pub(crate) fn names(inputs: &Punctuated<FnArg, Token![,]>) -> Captures {
    let mut names = Names::default();
    for input in inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let this = receiver.self_token;
                names
                    .mentions
                    .push(quote_spanned!(ours(this.span)=> let _ = &#this;));
            }
            FnArg::Typed(input) => {
                names.cfg = cfg(&input.attrs);
                names.visit_pat(&input.pat);
            }
        }
    }
    Captures {
        mention: names.mentions.into_iter().rev().collect(),
        bind: TokenStream::new(),
    }
}

/// `let _ = &name;`, if the argument is configured in. The user may have said by the name that it is not used.
fn mention(cfg: &[Attribute], name: &Ident) -> TokenStream {
    quote_spanned! {ours(name.span())=>
        #(#cfg)*
        #[allow(clippy::used_underscore_binding, clippy::no_effect_underscore_binding)]
        let _ = &#name;
    }
}

fn cfg(attrs: &[Attribute]) -> Vec<Attribute> {
    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    attrs.iter().filter(is_cfg).cloned().collect()
}

/// Everything that patterns bind, in order.
#[derive(Default)]
struct Names {
    cfg: Vec<Attribute>,
    mentions: Vec<TokenStream>,
}

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        self.mentions.push(mention(&self.cfg, &pat.ident));
        visit::visit_pat_ident(self, pat);
    }
}

/// The name of an argument, and the `let` that gives it its pattern back, if it needs one.
fn plain(input: &mut PatType, index: usize, binding: &mut bool) -> (Ident, Option<TokenStream>) {
    let name = match &*input.pat {
        Pat::Ident(PatIdent {
            by_ref: None,
            subpat: None,
            ident,
            ..
        }) => ident.clone(),
        pat => {
            *binding |= !matches!(pat, Pat::Wild(_));
            format_ident!("__turbowish_argument_{}", index, span = ours(pat.span()))
        }
    };
    let named = PatIdent {
        attrs: Vec::new(),
        by_ref: None,
        mutability: None,
        ident: name.clone(),
        subpat: None,
    };
    if !*binding {
        if matches!(&*input.pat, Pat::Wild(_)) {
            *input.pat = Pat::Ident(named);
        }
        return (name, None);
    }
    let mut pat = std::mem::replace(&mut *input.pat, Pat::Ident(named));
    if let Pat::Wild(wild) = pat {
        // `let _ = x` would leave `x` where it is: among the captures, dropped last.
        pat = Pat::Ident(PatIdent {
            attrs: wild.attrs,
            by_ref: None,
            mutability: None,
            ident: name.clone(),
            subpat: None,
        });
    }
    let attrs = &input.attrs;
    let span = ours(name.span());
    let whole = leaves_a_rest(&pat).then(|| quote_spanned!(span=> #(#attrs)* let #name = #name;));
    let bound = quote_spanned! {span=>
        #whole
        #(#attrs)*
        #[allow(clippy::redundant_locals, clippy::toplevel_ref_arg, clippy::shadow_same)]
        let #pat = #name;
    };
    (name, Some(bound))
}

/// Whether a pattern may leave a part of its value where it was: that part must not stay among the captures.
fn leaves_a_rest(pat: &Pat) -> bool {
    let mut rest = Rest(false);
    rest.visit_pat(pat);
    rest.0
}

struct Rest(bool);

impl<'ast> Visit<'ast> for Rest {
    fn visit_pat(&mut self, pat: &'ast Pat) {
        self.0 |= match pat {
            Pat::Wild(_) | Pat::Rest(_) | Pat::Path(_) | Pat::Struct(_) | Pat::Macro(_) => true,
            Pat::Ident(pat) => pat.by_ref.is_some(),
            _ => false,
        };
        visit::visit_pat(self, pat);
    }
}
