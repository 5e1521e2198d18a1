//! Conversion of syntax to a [`Tree`]: every place where an async fn can be, and its properties.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{AttrStyle, Block, Item, Signature, Type, Visibility};

use super::attribute;
use super::names::{Names, leaves, segments, text};
use super::source::{Source, Unreadable};
use super::tokens::{async_fns, paths};
use super::tokio_types::{Wrapped, instead_of, instead_of_all};
use super::tree::{Hidden, Node, NodeKind, Tree, TypeUse};

/// A file that contains none of these words is skipped, and need not be valid Rust.
const WORDS: [&str; 3] = ["async", "tokio", "turbowish"];

/// Reads a file.
///
/// # Errors
/// It is no Rust, or newer than the parser.
pub(crate) fn scan(source: &Source, types: &[Wrapped]) -> Result<Tree, Unreadable> {
    if !WORDS.iter().any(|word| holds(source.text(), word)) {
        return Ok(Tree::default());
    }
    let result = source.parse().map(|(_, file)| {
        let mut scanner = Scanner {
            source,
            types,
            names: Names::default(),
            path: Vec::new(),
            member: true,
            tree: Tree::default(),
        };
        scanner.names.enter_module(&file.items);
        scanner.visit_file(&file);
        scanner.tree
    });
    // Only offsets are kept, so the text behind every span can be freed.
    proc_macro2::extra::invalidate_current_thread_spans();
    result
}

/// Whether `word` occurs in `text` as a whole word.
fn holds(text: &str, word: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        !joins(text[..at].chars().next_back()) && !joins(text[at + word.len()..].chars().next())
    })
}

struct Scanner<'a> {
    source: &'a Source,
    types: &'a [Wrapped],
    names: Names,
    path: Vec<String>,
    /// Whether an attribute on the enclosing node covers an item here.
    member: bool,
    tree: Tree,
}

/// Input of [`Scanner::node`].
struct FoundNode<'a> {
    kind: NodeKind,
    name: String,
    name_at: Span,
    attrs: &'a [syn::Attribute],
    /// The first token behind the attributes.
    first: Span,
}

impl Scanner<'_> {
    fn node(&mut self, found: FoundNode<'_>, members: bool, inside: impl FnOnce(&mut Self)) {
        let (own, attributes) = attribute::read(found.attrs, &self.names, self.source);
        let other = found.attrs.iter().find(|attribute| {
            matches!(attribute.style, AttrStyle::Outer) && !attribute.path().is_ident("doc")
        });
        let anchor = other.map_or(found.first, |attribute| attribute.pound_token.span);
        self.path.push(found.name);
        let node = Node {
            kind: found.kind,
            path: self.path.clone(),
            name_at: self.source.range(found.name_at).start,
            anchor: self.source.range(anchor).start,
            own,
            attributes,
            member: self.member,
            inside: Vec::new(),
        };
        let around = std::mem::take(&mut self.tree.nodes);
        self.with(members, inside);
        let inside = std::mem::replace(&mut self.tree.nodes, around);
        self.tree.nodes.push(Node { inside, ..node });
        self.path.pop();
    }

    fn with(&mut self, member: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.member, member);
        visit(self);
        self.member = before;
    }

    fn function(
        &mut self,
        attrs: &[syn::Attribute],
        before: Option<Span>,
        signature: &Signature,
        body: Option<&Block>,
    ) {
        let asyncness = signature.asyncness.map(|token| token.span);
        let constness = signature.constness.map(|token| token.span);
        let kind = match (asyncness, body, constness) {
            (Some(_), Some(_), None) => NodeKind::Async,
            (Some(_), Some(_), Some(_)) => NodeKind::Const,
            _ => NodeKind::Plain,
        };
        let first = before.or(constness).or(asyncness);
        let found = FoundNode {
            kind,
            name: text(&signature.ident),
            name_at: signature.ident.span(),
            attrs,
            first: first.unwrap_or(signature.fn_token.span),
        };
        self.node(found, false, |scanner| {
            scanner.visit_signature(signature);
            if let Some(body) = body {
                scanner.visit_block(body);
            }
        });
    }

    fn hidden(&mut self, within: String, at: Span, tokens: &TokenStream) {
        let count = async_fns(tokens);
        if count > 0 {
            let at = self.source.range(at).start;
            self.tree.hidden.push(Hidden { at, within, count });
        }
    }

    fn tokio_type(&mut self, path: &[String], instead: String, at: Span) {
        self.tree.tokio_types.push(TypeUse {
            at: self.source.range(at).start,
            path: path.join("::"),
            instead,
        });
    }

    /// A path as it is written, from its first name on.
    fn path(&mut self, mut written: Vec<String>, at: Span) {
        let mut full = self.names.resolve(&written);
        for names in [&mut written, &mut full] {
            if names.first().is_some_and(String::is_empty) {
                names.remove(0);
            }
        }
        // If the type itself was imported by name, the import is reported, and not each use of it.
        let brought = (full.len() + 1).saturating_sub(written.len());
        if let Some((instead, count)) = instead_of(&full, self.types)
            && brought < count
        {
            self.tokio_type(&full, instead, at);
        }
    }

    /// Paths among tokens: what a macro is given is mostly code.
    fn paths_in(&mut self, tokens: &TokenStream) {
        for (written, at) in paths(tokens) {
            self.path(written, at);
        }
    }
}

