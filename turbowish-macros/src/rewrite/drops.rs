//! A type is said to have nothing to drop, or to borrow nothing, only if its tokens prove it.

use syn::{GenericArgument, Path, PathArguments, Receiver, ReceiverKind, Type, TypePath};

/// Types of the prelude and of the language without a destructor, by name.
const PRIMITIVE: &[&str] = &[
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// Types that drop what is between their brackets, and nothing else.
const TRANSPARENT: &[&str] = &["Option", "Pin", "Result"];

/// Types that borrow what is between their brackets, and nothing else.
const OWNING: &[&str] = &["Arc", "Box", "Option", "Rc", "Result", "Vec"];

/// Whether dropping `self` may do anything.
pub(crate) fn receiver_may_drop(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(..) => false,
        ReceiverKind::Typed(_, ty) => may_drop(ty),
        _ => true,
    }
}

/// Whether dropping a value of the type may do anything, as far as can be read.
pub(crate) fn may_drop(ty: &Type) -> bool {
    match ty {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) | Type::Never(_) => false,
        Type::Tuple(tuple) => tuple.elems.iter().any(may_drop),
        Type::Array(array) => may_drop(&array.elem),
        Type::Paren(inner) => may_drop(&inner.elem),
        Type::Group(inner) => may_drop(&inner.elem),
        Type::Path(path) => path_may_drop(path),
        _ => true,
    }
}

/// Whether a value of the type may hold a borrow whose lifetime is not said to be the caller's, as
/// far as can be read.
pub(crate) fn may_borrow(ty: &Type) -> bool {
    match ty {
        Type::Ptr(_) | Type::FnPtr(_) | Type::Never(_) | Type::ImplTrait(_) => false,
        Type::Tuple(tuple) => tuple.elems.iter().any(may_borrow),
        Type::Array(array) => may_borrow(&array.elem),
        Type::Paren(inner) => may_borrow(&inner.elem),
        Type::Group(inner) => may_borrow(&inner.elem),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return true;
            };
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return !is_primitive(&path.path) && last.ident != "String";
            };
            let inside = |argument: &GenericArgument| match argument {
                GenericArgument::Type(ty) => may_borrow(ty),
                _ => true,
            };
            !OWNING.iter().any(|name| last.ident == name) || arguments.args.iter().any(inside)
        }
        _ => true,
    }
}

/// Whether a path is the name of a type of the language.
pub(crate) fn is_primitive(path: &Path) -> bool {
    PRIMITIVE.iter().any(|name| path.is_ident(name))
}

fn path_may_drop(ty: &TypePath) -> bool {
    if is_primitive(&ty.path) {
        return false;
    }
    let Some(last) = ty.path.segments.last() else {
        return true;
    };
    if last.ident == "PhantomData" {
        return false;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return true;
    };
    let inside = |argument: &GenericArgument| match argument {
        GenericArgument::Type(ty) => may_drop(ty),
        _ => true,
    };
    !TRANSPARENT.iter().any(|name| last.ident == name) || arguments.args.iter().any(inside)
}
