//! Intents of a call: declared in the arguments of the attribute, or inferred from the body. They
//! are declared once, at the beginning of the body, with the places that the operations name there;
//! the body does not change.
//!
//! Inference accepts only places that certainly mean the same thing at the beginning of the body as
//! at the operation: no name that the body may rebind or move away (`body`), and only parameters
//! whose type names a known handle, or fields of `self` (`handles`).

mod body;
mod handles;
mod operation;
mod staying;
mod tokens;

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::Signature;

use super::attr::{Scope, ours};
use super::simple_body::Plain;
use body::{Body, Sort, Use};
use handles::Handles;
pub(crate) use operation::{Explicit, Operation, Verb};

/// Certainty and source of an intent: the bits of `turbowish::__private`.
const WILL: u8 = 1;
const AGAIN: u8 = 2;
const PROVEN: u8 = 4;
const SAID: u8 = 8;

/// The intents of one function.
#[derive(Default)]
pub(crate) struct Intents {
    said: Vec<(Operation, u8)>,
    found: Vec<(Operation, u8)>,
}

/// The maximal number of times that one operation on one handle is declared; beyond that it counts
/// as repeated.
const MOST: usize = 3;

impl Intents {
    /// Explicit intents only.
    pub(crate) fn said(said: &[Explicit]) -> Intents {
        let said = said.iter().map(|each| {
            let how = if each.will { SAID | WILL } else { SAID };
            (each.operation.clone(), how)
        });
        Intents {
            said: said.collect(),
            found: Vec::new(),
        }
    }

    /// Explicit intents, and those inferred from the `written` body of an `async fn`.
    pub(crate) fn of(
        said: &[Explicit],
        signature: &Signature,
        plain: Option<&Plain>,
        written: Option<TokenStream>,
    ) -> Intents {
        let mut intents = Intents::said(said);
        let handles = Handles::of(signature);
        let may_be_found = match plain {
            _ if !handles.any() => false,
            Some(plain) => handles.any_parameter() || plain.has_any_word(Verb::METHODS),
            None => true,
        };
        let Some(written) = written.filter(|_| may_be_found || !said.is_empty()) else {
            return intents;
        };
        if let Some(body) = Body::of(written, &handles) {
            intents.find(&body, &handles);
            intents.default(&body, &handles);
            intents.merge(&body, &handles);
        }
        intents
    }

    /// Adds the operations that the body performs.
    fn find(&mut self, body: &Body, handles: &Handles) {
        let mut seen: Vec<&str> = Vec::new();
        for first in &body.uses {
            let key = first.operation.key.as_str();
            if seen.contains(&key) || body.may_be_another(&first.operation) {
                continue;
            }
            seen.push(key);
            let same = body.uses.iter().filter(|each| each.operation.key == key);
            let (wills, mays): (Vec<&Use>, Vec<&Use>) = same
                .filter(|each| !each.is_first())
                .partition(|each| each.sort == Sort::Will);
            let operation = &first.operation;
            let proven = match handles.proves(operation) && !body.may_be_replaced(operation) {
                true => PROVEN,
                false => 0,
            };
            let kept = kept(operation, body, handles);
            match (wills.len(), mays.len()) {
                (0, 0) => {}
                (0, 1) if mays[0].sort != Sort::Again => self.add(&mays[0].operation, kept),
                (0, _) => self.add(&mays[0].operation, AGAIN | kept),
                (1..=MOST, _) => self.found.extend(
                    wills
                        .iter()
                        .map(|each| (each.operation.clone(), WILL | proven)),
                ),
                // After the last one it is no longer proven, unless the handle is kept all the
                // time.
                _ => self.add(&wills[0].operation, WILL | AGAIN | kept),
            }
        }
    }

    fn add(&mut self, operation: &Operation, how: u8) {
        self.found.push((operation.clone(), how));
    }

