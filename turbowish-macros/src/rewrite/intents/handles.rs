//! Parameters and fields that are handles, recognised by the tokens of their types, since no other
//! type information exists.

use proc_macro2::Ident;
use syn::{FnArg, GenericArgument, Pat, PatType, PathArguments, Safety, Signature, Type};

use super::operation::{Operation, Verb};

/// The default operation of a handle with this type name.
const NAMES: &[(&str, Verb)] = &[
    ("Sender", Verb::Send),
    ("UnboundedSender", Verb::Send),
    ("Receiver", Verb::Recv),
    ("UnboundedReceiver", Verb::Recv),
    ("Mutex", Verb::Lock),
    ("RwLock", Verb::Write),
    ("Semaphore", Verb::Acquire),
    ("Notify", Verb::Wait),
    ("Barrier", Verb::Wait),
    ("OnceCell", Verb::Wait),
];

/// Pointers that an intent looks through.
const POINTERS: &[&str] = &["Arc", "Box", "Rc"];

/// A parameter that is a handle.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ident: Ident,
    pub(crate) verb: Verb,
    pub(crate) is_reference: bool,
    /// The handle itself, or an exclusive reference to it.
    is_own: bool,
}

/// The handles of one function.
pub(crate) struct Handles {
    pub(crate) parameters: Vec<Parameter>,
    has_self: bool,
}

impl Handles {
    pub(crate) fn of(signature: &Signature) -> Handles {
        let mut handles = Handles {
            parameters: Vec::new(),
            has_self: false,
        };
        for input in &signature.inputs {
            match input {
                // A field of `self` may be one of a union there.
                FnArg::Receiver(_) => {
                    handles.has_self = !matches!(signature.safety, Safety::Unsafe(_));
                }
                FnArg::Typed(input) => handles.parameters.extend(parameter(input)),
            }
        }
        handles
    }

    pub(crate) fn any(&self) -> bool {
        self.any_parameter() || self.has_self
    }

    pub(crate) fn any_parameter(&self) -> bool {
        !self.parameters.is_empty()
    }

    /// Whether it has a `self`.
    pub(crate) fn has_self(&self) -> bool {
        self.has_self
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters
            .iter()
            .any(|parameter| parameter.name == name)
    }

    /// Whether the end that an operation uses belongs to the call alone until then. This is so for
    /// a receiving call, and for a sending one if the end is its own parameter, which is used
    /// further down and cannot have been moved away.
    pub(crate) fn proves(&self, operation: &Operation) -> bool {
        let of_place = |parameter: &&Parameter| operation.is_of(&parameter.name);
        let is_own = || {
            self.parameters
                .iter()
                .find(of_place)
                .is_some_and(|it| it.is_own)
        };
        match operation.verb {
            Verb::Recv => true,
            Verb::Send => is_own(),
            _ => false,
        }
    }
}

fn parameter(input: &PatType) -> Option<Parameter> {
    let Pat::Ident(pat) = &*input.pat else {
        return None;
    };
    // The parameter may not exist.
    if pat.by_ref.is_some() || pat.subpat.is_some() || !input.attrs.is_empty() {
        return None;
    }
    Some(Parameter {
        name: pat.ident.to_string(),
        ident: pat.ident.clone(),
        verb: verb_of(&input.ty)?,
        is_reference: matches!(&*input.ty, Type::Reference(_)),
        is_own: is_own(&input.ty),
    })
}

/// `Sender<T>` and `&mut Sender<T>`, but no shared pointer.
fn is_own(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.mutability.is_some() && is_own(&reference.elem),
        Type::Paren(inner) => is_own(&inner.elem),
        Type::Group(inner) => is_own(&inner.elem),
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| NAMES.iter().any(|(name, _)| last.ident == name))
        }
        _ => false,
    }
}

/// The default operation of the type, if it is a handle or points to one.
fn verb_of(ty: &Type) -> Option<Verb> {
    match ty {
        Type::Reference(reference) => verb_of(&reference.elem),
        Type::Paren(inner) => verb_of(&inner.elem),
        Type::Group(inner) => verb_of(&inner.elem),
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last()?;
            if let Some((_, verb)) = NAMES.iter().find(|(name, _)| last.ident == name) {
                return Some(*verb);
            }
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return None;
            };
            let is_pointer = POINTERS.iter().any(|name| last.ident == name);
            match arguments.args.first() {
                Some(GenericArgument::Type(inner)) if is_pointer => verb_of(inner),
                _ => None,
            }
        }
        _ => None,
    }
}
