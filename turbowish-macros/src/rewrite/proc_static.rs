//! The `static` of a proc. It stands at the head of the code that it describes, and inner code
//! finds it by its name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Block, Expr, Item, LitStr, Stmt};

use super::attr::{Scope, ours};
use super::site::Site;

/// The name of the `static`; the innermost one in scope is the proc of the code that names it.
pub(crate) const PROC: &str = "__TURBOWISH_PROC";

/// The name of the type that marks the proc's location: the compiler gives its path. Nested blocks
/// use the same type.
const PATH: &str = "__TurbowishPath";

/// A proc as it will be declared.
pub(crate) struct Proc<'a> {
    /// Replaces the function's name; empty for none.
    pub(crate) name: &'a str,
    /// The beginning of the proc: the name of a function, the `async` of a block.
    pub(crate) place: Span,
    /// Its await points, by index.
    pub(crate) sites: &'a [Site],
}

impl Proc<'_> {
    /// `static __TURBOWISH_PROC: Proc = Proc::new(…);`
    pub(crate) fn declare(&self, scope: &Scope) -> TokenStream {
        let span = ours(self.place);
        let private = scope.private(span);
        let (proc, path) = (Ident::new(PROC, span), Ident::new(PATH, span));
        let name = LitStr::new(self.name, span);
        let places = LitStr::new(&self.places(scope), span);
        quote_spanned! {span=>
            static #proc: #private::Proc = #private::Proc::new::<#path>(#name, #places);
        }
    }

    /// The location, the attributes and the await points, one line each.
    fn places(&self, scope: &Scope) -> String {
        let start = self.place.start();
        let mut places = format!("{} {}", start.line, self.place.file());
        scope.attributes.write(&mut places);
        for site in self.sites {
            places.push('\n');
            site.write(&mut places);
        }
        places
    }
}

/// The proc of an `async` block or closure, named after the line of its `async`.
pub(crate) fn nested(place: Span, sites: &[Site], scope: &Scope) -> TokenStream {
    let name = format!("async@{}", place.start().line);
    let proc = Proc {
        name: &name,
        place,
        sites,
    };
    proc.declare(scope)
}

/// `struct __TurbowishPath;`: the cheapest item to compile, and one without the function's
/// generics.
pub(crate) fn path(place: Span) -> TokenStream {
    let span = ours(place);
    let path = Ident::new(PATH, span);
    quote_spanned!(span=> struct #path;)
}

/// Sets the user's name in a proc that is already declared at the head of `block`.
pub(crate) fn rename(block: &mut Block, name: &LitStr) {
    if let Some(Stmt::Item(Item::Static(proc))) = block.stmts.first_mut()
        && let Expr::Call(call) = &mut *proc.expr
        && let Some(argument) = call.args.first_mut()
    {
        *argument = Expr::Lit(syn::ExprLit {
            attrs: Vec::new(),
            lit: syn::Lit::Str(name.clone()),
        });
    }
}

/// A reference to the proc in scope.
pub(crate) fn proc(span: Span) -> Ident {
    format_ident!("{}", PROC, span = span)
}

/// A literal for an index.
pub(crate) fn number(value: usize) -> proc_macro2::Literal {
    proc_macro2::Literal::u32_suffixed(u32::try_from(value).unwrap_or(u32::MAX))
}
