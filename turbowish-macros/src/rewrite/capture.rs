//! Capture of arguments. A call owns every argument, used or not, and drops them in the same order
//! as the original `async fn`.
//!
//! An original call that was never polled drops its arguments in declaration order; one that was
//! polled, or has completed, in reverse order, after its locals. An `async move` block captures the
//! variables that it mentions, in the order of first mention, and always drops its captures in that
//! order. Therefore the generated block mentions the arguments in order, and binds all but the
//! first argument with drop glue to locals, which are dropped in reverse and before the captures. A
//! capture that is not bound to a local is not stored twice.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Ident, Pat, PatIdent, PatType, Token};

use super::attr::ours;
use super::drops::{may_borrow, may_drop, receiver_may_drop};
use super::inert;
use super::simple_body::Plain;

/// Gives every argument of a signature a plain name, and returns the statements that the `async`
/// block begins with: `let _ = &self; let _ = &x; let (a, b) = y; let z = z;`
///
/// Arguments without drop glue need no explicit mention if the body uses them: every mention costs
/// compile time.
pub(crate) fn plan(
    inputs: &mut Punctuated<FnArg, Token![,]>,
    plain: Option<&Plain>,
) -> TokenStream {
    let is_used = |name: &str| plain.is_some_and(|plain| plain.has_word(name));
    let mut statements = TokenStream::new();
    let mut kept = false;
    for (index, input) in inputs.iter_mut().enumerate() {
        match input {
            FnArg::Receiver(receiver) => {
                let drops = receiver_may_drop(receiver);
                if drops || !is_used("self") {
                    statements.extend(mention(&[], &receiver.self_token));
                }
                kept |= drops;
            }
            FnArg::Typed(input) => {
                inert::excuse(&mut input.attrs);
                let drops = may_drop(&input.ty);
                if let (false, Pat::Ident(pat)) = (drops, &*input.pat)
                    && is_variable(pat)
                    && pat.mutability.is_none()
                    && is_used(&pat.ident.to_string())
                {
                    continue;
                }
                match argument(input, index, kept && drops) {
                    CaptureStatement::Mention(tokens) | CaptureStatement::Bind(tokens) => {
                        statements.extend(tokens);
                    }
                }
                kept |= drops;
            }
        }
    }
    statements
}

/// The same for a block inside an `async fn`, which is polled as soon as it is created: only the
/// order of the captures up to the first pattern has to be right, last to first.
pub(crate) fn moved(inputs: &mut Punctuated<FnArg, Token![,]>) -> TokenStream {
    let mut mentions = Vec::new();
    let mut binds = TokenStream::new();
    for (index, input) in inputs.iter_mut().enumerate() {
        match input {
            FnArg::Receiver(receiver) => mentions.push(mention(&[], &receiver.self_token)),
            FnArg::Typed(input) => {
                inert::excuse(&mut input.attrs);
                match argument(input, index, !binds.is_empty()) {
                    CaptureStatement::Mention(tokens) => mentions.push(tokens),
                    CaptureStatement::Bind(tokens) => binds.extend(tokens),
                }
            }
        }
    }
    mentions.into_iter().rev().chain([binds]).collect()
}

/// Mentions of everything that the patterns bind, last to first, for a function whose arguments
/// must not change because another macro reads them. Arguments without a name are left out, and so
/// are those without drop glue: that macro may put the body into a box that outlives an argument
/// which the body does not use. All arguments from the first that must become a local become
/// locals.
pub(crate) fn names(inputs: &Punctuated<FnArg, Token![,]>) -> TokenStream {
    let mut names = Names::default();
    for input in inputs {
        match input {
            FnArg::Receiver(receiver) if receiver_may_drop(receiver) => {
                names.captures.push(mention(&[], &receiver.self_token));
            }
            FnArg::Typed(input) if may_drop(&input.ty) || may_change(input) => {
                names.cfg = attributes(&input.attrs, |path| path.is_ident("cfg"));
                names.local |= may_change(input);
                names.visit_pat(&input.pat);
            }
            FnArg::Receiver(_) | FnArg::Typed(_) => {}
        }
    }
    let captures = names.captures.into_iter().rev();
    captures.chain([names.locals]).collect()
}

/// Whether a value with a shorter lifetime than the call may be stored in the argument.
fn may_change(input: &PatType) -> bool {
    matches!(&*input.pat, Pat::Ident(pat) if pat.mutability.is_some()) && may_borrow(&input.ty)
}

