//! Known macros. Awaits in a macro's arguments are numbered only if the macro evaluates the
//! arguments as written; all other arguments are passed on unchanged.
//!
//! A macro is known by the last segment of its path, and parsed by its form: `select!` may be
//! tokio's or that of futures. Arguments that do not match one of the forms completely are left
//! unchanged, and the body records that it is inside the macro (`opaque_macros`).

mod fields;
mod list;
mod select;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Expr, Macro, Path, Result};

use super::site;

/// The classification of a macro.
pub(crate) enum MacroKind {
    /// The macro awaits nothing.
    Quiet,
    /// The parsed arguments.
    Read(MacroArguments),
    /// The macro may await anything.
    Opaque,
}

/// A macro's arguments, in order; concatenated they are its tokens.
pub(crate) struct MacroArguments {
    /// The macro itself awaits, after its expressions and before its arms.
    pub(crate) waits: bool,
    pub(crate) pieces: Vec<Piece>,
}

/// A part of a macro's arguments.
pub(crate) enum Piece {
    /// Names, patterns, punctuation.
    Tokens(TokenStream),
    /// Evaluated once, where the macro stands.
    Expr(Box<Expr>),
    /// Evaluated after the wait, like the body of a `match` arm.
    Arm(Box<Expr>),
    /// Evaluated, and perhaps printed as source: must not be changed.
    Shown(Box<Expr>),
}

/// The form of the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Nothing in them is evaluated here.
    Inert,
    /// They are not Rust, or have forms in which nobody awaits.
    Unread,
    /// Expressions, also `name = expression`, between `,` or `;`.
    List,
    /// Expressions that are printed as written.
    Printed,
    /// A condition that is printed as written, unless a message follows.
    Asserted,
    /// An expression, then a pattern with or without a guard.
    Matched,
    /// An expression, then arguments that are not parsed.
    First,
    /// Fields and values, then a message: `target: "t", a.b = ?x, "{}", y`.
    Event,
    /// Fields and values after a name.
    Span,
    /// Expressions, or statements `let name = expression;`.
    Pinned,
    /// Expressions; the macro awaits them.
    Joined,
    /// `pattern = expression, if condition => arm`; the macro awaits the expressions.
    Selected,
}

impl Form {
    /// Whether the macro itself awaits.
    fn waits(self) -> bool {
        matches!(self, Form::Joined | Form::Selected)
    }
}

/// Macros of std and of common crates.
const FORMS: &[(Form, &[&str])] = &[
    (
        Form::Inert,
        &[
            "addr_of",
            "addr_of_mut",
            "cfg",
            "column",
            "compile_error",
            "concat",
            "enabled",
            "env",
            "event_enabled",
            "file",
            "include",
            "include_bytes",
            "include_str",
            "lazy_static",
            "line",
            "log_enabled",
            "module_path",
            "offset_of",
            "option_env",
            "pin_mut",
            "span_enabled",
            "stringify",
            "thread_local",
        ],
    ),
    (Form::Unread, &["json"]),
    (
        Form::List,
        &[
            // std
            "assert_eq",
            "assert_ne",
            "debug_assert_eq",
            "debug_assert_ne",
            "eprint",
            "eprintln",
            "format",
            "format_args",
            "panic",
            "print",
            "println",
            "todo",
            "unimplemented",
            "unreachable",
            "vec",
            "write",
            "writeln",
            // anyhow, eyre
            "anyhow",
            "bail",
            "eyre",
            "format_err",
            // tokio-test
            "assert_err",
            "assert_ok",
        ],
    ),
    (Form::Printed, &["dbg", "ensure"]),
    (Form::Asserted, &["assert", "debug_assert"]),
    (Form::Matched, &["matches"]),
    (Form::First, &["assert_matches", "debug_assert_matches"]),
    (
        Form::Event,
        &["debug", "error", "event", "info", "log", "trace", "warn"],
    ),
    (
        Form::Span,
        &[
            "debug_span",
            "error_span",
            "info_span",
            "span",
            "trace_span",
            "warn_span",
        ],
    ),
    (Form::Pinned, &["pin"]),
    (Form::Joined, &["join", "try_join"]),
    (Form::Selected, &["select", "select_biased"]),
];

