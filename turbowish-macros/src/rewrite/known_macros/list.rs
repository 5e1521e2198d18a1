//! Arguments that are expressions, or lists similar to expressions.

use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Pat, Result, Token};

use super::{Piece, Reading};

impl Reading {
    /// `a, name = b; c`, also with nothing behind a separator.
    pub(super) fn list(&mut self, input: ParseStream<'_>) -> Result<()> {
        while !input.is_empty() {
            if is_separator(input) {
                self.token(input)?;
            } else {
                self.expr(input)?;
                end_of_item(input)?;
            }
        }
        Ok(())
    }

    /// A list that is printed.
    pub(super) fn printed(&mut self, input: ParseStream<'_>) -> Result<()> {
        while !input.is_empty() {
            if is_separator(input) {
                self.token(input)?;
            } else {
                self.shown(input)?;
                end_of_item(input)?;
            }
        }
        Ok(())
    }

    /// `condition` or `condition, "message {}", argument`
    pub(super) fn asserted(&mut self, input: ParseStream<'_>) -> Result<()> {
        self.shown(input)?;
        if input.is_empty() {
            return Ok(());
        }
        end_of_item(input)?;
        self.token(input)?;
        if !input.is_empty()
            && let Some(Piece::Shown(condition)) = self.pieces.first_mut()
        {
            let condition = std::mem::replace(&mut **condition, syn::Expr::PLACEHOLDER);
            self.pieces[0] = Piece::Expr(Box::new(condition));
        }
        self.list(input)
    }

    /// `expression, pattern if guard`
    pub(super) fn matched(&mut self, input: ParseStream<'_>) -> Result<()> {
        self.expr(input)?;
        self.comma(input)?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        self.pieces.push(Piece::Tokens(pattern.into_token_stream()));
        if input.peek(Token![if]) {
            self.token(input)?;
            self.expr(input)?;
        }
        if !input.is_empty() {
            self.comma(input)?;
        }
        Ok(())
    }

    /// `expression, …`
    pub(super) fn first(&mut self, input: ParseStream<'_>) -> Result<()> {
        self.expr(input)?;
        self.rest(input)
    }

    /// `a, b` or `let a = f(); let b = g();`
    pub(super) fn pinned(&mut self, input: ParseStream<'_>) -> Result<()> {
        while input.peek(Token![let]) {
            while !input.peek(Token![=]) {
                self.token(input)?;
            }
            self.token(input)?;
            self.expr(input)?;
            if !input.peek(Token![;]) {
                return Err(input.error("expected `;`"));
            }
            self.token(input)?;
        }
        self.list(input)
    }

    fn comma(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Token![,]) {
            self.token(input)
        } else {
            Err(input.error("expected `,`"))
        }
    }
}

pub(super) fn is_separator(input: ParseStream<'_>) -> bool {
    input.peek(Token![,]) || input.peek(Token![;])
}

pub(super) fn end_of_item(input: ParseStream<'_>) -> Result<()> {
    if input.is_empty() || is_separator(input) {
        Ok(())
    } else {
        Err(input.error("expected `,` or `;`"))
    }
}
