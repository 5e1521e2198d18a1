//! Simple bodies, whose awaits can be found without parsing. In a simple body every await is
//! written out, none is inside a macro, an `async` block or an `async` closure, and every operand
//! is a chain of names, calls, fields and `?`. Such a chain is recognised from its end.
//!
//! If anything is uncertain, the body is parsed.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::{Block, Result};

use super::attr::Scope;
use super::awaits;
use super::known_macros;
use super::site::{self, Site};
use super::{raw_body, tracing_compat};

/// Facts about a simple body.
pub(crate) struct Plain {
    /// Where its awaits are.
    pub(crate) sites: Vec<Site>,
    words: Vec<String>,
}

impl Plain {
    /// Whether the body contains the word, outside of macros.
    pub(crate) fn has_word(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name)
    }

    /// Whether the body contains one of the words, outside of macros.
    pub(crate) fn has_any_word(&self, names: &[&str]) -> bool {
        self.words.iter().any(|word| names.contains(&word.as_str()))
    }
}

/// Marks the awaits of an unparsed body if it is simple; parses it otherwise.
pub(crate) fn mark(block: &mut Block, scope: &Scope) -> Result<Option<Plain>> {
    let Some(body) = raw_body::tokens(block) else {
        return Ok(None);
    };
    let mut marking = Marking {
        scope,
        plain: Plain {
            sites: Vec::new(),
            words: Vec::new(),
        },
        traced: false,
    };
    match marking.stream(body.clone()) {
        Ok(marked) => {
            block.stmts.pop();
            block
                .stmts
                .push(raw_body::as_written(marked.unwrap_or(body)));
            Ok(Some(marking.plain))
        }
        Err(NotPlain) => {
            let stmts = Block::parse_within.parse2(body)?;
            block.stmts.pop();
            block.stmts.extend(stmts);
            Ok(None)
        }
    }
}

/// The body must be parsed.
struct NotPlain;

struct Marking<'a> {
    scope: &'a Scope,
    plain: Plain,
    /// Blocks and awaits that the user did not write come from tracing.
    traced: bool,
}

/// The marked part of a stream, and the origin of each of its tokens.
#[derive(Default)]
struct Done {
    trees: Vec<TokenTree>,
    /// By token: the number of source tokens before it.
    origins: Vec<usize>,
}

impl Done {
    fn push(&mut self, tree: TokenTree, origin: usize) {
        self.trees.push(tree);
        self.origins.push(origin);
    }
}

impl Marking<'_> {
    /// The stream with its awaits marked; `None` if there are none.
    fn stream(
        &mut self,
        tokens: TokenStream,
    ) -> std::result::Result<Option<TokenStream>, NotPlain> {
        let source: Vec<TokenTree> = tokens.into_iter().collect();
        let mut done = Done::default();
        let mut is_marked = false;
        for (at, tree) in source.iter().enumerate() {
            match tree {
                TokenTree::Group(group) => {
                    let inside = match macro_before(&source[..at]) {
                        Some(name) if !awaits_nothing(name, group) => return Err(NotPlain),
                        Some(_) => None,
                        None => self.stream(group.stream())?,
                    };
                    is_marked |= inside.is_some();
                    let tree = match inside {
                        Some(inside) => around(group, inside).into(),
                        None => tree.clone(),
                    };
                    done.push(tree, at);
                }
                TokenTree::Ident(word) => {
                    let text = word.to_string();
                    match text.as_str() {
                        "macro_rules" => return Err(NotPlain),
                        "async" if self.is_of_body(word, "async") => return Err(NotPlain),
                        "await" if self.is_of_body(word, "await") => {
                            self.operand(&mut done, &source[..at], word)?;
                            done.push(source[at - 1].clone(), at - 1);
                            is_marked = true;
                        }
                        _ => {
                            self.traced |= tracing_compat::is_name(&text);
                            self.plain.words.push(text);
                        }
                    }
                    done.push(tree.clone(), at);
                }
                tree => done.push(tree.clone(), at),
            }
        }
        Ok(is_marked.then(|| done.trees.into_iter().collect()))
    }

    fn is_of_body(&self, word: &Ident, text: &str) -> bool {
        !self.traced || tracing_compat::is_written(word.span(), text)
    }

    /// Marks the operand of an `await` that comes next.
    fn operand(
        &mut self,
        done: &mut Done,
        source: &[TokenTree],
        word: &Ident,
    ) -> std::result::Result<(), NotPlain> {
        if !is_dot(&done.trees, done.trees.len()) {
            return Err(NotPlain);
        }
        done.trees.pop();
        done.origins.pop();
        let start = start_of_chain(&done.trees).ok_or(NotPlain)?;
        let origin = done.origins[start];
        let written: TokenStream = source[origin..source.len() - 1].iter().cloned().collect();
        let index = self.plain.sites.len();
        self.plain.sites.push(Site::of_tokens(written, word.span()));
        let operand = done.trees.split_off(start);
        done.origins.truncate(start);
        let span = site::start(&operand[0]).ok_or(NotPlain)?;
        let operand = without_parentheses(operand).ok_or(NotPlain)?;
        for tree in awaits::arrival(index, operand, span, self.traced, self.scope) {
            done.push(tree, origin);
        }
        Ok(())
    }
}

