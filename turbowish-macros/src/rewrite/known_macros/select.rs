//! Arguments of `select!` of tokio and of futures: `biased;`, `pattern = future, if condition =>
//! arm`, and `else`, `complete`, `default`.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Pat, Result, Token, token};

use super::{Piece, Reading};

/// Words that may precede `=>` in place of a future.
const WORDS: &[&str] = &["else", "complete", "default"];

impl Reading {
    pub(super) fn branches(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Ident) && input.peek2(Token![;]) {
            self.token(input)?;
            self.token(input)?;
        }
        while !input.is_empty() {
            self.branch(input)?;
        }
        Ok(())
    }

    fn branch(&mut self, input: ParseStream<'_>) -> Result<()> {
        if is_word(input) {
            self.token(input)?;
        } else {
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            self.pieces.push(Piece::Tokens(pattern.into_token_stream()));
            self.operator::<Token![=]>(input)?;
            self.expr(input)?;
            if input.peek(Token![,]) && input.peek2(Token![if]) {
                self.token(input)?;
                self.token(input)?;
                self.expr(input)?;
            }
        }
        self.operator::<Token![=>]>(input)?;
        self.arm(input)
    }

    /// A block, behind which a comma may be missing, or an expression.
    fn arm(&mut self, input: ParseStream<'_>) -> Result<()> {
        let arm = if input.peek(token::Brace) {
            Expr::parse_with_earlier_boundary_rule(input)?
        } else {
            input.parse()?
        };
        let needs_comma = !matches!(arm, Expr::Block(_));
        self.pieces.push(Piece::Arm(Box::new(arm)));
        if input.peek(Token![,]) {
            self.token(input)
        } else if needs_comma && !input.is_empty() {
            Err(input.error("expected `,`"))
        } else {
            Ok(())
        }
    }

    fn operator<T: syn::parse::Parse + ToTokens>(&mut self, input: ParseStream<'_>) -> Result<()> {
        let operator: T = input.parse()?;
        self.pieces
            .push(Piece::Tokens(operator.into_token_stream()));
        Ok(())
    }
}

fn is_word(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead
        .call(Ident::parse_any)
        .is_ok_and(|word| WORDS.iter().any(|known| word == known))
        && ahead.peek(Token![=>])
}
