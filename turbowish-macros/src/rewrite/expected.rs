//! Types of a closure that is returned as `impl Fn(A) -> R`. The return type gives the closure its
//! argument and return types; an `async` block would hide them, so they are written into the
//! closure.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, BoundLifetimes, Expr, ExprClosure, GenericParam, Item, Lifetime, Pat, PatType,
    PathArguments, ReturnType, Stmt, Token, TraitBound, Type, TypeParamBound, TypeReference,
    parse_quote_spanned, token,
};

use super::attr::{Scope, ours};
use super::awaits::as_expr;

/// The traits that closures implement.
const CALLED: &[&str] = &[
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Fn",
    "FnMut",
    "FnOnce",
];

/// Writes the types that `impl Fn(…)` in `output` gives a closure into every closure that `block`
/// returns. Returns `false`, and writes nothing useful, if a type cannot be written: if the closure
/// returns a borrow of an argument.
pub(crate) fn write_types(output: &ReturnType, block: &mut Block, scope: &Scope) -> bool {
    let ty = match output {
        ReturnType::Type(_, ty) if says(ty) => ty,
        _ => return true,
    };
    let mut writing = Writing {
        output: ty,
        scope,
        left: false,
    };
    writing.block(block, ty);
    writing.visit_block_mut(block);
    !writing.left
}

/// Whether `output` may contain the types of a closure.
pub(crate) fn may_write(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if says(ty))
}

fn says(ty: &Type) -> bool {
    match ty {
        Type::Tuple(types) => types.elems.iter().any(says),
        Type::Paren(inner) => says(&inner.elem),
        Type::Group(inner) => says(&inner.elem),
        ty => matches!(ty, Type::ImplTrait(_)),
    }
}

/// The types that a bound gives a closure.
struct Called {
    types: Vec<Type>,
    output: ReturnType,
    /// A future is required; the body of an `async` closure has no expected type.
    is_async: bool,
    /// `FnOnce`: a closure that does not move its captures must still be one.
    once: bool,
    /// The returned value borrows from the arguments.
    lends: bool,
}

impl Called {
    /// The types in `impl Fn(…)`. Inside other types it gives none, as in the compiler.
    fn of(ty: &Type) -> Option<Called> {
        match ty {
            Type::ImplTrait(bounds) => bounds.bounds.iter().find_map(|bound| match bound {
                TypeParamBound::Trait(bound) => Called::by(bound),
                _ => None,
            }),
            Type::Paren(inner) => Called::of(&inner.elem),
            Type::Group(inner) => Called::of(&inner.elem),
            _ => None,
        }
    }

    fn by(bound: &TraitBound) -> Option<Called> {
        let last = bound.path.segments.last()?;
        let PathArguments::Parenthesized(arguments) = &last.arguments else {
            return None;
        };
        if !CALLED.iter().any(|name| last.ident == name) {
            return None;
        }
        let mut hide = HideBound(bound.lifetimes.as_ref());
        let mut types: Vec<Type> = arguments
            .inputs
            .iter()
            .map(|input| input.ty.clone())
            .collect();
        types.iter_mut().for_each(|ty| hide.visit_type_mut(ty));
        let mut output = arguments.output.clone();
        hide.visit_return_type_mut(&mut output);
        let mut lends = FindElided(false);
        lends.visit_return_type(&output);
        let name = last.ident.to_string();
        Some(Called {
            types,
            output,
            is_async: name.starts_with("Async"),
            once: name.ends_with("Once"),
            lends: lends.0,
        })
    }
}

/// Whether a lifetime is elided, or `'_`.
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

/// A closure cannot name the lifetimes of a `for<'a>`, but each of its own `'_` stands for any
/// lifetime as well.
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
    /// What the function returns.
    output: &'a Type,
    scope: &'a Scope,
    /// A closure was found whose types cannot be written.
    left: bool,
}

impl Writing<'_> {
    fn block(&mut self, block: &mut Block, ty: &Type) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            self.returned(tail, ty);
        }
    }

    /// Visits an expression whose value is returned, or is part of the returned value, and its
    /// type.
    fn returned(&mut self, expr: &mut Expr, ty: &Type) {
        match expr {
            Expr::Closure(closure) => {
                if let Some(once) = self.closure(closure, ty) {
                    *expr = once;
                }
            }
            Expr::Paren(inner) => self.returned(&mut inner.expr, ty),
            Expr::Block(block) => self.block(&mut block.block, ty),
            Expr::Unsafe(block) => self.block(&mut block.block, ty),
            Expr::If(branch) => {
                self.block(&mut branch.then_branch, ty);
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.returned(otherwise, ty);
                }
            }
            Expr::Match(choice) => {
                for arm in &mut choice.arms {
                    self.returned(&mut arm.body, ty);
                }
            }
            Expr::Tuple(values) => {
                if let Type::Tuple(types) = ty
                    && types.elems.len() == values.elems.len()
                {
                    let pairs = values.elems.iter_mut().zip(&types.elems);
                    pairs.for_each(|(value, ty)| self.returned(value, ty));
                }
            }
            _ => {}
        }
    }

    fn closure(&mut self, closure: &mut ExprClosure, ty: &Type) -> Option<Expr> {
        let called = Called::of(ty)?;
        if closure.inputs.len() != called.types.len() {
            return None;
        }
        if called.lends {
            self.left = true;
            return None;
        }
        for (pat, ty) in closure.inputs.iter_mut().zip(called.types) {
            if !matches!(pat, Pat::Type(_)) {
                *pat = Pat::Type(PatType {
                    attrs: Vec::new(),
                    pat: Box::new(std::mem::replace(pat, Pat::Verbatim(TokenStream::new()))),
                    colon_token: Token![:](Span::call_site()),
                    ty: Box::new(ty),
                });
            }
        }
        if !called.is_async && closure.asyncness.is_none() {
            gives(closure, called.output);
        }
        called.once.then(|| self.called_once(closure))
    }

    /// Makes the closure `FnOnce`: it moves a zero-sized value.
    fn called_once(&self, closure: &mut ExprClosure) -> Expr {
        let span = ours(closure.inputs_begin.span);
        let private = self.scope.private(span);
        let body = &closure.body;
        *closure.body = Expr::Verbatim(
            quote_spanned!(span=> { #private::Once::call(__turbowish_once); #body }),
        );
        Expr::Verbatim(quote_spanned!(span=> { let __turbowish_once = #private::Once; #closure }))
    }
}

/// Writes the return type of a closure, which requires a block as its body.
fn gives(closure: &mut ExprClosure, output: ReturnType) {
    if !matches!(closure.output, ReturnType::Default) {
        return;
    }
    closure.output = match output {
        ReturnType::Default => {
            let span = closure.inputs_end.span;
            ReturnType::Type(Token![->](span), Box::new(parse_quote_spanned!(span=> ())))
        }
        output => output,
    };
    if !matches!(&*closure.body, Expr::Block(body) if body.attrs.is_empty() && body.label.is_none())
    {
        let body = std::mem::replace(&mut *closure.body, Expr::PLACEHOLDER);
        let span = ours(closure.inputs_end.span);
        let mut block = as_expr(TokenStream::new(), token::Brace(span));
        block.block.stmts = vec![Stmt::Expr(body, None)];
        *closure.body = Expr::Block(block);
    }
}

impl VisitMut for Writing<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Return(value) => {
                if let Some(value) = &mut value.expr {
                    self.returned(value, self.output);
                    self.visit_expr_mut(value);
                }
            }
            // A `return` in these leaves the inner body.
            Expr::Async(_) | Expr::Closure(_) | Expr::Const(_) => {}
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}