/// Parses the arguments of `invocation`, if its form is known.
pub(crate) fn read(invocation: &Macro) -> MacroKind {
    let Some(form) = form(&invocation.path) else {
        return MacroKind::Opaque;
    };
    let waits = form.waits();
    if form == Form::Inert {
        return MacroKind::Quiet;
    }
    let tokens = &invocation.tokens;
    if !may_matter(tokens.clone()) {
        if !waits {
            return MacroKind::Quiet;
        }
        let pieces = vec![Piece::Tokens(tokens.clone())];
        return MacroKind::Read(MacroArguments { waits, pieces });
    }
    let mut reading = Reading::default();
    let read = |input: ParseStream<'_>| reading.all(form, input);
    let outcome = match form {
        Form::Unread => None,
        _ if is_local(&invocation.path) => None,
        _ => invocation.parse_body_with(read).ok(),
    };
    match outcome {
        Some(()) => MacroKind::Read(MacroArguments {
            waits,
            pieces: reading.pieces,
        }),
        // A macro with this form awaits only what is awaited in its arguments.
        None if waits || has_await(tokens.clone()) => MacroKind::Opaque,
        None => MacroKind::Quiet,
    }
}

fn form(path: &Path) -> Option<Form> {
    let last = path.segments.last()?.ident.to_string();
    form_of(&last)
}

fn form_of(name: &str) -> Option<Form> {
    FORMS
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|&(form, _)| form)
}

/// Whether a macro of this name awaits only what is awaited in its arguments.
pub(crate) fn awaits_nothing(name: &str) -> bool {
    form_of(name).is_some_and(|form| !form.waits())
}

/// Whether a macro of this name evaluates its arguments as they are written.
pub(crate) fn evaluates(name: &str) -> bool {
    form_of(name).is_some_and(|form| !matches!(form, Form::Inert | Form::Unread))
}

/// Whether the macro itself awaits: it is then an await point, and its arguments need not be parsed
/// to know that.
pub(crate) fn waits(path: &Path) -> bool {
    form(path).is_some_and(Form::waits)
}

/// Whether the macro is the crate's own, and only has the name of a known one.
fn is_local(path: &Path) -> bool {
    let words = ["$crate", "crate", "self", "super"];
    path.segments.len() > 1 && words.iter().any(|word| path.segments[0].ident == word)
}

/// Whether there can be an await or an `async` block in `tokens`, or in their expansion by a macro.
pub(crate) fn may_matter(tokens: TokenStream) -> bool {
    let mut name = String::new();
    let mut is_macro = false;
    for tree in tokens {
        match tree {
            TokenTree::Ident(word) => {
                name = word.to_string();
                if name == "await" || name == "async" {
                    return true;
                }
                is_macro = false;
                continue;
            }
            TokenTree::Punct(punct) if punct.as_char() == '!' && !name.is_empty() => {
                is_macro = true;
                continue;
            }
            TokenTree::Group(group) => {
                if is_macro && !awaits_nothing(&name) || may_matter(group.stream()) {
                    return true;
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        name.clear();
    }
    false
}

/// Whether an await is written in `tokens`.
pub(crate) fn has_await(tokens: TokenStream) -> bool {
    site::any_token(
        tokens,
        |tree| matches!(tree, TokenTree::Ident(ident) if ident == "await"),
    )
}

impl ToTokens for MacroArguments {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for piece in &self.pieces {
            match piece {
                Piece::Tokens(piece) => piece.to_tokens(tokens),
                Piece::Expr(expr) | Piece::Arm(expr) | Piece::Shown(expr) => expr.to_tokens(tokens),
            }
        }
    }
}

/// The part of the arguments parsed so far.
#[derive(Default)]
struct Reading {
    pieces: Vec<Piece>,
}

impl Reading {
    fn all(&mut self, form: Form, input: ParseStream<'_>) -> Result<()> {
        match form {
            Form::Inert | Form::Unread => self.rest(input),
            Form::List | Form::Joined => self.list(input),
            Form::Printed => self.printed(input),
            Form::Asserted => self.asserted(input),
            Form::Matched => self.matched(input),
            Form::First => self.first(input),
            Form::Pinned => self.pinned(input),
            Form::Event => self.fields(input, true),
            Form::Span => self.fields(input, false),
            Form::Selected => self.branches(input),
        }
    }

    /// One token, or one group, unchanged.
    fn token(&mut self, input: ParseStream<'_>) -> Result<()> {
        let tree: TokenTree = input.parse()?;
        self.pieces.push(Piece::Tokens(tree.into()));
        Ok(())
    }

    fn expr(&mut self, input: ParseStream<'_>) -> Result<()> {
        self.pieces.push(Piece::Expr(Box::new(input.parse()?)));
        Ok(())
    }

    fn shown(&mut self, input: ParseStream<'_>) -> Result<()> {
        self.pieces.push(Piece::Shown(Box::new(input.parse()?)));
        Ok(())
    }

    /// The remaining tokens, unchanged; none of them can contain an await to number.
    fn rest(&mut self, input: ParseStream<'_>) -> Result<()> {
        let rest: TokenStream = input.parse()?;
        if has_await(rest.clone()) {
            return Err(input.error("an await that cannot be placed"));
        }
        self.pieces.push(Piece::Tokens(rest));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
