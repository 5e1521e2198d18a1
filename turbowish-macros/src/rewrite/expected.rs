//! A closure that is returned as `impl Fn(A) -> R` learns its parameters' types there; an `async` block would keep that from it, so
//! they are written into the closure.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, BoundLifetimes, Expr, ExprClosure, GenericParam, Item, Lifetime, Pat, PatType,
    PathArguments, ReturnType, Stmt, Token, TraitBound, Type, TypeReference,
};

use super::attr::{Scope, ours};

/// Traits that closures have.
const CALLED: &[&str] = &[
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Fn",
    "FnMut",
    "FnOnce",
];

/// Writes what the first `impl Fn(…)` in `output` says of a closure into every one that `block` returns. `false`, and nothing is
/// written, if it says what cannot be written: that the closure gives back what it borrows.
pub(crate) fn write_types(output: &ReturnType, block: &mut Block, scope: &Scope) -> bool {
    let mut search = FindCalled(None);
    search.visit_return_type(output);
    let Some(called) = search.0 else {
        return true;
    };
    let mut writing = Writing {
        called,
        scope,
        left: false,
    };
    writing.block(block);
    writing.visit_block_mut(block);
    !writing.left
}

/// What a bound says of a closure.
struct Called {
    types: Vec<Type>,
    /// Called once: a closure that does not move what it captures must still be one that is.
    once: bool,
    /// Its value borrows from its arguments.
    lends: bool,
}

struct FindCalled(Option<Called>);

impl<'ast> Visit<'ast> for FindCalled {
    fn visit_trait_bound(&mut self, bound: &'ast TraitBound) {
        if let Some(last) = bound.path.segments.last()
            && CALLED.iter().any(|name| last.ident == name)
            && let PathArguments::Parenthesized(arguments) = &last.arguments
            && self.0.is_none()
        {
            let mut hide = HideBound(bound.lifetimes.as_ref());
            let types = arguments.inputs.iter().map(|input| {
                let mut ty = input.ty.clone();
                hide.visit_type_mut(&mut ty);
                ty
            });
            let types = types.collect();
            let mut lends = FindElided(false);
            if let ReturnType::Type(_, ty) = &arguments.output {
                let mut ty = ty.clone();
                hide.visit_type_mut(&mut ty);
                lends.visit_type(&ty);
            }
            self.0 = Some(Called {
                types,
                once: last.ident == "FnOnce",
                lends: lends.0,
            });
        } else {
            visit::visit_trait_bound(self, bound);
        }
    }
}

/// Whether a lifetime is left out, or `'_`.
struct FindElided(bool);

impl<'ast> Visit<'ast> for FindElided {
    fn visit_type_reference(&mut self, ty: &'ast TypeReference) {
        self.0 |= ty.lifetime.is_none();
        visit::visit_type_reference(self, ty);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        self.0 |= lifetime.ident == "_";
    }
}

/// A closure cannot name the lifetimes of a `for<'a>`, but each of its own `'_` stands for any lifetime as well.
struct HideBound<'a>(Option<&'a BoundLifetimes>);

impl VisitMut for HideBound<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        let bound = self.0.into_iter().flat_map(|bound| &bound.lifetimes);
        let mut names = bound.filter_map(|parameter| match parameter {
            GenericParam::Lifetime(parameter) => Some(&parameter.lifetime),
            _ => None,
        });
        if names.any(|name| name == lifetime) {
            *lifetime = Lifetime::new("'_", lifetime.span());
        }
    }
}

struct Writing<'a> {
    called: Called,
    scope: &'a Scope,
    /// A closure was met that cannot be told what it is.
    left: bool,
}

impl Writing<'_> {
    fn block(&mut self, block: &mut Block) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            self.returned(tail);
        }
    }

    /// An expression whose value is returned.
    fn returned(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(closure) => {
                if let Some(once) = self.closure(closure) {
                    *expr = once;
                }
            }
            Expr::Paren(inner) => self.returned(&mut inner.expr),
            Expr::Block(block) => self.block(&mut block.block),
            Expr::Unsafe(block) => self.block(&mut block.block),
            Expr::If(branch) => {
                self.block(&mut branch.then_branch);
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.returned(otherwise);
                }
            }
            Expr::Match(choice) => {
                for arm in &mut choice.arms {
                    self.returned(&mut arm.body);
                }
            }
            // `Ok(|x| …)`, `Some(|x| …)`
            Expr::Call(call) if call.args.len() == 1 => {
                call.args.iter_mut().for_each(|value| self.returned(value));
            }
            _ => {}
        }
    }

    fn closure(&mut self, closure: &mut ExprClosure) -> Option<Expr> {
        let Called { types, once, lends } = &self.called;
        if closure.inputs.len() != types.len() {
            return None;
        }
        if *lends {
            self.left = true;
            return None;
        }
        for (pat, ty) in closure.inputs.iter_mut().zip(types) {
            if !matches!(pat, Pat::Type(_)) {
                *pat = Pat::Type(PatType {
                    attrs: Vec::new(),
                    pat: Box::new(std::mem::replace(pat, Pat::Verbatim(TokenStream::new()))),
                    colon_token: Token![:](Span::call_site()),
                    ty: Box::new(ty.clone()),
                });
            }
        }
        once.then(|| self.called_once(closure))
    }

    /// It moves a value that is nothing.
    fn called_once(&self, closure: &mut ExprClosure) -> Expr {
        let span = ours(closure.inputs_begin.span);
        let private = self.scope.private(span);
        let body = &closure.body;
        *closure.body =
            Expr::Verbatim(quote_spanned!(span=> { #private::Once::call(once); #body }));
        Expr::Verbatim(quote_spanned!(span=> { let once = #private::Once; #closure }))
    }
}

impl VisitMut for Writing<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Return(value) => {
                if let Some(value) = &mut value.expr {
                    self.returned(value);
                    self.visit_expr_mut(value);
                }
            }
            // They return to elsewhere.
            Expr::Async(_) | Expr::Closure(_) | Expr::Const(_) => {}
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}