    /// Adds the default operation of each parameter that is a handle, for uses that are not
    /// recognised.
    fn default(&mut self, body: &Body, handles: &Handles) {
        if body.awaits == 0 {
            return;
        }
        for parameter in &handles.parameters {
            let name = &parameter.name;
            let mut uses = body.uses.iter().map(|each| &each.operation);
            let is_told = uses.any(|each| each.is_of(name) && !body.may_be_another(each));
            if !is_told && body.keeps(name, parameter.is_reference) {
                let operation = Operation::on_parameter(parameter.verb, &parameter.ident);
                let how = AGAIN | kept(&operation, body, handles);
                self.found.push((operation, how));
            }
        }
    }

    /// Merges explicit and inferred intents of the same operation; the result is as certain as the
    /// more certain one.
    fn merge(&mut self, body: &Body, handles: &Handles) {
        for (said, how) in &mut self.said {
            let found = self.found.iter().filter(|(found, _)| found.key == said.key);
            let found: Vec<u8> = found.map(|(_, how)| *how).collect();
            *how |= match *found {
                [found] => found,
                [_, ..] => WILL | AGAIN | kept(said, body, handles),
                [] if body.is_in_loop(said) => AGAIN,
                [] => 0,
            };
        }
        let said = &self.said;
        self.found
            .retain(|(found, _)| !said.iter().any(|(said, _)| said.key == found.key));
    }

    /// `let __turbowish_intents = mean(…, mean(…, NoIntents));`, or nothing.
    pub(crate) fn tell(&self, scope: &Scope, place: Span) -> TokenStream {
        if self.said.is_empty() && self.found.is_empty() {
            return TokenStream::new();
        }
        let span = ours(place);
        let private = scope.private(span);
        let mut told = quote_spanned!(span=> #private::NoIntents);
        for (operation, how) in self.found.iter().rev() {
            let verb = operation.name();
            let operand = looked_at(operation, &private, span);
            let how = Literal::u8_suffixed(*how);
            told = quote_spanned! {span=>
                #private::MaybeResource(#private::verb::#verb, #operand).__turbowish_mean(#how, #told)
            };
        }
        for (operation, how) in self.said.iter().rev() {
            let (verb, operand) = (operation.name(), &operation.operand);
            let how = Literal::u8_suffixed(*how);
            // An operand that is not a place is a compile error at its own span.
            let span = ours(operation.span);
            let private = scope.private(span);
            told = quote_spanned! {span=>
                #private::declare(#private::verb::#verb, &#operand, #how, #told)
            };
        }
        let probes = (!self.found.is_empty())
            .then(|| quote_spanned!(span=> use #private::NotResource as _;));
        let has_field = self.found.iter().any(|(found, _)| found.is_field());
        let owns = has_field.then(|| quote_spanned!(span=> use #private::OwnFields as _;));
        let quiet = self.quiet(span);
        quote_spanned!(span=> #quiet let __turbowish_intents = { #probes #owns #told };)
    }

    /// An `allow` for a name that declares the argument unused: the user may use it all the same
    /// where that lint is allowed.
    fn quiet(&self, span: Span) -> Option<TokenStream> {
        self.said
            .iter()
            .chain(&self.found)
            .any(|(each, _)| each.place.split('.').any(|name| name.starts_with('_')))
            .then(|| quote_spanned!(span=> #[allow(clippy::used_underscore_binding)]))
    }
}

/// The `KEPT` bit: the end that an operation uses belongs to the call alone while its body runs,
/// whether the operation is ever performed or not.
fn kept(operation: &Operation, body: &Body, handles: &Handles) -> u8 {
    match handles.proves(operation) && body.never_moves(operation) {
        true => PROVEN,
        false => 0,
    }
}

/// `&tx`. A field is left out if a user's `Deref` may be needed to find it: it would be run once
/// more.
fn looked_at(operation: &Operation, private: &TokenStream, span: Span) -> TokenStream {
    let operand = &operation.operand;
    if !operation.is_field() {
        return quote_spanned!(span=> &#operand);
    }
    quote_spanned! {span=>
        if #private::Fields::<Self>::new().__turbowish_are_own() {
            #private::core::option::Option::Some(&#operand)
        } else {
            #private::core::option::Option::None
        }
    }
}

#[cfg(test)]
mod tests;
