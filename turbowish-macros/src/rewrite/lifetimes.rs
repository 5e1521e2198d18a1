//! Anonymous lifetimes in the `impl Trait` of an argument: an `async fn` may elide them, a plain
//! `fn` may not (E0658), so they get a name.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, FnArg, GenericParam, Lifetime, LifetimeParam, ParenthesizedGenericArguments, Signature,
    TypeFnPtr, TypeImplTrait, TypeReference,
};

use super::attr::ours;

/// Names the anonymous lifetimes inside `impl Trait`: each is a separate parameter, as the compiler
/// treats it in an `async fn`.
pub(crate) fn name_in_impl_trait(signature: &mut Signature) {
    let mut naming = Naming::default();
    for input in &mut signature.inputs {
        if let FnArg::Typed(input) = input {
            naming.visit_type_mut(&mut input.ty);
        }
    }
    for (at, lifetime) in naming.named.into_iter().enumerate() {
        let parameter = GenericParam::Lifetime(LifetimeParam::new(lifetime));
        signature.generics.params.insert(at, parameter);
    }
}

#[derive(Default)]
struct Naming {
    in_impl_trait: bool,
    named: Vec<Lifetime>,
}

impl Naming {
    fn next(&mut self, place: Span) -> Lifetime {
        let name = format!("'__turbowish_{}", self.named.len());
        let lifetime = Lifetime::new(&name, ours(place));
        self.named.push(lifetime.clone());
        lifetime
    }
}

impl VisitMut for Naming {
    fn visit_type_impl_trait_mut(&mut self, ty: &mut TypeImplTrait) {
        let around = std::mem::replace(&mut self.in_impl_trait, true);
        visit_mut::visit_type_impl_trait_mut(self, ty);
        self.in_impl_trait = around;
    }

    fn visit_type_reference_mut(&mut self, ty: &mut TypeReference) {
        if self.in_impl_trait && ty.lifetime.is_none() {
            ty.lifetime = Some(self.next(ty.and_token.span));
        }
        visit_mut::visit_type_reference_mut(self, ty);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.in_impl_trait && lifetime.ident == "_" {
            *lifetime = self.next(lifetime.span());
        }
    }

    // These have lifetimes of their own: `Fn(&str)`, `fn(&str)`.
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {
    }

    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

    fn visit_expr_mut(&mut self, _: &mut Expr) {}
}
