//! Scan of the tokens of a body: the operations on the handles of its function, and all other uses
//! of those handles.
//!
//! An operation is unconditional if neither an enclosing construct nor an earlier exit can decide
//! whether it is performed; if unsure, it is a `May`. A handle that is also named in any other way
//! may have been moved away or replaced by then: no intent is inferred for it.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};
use quote::quote;

use super::handles::Handles;
use super::operation::{Operation, Verb};
use super::staying::stays;
use super::tokens::{
    before, ends_statement, is, is_async, is_attribute, is_block, is_borrowed, is_dot, is_of_path,
    is_word, macro_before,
};
use crate::rewrite::known_macros;

/// The certainty that an operation is performed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    /// Certain to be performed.
    Will,
    /// Performed depending on control flow.
    May,
    /// Performed depending on control flow, and perhaps more than once.
    Again,
}

pub(crate) struct Use {
    pub(crate) operation: Operation,
    pub(crate) sort: Sort,
    /// Number of awaits before it.
    before: usize,
}

impl Use {
    /// Whether the call never waits before it: nobody could see the intent.
    pub(crate) fn is_first(&self) -> bool {
        self.before == 0 && self.sort != Sort::Again
    }
}

/// The uses of handles in a body.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) uses: Vec<Use>,
    /// Number of awaits, and of macros that may await.
    pub(crate) awaits: usize,
    names: BTreeMap<String, Named>,
    /// An earlier statement may have left the function.
    may_be_left: bool,
    /// It contains code whose names may not be the body's.
    is_opaque: bool,
    /// All of `self` is used, so its fields may be replaced elsewhere.
    lends_self: bool,
    /// It contains a closure or a block that moves the variables that it names.
    takes: bool,
}

/// Uses of a place other than its operations.
#[derive(Default)]
struct Named {
    /// A use may replace the place, or bind its name.
    otherwise: bool,
    /// It may have been moved away.
    given: bool,
    /// A method is called on it that is not known to leave it in place.
    moved: bool,
    in_loop: bool,
}

/// The context of some tokens.
#[derive(Clone, Copy)]
struct TokenContext {
    /// The tokens may not be reached.
    branch: bool,
    /// The tokens may be reached again.
    again: bool,
    /// The tokens belong to code that runs at another time.
    apart: bool,
    /// Expressions there might be errors elsewhere.
    in_unsafe: bool,
    /// A field named there may not be one elsewhere, or a lint may report it elsewhere: it is in a
    /// macro that may transform it, or where lints are allowed.
    there_only: bool,
}

impl Body {
    /// `None` if the names in it may have any meaning.
    pub(crate) fn of(tokens: TokenStream, handles: &Handles) -> Option<Body> {
        let mut looking = Looking {
            handles,
            body: Body::default(),
        };
        let around = TokenContext {
            branch: false,
            again: false,
            apart: false,
            in_unsafe: false,
            there_only: false,
        };
        looking.stream(tokens, around);
        (!looking.body.is_opaque).then_some(looking.body)
    }

    fn named(&self, place: &str) -> Option<&Named> {
        self.names.get(place)
    }

    /// Whether the place of an operation may differ from the one at the beginning.
    pub(crate) fn may_be_another(&self, operation: &Operation) -> bool {
        let named = self.named(&operation.place);
        named.is_none_or(|named| named.otherwise)
    }

    /// Whether a parameter is used in the body in any way, and not moved away.
    pub(crate) fn keeps(&self, name: &str, is_reference: bool) -> bool {
        let named = self.named(name);
        named.is_some_and(|named| is_reference || !named.given)
    }

    /// Whether the place of an operation may have been moved out of `self` by then.
    pub(crate) fn may_be_replaced(&self, operation: &Operation) -> bool {
        self.lends_self && operation.is_field()
    }

    /// Whether a place stays in place while the body runs: its only uses are calls of methods that
    /// leave it there.
    pub(crate) fn never_moves(&self, operation: &Operation) -> bool {
        let named = self.named(&operation.place);
        let stays = named.is_some_and(|named| !named.otherwise && !named.given && !named.moved);
        stays && !self.takes && !self.may_be_replaced(operation)
    }

