//! Search of macro arguments, which have no syntax tree: paths and async fns in them are found
//! among their tokens.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use super::names::text;

/// The paths of two or more segments in tokens, at any depth, each with its position.
pub(crate) fn paths(tokens: &TokenStream) -> Vec<(Vec<String>, Span)> {
    let mut found = Vec::new();
    let mut path: Option<(Vec<String>, Span)> = None;
    // Colons since the last name; other signs before a name: `.name`, `$name`.
    let (mut colons, mut joined) = (0, false);
    for token in tokens.clone() {
        match &token {
            TokenTree::Ident(ident) => {
                match &mut path {
                    Some((names, _)) if colons == 2 => names.push(text(ident)),
                    _ => {
                        found.extend(path.take());
                        path = (!joined).then(|| (vec![text(ident)], ident.span()));
                    }
                }
                (colons, joined) = (0, false);
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            other => {
                found.extend(path.take());
                colons = 0;
                joined = matches!(other, TokenTree::Punct(punct) if ['.', '$'].contains(&punct.as_char()));
                if let TokenTree::Group(group) = other {
                    found.extend(paths(&group.stream()));
                }
            }
        }
    }
    found.extend(path);
    found.retain(|(names, _)| names.len() > 1);
    found
}

/// How many async fns with a body stand in tokens.
pub(crate) fn async_fns(tokens: &TokenStream) -> usize {
    let mut count = 0;
    let mut state = State::Nothing;
    for token in tokens.clone() {
        state = match (&token, state) {
            (TokenTree::Ident(ident), _) if ident == "async" => State::Async,
            (TokenTree::Ident(ident), State::Async) if ident == "fn" => State::Fn,
            // `async unsafe extern "C" fn`
            (TokenTree::Ident(ident), State::Async) if ident == "unsafe" || ident == "extern" => {
                State::Async
            }
            (TokenTree::Literal(_), State::Async) => State::Async,
            (TokenTree::Punct(punct), State::Fn) if punct.as_char() == ';' => State::Nothing,
            (TokenTree::Group(group), State::Fn) if group.delimiter() == Delimiter::Brace => {
                count += 1;
                State::Nothing
            }
            (_, State::Fn) => State::Fn,
            _ => State::Nothing,
        };
        if let TokenTree::Group(group) = &token {
            count += async_fns(&group.stream());
        }
    }
    // `async fn $name() $body`
    count + usize::from(state == State::Fn)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Nothing,
    Async,
    Fn,
}
