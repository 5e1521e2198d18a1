//! Constants of a proc, `fields(shard = "7")`: stored as text next to its name, at no run-time
//! cost.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, Lit, Result, Token};

/// Names and values, in the order in which they are written.
#[derive(Clone, Default)]
pub(crate) struct Attributes(Vec<(Ident, String)>);

const FORM: &str = "a field is a name and a constant: `fields(shard = \"7\", tier = 2)`";

impl Parse for Attributes {
    /// Parses the tokens between the parentheses.
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut all = Self::default();
        while !input.is_empty() {
            let malformed = |error: Error| Error::new(error.span(), FORM);
            let name = input.call(Ident::parse_any).map_err(malformed)?;
            input.parse::<Token![=]>().map_err(malformed)?;
            let value = text(&input.parse::<Lit>().map_err(malformed)?)?;
            if all.0.iter().any(|(given, _)| *given == name) {
                return Err(Error::new(name.span(), format!("`{name}` is given twice")));
            }
            all.0.push((name, value));
            if !input.is_empty() {
                input.parse::<Token![,]>().map_err(malformed)?;
            }
        }
        Ok(all)
    }
}

/// The text of a constant as it is shown.
fn text(value: &Lit) -> Result<String> {
    let text = match value {
        Lit::Str(text) => text.value(),
        Lit::Char(letter) => letter.value().to_string(),
        Lit::Bool(flag) => flag.value.to_string(),
        Lit::Int(number) => number.base10_digits().to_owned(),
        Lit::Float(number) => number.base10_digits().to_owned(),
        _ => return Err(Error::new(value.span(), FORM)),
    };
    if text.chars().any(char::is_control) {
        let message = "a field is one line of text, without control characters";
        return Err(Error::new(value.span(), message));
    }
    Ok(text)
}

impl Attributes {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These attributes, plus those of the enclosing scope that they do not override.
    pub(crate) fn within(&self, around: &Self) -> Self {
        let is_own = |name: &Ident| self.0.iter().any(|(own, _)| own == name);
        let inherited = around.0.iter().filter(|(name, _)| !is_own(name));
        Self(inherited.chain(&self.0).cloned().collect())
    }

    /// Writes one line for each, in the form that the runtime reads: `=shard 7`.
    pub(crate) fn write(&self, places: &mut String) {
        for (name, value) in &self.0 {
            let name = name.unraw();
            places.push_str(&format!("\n={name} {value}"));
        }
    }

    /// The attributes as source tokens; `None` if there are none.
    pub(crate) fn again(&self) -> Option<TokenStream> {
        let each = self.0.iter().map(|(name, value)| quote!(#name = #value));
        (!self.is_empty()).then(|| quote!(fields(#(#each),*)))
    }
}
