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

/// How sure it is that an operation is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    /// It is.
    Will,
    /// It depends.
    May,
    /// It depends, and perhaps more than once.
    Again,
}

/// One operation.
pub(crate) struct Use {
    pub(crate) operation: Operation,
    pub(crate) sort: Sort,
    /// How many awaits come before.
    before: usize,
}

impl Use {
    /// The call is never seen to wait before it: nobody would ever read of it.
    pub(crate) fn is_first(&self) -> bool {
        self.before == 0 && self.sort != Sort::Again
    }
}

/// What a body does with handles.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) uses: Vec<Use>,
    /// Awaits, and macros that may await.
    pub(crate) awaits: usize,
    names: BTreeMap<String, Named>,
    /// Something left before, perhaps.
    may_be_left: bool,
    /// There is something in it whose names are not the body's.
    is_opaque: bool,
    /// All of `self` is used, so that its fields may be replaced out of sight.
    lends_self: bool,
    /// There is a closure or a block that takes what it names.
    takes: bool,
}

/// How a place is named beside its operations.
#[derive(Default)]
struct Named {
    /// It is named in a way that may replace it, or bind its name.
    otherwise: bool,
    /// It may be gone.
    given: bool,
    /// It is used by a method that is not known to leave it where it is.
    moved: bool,
    in_loop: bool,
}

/// What is around some tokens.
#[derive(Clone, Copy)]
struct Around {
    /// They may not be reached.
    branch: bool,
    /// They may be reached again.
    again: bool,
    /// They are part of something else, that runs at another time.
    apart: bool,
    /// What stands there might be an error elsewhere.
    in_unsafe: bool,
    /// A field that is named there may be none elsewhere, or one of which a lint tells: it is in a
    /// macro that makes of it what it likes, or where lints are allowed.
    there_only: bool,
}

impl Body {
    /// `None` if names may mean anything in it.
    pub(crate) fn of(tokens: TokenStream, handles: &Handles) -> Option<Body> {
        let mut looking = Looking {
            handles,
            body: Body::default(),
        };
        let around = Around {
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

    /// Whether the place of an operation may be another thing than at the beginning.
    pub(crate) fn may_be_another(&self, operation: &Operation) -> bool {
        let named = self.named(&operation.place);
        named.is_none_or(|named| named.otherwise)
    }

    /// Whether a parameter is used in the body in any way, and not given away.
    pub(crate) fn keeps(&self, name: &str, is_reference: bool) -> bool {
        let named = self.named(name);
        named.is_some_and(|named| is_reference || !named.given)
    }

    /// Whether what an operation is done with may have been taken out of `self` by then.
    pub(crate) fn may_be_replaced(&self, operation: &Operation) -> bool {
        self.lends_self && operation.is_field()
    }

    /// Whether a place stays where it is for as long as the body runs: all that is done with it is
    /// to call methods that leave it there.
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

/// What the statement that is looked at has shown so far.
#[derive(Clone, Copy, Default)]
struct Statement {
    /// What follows may not be evaluated.
    short: bool,
    /// Blocks that follow are branches.
    branches: bool,
    /// What follows is evaluated again.
    again: bool,
    /// It may end with a block.
    block: bool,
    /// It may not be compiled.
    configured: bool,
    /// Lints are quiet in it.
    allowed: bool,
}

impl Looking<'_> {
    fn stream(&mut self, tokens: TokenStream, around: Around) {
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
                    // Patterns as well, to be sure.
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
        around: Around,
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
    fn field(&mut self, trees: &[TokenTree], at: usize, around: Around, statement: Statement) {
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
        around: Around,
        statement: Statement,
    ) {
        let mut inside = within(around, statement);
        if let Some(name) = macro_before(trees, at) {
            if name == "intend" {
                // It looks at what it names, and does nothing with it.
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
        // A block that another macro was given stands in a group without delimiters.
        if matches!(group.delimiter(), Delimiter::Brace | Delimiter::None) {
            inside.branch |= statement.branches || !is_block(trees, at);
            inside.in_unsafe |= is_word(before(trees, at), "unsafe");
            if is_async(trees, at) {
                inside.apart = true;
                // Nobody leaves our body from there.
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
    fn operation(&mut self, trees: &[TokenTree], end: usize, is_awaited: bool, around: Around) {
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

/// What the names of macros begin with that return from the function.
const LEAVING: &[&str] = &["bail", "ensure"];

/// What is around something in a statement that has shown that much.
const fn within(around: Around, statement: Statement) -> Around {
    Around {
        branch: around.branch || statement.short,
        again: around.again || statement.again,
        apart: around.apart || statement.configured,
        there_only: around.there_only || statement.allowed,
        ..around
    }
}

/// `.verb(…)` before `end`: the verb, and where its dot is.
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

/// What is awaited is met again at its `await`.
fn is_awaited(trees: &[TokenTree], at: usize) -> bool {
    is(trees.get(at + 1), '.') && is_word(trees.get(at + 2), "await")
}
