//! Rewriting of one function. The result has the same signature for callers, the same body and the
//! same drops.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Block, Expr, ItemFn, Result, ReturnType, Signature, Stmt, Token, Type};

use super::assigned;
use super::attr::{Arguments, Scope, ours};
use super::awaits::{self, as_block, as_expr};
use super::capture;
use super::expected;
use super::inert;
use super::intents::Intents;
use super::lifetimes;
use super::output::{self, Output};
use super::proc_static::{self, Proc};
use super::raw_body;
use super::shape::{self, Shape};
use super::simple_body::{self, Plain};
use super::site::{self, Site};
use super::tracing_compat;
use super::valid;

/// A function: free, in an `impl`, or in a trait.
pub(crate) struct Function<'a> {
    pub(crate) attrs: &'a mut Vec<Attribute>,
    pub(crate) signature: &'a mut Signature,
    pub(crate) block: &'a mut Block,
}

impl<'a> From<&'a mut ItemFn> for Function<'a> {
    fn from(item: &'a mut ItemFn) -> Function<'a> {
        Function {
            attrs: &mut item.attrs,
            signature: &mut item.sig,
            block: &mut item.block,
        }
    }
}

/// Rewrites one function.
pub(crate) fn instrument(
    function: Function<'_>,
    arguments: &Arguments,
    scope: &Scope,
) -> Result<()> {
    valid::signature(function.signature)?;
    let name = arguments
        .name
        .as_ref()
        .map(syn::LitStr::value)
        .unwrap_or_default();
    let mut rewriting = Rewriting {
        name: &name,
        place: function.signature.ident.span(),
        scope,
        intents: Intents::said(&arguments.intents),
    };
    let Function {
        attrs,
        signature,
        block,
    } = function;
    let shape = shape::of(attrs, signature, block, scope);
    if shape == Shape::KeptAsync && !scope.keep_async && tracing_compat::comes_first(attrs) {
        let again = tracing_compat::again(arguments, scope);
        attrs.push(syn::parse_quote!(#again));
        return Ok(());
    }
    let mut plain = None;
    if matches!(shape, Shape::Future | Shape::KeptAsync) {
        let Some(read) = body(signature, block, arguments, scope) else {
            return Ok(());
        };
        (plain, rewriting.intents) = read;
    }
    if shape != Shape::Rewritten {
        inert::excuse(attrs);
    }
    // Whether another macro reads the function later.
    let read = scope.keep_async || inert::any_macro(attrs);
    match shape {
        Shape::Future => rewriting.future(signature, block, plain),
        Shape::KeptAsync => rewriting.kept_async(signature, block, plain, read),
        Shape::Block => rewriting.block(signature, block, read),
        Shape::Poll => rewriting.poll(block),
        Shape::Rewritten => {
            if let Some(name) = &arguments.name {
                proc_static::rename(block, name);
            }
        }
    }
    Ok(())
}

/// Analyses the body of an `async fn`; `None` if it cannot be parsed and is left unchanged.
fn body(
    signature: &Signature,
    block: &mut Block,
    arguments: &Arguments,
    scope: &Scope,
) -> Option<(Option<Plain>, Intents)> {
    let said = &arguments.intents;
    let written = match said.is_empty() {
        true => raw_body::tokens(block),
        false => Some(block.stmts.iter().map(ToTokens::to_token_stream).collect()),
    };
    // The compiler has parsed it: syntax that fails here is newer than this crate.
    let plain = simple_body::mark(block, scope).ok()?;
    if plain.is_none() {
        if !expected::write_types(&signature.output, block, scope) {
            return None;
        }
        assigned::excuse(signature, block);
    }
    let intents = Intents::of(said, signature, plain.as_ref(), written);
    Some((plain, intents))
}

struct Rewriting<'a> {
    name: &'a str,
    place: Span,
    scope: &'a Scope,
    intents: Intents,
}

impl Rewriting<'_> {
    /// `async fn f(x: X) -> R { body }` to `fn f(x: X) -> impl Future<Output = R> { call(…, async
    /// move { body }) }`.
    fn future(&self, signature: &mut Signature, block: &mut Block, plain: Option<Plain>) {
        lifetimes::name_in_impl_trait(signature);
        let captures = capture::plan(&mut signature.inputs, plain.as_ref());
        let output = Output::of(&signature.output);
        let head = output.dead_return(block, self.scope, self.place);
        let (declared, body) = self.body(block, plain, &captures, &head);
        let quiet = output.quiet(self.place);
        signature.asyncness = None;
        signature.output = self.future_of(&output, signature);
        // A probe that looks at the future needs a name for it; without a name there is less to
        // compile.
        let (named, future) = match output.is_inferred() {
            true => (Some(self.named(&body)), self.name_of_future()),
            false => (None, body),
        };
        let call = self.call(&output, &future);
        let tokens = quote_spanned! {ours(self.place)=>
            #declared
            #quiet
            #named
            return #call;
        };
        *block = as_block(tokens, block.brace_token);
    }

    /// `-> impl Future<Output = R>`. The `impl` is generated, and captures what an `async fn`
    /// captures.
    fn future_of(&self, output: &Output, signature: &Signature) -> ReturnType {
        let (place, end) = match &signature.output {
            ReturnType::Default => (signature.ident.span(), signature.paren_token.span.close()),
            ReturnType::Type(arrow, ty) => (
                arrow.spans[0],
                site::last_span(ty.to_token_stream()).unwrap_or(arrow.spans[1]),
            ),
        };
        let span = Span::call_site().located_at(place);
        let private = self.scope.private(span);
        let written = output.written(self.scope, span);
        // If the last token of a signature has the user's span, the compiler attributes the
        // signature to the user and points at it, not at the attribute.
        let clause = signature.generics.where_clause.as_ref();
        let end = clause
            .is_none_or(|clause| clause.predicates.is_empty())
            .then(|| Token![where](signature.fn_token.span.located_at(end)));
        let ty = quote_spanned!(span=> impl #private::Future<Output = #written> #end);
        ReturnType::Type(Token![->](span), Box::new(Type::Verbatim(ty)))
    }

    /// `async fn f(x: X) -> R { body }` to `async fn f(x: X) -> R { call(…, async move { body
    /// }).await }`.
    fn kept_async(
        &self,
        signature: &mut Signature,
        block: &mut Block,
        plain: Option<Plain>,
        read: bool,
    ) {
        let never = output::is_never(&signature.output);
        let output = Output::of(&signature.output);
        let head = if never {
            output::dead_return_never(self.scope, self.place)
        } else {
            output.dead_return(block, self.scope, self.place)
        };
        let captures = if read {
            capture::names(&signature.inputs)
        } else {
            capture::moved(&mut signature.inputs)
        };
        let (declared, body) = self.body(block, plain, &captures, &head);
        let named = self.named(&body);
        let call = self.call(&output, &self.name_of_future());
        let quiet = output.quiet(self.place);
        let span = ours(self.place);
        let tail = if never {
            quote_spanned!(span=> match #call.await {})
        } else if read {
            // The surrounding macro may turn the body into an expression that must have a value.
            quote_spanned!(span=> #call.await)
        } else {
            quote_spanned!(span=> return #call.await;)
        };
        let tokens = quote_spanned! {span=>
            #declared
            #quiet
            #named
            #tail
        };
        *block = as_block(tokens, block.brace_token);
    }

    /// A plain function that amounts to an `async` block: the block is the call. A macro that looks
    /// for an `async` block must find one, so the block encloses the call.
    fn block(&self, signature: &Signature, block: &mut Block, read: bool) {
        let runs = shape::runs_body(block);
        let Some(place) = shape::future_block(block) else {
            return;
        };
        let Expr::Async(inner) = place else { return };
        let output = Output::of_future(&signature.output);
        let probe = match runs {
            true => output::probe_of_block(&inner.block, self.scope, self.place),
            false => output.probe(self.scope, self.place),
        };
        let head = output.dead_return(&inner.block, self.scope, self.place);
        let sites = awaits::number_in(&mut inner.block, self.scope);
        let intents = self.intents.tell(self.scope, self.place);
        begin(&mut inner.block, quote!(#head #intents));
        let named = self.named(&inner);
        let call = self.call_probed(&probe, &self.name_of_future());
        let braces = inner.block.brace_token;
        if read {
            inner.block = as_block(
                quote_spanned!(ours(self.place)=> #named #call.await),
                braces,
            );
        } else {
            let tokens = quote!(#named #call);
            *place = Expr::Block(as_expr(tokens, braces));
        }
        let declared = self.declared(&sites);
        prepend(block, declared);
    }

    /// A plain function, accounted as one poll.
    fn poll(&self, block: &mut Block) {
        awaits::blocks_in(block, self.scope);
        let declared = self.declared(&[]);
        let span = ours(self.place);
        let private = self.scope.private(span);
        let proc = proc_static::proc(span);
        let intents = self.intents.tell(self.scope, self.place);
        begin(
            block,
            quote_spanned!(span=> let __turbowish_entered = #private::enter(&#proc); #intents),
        );
        prepend(block, declared);
    }

    /// The declarations, and the `async move` block that replaces the body. It keeps the user's
    /// braces, so the compiler marks the same places as in the original function.
    fn body(
        &self,
        block: &mut Block,
        plain: Option<Plain>,
        captures: &TokenStream,
        head: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let sites = match plain {
            Some(plain) => plain.sites,
            None => awaits::number_in(block, self.scope),
        };
        let declared = self.declared(&sites);
        let mut body = Block {
            brace_token: block.brace_token,
            stmts: std::mem::take(&mut block.stmts),
        };
        let intents = self.intents.tell(self.scope, self.place);
        begin(&mut body, quote!(#captures #head #intents));
        let body = quote_spanned!(ours(self.place)=> async move #body);
        (declared, body)
    }

    /// The items at the head of the function.
    fn declared(&self, sites: &[Site]) -> TokenStream {
        let proc = Proc {
            name: self.name,
            place: self.place,
            sites,
        }
        .declare(self.scope);
        let path = proc_static::path(self.place);
        quote!(#proc #path)
    }

    /// `let __turbowish_future = future;`
    fn named(&self, future: &impl ToTokens) -> TokenStream {
        let name = self.name_of_future();
        quote_spanned!(ours(self.place)=> let #name = #future;)
    }

    fn name_of_future(&self) -> TokenStream {
        quote_spanned!(ours(self.place)=> __turbowish_future)
    }

    /// `call(|| PROC.as_static(), probe, future)`
    fn call(&self, output: &Output, future: &TokenStream) -> TokenStream {
        self.call_probed(&output.probe(self.scope, self.place), future)
    }

    fn call_probed(&self, probe: &TokenStream, future: &TokenStream) -> TokenStream {
        let span = ours(self.place);
        let private = self.scope.private(span);
        let proc = proc_static::proc(span);
        quote_spanned!(span=> #private::call(|| #proc.as_static(), #probe, #future))
    }
}

fn prepend(block: &mut Block, head: TokenStream) {
    insert(block, 0, head);
}

/// Puts statements before the user's own, but after the items that the block begins with: otherwise
/// these would be items after statements.
fn begin(block: &mut Block, head: TokenStream) {
    let is_item = |stmt: &&Stmt| matches!(stmt, Stmt::Item(_));
    insert(block, block.stmts.iter().take_while(is_item).count(), head);
}

fn insert(block: &mut Block, at: usize, tokens: TokenStream) {
    if !tokens.is_empty() {
        block
            .stmts
            .insert(at, Stmt::Expr(Expr::Verbatim(tokens), None));
    }
}
