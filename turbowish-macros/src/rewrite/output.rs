//! The return type of a function, from its signature alone: it gives the body its type, and decides
//! whether `Err` can be counted.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, GenericArgument, Item, PathArguments, ReturnType, Stmt, Type, TypeParamBound,
};

use super::attr::{Scope, ours};
use super::{drops, raw_body, site};

/// Common types that are not futures.
const NO_FUTURE: &[&str] = &["Arc", "Option", "Rc", "Result", "String", "Vec"];

/// The type of a call's value.
pub(crate) struct Output {
    /// As written; `()` if no type is written.
    written: TokenStream,
    /// The same with `_` for every `impl Trait`, as allowed in a `let`; `None` if only `_` remains.
    known: Option<Type>,
    /// `known` contains a `_`.
    inferred: bool,
    /// Never a `Result`, so there is nothing to probe.
    unit: bool,
    /// `!`
    never: bool,
    /// The type of the future, if the type of its output is not written.
    future: Option<Type>,
}

impl Output {
    /// The output of an `async fn`.
    pub(crate) fn of(output: &ReturnType) -> Output {
        match output {
            ReturnType::Default => Output {
                written: quote!(()),
                known: Some(unit()),
                inferred: false,
                unit: true,
                never: false,
                future: None,
            },
            ReturnType::Type(_, ty) => Output::of_type(ty),
        }
    }

    /// The output of a function that returns a future: `impl Future<Output = R>` or `Pin<Box<dyn
    /// Future<Output = R>>>`. `BoxFuture<R>` or `Self::Future` can be resolved by the compiler
    /// alone.
    pub(crate) fn of_future(output: &ReturnType) -> Output {
        let ReturnType::Type(_, ty) = output else {
            return Output::unknown();
        };
        let mut search = FindOutput(None);
        search.visit_type(ty);
        if let Some(ty) = search.0 {
            return Output::of_type(&ty);
        }
        let mut future = ty.clone();
        let mut hide = HideImpl { inferred: false };
        hide.visit_type_mut(&mut future);
        Output {
            future: (!hide.inferred).then_some(*future),
            ..Output::unknown()
        }
    }

    /// The output of a block whose type is not written.
    pub(crate) fn unknown() -> Output {
        Output {
            written: quote!(_),
            known: None,
            inferred: true,
            unit: false,
            never: false,
            future: None,
        }
    }

    fn of_type(ty: &Type) -> Output {
        let mut known = ty.clone();
        let mut hide = HideImpl { inferred: false };
        hide.visit_type_mut(&mut known);
        let never = is_never_type(&known);
        let nothing = never || matches!(known, Type::Infer(_));
        Output {
            written: ty.to_token_stream(),
            known: (!nothing).then_some(known),
            inferred: hide.inferred,
            unit: is_unit(ty),
            never,
            future: None,
        }
    }