/// The start of the chain that `trees` ends with.
fn start_of_chain(trees: &[TokenTree]) -> Option<usize> {
    let mut end = trees.len();
    loop {
        let last = end.checked_sub(1)?;
        match &trees[last] {
            TokenTree::Punct(punct) if punct.as_char() == '?' => end = last,
            TokenTree::Ident(_) | TokenTree::Literal(_) if is_dot(trees, last) => end = last - 1,
            TokenTree::Ident(word) => return start_of_path(trees, last, word),
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis | Delimiter::Bracket => match before_group(trees, last)? {
                    Before::Chain => end = last,
                    Before::Nothing => return Some(last),
                },
                Delimiter::Brace | Delimiter::None => return None,
            },
            TokenTree::Literal(_) => return Some(last),
            TokenTree::Punct(_) => return None,
        }
    }
}

/// The start of `a::b::c` or `::a::b`, given its last word.
fn start_of_path(trees: &[TokenTree], last: usize, word: &Ident) -> Option<usize> {
    if is_keyword(word) || is(trees, last, '\'') {
        return None;
    }
    let mut start = last;
    while is_path_separator(trees, start) {
        start -= 2;
        match start.checked_sub(1).map(|before| &trees[before]) {
            Some(TokenTree::Ident(word)) if !is_keyword(word) => start -= 1,
            // Generic arguments, and not `=>`.
            Some(TokenTree::Punct(punct))
                if punct.as_char() == '>' && !is(trees, start - 1, '=') =>
            {
                return None;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => return None,
            _ => return Some(start),
        }
    }
    Some(start)
}

/// The token before a group in parentheses or brackets.
enum Before {
    /// The group is an argument list or an index.
    Chain,
    /// Anything else: the group is a separate value.
    Nothing,
}

fn before_group(trees: &[TokenTree], group: usize) -> Option<Before> {
    let Some(before) = group.checked_sub(1) else {
        return Some(Before::Nothing);
    };
    match &trees[before] {
        TokenTree::Ident(word) if is_keyword(word) => Some(Before::Nothing),
        TokenTree::Ident(_) if is(trees, before, '\'') => None,
        TokenTree::Ident(_) => Some(Before::Chain),
        TokenTree::Group(group) => match group.delimiter() {
            // The group does not belong to an attribute.
            Delimiter::Parenthesis | Delimiter::Bracket
                if !is(trees, before, '#') && !is(trees, before, '!') =>
            {
                Some(Before::Chain)
            }
            _ => None,
        },
        TokenTree::Punct(punct) => match punct.as_char() {
            '?' => Some(Before::Chain),
            '=' | ',' | ';' | '&' | '*' | '-' | '+' | '/' | '|' => Some(Before::Nothing),
            '>' if is(trees, before, '=') => Some(Before::Nothing),
            // A macro, generic arguments, an attribute, a comparison.
            _ => None,
        },
        TokenTree::Literal(_) => None,
    }
}

/// Whether `c` precedes the token `at`.
fn is(trees: &[TokenTree], at: usize, c: char) -> bool {
    punct_before(trees, at).is_some_and(|punct| punct.as_char() == c)
}

fn punct_before(trees: &[TokenTree], at: usize) -> Option<&Punct> {
    match trees.get(at.checked_sub(1)?)? {
        TokenTree::Punct(punct) => Some(punct),
        _ => None,
    }
}

/// Whether a `.`, and not a `..`, precedes the token `at`.
fn is_dot(trees: &[TokenTree], at: usize) -> bool {
    is(trees, at, '.') && !is(trees, at - 1, '.')
}

fn is_path_separator(trees: &[TokenTree], at: usize) -> bool {
    let joint = |punct: &Punct| punct.as_char() == ':' && punct.spacing() == Spacing::Joint;
    is(trees, at, ':') && punct_before(trees, at - 1).is_some_and(joint)
}

/// Keywords that cannot be in a path and that an expression can follow.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod",
    "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "try", "type", "unsafe",
    "use", "where", "while", "yield",
];

fn is_keyword(word: &Ident) -> bool {
    KEYWORDS.contains(&word.to_string().as_str())
}

/// The name of a macro, behind its `!`.
fn macro_before(trees: &[TokenTree]) -> Option<&Ident> {
    match trees {
        [.., TokenTree::Ident(name), TokenTree::Punct(bang)] if bang.as_char() == '!' => Some(name),
        _ => None,
    }
}

fn awaits_nothing(name: &Ident, arguments: &Group) -> bool {
    known_macros::awaits_nothing(&name.to_string()) && !known_macros::may_matter(arguments.stream())
}

fn around(group: &Group, inside: TokenStream) -> Group {
    let mut around = Group::new(group.delimiter(), inside);
    around.set_span(group.span());
    around
}

/// Removes parentheses, because an argument needs none and `unused_parens` would fire; a block in
/// them would then be the argument.
fn without_parentheses(operand: Vec<TokenTree>) -> Option<TokenStream> {
    let inside = match &*operand {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => group.stream(),
        _ => return Some(operand.into_iter().collect()),
    };
    let inside: Vec<TokenTree> = inside.into_iter().collect();
    let is_certain = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
        TokenTree::Punct(punct) => ![',', '#'].contains(&punct.as_char()),
        _ => true,
    };
    if inside.is_empty() || !inside.iter().all(is_certain) {
        return None;
    }
    without_parentheses(inside)
}

#[cfg(test)]
mod tests;