impl<'ast> Visit<'ast> for Scanner<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let before = first([visible(&item.vis), of(item.modifiers.defaultness)]);
        self.function(&item.attrs, before, &item.sig, Some(&item.block));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let before = first([visible(&item.vis), of(item.modifiers.defaultness)]);
        self.function(&item.attrs, before, &item.sig, Some(&item.block));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        let before = of(item.modifiers.defaultness);
        self.function(&item.attrs, before, &item.sig, item.default.as_ref());
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = first([of(item.modifiers.defaultness), of(item.unsafety)]);
        let found = FoundNode {
            kind: NodeKind::Block,
            name: type_name(&item.self_ty),
            name_at: item.impl_token.span,
            attrs: &item.attrs,
            first: before.unwrap_or(item.impl_token.span),
        };
        self.node(found, true, |scanner| visit::visit_item_impl(scanner, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let auto = of(item.modifiers.auto_token);
        let before = first([visible(&item.vis), of(item.unsafety), auto]);
        let found = FoundNode {
            kind: NodeKind::Block,
            name: text(&item.ident),
            name_at: item.ident.span(),
            attrs: &item.attrs,
            first: before.unwrap_or(item.trait_token.span),
        };
        self.node(found, true, |scanner| {
            visit::visit_item_trait(scanner, item);
        });
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let Some((_, items)) = &item.content else {
            return;
        };
        let before = first([visible(&item.vis), of(item.unsafety)]);
        let found = FoundNode {
            kind: NodeKind::Module {
                sealed: is_sealed(items),
            },
            name: text(&item.ident),
            name_at: item.ident.span(),
            attrs: &item.attrs,
            first: before.unwrap_or(item.mod_token.span),
        };
        self.node(found, true, |scanner| {
            scanner.names.enter_module(items);
            visit::visit_item_mod(scanner, item);
            scanner.names.leave();
        });
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.names.enter_block(&block.stmts);
        self.with(false, |scanner| visit::visit_block(scanner, block));
        self.names.leave();
    }

    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        self.with(false, |scanner| visit::visit_expr(scanner, expr));
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        match &item.ident {
            Some(name) => {
                let within = format!("macro_rules! {}", text(name));
                self.hidden(within, name.span(), &item.mac.tokens);
                self.paths_in(&item.mac.tokens);
            }
            None => self.visit_macro(&item.mac),
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|last| text(&last.ident));
        let within = format!("{}!", name.unwrap_or_default());
        self.hidden(within, call.path.span(), &call.tokens);
        self.paths_in(&call.tokens);
    }

    /// Syntax that the parser passes on as it is.
    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        if let Some(token) = tokens.clone().into_iter().next() {
            self.hidden("unstable syntax".to_owned(), token.span(), tokens);
        }
    }

    // The arguments of attributes are not code.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let leaves = leaves(item);
        for leaf in &leaves {
            let path = self.names.resolve(&leaf.path);
            let Some(ident) = leaf.ident else { continue };
            if leaf.is_glob() {
                if let Some(instead) = instead_of_all(&path, self.types) {
                    let all = [&path[..], &["*".to_owned()]].concat();
                    self.tokio_type(&all, instead, ident.span());
                }
            } else if let Some((instead, _)) = instead_of(&path, self.types) {
                self.tokio_type(&path, instead, ident.span());
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.path(segments(path), path.span());
        visit::visit_path(self, path);
    }
}

/// Whether the module cannot carry the attribute: the compiler allows no modules in files below an
/// attribute on a module (E0658), and no absolute paths to a macro that is exported from there.
fn is_sealed(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Mod(module) => module
            .content
            .as_ref()
            .is_none_or(|(_, items)| is_sealed(items)),
        Item::Macro(item) => item
            .attrs
            .iter()
            .any(|attribute| attribute.path().is_ident("macro_export")),
        _ => false,
    })
}

/// The name by which methods of a type are known: `Db` of `super::Db<'a, T>`.
fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map_or_else(String::new, |last| text(&last.ident)),
        Type::Reference(inner) => type_name(&inner.elem),
        Type::Paren(inner) => type_name(&inner.elem),
        Type::Group(inner) => type_name(&inner.elem),
        Type::Slice(_) | Type::Array(_) => "[_]".to_owned(),
        Type::Tuple(_) => "(_)".to_owned(),
        Type::TraitObject(_) => "dyn".to_owned(),
        _ => "_".to_owned(),
    }
}

fn first<const N: usize>(spans: [Option<Span>; N]) -> Option<Span> {
    spans.into_iter().flatten().next()
}

fn of(token: Option<impl Spanned>) -> Option<Span> {
    token.map(|token| token.span())
}

fn visible(vis: &Visibility) -> Option<Span> {
    match vis {
        Visibility::Inherited => None,
        vis => Some(vis.span()),
    }
}
