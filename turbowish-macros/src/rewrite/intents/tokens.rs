//! The context of a token, determined from the tokens before and after it.

use proc_macro2::{Delimiter, TokenTree};

pub(super) fn is(tree: Option<&TokenTree>, c: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == c)
}

pub(super) fn is_word(tree: Option<&TokenTree>, text: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(word)) if word == text)
}

pub(super) fn before(trees: &[TokenTree], at: usize) -> Option<&TokenTree> {
    trees.get(at.checked_sub(1)?)
}

/// Whether a `.`, and not a `..`, precedes the token `at`.
pub(super) fn is_dot(trees: &[TokenTree], at: usize) -> bool {
    is(before(trees, at), '.') && !is(before(trees, at - 1), '.')
}

/// `a::name`, which is no variable.
pub(super) fn is_of_path(trees: &[TokenTree], at: usize) -> bool {
    is(before(trees, at), ':') && at > 1 && is(before(trees, at - 1), ':')
}

/// `&name` or `&mut name`
pub(super) fn is_borrowed(trees: &[TokenTree], at: usize) -> bool {
    match before(trees, at) {
        tree if is_word(tree, "mut") => is(before(trees, at - 1), '&'),
        tree => is(tree, '&'),
    }
}

/// A block that is evaluated where it stands, and not a branch, a value or a pattern of a type with
/// fields, an arm.
pub(super) fn is_block(trees: &[TokenTree], at: usize) -> bool {
    match before(trees, at) {
        None => true,
        Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), ';' | '='),
        Some(TokenTree::Ident(word)) => word == "unsafe" || word == "loop",
        _ => false,
    }
}

/// `async {`, `async move {`
pub(super) fn is_async(trees: &[TokenTree], at: usize) -> bool {
    let tree = before(trees, at);
    is_word(tree, "async") || is_word(tree, "move") && is_word(before(trees, at - 1), "async")
}

/// The name of a macro whose arguments are the token `at`.
pub(super) fn macro_before(trees: &[TokenTree], at: usize) -> Option<String> {
    let bang = at.checked_sub(1)?;
    match trees.get(bang.checked_sub(1)?)? {
        TokenTree::Ident(name) if is(trees.get(bang), '!') => Some(name.to_string()),
        _ => None,
    }
}

/// Whether what stands behind a block that may be a statement cannot belong to it.
pub(super) fn ends_statement(next: Option<&TokenTree>) -> bool {
    match next {
        Some(TokenTree::Ident(word)) => word != "else" && word != "as",
        Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), '#' | '\''),
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(TokenTree::Literal(_)) | None => true,
    }
}

/// Whether the token `at` is the bracket of an attribute of one of these names.
pub(super) fn is_attribute(trees: &[TokenTree], at: usize, names: &[&str]) -> bool {
    let Some(TokenTree::Group(group)) = trees.get(at).filter(|_| is(before(trees, at), '#')) else {
        return false;
    };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(word)) if names.iter().any(|name| word == name))
}
