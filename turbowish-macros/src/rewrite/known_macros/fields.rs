//! Arguments of events and spans of tracing and log: a field without `=` is printed by its source,
//! everything else is a value.

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Lit, Result, Token, token};

use super::list::{end_of_item, is_separator};
use super::{Piece, Reading, may_matter};

impl Reading {
    /// `target: t, parent: p, a.b = ?x, "c" = %y, ?d, e; "message {}", f`. If `is_message`,
    /// everything after a message is its arguments.
    pub(super) fn fields(&mut self, input: ParseStream<'_>, is_message: bool) -> Result<()> {
        let mut fields = true;
        while !input.is_empty() {
            if is_separator(input) {
                self.token(input)?;
                continue;
            }
            if is_head(input) {
                self.token(input)?;
                self.token(input)?;
                self.sigil(input)?;
                if !is_separator(input) && !input.is_empty() && !input.peek(Token![=]) {
                    self.expr(input)?;
                }
            }
            if self.name(input)? {
                self.sigil(input)?;
                self.expr(input)?;
            } else if input.peek(Token![?]) || input.peek(Token![%]) {
                self.token(input)?;
                self.shown(input)?;
            } else if input.peek(token::Brace) {
                self.group(input)?;
            } else if !is_separator(input) && !input.is_empty() {
                fields &= !(is_message && input.peek(Lit));
                self.value(input, fields)?;
            }
            end_of_item(input)?;
        }
        Ok(())
    }

    /// `a.b =`, `"c" =`, `{ D } =`, or nothing but the `=` of what was read already; whether there
    /// was one.
    fn name(&mut self, input: ParseStream<'_>) -> Result<bool> {
        let ahead = input.fork();
        let mut length = 0;
        while !ahead.is_empty() && !ahead.peek(Token![=]) {
            let tree: TokenTree = ahead.parse()?;
            let is_part = match &tree {
                TokenTree::Ident(_) | TokenTree::Group(_) => true,
                TokenTree::Literal(_) => length == 0,
                TokenTree::Punct(punct) => punct.as_char() == '.',
            };
            if !is_part || (length > 0 && matches!(tree, TokenTree::Group(_))) {
                return Ok(false);
            }
            length += 1;
        }
        if ahead.is_empty() || ahead.peek(Token![==]) || ahead.peek(Token![=>]) {
            return Ok(false);
        }
        for _ in 0..=length {
            self.token(input)?;
        }
        Ok(true)
    }

    /// The `?` or `%` before a value.
    fn sigil(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Token![?]) || input.peek(Token![%]) {
            self.token(input)?;
        }
        Ok(())
    }

    /// The fields of an event in braces, which may hold nothing of interest.
    fn group(&mut self, input: ParseStream<'_>) -> Result<()> {
        let tree: TokenTree = input.parse()?;
        if may_matter(tree.to_token_stream()) {
            return Err(input.error("fields in braces"));
        }
        self.pieces.push(Piece::Tokens(tree.into()));
        Ok(())
    }

    fn value(&mut self, input: ParseStream<'_>, is_field: bool) -> Result<()> {
        let value: Expr = input.parse()?;
        self.pieces.push(if is_field && is_name(&value) {
            Piece::Shown(Box::new(value))
        } else {
            Piece::Expr(Box::new(value))
        });
        Ok(())
    }
}

/// `target:` and the like, or the key of a value that is taken in another way, `key:?`.
fn is_head(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).is_ok() && ahead.peek(Token![:]) && !ahead.peek(Token![::])
}

/// `a.b.await` is the name of a field to tracing.
fn is_name(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some(),
        Expr::Field(field) => is_name(&field.base),
        Expr::Await(awaited) => is_name(&awaited.base),
        _ => false,
    }
}
