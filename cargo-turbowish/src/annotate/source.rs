//! A source file as text: positions are byte offsets and changes are edits at offsets, so the file
//! is never reformatted.

use std::ops::Range;

use proc_macro2::{Span, TokenStream, TokenTree};

/// The text of a Rust file, and the offset at which its code begins: after a byte order mark and a
/// shebang line.
#[derive(Debug)]
pub(crate) struct Source {
    text: String,
    code_at: usize,
}

/// A text that is not valid Rust: the position and the error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) at: usize,
    pub(crate) why: String,
}

/// Replaces a range by a text; an insertion replaces an empty range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl Source {
    pub(crate) fn new(text: String) -> Self {
        let marked = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
        let start = text.len() - marked.len();
        // `#!` is a shebang, unless it begins an attribute.
        let code_at = match marked.strip_prefix("#!") {
            Some(rest) if !rest.trim_start().starts_with('[') => {
                start + marked.find('\n').unwrap_or(marked.len())
            }
            _ => start,
        };
        Self { text, code_at }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Parses the tokens and the syntax of the file.
    ///
    /// # Errors
    /// The text is not Rust, or newer than the parser.
    pub(crate) fn parse(&self) -> Result<(TokenStream, syn::File), Unreadable> {
        let unreadable = |span: Span, why: String| {
            let range = span.byte_range();
            // Errors at the end of the file have no span.
            let at = if range.end == 0 {
                self.text.trim_end().len()
            } else {
                self.code_at + range.start
            };
            Unreadable { at, why }
        };
        let tokens: TokenStream =
            self.text[self.code_at..]
                .parse()
                .map_err(|error: proc_macro2::LexError| {
                    unreadable(
                        error.span(),
                        "a bracket or a literal is not closed".to_owned(),
                    )
                })?;
        let file = syn::parse2(tokens.clone())
            .map_err(|error: syn::Error| unreadable(error.span(), error.to_string()))?;
        Ok((tokens, file))
    }

    /// The bytes of a span of this file's tokens.
    pub(crate) fn range(&self, span: Span) -> Range<usize> {
        let range = span.byte_range();
        self.code_at + range.start..self.code_at + range.end
    }

    /// Line and column of an offset, both from 1, the column in characters.
    pub(crate) fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let columns = before[start..].trim_start_matches(BYTE_ORDER_MARK);
        (line, columns.chars().count() + 1)
    }

    /// The edit that inserts `attribute` at `at`: on a separate line if only white space precedes
    /// it.
    pub(crate) fn insertion(&self, at: usize, attribute: &str) -> Edit {
        let text = match self.indent(at) {
            Some(indent) => format!("{attribute}{}{indent}", self.line_end(at)),
            None => format!("{attribute} "),
        };
        Edit {
            range: at..at,
            text,
        }
    }

    /// The edit that removes an attribute or an item, and the whole line if nothing else is on it.
    pub(crate) fn removal(&self, range: Range<usize>) -> Edit {
        let after = &self.text[range.end..];
        let rest = after.trim_start_matches([' ', '\t']);
        let end = self.text.len() - rest.len();
        let newline = ["\r\n", "\n"].into_iter().find(|end| rest.starts_with(end));
        let range = match (self.indent(range.start), newline) {
            (Some(indent), Some(newline)) => range.start - indent.len()..end + newline.len(),
            (Some(indent), None) if rest.is_empty() => range.start - indent.len()..end,
            (None, Some(_)) => range,
            _ => range.start..end,
        };
        Edit {
            range,
            text: String::new(),
        }
    }

    /// The text on the line before `at`, if it is only white space.
    fn indent(&self, at: usize) -> Option<&str> {
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before[start..].trim_start_matches(BYTE_ORDER_MARK);
        line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
    }

    /// The line end of the line at `at`, else that of the previous line.
    fn line_end(&self, at: usize) -> &'static str {
        let end = self.text[at..]
            .find('\n')
            .map(|end| at + end)
            .or_else(|| self.text[..at].rfind('\n'));
        match end {
            Some(end) if self.text[..end].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// The text with all `edits` applied. They must not overlap.
    pub(crate) fn edited(&self, edits: &[Edit]) -> String {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let mut text = String::with_capacity(self.text.len() + 64 * edits.len());
        let mut done = 0;
        for edit in edits {
            text.push_str(&self.text[done..edit.range.start]);
            text.push_str(&edit.text);
            done = edit.range.end;
        }
        text.push_str(&self.text[done..]);
        text
    }
}

/// Visits every token in order, including those in groups.
pub(crate) fn each_token(tokens: &TokenStream, visit: &mut impl FnMut(&TokenTree)) {
    for token in tokens.clone() {
        visit(&token);
        if let TokenTree::Group(group) = &token {
            each_token(&group.stream(), visit);
        }
    }
}
