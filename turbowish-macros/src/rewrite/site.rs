//! The site of an await point: it is defined by its own tokens, so it is correct in any context.

use std::fmt::Write;

use proc_macro2::{Delimiter, LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{ExprAwait, Macro, MacroDelimiter};

/// Maximal length of an expression's text, in characters; the rest becomes `..`.
const MAX_TEXT: usize = 200;

/// One `.await` as written, or the range of one marker: macros that may hide awaits, awaits that
/// macros print.
pub(crate) struct Site {
    /// Line and column of the first character, from 1.
    start: (usize, usize),
    /// Line and column of the last character, from 1.
    end: (usize, usize),
    /// The awaited expression as written, on one line; of a macro only its beginning and end.
    text: String,
}

impl Site {
    /// The site of `expr`, with the text of its operand.
    pub(crate) fn of(expr: &ExprAwait) -> Site {
        Site::of_tokens(expr.base.to_token_stream(), expr.await_token.span)
    }

    /// The site of the `await` of an operand.
    pub(crate) fn of_tokens(operand: TokenStream, word: Span) -> Site {
        let first = first_span(operand.clone()).unwrap_or(word).start();
        let last = word.end();
        Site {
            start: (first.line, first.column + 1),
            // proc_macro2's end is the column after the last one, counted from 0, which equals the
            // last one counted from 1.
            end: (last.line, last.column),
            text: text(operand),
        }
    }

    /// The site of a macro, with its beginning and end as the text: `path! {..}`, with the
    /// delimiters as written.
    pub(crate) fn of_macro(invocation: &Macro) -> Site {
        let path = invocation.path.to_token_stream();
        let first = first_span(path.clone())
            .unwrap_or(invocation.bang_token.span)
            .start();
        let last = invocation.delimiter.span().close().end();
        let inside = match invocation.delimiter {
            MacroDelimiter::Paren(_) => "(..)",
            MacroDelimiter::Brace(_) => " {..}",
            MacroDelimiter::Bracket(_) => "[..]",
        };
        Site {
            start: (first.line, first.column + 1),
            end: (last.line, last.column),
            text: format!("{}!{inside}", text(path)),
        }
    }

    /// All of `sites` as one site, from the first to the last.
    pub(crate) fn joined(mut sites: Vec<Site>) -> Option<Site> {
        let last = sites.pop()?;
        let Some(first) = sites.first() else {
            return Some(last);
        };
        let (start, end) = (first.start, last.end);
        let texts: Vec<String> = sites
            .into_iter()
            .chain([last])
            .map(|site| site.text)
            .collect();
        Some(Site {
            start,
            end,
            text: shortened(texts.join(", ")),
        })
    }

    /// `LINE COLUMN END_LINE END_COLUMN TEXT`
    pub(crate) fn write(&self, places: &mut String) {
        let ((line, column), (end_line, end_column)) = (self.start, self.end);
        let text = &self.text;
        // Writing to a `String` cannot fail.
        let _ = write!(places, "{line} {column} {end_line} {end_column} {text}");
    }
}

/// The first token of an expression; a group without delimiters has none of its own.
pub(crate) fn first_span(tokens: TokenStream) -> Option<Span> {
    start(&tokens.into_iter().next()?)
}

/// The same of the tree that an expression begins with.
pub(crate) fn start(tree: &TokenTree) -> Option<Span> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            first_span(group.stream())
        }
        TokenTree::Group(group) => Some(group.span_open()),
        tree => Some(tree.span()),
    }
}

/// Whether `found` holds for a token, inside groups too.
pub(crate) fn any_token(tokens: TokenStream, found: fn(&TokenTree) -> bool) -> bool {
    tokens.into_iter().any(|tree| any_in(&tree, found))
}

/// The same of tokens that were taken apart.
pub(crate) fn any_of(trees: &[TokenTree], found: fn(&TokenTree) -> bool) -> bool {
    trees.iter().any(|tree| any_in(tree, found))
}

fn any_in(tree: &TokenTree, found: fn(&TokenTree) -> bool) -> bool {
    match tree {
        TokenTree::Group(group) => any_token(group.stream(), found),
        tree => found(tree),
    }
}

/// The last token of an expression or a type.
pub(crate) fn last_span(tokens: TokenStream) -> Option<Span> {
    match tokens.into_iter().last()? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            last_span(group.stream())
        }
        TokenTree::Group(group) => Some(group.span_close()),
        tree => Some(tree.span()),
    }
}

/// The source of `tokens` on one line, with one blank wherever the source has space between two
/// tokens.
pub(crate) fn text(tokens: TokenStream) -> String {
    let mut line = Line::default();
    line.stream(tokens);
    shortened(line.text)
}

fn shortened(mut text: String) -> String {
    // Characters are counted only if there may be too many.
    if text.len() > MAX_TEXT
        && let Some((end, _)) = text.char_indices().nth(MAX_TEXT)
    {
        text.replace_range(end.., "..");
    }
    text
}

/// Tokens written in sequence. Neither the file nor unstable spans are needed to place the blanks.
#[derive(Default)]
struct Line {
    text: String,
    end: Option<LineColumn>,
}

impl Line {
    fn stream(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match tree {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    if open.is_empty() {
                        self.stream(group.stream());
                        continue;
                    }
                    // A parsed group has one span for both ends, from the first to the last
                    // character.
                    let (start, end) = (group.span().start(), group.span().end());
                    self.token(open, start, shifted(start, 1));
                    self.stream(group.stream());
                    self.token(close, shifted(end, -1), end);
                }
                // The only token that can contain blanks and line ends.
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let words: Vec<&str> = text.split_whitespace().collect();
                    let span = literal.span();
                    self.token(&words.join(" "), span.start(), span.end());
                }
                tree => self.word(&tree.to_string(), &tree),
            }
        }
    }

    /// The end of an identifier or a punctuation character is computed from its beginning, because
    /// each request to the compiler takes time. Both tokens of a lifetime begin at the same place.
    fn word(&mut self, text: &str, tree: &TokenTree) {
        let start = tree.span().start();
        let of_lifetime = text == "'" || self.text.ends_with('\'');
        let end = if of_lifetime {
            tree.span().end()
        } else {
            LineColumn {
                line: start.line,
                column: start.column + text.chars().count(),
            }
        };
        self.token(text, start, end);
    }

    fn token(&mut self, text: &str, start: LineColumn, end: LineColumn) {
        // The two tokens of a lifetime share one span, and so may those of an operator.
        if self.end.is_some_and(|end| end < start) {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.end = Some(end);
    }
}

fn shifted(place: LineColumn, columns: isize) -> LineColumn {
    LineColumn {
        line: place.line,
        column: place.column.saturating_add_signed(columns),
    }
}
