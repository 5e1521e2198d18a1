//! Arguments of the attribute: one parser, whether the compiler expands the attribute or it is
//! found inside an annotated block.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, LitStr, Meta, Path, Result, Token, parenthesized, token};

use super::attributes::Attributes;
use super::intents::{Explicit, Operation};

/// The arguments that a user may write: `name = "…"`, `skip`, `crate = path`, `fields(…)`,
/// `intends(…)`, `may(…)`.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) name: Option<LitStr>,
    pub(crate) skip: bool,
    pub(crate) krate: Option<Path>,
    pub(crate) intents: Vec<Explicit>,
    pub(crate) attributes: Attributes,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Arguments::default();
        while !input.is_empty() {
            arguments.argument(input)?;
            if !input.is_empty() {
                let comma = input.parse::<Token![,]>();
                comma.map_err(|error| {
                    Error::new(error.span(), "expected a comma between arguments")
                })?;
            }
        }
        Ok(arguments)
    }
}

/// The end of every error message about an argument.
const CHOICE: &str = "the arguments are `name = \"…\"`, `skip`, `crate = path`, `fields(…)`, `intends(…)` and `may(…)`";

impl Arguments {
    /// Whether there is an argument that no other attribute called `instrument` takes.
    const fn is_ours(&self) -> bool {
        let says_more = !self.attributes.is_empty() || !self.intents.is_empty();
        self.skip || self.krate.is_some() || says_more
    }

    fn argument(&mut self, input: ParseStream<'_>) -> Result<()> {
        let span = input.span();
        let key = input
            .call(Ident::parse_any)
            .map_err(|_| Error::new(span, format!("not an argument; {CHOICE}")))?;
        let twice = if key == "name" {
            equals(&key, "name = \"…\"", input)?;
            self.name.replace(name(input)?).is_some()
        } else if key == "skip" {
            if !input.is_empty() && !input.peek(Token![,]) {
                let message = "`skip` takes no value: it leaves out the whole item";
                return Err(Error::new(input.span(), message));
            }
            std::mem::replace(&mut self.skip, true)
        } else if key == "crate" {
            equals(&key, "crate = path", input)?;
            self.krate.replace(path(input)?).is_some()
        } else if key == "intends" || key == "may" {
            self.intents(&key, input)?
        } else if key == "fields" || key == "attributes" {
            let before = std::mem::replace(&mut self.attributes, attributes(&key, input)?);
            !before.is_empty()
        } else {
            let message = format!("unknown argument `{key}`; {CHOICE}");
            return Err(Error::new(key.span(), message));
        };
        if twice {
            return Err(Error::new(key.span(), format!("`{key}` is given twice")));
        }
        Ok(())
    }
}

impl Arguments {
    /// Parses `intends(send(tx), lock(self.db))`; returns whether the key was there before.
    fn intents(&mut self, key: &Ident, input: ParseStream<'_>) -> Result<bool> {
        let will = key == "intends";
        let message =
            || format!("`{key}` needs a list of intents: `{key}(send(tx), lock(self.db))`");
        if !input.peek(syn::token::Paren) {
            return Err(Error::new(key.span(), message()));
        }
        let inside;
        syn::parenthesized!(inside in input);
        if inside.is_empty() {
            return Err(Error::new(key.span(), message()));
        }
        let twice = self.intents.iter().any(|said| said.will == will);
        while !inside.is_empty() {
            let operation: Operation = inside.parse()?;
            if self
                .intents
                .iter()
                .any(|said| said.operation.key == operation.key)
            {
                return Err(Error::new(operation.span, "this intent is given twice"));
            }
            self.intents.push(Explicit { will, operation });
            if !inside.is_empty() {
                let comma = inside.parse::<Token![,]>();
                comma.map_err(|error| {
                    Error::new(error.span(), "expected a comma between intents")
                })?;
            }
        }
        Ok(twice)
    }
}

fn equals(key: &Ident, example: &str, input: ParseStream<'_>) -> Result<()> {
    let sign = input.parse::<Token![=]>();
    if sign.is_err() || input.is_empty() {
        let message = format!("`{key}` needs a value: `{example}`");
        return Err(Error::new(key.span(), message));
    }
    Ok(())
}

fn attributes(key: &Ident, input: ParseStream<'_>) -> Result<Attributes> {
    if !input.peek(token::Paren) {
        let message = format!("`{key}` needs a list: `fields(shard = \"7\")`");
        return Err(Error::new(key.span(), message));
    }
    let inside;
    parenthesized!(inside in input);
    inside.parse()
}

