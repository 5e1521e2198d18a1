//! An operation, `send(tx)`: a verb, and the place that it applies to.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Member, Result, UnOp};

/// The kind of an operation on a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Send,
    Recv,
    Lock,
    Read,
    Write,
    Acquire,
    Wait,
}

impl Verb {
    /// As users write them, and as `turbowish::__private::verb` calls them.
    const ALL: [(Verb, &str, &str); 7] = [
        (Verb::Send, "send", "Send"),
        (Verb::Recv, "recv", "Recv"),
        (Verb::Lock, "lock", "Lock"),
        (Verb::Read, "read", "Read"),
        (Verb::Write, "write", "Write"),
        (Verb::Acquire, "acquire", "Acquire"),
        (Verb::Wait, "wait", "Wait"),
    ];

    /// Names of the methods that are these operations.
    pub(crate) const METHODS: &[&str] = &[
        "send", "recv", "lock", "read", "write", "acquire", "wait", "notified", "changed",
    ];

    /// The operation of a method, which depends on whether it has arguments and is awaited.
    pub(crate) fn of_method(name: &str, has_arguments: bool, is_awaited: bool) -> Option<Verb> {
        Some(match (name, has_arguments, is_awaited) {
            ("send", true, _) => Verb::Send,
            ("recv" | "changed", false, true) => Verb::Recv,
            ("lock", false, true) => Verb::Lock,
            ("read", false, true) => Verb::Read,
            ("write", false, true) => Verb::Write,
            ("acquire", false, true) => Verb::Acquire,
            ("wait" | "notified", false, true) => Verb::Wait,
            _ => return None,
        })
    }

    fn words(self) -> (&'static str, &'static str) {
        let found = Verb::ALL.iter().find(|(verb, _, _)| *verb == self);
        found.map_or(("", ""), |(_, word, name)| (word, name))
    }
}

/// A verb with its place.
#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) verb: Verb,
    pub(crate) operand: TokenStream,
    /// The position in the source.
    pub(crate) span: Span,
    /// Equal for equal operations: `send tx`, `lock self.db`.
    pub(crate) key: String,
    /// The text of the place.
    pub(crate) place: String,
}

impl Operation {
    pub(crate) fn new(verb: Verb, operand: TokenStream, span: Span) -> Operation {
        let place = operand.to_string().replace(' ', "");
        Operation {
            verb,
            key: format!("{} {place}", verb.words().0),
            operand,
            span,
            place,
        }
    }

    /// An operation on a parameter.
    pub(crate) fn on_parameter(verb: Verb, name: &Ident) -> Operation {
        Operation::new(verb, name.to_token_stream(), name.span())
    }

    pub(crate) fn is_of(&self, place: &str) -> bool {
        self.place == place
    }

    /// Whether it is on a field of `self`.
    pub(crate) fn is_field(&self) -> bool {
        self.place.starts_with("self.")
    }

    /// The place as written.
    pub(crate) fn written(&self) -> TokenStream {
        let (word, operand) = (format_ident!("{}", self.verb.words().0), &self.operand);
        quote_spanned!(self.span=> #word(#operand))
    }

    /// The unit struct of the verb.
    pub(crate) fn name(&self) -> Ident {
        format_ident!("{}", self.verb.words().1)
    }
}

/// What every message about a verb ends in.
const VERBS: &str = "the verbs are `send`, `recv`, `lock`, `read`, `write`, `acquire` and `wait`";

impl Parse for Operation {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.span();
        let word = input.call(Ident::parse_any).map_err(|_| {
            Error::new(
                span,
                format!("an intent is a verb and a place: `send(tx)`; {VERBS}"),
            )
        })?;
        let known = Verb::ALL.iter().find(|(_, known, _)| word == known);
        let Some(&(verb, text, _)) = known else {
            return Err(Error::new(
                word.span(),
                format!("unknown verb `{word}`; {VERBS}"),
            ));
        };
        let example = if verb == Verb::Recv { "rx" } else { "tx" };
        let example = match verb {
            Verb::Send | Verb::Recv => example,
            _ => "self.db",
        };
        if !input.peek(syn::token::Paren) {
            let message = format!("`{text}` needs a resource: `{text}({example})`");
            return Err(Error::new(word.span(), message));
        }
        let inside;
        syn::parenthesized!(inside in input);
        if inside.is_empty() {
            let message = format!("`{text}` needs a resource: `{text}({example})`");
            return Err(Error::new(word.span(), message));
        }
        let place: Expr = inside.parse()?;
        if !inside.is_empty() {
            let message = format!("one place at a time: `{text}({example}), {text}(…)`");
            return Err(inside.error(message));
        }
        if !is_place(&place) {
            let message = "this place does not exist when the body begins: write a parameter, a field, or what one of them points to, such as `tx`, `self.db`, `*db`";
            return Err(Error::new(place.span(), message));
        }
        Ok(Operation::new(verb, place.to_token_stream(), place.span()))
    }
}

/// Names, fields, and what they point to: to look at these runs nothing of the user's.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.attrs.is_empty() && path.qself.is_none(),
        Expr::Field(field) => {
            let named = matches!(&field.member, Member::Named(_) | Member::Unnamed(_));
            named && field.attrs.is_empty() && is_place(&field.base)
        }
        Expr::Unary(unary) => {
            matches!(unary.op, UnOp::Deref(_)) && unary.attrs.is_empty() && is_place(&unary.expr)
        }
        Expr::Paren(inside) => inside.attrs.is_empty() && is_place(&inside.expr),
        _ => false,
    }
}

/// An operation that the attribute's arguments say is meant.
#[derive(Clone)]
pub(crate) struct Explicit {
    /// `intends(…)`, and not `may(…)`.
    pub(crate) will: bool,
    pub(crate) operation: Operation,
}
