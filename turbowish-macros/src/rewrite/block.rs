//! Annotated blocks and modules: only `async` functions in them are rewritten, and the attribute is
//! never applied twice.

use syn::{
    Attribute, Block, Error, ImplItem, Item, ItemImpl, ItemMod, ItemTrait, Result, Signature,
    TraitItem,
};

use super::attr::{Arguments, Scope};
use super::function::{self, Function};
use super::{inert, shape, valid};

/// Rewrites every `async fn` in `item`. Errors are collected, so the rest of the item is still
/// rewritten.
pub(crate) fn instrument(item: &mut Item, scope: &Scope) -> Result<()> {
    let mut errors = Ok(());
    if let Item::Impl(ItemImpl { attrs, .. })
    | Item::Trait(ItemTrait { attrs, .. })
    | Item::Mod(ItemMod { attrs, .. }) = item
    {
        inert::excuse(attrs);
    }
    match item {
        Item::Impl(block) => {
            let scope = scope.inside(&Arguments::default(), inert::any_foreign(&block.attrs));
            for member in &mut block.items {
                if let ImplItem::Fn(member) = member {
                    gather(
                        &mut errors,
                        method(
                            &mut member.attrs,
                            &mut member.sig,
                            &mut member.block,
                            &scope,
                        ),
                    );
                }
            }
        }
        Item::Trait(block) => {
            let scope = scope.inside(&Arguments::default(), inert::any_foreign(&block.attrs));
            for member in &mut block.items {
                if let TraitItem::Fn(member) = member {
                    let outcome = match &mut member.default {
                        Some(block) => method(&mut member.attrs, &mut member.sig, block, &scope),
                        None => declaration(&mut member.attrs, &scope),
                    };
                    gather(&mut errors, outcome);
                }
            }
        }
        Item::Mod(module) => {
            let scope = scope.inside(&Arguments::default(), inert::any_foreign(&module.attrs));
            let inside = module.content.iter_mut().flat_map(|(_, items)| items);
            for item in inside {
                gather(&mut errors, nested(item, &scope));
            }
        }
        _ => {}
    }
    errors
}

/// An item of an annotated module.
fn nested(item: &mut Item, scope: &Scope) -> Result<()> {
    let attrs = match item {
        Item::Fn(item) => return method(&mut item.attrs, &mut item.sig, &mut item.block, scope),
        Item::Impl(item) => &mut item.attrs,
        Item::Trait(item) => &mut item.attrs,
        Item::Mod(item) if item.content.is_some() => &mut item.attrs,
        // Left alone: an attribute of this crate on one of these is expanded on its own.
        _ => return Ok(()),
    };
    let arguments = scope.take(attrs)?.unwrap_or_default();
    valid::no_name(&arguments)?;
    if arguments.skip {
        return Ok(());
    }
    instrument(item, &scope.inside(&arguments, false))
}

/// A function of a block or module: rewritten if it is a future, or if it carries the attribute
/// itself.
fn method(
    attrs: &mut Vec<Attribute>,
    signature: &mut Signature,
    block: &mut Block,
    scope: &Scope,
) -> Result<()> {
    let own = scope.take(attrs)?;
    let asked = own.is_some();
    let arguments = own.unwrap_or_default();
    if arguments.skip || !(asked || shape::is_future(signature, block)) {
        return Ok(());
    }
    let scope = scope.inside(&arguments, false);
    let function = Function {
        attrs,
        signature,
        block,
    };
    function::instrument(function, &arguments, &scope)
}

/// A function without a body does not change; `skip` is accepted on it, `name` is an error.
fn declaration(attrs: &mut Vec<Attribute>, scope: &Scope) -> Result<()> {
    match scope.take(attrs)? {
        Some(arguments) => valid::no_name(&arguments),
        None => Ok(()),
    }
}

fn gather(errors: &mut Result<()>, outcome: Result<()>) {
    match (errors, outcome) {
        (Err(all), Err(one)) => Error::combine(all, one),
        (errors, Err(one)) => *errors = Err(one),
        (_, Ok(())) => {}
    }
}