    /// Whether the place of an operation is used in a loop.
    pub(crate) fn is_in_loop(&self, operation: &Operation) -> bool {
        let place = operation.place.trim_start_matches('*');
        self.named(place).is_some_and(|named| named.in_loop)
    }
}

struct Looking<'a> {
    handles: &'a Handles,
    body: Body,
}

/// The facts about the current statement so far.
#[derive(Clone, Copy, Default)]
struct Statement {
    /// The following tokens may not be evaluated.
    short: bool,
    /// The following blocks are branches.
    branches: bool,
    /// The following tokens are evaluated again.
    again: bool,
    /// It may end with a block.
    block: bool,
    /// Lints are allowed in it.
    configured: bool,
    /// Lints are quiet in it.
    allowed: bool,
}

impl Looking<'_> {
    fn stream(&mut self, tokens: TokenStream, around: TokenContext) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut statement = Statement::default();
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Ident(word) => self.word(&trees, at, word, around, &mut statement),
                TokenTree::Group(group) => {
                    statement.configured |= is_attribute(&trees, at, &["cfg", "cfg_attr"]);
                    statement.allowed |= is_attribute(&trees, at, &["allow", "expect"]);
                    self.group(&trees, at, group, around, statement);
                    if group.delimiter() == Delimiter::Brace
                        && statement.block
                        && ends_statement(trees.get(at + 1))
                    {
                        statement = Statement::default();
                    }
                }
                TokenTree::Punct(punct) => match punct.as_char() {
                    ';' => statement = Statement::default(),
                    '?' => self.body.may_be_left = true,
                    // Patterns as well, to be safe.
                    '|' => statement.short = true,
                    '&' if punct.spacing() == Spacing::Joint && is(trees.get(at + 1), '&') => {
                        statement.short = true;
                    }
                    _ => {}
                },
                TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }

    fn word(
        &mut self,
        trees: &[TokenTree],
        at: usize,
        word: &Ident,
        around: TokenContext,
        statement: &mut Statement,
    ) {
        let text = word.to_string();
        if is_dot(trees, at) {
            if text == "await" && !around.apart {
                self.operation(trees, at - 1, true, within(around, *statement));
                self.body.awaits += 1;
            }
            return;
        }
        match text.as_str() {
            "if" | "match" => (statement.branches, statement.block) = (true, true),
            "else" => (statement.short, statement.block) = (true, true),
            "while" | "loop" | "for" => {
                statement.again = true;
                statement.block = true;
            }
            "unsafe" => statement.block = true,
            "return" | "break" | "continue" | "yield" | "become" => self.body.may_be_left = true,
            "fn" | "impl" | "trait" | "mod" | "macro_rules" => self.body.is_opaque = true,
            "move" => self.body.takes = true,
            "self" if self.handles.has_self() => self.field(trees, at, around, *statement),
            name if self.handles.has(name) && !is_of_path(trees, at) => {
                let named = self.body.names.entry(text).or_default();
                let is_used = is(trees.get(at + 1), '.') && !is(trees.get(at + 2), '.');
                named.otherwise |= !is_used;
                named.given |= around.apart || !is_used && !is_borrowed(trees, at);
                named.moved |= around.there_only || !stays(trees, at + 1);
                named.in_loop |= around.again || statement.again;
            }
            _ => {}
        }
    }

    /// `self.name`
    fn field(
        &mut self,
        trees: &[TokenTree],
        at: usize,
        around: TokenContext,
        statement: Statement,
    ) {
        let Some(TokenTree::Ident(name)) = trees.get(at + 2).filter(|_| is(trees.get(at + 1), '.'))
        else {
            self.body.lends_self = true;
            return;
        };
        self.body.lends_self |= matches!(trees.get(at + 3), Some(TokenTree::Group(_)))
            || is(trees.get(at + 3), ':')
            || name == "await";
        let is_used = is(trees.get(at + 3), '.') && !is(trees.get(at + 4), '.');
        let named = self.body.names.entry(format!("self.{name}")).or_default();
        named.otherwise |= !is_used;
        named.given |= around.apart;
        named.moved |= around.there_only || !stays(trees, at + 3);
        named.in_loop |= around.again || statement.again;
    }

    fn group(
        &mut self,
        trees: &[TokenTree],
        at: usize,
        group: &Group,
        around: TokenContext,
        statement: Statement,
    ) {
        let mut inside = within(around, statement);
        if let Some(name) = macro_before(trees, at) {
            if name == "intend" {
                // It only inspects the handles that it names.
                return;
            }
            inside.branch = true;
            inside.there_only |= !known_macros::evaluates(&name);
            self.stream(group.stream(), inside);
            let may_await = !known_macros::awaits_nothing(&name);
            self.body.awaits += usize::from(may_await);
            self.body.may_be_left |=
                may_await || LEAVING.iter().any(|start| name.starts_with(start));
            return;
        }
        // A block that was passed to another macro is in a group without delimiters.
        if matches!(group.delimiter(), Delimiter::Brace | Delimiter::None) {
            inside.branch |= statement.branches || !is_block(trees, at);
            inside.in_unsafe |= is_word(before(trees, at), "unsafe");
            if is_async(trees, at) {
                inside.apart = true;
                // A `return` there does not leave this body.
                let left = self.body.may_be_left;
                self.stream(group.stream(), inside);
                self.body.may_be_left = left;
                return;
            }
        }
        self.stream(group.stream(), inside);
        if !is_awaited(trees, at) {
            self.operation(trees, at + 1, false, within(around, statement));
        }
    }

    /// The operation whose parentheses are the last token before `end`, if it is one on a handle.
    fn operation(
        &mut self,
        trees: &[TokenTree],
        end: usize,
        is_awaited: bool,
        around: TokenContext,
    ) {
        let Some((verb, dot)) = call_before(trees, end, is_awaited) else {
            return;
        };
        let Some(TokenTree::Ident(name)) = dot.checked_sub(1).map(|at| &trees[at]) else {
            return;
        };
        let operand = if is_dot(trees, dot - 1) {
            let of_self = dot.checked_sub(3).map(|at| &trees[at]);
            match of_self {
                Some(TokenTree::Ident(own))
                    if own == "self"
                        && name != "await"
                        && self.handles.has_self()
                        && !around.there_only
                        && !is_dot(trees, dot - 3) =>
                {
                    quote!(#own.#name)
                }
                _ => return,
            }
        } else if self.handles.has(&name.to_string()) && !is_of_path(trees, dot - 1) {
            quote!(#name)
        } else {
            return;
        };
        let sort = match (around.again, around.branch || self.body.may_be_left) {
            _ if around.apart || around.in_unsafe => return,
            (true, _) => Sort::Again,
            (false, true) => Sort::May,
            (false, false) => Sort::Will,
        };
        self.body.uses.push(Use {
            operation: Operation::new(verb, operand, name.span()),
            sort,
            before: self.body.awaits,
        });
    }
}

/// Prefixes of the names of macros that return from the function.
const LEAVING: &[&str] = &["bail", "ensure"];

/// The context of tokens inside a statement with these facts.
const fn within(around: TokenContext, statement: Statement) -> TokenContext {
    TokenContext {
        branch: around.branch || statement.short,
        again: around.again || statement.again,
        apart: around.apart || statement.configured,
        there_only: around.there_only || statement.allowed,
        ..around
    }
}

/// `.verb(…)` before `end`: the verb, and the index of its dot.
fn call_before(trees: &[TokenTree], end: usize, is_awaited: bool) -> Option<(Verb, usize)> {
    let at = end.checked_sub(1)?;
    let TokenTree::Group(arguments) = trees.get(at)? else {
        return None;
    };
    let TokenTree::Ident(method) = &trees[at.checked_sub(1)?] else {
        return None;
    };
    if arguments.delimiter() != Delimiter::Parenthesis || !is_dot(trees, at - 1) {
        return None;
    }
    let has_arguments = !arguments.stream().is_empty();
    let verb = Verb::of_method(&method.to_string(), has_arguments, is_awaited)?;
    Some((verb, at - 2))
}

/// Awaited operations are found at their `await`.
fn is_awaited(trees: &[TokenTree], at: usize) -> bool {
    is(trees.get(at + 1), '.') && is_word(trees.get(at + 2), "await")
}