/// `let name = name;`. If the argument is `mut` and must stay so, it is preceded by `let _ = &mut
/// name;`.
fn local(pat: &PatIdent, cfg: &[Attribute]) -> TokenStream {
    let name = &pat.ident;
    let span = ours(name.span());
    let quiet = quiet(&name.to_string(), span);
    let mutable = pat.by_ref.is_none().then_some(pat.mutability).flatten();
    let used =
        mutable.map(|mutable| quote_spanned!(span=> #(#cfg)* #quiet let _ = &#mutable #name;));
    let lints = mutable.map(|_| quote_spanned!(span=> #[allow(unused_mut)]));
    quote_spanned! {span=>
        #used
        #(#cfg)*
        #quiet
        #lints
        #[allow(clippy::shadow_reuse, clippy::shadow_same)]
        let #mutable #name = #name;
    }
}

/// `let _ = &name;`
fn mention<T: ToTokens + Spanned>(attrs: &[Attribute], name: &T) -> TokenStream {
    let name_text = name.to_token_stream().to_string();
    let quiet = quiet(&name_text, name.span());
    quote_spanned!(ours(name.span())=> #(#attrs)* #quiet let _ = &#name;)
}

/// An `allow` for an argument whose name declares it unused.
fn quiet(name: &str, span: proc_macro2::Span) -> Option<TokenStream> {
    name.starts_with('_').then(|| {
        quote_spanned! {ours(span)=>
            #[allow(clippy::used_underscore_binding, clippy::no_effect_underscore_binding)]
        }
    })
}

fn attributes(attrs: &[Attribute], fits: impl Fn(&syn::Path) -> bool) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attribute| fits(attribute.path()))
        .cloned()
        .collect()
}

/// Everything that patterns bind, in order.
#[derive(Default)]
struct Names {
    cfg: Vec<Attribute>,
    captures: Vec<TokenStream>,
    /// The bindings that follow must become locals.
    local: bool,
    locals: TokenStream,
}

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        // A constant in a pattern is not a binding.
        if self.local && !is_upper(&pat.ident) {
            self.locals.extend(local(pat, &self.cfg));
        } else {
            self.captures.push(mention(&self.cfg, &pat.ident));
        }
        visit::visit_pat_ident(self, pat);
    }
}

/// The statement at the head of an `async` block for one argument.
enum CaptureStatement {
    /// The argument becomes a capture.
    Mention(TokenStream),
    /// The argument becomes a local.
    Bind(TokenStream),
}

/// Gives the argument a plain name, and rebinds it if `local` is set or if it has a pattern.
///
/// A `mut` argument that may borrow becomes a local as well: the body may store something in it
/// that lives shorter than the call, or assign it as a whole. A local can have a shorter lifetime
/// than the argument; a capture has the lifetime of the argument.
fn argument(input: &mut PatType, index: usize, local: bool) -> CaptureStatement {
    let local = local || may_change(input);
    let cfg = attributes(&input.attrs, |path| path.is_ident("cfg"));
    let is_wild = matches!(&*input.pat, Pat::Wild(_));
    let (name, simple) = match &*input.pat {
        Pat::Ident(pat) if is_variable(pat) => (pat.ident.clone(), true),
        pat => {
            let span = ours(pat.span());
            (
                format_ident!("__turbowish_argument_{index}", span = span),
                false,
            )
        }
    };
    if simple && !local {
        return CaptureStatement::Mention(mention(&cfg, &name));
    }
    let pat = std::mem::replace(&mut *input.pat, plain(&name));
    let span = ours(name.span());
    match (is_wild, local) {
        // `let _ = x` would not move `x`.
        (true, true) => CaptureStatement::Bind(quote_spanned!(span=> #(#cfg)* let #name = #name;)),
        (true, false) => CaptureStatement::Mention(quote_spanned!(span=> #(#cfg)* let _ = &#name;)),
        (false, _) => CaptureStatement::Bind(bind(&pat, &name, &input.attrs, &cfg)),
    }
}

/// Whether a pattern is `x` or `mut x`, and no constant or unit struct.
fn is_variable(pat: &PatIdent) -> bool {
    pat.by_ref.is_none() && pat.subpat.is_none() && !is_upper(&pat.ident)
}

fn is_upper(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// `let (a, b) = name;`, as the compiler does it: the part that the pattern does not bind is a
/// local as well.
fn bind(pat: &Pat, name: &Ident, attrs: &[Attribute], cfg: &[Attribute]) -> TokenStream {
    let lints = attributes(attrs, inert::is_lint_level);
    let span = ours(name.span());
    let rest = Rest::of(pat);
    let whole = rest.left.then(|| {
        let mutable = rest
            .mutable
            .then(|| quote_spanned!(span=> #[allow(unused_mut)] let mut));
        let start = mutable.unwrap_or_else(|| quote_spanned!(span=> let));
        quote_spanned!(span=> #(#cfg)* #start #name = #name;)
    });
    let quiet = match pat {
        Pat::Ident(pat) => quiet(&pat.ident.to_string(), span),
        _ => None,
    };
    quote_spanned! {span=>
        #whole
        #(#cfg)*
        #(#lints)*
        #quiet
        #[allow(clippy::shadow_reuse, clippy::shadow_same)]
        let #pat = #name;
    }
}

fn plain(name: &Ident) -> Pat {
    Pat::Ident(PatIdent {
        attrs: Vec::new(),
        by_ref: None,
        mutability: None,
        ident: name.clone(),
        subpat: None,
    })
}

/// Effects of a pattern on its value other than moving all of it.
#[derive(Default)]
struct Rest {
    /// The pattern may leave a part unmoved: that part must not stay among the captures.
    left: bool,
    /// The pattern borrows a part mutably.
    mutable: bool,
}

impl Rest {
    fn of(pat: &Pat) -> Rest {
        let mut rest = Rest::default();
        rest.visit_pat(pat);
        rest
    }
}

impl<'ast> Visit<'ast> for Rest {
    fn visit_pat(&mut self, pat: &'ast Pat) {
        self.left |= match pat {
            Pat::Wild(_) | Pat::Rest(_) | Pat::Path(_) | Pat::Struct(_) | Pat::Macro(_) => true,
            Pat::Ident(pat) => {
                self.mutable |= pat.by_ref.is_some() && pat.mutability.is_some();
                pat.by_ref.is_some() || !is_variable(pat)
            }
            _ => false,
        };
        visit::visit_pat(self, pat);
    }
}
