//! Suppression of `unused_assignments` for assignments to parts of a captured argument. The drop of
//! an argument reads such a part: the compiler knows that of an argument, but not of a capture.

use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, BinOp, Block, Expr, FnArg, Ident, Item, Pat, ReceiverKind, Signature, Stmt,
    Token, parse_quote_spanned,
};

use super::attr::ours;
use super::drops::may_borrow;

/// Allows `unused_assignments` on assignments to `self`, and to parts of `mut` arguments.
pub(crate) fn excuse(signature: &Signature, block: &mut Block) {
    let names: Vec<Ident> = signature.inputs.iter().filter_map(changed).collect();
    if !names.is_empty() {
        Excusing { names }.visit_block_mut(block);
    }
}

/// Whether the body can contain assignments to allow.
pub(crate) fn may_excuse(signature: &Signature) -> bool {
    signature
        .inputs
        .iter()
        .any(|input| changed(input).is_some())
}

/// The name of an argument that becomes a capture and of which the body can change a part.
fn changed(input: &FnArg) -> Option<Ident> {
    match input {
        FnArg::Receiver(receiver) => {
            let is_value = !matches!(receiver.kind, ReceiverKind::Reference(..));
            (is_value && receiver.mutability.is_some())
                .then(|| Ident::new("self", receiver.self_token.span))
        }
        FnArg::Typed(input) => match &*input.pat {
            // An argument that may borrow becomes a local.
            Pat::Ident(pat) if pat.mutability.is_some() && !may_borrow(&input.ty) => {
                Some(pat.ident.clone())
            }
            _ => None,
        },
    }
}

struct Excusing {
    names: Vec<Ident>,
}

impl Excusing {
    /// The attributes of an assignment to `self`, or to a part of one of the names.
    fn assignment<'a>(&self, expr: &'a mut Expr) -> Option<&'a mut Vec<Attribute>> {
        let (target, attrs) = match expr {
            Expr::Assign(assign) => (&assign.left, &mut assign.attrs),
            Expr::Binary(binary) if assigns(&binary.op) => (&binary.left, &mut binary.attrs),
            _ => return None,
        };
        let (root, is_part) = root(target);
        let Expr::Path(root) = root else { return None };
        let root = root.path.get_ident()?;
        let excused = self.names.contains(root) && (is_part || root == "self");
        excused.then_some(attrs)
    }
}

/// The variable that a place belongs to, and whether the place is only a part of it.
fn root(place: &Expr) -> (&Expr, bool) {
    let (mut place, mut is_part) = (place, false);
    loop {
        is_part |= matches!(place, Expr::Field(_) | Expr::Index(_));
        place = match place {
            Expr::Field(field) => &field.base,
            Expr::Index(index) => &index.expr,
            Expr::Paren(inner) => &inner.expr,
            Expr::Group(inner) => &inner.expr,
            _ => return (place, is_part),
        };
    }
}

fn assigns(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

fn allow(name: &Ident) -> Attribute {
    parse_quote_spanned!(ours(name.span())=> #[allow(unused_assignments)])
}

impl VisitMut for Excusing {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Expr(expr, semicolon) = stmt
            && let Some(attrs) = self.assignment(expr)
        {
            attrs.push(allow(&self.names[0]));
            // Attributes are allowed on statements only; an assignment has no value.
            semicolon.get_or_insert_with(|| Token![;](ours(self.names[0].span())));
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        if self.assignment(&mut arm.body).is_some() {
            arm.attrs.push(allow(&self.names[0]));
        }
        visit_mut::visit_arm_mut(self, arm);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // Captures of these were captures in the original function as well.
        if !matches!(expr, Expr::Async(_) | Expr::Closure(_) | Expr::Const(_)) {
            visit_mut::visit_expr_mut(self, expr);
        }
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}