    /// The type as allowed in `impl Future<Output = …>`: `!` can be written only as a return type.
    pub(crate) fn written(&self, scope: &Scope, span: Span) -> TokenStream {
        if self.never {
            let private = scope.private(span);
            quote_spanned!(span=> <fn() -> ! as #private::Returns>::Output)
        } else {
            self.written.clone()
        }
    }

    /// An unreachable return that gives an `async` block its type, so that coercions and inference
    /// work as in the original function.
    pub(crate) fn dead_return(&self, body: &Block, scope: &Scope, place: Span) -> TokenStream {
        if self.unit {
            // A body without a value already has its type.
            return match gives_value(body) {
                true => quote_spanned!(ours(place)=> if false { return; }),
                false => TokenStream::new(),
            };
        }
        let known = self.known.as_ref().map(ToTokens::to_token_stream);
        dead_return(known, scope, ours(place))
    }

    /// Whether the probe looks at `__turbowish_future`.
    pub(crate) fn is_inferred(&self) -> bool {
        self.known.is_some() && self.inferred
    }

    /// Lint levels for the generated block: an `async fn` may return a future without clippy's
    /// warnings.
    pub(crate) fn quiet(&self, place: Span) -> TokenStream {
        let no_future = match &self.known {
            Some(Type::Path(ty)) => ty.path.segments.last().is_some_and(|last| {
                drops::is_primitive(&ty.path) || NO_FUTURE.iter().any(|name| last.ident == name)
            }),
            Some(Type::Tuple(_) | Type::Array(_) | Type::FnPtr(_) | Type::Ptr(_)) => true,
            _ => self.never,
        };
        if no_future {
            return TokenStream::new();
        }
        quote_spanned!(ours(place)=> #[allow(clippy::async_yields_async)])
    }

    /// The expression that distinguishes `Err` from everything else in the output of `future`.
    pub(crate) fn probe(&self, scope: &Scope, place: Span) -> TokenStream {
        let span = ours(place);
        let private = scope.private(span);
        match &self.known {
            Some(_) if self.inferred => inferred_probe(scope, span),
            Some(known) if is_no_result(known) => quote_spanned!(span=> #private::probe::Other),
            // A constant is far cheaper to compile than a call.
            Some(known) if !self.unit => quote_spanned! {span=>
                { use #private::probe::Unknown as _; #private::probe::Output::<#known>::__TURBOWISH_PROBE }
            },
            _ => match &self.future {
                Some(future) => quote_spanned! {span=>
                    { use #private::probe::Unknown as _; #private::probe::OutputOf::<#future>::__TURBOWISH_PROBE }
                },
                None => quote_spanned!(span=> #private::probe::Other),
            },
        }
    }
}

/// A block that never returns can still be awaited: its type is given as one without values.
pub(crate) fn dead_return_never(scope: &Scope, place: Span) -> TokenStream {
    let span = ours(place);
    let private = scope.private(span);
    let ty = quote_spanned!(span=> #private::core::convert::Infallible);
    dead_return(Some(ty), scope, span)
}

fn dead_return(ty: Option<TokenStream>, scope: &Scope, span: Span) -> TokenStream {
    let Some(ty) = ty else {
        return TokenStream::new();
    };
    let private = scope.private(span);
    quote_spanned! {span=>
        if false {
            return #private::unreached::<#ty>();
        }
    }
}

/// The probe of a nested block. The trait that answers is selected while the expression is
/// compiled, so the type of the block must be known to be a `Result` by then. Only source text can
/// show that: a final `Ok(…)` or `Err(…)` in the block.
pub(crate) fn probe_of_block(block: &Block, scope: &Scope, place: Span) -> TokenStream {
    let mut returns = Returns(false);
    returns.tail_of(block);
    returns.visit_block(block);
    let span = ours(place);
    let private = scope.private(span);
    if returns.0 {
        inferred_probe(scope, span)
    } else {
        quote_spanned!(span=> #private::probe::Other)
    }
}

fn inferred_probe(scope: &Scope, span: Span) -> TokenStream {
    let private = scope.private(span);
    quote_spanned! {span=>
        { use #private::probe::Unknown as _; #private::probe::of(&__turbowish_future).__turbowish_probe() }
    }
}

/// Whether a body may have a value other than `()`, as far as its source shows: if so, the compiler
/// must report it at that place.
fn gives_value(body: &Block) -> bool {
    if let Some(tokens) = raw_body::tokens(body) {
        return may_give_value(tokens);
    }
    let mut gives = GivesValue(match body.stmts.last() {
        Some(Stmt::Expr(Expr::ForLoop(_) | Expr::While(_), _)) => false,
        Some(Stmt::Expr(_, semicolon)) => semicolon.is_none(),
        Some(Stmt::Macro(last)) => last.semi_token.is_none(),
        _ => false,
    });
    gives.visit_block(body);
    gives.0
}

/// The same for tokens; if unsure, true.
fn may_give_value(tokens: TokenStream) -> bool {
    let ends = match tokens.clone().into_iter().last() {
        Some(TokenTree::Punct(punct)) => punct.as_char() == ';',
        Some(_) => false,
        None => true,
    };
    !ends
        || site::any_token(
            tokens,
            |tree| matches!(tree, TokenTree::Ident(word) if word == "return"),
        )
}

/// Whether there is a `return` with a value.
struct GivesValue(bool);

impl<'ast> Visit<'ast> for GivesValue {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(value) => self.0 |= value.expr.is_some(),
            // A `return` in these leaves the inner body.
            Expr::Async(_) | Expr::Closure(_) | Expr::Const(_) => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

/// Whether the return type is `!`.
pub(crate) fn is_never(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if is_never_type(ty))
}

fn is_never_type(ty: &Type) -> bool {
    match ty {
        Type::Never(_) => true,
        Type::Paren(inner) => is_never_type(&inner.elem),
        Type::Group(inner) => is_never_type(&inner.elem),
        _ => false,
    }
}

/// Whether a type is certainly not a `Result`, so that the compiler need not be asked.
fn is_no_result(ty: &Type) -> bool {
    match ty {
        Type::Path(ty) => drops::is_primitive(&ty.path),
        Type::Paren(inner) => is_no_result(&inner.elem),
        Type::Group(inner) => is_no_result(&inner.elem),
        ty => matches!(
            ty,
            Type::Array(_) | Type::FnPtr(_) | Type::Ptr(_) | Type::Reference(_) | Type::Tuple(_)
        ),
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

fn unit() -> Type {
    syn::parse_quote!(())
}

/// `impl Trait` is not allowed in a `let`, where `_` stands for the same type.
struct HideImpl {
    /// An `impl Trait` is being visited, or was.
    inferred: bool,
}

impl VisitMut for HideImpl {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if matches!(ty, Type::ImplTrait(_)) {
            *ty = syn::parse_quote!(_);
        }
        if matches!(ty, Type::Infer(_)) {
            self.inferred = true;
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }
}

/// The first `Future<Output = R>` among the bounds of a return type.
struct FindOutput(Option<Type>);

impl<'ast> Visit<'ast> for FindOutput {
    fn visit_type_param_bound(&mut self, bound: &'ast TypeParamBound) {
        if let TypeParamBound::Trait(bound) = bound
            && let Some(last) = bound.path.segments.last()
            && (last.ident == "Future" || last.ident == "IntoFuture")
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && self.0.is_none()
        {
            self.0 = arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::AssocType(output) if output.ident == "Output" => {
                    Some(output.ty.clone())
                }
                _ => None,
            });
        } else {
            visit::visit_type_param_bound(self, bound);
        }
    }
}

/// Whether a final expression of a block is written as a `Result`.
struct Returns(bool);

impl Returns {
    fn tail_of(&mut self, block: &Block) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last() {
            self.tail(tail);
        }
    }

    fn tail(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(call) => {
                let Expr::Path(callee) = &*call.func else {
                    return;
                };
                let name = callee.path.segments.last().map(|segment| &segment.ident);
                self.0 |= name.is_some_and(|name| name == "Ok" || name == "Err");
            }
            Expr::Block(block) => self.tail_of(&block.block),
            Expr::Unsafe(block) => self.tail_of(&block.block),
            Expr::Paren(inner) => self.tail(&inner.expr),
            Expr::If(branch) => {
                self.tail_of(&branch.then_branch);
                if let Some((_, otherwise)) = &branch.else_branch {
                    self.tail(otherwise);
                }
            }
            Expr::Match(choice) => choice.arms.iter().for_each(|arm| self.tail(&arm.body)),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Returns {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(value) => {
                if let Some(value) = &value.expr {
                    self.tail(value);
                    self.visit_expr(value);
                }
            }
            // A `return` in these leaves the inner body.
            Expr::Async(_) | Expr::Closure(_) | Expr::Const(_) => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}