fn name(input: ParseStream<'_>) -> Result<LitStr> {
    let span = input.span();
    let name: LitStr = input
        .parse()
        .map_err(|_| Error::new(span, "a name is a string: `name = \"…\"`"))?;
    if name.value().is_empty() {
        return Err(Error::new(span, "a name must not be empty"));
    }
    Ok(name)
}

fn path(input: ParseStream<'_>) -> Result<Path> {
    let span = input.span();
    let message = "the crate is a path, without quotes: `crate = path`";
    input
        .call(Path::parse_mod_style)
        .map_err(|_| Error::new(span, message))
}

/// The settings that everything inside an annotated item inherits.
#[derive(Clone)]
pub(crate) struct Scope {
    /// The crate's path as the user gave it; `None` for `::turbowish`.
    krate: Option<Path>,
    /// The attributes of every proc inside.
    pub(crate) attributes: Attributes,
    /// Functions stay `async fn`, because an attribute of an enclosing block may be a macro that
    /// has yet to read them.
    pub(crate) keep_async: bool,
}

impl Scope {
    /// The scope of an item that carries the attribute.
    pub(crate) fn new(krate: Option<Path>) -> Scope {
        Scope {
            krate,
            attributes: Attributes::default(),
            keep_async: false,
        }
    }

    /// The scope inside an item with its own arguments and other attributes.
    pub(crate) fn inside(&self, arguments: &Arguments, foreign: bool) -> Scope {
        Scope {
            krate: arguments.krate.clone().or_else(|| self.krate.clone()),
            attributes: arguments.attributes.within(&self.attributes),
            keep_async: self.keep_async || foreign,
        }
    }

    /// The path of the module that generated code may name, with the span `span`.
    pub(crate) fn private(&self, span: Span) -> TokenStream {
        match &self.krate {
            Some(krate) => quote_spanned!(span=> #krate::__private),
            None => quote_spanned!(span=> ::turbowish::__private),
        }
    }

    /// The path of the attribute, and the `crate = …` argument if there is one.
    pub(crate) fn attribute(&self, span: Span) -> (TokenStream, Option<TokenStream>) {
        match &self.krate {
            Some(krate) => (
                quote_spanned!(span=> #krate::instrument),
                Some(quote_spanned!(span=> crate = #krate)),
            ),
            None => (quote_spanned!(span=> ::turbowish::instrument), None),
        }
    }

    /// Removes this crate's attribute from `attrs` and parses it; `None` if there is none.
    ///
    /// A plain `#[instrument]` or `#[instrument(name = "…")]` may belong to another crate and is
    /// left in place. If it does belong to this crate, its own expansion finds the function already
    /// rewritten and only adds the name (`function::instrument`).
    pub(crate) fn take(&self, attrs: &mut Vec<Attribute>) -> Result<Option<Arguments>> {
        let mut found = None;
        for at in (0..attrs.len()).rev() {
            let arguments = if self.is_ours(attrs[at].path()) {
                read(&attrs[at])
            } else if attrs[at].path().is_ident("instrument") {
                match read(&attrs[at]) {
                    Ok(arguments) if arguments.is_ours() => Ok(arguments),
                    _ => continue,
                }
            } else {
                continue;
            };
            attrs.remove(at);
            found = Some(arguments?);
        }
        Ok(found)
    }

    fn is_ours(&self, path: &Path) -> bool {
        let mut names = path.segments.iter().map(|segment| &segment.ident).rev();
        let krate = self
            .krate
            .iter()
            .flat_map(|krate| krate.segments.last())
            .map(|last| &last.ident)
            .next();
        names.next().is_some_and(|name| name == "instrument")
            && names
                .next()
                .is_some_and(|name| name == "turbowish" || Some(name) == krate)
    }
}

fn read(attribute: &Attribute) -> Result<Arguments> {
    match &attribute.meta {
        Meta::Path(_) => Ok(Arguments::default()),
        Meta::List(list) => list.parse_args(),
        Meta::NameValue(pair) => Err(Error::new_spanned(
            pair,
            "expected `#[turbowish::instrument(…)]`",
        )),
    }
}

/// A span whose local names resolve apart from the user's and whose location is `place`.
pub(crate) fn ours(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}
